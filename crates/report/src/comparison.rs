//! A comparison as text: the articles' table with intervals and a verdict for
//! each row, means per kind of I/O, sentences and notes; at most 100 columns.
//!
//! The classic column `diff %` has two decimals and no plus sign, as the
//! articles print it, so that tables can be laid side by side. Everything shown
//! stands in the record; nothing is worked out here.

use crate::table::{Column, draw, number, words};
use crate::warnings::wrapped;
use stripewise_results::{ComparisonRecord, ComparisonRow, Verdict};
use stripewise_units::{ByteSize, format_count, format_duration};

/// The longest name of a side that heads its column; a longer one is spelt out
/// above the table.
const HEADING_MAX: usize = 16;

/// Rates from here on are shown without decimals.
const DECIMALS_BELOW: f64 = 100_000.0;

/// All of a comparison: title, table, means, sentences, notes.
#[must_use]
pub fn comparison_text(record: &ComparisonRecord) -> String {
    let mut text = comparison_heading(record);
    text.push('\n');
    text.push_str(&comparison_table(record));
    text.push('\n');
    text.push_str(&comparison_words(&[record]));
    text
}

/// Title and, where they are too long for a column, the names of both sides.
#[must_use]
pub fn comparison_heading(record: &ComparisonRecord) -> String {
    let mut text = wrapped(&record.title, "  ");
    if !heads_columns(record) {
        text.push_str(&wrapped(&format!("A: {}", record.a.name), "   "));
        text.push_str(&wrapped(&format!("B: {}", record.b.name), "   "));
    }
    text
}

/// The rows as a table. Columns that say nothing are left out.
#[must_use]
pub fn comparison_table(record: &ComparisonRecord) -> String {
    let (a, b) = side_names(record);
    let shown = Shown::of(record);
    let estimate = match record.rows.first() {
        Some(row) if !shown.blocks => {
            format!(
                "estimate % ({} %, n {})",
                percent_of(record.level),
                row.blocks
            )
        }
        _ => format!("estimate % ({} %)", percent_of(record.level)),
    };
    let mut columns = cell_columns();
    columns.extend([
        words("Metric"),
        number("n"),
        number(a),
        number(b),
        number("diff %"),
        number("printed %"),
        words(&estimate),
        words("Verdict"),
    ]);
    let rows: Vec<Vec<String>> = record
        .rows
        .iter()
        .map(|row| {
            let mut cells = cell_words(row);
            cells.extend([
                only(shown.metric, || metric_name(&row.metric).to_owned()),
                only(shown.blocks, || row.blocks.to_string()),
                value(&row.metric, row.a),
                value(&row.metric, row.b),
                two_decimals(row.difference_percent),
                only(shown.published, || {
                    row.published_difference_percent
                        .map(two_decimals)
                        .unwrap_or_default()
                }),
                interval(row),
                only(shown.verdict, || verdict(row)),
            ]);
            cells
        })
        .collect();
    draw(&columns, &rows)
}

/// Two comparisons of the same rows by two metrics (IOPS and MB/s) in one table,
/// as the articles print them. Rows are those of the first.
#[must_use]
pub fn comparison_table_beside(first: &ComparisonRecord, second: &ComparisonRecord) -> String {
    let (a, b) = side_names(first);
    let headings: Vec<String> = [first, second]
        .iter()
        .flat_map(|record| [a, b].map(|side| format!("{} {side}", metric_of(record))))
        .collect();
    let mut columns = cell_columns();
    columns.extend([
        number(&headings[0]),
        number(&headings[1]),
        number("diff %"),
        number(&headings[2]),
        number(&headings[3]),
        number("diff %"),
    ]);
    let rows: Vec<Vec<String>> = first
        .rows
        .iter()
        .map(|row| {
            let mut cells = cell_words(row);
            cells.extend(three(row));
            if let Some(other) = second.rows.iter().find(|other| same_cell(row, other)) {
                cells.extend(three(other));
            }
            cells
        })
        .collect();
    draw(&columns, &rows)
}

