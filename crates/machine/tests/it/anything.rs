//! Any bytes as the files of `/proc` and `/sys`, and what must hold of whatever comes out.
//! A fuzz target has it, too.

use std::fs;
use std::path::Path;
use stripewise_machine::System;
use stripewise_machine::linux::{swaps, tree};
use stripewise_machine::observe::Snapshot;
use stripewise_units::DeviceNumber;

/// The files of a machine that each hold the text in turn.
const FILES: [&str; 6] = [
    "proc/self/mountinfo",
    "proc/stat",
    "proc/swaps",
    "sys/dev/block/8:0/inflight",
    "sys/dev/block/8:0/stat",
    "sys/devices/system/cpu/online",
];

/// Writes the bytes to each of the files below `root`, queries that machine for everything, and
/// passes them to the public parsers.
///
/// # Panics
/// If an invariant is violated, or a file cannot be created.
pub fn kernel_text(root: &Path, bytes: &[u8]) {
    for file in FILES {
        let path = root.join(file);
        // Ext4 hands a file that was emptied and written again to the disk at once.
        let _ = fs::remove_file(&path);
        if fs::write(&path, bytes).is_err() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
            fs::write(&path, bytes).expect("a file");
        }
    }
    let system = System::at(root);
    let disk = DeviceNumber { major: 8, minor: 0 };
    let first = Snapshot::take(&system, &[disk], &[]);
    let observed = first.difference(&Snapshot::take(&system, &[disk], &[]));
    // The files are the same: no processor can have worked between.
    assert_eq!(observed.cpu_busy_ns, 0);
    assert!(first.processors.len() <= 4_096);
    let _ = system.in_flight(disk);
    let _ = system.host();

    let text = String::from_utf8_lossy(bytes);
    assert!(system.mount_points().len() <= text.lines().count());
    let _ = swaps::names(&tree::table_text(bytes));
    let _ = tree::unescape(&text);
    let _ = tree::list_count(&text);
    let _ = tree::field_number(&text, "flags");
}
