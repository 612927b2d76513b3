//! Comparisons on stdout: as text, or as the one JSON document of `--json`.

use crate::show::context::Context;
use crate::show::document::print_text;
use stripewise_report::{
    comparison_heading, comparison_overview, comparison_table, comparison_table_beside,
    comparison_words,
};
use stripewise_results::ComparisonRecord;

/// Several subjects side by side, then a table for each pair, and what is said of it. Two
/// metrics of the same two sides stand side by side.
pub fn print_comparisons(context: &Context, records: &[ComparisonRecord]) {
    let mut text = comparison_overview(records);
    let mut index = 0;
    while let Some(record) = records.get(index) {
        let heading = comparison_heading(record);
        let (title, names) = heading.split_once('\n').unwrap_or((&heading, ""));
        text.push_str(&context.style.heading(title));
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
    print_text(&text);
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
