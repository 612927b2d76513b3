//! Probes on simulated arrays, whose truth is known.

mod arrays;
mod profile;
mod simulated;
mod stripe;
