//! This machine: only what must hold on any Linux.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stripewise_disk_inspect::observe::Snapshot;
use stripewise_disk_inspect::{System, cached_bytes, content, layout};

/// A file in the target folder that goes with its value.
struct Scratch {
    file: File,
    path: std::path::PathBuf,
}

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("{name}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .expect("a file in the target folder");
        Scratch { file, path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[test]
fn the_host_has_a_kernel_memory_and_a_processor() {
    let host = System::live().host();
    assert!(host.kernel.is_some());
    assert!(host.cpu.count_usable >= 1);
    assert!(host.memory.total_bytes.is_some_and(|bytes| bytes > 1 << 20));
}

#[test]
fn a_file_and_its_path_lie_on_the_same_storage() {
    let scratch = Scratch::new("same-storage");
    let system = System::live();
    let by_file = system.storage_of_file(&scratch.file).expect("by file");
    let by_path = system.storage_of_path(&scratch.path).expect("by path");
    let kind = |storage: &stripewise_disk_inspect::storage::Storage| {
        let file_system = storage.file_system.clone().expect("a file system");
        (file_system.kind, file_system.mount_point)
    };
    assert_eq!(kind(&by_file), kind(&by_path));
    assert_eq!(by_file.layers().len(), by_path.layers().len());
}

#[test]
fn pseudo_files_pipes_and_missing_paths_do_no_harm() {
    let system = System::live();
    for path in ["/proc/self/mem", "/dev/null", "/dev/full", "/proc", "/"] {
        let _ = system.storage_of_path(Path::new(path)).expect(path);
    }
    let error = system
        .storage_of_path(Path::new("/no/such/path"))
        .expect_err("it does not exist");
    assert!(error.to_string().contains("/no/such/path"));
    assert!(!error.hint().is_empty());
}

#[test]
fn every_device_of_this_machine_can_be_read() {
    let system = System::live();
    for number in system.devices() {
        // Devices come and go while tests run; what is there has a name.
        if let Ok(device) = system.device(number) {
            assert!(!device.name.is_empty());
            assert_eq!(device.number, number);
        }
        let _ = system.uses_of_device(number);
    }
}

#[test]
fn holes_are_told_from_data() {
    let scratch = Scratch::new("holes");
    scratch.file.set_len(1 << 20).expect("a sparse file");
    scratch
        .file
        .write_all_at(&[1; 65_536], 1 << 18)
        .expect("data");
    scratch.file.sync_all().expect("on disk");
    let Some(found) = layout(&scratch.file) else {
        eprintln!("skipped: holes_are_told_from_data: needs a file system with FIEMAP");
        assert!(std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_none_or(|value| value != "1"));
        return;
    };
    assert_eq!(found.size_bytes, 1 << 20);
    assert_eq!(found.hole_bytes, (1 << 20) - 65_536);
    assert!(!found.partial);
    assert_eq!(found.unwritten_bytes, 0);
    let sampled = content::sample(&scratch.file, 0, 1 << 20, 16);
    assert_eq!((sampled.blocks, sampled.blocks_zero), (256, 240));
    // Sixteen blocks of ones: one is new, the others repeat it.
    assert_eq!(
        (sampled.blocks_repeated, sampled.blocks_compressible),
        (15, 1)
    );
    assert!(cached_bytes(&scratch.file).is_none_or(|bytes| bytes >= 65_536));
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
