//! `compare`: tables of differences between what is stored, imported or published.

pub use crate::steps::compared_answers::AnswerComparison;
use crate::steps::compared_answers::compare_stored_answers;
use crate::steps::compared_benches::{answers, names_by_label};
use crate::steps::headroom::{HeadroomComparison, compare_headrooms};
use crate::steps::levels::{LevelOptions, alone, metric, nothing};
use crate::steps::observation::compare::{ObservationComparison, compare_observations};
use crate::steps::pages::material_of;
use crate::steps::subject::{Subject, subject};
use crate::steps::surface::compare::{ProfileComparison, compare_profiles};
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::{CompareOptions, Question, Side, compare_all, found, levels_of};
use stripewise_lab::experiment::Metric;
use stripewise_report::Material;
use stripewise_results::{ComparisonRecord, Document, RunRecord, SCHEMA_VERSION};

/// The sides and their parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareQuestion {
    /// The reference; alone: its levels are compared with each other.
    pub a: String,
    /// What is compared with it, each by itself.
    pub others: Vec<String>,
    /// Metrics as typed. Empty: IOPS, and for benches their answers.
    pub metrics: Vec<String>,
    /// The level with which the others of A are compared.
    pub baseline: Option<String>,
}

/// Two results that are compared by a table of their own instead of their runs.
#[derive(Debug)]
pub enum OwnTable {
    /// Profiles of a surface.
    Profiles(Box<ProfileComparison>),
    /// Observations of a server.
    Observations(Box<ObservationComparison>),
    /// Headrooms.
    Headrooms(Box<HeadroomComparison>),
    /// Answers of `limits` or of `qualify`.
    Answers(Box<AnswerComparison>),
}

impl OwnTable {
    fn subjects(&self) -> &'static str {
        match self {
            OwnTable::Profiles(_) => "profiles",
            OwnTable::Observations(_) => "observations",
            OwnTable::Headrooms(_) => "headrooms",
            OwnTable::Answers(_) => "answers of `limits` and `qualify`",
        }
    }
}

/// Compares two results of a kind that has a table of its own. `None` if no side is of one.
///
/// # Errors
/// If only one of two is of such a kind, if there are more than two, or metrics were given,
/// which are those of runs.
pub fn compare_own_table(
    context: &Context,
    question: &CompareQuestion,
) -> Outcome<Option<OwnTable>> {
    for b in &question.others {
        let Some(found) = own_table(context, &question.a, b)? else {
            continue;
        };
        if question.others.len() > 1 {
            let pair = |b: &String| format!("`stripewise compare {} {b}`", question.a);
            let pairs: Vec<String> = question.others.iter().map(pair).collect();
            return Err(Failure::usage(
                format!("{} are compared two at a time", found.subjects()),
                format!("compare each with the first: {}", pairs.join(", ")),
            ));
        }
        if !question.metrics.is_empty() {
            return Err(Failure::usage(
                format!(
                    "--metric does not apply to {}, which have a table of their own",
                    found.subjects()
                ),
                "leave --metric out: it selects what is compared of runs and benches",
            ));
        }
        return Ok(Some(found));
    }
    Ok(None)
}

fn own_table(context: &Context, a: &str, b: &str) -> Outcome<Option<OwnTable>> {
    if let Some(found) = compare_profiles(context, a, b)? {
        return Ok(Some(OwnTable::Profiles(Box::new(found))));
    }
    if let Some(found) = compare_observations(context, a, b)? {
        return Ok(Some(OwnTable::Observations(Box::new(found))));
    }
    if let Some(found) = compare_headrooms(context, a, b)? {
        return Ok(Some(OwnTable::Headrooms(Box::new(found))));
    }
    let found = compare_stored_answers(context, a, b)?;
    Ok(found.map(|found| OwnTable::Answers(Box::new(found))))
}

/// What came of it.
#[derive(Debug)]
pub struct Comparison {
    /// A table for each compared pair.
    pub records: Vec<ComparisonRecord>,
    title: Option<String>,
    runs: Vec<RunRecord>,
}

