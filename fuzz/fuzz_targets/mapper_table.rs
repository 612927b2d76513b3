//! Any text as a table of device mapper.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| stripewise_disk_formats::fuzz::mapper(bytes));
