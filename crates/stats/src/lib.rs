//! Histograms, percentiles, intervals, steady state, knee, comparison. Does not
//! know what a disk is.
#![forbid(unsafe_code)]

mod histogram;

pub use histogram::{Bucket, Histogram, VALUE_MAX};
