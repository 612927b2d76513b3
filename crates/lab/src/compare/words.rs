//! The sentences of a comparison.

use super::CompareOptions;
use super::cells::Cell;
use super::judge::{IntervalMethod, JudgedRow, is_published, is_useful};
use stripewise_results::Verdict;
use stripewise_stats::repetitions_needed;
use stripewise_units::{ByteSize, distinct, plural};

/// Findings that get a sentence of their own.
const FINDINGS_MAX: usize = 6;

/// Maximum number of cells named; the others are counted.
const NAMED_MAX: usize = 6;

/// Sentences in order of importance; verdicts were corrected for
/// `judged_together` rows of this table and others.
pub(super) fn sentences(
    rows: &[JudgedRow<'_>],
    judged_together: usize,
    options: CompareOptions,
    name_of_b: &str,
) -> Vec<String> {
    let of = |verdicts: &[Verdict]| -> Vec<&JudgedRow<'_>> {
        let wanted = |row: &&JudgedRow<'_>| verdicts.contains(&row.row.verdict);
        rows.iter().filter(wanted).collect()
    };
    let found = of(&[Verdict::Better, Verdict::Worse]);
    let shown = found.iter().take(FINDINGS_MAX);
    let shown = shown.filter_map(|judged| of_row(judged, options, name_of_b));
    let mut sentences: Vec<String> = shown.collect();
    if found.len() > FINDINGS_MAX {
        let more = found.len() - FINDINGS_MAX;
        let rows = plural(more, "more row differs", "more rows differ");
        sentences.push(format!("{more} {rows}; the table says how."));
    }
    let none = of(&[Verdict::NoDifference]);
    let most = none
        .iter()
        .filter_map(|judged| judged.row.difference_percent_max)
        .fold(0.0, f64::max);
    if !none.is_empty() {
        let place = match (none.len(), rows.len()) {
            (1, 1) => String::new(),
            (n, all) if n == all => format!(" in any of {all} rows"),
            (n, _) => format!(" in {n} {}", plural(n, "row", "other rows")),
        };
        sentences.push(format!(
            "{name_of_b}: no difference in {} larger than {} % was found{place}.",
            options.metric.words(),
            rounded_up(most)
        ));
    }
    sentences.extend(undecided(rows, judged_together, options));
    sentences
}

/// `B: 12.34 % (9.80 to 14.10 %) more IOPS (random read, 8K, 8 threads of 4): better.`
/// `None` for a row that is neither better nor worse.
pub(super) fn of_row(
    judged: &JudgedRow<'_>,
    options: CompareOptions,
    name_of_b: &str,
) -> Option<String> {
    let row = &judged.row;
    if !matches!(row.verdict, Verdict::Better | Verdict::Worse) {
        return None;
    }
    let estimate = row.percent();
    let more = more_or_less(options, estimate);
    let [low, high] = match row.interval_percent {
        Some([low, high]) if estimate > 0.0 => [low, high],
        Some([low, high]) => [-high, -low],
        None => [estimate.abs(), estimate.abs()],
    };
    Some(format!(
        "{name_of_b}: {:.2} % ({low:.2} to {high:.2} %) {more} {} ({}): {}.",
        estimate.abs(),
        options.metric.words(),
        cell_words(judged.a),
        match row.verdict {
            Verdict::Better => "better",
            _ => "worse",
        },
    ))
}

/// `more IOPS`, `fewer IOPS`; a latency is higher or lower.
fn more_or_less(options: CompareOptions, estimate: f64) -> &'static str {
    match (options.metric.latency_name(), estimate > 0.0) {
        (None, true) => "more",
        (None, false) => "fewer",
        (Some(_), true) => "higher",
        (Some(_), false) => "lower",
    }
}

