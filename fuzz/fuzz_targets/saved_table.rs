//! Any bytes as the file of `partition --restore`: refused with a hint, or pieces
//! that lie on the disk.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| stripewise_disk_provision::fuzz_saved_table(bytes));
