//! Any bytes as a disk: a partition table or none, in bounded time.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| stripewise_disk_inspect::tables::fuzz(bytes));
