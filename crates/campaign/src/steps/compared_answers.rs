//! Compares two answers of `limits`, or two qualifications, row by row.

use super::limits::{self, StoredLimits};
use super::pages::{PictureLook, Rendered, ReportFormat};
use super::qualification;
use super::render_sheet::StoredAnswer;
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{Cell, Column, KeptFacts, Sheet, SheetTable, sheet_line};
use stripewise_results::SCHEMA_VERSION;
use stripewise_stats::difference_percent;
use stripewise_store::Store;
use stripewise_units::{counted, format_three_digits, plural};

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

/// A stored answer.
struct Stored {
    question: String,
    side: AnswerSide,
    rows: Vec<(String, AnswerValue)>,
}

/// Compares two answers by their ids. `None` if neither is one.
///
/// # Errors
/// If only one of them is an answer, or they answer different questions.
pub fn compare_stored_answers(
    context: &Context,
    a: &str,
    b: &str,
) -> Outcome<Option<AnswerComparison>> {
    // Files can be compared without a store.
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

/// The answer of this id; `None` if it is something else, or the name of a file.
fn stored(store: &Store, name: &str) -> Outcome<Option<Stored>> {
    if let Some(found) = StoredLimits::find(store, name)? {
        let (sheet, document) = (found.sheet(), &found.document);
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
    // A name unknown to the store may be a file's.
    let Some(found) = qualification::answered(store, name).ok().flatten() else {
        return Ok(None);
    };
    if found.is_commit_alone() {
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

type Row<'a> = [&'a Cell; 5];

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
    /// The differences as a sheet, for every report format.
    #[must_use]
    pub fn sheet(&self) -> Sheet {
        let side = |letter: &str, side: &AnswerSide| {
            format!(
                "{letter} is {} on {}: {}",
                side.id, side.target, side.answer
            )
        };
        let columns = vec![
            Column::text("Measured"),
            Column::number("A"),
            Column::number("B"),
            Column::number("Change"),
            Column::text("Verdict"),
        ];
        let rows = self.rows.iter().map(AnswerRow::cells).collect();
        let changed = self.rows.iter().filter(|row| row.is_changed()).count();
        Sheet {
            title: format!("{} against {}", self.b.target, self.a.target),
            subtitle: self.question.clone(),
            answer: match (self.rows.len(), changed) {
                (0, _) => "They measured nothing in common".to_owned(),
                (_, 0) => "No verdict differs".to_owned(),
                (all, some) => format!(
                    "{some} of {} {}",
                    counted(all, "verdict", "verdicts"),
                    plural(some, "differs", "differ")
                ),
            },
            details: vec![side("A", &self.a), side("B", &self.b)],
            tables: vec![SheetTable::new("", columns, rows)],
            ..Sheet::default()
        }
    }

    /// The same in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let row = |row: &AnswerRow| {
            let of = |value: &AnswerValue| format!("{}, {}", value.text, value.verdict);
            format!("{}: A {}; B {}", row.name, of(&row.a), of(&row.b))
        };
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        format!("{}: {}", sheet_line(&self.sheet()), rows.join("; "))
    }

    /// Renders it in a report format.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let shown = StoredAnswer {
            sheet: self.sheet(),
            kept: KeptFacts {
                title: "",
                label: None,
                target: &self.b.target,
                host: None,
                started_at: "",
                version: env!("CARGO_PKG_VERSION"),
                id: &self.b.id,
            },
            csv: &String::new,
            document: self,
        };
        shown.rendered(format, wanted)
    }
}

/// From here on, a change is written as a factor.
const MANY_PERCENT: f64 = 900.0;

impl AnswerRow {
    fn is_changed(&self) -> bool {
        self.a.verdict != self.b.verdict
    }

    /// The quantity, both values, the change, and the verdict or both verdicts.
    fn cells(&self) -> Vec<Cell> {
        let value = |of: &AnswerValue| match of.value {
            Some(value) => Cell::exact(of.text.clone(), value),
            None => Cell::from(of.text.clone()),
        };
        let both = self.a.value.zip(self.b.value);
        let change = both.and_then(|(a, b)| {
            let percent = difference_percent(a, b)?;
            let text = match percent < MANY_PERCENT {
                true => format!("{percent:+.1} %"),
                false => format!("{} times", format_three_digits(b / a)),
            };
            Some(Cell::exact(text, percent))
        });
        let verdict = match self.is_changed() {
            true => format!("A {}, B {}", self.a.verdict, self.b.verdict),
            false => self.b.verdict.clone(),
        };
        vec![
            Cell::from(self.name.clone()),
            value(&self.a),
            value(&self.b),
            change.unwrap_or_default(),
            Cell::from(verdict),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_report::{sheet_markdown, sheet_page, sheet_text};

    fn value(value: Option<f64>, text: &str, verdict: &str) -> AnswerValue {
        AnswerValue {
            value,
            text: text.to_owned(),
            verdict: verdict.to_owned(),
        }
    }

    #[test]
    fn two_answers_are_a_table_in_every_form() {
        let side = |id: &str, target: &str| AnswerSide {
            id: id.to_owned(),
            target: target.to_owned(),
            answer: "Met".to_owned(),
        };
        let compared = AnswerComparison {
            schema_version: SCHEMA_VERSION,
            question: "etcd".to_owned(),
            a: side("a", "sim:nvme"),
            b: side("b", "sim:disk-7k2"),
            rows: vec![
                AnswerRow {
                    name: "fsync".to_owned(),
                    a: value(Some(1_000.0), "1 ms", "met"),
                    b: value(Some(1_500.0), "1.5 ms", "missed"),
                },
                AnswerRow {
                    name: "commit".to_owned(),
                    a: value(None, "not measured", "undecided"),
                    b: value(Some(1.0), "1 ns", "undecided"),
                },
            ],
        };
        let sheet = compared.sheet();
        assert_eq!(sheet.answer, "1 of 2 verdicts differs");
        let texts = [
            sheet_text(&sheet, 100),
            sheet_markdown(&sheet),
            sheet_page(&sheet, &|_| String::new()),
        ];
        for text in texts {
            for word in ["Change", "+50.0 %", "A met, B missed", "not measured"] {
                assert!(text.contains(word), "{word}: {text}");
            }
        }
        let line = compared.line();
        assert!(
            line.starts_with("sim:disk-7k2 against sim:nvme: 1 of 2 verdicts differs: fsync: A"),
            "{line}"
        );
    }
}
