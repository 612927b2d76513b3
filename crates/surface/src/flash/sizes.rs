//! The largest size at the minimum price: up to it, an operation costs as much as the smallest.

use super::Answered;
use super::batches::{Prober, difference};
use crate::device::{Device, StopReason};
use serde::{Deserialize, Serialize};

const BLOCKS: usize = 48;
const READS: usize = 32;
const SIZE_MAX: u64 = 128 << 10;
/// Largest excess over the smallest that counts as equal (logarithm).
const SAME: f64 = 0.14;
const LEVEL: f64 = 0.999;

/// Cost of reads of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SizeAt {
    /// Bytes of a read.
    pub bytes: u64,
    /// How much longer they take than the smallest, percent.
    pub longer_percent: f64,
    /// Interval (99.9 %).
    pub longer_percent_interval: [f64; 2],
}

/// Costs by size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// The largest size that costs as much as the smallest: smaller ones pay its price.
    pub full_price_bytes: Answered<u64>,
    /// Each size.
    pub all: Vec<SizeAt>,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes {
            full_price_bytes: Answered::refused("not measured"),
            all: Vec::new(),
        }
    }
}

pub(super) fn measure<D: Device>(prober: &mut Prober<'_, D>) -> Result<Sizes, StopReason> {
    let sector = prober.sector_bytes();
    let mut sizes = Vec::new();
    let mut bytes = sector;
    while bytes <= SIZE_MAX {
        sizes.push(bytes);
        bytes *= 2;
    }
    let mut costs = vec![Vec::with_capacity(BLOCKS); sizes.len()];
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    for _ in 0..BLOCKS {
        prober.random.shuffle(&mut order);
        for &number in &order {
            let bytes = sizes[number];
            let cost = prober.cost(bytes, |prober| {
                (0..READS).map(|_| prober.place(bytes, bytes)).collect()
            })?;
            costs[number].push(cost);
        }
    }
    let all: Vec<SizeAt> = sizes
        .iter()
        .zip(&costs)
        .map(|(bytes, values)| {
            let pairs = values.iter().zip(&costs[0]);
            let differences: Vec<f64> = pairs.map(|(value, first)| value - first).collect();
            let found = difference(&differences, LEVEL);
            let percent = |value: f64| (libm::exp(value) - 1.0) * 100.0;
            SizeAt {
                bytes: *bytes,
                longer_percent: percent(found.value),
                longer_percent_interval: [percent(found.low), percent(found.high)],
            }
        })
        .collect();
    Ok(Sizes {
        full_price_bytes: full_price(&all),
        all,
    })
}

fn full_price(all: &[SizeAt]) -> Answered<u64> {
    let limit = (libm::exp(SAME) - 1.0) * 100.0;
    let same = |at: &SizeAt| at.longer_percent_interval[1] <= limit;
    let may_be_same = |at: &SizeAt| at.longer_percent_interval[0] <= limit;
    let sure = all.iter().skip(1).take_while(|at| same(at)).count();
    let possible = all.iter().skip(1).take_while(|at| may_be_same(at)).count();
    if possible + 1 >= all.len() {
        return Answered::refused(format!(
            "reads of up to {} cost no more than the smallest: something other than the flash takes the time, or there is too much noise",
            stripewise_units::format_bytes(SIZE_MAX)
        ));
    }
    let best = all
        .iter()
        .skip(1)
        .take_while(|at| at.longer_percent <= limit)
        .count()
        .clamp(sure, possible);
    Answered::found(all[best].bytes, [all[sure].bytes, all[possible].bytes])
}
