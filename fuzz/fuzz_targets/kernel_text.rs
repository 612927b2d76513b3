//! Any text as a file of `/proc` or `/sys`, and any bytes as the answer of an ioctl.
#![no_main]

#[path = "../../crates/machine/tests/it/anything.rs"]
mod anything;

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A folder of this process, in the folder for temporary files, from which whoever started
/// it takes it away.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("stripewise-fuzz-{}", std::process::id());
    std::env::temp_dir().join(name)
});

fuzz_target!(|bytes: &[u8]| {
    anything::kernel_text(&ROOT, bytes);
    let lines = stripewise_disk_formats::mapper_answer::lines(bytes);
    assert!(lines.len() <= 4096);
});
