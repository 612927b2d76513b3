//! Names in records as text for people.

use crate::sheet::Judgement;
use stripewise_results::{RequirementRecord, RequirementVerdict, RunRecord};
use stripewise_units::{capitalised, counted};

/// Emphasises a heading, depending on where the text goes.
pub type Heading<'a> = &'a dyn Fn(&str) -> String;

/// `read_iops>=20000: 21,400 IOPS (random 8K read; median of 6 runs)`.
pub(crate) fn requirement_words(requirement: &RequirementRecord) -> String {
    format!("{}: {}", requirement.requirement, found_words(requirement))
}

/// `21,400 IOPS (random 8K read; median of 6 runs)`.
pub(crate) fn found_words(requirement: &RequirementRecord) -> String {
    let of = match (requirement.of.as_str(), requirement.repetitions) {
        ("", _) => String::new(),
        (of, 0) => format!(" ({of})"),
        (of, 1) => format!(" ({of}; one run)"),
        (of, n) => format!(" ({of}; median of {n} runs)"),
    };
    format!("{}{of}", requirement.measured_words)
}

/// A line of text about a requirement: `MISSED: p99<1ms: 3.2 ms (...)`.
pub fn requirement_line(requirement: &RequirementRecord) -> String {
    line_for(requirement, "")
}

/// The same of one of several benches: `MISSED for sim:nvme: p99<1ms: 3.2 ms (...)`.
pub(crate) fn line_for(requirement: &RequirementRecord, bench: &str) -> String {
    let word = verdict_word(requirement.verdict());
    format!("{word}{bench}: {}", requirement_words(requirement))
}

/// `met` in lower case, other verdicts in capitals.
pub(crate) fn verdict_word(verdict: RequirementVerdict) -> String {
    match verdict {
        RequirementVerdict::Met => "met".to_owned(),
        other => other.word().to_uppercase(),
    }
}

/// Whether all requirements are met, as the verdict of a sheet, a page and a picture; `None`
/// if there are no requirements.
pub(crate) fn verdict_on(all: &[RequirementRecord]) -> Option<(Judgement, String)> {
    let verdicts = || all.iter().map(RequirementRecord::verdict);
    let missed = verdicts().filter(|one| *one == RequirementVerdict::Missed);
    let open = verdicts().filter(|one| *one == RequirementVerdict::Undecided);
    let of = counted(all.len(), "requirement", "requirements");
    Some(match (all.len(), missed.count(), open.count()) {
        (0, ..) => return None,
        (1, 1, _) => (Judgement::Bad, "Requirement missed".to_owned()),
        (1, 0, 1) => (Judgement::Open, "Requirement undecided".to_owned()),
        (_, missed @ 1.., open @ 1..) => (
            Judgement::Bad,
            format!("{missed} of {of} missed, {open} undecided"),
        ),
        (_, missed @ 1.., 0) => (Judgement::Bad, format!("{missed} of {of} missed")),
        (_, 0, open @ 1..) => (Judgement::Open, format!("{open} of {of} undecided")),
        _ => (Judgement::Good, format!("{of} met")),
    })
}

/// Those not met first.
pub(crate) fn gravest_first(all: &[RequirementRecord]) -> Vec<&RequirementRecord> {
    let mut sorted: Vec<&RequirementRecord> = all.iter().collect();
    sorted.sort_by_key(|one| one.verdict());
    sorted
}

/// `iops` as text for people.
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

/// Names of the series of a bench.
const LADDERS: [&str; 5] = [
    "random-read",
    "sequential-read",
    "random-write",
    "sequential-write",
    "log",
];

/// The part of a bench that a run belongs to. Grids and repetitions are series, too, in which
/// every run has a load of its own.
pub(crate) fn ladder_part(run: &RunRecord) -> Option<&str> {
    let part = run.series_part.as_deref();
    part.filter(|part| LADDERS.contains(part))
}

/// Lines already printed in a report: tables of several metrics, or of several
/// levels, share their sentences and notes.
#[derive(Default)]
pub(crate) struct PrintedLines<'a>(Vec<&'a str>);

impl<'a> PrintedLines<'a> {
    /// Returns the lines not printed yet, and records them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_counts_what_is_undecided_beside_what_is_missed() {
        let required = |(met, undecided): (bool, bool)| RequirementRecord {
            requirement: "iops>=1".to_owned(),
            measured: None,
            measured_words: String::new(),
            of: String::new(),
            repetitions: 0,
            met,
            interval: None,
            undecided,
            series: Vec::new(),
        };
        let [met, missed, open] = [(true, false), (false, false), (false, true)].map(required);
        let required_text = |all: [&RequirementRecord; 4]| {
            let all: Vec<RequirementRecord> = all.into_iter().cloned().collect();
            verdict_on(&all).expect("a verdict").1
        };
        assert_eq!(
            required_text([&missed, &open, &open, &missed]),
            "2 of 4 requirements missed, 2 undecided"
        );
        assert_eq!(
            required_text([&missed, &met, &met, &met]),
            "1 of 4 requirements missed"
        );
        assert_eq!(
            required_text([&open, &met, &met, &met]),
            "1 of 4 requirements undecided"
        );
    }
}
