//! Verdicts on observed loads with a known truth: whether they wait for the disk, and who makes
//! them slow. Loads and devices are simulated here, by queues in virtual time; verdicts come
//! through the crate's public interface.

mod culprits;
mod loads;
mod scenes;

pub use culprits::culprits;
#[cfg(test)]
pub use culprits::tally;
pub use loads::study as closedness;
#[cfg(test)]
pub use loads::{closed_loads, closednesses, open_loads};
#[cfg(test)]
pub use scenes::Culprit;

use stripewise_stats::Random;

/// An exponential time with this mean.
pub(super) fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * random.uniform().ln()
}

/// A uniform number between two.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.uniform()
}

/// A lognormal number with this mean and coefficient of variation.
pub(super) fn lognormal(random: &mut Random, mean: f64, variation: f64) -> f64 {
    let square = (1.0 + variation * variation).ln();
    (mean.ln() - square / 2.0 + square.sqrt() * random.normal()).exp()
}

/// Times of a Poisson process of this rate between two times, in order.
fn poisson(random: &mut Random, rate: f64, from: f64, to: f64) -> Vec<f64> {
    let mut all = Vec::new();
    let mut at = from;
    loop {
        at += exponential(random, 1.0 / rate);
        if at >= to {
            return all;
        }
        all.push(at);
    }
}
