//! A measurement that has no runs - a profile, a fill, a verification - as an answer, what
//! was found, and tables: what its page and its Markdown show.

/// What a page without scripts shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Model, or the target's name.
    pub title: String,
    /// Size, device, date: a line below.
    pub subtitle: String,
    /// The answer in a word, where there is a verdict.
    pub verdict: Option<(Judged, String)>,
    /// The result in a sentence.
    pub answer: String,
    /// What must be read with it: each fault in full.
    pub details: Vec<String>,
    /// What was found: name and value.
    pub findings: Vec<(String, String)>,
    /// Everything behind it; tables without rows are not shown.
    pub tables: Vec<SheetTable>,
    /// Who measured: the last line.
    pub foot: String,
}

/// How a verdict is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// As it should be.
    Good,
    /// Something is wrong.
    Bad,
    /// Nobody knows yet.
    Open,
}

/// A table of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetTable {
    /// What it is about.
    pub title: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// A row each.
    pub rows: Vec<Vec<String>>,
}

impl SheetTable {
    /// A table with these heads.
    #[must_use]
    pub fn new(title: &str, head: &[&str], rows: Vec<Vec<String>>) -> SheetTable {
        SheetTable {
            title: title.to_owned(),
            head: head.iter().map(|name| (*name).to_owned()).collect(),
            rows,
        }
    }
}
