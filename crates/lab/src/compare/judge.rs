//! Rows with their intervals, and a verdict for each: Holm over all rows.

use super::CompareOptions;
use super::cells::Cell;
use crate::experiment::Metric;
use std::collections::HashSet;
use stripewise_results::{ComparisonRow, JobRow, Verdict};
use stripewise_stats::{
    Comparison, Estimate, Pair, SamplesMethod, compare_blocks, compare_samples, difference_percent,
    holm, median,
};

/// A row and the cells that it is based on.
pub(super) struct JudgedRow<'a> {
    pub row: ComparisonRow,
    pub a: &'a Cell<'a>,
    pub b: &'a Cell<'a>,
    pub how: IntervalMethod,
    /// Differences up to this percentage are below the resolution of the runs.
    resolution_percent: f64,
}

impl JudgedRow<'_> {
    /// No conclusion may be drawn from it, whatever its values.
    pub(super) fn is_set_aside(&self) -> bool {
        matches!(self.how, IntervalMethod::Void | IntervalMethod::Same)
    }
}

/// The pattern both sides name, or else the one that either knows.
fn pattern_of(a: &Cell<'_>, b: &Cell<'_>) -> Option<&'static str> {
    match a.pattern() == b.pattern() {
        true => a.pattern(),
        false => a.key.pattern.or(b.key.pattern),
    }
}

/// How a row's interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalMethod {
    /// Block by block.
    Blocks,
    /// As two samples of this many values.
    Samples(SamplesMethod),
    /// None: too few repetitions; their number on each side.
    No([usize; 2]),
    /// None: warnings void runs of it.
    Void,
    /// None: a run is on both sides.
    Same,
}

/// An interval that extends beyond a factor of two either way, in per cent, says
/// nothing: the row has too few repetitions.
const USEFUL_PERCENT: [f64; 2] = [-50.0, 100.0];

/// What is printed as 0.00 % is never claimed as a difference, however certain:
/// simulated arrays repeat exactly.
const CLAIMED_PERCENT_MIN: f64 = 0.005;

/// An interval that holds 0 and is narrow enough to be informative.
pub(super) fn is_useful([low, high]: [f64; 2]) -> bool {
    low >= USEFUL_PERCENT[0] && high <= USEFUL_PERCENT[1]
}

/// Relative width of a bin of the latency histogram: 512 bins an octave.
const LATENCY_BIN: f64 = 1.0 / 512.0;

/// Repetitions that are exactly equal are one run repeated: nothing in them is
/// random, as in a stream on a simulated array. Smaller differences then come from the
/// runs' length and starting point, which all of a side share.
const EQUAL_PERCENT: f64 = 0.1;

/// What the repetitions of a row show.
struct RowFinding {
    estimate: Option<f64>,
    interval: Option<Estimate>,
    p_value: Option<f64>,
    blocks: u32,
    how: IntervalMethod,
}

/// The rows that have a value on both sides, still without verdicts.
pub(super) fn rows_of<'a>(
    pairs: &[(&'a Cell<'a>, &'a Cell<'a>)],
    options: CompareOptions,
) -> Vec<JudgedRow<'a>> {
    let rows = pairs.iter();
    rows.filter_map(|&(a, b)| row(a, b, options)).collect()
}

