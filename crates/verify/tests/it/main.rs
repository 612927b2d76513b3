//! The verifying workers against a model disk that does what real ones do, in order or not,
//! and goes wrong where a test wants it to.

mod anything;
mod clean;
mod cut;
mod injected;
mod model;
mod witness;
