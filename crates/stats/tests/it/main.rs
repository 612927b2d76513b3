//! Tests of the crate from outside: published figures, reference files computed
//! with SciPy, and Monte Carlo with fixed seeds.

mod monte_carlo;
mod published;
mod reference;
