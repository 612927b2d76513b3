//! Real loop devices, which need root and losetup.

use crate::borrowed::{Loop, can_run, directory, wait_until};
use crate::scratch::Scratch;
use stripewise_disk_inspect::storage::{BlockDeviceKind, Use};
use stripewise_disk_inspect::{Inspect, System};

#[test]
fn a_loop_device_leads_to_the_disk_of_its_file_and_is_found_from_the_file() {
    const NAME: &str = "a_loop_device_leads_to_the_disk_of_its_file_and_is_found_from_the_file";
    if !can_run(NAME, &["root", "losetup"]) {
        return;
    }
    let mut scratch = Scratch::new("loop-backing");
    scratch.file.set_len(8 << 20).expect("a file of 8 MiB");
    let backing = scratch.path.clone();
    let attached = Loop::over(backing, directory(), &["--direct-io=off"]);
    let system = System::live();
    let storage = system
        .storage_of_path(attached.path())
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
    // Other tests query each loop device for its backing; one that has the device open at that
    // moment keeps it until it is closed.
    wait_until("the device lets go of its file", || {
        system.uses_of_file(&scratch.file).is_empty()
    });
}
