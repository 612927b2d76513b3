//! The two drivers, warm-up, measurement, drain, and the trust warnings.
#![forbid(unsafe_code)]
