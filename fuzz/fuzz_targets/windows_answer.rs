//! Any bytes as a Windows driver's answer: decoded or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| stripewise_disk_formats::ioctl::fuzz(bytes));
