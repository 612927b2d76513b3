//! Minutes that differ: one change of the share within a run.

use super::share::{DueSecond, Second};
use crate::random::Random;
use serde::{Deserialize, Serialize};

/// Length of a batch, in seconds.
const BATCH_S: usize = 30;
/// Random orders of the batches that the order seen is compared with.
const ORDERS: usize = 99;

/// The most distinct split of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinutesDiffer {
    /// First second of the later part.
    pub at_s: usize,
    /// Share of 100 orders, including the observed one, that split as clearly.
    pub p_value: f64,
}

impl MinutesDiffer {
    /// The largest p-value that counts as a change. 0.5 to 5.5 % of runs without one reach it, more
    /// the longer the clusters of stalls.
    pub const P_VALUE_MAX: f64 = 0.01;

    /// Whether the parts differ.
    pub fn is_change(&self) -> bool {
        self.p_value <= Self::P_VALUE_MAX
    }
}

/// The largest standardised split of batches of 30 s, over the inner 80 % of positions: with c_i
/// and N_i the amounts beyond and due in the first i of B batches, K and N the totals,
/// |c_i - K N_i/N| / sqrt(i (B - i)/B), compared with 99 random orders of the batches. A change in
/// the first or last tenth is not found. None below ten batches (300 s), or if nothing was due.
pub fn minutes_differ(seconds: &[DueSecond], seed: u64) -> Option<MinutesDiffer> {
    let mut batches: Vec<Second> = seconds
        .chunks_exact(BATCH_S)
        .map(|batch| Second {
            count: batch.iter().map(|second| second.due as f64).sum(),
            amount: batch.iter().map(|second| second.beyond as f64).sum(),
        })
        .collect();
    let due: f64 = batches.iter().map(|batch| batch.count).sum();
    if batches.len() < 10 || due <= 0.0 {
        return None;
    }
    let (seen, place) = largest_split(&batches);
    let mut random = Random::new(seed);
    let mut as_clear = 1;
    for _ in 0..ORDERS {
        random.shuffle(&mut batches);
        // Sums of the same numbers in a different order differ by rounding.
        if largest_split(&batches).0 >= seen * (1.0 - 1e-12) {
            as_clear += 1;
        }
    }
    Some(MinutesDiffer {
        at_s: place * BATCH_S,
        p_value: f64::from(as_clear) / (ORDERS + 1) as f64,
    })
}

fn largest_split(batches: &[Second]) -> (f64, usize) {
    let count = batches.len();
    let due: f64 = batches.iter().map(|batch| batch.count).sum();
    let beyond: f64 = batches.iter().map(|batch| batch.amount).sum();
    let edge = count / 10 + 1;
    let mut best = (0.0, count / 2);
    let (mut due_before, mut beyond_before) = (0.0, 0.0);
    for place in 1..count {
        due_before += batches[place - 1].count;
        beyond_before += batches[place - 1].amount;
        if place < edge || place > count - edge {
            continue;
        }
        let (before, after) = (place as f64, (count - place) as f64);
        let distance = (beyond_before - beyond * due_before / due).abs();
        let standardised = distance / libm::sqrt(before * after / count as f64);
        if standardised > best.0 {
            best = (standardised, place);
        }
    }
    best
}
