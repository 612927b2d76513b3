//! Any bytes as results of SQLIO, DiskSpd or fio: refused with a hint, or records
//! that are kept, read back, and (of SQLIO) printed again the same.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/compat/tests/it/anything.rs"]
mod anything;

use anything::import_anything;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| import_anything(bytes));
