//! Any bytes as what a run that waits for a power cut sends to its witness.
#![no_main]

#[path = "../../crates/verify/tests/it/anything.rs"]
mod anything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| anything::witness(bytes));
