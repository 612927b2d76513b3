//! Integration tests of the crate: streams, arrivals, data, rules and plans.

mod arrivals;
mod data;
mod golden;
mod options;
mod plans;
mod positions;
mod requests;
mod rules;
mod sizes;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
fn fixed_seed(cases: u32) -> Config {
    Config {
        rng_seed: RngSeed::Fixed(20_071_121),
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}
