//! The rows of a comparison: the articles' table with intervals and a verdict for each row,
//! and means per kind of I/O.
//!
//! The classic column `diff %` has two decimals and no plus sign, as printed
//! in the articles, so that tables can be laid side by side. All values shown
//! come from the record; nothing is computed here.

use crate::sheet::{Cell, Column, Judgement};
use stripewise_results::{
    AnswerBound, AnswerPlace, ComparisonGroup, ComparisonRecord, ComparisonRow, Verdict,
};
use stripewise_units::{ByteSize, counted, format_count, format_duration};

/// Maximum length of a side's name in a column heading; a longer one is given
/// in full above the table.
const HEADING_MAX: usize = 16;

/// Rates from here on are shown without decimals.
const DECIMALS_BELOW: f64 = 100_000.0;

/// Columns of the rows of a comparison; with a twin, those of both side by side.
pub(crate) fn columns_of(
    record: &ComparisonRecord,
    twin: Option<&ComparisonRecord>,
) -> Vec<Column> {
    let [a, b] = side_names(record);
    let mut columns = cell_columns(record);
    if let Some(twin) = twin {
        // A narrow terminal leaves out a second unit of the first metric.
        for (of, order) in [(record, 0), (twin, 1)] {
            let sides = [a, b].map(|side| format!("{} {side}", metric_of(of)));
            let headings = sides.iter().map(String::as_str).chain(["diff %"]);
            columns.extend(headings.map(|heading| Column::number(heading).dropped(order)));
        }
        return columns;
    }
    let level = level_words(record.common_level());
    let estimate = match record.rows.first() {
        Some(row) if !ColumnChoice::of(record).blocks => {
            format!("estimate % ({level}, n {})", row.blocks)
        }
        _ => format!("estimate % ({level})"),
    };
    columns.extend([
        Column::text("Metric"),
        Column::number("n").dropped(2),
        Column::number(a),
        Column::number(b),
        Column::number("diff %").dropped(1),
        Column::number("printed %"),
        // The values are what is compared, and the verdict says what the interval comes to.
        Column::text(&estimate).dropped_late(1),
        Column::text("Verdict"),
    ]);
    columns
}

/// The level of the intervals in a column.
fn level_words(level: Option<f64>) -> String {
    level.map_or("Holm".to_owned(), |level| {
        format!("{} %", percent_of(level))
    })
}

/// The columns that identify a row: they are the last to be left out, but for a load that all rows
/// share, which goes first.
fn cell_columns(record: &ComparisonRecord) -> Vec<Column> {
    let order = |of: fn(&ComparisonRow) -> Option<u32>, shared: u8| {
        let mut rows = record.rows.iter();
        match rows.all(|row| of(row) == of(&record.rows[0])) {
            true => shared,
            false => 0,
        }
    };
    vec![
        Column::text("I/O"),
        Column::text("Pattern"),
        Column::number("Block"),
        Column::number("Threads").dropped_late(order(|row| row.threads, 2)),
        Column::number("QD").dropped_late(order(|row| row.outstanding, 3)),
    ]
}

/// Columns of a table in which every subject has a row of its own.
pub(crate) fn columns_of_subjects(group: &[&ComparisonRecord]) -> Vec<Column> {
    let level = group.first().map_or(Some(0.95), |one| one.common_level());
    let level = level_words(level);
    let mut columns = vec![Column::text("Load")];
    columns.extend([
        Column::text("Metric"),
        Column::text("Subject"),
        Column::number(match single_metric(group) {
            Some(metric) => metric_name(metric),
            None => "Value",
        }),
        Column::number("diff %").dropped(1),
        Column::text(&format!("estimate % ({level})")),
        Column::text("Verdict"),
    ]);
    columns
}

