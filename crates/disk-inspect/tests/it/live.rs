//! This machine: only what must hold on any Linux.

use crate::borrowed::skip;
use crate::scratch::Scratch;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stripewise_disk_inspect::{Inspect, System, layout};

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
    let mut read = 0;
    let numbers = system.devices();
    for number in &numbers {
        match system.device(*number) {
            Ok(device) => {
                assert!(!device.name.is_empty());
                assert_eq!(device.number, *number);
                read += 1;
            }
            // Devices come and go while tests run; what is there can be read.
            Err(error) => {
                let there = Path::new(&format!("/sys/dev/block/{number}")).exists();
                assert!(!there, "{number} is there: {error}");
            }
        }
        let _ = system.uses_of_device(*number);
    }
    let shown = std::fs::read_dir("/sys/dev/block").map_or(0, Iterator::count);
    if shown == 0 {
        return skip("every_device_of_this_machine_can_be_read", "block devices");
    }
    assert!(
        read > 0,
        "{shown} devices are there, {} listed",
        numbers.len()
    );
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
        return skip("holes_are_told_from_data", "a file system with FIEMAP");
    };
    assert_eq!(found.size_bytes, 1 << 20);
    assert_eq!(found.hole_bytes, (1 << 20) - 65_536);
    assert!(!found.partial);
    assert_eq!(found.unwritten_bytes, 0);
}

#[test]
fn reserved_space_counts_as_never_written() {
    const NAME: &str = "reserved_space_counts_as_never_written";
    let scratch = Scratch::new("reserved");
    let mode = rustix::fs::FallocateFlags::empty();
    if rustix::fs::fallocate(&scratch.file, mode, 0, 1 << 20).is_err() {
        return skip(NAME, "a file system with fallocate");
    }
    scratch.file.write_all_at(&[1; 65_536], 0).expect("data");
    scratch.file.sync_all().expect("on disk");
    let Some(found) = layout(&scratch.file).filter(|found| found.unwritten_bytes > 0) else {
        return skip(NAME, "a file system that keeps unwritten extents");
    };
    assert_eq!(found.hole_bytes, 0);
    assert_eq!(found.unwritten_bytes, (1 << 20) - 65_536);
}

#[test]
fn a_captured_tree_tells_what_the_machine_tells() {
    const NAME: &str = "a_captured_tree_tells_what_the_machine_tells";
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/capture.sh");
    let out =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capture-{}", std::process::id()));
    let made = std::process::Command::new("sh")
        .arg(script)
        .arg(&out)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skip(NAME, "sh, awk and coreutils");
    }
    let (live, captured) = (System::live(), System::at(&out));
    let (host, copy) = (live.host(), captured.host());
    assert_eq!((host.kernel, host.cpu.model), (copy.kernel, copy.cpu.model));
    assert_eq!(host.cpu.quota, copy.cpu.quota);
    assert_eq!(host.memory.total_bytes, copy.memory.total_bytes);
    for number in captured.devices() {
        let (Ok(device), Ok(copy)) = (live.device(number), captured.device(number)) else {
            continue;
        };
        // Loop devices come and go while tests run.
        if device.looped.is_none() && copy.looped.is_none() && !device.name.starts_with("loop") {
            assert_eq!(
                (device.size_bytes, &device.queue),
                (copy.size_bytes, &copy.queue)
            );
            assert_eq!(
                (device.model, device.partition),
                (copy.model, copy.partition)
            );
        }
    }
    std::fs::remove_dir_all(&out).expect("the captured tree");
}
