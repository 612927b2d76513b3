//! Benches compared with each other by their answers. Used by `compare` and by a report on two.

use crate::steps::subject::Subject;
use std::collections::BTreeSet;
use stripewise_lab::SeriesKind;
use stripewise_lab::compare::{CompareOptions, Side, compare_answers, compare_landmarks};
use stripewise_lab::experiment::Metric;
use stripewise_results::ComparisonRecord;

/// Compares the answers of benches; empty unless all of them have answers in
/// common with A. `whole`: also the context of the answers, separately.
pub fn answers(
    a: &Side,
    others: &[Side],
    metrics: &[Metric],
    whole: bool,
) -> (Vec<ComparisonRecord>, Vec<ComparisonRecord>) {
    let (mut records, mut answer_records) = (Vec::new(), Vec::new());
    for other in others {
        let before = records.len();
        for &metric in metrics {
            let options = CompareOptions {
                metric,
                ..CompareOptions::default()
            };
            records.extend(compare_answers(a, other, options));
        }
        if records.len() == before {
            return (Vec::new(), Vec::new());
        }
        if whole {
            let options = CompareOptions::default();
            answer_records.extend(compare_landmarks(a, other, options));
        }
    }
    (records, answer_records)
}

/// The comparison that a report on two benches begins with: what `compare A B` prints. Empty
/// for any other subjects, and for a bench and itself.
pub fn leading_comparison(subjects: &[Subject]) -> Vec<ComparisonRecord> {
    let [a, b] = subjects else {
        return Vec::new();
    };
    let ids: BTreeSet<&str> = a.runs.iter().map(|run| run.id.as_str()).collect();
    let is_same = b.runs.iter().any(|run| ids.contains(run.id.as_str()));
    if is_same || !is_bench(a) || !is_bench(b) {
        return Vec::new();
    }
    let names = names_by_label(&[a, b]);
    let sides = names.into_iter().zip(subjects).map(|(name, subject)| Side {
        name,
        runs: subject.runs.clone(),
    });
    let sides: Vec<Side> = sides.collect();
    let (mut records, answer_records) = answers(&sides[0], &sides[1..], &[Metric::default()], true);
    records.extend(answer_records);
    records
}

fn is_bench(subject: &Subject) -> bool {
    let mut parts = subject
        .runs
        .iter()
        .filter_map(|run| run.series_part.as_deref());
    parts.any(|part| SeriesKind::from_name(part).is_some())
}

/// The names of sides: their labels, which say more than ids, unless two are equal.
pub fn names_by_label(sides: &[&Subject]) -> Vec<String> {
    let labels: Vec<Option<&str>> = sides.iter().map(|side| side.label()).collect();
    let named = sides.iter().zip(&labels).map(|(side, label)| {
        let same = labels.iter().filter(|other| *other == label).count();
        match (label, same) {
            (Some(label), 1) => (*label).to_owned(),
            _ => side.name.clone(),
        }
    });
    named.collect()
}
