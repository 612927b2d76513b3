//! What engines are handed: descriptors that wait for the device. Under Linux before
//! 6.4 io_uring ends operations with EAGAIN where one has `O_NONBLOCK` and a layer
//! below may have to wait (dm-crypt, thin volumes, snapshots); `tests/vm/run mapper`
//! shows that on such kernels. And reads leave no access times, which a device has, too.

use crate::support::*;
use rustix::fs::OFlags;
use std::fs::File;
use stripewise_targets::{Access, Intent, Target};
use stripewise_workload::CacheMode;

const BYTES: u64 = 256 << 10;
const CACHES: [CacheMode; 4] = [
    CacheMode::Direct,
    CacheMode::DirectSync,
    CacheMode::Buffered,
    CacheMode::BufferedSync,
];

/// Every way to open it: nothing else about the descriptor changes.
fn check(target: &Target, accesses: &[Access]) {
    for cache in CACHES {
        for &access in accesses {
            let file = target.open(cache, access).expect("opens");
            let flags = rustix::fs::fcntl_getfl(&file).expect("flags");
            let mode = match access {
                Access::Read => OFlags::RDONLY,
                Access::Write => OFlags::WRONLY,
                Access::ReadWrite => OFlags::RDWR,
            };
            let direct = matches!(cache, CacheMode::Direct | CacheMode::DirectSync);
            let sync = matches!(cache, CacheMode::DirectSync | CacheMode::BufferedSync);
            assert!(
                !flags.contains(OFlags::NONBLOCK),
                "{cache:?}, {access:?}: {flags:?}"
            );
            assert_eq!(flags & OFlags::RWMODE, mode, "{cache:?}, {access:?}");
            assert_eq!(flags.contains(OFlags::DIRECT), direct, "{cache:?}");
            assert_eq!(flags.contains(OFlags::DSYNC), sync, "{cache:?}");
            assert!(flags.contains(OFlags::NOATIME), "{cache:?}, {access:?}");
        }
    }
}

const ALL: [Access; 3] = [Access::Read, Access::Write, Access::ReadWrite];

#[test]
fn operations_on_files_wait_for_the_device() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    check(&target(&path, &reading()), &[Access::Read]);
    check(&target(&path, &overwriting()), &ALL);
}

#[test]
fn operations_on_test_files_wait_for_the_device() {
    own_process!();
    let top = directory();
    check(&target(top.path(), &filling(1)), &ALL);
    let kept_test_file = Intent {
        create: true,
        ..filling(1)
    };
    check(&target(top.path().join("kept"), &kept_test_file), &ALL);
    check(
        &target(top.path().join("kept"), &reading()),
        &[Access::Read],
    );
}

#[test]
fn operations_on_devices_wait_for_the_device() {
    own_process!();
    if !can_run("operations_on_devices_wait_for_the_device", &["losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    check(&target(&device.device, &reading()), &[Access::Read]);
    check(&target(&device.device, &destroying(device.name())), &ALL);
}

#[test]
fn who_does_not_own_a_device_reads_it_with_access_times() {
    own_process!();
    let test = "who_does_not_own_a_device_reads_it_with_access_times";
    if !can_run(test, &["losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    // The system's own node keeps its permissions when the device is detached.
    let top = directory();
    let node = open_node(&device, top.path());
    as_ordinary_user(|| {
        if File::open(&node).is_err() {
            return skip(test, "a temporary directory that allows device nodes");
        }
        let file = target(&node, &reading()).open(CacheMode::Direct, Access::Read);
        let flags = rustix::fs::fcntl_getfl(file.expect("opens")).expect("flags");
        assert!(!flags.contains(OFlags::NOATIME), "{flags:?}");
    });
}
