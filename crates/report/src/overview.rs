//! Several subjects against one, side by side: a column for each, before the tables of the
//! single pairs, which have the intervals.

use crate::comparison::{cell_columns, cell_words, metric_name, value};
use crate::table::{draw, number, words};
use crate::warnings::wrapped;
use stripewise_results::{ComparisonRecord, ComparisonRow, Verdict};

/// The longest name that heads a column.
const HEADING_MAX: usize = 20;

/// Subjects beside the reference at most.
const BESIDE_MAX: usize = 3;

/// The longest line of a table.
const COLUMNS_MAX: usize = 100;

/// Tables that hold every subject against the first; empty where there is one pair only.
/// A cell has the value and its difference from the reference in per cent, and the verdict
/// where there is one.
#[must_use]
pub fn comparison_overview(records: &[ComparisonRecord]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if !names.contains(&record.b.name.as_str()) {
            names.push(&record.b.name);
        }
    }
    let same_reference = records.iter().all(|one| one.a.name == records[0].a.name);
    if names.len() < 2 || !same_reference {
        return String::new();
    }
    let mut text = String::new();
    for (subject, group) in groups(records) {
        text.push_str(&wrapped(&subject, "  "));
        text.push_str(&tables(&group, &names));
    }
    text
}

/// What became worse, in a line for a mail: `read random 8K 1x16: 674.00 IOPS (-9.21 %),
/// was 742.34`; several after each other.
#[must_use]
pub fn comparison_line(records: &[ComparisonRecord]) -> String {
    let rows = records.iter().flat_map(|record| &record.rows);
    let worse = rows.filter(|row| row.verdict == Verdict::Worse);
    let line = |row: &ComparisonRow| {
        let known = |count: Option<u32>| count.map_or("-".to_owned(), |count| count.to_string());
        let what = cell_words(row)[..3].join(" ");
        format!(
            "{what} {}x{}: {} {} ({:+.2} %), was {}",
            known(row.threads),
            known(row.outstanding),
            value(&row.metric, row.b),
            metric_name(&row.metric),
            row.difference_percent,
            value(&row.metric, row.a)
        )
    };
    worse.map(line).collect::<Vec<_>>().join("; ")
}

/// Tables that ask the same of different subjects, with what they ask.
fn groups(records: &[ComparisonRecord]) -> Vec<(String, Vec<&ComparisonRecord>)> {
    let mut groups: Vec<(String, Vec<&ComparisonRecord>)> = Vec::new();
    for record in records {
        let metric = record.rows.first().map_or("", |row| row.metric.as_str());
        // The title names the subject, which is what differs.
        let asked = record.title.replacen(&record.b.name, "each", 1);
        let asked = match metric_name(metric) {
            name if asked.contains(name) => asked,
            name => format!("{asked}: {name}"),
        };
        match groups.iter_mut().find(|(known, _)| *known == asked) {
            Some((_, group)) => group.push(record),
            None => groups.push((asked, vec![record])),
        }
    }
    groups
}

/// As many subjects beside each other as fit, in as many tables as that takes.
fn tables(group: &[&ComparisonRecord], names: &[&str]) -> String {
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= COLUMNS_MAX);
    let of_width = |beside: usize| {
        let tables = names.chunks(beside).map(|some| table(group, some) + "\n");
        tables.collect::<String>()
    };
    let widths = (2..=BESIDE_MAX).rev().map(of_width);
    let mut fitting = widths.filter(|text| fits(text));
    fitting.next().unwrap_or_else(|| of_width(1))
}

fn table(group: &[&ComparisonRecord], names: &[&str]) -> String {
    let heading = |name: &str| match name.chars().count() > HEADING_MAX {
        true => crate::history::shorten(name, HEADING_MAX),
        false => name.to_owned(),
    };
    let reference = group.first().map_or("", |record| record.a.name.as_str());
    let headings: Vec<String> = std::iter::once(reference)
        .chain(names.iter().copied())
        .map(heading)
        .collect();
    let mut columns = cell_columns();
    columns.push(words("Metric"));
    columns.extend(headings.iter().map(|heading| number(heading)));
    let mut cells: Vec<&ComparisonRow> = Vec::new();
    for row in group.iter().flat_map(|record| &record.rows) {
        if !cells.iter().any(|known| same(known, row)) {
            cells.push(row);
        }
    }
    let mixed = cells.iter().any(|row| row.metric != cells[0].metric);
    let line = |cell: &&ComparisonRow| {
        let mut line = cell_words(cell);
        line.push(match mixed {
            true => metric_name(&cell.metric).to_owned(),
            false => String::new(),
        });
        line.push(value(&cell.metric, cell.a));
        line.extend(names.iter().map(|name| {
            let of = group.iter().filter(|record| record.b.name == *name);
            let row = of
                .flat_map(|record| &record.rows)
                .find(|row| same(row, cell));
            row.map(beside).unwrap_or_default()
        }));
        line
    };
    draw(&columns, &cells.iter().map(line).collect::<Vec<_>>())
}

