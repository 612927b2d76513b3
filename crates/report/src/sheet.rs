//! A document as data: what was measured, the answer with its verdict, what must be read with
//! it, findings and tables. Renderers print every sheet: [`crate::sheet_text`] for terminals,
//! [`crate::sheet_page`] as HTML, [`crate::sheet_markdown`], and [`crate::sheet_csv`] one of
//! its tables. A number is formatted where the sheet is made, so all of them show the same.

use crate::chart::Chart;
use stripewise_results::{Severity, Warning};

/// What there is to show of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What was measured: model, target or what was compared.
    pub title: String,
    /// Size, device, cache mode, time: a line with the title.
    pub subtitle: String,
    /// The answer in a word, where there is a verdict.
    pub verdict: Option<(Judgement, String)>,
    /// The result in a sentence; may be empty where the first table is the answer.
    pub answer: String,
    /// What must be read with the answer, each in full: faults, missed requirements.
    pub details: Vec<String>,
    /// What was found: name and value.
    pub findings: Vec<(String, String)>,
    /// Everything behind it; tables without rows are not shown.
    pub tables: Vec<SheetTable>,
    /// What a page draws between the answer and the tables.
    pub charts: Vec<Chart>,
    /// Warnings in short, the gravest first, under "Read with care".
    pub cautions: Vec<Caution>,
    /// What is said last, a line each.
    pub notes: Vec<String>,
    /// Where the results are and which command shows more, for terminals: name and value.
    pub pointers: Vec<(String, String)>,
    /// Who measured: the last line of a page.
    pub foot: String,
}

/// The pointer to the command that shows a stored answer again.
#[must_use]
pub fn again(id: &str) -> (String, String) {
    again_by(format!("stripewise history show {id}"))
}

/// The same of another command.
#[must_use]
pub fn again_by(command: impl Into<String>) -> (String, String) {
    ("Again".to_owned(), command.into())
}

/// The pointer to the command that goes on with what was interrupted.
#[must_use]
pub fn go_on_by(command: impl Into<String>) -> (String, String) {
    ("Go on".to_owned(), command.into())
}

/// How a verdict or a cell is to be taken.
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
    /// How grave it is.
    pub severity: Severity,
    /// What is the case, with its number: `vda read 92.9 MiB for other programs`.
    pub text: String,
    /// What it concerns: `20 of 23 runs`; empty where that is everything.
    pub of: String,
    /// The warning's stable name, under which it is explained; empty where it has none.
    pub code: String,
}

impl Caution {
    /// A warning in short, which concerns `of`.
    #[must_use]
    pub fn new(warning: &Warning, of: impl Into<String>) -> Caution {
        Caution {
            severity: warning.severity,
            text: warning.in_short().to_owned(),
            of: of.into(),
            code: warning.code.clone(),
        }
    }

    /// The same of each of a document's own warnings, which concern all of it.
    #[must_use]
    pub fn of_all(warnings: &[Warning]) -> Vec<Caution> {
        let all = warnings.iter();
        all.map(|warning| Caution::new(warning, "")).collect()
    }

    /// What is no warning of a record.
    #[must_use]
    pub fn own(severity: Severity, text: impl Into<String>, of: impl Into<String>) -> Caution {
        Caution {
            severity,
            text: text.into(),
            of: of.into(),
            code: String::new(),
        }
    }

    /// As pictures have it: `! text (20 of 23 runs)`.
    pub(crate) fn marked(&self) -> String {
        match self.of.as_str() {
            "" => format!("! {}", self.text),
            of => format!("! {} ({of})", self.text),
        }
    }

    /// All of it in a line: `text (20 of 23 runs) [code]`.
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
    /// What it is about; empty where that is plain.
    pub title: String,
    /// Its columns; none of a table of sentences, which has no heading.
    pub columns: Vec<Column>,
    /// A row each.
    pub rows: Vec<Vec<Cell>>,
    /// What must be known to read it, below it; mostly empty.
    pub note: String,
    /// Too long for the first look: a terminal leaves it out, and a page folds it.
    pub is_detail: bool,
}

impl SheetTable {
    /// A table with these columns: `["name".into(), Column::number("IOPS")]`, or plain headings.
    #[must_use]
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
    #[must_use]
    pub fn without_headings<V: Into<Cell>>(title: &str, rows: Vec<Vec<V>>) -> SheetTable {
        SheetTable::new(title, std::iter::empty::<Column>(), rows)
    }

    /// The same with a line below it.
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

    /// Indices of the columns in which some row has a value: others are not shown.
    pub(crate) fn used_columns(&self) -> Vec<usize> {
        let is_used = |index: &usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(*index));
            cells.any(|cell| !cell.text.is_empty())
        };
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..count).filter(is_used).collect()
    }

    /// Whether a column holds numbers, which are aligned to the right.
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
    /// Aligned to the right.
    pub is_number: bool,
    /// Zero: not left out before words are wrapped. Where the terminal is too narrow, the highest
    /// goes first.
    pub drop_order: u8,
    /// Where wrapped words do not fit either, the highest goes first, and of several the last.
    pub late_order: u8,
}

impl Column {
    /// A column of words.
    #[must_use]
    pub fn text(heading: &str) -> Column {
        Column {
            heading: heading.to_owned(),
            ..Column::default()
        }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(heading: &str) -> Column {
        Column {
            is_number: true,
            ..Column::text(heading)
        }
    }

    /// One that a narrow terminal leaves out; of several the highest `order` goes first.
    #[must_use]
    pub fn dropped(self, order: u8) -> Column {
        Column {
            drop_order: order,
            ..self
        }
    }

    /// One that a terminal leaves out where wrapped words do not fit either.
    #[must_use]
    pub fn dropped_late(self, order: u8) -> Column {
        Column {
            late_order: order,
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
    /// As people read it.
    pub text: String,
    /// The number behind the text, for the CSV.
    pub value: Option<f64>,
    /// The interval of the number, which pictures draw.
    pub interval: Option<[f64; 2]>,
    /// Set off by colour, where there is colour.
    pub judgement: Option<Judgement>,
}

impl Cell {
    /// A text for people and the exact number behind it.
    #[must_use]
    pub fn exact(text: impl Into<String>, value: f64) -> Cell {
        Cell {
            value: Some(value),
            ..Cell::from(text.into())
        }
    }

    /// The same with an interval.
    #[must_use]
    pub fn estimate(text: impl Into<String>, value: f64, interval: [f64; 2]) -> Cell {
        Cell {
            interval: Some(interval),
            ..Cell::exact(text, value)
        }
    }

    /// It is signs that stand for a length.
    pub(crate) fn is_bar(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte == b'#')
    }

    /// A word that is good or bad news.
    #[must_use]
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
