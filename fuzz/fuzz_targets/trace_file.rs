//! Any bytes as a file of a trace, as pages of the kernel's recording and as counters of a
//! database.
#![no_main]

#[path = "../../crates/trace/tests/it/anything.rs"]
mod anything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| anything::trace_anything(bytes));
