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
    // The user's own words give way first, then the target's.
    let widths = [
        (22, 16),
        (22, 12),
        (22, 8),
        (18, 8),
        (14, 8),
        (10, 8),
        (8, 8),
        (8, 7),
    ];
    let tables = widths.map(|(target, label)| draw(&columns, &cells(rows, target, label)));
    let fits = |table: &&String| {
        table
            .lines()
            .all(|line| line.chars().count() <= COLUMNS_MAX)
    };
    let [.., narrowest] = &tables;
    tables.iter().find(fits).unwrap_or(narrowest).clone()
}

fn cells(rows: &[HistoryRow], target: usize, label: usize) -> Vec<Vec<String>> {
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
                beginning(&row.label, label),
            ]
        })
        .collect()
}

/// The beginning of a long text, which for words is what tells them from others.
fn beginning(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let head: String = text.chars().take(width - 1).collect();
    format!("{head}…")
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

    #[test]
    fn a_long_label_keeps_its_beginning_and_a_path_its_end() {
        assert_eq!(beginning("before the change of March", 12), "before the …");
        assert_eq!(shorten("/mnt/volumes/data/database", 12), "…ta/database");
        assert_eq!(beginning("short", 12), "short");
        let row = HistoryRow {
            id: "20261122-101530-abcd".to_owned(),
            date: "2026-11-22".to_owned(),
            series: "bench".to_owned(),
            target: "/mnt/volumes/of/the/old/array/data/database".to_owned(),
            what: "33 runs; sequential read".to_owned(),
            amount: "12,532 MiB/s".to_owned(),
            status: "VOID".to_owned(),
            label: "before the change of March that nobody remembers".to_owned(),
            ..HistoryRow::default()
        };
        let table = history_table(&[row]);
        assert!(
            table
                .lines()
                .all(|line| line.chars().count() <= COLUMNS_MAX),
            "{table}"
        );
        for words in ["2026-11-22", "12,532 MiB/s", "VOID", "before"] {
            assert!(table.contains(words), "{words}: {table}");
        }
    }
}
