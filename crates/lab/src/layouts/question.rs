//! What an experiment over layouts is asked.

use super::measured::{Measured, MixCell};
use super::set::LayoutSet;

/// What is asked of the numbers.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// In a line.
    pub title: &'a str,
    /// As typed.
    pub target: &'a str,
    /// The profile or mix by its name.
    pub profile: Option<&'a str>,
    /// The layouts.
    pub set: &'a LayoutSet,
    /// The workloads.
    pub cells: &'a [MixCell],
    /// What was measured.
    pub measured: &'a Measured,
    /// What is there now, if it is one of the layouts.
    pub present: Option<usize>,
    /// Differences up to this do not count.
    pub margin_percent: f64,
    /// Of the resampling.
    pub seed: u64,
}
