//! Probes on simulated arrays, whose truth is known.

mod arrays;
mod busy;
mod fill;
mod flash;
mod profile;
mod serial;
mod simulated;
mod stripe;
