//! `compare`: tables of differences between what is stored, imported or published.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::levels::{Alone, alone, metric, nothing};
use crate::steps::pages::material_of;
use crate::steps::subject::{Subject, subject};
use serde::Serialize;
use stripewise_lab::compare::{
    CompareOptions, Question, Side, compare_all, compare_answers, found, levels_of,
};
use stripewise_report::Material;
use stripewise_results::{ComparisonRecord, Document, RunRecord, SCHEMA_VERSION};

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareQuestion {
    /// The reference; alone: its levels are compared with each other.
    pub a: String,
    /// What is held against it.
    pub b: Option<String>,
    /// What is compared, as people type it.
    pub metric: String,
    /// The level that the others of A are held against.
    pub baseline: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub struct Comparison {
    /// A table for each pair that was compared.
    pub records: Vec<ComparisonRecord>,
    title: Option<String>,
    runs: Vec<RunRecord>,
}

/// Compares.
///
/// # Errors
/// Where a side cannot be read, or nothing of the two can be compared.
pub fn compare(context: &Context, question: &CompareQuestion) -> Outcome<Comparison> {
    let metric = metric(&question.metric)?;
    let mut a = one_subject(context, &question.a)?;
    let Some(b) = &question.b else {
        let asked_for = Alone {
            metric: Some(metric),
            baseline: question.baseline.clone(),
        };
        return Ok(Comparison {
            records: alone(context, &a, &asked_for)?,
            title: None,
            runs: a.runs,
        });
    };
    let mut b = one_subject(context, b)?;
    name_by_labels(&mut a, &mut b);
    let options = CompareOptions {
        metric,
        ..CompareOptions::default()
    };
    // The answers of two benches first: they are what was asked, the rungs only how.
    let whole = |subject: &Subject| Side {
        name: subject.name.clone(),
        runs: subject.runs.clone(),
    };
    let answers = compare_answers(&whole(&a), &whole(&b), options);
    let records = match (two(&a, &b, options), answers) {
        (Ok(rows), answers) => answers.into_iter().chain(rows).collect(),
        (Err(_), Some(answers)) => vec![answers],
        (Err(reason), None) => return Err(reason),
    };
    let mut runs = a.runs;
    runs.extend(b.runs);
    Ok(Comparison {
        records,
        title: Some(format!("{} against {}", b.name, a.name)),
        runs,
    })
}

/// Comparisons as a document.
#[derive(Serialize, schemars::JsonSchema)]
pub struct CompareDocument<'a> {
    schema_version: u32,
    comparisons: &'a [ComparisonRecord],
}

impl Comparison {
    /// As a document.
    #[must_use]
    pub fn document(&self) -> CompareDocument<'_> {
        CompareDocument {
            schema_version: SCHEMA_VERSION,
            comparisons: &self.records,
        }
    }

    /// A difference that is found ends as a finding.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.records.iter().any(found) {
            true => Exit::Finding,
            false => Exit::Done,
        }
    }

    /// What a report on it is made of.
    #[must_use]
    pub fn material(self) -> Material {
        let document = Document {
            comparisons: self.records,
            ..Document::new(self.runs)
        };
        let mut material = material_of(None, document);
        if let Some(title) = self.title {
            material.title = title;
        }
        material
    }
}

/// Sides are called by their labels, which say more than ids, unless both have the same.
fn name_by_labels(a: &mut Subject, b: &mut Subject) {
    let labels = [&*a, &*b].map(|side| side.label().map(str::to_owned));
    if labels[0] == labels[1] {
        return;
    }
    for (side, label) in [a, b].into_iter().zip(labels) {
        side.name = label.unwrap_or_else(|| std::mem::take(&mut side.name));
    }
}

/// A subject; `dataset:NAME:COLUMN` is one column of a table, and the files of
/// a run are those of its document.
fn one_subject(context: &Context, text: &str) -> Outcome<Subject> {
    let column = text
        .strip_prefix("dataset:")
        .and_then(|rest| rest.split_once(':'));
    let Some((name, column)) = column else {
        return subject(context, text);
    };
    let mut one = subject(context, &format!("dataset:{name}"))?;
    let levels = one
        .dataset
        .as_ref()
        .map(|table| table.levels.clone())
        .unwrap_or_default();
    if !levels.iter().any(|level| level == column) {
        let known = match levels.as_slice() {
            [] => "it has only one".to_owned(),
            _ => format!("it has {}", levels.join(", ")),
        };
        return Err(Failure::usage(
            format!("the published table {name} has no column `{column}`"),
            known,
        ));
    }
    one.runs
        .retain(|run| run.series_part.as_deref() == Some(column));
    one.name = text.to_owned();
    Ok(one)
}

/// A against B. Where one of them has levels, each level gets a table; where
/// both have the same ones, level stands against level.
fn two(a: &Subject, b: &Subject, options: CompareOptions) -> Outcome<Vec<ComparisonRecord>> {
    let (sides_a, sides_b) = (sides(a), sides(b));
    let both_have_levels = sides_a.len() > 1 && sides_b.len() > 1;
    let pairs = sides_a
        .iter()
        .flat_map(|side_a| sides_b.iter().map(move |side_b| (side_a, side_b)));
    let questions: Vec<Question<'_>> = pairs
        .filter(|(side_a, side_b)| !both_have_levels || side_a.0 == side_b.0)
        .map(|((_, a), (_, b))| Question { a, b, options })
        .collect();
    let mut records = Vec::new();
    let mut refused = None;
    for answer in compare_all(&questions) {
        match answer {
            Ok(mut record) => {
                record.notes.extend(subject_notes(a, b));
                records.push(record);
            }
            Err(reason) => refused = Some(reason),
        }
    }
    match refused {
        Some(reason) if records.is_empty() => Err(nothing(&reason)),
        None if records.is_empty() => Err(Failure::usage(
            format!("{} and {} have no level in common", a.name, b.name),
            "name one level: dataset:NAME:COLUMN, or compare single runs",
        )),
        _ => Ok(records),
    }
}

/// The levels of a subject with their sides; all of it where it has none, or one.
fn sides(subject: &Subject) -> Vec<(String, Side)> {
    let levels = levels_of(&subject.runs);
    if levels.len() < 2 {
        return vec![(
            String::new(),
            Side {
                name: subject.name.clone(),
                runs: subject.runs.clone(),
            },
        )];
    }
    levels
        .into_iter()
        .map(|(level, runs)| {
            let name = format!("{} {level}", subject.name);
            (level, Side { name, runs })
        })
        .collect()
}

fn subject_notes(a: &Subject, b: &Subject) -> Vec<String> {
    let of = |subject: &Subject| -> Vec<String> {
        let note = |note: &String| format!("{}: {note}", subject.name);
        subject.notes.iter().map(note).collect()
    };
    let mut notes = of(a);
    notes.extend(of(b));
    notes
}
