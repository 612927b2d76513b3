//! Any bytes as a batch file, command lines, a job file and a parameter file:
//! refused with a hint, or a plan that the plan reader takes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_compat::fuzz::convert_anything;

fuzz_target!(|bytes: &[u8]| convert_anything(bytes));
