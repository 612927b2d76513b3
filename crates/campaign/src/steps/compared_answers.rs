//! Two answers of `limits`, two qualifications, or two tables of commit methods, held against
//! each other row by row.

use super::limits::{self, StoredLimits};
use super::pages::{PictureLook, Rendered, ReportFormat};
use super::qualification;
use super::render_sheet::StoredAnswer;
use super::subject::unlike;
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{Cell, Column, Sheet, SheetTable, StoredFacts};
use stripewise_results::SCHEMA_VERSION;
use stripewise_stats::difference_percent;
use stripewise_store::{Filter, Store};
use stripewise_studies::commit::CommitRecord;
use stripewise_studies::limits::{AppliesTo, CapFound, CapKind, cap_text};
use stripewise_units::{
    capitalised, counted, distinct, format_iops, format_rate_interval, format_three_digits, plural,
};

/// Two answers to one question.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerComparison {
    /// Of this document.
    pub schema_version: u32,
    /// What was asked: `limits`, `commit methods`, or the name of a product.
    pub question: String,
    /// The reference.
    pub a: AnswerSide,
    /// What is held against it.
    pub b: AnswerSide,
    /// What either measured: a cap, a load, a requirement or a commit method each.
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

/// A cap, a load, a requirement or a commit method.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerRow {
    /// What it is about.
    #[serde(skip)]
    pub kind: RowKind,
    /// Which.
    pub name: String,
    /// Of A; null where it has none.
    pub a: Option<AnswerValue>,
    /// Of B.
    pub b: Option<AnswerValue>,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// A cap, which decides most.
    Cap,
    /// A load, a requirement or a commit method.
    #[default]
    Measured,
}

/// What was measured of it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AnswerValue {
    /// In the unit of the text; null where nothing was measured.
    pub value: Option<f64>,
    /// For people, with unit and interval.
    pub text: String,
    /// The limit that applies, or the verdict; empty of what has none.
    pub verdict: String,
}

/// A stored answer.
struct Stored {
    question: String,
    side: AnswerSide,
    rows: Vec<StoredRow>,
}

