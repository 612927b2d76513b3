//! Tests of the crate from outside: limits of latency, published figures, reference files computed
//! with SciPy, and Monte Carlo with fixed seeds.

mod limits;
mod monte_carlo;
mod published;
mod reference;
