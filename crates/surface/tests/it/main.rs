//! Probes on simulated arrays, whose truth is known.

mod busy;
mod fill;
mod flash;
mod profile;
mod serial;
#[path = "../../../../tests/support/timed_array.rs"]
mod simulated;
mod stripe;
