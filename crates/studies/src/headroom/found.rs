//! The answer of a search.

use super::runs::FACTORS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_stats::{Crossing, ExceedanceRun};

/// Which ends of the answer are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Both.
    At,
    /// The factor is at least `low`.
    AtLeast,
    /// The factor is at most `high`.
    AtMost,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadroomAnswer {
    /// The factor; for an open answer, its known end.
    pub factor: f64,
    /// Ends of the 95 % interval; `None` if an end is open.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Which ends are known.
    pub bound: Bound,
    /// A long run at the lower end exceeded the allowed share: the answer holds only
    /// for the length of a short run.
    pub is_short_lived: bool,
}

/// Groups runs by load, in rising order.
pub(super) fn by_level(mut runs: Vec<ExceedanceRun>) -> Vec<Vec<ExceedanceRun>> {
    runs.sort_by(|one, other| one.factor.total_cmp(&other.factor));
    let same =
        |one: &ExceedanceRun, other: &ExceedanceRun| (one.factor / other.factor).ln().abs() < 1e-9;
    runs.chunk_by(same).map(<[ExceedanceRun]>::to_vec).collect()
}

/// The sums of each block, whose runs are not independent.
pub(super) fn by_block(runs: impl Iterator<Item = ExceedanceRun>) -> Vec<ExceedanceRun> {
    let mut blocks: BTreeMap<u32, ExceedanceRun> = BTreeMap::new();
    for run in runs {
        let add = |sum: &mut ExceedanceRun| {
            sum.operations += run.operations;
            sum.beyond += run.beyond;
            sum.seconds += run.seconds;
        };
        blocks.entry(run.block).and_modify(add).or_insert(run);
    }
    blocks.into_values().collect()
}

/// The share over all runs.
pub(super) fn pooled(runs: &[ExceedanceRun]) -> f64 {
    let sum = |of: fn(&ExceedanceRun) -> u64| runs.iter().map(of).sum::<u64>() as f64;
    sum(|run| run.beyond) / sum(|run| run.operations).max(1.0)
}

/// From a fit; `None` if both ends are open.
pub(super) fn of_crossing(crossing: &Crossing) -> Option<HeadroomAnswer> {
    let low = (crossing.low > FACTORS[0]).then_some(crossing.low);
    let high = (crossing.high < FACTORS[1] * 2.0).then_some(crossing.high);
    let mut found = of_ends(low, high)?;
    if found.bound == Bound::At {
        found.factor = crossing.factor;
    }
    Some(found)
}

/// From two ends; `None` if both are open.
pub(super) fn of_ends(low: Option<f64>, high: Option<f64>) -> Option<HeadroomAnswer> {
    let (factor, bound) = match (low, high) {
        (Some(low), Some(high)) => ((low * high).sqrt(), Bound::At),
        (Some(low), None) => (low, Bound::AtLeast),
        (None, Some(high)) => (high, Bound::AtMost),
        (None, None) => return None,
    };
    Some(HeadroomAnswer {
        factor,
        low,
        high,
        bound,
        is_short_lived: false,
    })
}
