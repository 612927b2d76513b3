//! Any bytes as a batch file, command lines, a job file and a parameter file:
//! refused with a hint, or a plan that the plan reader takes.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/compat/tests/it/anything.rs"]
mod anything;

use anything::convert_anything;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| convert_anything(bytes));
