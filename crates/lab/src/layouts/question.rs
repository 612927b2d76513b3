//! The question an experiment over layouts answers.

use super::measured::{Measured, MixCell};
use super::set::LayoutSet;

/// The input for judging layouts.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// One line.
    pub title: &'a str,
    /// As typed.
    pub target: &'a str,
    /// The profile or mix by its name.
    pub profile: Option<&'a str>,
    /// The layouts.
    pub set: &'a LayoutSet,
    /// The workloads.
    pub cells: &'a [MixCell],
    /// The measurements.
    pub measured: &'a Measured,
    /// The present layout, if it is among them.
    pub present: Option<usize>,
    /// Differences up to this do not count.
    pub margin_percent: f64,
    /// Seed of the resampling.
    pub seed: u64,
}
