//! Whether reads and writes of a target reach a medium: not memory, not a page cache, no
//! holes of a file. Timed reads say nothing of a disk that they do not reach.

use super::targets::{OpenTarget, nothing_measured};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::observer::Event;
use std::path::Path;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_results::{Severity, TargetFacts, Warning};
use stripewise_runner::trust::{Code, Evidence, before_reads, before_writes};
use stripewise_targets::TargetName;
use stripewise_units::path_of;

/// What keeps reads of a target that exists from its medium, though not all of them: warned
/// of, and handed back to be kept with what is measured.
///
/// # Errors
/// Where no read reaches a disk: a file in memory, or one of holes.
pub fn read_from_a_medium(
    context: &Context,
    target: &OpenTarget,
    name: &str,
) -> Outcome<Vec<Warning>> {
    let Some(real) = target.real() else {
        return Ok(Vec::new());
    };
    let evidence = Evidence {
        data: real.data_facts().cloned(),
        ..evidence_of(&path_of(name), real.facts().clone())
    };
    told(context, name, before_reads(&evidence))
}

/// The same of writes, before anything is made.
///
/// # Errors
/// Where no write reaches a disk.
pub fn written_to_a_medium(context: &Context, name: &str) -> Outcome<Vec<Warning>> {
    match name.parse() {
        Ok(TargetName::Path(path)) => {
            let evidence = evidence_of(&path, TargetFacts::unknown());
            told(context, name, before_writes(&evidence))
        }
        _ => Ok(Vec::new()),
    }
}

fn evidence_of(path: &Path, facts: TargetFacts) -> Evidence {
    Evidence {
        storage: System::live().storage_of_path(path).ok(),
        ..nothing_measured(facts)
    }
}

fn told(context: &Context, name: &str, warnings: Vec<Warning>) -> Outcome<Vec<Warning>> {
    if let Some(void) = warnings.iter().find(|warning| forbids(warning)) {
        return Err(Failure::new(
            Exit::Target,
            format!("{name}: no disk would be measured: {}", void.message),
            void.hint.clone(),
        ));
    }
    for warning in &warnings {
        context.observer().hear(&Event::Warning {
            code: Some(&warning.code),
            text: &warning.message,
            hint: Some(&warning.hint),
        });
    }
    Ok(warnings)
}

/// Zeros lie on many disks as any other data do.
fn forbids(warning: &Warning) -> bool {
    warning.severity == Severity::Void && warning.code != Code::ZeroData.as_str()
}
