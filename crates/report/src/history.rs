//! The list of stored runs.

use crate::number::rate;
use crate::table::{draw, number, words};

/// The longest line of a table.
const COLUMNS_MAX: usize = 100;

/// One stored run, as the list shows it.
#[derive(Clone, Debug, Default)]
pub struct HistoryRow {
    /// Id of the run, or of the runs that belong together.
    pub id: String,
    /// The day on which it was measured, as far as that is known.
    pub date: String,
    /// What they are together: `bench`, `grid`, `check`; empty for a single run.
    pub series: String,
    /// Target's name.
    pub target: String,
    /// What it did, in short: `random read 8K 4x8`.
    pub what: String,
    /// Operations a second, all jobs together.
    pub iops: Option<f64>,
    /// In place of `iops`, where its unit is another one: `2,532 MiB/s`.
    pub amount: String,
    /// `partial`, `VOID`, or nothing.
    pub status: String,
    /// The user's label.
    pub label: String,
}

/// The list as a table.
#[must_use]
pub fn history_table(rows: &[HistoryRow]) -> String {
    let columns = [
        words("Run"),
        words("Date"),
        words("Kind"),
        words("Target"),
        words("Workload"),
        number("IOPS"),
        words("Status"),
        words("Label"),
    ];
    // Targets give way; where that is not enough, labels get lines of their own.
    let tables = [22, 16, 12].map(|target| draw(&columns, &cells(rows, target)));
    if let Some(table) = tables.iter().find(fits) {
        return table.clone();
    }
    let bare: Vec<HistoryRow> = rows
        .iter()
        .map(|row| HistoryRow {
            label: String::new(),
            ..row.clone()
        })
        .collect();
    let tables = [22, 16, 12, 8].map(|target| draw(&columns, &cells(&bare, target)));
    let [.., narrowest] = &tables;
    labelled(tables.iter().find(fits).unwrap_or(narrowest), rows)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "it filters references")]
fn fits(table: &&String) -> bool {
    let mut lines = table.lines();
    lines.all(|line| line.chars().count() <= COLUMNS_MAX)
}

/// Each label in full, below its row.
fn labelled(table: &str, rows: &[HistoryRow]) -> String {
    // Heading and rule come first.
    let (head, body): (Vec<_>, Vec<_>) =
        table.lines().enumerate().partition(|(index, _)| *index < 2);
    let mut text = String::new();
    for (_, line) in head {
        text.push_str(line);
        text.push('\n');
    }
    for ((_, line), row) in body.into_iter().zip(rows) {
        text.push_str(line);
        text.push('\n');
        if !row.label.is_empty() {
            text.push_str(&format!("  {}\n", row.label));
        }
    }
    text
}

fn cells(rows: &[HistoryRow], target: usize) -> Vec<Vec<String>> {
    rows.iter()
        .map(|row| {
            vec![
                row.id.clone(),
                row.date.clone(),
                row.series.clone(),
                shorten(&row.target, target),
                row.what.clone(),
                match row.amount.as_str() {
                    "" => row.iops.map(rate).unwrap_or_default(),
                    amount => amount.to_owned(),
                },
                row.status.clone(),
                row.label.clone(),
            ]
        })
        .collect()
}

/// The end of a long text, which for a path is what tells it from others.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length - (width - 1)).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str) -> HistoryRow {
        HistoryRow {
            id: "20261122-101530-abcd".to_owned(),
            date: "2026-11-22".to_owned(),
            series: "bench".to_owned(),
            target: "/mnt/volumes/of/the/old/array/data/database".to_owned(),
            what: "33 runs; sequential read".to_owned(),
            amount: "12,532 MiB/s".to_owned(),
            status: "VOID".to_owned(),
            label: label.to_owned(),
            ..HistoryRow::default()
        }
    }

    #[test]
    fn a_label_is_shown_in_full_and_a_path_keeps_its_end() {
        assert_eq!(shorten("/mnt/volumes/data/database", 12), "…ta/database");
        let long = "before the change of March that nobody remembers";
        let table = history_table(&[row(long), row(""), row("after it")]);
        assert!(fits(&&table), "{table}");
        for words in ["2026-11-22", "12,532 MiB/s", "VOID"] {
            assert!(table.contains(words), "{words}: {table}");
        }
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2 + 3 + 2, "{table}");
        assert_eq!(lines[3], format!("  {long}"));
        assert_eq!(lines[6], "  after it");
    }

    #[test]
    fn a_short_label_stays_in_its_row() {
        let mut short = row("before");
        short.target = "/data".to_owned();
        short.status = String::new();
        let table = history_table(&[short]);
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(table.ends_with("before\n"), "{table}");
    }
}