/// For each load, the value of the reference, and below it those of the others.
pub(crate) fn rows_of_subjects(group: &[&ComparisonRecord]) -> Vec<Vec<Cell>> {
    let rows = group.iter().flat_map(|record| &record.rows);
    let mut loads: Vec<&ComparisonRow> = Vec::new();
    for row in rows {
        if !loads.iter().any(|known| same_load(known, row)) {
            loads.push(row);
        }
    }
    let is_single = single_metric(group).is_some();
    let reference = group.first().map_or("", |record| short_sides(record)[0]);
    let of_load = |load: &&ComparisonRow| {
        let mut first = vec![Cell::from(load_words(load))];
        first.extend([
            only(!is_single, || metric_name(&load.metric).to_owned()).into(),
            reference.into(),
            side(load, 0),
        ]);
        let of_record = |record: &&ComparisonRecord| {
            let row = record.rows.iter().find(|row| same_load(row, load))?;
            let mut cells = vec![Cell::default(); 2];
            cells.extend([
                short_sides(record)[1].into(),
                side(row, 1),
                difference(row),
                interval(row),
                judged(row),
            ]);
            Some(cells)
        };
        let others = group.iter().filter_map(of_record);
        std::iter::once(first).chain(others).collect::<Vec<_>>()
    };
    loads.iter().flat_map(of_load).collect()
}

/// The common metric of all rows, if there is one.
fn single_metric<'a>(group: &[&'a ComparisonRecord]) -> Option<&'a str> {
    let mut rows = group.iter().flat_map(|record| &record.rows);
    let first = rows.next()?.metric.as_str();
    rows.all(|row| row.metric == first).then_some(first)
}

fn same_load(one: &ComparisonRow, other: &ComparisonRow) -> bool {
    one.metric == other.metric && same_cell(one, other)
}

