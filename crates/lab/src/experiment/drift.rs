//! How the baseline itself changed during the experiment.

use super::blocks::Block;
use super::plan::ExperimentPlan;
use stripewise_results::DriftRecord;
use stripewise_stats::{drift_percent, mean};

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
                .map(|cell| block.value(plan.baseline, cell).map(libm::log))
                .collect();
            mean(&logarithms?)
        })
        .collect();
    let over_all = drift_percent(&values, plan.level)?;
    Some(DriftRecord {
        blocks: u32::try_from(values.len()).unwrap_or(u32::MAX),
        percent: over_all.value,
        interval_percent: [over_all.low, over_all.high],
        found: !over_all.contains(0.0),
    })
}
