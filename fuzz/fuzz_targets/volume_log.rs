//! Any bytes as the log pages of NVMe volumes and drives.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/disk-formats/tests/it/anything.rs"]
mod anything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| anything::volume_log(bytes));