/// `read random 8K 1 thread of 16`.
pub(crate) fn load_words(row: &ComparisonRow) -> String {
    let mut words = cell_words(row)[..3].to_vec();
    words.push(threads_words(row));
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// `8 threads of 4`, as in sentences; empty unless both are known and the same on both sides.
pub(crate) fn threads_words(row: &ComparisonRow) -> String {
    let both = row.threads.zip(row.outstanding);
    both.map_or_else(String::new, |(threads, outstanding)| {
        let threads = counted(threads as usize, "thread", "threads");
        format!("{threads} of {outstanding}")
    })
}

/// Regressions in a line for a mail: `read random 8K 1 thread of 16: 674.00 IOPS (-9.21 %),
/// was 742.34`, one after the other. `is_worse` selects the rows.
pub fn comparison_line(
    records: &[ComparisonRecord],
    is_worse: impl Fn(&ComparisonRow) -> bool,
) -> String {
    let rows = records.iter().flat_map(|record| {
        let rows = record.rows.iter();
        rows.map(|row| (record.level_of(row), row))
    });
    let worse = rows.filter(|(_, row)| is_worse(row));
    let line = |(level, row): (f64, &ComparisonRow)| {
        let interval = row.interval_percent.map(|[low, high]| {
            format!(
                ", {} % interval {low:+.2} to {high:+.2} %",
                percent_of(level)
            )
        });
        format!(
            "{}: {} {} ({:+.2} %{}), was {}",
            load_words(row),
            value(&row.metric, row.b),
            metric_name(&row.metric),
            row.percent(),
            interval.unwrap_or_default(),
            value(&row.metric, row.a)
        )
    };
    worse.map(line).collect::<Vec<_>>().join("; ")
}

/// The rows of a comparison. Uninformative columns are empty.
pub(crate) fn cells_of(
    record: &ComparisonRecord,
    twin: Option<&ComparisonRecord>,
) -> Vec<Vec<Cell>> {
    let shown = ColumnChoice::of(record);
    let rows = record.rows.iter().map(|row| {
        let mut cells: Vec<Cell> = cell_words(row).into_iter().map(Cell::from).collect();
        if let Some(twin) = twin {
            cells.extend(three(row));
            let other = twin.rows.iter().find(|other| same_cell(row, other));
            cells.extend(other.into_iter().flat_map(three));
            return cells;
        }
        let printed = row.published_difference_percent.map(two_decimals);
        cells.extend([
            only(shown.metric, || metric_name(&row.metric).to_owned()).into(),
            only(shown.blocks, || row.blocks.to_string()).into(),
            side(row, 0),
            side(row, 1),
            difference(row),
            only(shown.published, || printed.clone().unwrap_or_default()).into(),
            interval(row),
        ]);
        cells.push(match shown.verdict {
            true => judged(row),
            false => Cell::default(),
        });
        cells
    });
    rows.collect()
}

/// The verdict of a row.
fn judged(row: &ComparisonRow) -> Cell {
    let word = verdict(row);
    match row.verdict {
        _ if !row.void.is_empty() => Cell::judged(word, Judgement::Bad),
        Verdict::Worse => Cell::judged(word, Judgement::Bad),
        Verdict::Better => Cell::judged(word, Judgement::Good),
        _ => word.into(),
    }
}

/// The mean of each kind of I/O that has several rows.
pub(crate) fn means(record: &ComparisonRecord) -> String {
    let groups = record.groups.iter().filter(|group| group.rows > 1);
    let mean = |group: &ComparisonGroup| {
        format!(
            "Average difference, {}, {}: {} % over {} rows.",
            group.name,
            metric_name(&group.metric),
            two_decimals(group.difference_percent_mean),
            group.rows,
        )
    };
    groups.map(mean).collect::<Vec<_>>().join(" ")
}

/// The same sides by another metric, with nothing in the rows that takes room.
pub(crate) fn are_twins(one: &ComparisonRecord, other: &ComparisonRecord) -> bool {
    let plain = |record: &ComparisonRecord| {
        let mut rows = record.rows.iter();
        rows.all(|row| row.interval_percent.is_none())
    };
    (&one.a.name, &one.b.name, &one.title) == (&other.a.name, &other.b.name, &other.title)
        && metric_of(one) != metric_of(other)
        && plain(one)
        && plain(other)
}

/// Its MiB/s are the IOPS of another table of the same sides times block sizes that
/// its rows share: their means add nothing to those of IOPS.
pub(crate) fn follows(record: &ComparisonRecord, records: &[&ComparisonRecord]) -> bool {
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

/// The metric of all rows; empty if there are none.
fn metric_of(record: &ComparisonRecord) -> &str {
    let first = record.rows.first();
    first.map_or("", |row| metric_name(&row.metric))
}

/// A metric as named in headings.
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

/// Which of the possibly redundant columns are informative.
struct ColumnChoice {
    metric: bool,
    blocks: bool,
    published: bool,
    verdict: bool,
}

impl ColumnChoice {
    fn of(record: &ComparisonRecord) -> ColumnChoice {
        let rows = &record.rows;
        ColumnChoice {
            metric: rows.iter().any(|row| row.metric != rows[0].metric),
            blocks: rows.iter().any(|row| row.blocks != rows[0].blocks),
            // A printed difference is shown if it differs from the computed one.
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

fn cell_words(row: &ComparisonRow) -> Vec<String> {
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

fn three(row: &ComparisonRow) -> [Cell; 3] {
    [side(row, 0), side(row, 1), difference(row)]
}

/// The difference, with a sign before what is only the least or the most of it.
fn difference(row: &ComparisonRow) -> Cell {
    let (bound, percent) = match row.bounds_percent {
        None => (None, row.difference_percent),
        Some([Some(least), None]) => (Some(AnswerBound::AtLeast), least),
        Some([None, Some(most)]) => (Some(AnswerBound::AtMost), most),
        Some(_) => return Cell::default(),
    };
    Cell::bounded(&two_decimals(percent), percent, bound)
}

fn same_cell(one: &ComparisonRow, other: &ComparisonRow) -> bool {
    let cell = |row: &ComparisonRow| (row.block_size_bytes, row.threads, row.outstanding);
    one.operation == other.operation && one.pattern == other.pattern && cell(one) == cell(other)
}

pub(crate) fn heads_columns(record: &ComparisonRecord) -> bool {
    short_sides(record)
        .iter()
        .all(|name| name.chars().count() <= HEADING_MAX)
}

fn side_names(record: &ComparisonRecord) -> [&str; 2] {
    match heads_columns(record) {
        true => short_sides(record),
        false => ["A", "B"],
    }
}

/// Both names; for ids, their suffixes, by which the store finds them, unless these are the same.
pub(crate) fn short_sides(record: &ComparisonRecord) -> [&str; 2] {
    let names = [record.a.name.as_str(), record.b.name.as_str()];
    let ends = names.map(|name| id_end(name).unwrap_or(name));
    if ends[0] == ends[1] { names } else { ends }
}

/// `dhqk` of `20261127-111110-dhqk`.
fn id_end(name: &str) -> Option<&str> {
    let mut parts = name.splitn(3, '-');
    let (date, time, end) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_id = is_number(date, 8) && is_number(time, 6) && end.len() == 4;
    is_id.then_some(end)
}

/// A value in the unit named by its metric.
fn value(metric: &str, value: f64) -> String {
    if metric.starts_with("latency_ns") {
        // Latencies are not negative and far below 2^53 ns.
        return format_duration(value.round() as u64);
    }
    if value >= DECIMALS_BELOW || metric == "in_flight" {
        return format_count(value.round() as u64);
    }
    two_decimals(value)
}

/// The value of A or B: `knee 741.41` for an answer beyond its limit, with a sign before a bound.
fn side(row: &ComparisonRow, index: usize) -> Cell {
    let number = [row.a, row.b][index];
    let answer = row.answers.map(|both| both[index]);
    let bound = answer.and_then(|answer| answer.bound);
    let mut cell = Cell::bounded(&value(&row.metric, number), number, bound);
    if let Some(place) = answer.and_then(|answer| answer.beyond_limit) {
        cell.text = format!("{} {}", beyond_word(place), cell.text);
    }
    cell
}

fn beyond_word(place: AnswerPlace) -> &'static str {
    match place {
        AnswerPlace::Knee => "knee",
        AnswerPlace::Highest => "peak",
        _ => "over",
    }
}

/// Explains the words and signs before values of answers; empty if there are none.
pub(crate) fn legend<'a>(rows: impl Iterator<Item = &'a ComparisonRow> + Clone) -> String {
    let all = || rows.clone().filter_map(|row| row.answers).flatten();
    let has = |word: &str| {
        let mut places = all().filter_map(|answer| answer.beyond_limit);
        places.any(|place| beyond_word(place) == word)
    };
    let meanings = [
        ("knee", "the rate at the knee"),
        ("peak", "the highest rate"),
        ("over", "the rate of the only load"),
    ];
    let meant = meanings.iter().filter(|(word, _)| has(word));
    let meant: Vec<String> = meant
        .map(|(word, what)| format!("{word}: {what}"))
        .collect();
    let mut clauses = Vec::new();
    if !meant.is_empty() {
        clauses.push(format!("Where the limit is missed, {}.", meant.join("; ")));
    }
    if all().any(|answer| answer.bound.is_some()) {
        clauses.push("\u{2265} and \u{2264}: at least and at most.".to_owned());
    }
    clauses.extend(undecided(rows));
    clauses.join(" ")
}

/// Rows of one reason that are named; more are counted.
const NAMED_MAX: usize = 2;

/// `Undecided: too few runs (3 rows); over the limit (write log 8K).` None where no row is, or
/// where none has a verdict and sentences say why.
fn undecided<'a>(rows: impl Iterator<Item = &'a ComparisonRow> + Clone) -> Option<String> {
    // Ceilings have signs of bounds, and are not judged.
    let is_decided = |row: &ComparisonRow| {
        let has_ends = row.interval_percent.is_some() || row.bounds_percent.is_some();
        row.verdict != Verdict::Undecided || (row.answers.is_some() && has_ends)
    };
    if !rows.clone().any(is_decided) {
        return None;
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(why) = row.undecided_because() else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, loads)) => loads.push(load_words(row)),
            None => reasons.push((why, vec![load_words(row)])),
        }
    }
    let words = |(why, loads): &(&str, Vec<String>)| match loads.len() {
        0..=NAMED_MAX => format!("{why} ({})", loads.join(", ")),
        many => format!("{why} ({many} rows)"),
    };
    let words: Vec<String> = reasons.iter().map(words).collect();
    (!words.is_empty()).then(|| format!("Undecided: {}.", words.join("; ")))
}

