//! Any text as a file of `/proc` or `/sys`, and as the answer of an ioctl.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    stripewise_machine::fuzz_kernel_text(bytes);
    stripewise_disk_inspect::fuzz_kernel_text(bytes);
});
