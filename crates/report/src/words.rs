//! Names in records as people read them.

use stripewise_results::{RequirementRecord, RunRecord};
use stripewise_units::capitalised;

/// Sets a heading off from what follows, as the place can where the text goes.
pub type Heading<'a> = &'a dyn Fn(&str) -> String;

/// `read_iops>=20000: 21,400 IOPS (random 8K read; median of 6 runs)`.
pub(crate) fn requirement_words(requirement: &RequirementRecord) -> String {
    let of = match (requirement.of.as_str(), requirement.repetitions) {
        ("", _) => String::new(),
        (of, 0) => format!(" ({of})"),
        (of, 1) => format!(" ({of}; one run)"),
        (of, n) => format!(" ({of}; median of {n} runs)"),
    };
    format!(
        "{}: {}{of}",
        requirement.requirement, requirement.measured_words
    )
}

/// A line of text about a requirement: `MISSED: p99<1ms: 3.2 ms (...)`.
#[must_use]
pub fn requirement_line(requirement: &RequirementRecord) -> String {
    let word = match (requirement.met, requirement.undecided) {
        (true, _) => "met",
        (false, true) => "UNDECIDED",
        (false, false) => "MISSED",
    };
    format!("{word}: {}", requirement_words(requirement))
}

/// All that was required in a sentence.
pub(crate) fn requirements_in_words(all: &[RequirementRecord]) -> String {
    match all.iter().filter(|requirement| !requirement.met).count() {
        0 => "Pass: all requirements are met".to_owned(),
        missed => format!("Fail: {missed} of {} requirements not met", all.len()),
    }
}

/// `iops` as people say it.
pub(crate) fn metric_words(metric: &str) -> String {
    match metric {
        "iops" => "IOPS".to_owned(),
        "mib_per_s" => "MiB/s".to_owned(),
        other => match other.strip_prefix("latency_ns_") {
            Some("p999") => "p99.9 latency".to_owned(),
            Some("max") => "longest latency".to_owned(),
            Some(statistic) => format!("{statistic} latency"),
            None => other.replace('_', " "),
        },
    }
}

/// `Random read` for `random-read`.
pub(crate) fn series_title(name: &str) -> String {
    capitalised(&name.replace('-', " "))
}

/// The series of a bench.
const LADDERS: [&str; 5] = [
    "random-read",
    "sequential-read",
    "random-write",
    "sequential-write",
    "log",
];

/// The part of a bench that a run is of. Grids and repetitions are series, too, of which
/// every run has a load of its own.
pub(crate) fn ladder_part(run: &RunRecord) -> Option<&str> {
    let part = run.series_part.as_deref();
    part.filter(|part| LADDERS.contains(part))
}

/// Sequential series are told in bytes, others in operations.
pub(crate) fn told_in_bytes(series: &str) -> bool {
    series.starts_with("sequential")
}

/// Lines that a report has said already: tables of several metrics, or of several
/// levels, share their sentences and notes.
#[derive(Default)]
pub(crate) struct Said<'a>(Vec<&'a str>);

impl<'a> Said<'a> {
    /// Those that are not said yet; from now on they are.
    pub(crate) fn new_of(&mut self, lines: &'a [String]) -> Vec<&'a str> {
        let mut new = Vec::new();
        for line in lines {
            if !self.0.contains(&line.as_str()) {
                self.0.push(line);
                new.push(line.as_str());
            }
        }
        new
    }
}
