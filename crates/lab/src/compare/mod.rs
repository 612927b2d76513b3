//! A against B from records alone: which cells both have, what the repetitions
//! of each say, and what must be known before the difference is believed.
//!
//! A *cell* is an operation, a pattern, a block size, threads and outstanding, as
//! far as both sides know them; several runs of a cell are repetitions. Where the
//! repetitions of both sides are blocks of one experiment they are compared block
//! by block, else as two samples ([`stripewise_stats::compare_samples`]). A single
//! run on each side has a difference and no interval: what scatters *within* a run
//! says nothing about how the next run would differ, so it is never used here.
//!
//! Pure: the same records give the same table. Left out: experiments that stopped
//! by themselves, whose own analysis ([`crate::experiment::analyse_blocks`]) makes
//! up for it.

mod cells;
mod conditions;
mod judge;
mod notes;
mod requirement;
mod words;

#[cfg(test)]
mod tests;

pub use cells::levels_of;
pub use conditions::{Condition, differing_conditions};
pub use requirement::{Requirement, RequirementOutcome};

use crate::experiment::Metric;
use cells::{Cell, cells_of, pairs_of};
use judge::{Judged, judge};
use stripewise_results::{
    ComparisonGroup, ComparisonRecord, ComparisonRow, RunRecord, SideRecord, Verdict,
};

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side {
    /// As it heads its column.
    pub name: String,
    /// Its runs, in the order in which they were made.
    pub runs: Vec<RunRecord>,
}

/// What to compare and how strictly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// The value that is compared.
    pub metric: Metric,
    /// Of each interval by itself, and of all verdicts together (Holm).
    pub level: f64,
    /// The sides are levels of one factor: in what they differ is what is studied,
    /// and no note tells it.
    pub of_levels: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            metric: Metric::Iops,
            level: 0.95,
            of_levels: false,
        }
    }
}

/// Why two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingToCompare {
    /// No cell is on both sides.
    #[error("{a} and {b} have no workload in common: {of_a} against {of_b}")]
    NoSharedCell {
        /// Name of A.
        a: String,
        /// Name of B.
        b: String,
        /// Cells of A.
        of_a: String,
        /// Cells of B.
        of_b: String,
    },
    /// Cells are shared, and the metric is unknown in all of them.
    #[error("{metric} is not known on both sides of {a} and {b}")]
    NoValue {
        /// Name of A.
        a: String,
        /// Name of B.
        b: String,
        /// The metric.
        metric: &'static str,
    },
}

impl NothingToCompare {
    /// The next thing to do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            NothingToCompare::NoSharedCell { .. } => {
                "runs are compared where operation, pattern, block size, threads and outstanding are the same; measure one side again as the other was"
            }
            NothingToCompare::NoValue { .. } => "choose another --metric: iops is in every record",
        }
    }
}

/// Compares B with A.
///
/// # Errors
/// When no cell is on both sides, or none has a value of the metric there.
pub fn compare(
    a: &Side,
    b: &Side,
    options: CompareOptions,
) -> Result<ComparisonRecord, NothingToCompare> {
    let cells_a = cells_of(&a.runs);
    let cells_b = cells_of(&b.runs);
    let matched = pairs_of(&cells_a, &cells_b);
    if matched.pairs.is_empty() {
        return Err(NothingToCompare::NoSharedCell {
            a: a.name.clone(),
            b: b.name.clone(),
            of_a: words::some_cells(&cells_a.iter().collect::<Vec<_>>()),
            of_b: words::some_cells(&cells_b.iter().collect::<Vec<_>>()),
        });
    }
    let rows: Vec<Judged<'_>> = judge(&matched.pairs, options);
    if rows.is_empty() {
        return Err(NothingToCompare::NoValue {
            a: a.name.clone(),
            b: b.name.clone(),
            metric: options.metric.name(),
        });
    }
    let judged: Vec<ComparisonRow> = rows.iter().map(|row| row.row.clone()).collect();
    let mut record = ComparisonRecord {
        title: format!(
            "{} of {} against {}",
            options.metric.words(),
            b.name,
            a.name
        ),
        a: side_record(a, rows.iter().map(|row| row.a)),
        b: side_record(b, rows.iter().map(|row| row.b)),
        level: options.level,
        groups: ComparisonGroup::of_rows(&judged),
        verdict: Verdict::over_all(judged.iter().map(|row| row.verdict)),
        rows: judged,
        sentences: words::sentences(&rows, options, &b.name),
        notes: Vec::new(),
        drift: None,
    };
    record.notes = notes::notes(a, b, &rows, &matched, options);
    Ok(record)
}

/// Whether a comparison found anything: what makes a command end with code 1.
#[must_use]
pub fn found(record: &ComparisonRecord) -> bool {
    matches!(
        record.verdict,
        Verdict::Better | Verdict::Worse | Verdict::Mixed
    )
}

/// The runs that a side's rows rest on, each once.
fn side_record<'a>(side: &Side, cells: impl Iterator<Item = &'a Cell<'a>>) -> SideRecord {
    let mut from: Vec<String> = Vec::new();
    for row in cells.flat_map(|cell| &cell.rows) {
        if !from.contains(&row.run.id) {
            from.push(row.run.id.clone());
        }
    }
    SideRecord {
        name: side.name.clone(),
        from,
    }
}
