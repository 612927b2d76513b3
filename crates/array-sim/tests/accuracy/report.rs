//! The accuracy report: rows with a verdict, printed as a table.

use super::rows::{self, Context};
use super::sequential;
use std::fmt;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The table or claim it belongs to.
    pub group: &'static str,
    /// What it is.
    pub name: String,
    /// The figure, with its unit.
    pub value: String,
    /// What it must be; empty for rows that only inform.
    pub required: String,
    /// Whether it is; `None` for rows that only inform.
    pub passed: Option<bool>,
}

/// All rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// In the order of printing.
    pub rows: Vec<Row>,
}

impl Report {
    /// Whether every row that has a requirement meets it.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|row| row.passed != Some(false))
    }
}

/// Simulates all published cells, `operations` measured in each (the claims
/// hold for [`OPERATIONS`](super::OPERATIONS) or more), and scores them.
pub fn report(operations: u64) -> Report {
    let context = Context { operations };
    let mut rows = Vec::new();
    rows::oja_nisula(&context, &mut rows);
    rows::held_out(&context, &mut rows);
    rows::allocation_unit(&context, &mut rows);
    rows::mssqltips(&context, &mut rows);
    sequential::rows(&context, &mut rows);
    rows::eva8100(&context, &mut rows);
    rows::headlines(&context, &mut rows);
    rows::not_explained(&context, &mut rows);
    Report { rows }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: fn(&Row) -> &str| {
            self.rows
                .iter()
                .map(|row| text(row).chars().count())
                .max()
                .unwrap_or(0)
        };
        let names = width(|row| &row.name);
        let values = width(|row| &row.value);
        let required = width(|row| &row.required);
        let mut group = "";
        for row in &self.rows {
            if row.group != group {
                group = row.group;
                writeln!(f, "{group}")?;
            }
            let verdict = match row.passed {
                Some(true) => "ok",
                Some(false) => "FAILED",
                None => "",
            };
            let line = format!(
                "  {:names$}  {:>values$}  {:required$}  {verdict}",
                row.name, row.value, row.required
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_row_fails_the_report_and_notes_do_not_count() {
        let row = |passed| Row {
            group: "a table",
            name: "an error".to_owned(),
            value: "1 %".to_owned(),
            required: "at most 2 %".to_owned(),
            passed,
        };
        let mut report = Report {
            rows: vec![row(None), row(Some(true))],
        };
        assert!(report.passed());
        report.rows.push(row(Some(false)));
        assert!(!report.passed());
        let text = report.to_string();
        assert_eq!(text.lines().count(), 4, "the group once, then its rows");
        assert!(text.ends_with("at most 2 %  FAILED\n"), "{text}");
    }
}
