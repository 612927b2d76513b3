//! Whether reads and writes of a target reach a medium: not memory, not a page cache, no
//! holes of a file. Timed reads say nothing of a disk that they do not reach.

use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::Event;
use stripewise_conductor::targets::{OpenTarget, nothing_measured};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::observe::Snapshot;
use stripewise_results::{JobOutcome, KindOutcome, Severity, TargetFacts, Warning};
use stripewise_runner::session::DeviceWatch;
use stripewise_runner::trust::{
    Code, Evidence, before_reads, before_writes, cpu_quota, io_throttled, thermal_throttling,
    throttled as limits_exceeded,
};
use stripewise_targets::TargetName;
use stripewise_units::{DeviceNumber, path_of};

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

/// The greatest rates at which a target was read and written. A mean would hide a limit: a control
/// group lets a burst pass at once and holds back what comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FastestRates {
    /// Bytes read a second.
    pub read_bytes_per_s: f64,
    /// Reads a second.
    pub reads_per_s: f64,
    /// Bytes written a second.
    pub written_bytes_per_s: f64,
    /// Writes a second.
    pub writes_per_s: f64,
}

impl FastestRates {
    fn outcome(&self) -> JobOutcome {
        let kind = |operations: f64, bytes: f64| KindOutcome {
            operations: operations as u64,
            bytes: bytes as u64,
            ..KindOutcome::default()
        };
        JobOutcome {
            duration_ns: 1_000_000_000,
            read: kind(self.reads_per_s, self.read_bytes_per_s),
            write: kind(self.writes_per_s, self.written_bytes_per_s),
            ..JobOutcome::default()
        }
    }
}

/// What limits a target from outside, from before it is measured until after: a control group,
/// the volume or its drives by their own reports, a quota of the processor.
pub struct LimitWatch {
    evidence: Evidence,
    reports: Option<DeviceWatch>,
    before: Snapshot,
}

impl LimitWatch {
    /// Begins to watch the limits of a file, a directory or a device.
    #[must_use]
    pub fn start(path: &Path, facts: TargetFacts) -> LimitWatch {
        let evidence = evidence_of(path, facts);
        LimitWatch {
            reports: evidence.storage.as_ref().map(DeviceWatch::start),
            before: snapshot(),
            evidence,
        }
    }

    /// The device that holds the target.
    #[must_use]
    pub fn device(&self) -> Option<DeviceNumber> {
        Some(self.evidence.storage.as_ref()?.nearest()?.number)
    }

    /// Which limits were reached. Prints nothing.
    #[must_use]
    pub fn finish(self, context: &Context, rates: &FastestRates) -> Vec<Warning> {
        let mut evidence = self.evidence;
        let layers = evidence.storage.iter().flat_map(|storage| storage.layers());
        let numbers: Vec<_> = layers.map(|device| device.number).collect();
        evidence.throttles = stripewise_machine::System::live().throttles(&numbers);
        let reports = self.reports.as_ref().map(DeviceWatch::finish);
        let reports = reports.unwrap_or_default();
        evidence.outcome = JobOutcome {
            volume: reports.volume,
            drives: reports.drives,
            ..rates.outcome()
        };
        evidence.host = context.host();
        evidence.observed = Some(self.before.difference(&snapshot()));
        let judges = [io_throttled, limits_exceeded, thermal_throttling, cpu_quota];
        judges.iter().filter_map(|judge| judge(&evidence)).collect()
    }
}

fn snapshot() -> Snapshot {
    Snapshot::take(&stripewise_machine::System::live(), &[], &[])
}

/// The same of a target that is open; simulated ones have no such limits.
#[must_use]
pub fn watched(target: &OpenTarget) -> Option<LimitWatch> {
    let facts = target.real()?.facts();
    Some(LimitWatch::start(&path_of(&facts.name), facts.clone()))
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

/// Reports warnings where people see them.
pub fn say_all(context: &Context, warnings: &[Warning]) {
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