/// `674.00 (-9.21 % worse)`.
fn beside(row: &ComparisonRow) -> String {
    let verdict = match row.verdict {
        _ if !row.void.is_empty() => " VOID",
        Verdict::Better => " better",
        Verdict::Worse => " worse",
        _ => "",
    };
    let difference = row.difference_percent;
    format!(
        "{} ({difference:+.2} %{verdict})",
        value(&row.metric, row.b)
    )
}

fn same(one: &ComparisonRow, other: &ComparisonRow) -> bool {
    let cell = |row: &ComparisonRow| (row.block_size_bytes, row.threads, row.outstanding);
    (&one.operation, &one.pattern, &one.metric) == (&other.operation, &other.pattern, &other.metric)
        && cell(one) == cell(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::SideRecord;

    fn record(b: &str, rows: &[(u32, f64, Verdict)]) -> ComparisonRecord {
        let side = |name: &str| SideRecord {
            name: name.to_owned(),
            from: Vec::new(),
        };
        let rows = rows.iter().map(|&(threads, value, verdict)| ComparisonRow {
            operation: "read".to_owned(),
            pattern: "random".to_owned(),
            block_size_bytes: Some(8192),
            threads: Some(threads),
            outstanding: Some(4),
            metric: "iops".to_owned(),
            a: 1000.0,
            b: value,
            difference_percent: value / 10.0 - 100.0,
            estimate_percent: None,
            interval_percent: None,
            p_value: None,
            blocks: 1,
            verdict,
            difference_percent_max: None,
            published_difference_percent: None,
            void: Vec::new(),
        });
        ComparisonRecord {
            title: format!("{b} against ext4"),
            a: side("ext4"),
            b: side(b),
            level: 0.95,
            rows: rows.collect(),
            groups: Vec::new(),
            verdict: Verdict::Undecided,
            sentences: Vec::new(),
            notes: Vec::new(),
            drift: None,
        }
    }

    #[test]
    fn each_subject_has_a_column() {
        let records = [
            record(
                "xfs",
                &[(1, 1050.0, Verdict::Better), (2, 900.0, Verdict::Undecided)],
            ),
            record("btrfs", &[(1, 500.0, Verdict::Worse)]),
        ];
        let text = comparison_overview(&records);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "each against ext4: IOPS", "{text}");
        assert!(
            lines[1].contains("ext4") && lines[1].contains("xfs"),
            "{text}"
        );
        assert!(lines[1].contains("btrfs"), "{text}");
        assert!(lines[3].contains("1,050.00 (+5.00 % better)"), "{text}");
        assert!(lines[3].contains("500.00 (-50.00 % worse)"), "{text}");
        // What a subject has not measured is blank.
        assert!(lines[4].ends_with("900.00 (-10.00 %)"), "{text}");
        assert_eq!(comparison_overview(&records[..1]), "");
        let line = "read random 8K 1x4: 500.00 IOPS (-50.00 %), was 1,000.00";
        assert_eq!(comparison_line(&records), line);
        assert_eq!(comparison_line(&records[..1]), "");
    }

    #[test]
    fn more_subjects_than_fit_get_tables_of_their_own() {
        let better = [(1, 123_456.0, Verdict::Better)];
        let names = ["off-64K", "off-128K", "off-256K", "off-512K", "off-1M"];
        let records: Vec<ComparisonRecord> =
            names.iter().map(|name| record(name, &better)).collect();
        let text = comparison_overview(&records);
        assert!(
            text.lines().all(|line| line.chars().count() <= COLUMNS_MAX),
            "{text}"
        );
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        assert!(text.matches("ext4").count() > 2, "{text}");
    }
}
