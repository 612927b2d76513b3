//! Histograms, percentiles, intervals, steady state, knee, comparison. Does not
//! know what a disk is.
//!
//! Pure functions of numbers: no clock, no file, no entropy. Elementary
//! functions come from `libm`, random numbers from seeds, so the same input
//! gives the same bits everywhere. Answers that a sample is too small for are
//! `None`, never a made-up zero.
#![forbid(unsafe_code)]

mod bootstrap;
mod distribution;
mod histogram;
mod knee;
mod ladder;
mod little;
mod random;
mod sample;
mod steady;
mod step_down;
mod steps;
mod v2;

pub use bootstrap::Bootstrap;
pub use distribution::{normal_cdf, normal_quantile, student_quantile, student_two_sided};
pub use histogram::{Bucket, Histogram, VALUE_MAX};
pub use knee::{
    CurvePoint, Knee, KneeBrackets, LadderStep, LoadBracket, PLATEAU_SHARE, knee, knee_brackets,
};
pub use ladder::bracketed;
pub use little::{LittleCheck, LittleInput, little};
pub use random::Random;
pub use sample::{
    Estimate, Quantile, coefficient_of_variation, mean, mean_interval, median, quantile,
    quantile_sorted, standard_deviation, variance,
};
pub use steady::{Steadiness, SteadyRule};
pub use step_down::{StepDown, step_down};
pub use steps::{ChangePoint, ChangePointRule, change_points};
pub use v2::V2Error;