/// Means, sentences and notes of comparisons, each distinct line once.
#[must_use]
pub fn comparison_words(records: &[&ComparisonRecord]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for record in records {
        if follows(record, records) {
            continue;
        }
        for group in &record.groups {
            add(wrapped(
                &format!(
                    "Average difference, {}, {}: {} % over {} row{}.",
                    group.name,
                    metric_name(&group.metric),
                    two_decimals(group.difference_percent_mean),
                    group.rows,
                    if group.rows == 1 { "" } else { "s" },
                ),
                "  ",
            ));
        }
    }
    for record in records {
        for sentence in &record.sentences {
            add(wrapped(sentence, "  "));
        }
    }
    for record in records {
        for note in &record.notes {
            add(wrapped(&format!("note: {note}"), "  "));
        }
    }
    lines.concat()
}

/// Its MiB/s are the IOPS of another table of the same sides times block sizes that
/// its rows keep: their means say nothing that those of IOPS do not.
fn follows(record: &ComparisonRecord, records: &[&ComparisonRecord]) -> bool {
    let twin = |mine: &ComparisonRow, row: &ComparisonRow| {
        row.metric == "iops"
            && mine.block_size_bytes.is_some()
            && (&mine.operation, &mine.pattern, mine.block_size_bytes)
                == (&row.operation, &row.pattern, row.block_size_bytes)
            && (mine.threads, mine.outstanding) == (row.threads, row.outstanding)
    };
    let covers = |other: &&ComparisonRecord| {
        (&other.a.name, &other.b.name) == (&record.a.name, &record.b.name)
            && other.rows.len() == record.rows.len()
            && record
                .rows
                .iter()
                .all(|mine| other.rows.iter().any(|row| twin(mine, row)))
    };
    !record.rows.is_empty()
        && record.rows.iter().all(|row| row.metric == "mib_per_s")
        && records.iter().any(covers)
}

/// The metric of all rows, or nothing where there are none.
fn metric_of(record: &ComparisonRecord) -> &str {
    let first = record.rows.first();
    first.map_or("", |row| metric_name(&row.metric))
}

/// A metric as headings name it.
pub(crate) fn metric_name(metric: &str) -> &str {
    match metric {
        "iops" => "IOPS",
        "mib_per_s" => "MiB/s",
        "latency_ns_mean" => "mean latency",
        "latency_ns_p50" => "p50 latency",
        "latency_ns_p90" => "p90 latency",
        "latency_ns_p95" => "p95 latency",
        "latency_ns_p99" => "p99 latency",
        "latency_ns_p999" => "p99.9 latency",
        "latency_ns_max" => "longest latency",
        "in_flight" => "in flight",
        other => other,
    }
}

/// Which of the columns that may repeat themselves have something to say.
struct Shown {
    metric: bool,
    blocks: bool,
    published: bool,
    verdict: bool,
}

impl Shown {
    fn of(record: &ComparisonRecord) -> Shown {
        let rows = &record.rows;
        Shown {
            metric: rows.iter().any(|row| row.metric != rows[0].metric),
            blocks: rows.iter().any(|row| row.blocks != rows[0].blocks),
            // A printed difference is news where it is not what comes out.
            published: rows.iter().any(|row| {
                row.published_difference_percent
                    .is_some_and(|p| two_decimals(p) != two_decimals(row.difference_percent))
            }),
            verdict: rows
                .iter()
                .any(|row| row.verdict != Verdict::Undecided || !row.void.is_empty()),
        }
    }
}

fn only(shown: bool, text: impl Fn() -> String) -> String {
    if shown { text() } else { String::new() }
}

pub(crate) fn cell_columns<'a>() -> Vec<Column<'a>> {
    vec![
        words("Operation"),
        words("Pattern"),
        number("Block"),
        number("Threads"),
        number("Out"),
    ]
}

