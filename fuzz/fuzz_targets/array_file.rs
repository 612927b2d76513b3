//! Any bytes as an array file: refused with a hint, or an array that describes
//! itself, reads back, builds and serves requests up to its last sector.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_array_sim::spec::fuzz_array_file;

fuzz_target!(|bytes: &[u8]| fuzz_array_file(bytes));
