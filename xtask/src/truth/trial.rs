//! One experiment with a known answer, and its result.

use super::simulated::experiment;
use anyhow::{Result, bail};
use stripewise_array_sim::ArraySpec;
use stripewise_lab::experiment::{Block, ExperimentPlan, LayoutFacts, analyse_blocks};
use stripewise_results::Verdict;
use stripewise_stats::{Pair, compare_blocks};

/// Result of an experiment.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Rows, level by level.
    pub rows: Vec<TrialRow>,
    pub blocks: usize,
    pub elapsed_ns: u64,
}

/// Result for a row.
#[derive(Clone, Copy, Debug)]
pub struct TrialRow {
    pub estimate_percent: f64,
    pub interval_percent: [f64; 2],
    /// From the interval at the plain level over the same blocks, as if their number had been fixed
    /// in advance.
    pub width_once_percent: f64,
    pub verdict: Verdict,
}

impl TrialRow {
    pub fn found(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
    }

    pub fn covers(&self, truth_percent: f64) -> bool {
        (self.interval_percent[0]..=self.interval_percent[1]).contains(&truth_percent)
    }

    pub fn width_percent(&self) -> f64 {
        self.interval_percent[1] - self.interval_percent[0]
    }
}

impl Trial {
    /// Any row reports a difference.
    pub fn any_found(&self) -> bool {
        self.rows.iter().any(TrialRow::found)
    }
}

/// Runs a plan and reads its tables.
pub fn trial(plan: &ExperimentPlan, arrays: Vec<ArraySpec>) -> Result<Trial> {
    let experiment = experiment(plan, arrays)?;
    let mut rows = Vec::new();
    for table in analyse_blocks(plan, &experiment.blocks, &LayoutFacts::default()) {
        let level = plan
            .levels
            .iter()
            .position(|level| level.name == table.b.name);
        for (cell, row) in table.rows.iter().enumerate() {
            let (Some(estimate_percent), Some(interval_percent), Some(level)) =
                (row.estimate_percent, row.interval_percent, level)
            else {
                bail!(
                    "a row has no interval after {} blocks",
                    experiment.blocks.len()
                );
            };
            rows.push(TrialRow {
                estimate_percent,
                interval_percent,
                width_once_percent: width_once(plan, &experiment.blocks, level, cell),
                verdict: row.verdict,
            });
        }
    }
    Ok(Trial {
        rows,
        blocks: experiment.blocks.len(),
        elapsed_ns: experiment.elapsed_ns,
    })
}

fn width_once(plan: &ExperimentPlan, blocks: &[Block], level: usize, cell: usize) -> f64 {
    let pairs: Option<Vec<Pair>> = blocks
        .iter()
        .map(|block| {
            let a = block.value(plan.baseline, cell)?;
            let b = block.value(level, cell)?;
            Some(Pair { a, b })
        })
        .collect();
    pairs
        .and_then(|pairs| compare_blocks(&pairs, plan.level))
        .and_then(|comparison| comparison.interval_percent)
        .map_or(f64::NAN, |interval| interval.width())
}
