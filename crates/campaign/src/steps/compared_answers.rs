//! Two answers of `limits`, or two qualifications, held against each other row by row.

use super::{limits, qualification};
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::Sheet;
use stripewise_results::SCHEMA_VERSION;
use stripewise_store::Store;

/// Two answers to one question.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerComparison {
    /// Of this document.
    pub schema_version: u32,
    /// What was asked: `limits`, or the name of a product.
    pub question: String,
    /// The reference.
    pub a: AnswerSide,
    /// What is held against it.
    pub b: AnswerSide,
    /// What both measured, a load or a requirement each.
    pub rows: Vec<AnswerRow>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerSide {
    /// The id.
    pub id: String,
    /// As typed.
    pub target: String,
    /// Its verdict and answer, in words.
    pub answer: String,
}

/// A load or a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerRow {
    /// Which.
    pub name: String,
    /// Of A.
    pub a: AnswerValue,
    /// Of B.
    pub b: AnswerValue,
}

/// What was measured of it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerValue {
    /// In the unit of the text; null where nothing was measured.
    pub value: Option<f64>,
    /// For people, with unit and interval.
    pub text: String,
    /// The limit that applies, or the verdict.
    pub verdict: String,
}

/// An answer in the store.
struct Stored {
    question: String,
    side: AnswerSide,
    rows: Vec<(String, AnswerValue)>,
}

/// Compares two answers by their ids. `None` where neither of both is one.
///
/// # Errors
/// Where only one of them is one, or they answer different questions.
pub fn compare_stored_answers(
    context: &Context,
    a: &str,
    b: &str,
) -> Outcome<Option<AnswerComparison>> {
    // Files are compared without a store.
    let there = context.store_is_there()?;
    let store = there.then(|| context.open_store_to_read());
    let Some(store) = store.and_then(Result::ok) else {
        return Ok(None);
    };
    let (of_a, of_b) = match (stored(&store, a)?, stored(&store, b)?) {
        (None, None) => return Ok(None),
        (Some(of_a), Some(of_b)) => (of_a, of_b),
        (one, _) => {
            let (answer, other) = if one.is_some() { (a, b) } else { (b, a) };
            return Err(Failure::usage(
                format!("{answer} is an answer of `limits` or `qualify`, and {other} is not"),
                "name two ids that one of these commands printed",
            ));
        }
    };
    if of_a.question != of_b.question {
        return Err(Failure::usage(
            format!(
                "{a} is about {}, and {b} is about {}",
                of_a.question, of_b.question
            ),
            "compare two answers to one question",
        ));
    }
    let in_b = |name: &str| of_b.rows.iter().find(|(other, _)| other == name);
    let rows = of_a.rows.into_iter().filter_map(|(name, a)| {
        let b = in_b(&name)?.1.clone();
        Some(AnswerRow { name, a, b })
    });
    Ok(Some(AnswerComparison {
        schema_version: SCHEMA_VERSION,
        question: of_a.question,
        a: of_a.side,
        rows: rows.collect(),
        b: of_b.side,
    }))
}

/// The answer of this id; none where it is something else, or the name of a file.
fn stored(store: &Store, name: &str) -> Outcome<Option<Stored>> {
    if let Some(document) = limits::find(store, name)? {
        let sheet = limits::sheet(&document);
        return Ok(Some(Stored {
            question: limits::KIND.to_owned(),
            rows: rows(&sheet, |[load, depth, iops, _, limit]| {
                let rate = format!("{} IOPS", iops.text);
                let name = format!("{}, {} in flight", load.text, depth.text);
                (name, iops.value, rate, limit.text.clone())
            }),
            side: side(&document.id, &document.target, &sheet),
        }));
    }
    // A name that the store does not know may be a file's.
    let Some(found) = qualification::answered(store, name).ok().flatten() else {
        return Ok(None);
    };
    if !found.document.commit.is_empty() {
        return Err(Failure::usage(
            format!("{name} compares commit methods already"),
            format!("`stripewise history show {name}` prints its table"),
        ));
    }
    Ok(Some(Stored {
        question: found.document.product.clone(),
        rows: rows(&found.sheet, |[name, limit, measured, verdict, _]| {
            let name = format!("{}, {}", name.text, limit.text);
            let measured_text = measured.text.clone();
            (name, measured.value, measured_text, verdict.text.clone())
        }),
        side: side(&found.document.id, &found.document.target, &found.sheet),
    }))
}

fn side(id: &str, target: &str, sheet: &Sheet) -> AnswerSide {
    let verdict = sheet
        .verdict
        .as_ref()
        .map(|(_, words)| format!("{words}: "));
    AnswerSide {
        id: id.to_owned(),
        target: target.to_owned(),
        answer: format!("{}{}", verdict.unwrap_or_default(), sheet.answer),
    }
}

type Row<'a> = [&'a stripewise_report::Cell; 5];

/// The rows of the first table of an answer.
fn rows(
    sheet: &Sheet,
    of: impl Fn(Row<'_>) -> (String, Option<f64>, String, String),
) -> Vec<(String, AnswerValue)> {
    let table = sheet.tables.first().into_iter();
    let rows = table.flat_map(|table| &table.rows).filter_map(|row| {
        let cells: Vec<_> = row.iter().collect();
        let (name, value, text, verdict) = of(cells.try_into().ok()?);
        let value = AnswerValue {
            value,
            text,
            verdict,
        };
        Some((name, value))
    });
    rows.collect()
}

impl AnswerComparison {
    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.question);
        for (letter, side) in [("A", &self.a), ("B", &self.b)] {
            text += &format!(
                "{letter}  {} on {}: {}\n",
                side.id, side.target, side.answer
            );
        }
        if self.rows.is_empty() {
            text += "They measured nothing in common.\n";
        }
        for row in &self.rows {
            let of = |value: &AnswerValue| format!("{}, {}", value.text, value.verdict);
            text += &format!("  {}: A {}; B {}\n", row.name, of(&row.a), of(&row.b));
        }
        text
    }
}