/// A row of one answer.
type StoredRow = (RowKind, String, AnswerValue);

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
    let stored_as = |name: &str| match stored(&store, name)? {
        None => match series_of_label(&store, name)? {
            Some(id) => stored(&store, &id),
            None => Ok(None),
        },
        found => Ok(found),
    };
    let (of_a, of_b) = match (stored_as(a)?, stored_as(b)?) {
        (None, None) => return Ok(None),
        (Some(of_a), Some(of_b)) => (of_a, of_b),
        (one, _) => {
            let (answer, other) = if one.is_some() { (a, b) } else { (b, a) };
            return Err(unlike(
                context,
                other,
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
    let mut left = of_b.rows;
    let mut rows: Vec<AnswerRow> = Vec::new();
    for (kind, name, a) in of_a.rows {
        let is_same = |other: &StoredRow| other.0 == kind && other.1 == name;
        let other = left.iter().position(is_same);
        rows.push(AnswerRow {
            kind,
            b: other.map(|at| left.remove(at).2),
            a: Some(a),
            name,
        });
    }
    rows.extend(left.into_iter().map(|(kind, name, b)| AnswerRow {
        kind,
        name,
        a: None,
        b: Some(b),
    }));
    // Caps lead, also those that B alone has.
    rows.sort_by_key(|row| !row.is_cap());
    Ok(Some(AnswerComparison {
        schema_version: SCHEMA_VERSION,
        question: of_a.question,
        a: of_a.side,
        rows,
        b: of_b.side,
    }))
}

/// The only series with this label. Damaged runs are no concern of a comparison of others.
fn series_of_label(store: &Store, label: &str) -> Outcome<Option<String>> {
    let filter = Filter {
        label: Some(label.to_owned()),
        ..Filter::default()
    };
    let listed = store.list_readable(&filter)?;
    let of_label = listed.runs.into_iter();
    let of_label = of_label.filter(|run| run.label.as_deref() == Some(label));
    let mut series = distinct(of_label.map(|run| run.series)).into_iter();
    Ok(series.next().flatten().filter(|_| series.next().is_none()))
}

/// The answer of this id; `None` if it is something else, or the name of a file.
fn stored(store: &Store, name: &str) -> Outcome<Option<Stored>> {
    if let Some(found) = StoredLimits::find(store, name)? {
        let (sheet, document) = (found.sheet(), &found.document);
        let mut all: Vec<StoredRow> = document.caps.iter().map(cap).collect();
        all.extend(rows(&sheet, |[load, depth, iops, _, limit]| {
            let rate = format!("{} IOPS", iops.text);
            let name = format!("{}, {} in flight", load.text, depth.text);
            (name, iops.value, rate, limit.text.clone())
        }));
        return Ok(Some(Stored {
            question: limits::KIND.to_owned(),
            rows: all,
            side: side(&document.id, &document.target, &sheet),
        }));
    }
    // A name unknown to the store may be a file's.
    let Some(found) = qualification::answered(store, name).ok().flatten() else {
        return Ok(None);
    };
    if found.is_commit_alone() {
        return Ok(Some(Stored {
            question: "commit methods".to_owned(),
            rows: found.document.commit.iter().map(commits).collect(),
            side: side(&found.document.id, &found.document.target, &found.sheet),
        }));
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

fn cap(cap: &CapFound) -> StoredRow {
    let of = match cap.kind {
        CapKind::Iops => "IOPS",
        CapKind::BytesPerS => "bandwidth",
    };
    let value = AnswerValue {
        value: Some(cap.per_s),
        text: cap_text(cap),
        verdict: match cap.limiter {
            Some(true) => "a limiter",
            Some(false) => "the device",
            None => "undecided: limiter or device",
        }
        .to_owned(),
    };
    let kinds = match cap.applies_to {
        AppliesTo::Reads => ", reads",
        AppliesTo::Writes => ", writes",
        AppliesTo::Both | AppliesTo::ReadsUntestedWrites => "",
    };
    (RowKind::Cap, format!("cap of {of}{kinds}"), value)
}

fn commits(one: &CommitRecord) -> StoredRow {
    let committers = match (one.committers, one.group_commit) {
        (1, _) => "1 committer".to_owned(),
        (several, true) => format!("{several} in a group"),
        (several, false) => format!("{several} committers"),
    };
    let unit = "commits/s";
    let text = match one.commits_per_s_low.zip(one.commits_per_s_high) {
        Some((low, high)) => format_rate_interval(one.commits_per_s, [low, high], unit),
        None => format!("{} {unit}", format_iops(one.commits_per_s)),
    };
    let value = AnswerValue {
        value: Some(one.commits_per_s),
        text,
        verdict: String::new(),
    };
    let name = format!("{}, {} file, {committers}", one.method, one.file);
    (RowKind::Measured, name, value)
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
) -> Vec<StoredRow> {
    let table = sheet.tables.first().into_iter();
    let rows = table.flat_map(|table| &table.rows).filter_map(|row| {
        let cells: Vec<_> = row.iter().collect();
        let (name, value, text, verdict) = of(cells.try_into().ok()?);
        let value = AnswerValue {
            value,
            text,
            verdict,
        };
        Some((RowKind::Measured, name, value))
    });
    rows.collect()
}

impl AnswerComparison {
    /// The differences as a sheet, for every report format.
    pub fn sheet(&self) -> Sheet {
        let side = |letter: &str, side: &AnswerSide| {
            format!(
                "{letter} is {} on {}: {}",
                side.id, side.target, side.answer
            )
        };
        let columns = vec![
            Column::text("Measured"),
            // Without one of the sides nothing would be compared.
            Column::number("A").wrapped(),
            Column::number("B").wrapped(),
            Column::number("Change").dropped_late(2),
            Column::text("Verdict").dropped_late(1),
        ];
        let rows = self.rows.iter().map(AnswerRow::cells).collect();
        Sheet {
            title: format!("{} against {}", self.b.target, self.a.target),
            subtitle: self.question.clone(),
            answer: self.answer(),
            details: vec![side("A", &self.a), side("B", &self.b)],
            tables: vec![SheetTable::new("", columns, rows)],
            ..Sheet::default()
        }
    }

    /// The caps, which decide most; then what became of the verdicts, or of the rates where
    /// there are none.
    fn answer(&self) -> String {
        let (caps, rest) = self.caps_and_rest();
        let mut parts: Vec<String> = caps.into_iter().map(AnswerRow::words).collect();
        parts.extend(self.counts(&rest));
        capitalised(&parts.join("; "))
    }

    fn caps_and_rest(&self) -> (Vec<&AnswerRow>, Vec<&AnswerRow>) {
        self.rows.iter().partition(|row| row.is_cap())
    }

    /// What became of the rows that are no caps.
    fn counts(&self, rest: &[&AnswerRow]) -> Vec<String> {
        let judged = rest
            .iter()
            .filter(|row| row.is_in_both() && row.is_judged());
        let (all, changed) = (
            judged.clone().count(),
            judged.filter(|row| row.is_changed()),
        );
        let verdicts = match (all, changed.count()) {
            _ if !self.rows.iter().any(AnswerRow::is_in_both) => {
                Some("they measured nothing in common".to_owned())
            }
            (0, _) => range(rest),
            (_, 0) => Some("no verdict differs".to_owned()),
            (all, some) => Some(format!(
                "{some} of {} {}",
                counted(all, "verdict", "verdicts"),
                plural(some, "differs", "differ")
            )),
        };
        let mut parts: Vec<String> = verdicts.into_iter().collect();
        let alone = rest.iter().filter(|row| !row.is_in_both()).count();
        if alone > 0 && alone < rest.len() {
            let words = counted(alone, "row is", "rows are");
            parts.push(format!("{words} in only one"));
        }
        parts
    }

    /// The same in a line, with what A and B are: caps and the largest change without their values.
    pub fn line(&self) -> String {
        let side = |side: &AnswerSide| format!("{} on {}", side.id, side.target);
        let (caps, rest) = self.caps_and_rest();
        let mut parts: Vec<String> = caps.into_iter().map(AnswerRow::in_short).collect();
        parts.extend(self.counts(&rest));
        let changes = rest.iter().filter(|row| row.is_judged());
        let changes = changes.filter_map(|row| Some((row, row.change()?.0)));
        let largest = changes.max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        parts.extend(largest.map(|(row, _)| format!("largest change: {}", row.in_short())));
        let answer = parts.join("; ");
        format!("A is {}, B is {}: {answer}", side(&self.a), side(&self.b))
    }

    /// Renders it in a report format.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let stored_answer = StoredAnswer {
            sheet: self.sheet(),
            stored: StoredFacts {
                target: &self.b.target,
                id: &self.b.id,
                ..StoredFacts::default()
            },
            csv: &String::new,
            document: self,
        };
        stored_answer.rendered(format, wanted)
    }
}

/// From here on, a change is written as a factor.
const MANY_PERCENT: f64 = 900.0;

/// How far rows moved that have no verdicts; none where they have no values.
fn range(rows: &[&AnswerRow]) -> Option<String> {
    let moved = rows.iter().filter_map(|row| Some(row.change()?.0));
    let changes: Vec<f64> = moved.collect();
    let least = changes.iter().copied().reduce(f64::min)?;
    let most = changes.iter().copied().reduce(f64::max)?;
    let rows = counted(changes.len(), "row", "rows");
    Some(format!("from {least:+.1} to {most:+.1} % in {rows}"))
}

impl AnswerRow {
    fn is_cap(&self) -> bool {
        self.kind == RowKind::Cap
    }

    fn is_in_both(&self) -> bool {
        self.a.is_some() && self.b.is_some()
    }

    fn is_judged(&self) -> bool {
        let mut sides = [&self.a, &self.b].into_iter().flatten();
        sides.any(|one| !one.verdict.is_empty())
    }

    /// Of a row that both have.
    fn is_changed(&self) -> bool {
        let both = self.a.as_ref().zip(self.b.as_ref());
        both.is_some_and(|(a, b)| a.verdict != b.verdict)
    }

    /// In percent, and as a text.
    fn change(&self) -> Option<(f64, String)> {
        let (a, b) = (self.a.as_ref()?.value?, self.b.as_ref()?.value?);
        let percent = difference_percent(a, b)?;
        let text = match percent < MANY_PERCENT {
            true => format!("{percent:+.1} %"),
            false => format!("{} times", format_three_digits(b / a)),
        };
        Some((percent, text))
    }

    /// `fsync: A 1 ms (met), B 1.5 ms (missed), +50.0 %`.
    fn words(&self) -> String {
        let only = self.only_in();
        let of = |letter: &str, side: &Option<AnswerValue>| {
            let side = side.as_ref()?;
            // Behind the value of one alone stands whose it is.
            let letter = if only.is_some() { "" } else { letter };
            Some(match side.verdict.is_empty() {
                true => format!("{letter}{}", side.text),
                false => format!("{letter}{} ({})", side.text, side.verdict),
            })
        };
        let change = self.change().map(|(_, text)| text);
        let only = only.map(str::to_owned);
        let parts = [of("A ", &self.a), of("B ", &self.b), change, only];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{}: {}", self.name, parts.join(", "))
    }

    /// `fsync +50.0 %`, or in which of both it is.
    fn in_short(&self) -> String {
        let change = self.change().map(|(_, text)| text);
        let only = self.only_in().map(str::to_owned);
        let words = change.or(only).unwrap_or_default();
        format!("{} {words}", self.name).trim_end().to_owned()
    }

    fn only_in(&self) -> Option<&'static str> {
        match (&self.a, &self.b) {
            (Some(_), None) => Some("only in A"),
            (None, Some(_)) => Some("only in B"),
            _ => None,
        }
    }

    /// The quantity, both values, the change, and the verdict or both verdicts.
    fn cells(&self) -> Vec<Cell> {
        let value = |of: &Option<AnswerValue>| match of {
            Some(AnswerValue {
                value: Some(value),
                text,
                ..
            }) => Cell::exact(text.clone(), *value),
            Some(of) => Cell::from(of.text.clone()),
            None => Cell::from("-"),
        };
        let change = self
            .change()
            .map(|(percent, text)| Cell::exact(text, percent));
        let verdict = match (&self.a, &self.b) {
            (Some(a), Some(b)) if a.verdict != b.verdict => {
                format!("A {}, B {}", a.verdict, b.verdict)
            }
            (Some(_), Some(b)) => b.verdict.clone(),
            _ => self.only_in().unwrap_or_default().to_owned(),
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
                    kind: RowKind::Measured,
                    name: "fsync".to_owned(),
                    a: Some(value(Some(1_000.0), "1 ms", "met")),
                    b: Some(value(Some(1_500.0), "1.5 ms", "missed")),
                },
                AnswerRow {
                    kind: RowKind::Measured,
                    name: "commit".to_owned(),
                    a: Some(value(None, "not measured", "undecided")),
                    b: Some(value(Some(1.0), "1 ns", "undecided")),
                },
                AnswerRow {
                    kind: RowKind::Measured,
                    name: "sync".to_owned(),
                    a: None,
                    b: Some(value(Some(2.0), "2 ns", "met")),
                },
            ],
        };
        let sheet = compared.sheet();
        assert_eq!(
            sheet.answer,
            "1 of 2 verdicts differs; 1 row is in only one"
        );
        let texts = [
            sheet_text(&sheet, 100),
            sheet_markdown(&sheet),
            sheet_page(&sheet, &|_| String::new()),
        ];
        for text in texts {
            for word in [
                "Change",
                "+50.0 %",
                "A met, B missed",
                "not measured",
                "only in B",
            ] {
                assert!(text.contains(word), "{word}: {text}");
            }
        }
        assert_eq!(
            compared.line(),
            "A is a on sim:nvme, B is b on sim:disk-7k2: 1 of 2 verdicts differs; 1 row is in only \
             one; largest change: fsync +50.0 %"
        );
    }

    #[test]
    fn both_sides_show_at_every_usual_width() {
        let side = |id: &str| AnswerSide {
            id: id.to_owned(),
            target: "sim:nvme".to_owned(),
            answer: "Not judged".to_owned(),
        };
        let (a, b) = (
            "2,250 IOPS (2,250 IOPS to 2,251 IOPS)",
            "6.61 IOPS (6.13 IOPS to 7.04 IOPS)",
        );
        let compared = AnswerComparison {
            schema_version: SCHEMA_VERSION,
            question: "postgresql".to_owned(),
            a: side("a"),
            b: side("b"),
            rows: vec![AnswerRow {
                kind: RowKind::Measured,
                name: "commits-per-second, IOPS (no limit)".to_owned(),
                a: Some(value(Some(2_250.0), a, "not judged")),
                b: Some(value(Some(6.61), b, "not judged")),
            }],
        };
        for width in [60, 80, 100] {
            let text = sheet_text(&compared.sheet(), width);
            for number in ["2,251 IOPS)", "6.61 IOPS", "7.04 IOPS)", "not judged"] {
                assert!(text.contains(number), "{width}: {text}");
            }
            assert_eq!(text.contains("-99.7 %"), width > 60, "{width}: {text}");
        }
    }

    /// Caps come first, and rows without verdicts say how far they moved.
    #[test]
    fn the_answer_is_what_matters_most() {
        let side = || AnswerSide {
            id: "a".to_owned(),
            target: "sim:nvme".to_owned(),
            answer: String::new(),
        };
        let row = |kind: RowKind, name: &str, a: f64, b: f64| AnswerRow {
            kind,
            name: name.to_owned(),
            a: Some(value(Some(a), &a.to_string(), "")),
            b: Some(value(Some(b), &b.to_string(), "")),
        };
        let mut compared = AnswerComparison {
            schema_version: SCHEMA_VERSION,
            question: "limits".to_owned(),
            a: side(),
            b: side(),
            rows: vec![
                row(RowKind::Cap, "cap of IOPS", 3000.0, 6000.0),
                row(RowKind::Measured, "4K reads", 100.0, 150.0),
                row(RowKind::Measured, "8K reads", 100.0, 90.0),
            ],
        };
        assert_eq!(
            compared.answer(),
            "Cap of IOPS: A 3000, B 6000, +100.0 %; from -10.0 to +50.0 % in 2 rows"
        );
        assert_eq!(
            compared.line(),
            "A is a on sim:nvme, B is a on sim:nvme: cap of IOPS +100.0 %; from -10.0 to +50.0 % in 2 \
             rows"
        );
        compared.rows.remove(0);
        assert_eq!(compared.answer(), "From -10.0 to +50.0 % in 2 rows");
    }
}