/// Compares the sides.
///
/// # Errors
/// If a side cannot be read, or the sides have nothing comparable.
pub fn compare(context: &Context, question: &CompareQuestion) -> Outcome<Comparison> {
    let given = question.metrics.iter().map(|text| metric(text));
    let given: Vec<Metric> = given.collect::<Outcome<_>>()?;
    let metrics = match given.as_slice() {
        [] => vec![Metric::default()],
        given => given.to_vec(),
    };
    let mut a = one_subject(context, &question.a)?;
    if question.others.is_empty() {
        let mut records = Vec::new();
        for metric in metrics {
            let level_options = LevelOptions {
                metric: Some(metric),
                baseline: question.baseline.clone(),
            };
            records.extend(alone(context, &a, &level_options)?);
        }
        return Ok(Comparison {
            records,
            title: None,
            runs: a.runs,
        });
    }
    let others = question.others.iter().map(|b| one_subject(context, b));
    let mut others: Vec<Subject> = others.collect::<Outcome<_>>()?;
    let all: Vec<&Subject> = std::iter::once(&a).chain(&others).collect();
    let names = names_by_label(&all);
    for (side, name) in std::iter::once(&mut a).chain(&mut others).zip(names) {
        side.name = name;
    }
    // For benches, the answers are the result; the steps are only the means.
    let side = |subject: &Subject| Side {
        name: subject.name.clone(),
        runs: subject.runs.clone(),
    };
    let others_sides: Vec<Side> = others.iter().map(side).collect();
    let (mut records, answer_records) =
        answers(&side(&a), &others_sides, &metrics, given.is_empty());
    if records.is_empty() || !given.is_empty() {
        match against(&a, &others, &metrics) {
            Ok(rows) => records.extend(rows),
            Err(_) if !records.is_empty() => {}
            Err(reason) => return Err(reason),
        }
    }
    records.extend(answer_records);
    let names: Vec<&str> = others.iter().map(|b| b.name.as_str()).collect();
    let title = format!("{} against {}", names.join(", "), a.name);
    let mut runs = a.runs;
    runs.extend(others.into_iter().flat_map(|b| b.runs));
    Ok(Comparison {
        records,
        title: Some(title),
        runs,
    })
}

/// The document of comparisons.
#[derive(Serialize, schemars::JsonSchema)]
pub struct CompareDocument<'a> {
    schema_version: u32,
    comparisons: &'a [ComparisonRecord],
}

impl Comparison {
    /// The document.
    pub fn document(&self) -> CompareDocument<'_> {
        CompareDocument {
            schema_version: SCHEMA_VERSION,
            comparisons: &self.records,
        }
    }

    /// A difference ends as a finding. An undecided one does not:
    /// nothing is measured here, and single runs cannot give more.
    pub fn exit(&self) -> Exit {
        match self.records.iter().any(found) {
            true => Exit::Finding,
            false => Exit::Done,
        }
    }

    /// The input for a report on it.
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

/// A subject; `dataset:NAME:COLUMN` is one column of a table, and a file's runs
/// are those of its document.
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

/// Compares each of the others with A by each metric. If one of the two has levels, each level
/// gets a table; if both have the same ones, level is compared with level. All rows of all
/// tables are judged together.
fn against(a: &Subject, others: &[Subject], metrics: &[Metric]) -> Outcome<Vec<ComparisonRecord>> {
    let sides_a = sides(a);
    let sides_of: Vec<Vec<(String, Side)>> = others.iter().map(sides).collect();
    let mut judged_alone = Vec::new();
    let mut questions: Vec<Question<'_>> = Vec::new();
    for (other, sides_b) in sides_of.iter().enumerate() {
        let both_have_levels = sides_a.len() > 1 && sides_b.len() > 1;
        let pairs = sides_a
            .iter()
            .flat_map(|side_a| sides_b.iter().map(move |side_b| (side_a, side_b)))
            .filter(|(side_a, side_b)| !both_have_levels || side_a.0 == side_b.0);
        for ((_, a), (_, b)) in pairs {
            for &metric in metrics {
                let options = CompareOptions {
                    metric,
                    ..CompareOptions::default()
                };
                judged_alone.push(other);
                questions.push(Question { a, b, options });
            }
        }
    }
    let mut records: Vec<ComparisonRecord> = Vec::new();
    let mut refused = Vec::new();
    for (answer, other) in compare_all(&questions).into_iter().zip(judged_alone) {
        match answer {
            Ok(mut record) => {
                record.notes.extend(subject_notes(a, &others[other]));
                records.push(record);
            }
            Err(reason) => refused.push(reason),
        }
    }
    match (records.last_mut(), refused.first()) {
        // Levels that only one side has are expected; a subject without a table is reported.
        (Some(last), _) if others.len() > 1 => {
            let lost = refused.iter().map(|reason| format!("Left out: {reason}."));
            last.notes.extend(lost);
        }
        (Some(_), _) => {}
        (None, Some(reason)) => return Err(nothing(reason)),
        (None, None) => {
            return Err(Failure::usage(
                format!("{} and {} have no level in common", a.name, others[0].name),
                "name one level: dataset:NAME:COLUMN, or compare single runs",
            ));
        }
    }
    Ok(records)
}

/// The levels of a subject as sides; all of it if it has none, or one.
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
