//! This machine: only what must hold on any Linux.

use crate::scratch::Scratch;
use crate::skips::skip;
use std::os::unix::fs::FileExt;
use stripewise_machine::observe::Snapshot;
use stripewise_machine::{System, cached_bytes, content};

#[test]
fn the_host_has_a_kernel_memory_and_a_processor() {
    let host = System::live().host();
    assert!(host.kernel.is_some());
    assert!(host.cpu.count_usable >= 1);
    assert!(host.memory.total_bytes.is_some_and(|bytes| bytes > 1 << 20));
}

#[test]
fn snapshots_move_forward() {
    let scratch = Scratch::new("snapshot");
    scratch.file.write_all_at(&[3; 8192], 0).expect("data");
    let system = System::live();
    let before = Snapshot::take(&system, &[], &[&scratch.file]);
    let observed = before.difference(&Snapshot::take(&system, &[], &[&scratch.file]));
    assert!(observed.elapsed_ns > 0);
    assert_eq!(observed.suspended_ns / 1_000_000_000, 0);
    assert_eq!(observed.files[0].size_bytes, 8192);
}

#[test]
fn zeros_are_told_from_data_and_what_was_read_is_cached() {
    const NAME: &str = "zeros_are_told_from_data_and_what_was_read_is_cached";
    let scratch = Scratch::new("content");
    scratch.file.set_len(1 << 20).expect("a sparse file");
    scratch
        .file
        .write_all_at(&[1; 65_536], 1 << 18)
        .expect("data");
    let sampled = content::sample(&scratch.file, 0, 1 << 20, 16);
    assert_eq!((sampled.blocks, sampled.blocks_zero), (256, 240));
    // Sixteen blocks of ones: one is new, the others repeat it.
    assert_eq!(
        (sampled.blocks_repeated, sampled.blocks_compressible),
        (15, 1)
    );
    // Data that was just written and read is in the page cache, and this system can say so.
    match cached_bytes(&scratch.file) {
        Some(bytes) => assert!(bytes >= 65_536, "{bytes}"),
        None => skip(NAME, "mincore of this file system"),
    }
}
