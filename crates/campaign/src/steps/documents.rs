//! Documents of runs: with summaries of their series, and requirements
//! judged. The document contains the verdicts, so that a report made from it agrees with the
//! original output.

use std::borrow::Cow;
use std::collections::BTreeMap;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::{Requirement, required_together};
use stripewise_lab::{SeriesKind, series_of};
use stripewise_results::{
    Document, JobRow, RequirementRecord, RequirementVerdict, RunRecord, SeriesRecord,
};
use stripewise_runner::trust::Code;
use stripewise_store::{Filter, RunSummary, Store};
use stripewise_units::distinct;

/// The document of runs, with summaries of the series that they belong to.
#[must_use]
pub fn document(runs: Vec<RunRecord>) -> Document {
    let series = series_of(&runs);
    Document {
        series,
        ..Document::new(runs)
    }
}

/// The runs that requirements apply to. Excluded are passes that only prepare the target, whose
/// speed is irrelevant, and runs at a required rate, which are judged by their
/// arrivals. Borrows if there are none to exclude.
pub fn own_runs_of(runs: &[RunRecord]) -> Cow<'_, [RunRecord]> {
    let is_other = |run: &RunRecord| run.is_preparation() || run.is_at_required_rate();
    if !runs.iter().any(is_other) {
        return Cow::Borrowed(runs);
    }
    let own_runs = runs.iter().filter(|run| !is_other(run));
    Cow::Owned(own_runs.cloned().collect())
}

/// Refuses a requirement on something that does not exist: a mistyped name must not
/// count as missed. `names` are those of jobs and parts of series.
///
/// # Errors
/// If one names none of these.
pub fn check_names<'a>(
    required: &[Requirement],
    names: impl IntoIterator<Item = &'a str>,
) -> Outcome<()> {
    let known = distinct(names);
    let mut each = required.iter();
    each.try_for_each(|one| one.check_name(&known))
        .map_err(Failure::from)
}

/// The names of the jobs of these runs, to which requirements may refer.
pub fn names_of(runs: &[RunRecord]) -> impl Iterator<Item = &str> {
    let own_runs = runs.iter().filter(|run| !run.is_preparation());
    own_runs.flat_map(|run| run.jobs.iter().map(|job| job.name.as_str()))
}

/// Judges requirements on the runs of a document.
pub fn judge(required: &[Requirement], document: &mut Document) {
    let runs = own_runs_of(&document.runs);
    let both = judged_together(required, document);
    let judged = required.iter().zip(both).map(|(one, both)| {
        if document.series.is_empty() {
            return one.judge(&runs);
        }
        if let Some(both) = both {
            return both;
        }
        if one.is_of_latency() {
            return one.judge(&at_answers(&document.series, &runs));
        }
        let by_answer = one.judge_answers(&document.series);
        by_answer.unwrap_or_else(|| one.judge(&runs))
    });
    document.requirements = judged.collect();
}

/// The verdict of each requirement that is judged with others: a rate and a latency
/// of one series. `None` for one judged by itself. With several benches, the worst.
fn judged_together(
    required: &[Requirement],
    document: &Document,
) -> Vec<Option<RequirementRecord>> {
    let mut kinds: Vec<SeriesKind> = Vec::new();
    for series in &document.series {
        kinds.extend(SeriesKind::from_name(&series.name).filter(|kind| !kinds.contains(kind)));
    }
    let together = match required_together(required, &kinds) {
        Ok(together) => together,
        Err(unclear) => {
            let of_unclear = |one: &Requirement| {
                let text = one.to_string();
                unclear.texts.contains(&text).then(|| unclear_record(text))
            };
            return required.iter().map(of_unclear).collect();
        }
    };
    let badness = |one: &RequirementRecord| (!one.met, !one.undecided);
    let of_one = |one: &Requirement| {
        let both = together.iter().filter(|both| both.has(one));
        let judged = both.flat_map(|both| {
            let of_kind = document.series.iter();
            let of_kind = of_kind.filter(|series| series.name == both.kind.name());
            of_kind.flat_map(|series| both.judge(series, &document.runs))
        });
        let of_this = judged.filter(|(other, _)| std::ptr::eq(*other, one));
        of_this.map(|(_, record)| record).max_by_key(badness)
    };
    required.iter().map(of_one).collect()
}

fn unclear_record(requirement: String) -> RequirementRecord {
    RequirementRecord {
        requirement,
        measured_words: "it is not clear which series is to keep both the rate and the latency: \
                         name it in both"
            .to_owned(),
        undecided: true,
        ..RequirementRecord::default()
    }
}

/// Repeats the judgement of the requirements in the runs' requests.
/// Does nothing if these differ, as for separate runs.
pub fn judge_as_requested(document: &mut Document) {
    let own_runs = document.runs.iter().map(|run| match &run.request {
        Some(request) => request.requirements.as_slice(),
        None => &[],
    });
    let mut own_runs: Vec<Vec<String>> = own_runs.map(<[String]>::to_vec).collect();
    own_runs.dedup();
    let [texts] = own_runs.as_slice() else {
        return;
    };
    let required: Option<Vec<Requirement>> = texts.iter().map(|one| one.parse().ok()).collect();
    if let Some(required) = required.filter(|required| !required.is_empty()) {
        judge(&required, document);
    }
}

