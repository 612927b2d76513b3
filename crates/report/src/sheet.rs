//! A document as data: what was measured, the answer with its verdict, cautions,
//! findings and tables. Renderers print every sheet: [`crate::sheet_text`] for terminals,
//! [`crate::sheet_page`] as HTML, and [`crate::sheet_markdown`]. Numbers are formatted when the
//! sheet is made, so all of them show the same.

use crate::chart::Chart;
use crate::number::signed;
use stripewise_results::{AnswerBound, Severity, Warning};

/// The content of a document, ready to be rendered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What was measured: model, target or the compared sides.
    pub title: String,
    /// Size, device, cache mode, time: the line after the title.
    pub subtitle: String,
    /// The verdict in a word, if there is one.
    pub verdict: Option<(Judgement, String)>,
    /// The result in a sentence; may be empty if the first table is the answer.
    pub answer: String,
    /// Full texts that belong to the answer: faults, missed requirements.
    pub details: Vec<String>,
    /// Findings: name and value.
    pub findings: Vec<(String, String)>,
    /// Supporting tables; those without rows are not shown.
    pub tables: Vec<SheetTable>,
    /// Charts of a page, between the answer and the tables.
    pub charts: Vec<Chart>,
    /// Warnings in short, the most severe first, under "Read with care".
    pub cautions: Vec<Caution>,
    /// Closing notes, one line each.
    pub notes: Vec<String>,
    /// For terminals: where the results are and which command shows more, as name and value.
    pub pointers: Vec<(String, String)>,
    /// Who measured: the last line of a page.
    pub foot: String,
}

/// The pointer to the command that shows a stored answer again.
pub fn again(id: &str) -> (String, String) {
    again_by(format!("stripewise history show {id}"))
}

/// The same for another command.
pub fn again_by(command: impl Into<String>) -> (String, String) {
    ("Again".to_owned(), command.into())
}

/// The pointer to the command that resumes an interrupted measurement.
pub fn go_on_by(command: impl Into<String>) -> (String, String) {
    (GO_ON.to_owned(), command.into())
}

/// The name of that pointer.
pub(crate) const GO_ON: &str = "Go on";

/// Judgement of a verdict or a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// As it should be.
    Good,
    /// Something is wrong.
    Bad,
    /// Undecided, or good with a reservation.
    Open,
}

/// A warning in one short and complete line.
#[derive(Clone, Debug, PartialEq)]
pub struct Caution {
    /// Its severity.
    pub severity: Severity,
    /// The fact with its number: `vda read 92.9 MiB for other programs`.
    pub text: String,
    /// What it concerns: `20 of 23 runs`; empty if it concerns everything.
    pub of: String,
    /// The warning's stable code, under which it is explained; may be empty.
    pub code: String,
}

impl Caution {
    /// A short form of a warning that concerns `of`.
    pub fn new(warning: &Warning, of: impl Into<String>) -> Caution {
        Caution {
            severity: warning.severity,
            text: warning.in_short().to_owned(),
            of: of.into(),
            code: warning.code.clone(),
        }
    }

    /// The same for each of a document's own warnings, which concern all of it.
    pub fn of_all(warnings: &[Warning]) -> Vec<Caution> {
        let all = warnings.iter();
        all.map(|warning| Caution::new(warning, "")).collect()
    }

    /// A caution that is not a warning of a record.
    pub fn own(severity: Severity, text: impl Into<String>, of: impl Into<String>) -> Caution {
        Caution {
            severity,
            text: text.into(),
            of: of.into(),
            code: String::new(),
        }
    }

    /// As in pictures: `! text (20 of 23 runs)`.
    pub(crate) fn marked(&self) -> String {
        match self.of.as_str() {
            "" => format!("! {}", self.text),
            of => format!("! {} ({of})", self.text),
        }
    }

    /// In one line: `text (20 of 23 runs) [code]`.
    pub(crate) fn line(&self) -> String {
        let mut line = self.text.clone();
        if !self.of.is_empty() {
            line.push_str(&format!(" ({})", self.of));
        }
        if !self.code.is_empty() {
            line.push_str(&format!(" [{}]", self.code));
        }
        line
    }
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetTable {
    /// Its subject; empty if obvious.
    pub title: String,
    /// Its columns; empty for a table of sentences, which has no heading.
    pub columns: Vec<Column>,
    /// One row each.
    pub rows: Vec<Vec<Cell>>,
    /// Explanation below the table; usually empty.
    pub note: String,
    /// Supporting detail: a terminal leaves it out, and a page folds it.
    pub is_detail: bool,
    /// Rows are a place and a command to copy: a terminal does not wrap it.
    pub are_commands: bool,
}

impl SheetTable {
    /// A table with these columns: `["name".into(), Column::number("IOPS")]`, or plain headings.
    pub fn new<C: Into<Column>, V: Into<Cell>>(
        title: &str,
        columns: impl IntoIterator<Item = C>,
        rows: Vec<Vec<V>>,
    ) -> SheetTable {
        SheetTable {
            title: title.to_owned(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: cells(rows),
            ..SheetTable::default()
        }
    }

    /// A table without headings: sentences, or names and values.
    pub fn without_headings<V: Into<Cell>>(title: &str, rows: Vec<Vec<V>>) -> SheetTable {
        SheetTable::new(title, std::iter::empty::<Column>(), rows)
    }

    /// The same with a note below it.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> SheetTable {
        SheetTable {
            note: note.into(),
            ..self
        }
    }