/// Two decimals, thousands separated, and never a minus before zero.
pub(crate) fn two_decimals(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" {
        return "0.00".to_owned();
    }
    // Separators go into the integer part after rounding.
    match text
        .split_once('.')
        .map(|(whole, rest)| (whole.parse::<u64>(), rest))
    {
        Some((Ok(whole), decimals)) => format!("{}.{decimals}", format_count(whole)),
        _ => text,
    }
}

fn interval(row: &ComparisonRow) -> Cell {
    match (row.estimate_percent, row.interval_percent) {
        (Some(estimate), Some([low, high])) => {
            let text = format!(
                "{} ({}..{})",
                two_decimals(estimate),
                two_decimals(low),
                two_decimals(high)
            );
            Cell::estimate(text, estimate, [low, high])
        }
        _ => Cell::default(),
    }
}

/// The verdict, and whether the numbers of the row are void.
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

/// Rounded up to one decimal, so that it remains an upper bound.
fn rounded_up(percent: f64) -> String {
    format!("{:.1}", (percent * 10.0).ceil() / 10.0)
}

/// `95` of 0.95.
pub(crate) fn percent_of(level: f64) -> String {
    let text = format!("{:.1}", level * 100.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{ComparedAnswer, ComparisonGroup, SideRecord};

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
            bounds_percent: None,
            estimate_percent: found.map(|f| f[0]),
            interval_percent: found.map(|f| [f[1], f[2]]),
            level: None,
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
            sentence: None,
            answers: None,
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

    fn text(record: ComparisonRecord) -> String {
        let sheet = crate::comparison_sheet(&[record], &[], false);
        crate::sheet_text(&sheet, 100)
    }

    #[test]
    fn a_published_table_looks_as_the_articles() {
        let rows = vec![
            row(1, 400.45, 589.11, None),
            row(64, 18_361.12, 18_275.00, None),
        ];
        assert_eq!(
            text(record(rows, ["31.5K", "64K"])),
            "partition offset\n\n\
             Undecided: IOPS from -0.47 to +47.11 %; 1 of 2 rows above 0\n  \
             Nobody can say.\n\n\
             I/O   Pattern  Block  Threads  QD      31.5K        64K  diff %\n\
             read  random      8K        1   4     400.45     589.11   47.11\n\
             read  random      8K       64   4  18,361.12  18,275.00   -0.47\n\
             Average difference, random read, IOPS: 33.90 % over 2 rows.\n\n\
             note: A is old.\n"
        );
    }

    #[test]
    fn ids_are_as_short_in_notes_as_in_headings() {
        let ids = ["20261127-111110-dhqk", "20261127-111111-0001"];
        let mut of_ids = record(vec![row(1, 1.0, 2.0, None)], ids);
        of_ids.notes = vec![format!("rate: none on {}, 5 on {}.", ids[0], ids[1])];
        let shown = text(of_ids);
        assert!(
            shown.contains("note: rate: none on dhqk, 5 on 0001.\n"),
            "{shown}"
        );
    }

    #[test]
    fn what_an_answer_leaves_out_is_said_beside_the_table() {
        let [left_out, whole] = [true, false].map(|leaves_slow_runs_out| ComparedAnswer {
            leaves_slow_runs_out,
            bound: None,
            beyond_limit: None,
        });
        let of = |answers: [ComparedAnswer; 2]| ComparisonRow {
            threads: None,
            answers: Some(answers),
            ..row(1, 100.0, 110.0, Some([10.0, -8.0, 12.0]))
        };
        let rows = vec![of([left_out, whole]), of([whole, whole])];
        let answers = ComparisonRecord {
            sentences: vec!["In full it is 90.".to_owned(), "It is equal.".to_owned()],
            ..record(rows, ["then", "now"])
        };
        let ceilings = ComparisonRecord {
            notes: vec!["Ceilings are single values.".to_owned()],
            ..record(vec![row(1, 100.0, 110.0, None)], ["then", "now"])
        };
        let records = [answers, ceilings];
        let sheet = crate::comparison_sheet(&records, &[], false);
        assert_eq!(sheet.details, ["In full it is 90."]);
        // What is said of a table that is not shown is not shown either.
        let own = "note: Ceilings are single values.".to_owned();
        assert!(!sheet.notes.contains(&own), "{:?}", sheet.notes);
        let whole = crate::comparison_sheet(&records, &[], true);
        assert!(whole.notes.contains(&own), "{:?}", whole.notes);
    }

    #[test]
    fn what_is_undecided_about_one_subject_is_not_decided_by_another() {
        let of = |name: &str, verdict: Verdict| ComparisonRecord {
            verdict,
            ..record(vec![row(1, 100.0, 110.0, None)], ["old", name])
        };
        let (none, open) = (Verdict::NoDifference, Verdict::Undecided);
        for (verdicts, word) in [
            ([("a", none), ("b", open)], "Undecided"),
            ([("a", none), ("b", none)], "No difference found"),
            ([("a", Verdict::Worse), ("b", open)], "Worse"),
            ([("a", Verdict::Worse), ("b", Verdict::Better)], "Mixed"),
            // Ceilings have no verdict.
            ([("a", none), ("a", open)], "No difference found"),
        ] {
            let records = verdicts.map(|(name, verdict)| of(name, verdict));
            let sheet = crate::comparison_sheet(&records, &[], false);
            let found = sheet.verdict.map(|(_, found)| found);
            assert_eq!(found.as_deref(), Some(word), "{verdicts:?}");
        }
    }

    #[test]
    fn what_identifies_a_row_is_the_last_to_be_left_out() {
        let wide = |block_kib: u64, pattern: &str| ComparisonRow {
            block_size_bytes: Some(block_kib << 10),
            pattern: pattern.to_owned(),
            ..row(1, 33_846.03, 33_915.33, Some([0.2, -0.09, 0.54]))
        };
        let rows = || vec![wide(8, "random"), wide(64, "random"), wide(8, "sequential")];
        let of = |rows: Vec<ComparisonRow>, width: usize| {
            let sheet = crate::comparison_sheet(&[record(rows, ["old", "new"])], &[], false);
            crate::sheet_text(&sheet, width)
        };
        let text = of(rows(), 60);
        for words in [
            "Pattern",
            "Block",
            "sequential",
            "8K",
            "33,846.03",
            "33,915.33",
            // There is room for it once the interval is gone.
            "diff %",
            "none",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(
            text.contains("No room for: Threads, QD, estimate % ("),
            "{text}"
        );
        // A load that differs tells rows apart.
        let mut loads = rows();
        loads[1].threads = Some(8);
        let text = of(loads, 60);
        assert!(
            text.contains("No room for: QD, diff %, estimate % ("),
            "{text}"
        );
        assert!(text.contains("33,915.33"), "{text}");
        // Of single values nothing else is left.
        let single = rows().into_iter().map(|row| ComparisonRow {
            estimate_percent: None,
            interval_percent: None,
            verdict: Verdict::Undecided,
            ..row
        });
        let text = of(single.collect(), 50);
        assert!(
            text.contains("33,915.33") && text.contains("Pattern"),
            "{text}"
        );
    }

    #[test]
    fn bounds_and_answers_beyond_their_limit_are_marked_and_the_marks_explained() {
        let mut rows = vec![row(1, 427_054.0, 741.4, None)];
        rows[0].answers = Some([
            ComparedAnswer {
                leaves_slow_runs_out: false,
                bound: Some(AnswerBound::AtLeast),
                beyond_limit: None,
            },
            ComparedAnswer {
                leaves_slow_runs_out: false,
                bound: None,
                beyond_limit: Some(AnswerPlace::Knee),
            },
        ]);
        rows[0].bounds_percent = Some([None, Some(-99.83)]);
        let text = text(record(rows, ["then", "now"]));
        assert!(
            text.contains("\u{2265} 427,054  knee 741.40  \u{2264} -99.83"),
            "{text}"
        );
        let words: Vec<&str> = text.split_whitespace().collect();
        let legend = "Where the limit is missed, knee: the rate at the knee. \u{2265} and";
        assert!(words.join(" ").contains(legend), "{text}");
        assert!(!text.contains("peak"), "{text}");
    }

    #[test]
    fn an_undecided_row_says_why() {
        let of = |found: Option<[f64; 2]>, beyond: [bool; 2]| {
            let found = found.map(|[low, high]| [(low + high) / 2.0, low, high]);
            let side = |is_beyond: bool| ComparedAnswer {
                leaves_slow_runs_out: false,
                bound: None,
                beyond_limit: is_beyond.then_some(AnswerPlace::Knee),
            };
            ComparisonRow {
                verdict: Verdict::Undecided,
                answers: Some(beyond.map(side)),
                ..row(1, 100.0, 110.0, found)
            }
        };
        let neither = [false, false];
        for (found, beyond, why) in [
            (None, neither, "too few runs"),
            (Some([-50.0, 90.0]), neither, "interval too wide"),
            (Some([1.0, 9.0]), neither, "may be chance"),
            (Some([1.0, 9.0]), [false, true], "over the limit"),
            (Some([-9.0, -1.0]), [false, true], "may be chance"),
            (Some([-9.0, -1.0]), [true, false], "over the limit"),
        ] {
            let row = of(found, beyond);
            assert_eq!(row.undecided_because(), Some(why), "{row:?}");
        }
        let bound = ComparisonRow {
            bounds_percent: Some([None, None]),
            ..of(None, neither)
        };
        assert_eq!(difference(&bound).text, "");
        let few = of(None, neither);
        let rows = [bound, few.clone(), few.clone(), few];
        let words = "Undecided: only bounds (read random 8K 1 thread of 4); too few runs (3 rows).";
        assert_eq!(undecided(rows.iter()).as_deref(), Some(words));
        assert!(legend(rows.iter()).ends_with(words));
        // Of a published table the sentences say it.
        assert_eq!(undecided([row(1, 1.0, 2.0, None)].iter()), None);
    }

    #[test]
    fn repetitions_show_intervals_and_verdicts_within_a_hundred_columns() {
        let rows = vec![
            row(1, 123_400.45, 138_000.0, Some([-11.9, -13.8, -10.15])),
            row(256, 4_512_345.1, 4_512_346.4, Some([-0.0, -10.62, 10.31])),
        ];
        let text = text(record(rows, ["20261121-201530-k3f9", "64K"]));
        assert!(text.contains("-11.90 (-13.80..-10.15)"), "{text}");
        assert!(
            text.contains("0.00 (-10.62..10.31)") && text.contains(" none >10.7 %"),
            "{text}"
        );
        assert!(
            text.contains("123,400") && text.contains("4,512,345"),
            "{text}"
        );
    }

    /// IOPS of a subject against ext4, by threads.
    fn of_subject(name: &str, rows: &[(u32, f64, Verdict)]) -> ComparisonRecord {
        let rows = rows.iter().map(|&(threads, b, verdict)| ComparisonRow {
            verdict,
            ..row(threads, 1000.0, b, None)
        });
        ComparisonRecord {
            title: format!("{name} against ext4"),
            ..record(rows.collect(), ["ext4", name])
        }
    }

    #[test]
    fn each_subject_has_a_row_below_the_reference() {
        let records = [
            of_subject(
                "xfs",
                &[(1, 1050.0, Verdict::Better), (2, 900.0, Verdict::Undecided)],
            ),
            of_subject("btrfs", &[(1, 500.0, Verdict::Worse)]),
        ];
        let sheet = crate::comparison_sheet(&records, &[], false);
        assert_eq!(sheet.title, "xfs, btrfs against ext4");
        let [table] = &sheet.tables[..] else {
            panic!("{:?}", sheet.tables);
        };
        assert_eq!(table.title, "Each against ext4: IOPS");
        let texts = |row: &Vec<Cell>| {
            let texts = row.iter().map(|cell| cell.text.as_str());
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let rows: Vec<String> = table.rows.iter().map(texts).collect();
        assert_eq!(
            rows,
            [
                "read random 8K 1 thread of 4 ext4 1,000.00",
                "xfs 1,050.00 5.00 better",
                "btrfs 500.00 -50.00 worse",
                "read random 8K 2 threads of 4 ext4 1,000.00",
                // Loads that a subject did not run are left out.
                "xfs 900.00 -10.00 undecided",
            ]
        );
        let line = "read random 8K 1 thread of 4: 500.00 IOPS (-50.00 %), was 1,000.00";
        assert_eq!(comparison_line(&records, is_worse), line);
        assert_eq!(comparison_line(&records[..1], is_worse), "");
    }

    /// `c` begins "ceilings", and `S` ends "IOPS".
    #[test]
    fn a_title_names_its_sides_at_its_end_only() {
        let of = |what: &str, name: &str| ComparisonRecord {
            title: format!("{what}{name} against a"),
            ..record(vec![row(1, 1000.0, 900.0, None)], ["a", name])
        };
        let titles = |records: &[ComparisonRecord]| -> Vec<String> {
            let sheet = crate::comparison_sheet(records, &[], true);
            let tables = sheet.tables.into_iter().map(|table| table.title);
            tables.filter(|title| title.contains(" against ")).collect()
        };
        for (what, expected) in [
            ("ceilings of ", "Ceilings of each against a: IOPS"),
            ("IOPS of ", "IOPS of each against a"),
        ] {
            let three = ["b", "c", "S"].map(|name| of(what, name));
            assert_eq!(titles(&three), [expected]);
        }
        // Ids are shortened, and a title that does not name them is left alone.
        let ids = ["20261121-201530-k3f9", "20261121-201530-a001"];
        let mut pair = ["answers of b against a", "a"].map(|title| ComparisonRecord {
            title: title.to_owned(),
            ..record(vec![row(1, 1000.0, 900.0, None)], ["a", "b"])
        });
        pair[0].title = format!("answers of {} against {}", ids[1], ids[0]);
        (pair[0].a.name, pair[0].b.name) = (ids[0].to_owned(), ids[1].to_owned());
        assert_eq!(titles(&pair), ["Answers of a001 against k3f9"]);
    }

    fn is_worse(row: &ComparisonRow) -> bool {
        row.verdict == Verdict::Worse
    }

    #[test]
    fn a_line_has_the_estimate_of_the_table_with_its_interval() {
        let worse = row(1, 742.2, 680.0, Some([-8.35, -9.82, -7.22]));
        let records = [record(vec![worse], ["baseline", "now"])];
        let line = "read random 8K 1 thread of 4: 680.00 IOPS (-8.35 %, 95 % interval -9.82 to -7.22 %), \
                    was 742.20";
        assert_eq!(comparison_line(&records, is_worse), line);
        let sheet = crate::sheet_text(&crate::comparison_sheet(&records, &[], false), 100);
        assert!(
            sheet.contains("8.35 % fewer IOPS (95 % interval 7.22 to 9.82 %)"),
            "{sheet}"
        );
    }

    #[test]
    fn terminal_page_markdown_and_picture_have_the_same_numbers() {
        let rows = vec![
            row(1, 742.2, 680.0, Some([-8.35, -9.82, -7.22])),
            row(16, 1_102.88, 1_215.73, None),
        ];
        let records = vec![record(rows, ["baseline", "now"])];
        let sheet = crate::comparison_sheet(&records, &[], false);
        let document = stripewise_results::Document {
            comparisons: records,
            ..stripewise_results::Document::new(Vec::new())
        };
        let material = crate::Material::new("Check".to_owned(), document);
        let picture = &crate::pictures(&material)[0];
        let shown = [
            ("terminal", crate::sheet_text(&sheet, 160)),
            ("page", crate::html(&material)),
            ("Markdown", crate::markdown(&material)),
            (
                "picture",
                crate::svg_picture(
                    picture,
                    &crate::Attribution::default(),
                    &crate::Look::default(),
                ),
            ),
        ];
        let cells = sheet.tables.iter().flat_map(|table| &table.rows).flatten();
        let numbers: Vec<&Cell> = cells.filter(|cell| cell.value.is_some()).collect();
        assert!(numbers.len() >= 7, "{numbers:?}");
        for (what, shown) in &shown {
            // A picture leaves out the column that repeats the estimate.
            let of = |cell: &&&Cell| *what != "picture" || !cell.text.starts_with("10.23");
            for cell in numbers.iter().filter(of) {
                assert!(shown.contains(&cell.text), "{what}: {}", cell.text);
            }
        }
    }

    #[test]
    fn long_names_are_spelt_out_below_the_table() {
        let long = text(record(vec![row(1, 1.0, 2.0, None)], ["a", &"b".repeat(30)]));
        assert!(
            long.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(&format!("A is a, B is {}.", "b".repeat(30))),
            "{long}"
        );
    }

    #[test]
    fn a_printed_difference_is_shown_where_another_comes_out() {
        let mut rows = vec![row(1, 400.45, 589.11, None)];
        rows[0].published_difference_percent = Some(47.11);
        let same = text(record(rows.clone(), ["31.5K", "64K"]));
        assert!(!same.contains("printed"));
        rows[0].published_difference_percent = Some(48.0);
        let other = text(record(rows, ["31.5K", "64K"]));
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
        let far = row(1, 8.0, 682.0, Some([8_424.82, 237.64, 629_127.54]));
        assert_eq!(interval(&far).text, "8,424.82 (237.64..629,127.54)");
        let far = row(1, 8.0, 682.0, None);
        assert_eq!(difference(&far).text, "8,425.00");
    }
}
