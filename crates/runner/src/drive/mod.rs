//! The two drivers. Both feed the same workers and
//! hand the same summaries to the same policy and observer.

pub mod real;
pub mod virtual_time;
