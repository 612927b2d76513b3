//! The calls themselves, on the Windows (or Wine) that runs the test.

use crate::System;
use crate::observe::Snapshot;
use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;
use std::path::PathBuf;
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OVERLAPPED;

/// A file that is there: the test itself.
fn own() -> PathBuf {
    std::env::current_exe().expect("the test's own path")
}

#[test]
fn overlapped_and_waiting_handles_are_read_at_a_place() {
    let bytes = std::fs::read(own()).expect("the test's own bytes");
    for flags in [0, FILE_FLAG_OVERLAPPED] {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(own())
            .expect("the test's own file");
        let mut buffer = [0; 5000];
        let got = super::read_at(&file, &mut buffer, 4096).expect("a piece");
        assert_eq!(buffer[..got], bytes[4096..4096 + got]);
        assert!(got > 0);
        let end = bytes.len() as u64;
        assert_eq!(super::read_at(&file, &mut buffer, end).expect("the end"), 0);
        assert!(super::read_at(&file, &mut buffer, u64::MAX).is_err());
    }
}

#[test]
fn clocks_and_processor_time_go_forward() {
    let system = System::live();
    let before = Snapshot::take(&system, &[], &[]);
    // Looking takes processor time, sooner or later a whole tick of it.
    let moved = (0..10_000_000).any(|_| {
        let observed = before.difference(&Snapshot::take(&system, &[], &[]));
        let own = observed.own_cpu_user_ns + observed.own_cpu_system_ns;
        own > 0 && observed.elapsed_ns > 0
    });
    assert!(moved);
    let host = system.host();
    assert_eq!(host.operating_system, "windows");
    assert!(host.cpu.count_usable > 0 && host.memory.total_bytes > Some(0));
}