    /// The same, left out on terminals and folded on pages.
    #[must_use]
    pub fn as_detail(self) -> SheetTable {
        SheetTable {
            is_detail: true,
            ..self
        }
    }

    /// Indices of the columns with a value in some row: others are not shown.
    pub(crate) fn used_columns(&self) -> Vec<usize> {
        let is_used = |index: &usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(*index));
            cells.any(|cell| !cell.text.is_empty())
        };
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..count).filter(is_used).collect()
    }

    /// Whether a column is numeric, and so right-aligned.
    pub(crate) fn is_number(&self, index: usize) -> bool {
        let column = self.columns.get(index);
        column.is_some_and(|column| column.is_number)
    }
}

fn cells<V: Into<Cell>>(rows: Vec<Vec<V>>) -> Vec<Vec<Cell>> {
    let row = |row: Vec<V>| row.into_iter().map(Into::into).collect();
    rows.into_iter().map(row).collect()
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub heading: String,
    /// Right-aligned.
    pub is_number: bool,
    /// Zero: not dropped before text is wrapped. If the terminal is too narrow, the highest
    /// is dropped first.
    pub drop_order: u8,
    /// If wrapped text does not fit either, the highest goes first, and of equal ones the last.
    pub late_order: u8,
    /// Of a numeric column: its cells are wrapped between numbers before a column is dropped late.
    pub wraps: bool,
}

impl Column {
    /// A text column.
    pub fn text(heading: &str) -> Column {
        Column {
            heading: heading.to_owned(),
            ..Column::default()
        }
    }

    /// A numeric column.
    pub fn number(heading: &str) -> Column {
        Column {
            is_number: true,
            ..Column::text(heading)
        }
    }

    /// Dropped on a narrow terminal; the highest `order` goes first.
    #[must_use]
    pub fn dropped(self, order: u8) -> Column {
        Column {
            drop_order: order,
            ..self
        }
    }

    /// Dropped on a terminal if wrapped text does not fit either.
    #[must_use]
    pub fn dropped_late(self, order: u8) -> Column {
        Column {
            late_order: order,
            ..self
        }
    }

    /// A numeric column whose cells, such as `3 ms (2 ms to 4 ms)`, may take several lines. Text
    /// is wrapped first.
    #[must_use]
    pub fn wrapped(self) -> Column {
        Column {
            wraps: true,
            ..self
        }
    }
}

impl From<&str> for Column {
    fn from(heading: &str) -> Column {
        Column::text(heading)
    }
}

/// A value in a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The displayed text.
    pub text: String,
    /// The exact number, for the CSV.
    pub value: Option<f64>,
    /// The interval of the number, which pictures draw.
    pub interval: Option<[f64; 2]>,
    /// The number is only a bound; its text has the sign.
    pub bound: Option<AnswerBound>,
    /// Shown in colour, if there is colour.
    pub judgement: Option<Judgement>,
    /// A path, which is not broken at its blanks: a long one is shortened in its middle.
    pub is_path: bool,
}

impl Cell {
    /// The name of a target, which may be a path.
    pub fn target(name: &str) -> Cell {
        Cell {
            is_path: name.contains(['/', '\\']),
            ..Cell::from(name)
        }
    }

    /// A displayed text and its exact number.
    pub fn exact(text: impl Into<String>, value: f64) -> Cell {
        Cell {
            value: Some(value),
            ..Cell::from(text.into())
        }
    }

    /// The same with a sign before the text, if the number is only a bound.
    pub fn bounded(text: &str, value: f64, bound: Option<AnswerBound>) -> Cell {
        Cell {
            bound,
            ..Cell::exact(signed(bound, text), value)
        }
    }

    /// The same with an interval.
    pub fn estimate(text: impl Into<String>, value: f64, interval: [f64; 2]) -> Cell {
        Cell {
            interval: Some(interval),
            ..Cell::exact(text, value)
        }
    }

    /// Consists of characters that show a length.
    pub(crate) fn is_bar(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte == b'#')
    }

    /// A word that is good or bad news.
    pub fn judged(text: impl Into<String>, judgement: Judgement) -> Cell {
        Cell {
            judgement: Some(judgement),
            ..Cell::from(text.into())
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell {
            text,
            ..Cell::default()
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::from(text.to_owned())
    }
}
