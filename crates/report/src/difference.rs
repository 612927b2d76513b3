//! The differences of a comparison in one line, for the top of a report.

use crate::comparison::{load_words, threads_words, two_decimals};
use crate::words::metric_words;
use stripewise_results::{ComparisonRecord, ComparisonRow, Verdict};
use stripewise_units::{counted, distinct};

/// Maximum number of rows in a line.
const ROWS_MAX: usize = 4;

/// How much B differs from A: for a single row with its interval, else the rows that differ,
/// or the range over several; of several subjects, which differ. `None` without a usable result:
/// all rows are void, there are none, or they have several metrics.
pub(crate) fn in_words(records: &[ComparisonRecord]) -> Option<String> {
    if records.iter().any(|one| one.b.name != records[0].b.name) {
        return of_subjects(records);
    }
    let rows = records.iter().flat_map(|record| &record.rows);
    let rows: Vec<&ComparisonRow> = rows.filter(|row| row.void.is_empty()).collect();
    let first = rows.first()?;
    if let [row] = rows.as_slice() {
        return Some(of_one(row, records[0].level_of(row)));
    }
    let is_found = |row: &&&ComparisonRow| matches!(row.verdict, Verdict::Better | Verdict::Worse);
    let found: Vec<&ComparisonRow> = rows.iter().filter(is_found).copied().collect();
    let is_one_metric = rows.iter().all(|row| row.metric == first.metric);
    let is_bound = |row: &&&ComparisonRow| row.bounds_percent.is_some();
    let bounds = rows.iter().filter(is_bound).count();
    match (found.len(), is_one_metric) {
        (1.., _) if found.len() < rows.len() || bounds > 0 => Some(of_found(&found)),
        // A bound is in no range.
        (0, true) if bounds > 0 => {
            let rest: Vec<&ComparisonRow> = rows
                .iter()
                .filter(|row| row.bounds_percent.is_none())
                .copied()
                .collect();
            let left_out = counted(bounds, "row has only bounds", "rows have only bounds");
            Some(match rest.as_slice() {
                [] => left_out,
                [one] => format!("{}; {left_out}", amount(one)),
                rest => format!("{}; {left_out}", of_several(rest, &first.metric)),
            })
        }
        (_, true) => Some(of_several(&rows, &first.metric)),
        _ => None,
    }
}

