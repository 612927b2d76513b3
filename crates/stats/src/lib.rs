//! Histograms, percentiles, intervals, steady state, knee, comparison. Does not
//! know what a disk is.
#![forbid(unsafe_code)]

mod histogram;
mod v2;

pub use histogram::{Bucket, Histogram, VALUE_MAX};
pub use v2::V2Error;
