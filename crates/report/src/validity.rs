//! What a reader must know before any number: that numbers are void, that the measurement was
//! stopped early, or that an interval leaves out what some runs met. It is shown in every picture
//! and at the top of every page, because a reader may see only one of these.

use crate::answers::unit;
use crate::identity::{NamedSeries, named_series};
use stripewise_results::{Document, JobRecord, RunRecord, Status};
use stripewise_units::{counted, distinct, plural};

/// Maximum number of names listed; others are counted.
const NAMED_MAX: usize = 4;

/// A reservation about numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reservation {
    /// None of them is the disk's.
    Void,
    /// Some are not the disk's.
    VoidInPart,
    /// They are from before a stop.
    Stopped,
    /// Some runs, such as those with stalls, have little weight in them.
    RunsApart,
}

/// Sentences, the most severe first; empty if all numbers are valid and complete.
pub(crate) fn cautions(document: &Document) -> Vec<String> {
    let all = against(document).into_iter();
    all.map(|(_, sentence)| sentence).collect()
}

/// The same, each with its kind.
pub(crate) fn against(document: &Document) -> Vec<(Reservation, String)> {
    let stopped = stopped(document).map(|sentence| (Reservation::Stopped, sentence));
    let apart = runs_apart(document).map(|sentence| (Reservation::RunsApart, sentence));
    let all = void(document).into_iter().chain(stopped);
    all.chain(apart).collect()
}

/// The answer that changes most where the runs far from the others count in full.
fn runs_apart(document: &Document) -> Option<String> {
    let all = named_series(document);
    let of = |named: &NamedSeries<'_>| {
        let answer = named.series.answered()?.record;
        let full = answer.in_full?;
        let in_bytes = named.series.is_in_bytes();
        let words = full.words(in_bytes, unit(named.series));
        Some(((full.iops / answer.iops - 1.0).abs(), named.title(), words))
    };
    let found: Vec<(f64, String, String)> = all.iter().filter_map(of).collect();
    let (_, title, words) = found.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let loads = counted(all.len(), "load", "loads");
    Some(match (found.len(), all.len()) {
        (_, 1) => format!("{words}."),
        (1, _) => format!("{words} ({title})."),
        (some, _) => format!("{words} ({title}; {some} of {loads} have such runs)."),
    })
}

fn void(document: &Document) -> Option<(Reservation, String)> {
    let runs = &document.runs;
    let concerned = runs.iter().filter(|run| !run.void_codes().is_empty());
    let concerned: Vec<&RunRecord> = concerned.collect();
    let codes = distinct(concerned.iter().flat_map(|run| run.void_codes())).join(", ");
    match concerned.len() {
        0 => None,
        all if all == runs.len() => {
            let sentence = format!("VOID: these numbers are not the disk's ({codes}).");
            Some((Reservation::Void, sentence))
        }
        some => {
            let sentence = format!(
                "VOID in part: the numbers of {some} of {}{} are not the disk's ({codes}).",
                counted(runs.len(), "run", "runs"),
                places(document, &concerned),
            );
            Some((Reservation::VoidInPart, sentence))
        }
    }
}

/// ` (Random read, /dev/sdb; Log)`: the series that hold these runs, else their
/// targets if the document has several.
fn places(document: &Document, concerned: &[&RunRecord]) -> String {
    let mut names: Vec<String> = Vec::new();
    for named in named_series(document) {
        let mut steps = named.series.steps.iter();
        if steps.any(|step| !step.void.is_empty()) {
            names.push(named.title());
        }
    }
    if names.is_empty() {
        let target = |run: &RunRecord| run.jobs.first().map(JobRecord::full_target_names);
        let all: Vec<Option<String>> = document.runs.iter().map(target).collect();
        if all.iter().any(|name| *name != all[0]) {
            names = distinct(concerned.iter().filter_map(|run| target(run)));
        }
    }
    listed(&names).map_or_else(String::new, |names| format!(" ({names})"))
}

fn stopped(document: &Document) -> Option<String> {
    let named = named_series(document);
    let series: Vec<String> = named
        .iter()
        .filter(|named| named.series.partial)
        .map(NamedSeries::title)
        .collect();
    if let Some(names) = listed(&series) {
        return Some(format!(
            "Stopped before {} end: {names}. Series planned after that, if any, were not run; others are \
             whole. To go on, run it again with --series.",
            plural(series.len(), "its", "their")
        ));
    }
    let runs = document.runs.iter();
    let partial = runs.filter(|run| run.status != Status::Complete).count();
    match (partial, document.runs.len()) {
        (0, _) => None,
        (1, 1) => {
            Some("Stopped before its end: the numbers are of what ran before that.".to_owned())
        }
        (partial, all) => Some(format!(
            "{partial} of {all} runs {} stopped before {} end.",
            plural(partial, "was", "were"),
            plural(partial, "its", "their"),
        )),
    }
}

