//! How the baseline itself changed during the experiment.

use super::blocks::Block;
use super::plan::ExperimentPlan;
use stripewise_results::DriftRecord;
use stripewise_stats::linear_trend;

/// The drift of the baseline from the first block to the last: the slope of the
/// mean over cells of ln(value), by least squares with Student's interval. Blocks
/// without a value of the baseline are skipped.
///
/// `None` with fewer than three blocks. Drift does not spoil the comparison, whose
/// sides share it block by block; it shows that values from different times
/// are not comparable.
pub fn drift_of(plan: &ExperimentPlan, blocks: &[Block]) -> Option<DriftRecord> {
    let values: Vec<f64> = blocks
        .iter()
        .filter_map(|block| {
            let logarithms: Option<Vec<f64>> = (0..plan.cells.len())
                .map(|cell| block.value(plan.baseline, cell).map(f64::ln))
                .collect();
            stripewise_stats::mean(&logarithms?)
        })
        .collect();
    let slope = linear_trend(&values, plan.level)?;
    let steps = (values.len() - 1) as f64;
    let over_all = slope.map(|per_block| 100.0 * f64::exp_m1(steps * per_block));
    Some(DriftRecord {
        blocks: u32::try_from(values.len()).unwrap_or(u32::MAX),
        percent: over_all.value,
        interval_percent: [over_all.low, over_all.high],
        found: !over_all.contains(0.0),
    })
}
