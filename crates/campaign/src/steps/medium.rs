//! Whether reads and writes of a target reach a medium: not memory, not a page cache, no
//! holes of a file. Timed reads say nothing of a disk that they do not reach.

use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::Event;
use stripewise_conductor::targets::{OpenTarget, nothing_measured};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::observe::Observed;
use stripewise_results::{JobOutcome, KindOutcome, Severity, TargetFacts, Warning};
use stripewise_runner::session::DeviceWatch;
use stripewise_runner::trust::{
    Code, Evidence, before_reads, before_writes, io_throttled, thermal_throttling,
    throttled as limits_exceeded,
};
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

/// What makes it doubtful that a target which holds data is a disk. It is used all the same:
/// what is verified in memory may be the program or the file system.
pub fn doubts(context: &Context, facts: &TargetFacts) -> Vec<Warning> {
    let warnings = before_writes(&evidence_of(&path_of(&facts.name), facts.clone()));
    say_all(context, &warnings);
    warnings
}

/// How fast a target was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadRates {
    /// Bytes a second, where it was read as fast as it goes.
    pub bytes_per_s: f64,
    /// Reads a second, likewise.
    pub reads_per_s: f64,
}

/// Reads what the volume or the drives below a target report of themselves, before it is
/// measured.
#[must_use]
pub fn watched(target: &OpenTarget) -> Option<DeviceWatch> {
    let name = &target.real()?.facts().name;
    let storage = System::live().storage_of_path(&path_of(name)).ok()?;
    Some(DeviceWatch::start(&storage))
}

/// Whether a limit was what was measured: a control group's, or one that the volume reports;
/// and whether drives slowed themselves.
pub fn throttled(
    context: &Context,
    target: &OpenTarget,
    rates: ReadRates,
    watch: Option<&DeviceWatch>,
) -> Vec<Warning> {
    let Some(real) = target.real() else {
        return Vec::new();
    };
    let mut evidence = evidence_of(&path_of(&real.facts().name), real.facts().clone());
    let layers = evidence.storage.iter().flat_map(|storage| storage.layers());
    let numbers: Vec<_> = layers.map(|device| device.number).collect();
    evidence.throttles = stripewise_machine::System::live().throttles(&numbers);
    let reports = watch.map(DeviceWatch::finish).unwrap_or_default();
    evidence.outcome = JobOutcome {
        volume: reports.volume,
        drives: reports.drives,
        duration_ns: 1_000_000_000,
        read: KindOutcome {
            operations: rates.reads_per_s as u64,
            bytes: rates.bytes_per_s as u64,
            ..KindOutcome::default()
        },
        ..JobOutcome::default()
    };
    // What is observed of the machine is not known here, and no warning follows from it.
    evidence.observed = Some(Observed::default());
    let judges = [io_throttled, limits_exceeded, thermal_throttling];
    let warnings: Vec<Warning> = judges.iter().filter_map(|judge| judge(&evidence)).collect();
    say_all(context, &warnings);
    warnings
}

/// What went well ends as a finding where its numbers are void.
#[must_use]
pub fn exit_with(exit: Exit, warnings: &[Warning]) -> Exit {
    match exit {
        Exit::Done if !void_codes(warnings).is_empty() => Exit::Finding,
        other => other,
    }
}

/// Codes of the warnings that void numbers.
#[must_use]
pub fn void_codes(warnings: &[Warning]) -> Vec<&str> {
    let void = warnings.iter().filter(|one| one.severity == Severity::Void);
    void.map(|one| one.code.as_str()).collect()
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
    say_all(context, &warnings);
    Ok(warnings)
}

fn say_all(context: &Context, warnings: &[Warning]) {
    for warning in warnings {
        let text = match warning.severity {
            Severity::Void => format!("the numbers are VOID: {}", warning.message),
            _ => warning.message.clone(),
        };
        context.observer().hear(&Event::Warning {
            code: Some(&warning.code),
            text: &text,
            hint: Some(&warning.hint),
        });
    }
}

/// Zeros lie on many disks as any other data do.
fn forbids(warning: &Warning) -> bool {
    warning.severity == Severity::Void && warning.code != Code::ZeroData.as_str()
}
