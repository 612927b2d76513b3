//! Any bytes as a Windows driver's answer: decoded or refused.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/disk-formats/tests/it/anything.rs"]
mod anything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| anything::windows_answer(bytes));
