//! Probes on simulated arrays, whose truth is known.

mod arrays;
mod simulated;
mod stripe;