/// Names, of which the first few are listed; `None` if there are none.
pub(crate) fn listed(names: &[String]) -> Option<String> {
    let (named, more) = names.split_at(names.len().min(NAMED_MAX));
    let mut text = named.join("; ");
    if !more.is_empty() {
        text.push_str(&format!("; and {} more", more.len()));
    }
    (!names.is_empty()).then_some(text)
}

/// `VOID (zero-data)`, `partial`, both, or empty: the last column of a
/// job's row.
pub(crate) fn state(run: &RunRecord, void: &[&str]) -> String {
    let mut words = Vec::new();
    if !void.is_empty() {
        words.push(format!("VOID ({})", void.join(", ")));
    }
    match run.status {
        Status::Complete => {}
        Status::Partial => words.push("partial".to_owned()),
        Status::Running => words.push("running".to_owned()),
    }
    words.join(", ")
}

/// The same for narrow tables: the codes are given below them.
pub(crate) fn state_in_brief(run: &RunRecord, job: &JobRecord) -> String {
    let void = run.void_codes_of(job);
    let words = state(run, &[]);
    match (void.is_empty(), words.is_empty()) {
        (true, _) => words,
        (false, true) => "VOID".to_owned(),
        (false, false) => format!("VOID, {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{SeriesRecord, Severity, StepRecord, TargetFacts, Warning};
    use stripewise_units::Hint;

    fn run(id: &str, target: &str, void: bool) -> RunRecord {
        let mut facts = TargetFacts::unknown();
        target.clone_into(&mut facts.name);
        let warning = Warning {
            code: "zero-data".to_owned(),
            severity: Severity::Void,
            message: String::new(),
            short: String::new(),
            hint: Hint::default(),
        };
        RunRecord {
            id: id.to_owned(),
            jobs: vec![JobRecord {
                name: "job".to_owned(),
                target: facts,
                further_targets: Vec::new(),
                workload: Default::default(),
                engine: Default::default(),
                outcome: Default::default(),
                warnings: if void { vec![warning] } else { Vec::new() },
            }],
            ..RunRecord::empty()
        }
    }

    fn of(runs: Vec<RunRecord>) -> Vec<String> {
        cautions(&Document::new(runs))
    }

    #[test]
    fn what_is_void_is_said_with_its_place() {
        assert_eq!(of(vec![run("1", "/a", false)]), Vec::<String>::new());
        assert_eq!(
            of(vec![run("1", "/a", true)]),
            ["VOID: these numbers are not the disk's (zero-data)."]
        );
        assert_eq!(
            of(vec![run("1", "/a", true), run("2", "/a", false)]),
            ["VOID in part: the numbers of 1 of 2 runs are not the disk's (zero-data)."]
        );
        assert_eq!(
            of(vec![run("1", "/a", true), run("2", "/b", false)]),
            ["VOID in part: the numbers of 1 of 2 runs (/a) are not the disk's (zero-data)."]
        );
    }

    #[test]
    fn of_two_benches_the_void_and_the_stopped_one_are_named() {
        let mut runs = vec![run("1", "/a", false), run("2", "/dev/loop0", true)];
        runs[1].status = Status::Partial;
        let series = |of: &RunRecord, void: bool| SeriesRecord {
            id: of.id.clone(),
            name: "random-read".to_owned(),
            slo: "p99<5ms".to_owned(),
            steps: vec![StepRecord {
                run: of.id.clone(),
                threads: 1,
                outstanding: 1,
                iops: 1.0,
                mib_per_s: 1.0,
                partial: void,
                void: of.void_codes().into_iter().map(str::to_owned).collect(),
                ..StepRecord::default()
            }],
            partial: void,
            ..SeriesRecord::default()
        };
        let document = Document {
            series: vec![series(&runs[0], false), series(&runs[1], true)],
            ..Document::new(runs)
        };
        assert_eq!(
            cautions(&document),
            [
                "VOID in part: the numbers of 1 of 2 runs (Random read, /dev/loop0) are not the \
                 disk's (zero-data).",
                "Stopped before its end: Random read, /dev/loop0. Series planned after that, \
                 if any, were not run; others are whole. To go on, run it again with --series.",
            ]
        );
    }
}