pub(crate) fn cell_words(row: &ComparisonRow) -> Vec<String> {
    vec![
        row.operation.clone(),
        row.pattern.clone(),
        row.block_size_bytes
            .map(|bytes| ByteSize(bytes).to_string())
            .unwrap_or_default(),
        row.threads.map(|n| n.to_string()).unwrap_or_default(),
        row.outstanding.map(|n| n.to_string()).unwrap_or_default(),
    ]
}

fn three(row: &ComparisonRow) -> [String; 3] {
    [
        value(&row.metric, row.a),
        value(&row.metric, row.b),
        two_decimals(row.difference_percent),
    ]
}

fn same_cell(one: &ComparisonRow, other: &ComparisonRow) -> bool {
    let cell = |row: &ComparisonRow| (row.block_size_bytes, row.threads, row.outstanding);
    one.operation == other.operation && one.pattern == other.pattern && cell(one) == cell(other)
}

fn heads_columns(record: &ComparisonRecord) -> bool {
    [&record.a.name, &record.b.name]
        .iter()
        .all(|name| name.chars().count() <= HEADING_MAX)
}

fn side_names(record: &ComparisonRecord) -> (&str, &str) {
    if heads_columns(record) {
        (&record.a.name, &record.b.name)
    } else {
        ("A", "B")
    }
}

/// A value in the unit that its metric's name carries.
pub(crate) fn value(metric: &str, value: f64) -> String {
    if metric.starts_with("latency_ns") {
        // Latencies are not negative and far below 2^53 ns.
        return format_duration(value.round() as u64);
    }
    if value >= DECIMALS_BELOW || metric == "in_flight" {
        return format_count(value.round() as u64);
    }
    let text = two_decimals(value);
    // Thousands are marked in the whole part as the decimals rounded it.
    match text
        .split_once('.')
        .map(|(whole, rest)| (whole.parse::<u64>(), rest))
    {
        Some((Ok(whole), decimals)) => format!("{}.{decimals}", format_count(whole)),
        _ => text,
    }
}

/// Two decimals, and never a minus before zero.
fn two_decimals(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    }
}

fn interval(row: &ComparisonRow) -> String {
    match (row.estimate_percent, row.interval_percent) {
        (Some(estimate), Some([low, high])) => format!(
            "{} ({}..{})",
            two_decimals(estimate),
            two_decimals(low),
            two_decimals(high)
        ),
        _ => String::new(),
    }
}

/// The verdict, and that the numbers of the row are void.
fn verdict(row: &ComparisonRow) -> String {
    match (row.verdict, row.void.is_empty()) {
        (Verdict::Undecided, false) => "VOID".to_owned(),
        (_, false) => format!("{} (VOID)", verdict_alone(row)),
        (_, true) => verdict_alone(row),
    }
}

fn verdict_alone(row: &ComparisonRow) -> String {
    match (row.verdict, row.difference_percent_max) {
        (Verdict::Better, _) => "better".to_owned(),
        (Verdict::Worse, _) => "worse".to_owned(),
        (Verdict::Mixed, _) => "mixed".to_owned(),
        (Verdict::NoDifference, Some(most)) => format!("none >{} %", rounded_up(most)),
        (Verdict::NoDifference, None) => "none found".to_owned(),
        (Verdict::Undecided, _) => "undecided".to_owned(),
    }
}

/// An upper bound stays one: rounded up to one decimal.
fn rounded_up(percent: f64) -> String {
    format!("{:.1}", (percent * 10.0).ceil() / 10.0)
}