/// `xfs: 6.24 % fewer IOPS; no difference found: btrfs`: each subject that differs with its largest
/// changes, then the others. `None` if none differs.
fn of_subjects(records: &[ComparisonRecord]) -> Option<String> {
    let (mut parts, mut same, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for name in distinct(records.iter().map(|one| one.b.name.as_str())) {
        let own = || records.iter().filter(move |one| one.b.name == name);
        let rows = own().flat_map(|one| &one.rows);
        let rows: Vec<&ComparisonRow> = rows.filter(|row| row.void.is_empty()).collect();
        let changes = [Verdict::Worse, Verdict::Better].into_iter();
        let changes: Vec<String> = changes
            .filter_map(|verdict| largest(&rows, verdict))
            .collect();
        if !changes.is_empty() {
            parts.push(format!("{name}: {}", changes.join(", ")));
        } else if own().any(|one| one.verdict == Verdict::NoDifference) {
            same.push(name);
        } else {
            open.push(name);
        }
    }
    if parts.is_empty() {
        return None;
    }
    if let Some(more @ 1..) = parts.len().checked_sub(ROWS_MAX) {
        parts.truncate(ROWS_MAX);
        parts.push(counted(more, "more differs", "more differ"));
    }
    for (what, names) in [("no difference found", same), ("undecided", open)] {
        if !names.is_empty() {
            parts.push(format!("{what}: {}", names.join(", ")));
        }
    }
    Some(parts.join("; "))
}

/// The largest change of this verdict: `up to 10.15 % fewer IOPS`.
fn largest(rows: &[&ComparisonRow], verdict: Verdict) -> Option<String> {
    let found = rows.iter().filter(|row| row.verdict == verdict).copied();
    let found: Vec<&ComparisonRow> = found.collect();
    let most = found
        .iter()
        .max_by(|a, b| a.percent().abs().total_cmp(&b.percent().abs()))?;
    let alike = found.iter().filter(|row| row.metric == most.metric).count();
    let words = amount(most);
    Some(match alike > 1 && most.bounds_percent.is_none() {
        true => format!("up to {words}"),
        false => words,
    })
}

/// The difference has an end at least.
pub(crate) fn has_ends(row: &ComparisonRow) -> bool {
    row.interval_percent.is_some() || row.bounds_percent.is_some()
}

/// How many rows came out how, why some are undecided, and the largest change: `7 rows: 3 worse, 3
/// better, 1 undecided (may be chance); largest change: read random 8K 1 thread of 16: 10.15 %
/// fewer IOPS`. `None` for fewer than two rows.
pub(crate) fn in_counts(records: &[ComparisonRecord]) -> Option<String> {
    let all = records
        .iter()
        .flat_map(|record| record.rows.iter().map(move |row| (record, row)));
    let all: Vec<(&ComparisonRecord, &ComparisonRow)> = all.collect();
    // Beside rows that can be judged, single values only show that they differ.
    let can_be_judged = all.iter().any(|(_, row)| has_ends(row));
    let is_counted = |row: &ComparisonRow| !can_be_judged || has_ends(row) || !row.void.is_empty();
    let (void, rows): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|(_, row)| is_counted(row))
        .partition(|(_, row)| !row.void.is_empty());
    let count = void.len() + rows.len();
    if count < 2 {
        return None;
    }
    let of = |verdict: Verdict| {
        rows.iter()
            .filter(|(_, row)| row.verdict == verdict)
            .count()
    };
    let why = distinct(rows.iter().filter_map(|(_, row)| row.undecided_because()));
    let undecided = match why.is_empty() {
        true => "undecided".to_owned(),
        false => format!("undecided ({})", why.join(", ")),
    };
    let counts = [
        (of(Verdict::Worse), "worse"),
        (of(Verdict::Better), "better"),
        (of(Verdict::Mixed), "mixed"),
        (of(Verdict::NoDifference), "without a difference"),
        (of(Verdict::Undecided), undecided.as_str()),
        (void.len(), "void"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let counts = format!("{}: {}", counted(count, "row", "rows"), counts.join(", "));
    let is_found = |row: &ComparisonRow| matches!(row.verdict, Verdict::Better | Verdict::Worse);
    let has_found = rows.iter().any(|(_, row)| is_found(row));
    let largest = rows
        .iter()
        .filter(|(_, row)| !row.is_open() && (!has_found || is_found(row)))
        .max_by(|(_, a), (_, b)| a.percent().abs().total_cmp(&b.percent().abs()));
    let Some((record, row)) = largest else {
        return Some(counts);
    };
    let has_one_subject = records.iter().all(|one| one.b.name == record.b.name);
    let of = match has_one_subject {
        true => String::new(),
        false => format!(" of {}", record.b.name),
    };
    let change = format!("largest change{of}: {}: {}", load_words(row), amount(row));
    Some(format!("{counts}; {change}"))
}

/// `10.15 % fewer IOPS`; where an answer is a bound, what is certain: `at least 10.15 % fewer IOPS`.
fn amount(row: &ComparisonRow) -> String {
    let of = |percent: f64| {
        let number = two_decimals(percent.abs());
        format!("{number} % {}", direction(&row.metric, percent))
    };
    match row.bounds_percent {
        None => of(row.percent()),
        Some(_) if !row.is_open() => format!("at least {}", of(row.percent())),
        Some([None, None]) => format!(
            "any difference of {} is possible",
            metric_words(&row.metric)
        ),
        Some(ends) => {
            let ends = ends.into_iter().flatten();
            let ends: Vec<String> = ends.map(|end| format!("at most {}", of(end))).collect();
            ends.join(", ")
        }
    }
}

/// `random read: 10.15 % fewer IOPS; random write: 9.27 % fewer IOPS`.
fn of_found(found: &[&ComparisonRow]) -> String {
    let one = |row: &&ComparisonRow| {
        let load = threads_words(row);
        let load = format!("{} {} {load}", row.pattern, row.operation);
        format!("{}: {}", load.trim_end(), amount(row))
    };
    let mut parts: Vec<String> = found.iter().take(ROWS_MAX).map(one).collect();
    if let Some(more @ 1..) = found.len().checked_sub(ROWS_MAX) {
        parts.push(counted(more, "more row", "more rows"));
    }
    parts.join("; ")
}

fn of_one(row: &ComparisonRow, level: f64) -> String {
    let percent = row.percent();
    let interval = match row.interval_percent {
        Some([low, high]) => {
            let (sign, [low, high]) = if percent < 0.0 {
                (-1.0, [-high, -low])
            } else {
                (1.0, [low, high])
            };
            let why = match row.undecided_because() {
                Some(why) => format!("; {why}"),
                None => String::new(),
            };
            // With 0 in between, the two ends are of different words.
            let ends = match low < 0.0 && high > 0.0 {
                true => format!(
                    "{:.2} % {} to {high:.2} % {}",
                    -low,
                    word(&row.metric, -sign),
                    word(&row.metric, sign)
                ),
                false => format!("{low:.2} to {high:.2} %"),
            };
            format!("{:.0} % interval {ends}{why}", level * 100.0)
        }
        None if row.bounds_percent.is_some() => "no interval: an answer is a bound".to_owned(),
        None => "no interval: too few runs".to_owned(),
    };
    format!("{} ({interval})", amount(row))
}

/// `2.10 to 47.11 % more IOPS in all 36 rows`.
fn of_several(rows: &[&ComparisonRow], metric: &str) -> String {
    let all = rows.iter().map(|row| row.percent());
    let low = all.clone().fold(f64::INFINITY, f64::min);
    let high = all.clone().fold(f64::NEG_INFINITY, f64::max);
    let counted = counted(rows.len(), "row", "rows");
    if low > 0.0 || high < 0.0 {
        let [least, most] = [low.abs().min(high.abs()), low.abs().max(high.abs())];
        let direction = direction(metric, low);
        return format!("{least:.2} to {most:.2} % {direction} in all {counted}");
    }
    if low == 0.0 && high == 0.0 {
        return format!("the same {} in all {counted}", metric_words(metric));
    }
    let above = all.filter(|percent| *percent > 0.0).count();
    format!(
        "{} from {low:+.2} to {high:+.2} %; {above} of {counted} above 0",
        metric_words(metric)
    )
}

/// `more IOPS`, `lower p99 latency`.
fn direction(metric: &str, percent: f64) -> String {
    format!("{} {}", word(metric, percent), metric_words(metric))
}

fn word(metric: &str, percent: f64) -> &'static str {
    match (metric.starts_with("latency_ns"), percent < 0.0) {
        (true, true) => "lower",
        (true, false) => "higher",
        (false, true) if metric == "iops" => "fewer",
        (false, true) => "less",
        (false, false) => "more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::SideRecord;

    fn row(metric: &str, percent: f64, interval: Option<[f64; 2]>) -> ComparisonRow {
        ComparisonRow {
            operation: "read".to_owned(),
            pattern: "random".to_owned(),
            block_size_bytes: None,
            threads: None,
            outstanding: None,
            metric: metric.to_owned(),
            a: 100.0,
            b: 100.0 + percent,
            difference_percent: percent,
            bounds_percent: None,
            estimate_percent: interval.map(|_| percent),
            interval_percent: interval,
            level: None,
            p_value: None,
            blocks: 1,
            verdict: Verdict::Undecided,
            difference_percent_max: None,
            published_difference_percent: None,
            void: Vec::new(),
            sentence: None,
            answers: None,
        }
    }

    fn record(rows: Vec<ComparisonRow>) -> ComparisonRecord {
        let side = |name: &str| SideRecord {
            name: name.to_owned(),
            from: Vec::new(),
        };
        ComparisonRecord {
            title: String::new(),
            a: side("A"),
            b: side("B"),
            level: 0.95,
            rows,
            groups: Vec::new(),
            verdict: Verdict::Undecided,
            sentences: Vec::new(),
            notes: Vec::new(),
            drift: None,
        }
    }

    fn difference_text(rows: Vec<ComparisonRow>) -> Option<String> {
        in_words(&[record(rows)])
    }

    #[test]
    fn a_line_has_the_counts_of_verdicts_and_the_largest_change() {
        let judged = |percent: f64, verdict: Verdict| ComparisonRow {
            verdict,
            ..row("iops", percent, Some([percent - 1.0, percent + 1.0]))
        };
        let void = ComparisonRow {
            void: vec!["B: errors".to_owned()],
            ..judged(-99.0, Verdict::Worse)
        };
        let rows = vec![
            judged(12.0, Verdict::Better),
            judged(-40.0, Verdict::Worse),
            // What was found comes before what may be chance, and a single value beside them is no row.
            judged(-90.0, Verdict::Undecided),
            row("iops", 900.0, None),
            void,
        ];
        let line = in_counts(&[record(rows)]);
        let words = "4 rows: 1 worse, 1 better, 1 undecided (may be chance), 1 void; largest change: read \
                     random: 40.00 % fewer IOPS";
        assert_eq!(line.as_deref(), Some(words));
        // A single row is the answer.
        assert_eq!(in_counts(&[record(vec![row("iops", 1.0, None)])]), None);
    }

    #[test]
    fn of_several_subjects_those_that_differ_are_named_first() {
        let of = |name: &str, changes: &[(f64, Verdict)]| {
            let rows = changes.iter().map(|&(percent, verdict)| ComparisonRow {
                verdict,
                ..row("iops", percent, Some([percent - 1.0, percent + 1.0]))
            });
            let mut one = record(rows.collect());
            one.b.name = name.to_owned();
            one.verdict = Verdict::over_all(one.rows.iter().map(|row| row.verdict));
            one
        };
        let (worse, better) = (Verdict::Worse, Verdict::Better);
        let same = of("against", &[(0.1, Verdict::NoDifference)]);
        let words = in_words(&[of("S", &[(-6.24, worse)]), same.clone()]);
        let expected = "S: 6.24 % fewer IOPS; no difference found: against";
        assert_eq!(words.as_deref(), Some(expected));
        let words = in_words(&[
            of("b", &[(-9.27, worse), (-10.15, worse)]),
            of("d", &[(3.0, Verdict::Undecided)]),
            of("c", &[(58.89, better), (-2.5, worse), (34.86, better)]),
        ]);
        let expected = "b: up to 10.15 % fewer IOPS; c: 2.50 % fewer IOPS, up to 58.89 % more IOPS; \
                        undecided: d";
        assert_eq!(words.as_deref(), Some(expected));
        let open = of("d", &[(3.0, Verdict::Undecided)]);
        assert_eq!(in_words(&[same, open]), None);
    }

    #[test]
    fn a_difference_is_said_with_its_interval_or_its_range() {
        let iops = |percent| row("iops", percent, None);
        for (rows, words) in [
            (
                vec![row("iops", -9.64, Some([-11.27, -8.7]))],
                "9.64 % fewer IOPS (95 % interval 8.70 to 11.27 %; may be chance)",
            ),
            (
                vec![row("iops", -2.44, Some([-25.93, 29.48]))],
                "2.44 % fewer IOPS (95 % interval 29.48 % more to 25.93 % fewer; interval too wide)",
            ),
            (
                vec![row("latency_ns_p99", 40.0, None)],
                "40.00 % higher p99 latency (no interval: too few runs)",
            ),
            (
                vec![iops(2.1), iops(47.11), iops(16.5)],
                "2.10 to 47.11 % more IOPS in all 3 rows",
            ),
            (
                vec![iops(-47.1), iops(-2.0)],
                "2.00 to 47.10 % fewer IOPS in all 2 rows",
            ),
            (
                vec![iops(-3.2), iops(0.0), iops(12.0)],
                "IOPS from -3.20 to +12.00 %; 1 of 3 rows above 0",
            ),
            (vec![iops(0.0), iops(0.0)], "the same IOPS in all 2 rows"),
        ] {
            assert_eq!(difference_text(rows).as_deref(), Some(words));
        }
    }

    #[test]
    fn an_estimate_without_an_interval_is_in_no_table_and_so_in_no_line() {
        let few = |percent: f64| ComparisonRow {
            bounds_percent: None,
            estimate_percent: Some(percent + 1.0),
            ..row("iops", percent, None)
        };
        let words = "10.00 % more IOPS (no interval: too few runs)";
        assert_eq!(difference_text(vec![few(10.0)]).as_deref(), Some(words));
        let words = "10.00 to 12.00 % more IOPS in all 2 rows";
        assert_eq!(
            difference_text(vec![few(10.0), few(12.0)]).as_deref(),
            Some(words)
        );
    }

    /// The headline has the number of the sentence and of the column: what is certain.
    #[test]
    fn of_a_bound_what_is_certain_is_said() {
        let bound = |bounds: [Option<f64>; 2], verdict: Verdict| {
            let certain = bounds.into_iter().flatten().next().unwrap_or(12.0);
            ComparisonRow {
                bounds_percent: Some(bounds),
                verdict,
                ..row("iops", certain, None)
            }
        };
        let better = || bound([Some(718.18), None], Verdict::Better);
        let open = || bound([None, None], Verdict::Undecided);
        for (rows, words) in [
            (
                vec![better()],
                "at least 718.18 % more IOPS (no interval: an answer is a bound)",
            ),
            (
                vec![bound([None, Some(-87.78)], Verdict::Worse)],
                "at least 87.78 % fewer IOPS (no interval: an answer is a bound)",
            ),
            (
                vec![bound([None, Some(5.56)], Verdict::Undecided)],
                "at most 5.56 % more IOPS (no interval: an answer is a bound)",
            ),
            (
                vec![better(), row("iops", 3.0, Some([-1.0, 7.0]))],
                "random read: at least 718.18 % more IOPS",
            ),
            (
                vec![open(), row("iops", 3.0, None), row("iops", 4.0, None)],
                "3.00 to 4.00 % more IOPS in all 2 rows; 1 row has only bounds",
            ),
            (vec![open(), open()], "2 rows have only bounds"),
        ] {
            assert_eq!(difference_text(rows).as_deref(), Some(words));
        }
    }

    #[test]
    fn void_rows_give_no_number() {
        let void = ComparisonRow {
            void: vec!["zero-data".to_owned()],
            ..row("iops", 900.0, None)
        };
        assert_eq!(difference_text(vec![void.clone()]), None);
        let both = difference_text(vec![void, row("iops", 1.0, None)]).unwrap();
        assert!(both.starts_with("1.00 %"), "{both}");
    }
}
