//! Real loop devices, which need root and losetup.

use crate::scratch::Scratch;
use crate::skips::skip;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use stripewise_disk_inspect::storage::{BlockDeviceKind, Use};
use stripewise_disk_inspect::{Inspect, System};

/// A device that was detached is let go of when the last who has it open closes it.
const DETACHED_WITHIN: Duration = Duration::from_secs(20);

/// A loop device that goes with its value.
struct Attached {
    path: String,
}

impl Attached {
    /// `None` where this user may not, or the tool is missing.
    fn new(backing: &Path, direct_io: &str) -> Option<Self> {
        let made = Command::new("losetup")
            .args(["--find", "--show", &format!("--direct-io={direct_io}")])
            .arg(backing)
            .output()
            .ok()?;
        let path = String::from_utf8(made.stdout).ok()?.trim().to_owned();
        (made.status.success() && path.starts_with("/dev/loop")).then_some(Attached { path })
    }

    fn name(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.path]).status();
    }
}

#[test]
fn a_loop_device_leads_to_the_disk_of_its_file_and_is_found_from_the_file() {
    const NAME: &str = "a_loop_device_leads_to_the_disk_of_its_file_and_is_found_from_the_file";
    let mut scratch = Scratch::new("loop-backing");
    scratch.file.set_len(8 << 20).expect("a file of 8 MiB");
    let Some(attached) = Attached::new(&scratch.path, "off") else {
        return skip(NAME, "root and losetup");
    };
    let system = System::live();
    let storage = system
        .storage_of_path(Path::new(&attached.path))
        .expect("the loop device");
    let device = storage.nearest().expect("a device");
    assert_eq!(device.kind, BlockDeviceKind::Loop);
    assert_eq!(
        (device.name.as_str(), device.size_bytes),
        (attached.name(), 8 << 20)
    );
    let looped = device.looped.as_ref().expect("a backing");
    assert_eq!(looped.direct_io, Some(false));
    assert_eq!(looped.backing_file, scratch.path);
    assert!(storage.cached_loop().is_some());
    // The same disks as under the file itself.
    let of_file = system.storage_of_file(&scratch.file).expect("the file");
    let numbers = |devices: &[stripewise_disk_inspect::storage::BlockDevice]| {
        devices.iter().map(|one| one.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&device.below), numbers(&of_file.devices));

    let wanted = Use::LoopBacking {
        device: attached.name().to_owned(),
    };
    assert_eq!(
        system.uses_of_file(&scratch.file),
        std::slice::from_ref(&wanted)
    );
    // The file's name goes; the kernel still knows its inode.
    scratch.remove();
    assert_eq!(system.uses_of_file(&scratch.file), [wanted]);
    drop(attached);
    // Whoever has the device open at that moment keeps it until he closes it: other tests
    // ask each loop device for its backing.
    let end = Instant::now() + DETACHED_WITHIN;
    while !system.uses_of_file(&scratch.file).is_empty() {
        assert!(Instant::now() < end, "the device still has its file");
        std::thread::sleep(Duration::from_millis(5));
    }
}
