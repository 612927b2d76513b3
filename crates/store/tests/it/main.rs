//! The store from outside: what comes back, what survives, what is refused.

mod faults;
mod history;
mod killed;
mod migrations;
mod refused;
mod roundtrip;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod together;

/// Records and stores for the tests.
mod common;
