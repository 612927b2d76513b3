//! Several comparisons as text.

use crate::comparison::{
    comparison_heading, comparison_table, comparison_table_beside, comparison_words,
};
use crate::overview::comparison_overview;
use crate::words::Heading;
use stripewise_results::ComparisonRecord;

/// Several subjects side by side, then a table for each pair, and what is said of it. Two
/// metrics of the same two sides stand side by side.
#[must_use]
pub fn comparisons_text(records: &[ComparisonRecord], heading: Heading<'_>) -> String {
    let mut text = comparison_overview(records);
    let mut index = 0;
    while let Some(record) = records.get(index) {
        let head = comparison_heading(record);
        let (title, names) = head.split_once('\n').unwrap_or((&head, ""));
        text.push_str(&heading(title));
        text.push('\n');
        text.push_str(names);
        text.push('\n');
        let beside = records
            .get(index + 1)
            .filter(|next| is_beside(record, next));
        let together: Vec<&ComparisonRecord> = std::iter::once(record).chain(beside).collect();
        match beside {
            Some(next) => text.push_str(&comparison_table_beside(record, next)),
            None => text.push_str(&comparison_table(record)),
        }
        text.push('\n');
        text.push_str(&comparison_words(&together));
        index += together.len();
        if index < records.len() {
            text.push('\n');
        }
    }
    text
}

/// The same sides by another metric, and nothing in the rows that needs room.
fn is_beside(one: &ComparisonRecord, other: &ComparisonRecord) -> bool {
    let plain = |record: &ComparisonRecord| {
        let mut rows = record.rows.iter();
        rows.all(|row| row.interval_percent.is_none())
    };
    let metric = |record: &ComparisonRecord| record.rows.first().map(|row| row.metric.clone());
    one.a.name == other.a.name
        && one.b.name == other.b.name
        && one.title == other.title
        && metric(one) != metric(other)
        && plain(one)
        && plain(other)
}
