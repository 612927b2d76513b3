//! Compares A with B from records alone: which cells both have, what the repetitions
//! of each show, and what to know before believing the difference.
//!
//! A *cell* is an operation, a pattern, a block size, threads and outstanding, as
//! far as both sides know them; several runs of a cell are repetitions. If the
//! repetitions of both sides are blocks of one experiment, they are compared block
//! by block, else as two samples ([`stripewise_stats::compare_samples`]). A single
//! run on each side gives a difference and no interval: scatter *within* a run does
//! not predict how the next run would differ, so it is never used here.
//!
//! Pure: the same records give the same table. Not covered: experiments with
//! a stopping rule, for which their own analysis ([`crate::experiment::analyse_blocks`])
//! corrects.

mod answers;
mod cells;
mod conditions;
mod history;
mod judge;
mod landmarks;
mod notes;
mod reference;
mod requirement;
mod together;
mod tools;
mod words;

#[cfg(test)]
mod tests;

pub use answers::compare_answers;
pub use cells::levels_of;
pub use conditions::{Condition, differing_conditions};
pub use history::{OwnHistory, StoredRuns};
pub use landmarks::compare_landmarks;
pub use reference::{
    Sensitivity, doubts, minimum_repetitions, sensitivity, unsteady_writes, void_codes,
};
pub use requirement::Requirement;
pub use together::{AmbiguousLimit, RequiredTogether, part_at_rate, pieces_s, required_together};

use crate::experiment::Metric;
use cells::{Cell, MatchedCells, cells_for, pairs_of};
use judge::{JudgedRow, correct, rows_of};
use stripewise_results::{
    ComparisonGroup, ComparisonRecord, ComparisonRow, RunRecord, SideRecord, Verdict,
};
use stripewise_units::{counted, distinct};

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side {
    /// Heading of its column.
    pub name: String,
    /// Its runs in chronological order.
    pub runs: Vec<RunRecord>,
}

/// What to compare and how strictly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// The value that is compared.
    pub metric: Metric,
    /// Confidence of each interval by itself, and of all verdicts together (Holm).
    pub level: f64,
    /// The sides are levels of one factor: their differences are the subject of study,
    /// so no note lists them.
    pub of_levels: bool,
    /// How notes name the sides.
    pub sides: Sides,
    /// The user asked to compare void values as if they were valid. Otherwise,
    /// rows based on one have no verdict.
    pub void_counts: bool,
}

/// How notes name the sides of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// By name.
    #[default]
    Names,
    /// A is stored from an earlier measurement; B was measured now.
    ThenAndNow,
}

impl Sides {
    /// Suffix of each side's value: `8K on before, 64K on after`. Several comparisons in one sheet
    /// have one list of notes, so letters would not say which sides they are of.
    pub(crate) fn behind(self, a: &Side, b: &Side) -> [String; 2] {
        match self {
            Sides::Names => [a, b].map(|side| format!("on {}", side.name)),
            Sides::ThenAndNow => ["then", "now"].map(str::to_owned),
        }
    }
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            metric: Metric::Iops,
            level: 0.95,
            of_levels: false,
            sides: Sides::Names,
            void_counts: false,
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
    /// The sides share cells, but none gives a difference of the metric.
    #[error("{a} and {b} cannot be compared by {metric}: {}", because.words())]
    NoValue {
        /// Name of A.
        a: String,
        /// Name of B.
        b: String,
        /// The metric.
        metric: &'static str,
        /// Why.
        because: MissingReason,
    },
}

/// Why shared cells give no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingReason {
    /// At least one side has no value of the metric.
    Value,
    /// A's value is 0, so no percentage exists.
    Zero,
    /// Neither side says whether it read or wrote, randomly or sequentially.
    Workload,
}

impl MissingReason {
    fn words(self) -> &'static str {
        match self {
            MissingReason::Value => "it is not known on both sides",
            MissingReason::Zero => "it is 0 on the first side, so there is no percentage",
            MissingReason::Workload => {
                "neither side states whether it read or wrote, at random or sequentially"
            }
        }
    }

    /// Why the first pair of cells gives no row.
    fn of(pairs: &[(&Cell<'_>, &Cell<'_>)], metric: Metric) -> MissingReason {
        let says = |cell: &Cell<'_>| (cell.key.operation.is_some(), cell.key.pattern.is_some());
        let values = |cell: &Cell<'_>| -> Vec<f64> {
            cell.rows.iter().filter_map(|row| metric.of(row)).collect()
        };
        let lacks = |&(a, b): &(&Cell<'_>, &Cell<'_>)| {
            let (of_a, of_b) = (says(a), says(b));
            !((of_a.0 || of_b.0) && (of_a.1 || of_b.1))
        };
        if pairs.iter().all(lacks) {
            return MissingReason::Workload;
        }
        let zero = |&(a, b): &(&Cell<'_>, &Cell<'_>)| {
            let of_a = values(a);
            !of_a.is_empty() && of_a.iter().all(|value| *value == 0.0) && !values(b).is_empty()
        };
        if pairs.iter().any(zero) {
            MissingReason::Zero
        } else {
            MissingReason::Value
        }
    }
}

impl NothingToCompare {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            NothingToCompare::NoSharedCell { .. } => {
                "runs are compared where operation, pattern, block size, threads and outstanding are the same; measure one side again with the settings of the other"
            }
            NothingToCompare::NoValue { because, .. } => match because {
                MissingReason::Value => "choose another --metric: iops is in every record",
                MissingReason::Zero => {
                    "choose another --metric; SQLIO truncates latencies below 1 ms to 0"
                }
                MissingReason::Workload => {
                    "compare results that say what they did; fio before 2.12 does not print its options"
                }
            },
        }
    }
}

