//! Any bytes as a device: file systems, md, LVM, LUKS, or nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| stripewise_disk_inspect::superblocks::fuzz(bytes));
