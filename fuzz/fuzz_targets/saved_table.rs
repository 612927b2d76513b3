//! Any bytes as the file of `partition --restore`: refused with a hint, or pieces
//! that lie on the disk.
#![no_main]

#[path = "../../crates/disk-provision/tests/it/anything.rs"]
mod anything;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| anything::saved_table(bytes));
