//! Any bytes as results of SQLIO, DiskSpd or fio: refused with a hint, or records
//! that are kept, read back, and (of SQLIO) printed again the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_compat::fuzz::import_anything;

fuzz_target!(|bytes: &[u8]| import_anything(bytes));
