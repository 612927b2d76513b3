//! Documents of runs: with summaries of their series, and with what was required of them
//! judged. The verdicts travel in the document, so that a report made of it says what
//! whoever asked was told.

use crate::exit::Exit;
use stripewise_lab::compare::Requirement;
use stripewise_lab::series_of;
use stripewise_results::{Document, RunRecord, SeriesRecord};

/// The document of runs, with summaries of the series that they belong to.
#[must_use]
pub fn document(runs: Vec<RunRecord>) -> Document {
    let series = series_of(&runs);
    Document {
        series,
        ..Document::new(runs)
    }
}

/// Judges what was required of the runs of a document.
pub fn judge(required: &[Requirement], document: &mut Document) {
    let judged = required.iter().map(|one| {
        if document.series.is_empty() {
            return one.judge(&document.runs);
        }
        if one.is_of_latency() {
            return one.judge(&at_answers(document));
        }
        let by_answer = one.judge_answers(&document.series);
        by_answer.unwrap_or_else(|| one.judge(&document.runs))
    });
    document.requirements = judged.collect();
}

/// Runs at which latencies are judged: of a ladder only the step that is its answer,
/// as the steps beyond show what too much load costs; without one within the limit,
/// the step with the least load. Runs of no ladder all count.
fn at_answers(document: &Document) -> Vec<RunRecord> {
    let answers: Vec<&str> = document.series.iter().flat_map(answers).collect();
    let is_step = |id: &str| {
        let of = |series: &SeriesRecord| {
            let mut steps = series.steps.iter().chain(&series.answer_runs);
            steps.any(|step| step.run == id)
        };
        document.series.iter().any(of)
    };
    let runs = document.runs.iter();
    runs.filter(|run| answers.contains(&run.id.as_str()) || !is_step(&run.id))
        .cloned()
        .collect()
}

/// The runs of a ladder's answer: those made for it at the one load that there is; of a
/// ladder the step within its limit; of its first step where no step counts, so that a
/// requirement of void numbers stays unmet.
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

/// What went well ends as a finding where a requirement is missed.
#[must_use]
pub fn exit(document: &Document, exit: Exit) -> Exit {
    let missed = document.requirements.iter().any(|one| !one.met);
    if missed && exit == Exit::Done {
        Exit::Finding
    } else {
        exit
    }
}