/// The parameters of one table.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The reference.
    pub a: &'a Side,
    /// What is compared with it.
    pub b: &'a Side,
    /// What to compare and how strictly.
    pub options: CompareOptions,
}

/// Compares B with A.
///
/// # Errors
/// If no cell is on both sides, or none has a value of the metric there.
pub fn compare(
    a: &Side,
    b: &Side,
    options: CompareOptions,
) -> Result<ComparisonRecord, NothingToCompare> {
    let mut tables = compare_all(&[Question { a, b, options }]);
    tables.swap_remove(0)
}

/// One table per question, in order. Their rows are judged together:
/// Holm's correction covers all rows of all tables, so that more
/// tables do not find more by chance.
pub fn compare_all(questions: &[Question<'_>]) -> Vec<Result<ComparisonRecord, NothingToCompare>> {
    let cells: Vec<[Vec<Cell<'_>>; 2]> = questions
        .iter()
        .map(|question| {
            let metric = question.options.metric;
            [question.a, question.b].map(|side| cells_for(&side.runs, metric))
        })
        .collect();
    let matched: Vec<MatchedCells<'_>> = cells.iter().map(|[a, b]| pairs_of(a, b)).collect();
    let mut tables: Vec<Vec<JudgedRow<'_>>> = questions
        .iter()
        .zip(&matched)
        .map(|(question, matched)| rows_of(&matched.pairs, question.options))
        .collect();
    let of_all = tables.iter_mut().zip(questions);
    let of_all = of_all.flat_map(|(rows, question)| {
        let rows = rows.iter_mut();
        rows.map(|row| (row, question.options))
    });
    let together = TestFamily {
        rows: correct(of_all.collect()),
        tables: tables.iter().filter(|rows| !rows.is_empty()).count(),
    };
    questions
        .iter()
        .zip(cells.iter().zip(&matched))
        .zip(&tables)
        .map(|((question, (cells, matched)), rows)| {
            answered(question, cells, matched)?;
            if rows.is_empty() {
                return Err(NothingToCompare::NoValue {
                    a: question.a.name.clone(),
                    b: question.b.name.clone(),
                    metric: question.options.metric.name(),
                    because: MissingReason::of(&matched.pairs, question.options.metric),
                });
            }
            Ok(record(*question, rows, matched, together))
        })
        .collect()
}

/// What was judged together.
#[derive(Clone, Copy, Debug)]
struct TestFamily {
    /// Rows that have a test.
    rows: usize,
    /// Tables that have a row.
    tables: usize,
}

/// Whether a cell is on both sides.
fn answered(
    question: &Question<'_>,
    [cells_a, cells_b]: &[Vec<Cell<'_>>; 2],
    matched: &MatchedCells<'_>,
) -> Result<(), NothingToCompare> {
    if !matched.pairs.is_empty() {
        return Ok(());
    }
    let some = |cells: &[Cell<'_>]| words::cell_list(&cells.iter().collect::<Vec<_>>());
    Err(NothingToCompare::NoSharedCell {
        a: question.a.name.clone(),
        b: question.b.name.clone(),
        of_a: some(cells_a),
        of_b: some(cells_b),
    })
}

/// A table with its sentences.
fn record(
    Question { a, b, options }: Question<'_>,
    rows: &[JudgedRow<'_>],
    matched: &MatchedCells<'_>,
    together: TestFamily,
) -> ComparisonRecord {
    let judged = rows.iter().map(|judged| ComparisonRow {
        sentence: words::of_row(judged, options, &b.name),
        ..judged.row.clone()
    });
    let judged: Vec<ComparisonRow> = judged.collect();
    let mut notes = notes::notes(a, b, rows, matched, options);
    if together.tables > 1 && together.rows > 1 {
        notes.push(format!(
            "Verdicts are corrected for all {} of these {} tables together (Holm).",
            counted(together.rows, "row", "rows"),
            together.tables,
        ));
    }
    ComparisonRecord {
        title: format!(
            "{} of {} against {}",
            options.metric.words(),
            b.name,
            a.name
        ),
        a: side_record(a, rows.iter().map(|row| row.a)),
        b: side_record(b, rows.iter().map(|row| row.b)),
        level: options.level,
        // A mean of rows without a verdict is not a result either.
        groups: ComparisonGroup::of_rows(
            &rows
                .iter()
                .filter(|row| !row.is_set_aside())
                .map(|row| row.row.clone())
                .collect::<Vec<_>>(),
        ),
        verdict: Verdict::over_all(judged.iter().map(|row| row.verdict)),
        rows: judged,
        sentences: words::sentences(rows, together.rows, options, &b.name),
        notes,
        drift: None,
    }
}

/// Whether a comparison has a finding, which makes a command end with code 1.
pub fn found(record: &ComparisonRecord) -> bool {
    matches!(
        record.verdict,
        Verdict::Better | Verdict::Worse | Verdict::Mixed
    )
}

/// The distinct runs that a side's rows are based on.
fn side_record<'a>(side: &Side, cells: impl Iterator<Item = &'a Cell<'a>>) -> SideRecord {
    let rows = cells.flat_map(|cell| &cell.rows);
    SideRecord {
        name: side.name.clone(),
        from: distinct(rows.map(|row| row.run.id.clone())),
    }
}
