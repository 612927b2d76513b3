//! The list of stored runs.

use crate::number::rate;
use crate::table::{draw, number, words};

/// The longest line of a table.
const COLUMNS_MAX: usize = 100;

/// One stored run, as the list shows it.
#[derive(Clone, Debug, Default)]
pub struct HistoryRow {
    /// Id of the run.
    pub id: String,
    /// Id of its series, if any.
    pub series: String,
    /// Target's name.
    pub target: String,
    /// What it did, in short: `random read 8K 4x8`.
    pub what: String,
    /// Operations a second, all jobs together.
    pub iops: Option<f64>,
    /// `partial` or nothing.
    pub status: String,
    /// The user's label.
    pub label: String,
}

/// The list as a table.
#[must_use]
pub fn history_table(rows: &[HistoryRow]) -> String {
    let columns = [
        words("Run"),
        words("Series"),
        words("Target"),
        words("Workload"),
        number("IOPS"),
        words("Status"),
        words("Label"),
    ];
    // The user's own words give way first, then the target's.
    let widths = [(22, 16), (22, 12), (22, 8), (18, 8), (14, 8), (10, 6)];
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
                row.series.clone(),
                shorten(&row.target, target),
                row.what.clone(),
                row.iops.map(rate).unwrap_or_default(),
                row.status.clone(),
                shorten(&row.label, label),
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
