//! Measurements of layouts, and the score of a mix.

use serde::{Deserialize, Serialize};

/// One cell on one layout in one pass: the mean over its runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellValue {
    /// Operations a second, above 0.
    pub iops: f64,
    /// p99 latency, nanoseconds; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<f64>,
}

/// One pass: of each layout the values of all cells; none of layouts that were dropped
/// before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutPass {
    /// By layout, then by cell.
    pub values: Vec<Option<Vec<CellValue>>>,
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measured {
    /// In the order in which they were made; whole ones only.
    pub passes: Vec<LayoutPass>,
}

/// A workload as part of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MixCell {
    /// `random read`.
    pub name: String,
    /// In words.
    pub what: String,
    /// Share of the operations; 0: not in the mix, a limit only.
    pub share_percent: f64,
    /// No source gives the share.
    pub assumed: bool,
    /// p99 latency that must not be exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns_p99: Option<u64>,
}

impl Measured {
    /// Scores of these layouts, a row for each pass in which all of them were measured:
    /// z = -ln(sum of p_c / X_c), with p_c the cell's share of the operations and X_c its rate.
    /// The time of a mix is the sum of the times of its parts, so exp(z) is its
    /// rate in IOPS if each part runs at its own rate.
    pub(super) fn scores(&self, layouts: &[usize], shares: &[f64]) -> Vec<Vec<f64>> {
        let all: f64 = shares.iter().sum();
        let score = |values: &Vec<CellValue>| {
            let time = |(value, share): (&CellValue, &f64)| share / all / value.iops;
            let counted = values.iter().zip(shares).filter(|(_, share)| **share > 0.0);
            -libm::log(counted.map(time).sum())
        };
        let row = |pass: &LayoutPass| {
            let of = layouts.iter().map(|&layout| pass.of(layout).map(score));
            of.collect::<Option<Vec<f64>>>()
        };
        self.passes.iter().filter_map(row).collect()
    }

    /// Values of a cell on a layout, one per pass.
    pub(super) fn cell(&self, layout: usize, cell: usize) -> Vec<CellValue> {
        let of = |pass: &LayoutPass| pass.of(layout)?.get(cell).copied();
        self.passes.iter().filter_map(of).collect()
    }

    /// Passes in which this layout was measured.
    pub(super) fn passes_of(&self, layout: usize) -> usize {
        let measured = |pass: &&LayoutPass| pass.of(layout).is_some();
        self.passes.iter().filter(measured).count()
    }
}

impl LayoutPass {
    fn of(&self, layout: usize) -> Option<&Vec<CellValue>> {
        self.values.get(layout)?.as_ref()
    }
}
