//! Whether reads and writes of a target reach a medium: not memory, a page cache, or
//! holes of a file. Timed reads show nothing about a disk that they do not reach.

use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::Event;
use stripewise_conductor::targets::{OpenTarget, nothing_measured};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_results::{Severity, TargetFacts, Warning};
use stripewise_runner::trust::{Code, Evidence, before_reads, before_writes};
use stripewise_targets::TargetName;
use stripewise_units::path_of;

/// Warnings about what keeps some reads of an existing target from its medium; printed,
/// and returned for the record.
///
/// # Errors
/// If no read reaches a disk: a file in memory, or one of holes.
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
    report_warnings(context, name, before_reads(&evidence))
}

/// The same for writes, before anything is made.
///
/// # Errors
/// If no write reaches a disk.
pub fn written_to_a_medium(context: &Context, name: &str) -> Outcome<Vec<Warning>> {
    match name.parse() {
        Ok(TargetName::Path(path)) => {
            let evidence = evidence_of(&path, TargetFacts::unknown());
            report_warnings(context, name, before_writes(&evidence))
        }
        _ => Ok(Vec::new()),
    }
}

/// Reasons to doubt that a target which holds data is a disk. It is used anyway:
/// verification in memory may test the program or the file system.
pub fn doubts(context: &Context, facts: &TargetFacts) -> Vec<Warning> {
    let warnings = before_writes(&evidence_of(&path_of(&facts.name), facts.clone()));
    say_all(context, &warnings);
    warnings
}

/// Turns success into a finding if the values are void.
pub fn exit_with(exit: Exit, warnings: &[Warning]) -> Exit {
    match exit {
        Exit::Done if !void_codes(warnings).is_empty() => Exit::Finding,
        other => other,
    }
}

/// Codes of the warnings that void values.
pub fn void_codes(warnings: &[Warning]) -> Vec<&str> {
    let void = warnings.iter().filter(|one| one.severity == Severity::Void);
    void.map(|one| one.code.as_str()).collect()
}

/// Known facts about a target before anything is measured.
pub(super) fn evidence_of(path: &Path, facts: TargetFacts) -> Evidence {
    Evidence {
        storage: System::live().storage_of_path(path).ok(),
        ..nothing_measured(facts)
    }
}

fn report_warnings(context: &Context, name: &str, warnings: Vec<Warning>) -> Outcome<Vec<Warning>> {
    if let Some(void) = warnings.iter().find(|warning| forbids(warning)) {
        return Err(Failure::target(
            format!("{name}: no disk would be measured: {}", void.message),
            void.hint.clone(),
        ));
    }
    say_all(context, &warnings);
    Ok(warnings)
}

/// Shows warnings to the user.
pub fn say_all(context: &Context, warnings: &[Warning]) {
    for warning in warnings {
        let text = match warning.severity {
            Severity::Void => format!("the numbers are VOID: {}", warning.message),
            _ => warning.message.clone(),
        };
        context.observer().on_event(&Event::Warning {
            code: Some(&warning.code),
            text: &text,
            hint: Some(&warning.hint),
        });
    }
}

/// Zeros are stored on many disks like any other data.
fn forbids(warning: &Warning) -> bool {
    warning.severity == Severity::Void && warning.code != Code::ZeroData.as_str()
}
