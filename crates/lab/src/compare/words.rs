//! What a comparison says to people.

use super::CompareOptions;
use super::cells::Cell;
use super::judge::{How, Judged, is_published};
use stripewise_results::Verdict;
use stripewise_units::{ByteSize, plural};

/// Findings that get a sentence of their own.
const FINDINGS_MAX: usize = 6;

/// Cells that are named; the others are counted.
const NAMED_MAX: usize = 6;

/// Sentences in the order of importance; verdicts were corrected for
/// `judged_together` rows, of this table and of others.
pub(super) fn sentences(
    rows: &[Judged<'_>],
    judged_together: usize,
    options: CompareOptions,
    name_of_b: &str,
) -> Vec<String> {
    let of = |verdicts: &[Verdict]| -> Vec<&Judged<'_>> {
        let wanted = |row: &&Judged<'_>| verdicts.contains(&row.row.verdict);
        rows.iter().filter(wanted).collect()
    };
    let found = of(&[Verdict::Better, Verdict::Worse]);
    let mut sentences: Vec<String> = found
        .iter()
        .take(FINDINGS_MAX)
        .map(|judged| finding(judged, options, name_of_b))
        .collect();
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
            "No difference larger than {} % was found{place}.",
            rounded_up(most)
        ));
    }
    sentences.extend(undecided(rows, judged_together, options));
    sentences
}

/// `B: 12.34 % (9.80 to 14.10 %) more IOPS (random read, 8K, 8 threads of 4): better.`
fn finding(judged: &Judged<'_>, options: CompareOptions, name_of_b: &str) -> String {
    let row = &judged.row;
    let estimate = row.estimate_percent.unwrap_or(row.difference_percent);
    let more = if estimate > 0.0 { "more" } else { "less" };
    let [low, high] = match row.interval_percent {
        Some([low, high]) if estimate > 0.0 => [low, high],
        Some([low, high]) => [-high, -low],
        None => [estimate.abs(), estimate.abs()],
    };
    format!(
        "{name_of_b}: {:.2} % ({low:.2} to {high:.2} %) {more} {} ({}): {}.",
        estimate.abs(),
        options.metric.words(),
        cell_words(judged.a),
        match row.verdict {
            Verdict::Better => "better",
            _ => "worse",
        },
    )
}

/// What cannot be said, and what would be needed to say it.
fn undecided(rows: &[Judged<'_>], judged_together: usize, options: CompareOptions) -> Vec<String> {
    let published = rows
        .iter()
        .filter(|judged| is_published(judged.a) || is_published(judged.b))
        .count();
    let counts: Vec<[usize; 2]> = rows
        .iter()
        .filter(|judged| !(is_published(judged.a) || is_published(judged.b)))
        .filter_map(|judged| match judged.how {
            How::No(counts) => Some(counts),
            _ => None,
        })
        .collect();
    let mut sentences = Vec::new();
    let single = counts.iter().filter(|counts| **counts == [1, 1]).count();
    if published > 0 {
        sentences.push(
            "Of a published table one figure for each cell is known, not how it scattered: nobody \
             can say which of these differences are chance, and none is counted as found."
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
            "One run a side{rows}: nobody can say whether this is chance. Repeat both, six times \
             or more each (--repeat 6); better, interleaved in one experiment."
        ));
    }
    let few = counts.len() - single;
    if few > 0 {
        sentences.push(format!(
            "{few} {} too few repetitions for an interval at {} %.",
            plural(few, "row has", "rows have"),
            options.level * 100.0
        ));
    }
    let close = rows
        .iter()
        .filter(|judged| {
            judged.row.verdict == Verdict::Undecided && judged.row.interval_percent.is_some()
        })
        .count();
    if close > 0 {
        sentences.push(format!(
            "{close} {} an interval without 0, and may be chance all the same among {} rows; \
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
        key.pattern.unwrap_or("unknown pattern"),
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

/// The first few cells by name, the others counted.
pub(super) fn some_cells(cells: &[&Cell<'_>]) -> String {
    let mut named: Vec<String> = Vec::new();
    for cell in cells {
        let words = cell_words(cell);
        if !named.contains(&words) {
            named.push(words);
        }
    }
    let more = named.len().saturating_sub(NAMED_MAX);
    named.truncate(NAMED_MAX);
    let mut text = named.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    if text.is_empty() {
        "nothing".clone_into(&mut text);
    }
    text
}

/// An upper bound stays one: rounded up to one decimal.
pub(super) fn rounded_up(percent: f64) -> String {
    format!("{:.1}", (percent * 10.0).ceil() / 10.0)
}
