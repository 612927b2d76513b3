//! Probes on simulated arrays, whose truth is known.

mod arrays;
mod fill;
mod flash;
mod profile;
mod simulated;
mod stripe;