/// What became of what was required of a run, or of the runs of a series, when they were
/// made; none where nothing was.
#[must_use]
pub fn verdict_as_requested(store: &Store, run: &RunSummary) -> Option<RequirementVerdict> {
    if !store.has_requirements(&run.id) {
        return None;
    }
    let ids = match &run.series {
        None => vec![run.id.clone()],
        Some(series) => {
            let filter = Filter::of_series(series);
            let runs = store.list_readable(&filter).ok()?.runs.into_iter();
            runs.rev().map(|run| run.id).collect()
        }
    };
    let records = ids.iter().filter_map(|id| store.load(id).ok());
    let mut document = document(records.collect());
    judge_as_requested(&mut document);
    RequirementVerdict::of_all(&document.requirements)
}

/// The same of each of several runs, as a word: of those of one series that of the series.
#[must_use]
pub fn verdicts_as_requested<'a>(
    store: &Store,
    runs: impl IntoIterator<Item = &'a RunSummary>,
) -> Vec<Option<&'static str>> {
    let mut of_series: BTreeMap<&str, Option<&'static str>> = BTreeMap::new();
    let word = |run: &RunSummary| verdict_as_requested(store, run).map(RequirementVerdict::word);
    let runs = runs.into_iter().map(|run| match run.series.as_deref() {
        None => word(run),
        Some(series) => *of_series.entry(series).or_insert_with(|| word(run)),
    });
    runs.collect()
}

/// Runs at which latencies are judged: of a ladder only the step that is its answer,
/// as the steps beyond show what too much load costs; without one within the limit,
/// the step with the least load. Runs of no ladder all count.
fn at_answers(series: &[SeriesRecord], runs: &[RunRecord]) -> Vec<RunRecord> {
    let answers: Vec<&str> = series.iter().flat_map(answers).collect();
    let is_step = |id: &str| {
        let of = |series: &SeriesRecord| {
            let mut steps = series.steps.iter().chain(&series.answer_runs);
            steps.any(|step| step.run == id)
        };
        series.iter().any(of)
    };
    runs.iter()
        .filter(|run| answers.contains(&run.id.as_str()) || !is_step(&run.id))
        .cloned()
        .collect()
}

/// The runs of a ladder's answer: those made for it if there is a single load; for a
/// ladder, the step within its limit; its first step if no step is valid, so that a
/// requirement on void values stays unmet.
fn answers(series: &SeriesRecord) -> Vec<&str> {
    if series.steps.len() == 1 {
        let runs = series.steps.iter().chain(&series.answer_runs);
        return runs.map(|step| step.run.as_str()).collect();
    }
    let within = series
        .within_limit
        .and_then(|index| series.steps.get(index));
    let least = || series.steps.iter().find(|step| step.counts());
    let step = within.or_else(least).or(series.steps.first());
    step.map(|step| step.run.as_str()).into_iter().collect()
}

/// Void, and not by request: `--engine null` measures the program.
fn is_void(row: &JobRow<'_>) -> bool {
    let asked_for = [Code::NullEngine.as_str(), Code::FaultsInjected.as_str()];
    let codes = row.void_codes();
    codes.iter().any(|code| !asked_for.contains(code))
}

/// Turns success into a finding if a requirement is missed or undecided, or a
/// result is void: a script that only checks the code must not take void values for the
/// disk's. Void steps of a ladder are left out of its answer, which counts then.
#[must_use]
pub fn exit(document: &Document, exit: Exit) -> Exit {
    let missed = document.requirements.iter().any(|one| !one.met);
    let is_void = match document.series.is_empty() {
        true => JobRow::of(&own_runs_of(&document.runs)).any(|row| is_void(&row)),
        false => (document.series.iter()).any(|series| series.no_answer.is_some()),
    };
    if (missed || is_void) && exit == Exit::Done {
        Exit::Finding
    } else {
        exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{JobOutcome, JobRecord, LatencySummary};

    fn run(part: &str, iops: f64, p99_ns: u64) -> RunRecord {
        let mut outcome = JobOutcome {
            operations: 1_000,
            iops,
            ..JobOutcome::default()
        };
        outcome.write.operations = 1_000;
        outcome.write.latency_ns = Some(LatencySummary {
            p99: p99_ns,
            ..LatencySummary::default()
        });
        RunRecord {
            id: format!("run-{part}"),
            series: Some("bench".to_owned()),
            series_part: Some(part.to_owned()),
            latency_limit: Some("p99<5ms".to_owned()),
            jobs: vec![JobRecord {
                name: part.to_owned(),
                workload: stripewise_workload::Workload {
                    read_percent: 0,
                    ..Default::default()
                },
                outcome,
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        }
    }

    #[test]
    fn a_pass_that_prepares_the_target_neither_meets_nor_misses_a_requirement() {
        let runs = vec![
            run("precondition", 90_000.0, 138_000_000),
            run("log", 3_800.0, 1_900_000),
        ];
        // Individually: together they are judged by a run at that rate.
        let judged = |text: &str| {
            let mut document = document(runs.clone());
            judge(&[text.parse().expect("a requirement")], &mut document);
            document.requirements.remove(0)
        };
        let latency = judged("p99<5ms");
        assert!(latency.met, "{latency:?}");
        assert_eq!(latency.measured, Some(1_900_000.0));
        let rate = judged("iops>=50000");
        assert!(!rate.met, "{rate:?}");
    }
}