/// `95` of 0.95.
fn percent_of(level: f64) -> String {
    let text = format!("{:.1}", level * 100.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{ComparisonGroup, SideRecord};

    fn row(threads: u32, a: f64, b: f64, found: Option<[f64; 3]>) -> ComparisonRow {
        ComparisonRow {
            operation: "read".to_owned(),
            pattern: "random".to_owned(),
            block_size_bytes: Some(8_192),
            threads: Some(threads),
            outstanding: Some(4),
            metric: "iops".to_owned(),
            a,
            b,
            difference_percent: (b - a) / a * 100.0,
            estimate_percent: found.map(|f| f[0]),
            interval_percent: found.map(|f| [f[1], f[2]]),
            p_value: found.map(|_| 0.002),
            blocks: if found.is_some() { 10 } else { 1 },
            verdict: match found {
                None => Verdict::Undecided,
                Some([_, _, high]) if high < 0.0 => Verdict::Worse,
                Some(_) => Verdict::NoDifference,
            },
            difference_percent_max: found.map(|f| f[2].abs().max(f[1].abs())),
            published_difference_percent: None,
            void: Vec::new(),
        }
    }

    fn record(rows: Vec<ComparisonRow>, names: [&str; 2]) -> ComparisonRecord {
        let side = |name: &str| SideRecord {
            name: name.to_owned(),
            from: Vec::new(),
        };
        ComparisonRecord {
            title: "partition offset".to_owned(),
            a: side(names[0]),
            b: side(names[1]),
            level: 0.95,
            rows,
            groups: vec![ComparisonGroup {
                name: "random read".to_owned(),
                metric: "iops".to_owned(),
                rows: 2,
                difference_percent_mean: 33.9,
            }],
            verdict: Verdict::Undecided,
            sentences: vec!["Nobody can say.".to_owned()],
            notes: vec!["A is old.".to_owned()],
            drift: None,
        }
    }

    #[test]
    fn a_published_table_looks_as_the_articles() {
        let rows = vec![
            row(1, 400.45, 589.11, None),
            row(64, 18_361.12, 18_275.00, None),
        ];
        assert_eq!(
            comparison_text(&record(rows, ["31.5K", "64K"])),
            "partition offset\n\n\
             Operation  Pattern  Block  Threads  Out      31.5K        64K  diff %\n\
             ---------------------------------------------------------------------\n\
             read       random      8K        1    4     400.45     589.11   47.11\n\
             read       random      8K       64    4  18,361.12  18,275.00   -0.47\n\n\
             Average difference, random read, IOPS: 33.90 % over 2 rows.\n\
             Nobody can say.\nnote: A is old.\n"
        );
    }

    #[test]
    fn repetitions_show_intervals_and_verdicts_within_a_hundred_columns() {
        let rows = vec![
            row(1, 123_400.45, 138_000.0, Some([-11.9, -13.8, -10.15])),
            row(256, 4_512_345.1, 4_512_346.4, Some([-0.0, -10.62, 10.31])),
        ];
        let text = comparison_table(&record(rows, ["20261121-201530-k3f9", "64K"]));
        assert!(text.contains("-11.90 (-13.80..-10.15)"), "{text}");
        assert!(
            text.contains("0.00 (-10.62..10.31)") && text.contains("  none >10.7 %"),
            "{text}"
        );
        assert!(
            text.contains("123,400") && text.contains("4,512,345"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }

    #[test]
    fn long_names_are_spelt_out_above_the_table() {
        let long = record(vec![row(1, 1.0, 2.0, None)], ["a", &"b".repeat(30)]);
        assert_eq!(
            comparison_heading(&long),
            format!("partition offset\nA: a\nB: {}\n", "b".repeat(30))
        );
    }

    #[test]
    fn a_printed_difference_is_shown_where_another_comes_out() {
        let mut rows = vec![row(1, 400.45, 589.11, None)];
        rows[0].published_difference_percent = Some(47.11);
        let same = comparison_table(&record(rows.clone(), ["31.5K", "64K"]));
        assert!(!same.contains("printed"));
        rows[0].published_difference_percent = Some(48.0);
        let other = comparison_table(&record(rows, ["31.5K", "64K"]));
        assert!(other.contains("printed %") && other.contains("48.00"));
    }

    #[test]
    fn values_are_rounded_once() {
        for (metric, given, shown) in [
            ("iops", 999.996, "1,000.00"),
            ("iops", 0.004, "0.00"),
            ("mib_per_s", 12.346, "12.35"),
            ("latency_ns_p99", 1_500_000.0, "1.50 ms"),
        ] {
            assert_eq!(value(metric, given), shown);
        }
    }
}
