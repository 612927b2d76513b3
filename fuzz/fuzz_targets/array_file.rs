//! Any bytes as an array file: refused with a hint, or an array that describes
//! itself, reads back, builds and serves requests up to its last sector.
#![no_main]

#[path = "../../crates/array-sim/tests/it/anything.rs"]
mod anything;

use anything::array_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| array_file(bytes));