/// Verdicts of all rows of all tables at once: 1 - level bounds
/// the odds of any false finding among them. Returns the number of rows with a test.
pub(super) fn correct(rows: Vec<(&mut JudgedRow<'_>, CompareOptions)>) -> usize {
    let mut tested: Vec<(&mut JudgedRow<'_>, CompareOptions)> = rows
        .into_iter()
        .filter(|(judged, _)| judged.row.p_value.is_some())
        .collect();
    let p_values = tested.iter().filter_map(|(judged, _)| judged.row.p_value);
    let p_values: Vec<f64> = p_values.collect();
    for ((judged, options), adjusted) in tested.iter_mut().zip(holm(&p_values)) {
        judged.row.verdict = verdict(judged, adjusted, *options);
    }
    p_values.len()
}

/// `NoDifference` only if the interval holds 0 and is narrow enough to exclude
/// something. A row whose own interval excludes 0 but which Holm's correction
/// does not reject stays undecided, as does one that excludes nothing.
fn verdict(judged: &JudgedRow<'_>, adjusted: f64, options: CompareOptions) -> Verdict {
    let row = &judged.row;
    let estimate = row.estimate_percent.unwrap_or(row.difference_percent);
    let claimed_min = CLAIMED_PERCENT_MIN.max(judged.resolution_percent);
    if adjusted <= 1.0 - options.level && estimate.abs() >= claimed_min {
        return if (estimate > 0.0) == options.metric.more_is_better() {
            Verdict::Better
        } else {
            Verdict::Worse
        };
    }
    match row.interval_percent {
        Some([low, high]) if low.abs().max(high.abs()) < CLAIMED_PERCENT_MIN => {
            Verdict::NoDifference
        }
        Some(interval @ [low, high]) if low <= 0.0 && 0.0 <= high && is_useful(interval) => {
            Verdict::NoDifference
        }
        _ => Verdict::Undecided,
    }
}

fn row<'a>(a: &'a Cell<'a>, b: &'a Cell<'a>, options: CompareOptions) -> Option<JudgedRow<'a>> {
    let values = |cell: &Cell<'_>| -> Vec<f64> {
        let of = |row: &JobRow<'_>| cell.value(row, options.metric);
        let known = cell.rows.iter().filter_map(of);
        known.filter(|value| value.is_finite()).collect()
    };
    let (values_a, values_b) = (values(a), values(b));
    let mut void = [a.void_codes(), b.void_codes()].concat();
    void.sort_unstable();
    void.dedup();
    let of_b: HashSet<u128> = b.rows.iter().map(|row| row.run.identity()).collect();
    let same = |row: &JobRow<'_>| of_b.contains(&row.run.identity());
    let found = if a.rows.iter().any(same) {
        set_aside(&values_a, &values_b, IntervalMethod::Same)
    } else if !void.is_empty() && !options.void_counts {
        set_aside(&values_a, &values_b, IntervalMethod::Void)
    } else if is_published(a) || is_published(b) {
        unrepeated(&values_a, &values_b)
    } else {
        by_blocks(a, b, options).or_else(|| samples(&values_a, &values_b, options))?
    };
    let resolution_percent = 100.0 * (resolution(a, options) + resolution(b, options));
    let resolution_percent = match is_equal(&values_a) && is_equal(&values_b) {
        true => resolution_percent.max(EQUAL_PERCENT),
        false => resolution_percent,
    };
    let found = found.no_finer_than(resolution_percent);
    let (middle_a, middle_b) = (median(&values_a)?, median(&values_b)?);
    let both = |mine: Option<u32>, other: Option<u32>| mine.filter(|_| mine == other);
    let block = a.key.block_size_bytes;
    let row = ComparisonRow {
        operation: a
            .key
            .operation
            .clone()
            .or_else(|| b.key.operation.clone())?,
        pattern: pattern_of(a, b)?.to_owned(),
        block_size_bytes: block.filter(|_| block == b.key.block_size_bytes),
        threads: both(a.key.threads, b.key.threads),
        // If one side does not know its threads, its outstanding is the total,
        // and the two were matched by that number.
        outstanding: match (a.key.threads, b.key.threads) {
            (None, _) => a.key.outstanding,
            (_, None) => b.key.outstanding,
            _ => both(a.key.outstanding, b.key.outstanding),
        },
        metric: options.metric.name().to_owned(),
        a: middle_a,
        b: middle_b,
        difference_percent: difference_percent(middle_a, middle_b)?,
        estimate_percent: found.estimate,
        interval_percent: found.interval.map(|interval| [interval.low, interval.high]),
        p_value: found.p_value,
        blocks: found.blocks,
        difference_percent_max: found
            .interval
            .map(|interval| interval.low.abs().max(interval.high.abs())),
        void: void.into_iter().map(str::to_owned).collect(),
        ..ComparisonRow::default()
    };
    Some(JudgedRow {
        row,
        a,
        b,
        how: found.how,
        resolution_percent,
    })
}

/// Relative resolution of a cell's value. A rate counts whole operations, and where a run
/// begins and ends decides about one of them; the same goes for a mean. Any other latency has
/// the resolution of its histogram bin. 0 if the source does not give the number of operations.
pub(super) fn resolution(cell: &Cell<'_>, options: CompareOptions) -> f64 {
    let is_binned = options.metric.latency_name().is_some();
    if is_binned && options.metric != Metric::LatencyMean {
        return LATENCY_BIN;
    }
    let operations = cell.rows.iter().filter_map(JobRow::operations);
    let fewest = operations.filter(|count| *count > 0).min();
    fewest.map_or(0.0, |count| 1.0 / count as f64)
}

/// Several identical values.
fn is_equal(values: &[f64]) -> bool {
    let same = |pair: &[f64]| (pair[0] - pair[1]).abs() <= 1e-9 * pair[0].abs();
    values.len() > 1 && values.windows(2).all(same)
}

impl RowFinding {
    /// Widens the interval to at least this distance from the estimate. Repetitions on
    /// simulated arrays may be exactly equal, and then their scatter does not show
    /// what another starting point would have given. B / A is known to
    /// within this percentage of itself: no rate is more than 100 % lower than another.
    fn no_finer_than(mut self, percent: f64) -> RowFinding {
        if let Some(interval) = &mut self.interval {
            let reach = percent * (1.0 + interval.value / 100.0);
            interval.low = interval.low.min(interval.value - reach);
            interval.high = interval.high.max(interval.value + reach);
        }
        self
    }
}

/// Block by block, if both cells are of one experiment and share blocks.
fn by_blocks(a: &Cell<'_>, b: &Cell<'_>, options: CompareOptions) -> Option<RowFinding> {
    let mut pairs = Vec::new();
    for row in &a.rows {
        let place = row.run.experiment.as_ref()?;
        let partner = b.rows.iter().find(|other| {
            let there = other.run.experiment.as_ref();
            there.is_some_and(|there| {
                there.experiment == place.experiment && there.block == place.block
            })
        });
        if let Some(partner) = partner
            && let (Some(a), Some(b)) = (
                a.value(row, options.metric),
                b.value(partner, options.metric),
            )
        {
            pairs.push(Pair { a, b });
        }
    }
    let Comparison {
        blocks,
        difference_percent,
        interval_percent,
        p_value,
    } = compare_blocks(&pairs, options.level)?;
    Some(RowFinding {
        estimate: (blocks > 1).then_some(difference_percent),
        interval: interval_percent,
        // With too few blocks, no test can reach the level: there is no verdict.
        p_value: interval_percent.map(|_| p_value),
        blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
        how: match interval_percent {
            Some(_) => IntervalMethod::Blocks,
            None => IntervalMethod::No([blocks, blocks]),
        },
    })
}

/// A difference without an interval.
fn unrepeated(a: &[f64], b: &[f64]) -> RowFinding {
    RowFinding {
        estimate: None,
        interval: None,
        p_value: None,
        blocks: u32::try_from(a.len().min(b.len())).unwrap_or(u32::MAX),
        how: IntervalMethod::No([a.len(), b.len()]),
    }
}

/// A difference from which no conclusion may be drawn.
fn set_aside(a: &[f64], b: &[f64], how: IntervalMethod) -> RowFinding {
    RowFinding {
        how,
        ..unrepeated(a, b)
    }
}

/// A published figure: the scatter of its authors' runs is not known, and no measurement of
/// Stripewise can replace it.
pub(super) fn is_published(cell: &Cell<'_>) -> bool {
    cell.rows.iter().all(|row| {
        let imported = row.run.imported.as_ref();
        imported.is_some_and(|imported| imported.tool == "dataset")
    })
}

/// As two samples. There is no interval if a value is 0, which has no logarithm.
fn samples(a: &[f64], b: &[f64], options: CompareOptions) -> Option<RowFinding> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let counts = [a.len(), b.len()];
    let none = unrepeated(a, b);
    let Some(found) = compare_samples(a, b, options.level) else {
        return Some(none);
    };
    Some(RowFinding {
        estimate: (counts != [1, 1]).then_some(found.difference_percent),
        interval: found.interval_percent,
        p_value: found.p_value,
        how: found
            .method
            .map_or(IntervalMethod::No(counts), IntervalMethod::Samples),
        ..none
    })
}
