//! Any text as LVM's metadata.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| stripewise_disk_formats::fuzz::lvm_text(bytes));
