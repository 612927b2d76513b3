//! Rows of one kind of I/O combined: the subjects of sentences.

use super::plan::ExperimentPlan;
use super::rows::{Row, stopping_level};
use stripewise_results::Verdict;
use stripewise_stats::{Comparison, Estimate, Pair, compare_blocks, mean};
use stripewise_workload::Workload;

/// All rows of one kind of one level.
pub(super) struct Kind<'a> {
    /// `random`.
    pub pattern: &'static str,
    /// `write`.
    pub operation: String,
    /// The workload of its first row, with the level's options.
    pub workload: Workload,
    /// Its rows with their verdicts.
    pub rows: Vec<&'a (Row, Verdict)>,
    /// The mean over its rows, compared over blocks.
    pub pooled: Option<Comparison>,
}

/// What the rows of a kind show together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KindFinding {
    /// Rows of both signs have findings.
    Mixed,
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    Nothing,
    Undecided,
}

impl<'a> Kind<'a> {
    /// `random-write`.
    pub fn adjective(&self) -> String {
        format!("{}-{}", self.pattern, self.operation)
    }

    /// `random writes`; `random I/O with 70 % reads`.
    pub fn plural(&self) -> String {
        match self.operation.as_str() {
            "read" | "write" | "discard" => format!("{} {}s", self.pattern, self.operation),
            mixed => {
                let each: Vec<String> = mixed.split(", ").map(|one| format!("{one}s")).collect();
                format!("{} I/O with {}", self.pattern, each.join(", "))
            }
        }
    }

    pub fn found(&self) -> usize {
        self.rows.iter().filter(|row| is_found(row.1)).count()
    }

    pub fn says(&self) -> KindFinding {
        let has = |verdict| self.rows.iter().any(|row| row.1 == verdict);
        match (has(Verdict::Better), has(Verdict::Worse)) {
            (true, true) => KindFinding::Mixed,
            (true, false) => KindFinding::Better,
            (false, true) => KindFinding::Worse,
            (false, false) if has(Verdict::NoDifference) && !has(Verdict::Undecided) => {
                KindFinding::Nothing
            }
            (false, false) => KindFinding::Undecided,
        }
    }

    /// The largest x of its rows' "no difference larger than x %".
    pub fn difference_percent_max(&self) -> Option<f64> {
        self.rows
            .iter()
            .map(|row| row.0.comparison.as_ref()?.difference_percent_max())
            .try_fold(0.0, |largest: f64, x| Some(largest.max(x?)))
    }

    /// Its rows by the size of their blocks, on which the effect of an offset depends.
    pub fn by_block(&self, plan: &ExperimentPlan) -> Vec<Kind<'a>> {
        grouped(plan, self.rows.iter().copied(), |a, b| {
            a.block_size_bytes == b.block_size_bytes
        })
    }
}

/// Whether one side is better.
pub(super) fn is_found(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// The kinds of a level, in the order of the plan's cells.
pub(super) fn kinds_of<'a>(
    plan: &ExperimentPlan,
    judged: &'a [(Row, Verdict)],
    level: usize,
) -> Vec<Kind<'a>> {
    let of_level = judged.iter().filter(|(row, _)| row.level == level);
    grouped(plan, of_level, |a, b| {
        a.pattern.name() == b.pattern.name() && a.operation_name() == b.operation_name()
    })
}

/// Rows whose workloads are alike in something, together, in the order of their first ones.
fn grouped<'a>(
    plan: &ExperimentPlan,
    rows: impl Iterator<Item = &'a (Row, Verdict)>,
    are_alike: impl Fn(&Workload, &Workload) -> bool,
) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    for row in rows {
        let cell = &plan.cells[row.0.cell];
        let workload = plan.levels[row.0.level].apply(&cell.workload, 0);
        match kinds
            .iter_mut()
            .find(|kind| are_alike(&kind.workload, &workload))
        {
            Some(kind) => kind.rows.push(row),
            None => kinds.push(Kind {
                pattern: workload.pattern.name(),
                operation: workload.operation_name(),
                workload,
                rows: vec![row],
                pooled: None,
            }),
        }
    }
    for kind in &mut kinds {
        kind.pooled = pooled(&kind.rows, plan.level);
    }
    kinds
}

/// The geometric mean over rows of B / A, compared over blocks. `None` if rows
/// have different blocks, since then a block has no mean.
fn pooled(rows: &[&(Row, Verdict)], level: f64) -> Option<Comparison> {
    let blocks = rows.first()?.0.pairs.len();
    if rows.iter().any(|row| row.0.pairs.len() != blocks) {
        return None;
    }
    let pairs: Option<Vec<Pair>> = (0..blocks)
        .map(|block| {
            let of_row = |row: &&(Row, Verdict)| {
                let pair = row.0.pairs[block];
                (pair.b / pair.a).ln()
            };
            let logarithms: Vec<f64> = rows.iter().map(of_row).collect();
            mean(&logarithms).map(|middle| Pair {
                a: 1.0,
                b: middle.exp(),
            })
        })
        .collect();
    compare_blocks(&pairs?, stopping_level(level))
}

/// The loss of the slower side in per cent of the faster side, given B's
/// gain over A in per cent of A: a gain of 12.5 % is a cost of 11.1 %.
pub(super) fn cost_of_gain(gain_percent: f64) -> f64 {
    100.0 * gain_percent / (100.0 + gain_percent)
}

/// The gain of the faster over the slower side, from the difference of B over A
/// in per cent: unchanged if B is the faster, inverted if A is.
pub(super) fn gain_of_faster(difference: Estimate, b_is_faster: bool) -> Estimate {
    let turned = |percent: f64| 100.0 * (100.0 / (100.0 + percent) - 1.0);
    if b_is_faster {
        difference
    } else {
        Estimate {
            value: turned(difference.value),
            low: turned(difference.high),
            high: turned(difference.low),
            level: difference.level,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_and_gains_are_each_others_mirror() {
        assert!((cost_of_gain(12.5) - 11.111_1).abs() < 1e-4);
        assert!((cost_of_gain(100.0) - 50.0).abs() < 1e-12);
        let b_slower = Estimate {
            value: -10.0,
            low: -12.0,
            high: -8.0,
            level: 0.95,
        };
        let gain = gain_of_faster(b_slower, false);
        assert!((gain.value - 11.111_1).abs() < 1e-4);
        assert!(gain.low < gain.value && gain.value < gain.high);
        // The gain of the faster is the cost of the slower.
        assert!((cost_of_gain(gain.low) - 8.0).abs() < 1e-9);
        assert!((cost_of_gain(gain.high) - 12.0).abs() < 1e-9);
        assert_eq!(gain_of_faster(b_slower, true), b_slower);
    }
}