/// Rows from which no conclusion may be drawn, whatever their values.
fn set_aside(rows: &[JudgedRow<'_>]) -> Vec<String> {
    let of = |how: IntervalMethod| rows.iter().filter(move |judged| judged.how == how);
    let mut sentences = Vec::new();
    let same = of(IntervalMethod::Same).count();
    if same > 0 {
        sentences.push(match same == rows.len() {
            true => "Both sides hold the same runs: there is nothing to compare.".to_owned(),
            false => format!(
                "{same} {} a run that is on both sides: nothing follows from {}.",
                plural(same, "row has", "rows have"),
                plural(same, "it", "them"),
            ),
        });
    }
    let void = of(IntervalMethod::Void).count();
    if void > 0 {
        let codes = of(IntervalMethod::Void).flat_map(|judged| &judged.row.void);
        let codes = distinct(codes.map(String::as_str));
        let of_all = match void == rows.len() {
            true => format!("the numbers of {}", plural(void, "this row", "all rows")),
            false => format!("the numbers of {void} of {} rows", rows.len()),
        };
        sentences.push(format!(
            "VOID ({}): {of_all} are not the disk's, so nothing follows from them.",
            codes.join(", ")
        ));
    }
    sentences
}

/// The difference that the suggested repetitions would show.
const WANTED_PERCENT: f64 = 10.0;

/// Do not suggest more repetitions than this: the runs differ too much.
const REPETITIONS_MAX: f64 = 100.0;

/// Rows whose intervals hold 0 and almost everything else.
fn too_wide(rows: &[JudgedRow<'_>], level: f64) -> Option<String> {
    let needed: Vec<f64> = rows
        .iter()
        .filter(|judged| judged.row.verdict == Verdict::Undecided)
        .filter_map(|judged| {
            let interval = judged.row.interval_percent?;
            let holds_0 = interval[0] <= 0.0 && 0.0 <= interval[1];
            let counts = [judged.a.rows.len(), judged.b.rows.len()];
            (holds_0 && !is_useful(interval))
                .then(|| repetitions_needed(counts, interval, level, WANTED_PERCENT).max(6.0))
        })
        .collect();
    let most = needed.iter().copied().fold(0.0, f64::max);
    if needed.is_empty() {
        return None;
    }
    let place = match needed.len() == rows.len() {
        true => String::new(),
        false => format!(
            " in {} {}",
            needed.len(),
            plural(needed.len(), "row", "rows")
        ),
    };
    let advice = if most <= REPETITIONS_MAX {
        format!("About {most:.0} on each side would show a difference of {WANTED_PERCENT} %.")
    } else {
        format!(
            "More than {REPETITIONS_MAX} on each side would be needed to show a difference of \
             {WANTED_PERCENT} %: find out first why the runs differ so much."
        )
    };
    Some(format!(
        "Not enough repetitions to tell{place}: from half to twice as much would look the same. \
         {advice}"
    ))
}

/// What is undecided, and what it would take to decide it.
fn undecided(
    rows: &[JudgedRow<'_>],
    judged_together: usize,
    options: CompareOptions,
) -> Vec<String> {
    let published = rows
        .iter()
        .filter(|judged| is_published(judged.a) || is_published(judged.b))
        .count();
    let counts: Vec<[usize; 2]> = rows
        .iter()
        .filter(|judged| !(is_published(judged.a) || is_published(judged.b)))
        .filter_map(|judged| match judged.how {
            IntervalMethod::No(counts) => Some(counts),
            _ => None,
        })
        .collect();
    let mut sentences = set_aside(rows);
    let single = counts.iter().filter(|counts| **counts == [1, 1]).count();
    if published > 0 {
        sentences.push(
            "A published table has one figure per cell and no spread: any of these differences may be chance, and none counts as found."
                .to_owned(),
        );
    }
    if single > 0 {
        let rows = if single == rows.len() {
            String::new()
        } else {
            format!(" in {single} {}", plural(single, "row", "rows"))
        };
        sentences.push(format!(
            "One run on each side{rows}: this may be chance. Repeat both, six times \
             or more each (--repeat 6); better, interleaved in one experiment."
        ));
    }
    let few = counts.len() - single;
    if few > 0 {
        sentences.push(format!(
            "{few} {} too few repetitions for an interval at {} %; six or more on each side give one.",
            plural(few, "row has", "rows have"),
            options.level * 100.0
        ));
    }
    sentences.extend(too_wide(rows, options.level));
    let close = rows
        .iter()
        .filter(|judged| {
            let interval = judged.row.interval_percent;
            judged.row.verdict == Verdict::Undecided
                && interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
        })
        .count();
    if close > 0 {
        sentences.push(format!(
            "{close} {} an interval without 0, but may still be chance among {} rows; \
             more repetitions would tell.",
            plural(close, "row has", "rows have"),
            judged_together
        ));
    }
    sentences
}

/// `random read, 8K, 8 threads of 4`.
pub(super) fn cell_words(cell: &Cell<'_>) -> String {
    let key = &cell.key;
    let mut words = format!(
        "{} {}",
        cell.pattern().unwrap_or("unknown pattern"),
        key.operation.as_deref().unwrap_or("I/O")
    );
    if let Some(bytes) = key.block_size_bytes {
        words.push_str(&format!(", {}", ByteSize(bytes)));
    }
    match (key.threads, key.outstanding) {
        (Some(threads), Some(outstanding)) => words.push_str(&format!(
            ", {threads} {} of {outstanding}",
            plural(threads as usize, "thread", "threads")
        )),
        (Some(threads), None) => words.push_str(&format!(
            ", {threads} {}",
            plural(threads as usize, "thread", "threads")
        )),
        (None, Some(outstanding)) => words.push_str(&format!(", {outstanding} outstanding")),
        (None, None) => {}
    }
    if let Some(company) = &key.company {
        words.push_str(&format!(" (job {company})"));
    }
    words
}

/// Names the first few cells and counts the others.
pub(super) fn cell_list(cells: &[&Cell<'_>]) -> String {
    let mut named: Vec<(String, usize)> = Vec::new();
    for cell in cells {
        let words = cell_words(cell);
        match named.iter_mut().find(|(known, _)| *known == words) {
            Some((_, alike)) => *alike += 1,
            None => named.push((words, 1)),
        }
    }
    let rest = named.split_off(named.len().min(NAMED_MAX));
    let more: usize = rest.iter().map(|(_, alike)| alike).sum();
    let named = named.into_iter().map(|(words, alike)| match alike {
        1 => words,
        // They differ in something that is not named.
        alike => format!("{words} ({alike} of them)"),
    });
    let mut text = named.collect::<Vec<_>>().join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    if text.is_empty() {
        "nothing".clone_into(&mut text);
    }
    text
}

/// Rounded up to one decimal, so that it remains an upper bound.
pub(super) fn rounded_up(percent: f64) -> String {
    format!("{:.1}", (percent * 10.0).ceil() / 10.0)
}
