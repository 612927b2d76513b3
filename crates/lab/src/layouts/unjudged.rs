//! Reports on layouts before they can be judged: what they are, the question,
//! and the measurements of each. None gets a score, which would be a value without
//! an interval.

use super::measured::Measured;
use super::question::Question;
use stripewise_results::{AdviceCell, AdviceRecord, MeasuredLayout};

/// The record of an experiment without an answer yet; `because` gives the reasons, in sentences.
pub fn unjudged(question: &Question<'_>, because: Vec<String>) -> AdviceRecord {
    let cells = question.cells.iter().map(|cell| AdviceCell {
        name: cell.name.clone(),
        what: cell.what.clone(),
        share_percent: cell.share_percent,
        assumed: cell.assumed,
        iops: Vec::new(),
        latency_ns_p99: Vec::new(),
    });
    AdviceRecord {
        title: question.title.to_owned(),
        target: question.target.to_owned(),
        profile: question.profile.map(str::to_owned),
        factors: question.set.records(),
        present: question.present.map(|present| question.set.levels(present)),
        unjudged: measured(question, question.measured),
        cells: cells.collect(),
        margin_percent: question.margin_percent,
        passes: u32::try_from(question.measured.passes.len()).unwrap_or(u32::MAX),
        sentences: because,
        ..AdviceRecord::default()
    }
}

/// Each layout of each pass.
fn measured(question: &Question<'_>, measured: &Measured) -> Vec<MeasuredLayout> {
    let mut all = Vec::new();
    for (pass, made) in (1..).zip(&measured.passes) {
        for (layout, values) in made.values.iter().enumerate() {
            let Some(values) = values else {
                continue;
            };
            all.push(MeasuredLayout {
                pass,
                layout: question.set.levels(layout),
                iops: values.iter().map(|value| value.iops).collect(),
                latency_ns_p99: values.iter().map(|value| value.latency_ns_p99).collect(),
            });
        }
    }
    all
}
