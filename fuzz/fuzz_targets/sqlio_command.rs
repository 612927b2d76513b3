//! A command line of SQLIO, and its parameter file behind it: refused with a hint,
//! or a setup with a report.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_compat::fuzz::command_line;

fuzz_target!(|bytes: &[u8]| command_line(bytes));
