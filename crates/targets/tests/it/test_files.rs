//! Test files: full, dense, incompressible, invisible, and gone afterwards.

use crate::support::*;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use stripewise_results::TargetKind;
use stripewise_targets::ErrorKind::{Interrupted, NoSpace, Refused, Unusable};
use stripewise_targets::{Access, Intent, PlanContext, Size, Target};
use stripewise_workload::{CacheMode, DataPattern};

fn check_dense(target: &Target, bytes: u64) {
    assert_eq!(target.size_bytes(), bytes);
    assert_eq!(target.facts().size_bytes, bytes);
    let facts = target.data_facts().expect("facts");
    let layout = facts.layout.as_ref().expect("a layout");
    assert_eq!(layout.size_bytes, bytes);
    assert_eq!(
        (layout.hole_bytes, layout.unwritten_bytes),
        (0, 0),
        "{layout:?}"
    );
    assert!(layout.allocated_bytes >= bytes, "{layout:?}");
    let content = &facts.content;
    assert!(content.blocks > 0);
    let suspect = content.blocks_zero + content.blocks_repeated + content.blocks_compressible;
    assert_eq!(suspect, 0, "{content:?}");
}

#[test]
fn a_test_file_is_full_of_noise_has_no_name_and_vanishes() {
    own_process!();
    let top = directory();
    let plan = plan(top.path(), &filling(16)).expect("there is room");
    assert_eq!(
        names(top.path()),
        Vec::<String>::new(),
        "a plan makes nothing"
    );
    assert_eq!(plan.kind, TargetKind::TestFile);
    assert!(plan.to_string().contains("test file of 16 MiB"), "{plan}");
    let mut reports = Vec::new();
    let mut progress = Watching::new(|progress| {
        assert_eq!(
            names(top.path()),
            Vec::<String>::new(),
            "no name, however we die"
        );
        reports.push(progress);
        ControlFlow::Continue(())
    });
    let target = stripewise_targets::prepare(plan, &PlanContext::none(), &mut progress);
    let target = target.expect("filled");
    check_dense(&target, 16 * MIB);
    assert_eq!(reports.first().map(|first| first.done_bytes), Some(0));
    assert_eq!(reports.last().map(|last| last.done_bytes), Some(16 * MIB));
    let file = target
        .open(CacheMode::Direct, Access::ReadWrite)
        .expect("opens");
    write_block(&file, 15 * MIB, 7).expect("writes");
    assert_eq!(names(top.path()), Vec::<String>::new());
    target.finish().expect("gone");
}

#[test]
fn an_ordinary_user_gets_the_same_test_file() {
    own_process!();
    let top = directory();
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o777)).expect("open to all");
    as_ordinary_user(|| {
        let target = target(top.path(), &filling(4));
        check_dense(&target, 4 * MIB);
        target
            .open(CacheMode::Direct, Access::ReadWrite)
            .expect("opens");
    });
    assert_eq!(names(top.path()), Vec::<String>::new());
}

#[test]
fn a_test_file_can_be_compressible_as_asked() {
    own_process!();
    let top = directory();
    let intent = Intent {
        data: DataPattern {
            compressible_percent: 50,
            dedupable_percent: 0,
        },
        ..filling(4)
    };
    let target = target(top.path(), &intent);
    let content = &target.data_facts().expect("facts").content;
    assert_eq!(content.blocks_zero, 0);
    assert_eq!(content.blocks_compressible, content.blocks);
}

#[test]
fn stopping_at_any_report_leaves_nothing() {
    own_process!();
    let top = directory();
    let intent = Intent {
        keep: true,
        ..filling(64)
    };
    for stop_at in 0..2 {
        let planned = plan(top.path(), &intent).expect("there is room");
        let mut seen = 0;
        let mut progress = Watching::new(|_| {
            seen += 1;
            if seen > stop_at {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let result = stripewise_targets::prepare(planned, &PlanContext::none(), &mut progress);
        let error = result.expect_err("stopped");
        assert_eq!(error.kind, Interrupted);
        assert_eq!(
            names(top.path()),
            Vec::<String>::new(),
            "stopped at report {stop_at}"
        );
    }
}

#[test]
fn under_a_time_limit_the_file_is_smaller_dense_and_says_so() {
    own_process!();
    let top = directory();
    let intent = Intent {
        fill_time_limit_ns: Some(1),
        ..filling(64)
    };
    let planned = plan(top.path(), &intent).expect("there is room");
    assert!(planned.to_string().contains("up to 64 MiB"), "{planned}");
    let mut progress = Watching::new(|_| ControlFlow::Continue(()));
    let target = stripewise_targets::prepare(planned, &PlanContext::none(), &mut progress);
    let target = target.expect("filled");
    let report = target.fill_report().expect("a report").clone();
    // A fast disk may be through before the first look at the clock; `fill` tests what happens
    // then on one that waits.
    if report.time_limit_hit {
        assert!(
            report.bytes < 64 * MIB && report.bytes >= 8 * MIB,
            "{report:?}"
        );
        assert!(
            target
                .notes()
                .iter()
                .any(|note| note.contains("instead of 64 MiB"))
        );
    }
    check_dense(&target, report.bytes);
}

#[test]
fn a_directory_replaced_after_the_plan_gets_no_file() {
    own_process!();
    let top = directory();
    let path = top.path().join("data");
    let other = top.path().join("other");
    for with_link in [false, true] {
        std::fs::create_dir(&path).expect("a directory");
        std::fs::create_dir(&other).expect("another one");
        let planned = plan(&path, &filling(1)).expect("there is room");
        std::fs::remove_dir(&path).expect("gone");
        if with_link {
            std::os::unix::fs::symlink(&other, &path).expect("a link");
        } else {
            std::fs::rename(&other, &path).expect("replaced");
        }
        refused(
            prepare(planned),
            Refused,
            "has changed since the plan was made",
        );
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir(&path);
        let _ = std::fs::remove_dir(&other);
    }
}

/// A file system on a sparse file: a quarter of it must stay free. The mount goes before its
/// device.
fn small_volume(mib: u64, make: &str, options: &[&str]) -> (Loop, Mount) {
    let device = Loop::new(mib * MIB);
    let mut arguments = vec!["-q"];
    arguments.extend(options);
    arguments.push(&device.device);
    run(make, &arguments);
    let mount = Mount::new(&[&device.device]);
    (device, mount)
}

fn available_bytes(path: &Path) -> u64 {
    let found = rustix::fs::statvfs(path).expect("statvfs");
    found.f_bavail * found.f_frsize
}

#[test]
fn the_floor_of_free_space_holds_and_reserved_blocks_do_not_count() {
    own_process!();
    const TEST: &str = "the_floor_of_free_space_holds_and_reserved_blocks_do_not_count";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    // A part is reserved for root, which would pass for free space in `f_bfree`.
    let (_device, mount) = small_volume(128, "mkfs.ext4", &["-m", "5"]);
    let found = rustix::fs::statvfs(&mount.path).expect("statvfs");
    let floor = (found.f_blocks * found.f_frsize).div_ceil(4);
    refused(plan(&mount.path, &filling(100)), NoSpace, "must stay (10 %");
    let all = Intent {
        size: Size::AtMost(2 << 30),
        ..writing()
    };
    let planned = plan(&mount.path, &all).expect("as much as fits");
    let fill = planned.fill.clone().expect("a test file");
    assert!(fill.free_after_bytes >= floor, "{fill:?}");
    assert_eq!(fill.asked_bytes, Some(2 << 30));
    assert!(
        planned.notes[0].contains("instead of 2 GiB"),
        "{:?}",
        planned.notes
    );
    let target = prepare(planned).expect("filled");
    assert!(
        available_bytes(&mount.path) >= floor,
        "the floor holds when it is full"
    );
    drop(target);
}

#[test]
fn space_that_others_take_in_between_is_an_error_and_the_file_is_gone() {
    own_process!();
    const TEST: &str = "space_that_others_take_in_between_is_an_error_and_the_file_is_gone";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let (_device, mount) = small_volume(128, "mkfs.ext4", &["-m", "0"]);
    let before = available_bytes(&mount.path);
    let hog = mount.path.join("hog");
    // (taken when the filling starts, what the system says)
    for (left_bytes, os) in [(8 * MIB, Some(libc::ENOSPC)), (24 * MIB, None)] {
        let planned = plan(&mount.path, &filling(16)).expect("there is room");
        let mut progress = Watching::new(|_| {
            if !hog.exists() {
                take(&hog, available_bytes(&mount.path) - left_bytes);
            }
            ControlFlow::Continue(())
        });
        let result = stripewise_targets::prepare(planned, &PlanContext::none(), &mut progress);
        let error = refused(result, NoSpace, "is removed");
        assert_eq!(error.os.and_then(|os| os.raw_os_error()), os);
        assert_eq!(names(&mount.path), ["hog"]);
        std::fs::remove_file(&hog).expect("removed");
        wait_until("our space is back", || {
            before - available_bytes(&mount.path) < MIB
        });
    }
    // Planned before, prepared after the space was taken.
    let planned = plan(&mount.path, &filling(16)).expect("there is room");
    take(&hog, available_bytes(&mount.path) - 48 * MIB);
    refused(prepare(planned), NoSpace, "no room");
    assert_eq!(names(&mount.path), ["hog"]);
}

/// Takes space by reservation.
fn take(path: &Path, bytes: u64) {
    let file = std::fs::File::create_new(path).expect("a file");
    let flags = rustix::fs::FallocateFlags::empty();
    rustix::fs::fallocate(&file, flags, 0, bytes).expect("reserved");
}

#[test]
fn a_read_only_file_system_is_told_as_such() {
    own_process!();
    if !can_run(
        "a_read_only_file_system_is_told_as_such",
        &["losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let (_device, mount) = small_volume(128, "mkfs.ext4", &[]);
    let path = users_file(&mount.path, "data", MIB);
    run("mount", &["-o", "remount,ro", text(&mount.path)]);
    refused(plan(&mount.path, &filling(1)), Unusable, "read-only");
    refused(plan(&path, &overwriting()), Unusable, "read-only");
    assert_eq!(target(&path, &reading()).size_bytes(), MIB);
}

#[test]
fn other_file_systems_get_dense_files_too() {
    own_process!();
    // btrfs takes reads off its blocks, too, and answers them from the page cache.
    for (make, sector) in [("mkfs.xfs", 512), ("mkfs.btrfs", 512), ("mkfs.ext2", 512)] {
        let test = format!("other_file_systems_get_dense_files_too ({make})");
        if !can_run(&test, &["losetup", make]) {
            continue;
        }
        let (_device, mount) = small_volume(600, make, &[]);
        let target = target(&mount.path, &filling(8));
        check_dense(&target, 8 * MIB);
        let facts = target.facts();
        let kind = facts.file_system.as_ref().map(|found| found.kind.as_str());
        assert_eq!(kind, make.strip_prefix("mkfs."));
        assert_eq!(facts.logical_sector_bytes, sector, "{make}");
        assert!(
            target.fill_report().is_some_and(|report| report.direct),
            "{make}"
        );
        assert_eq!(names(&mount.path), Vec::<String>::new());
    }
}

#[test]
fn a_container_s_file_system_of_layers_gets_a_dense_file_too() {
    own_process!();
    const TEST: &str = "a_container_s_file_system_of_layers_gets_a_dense_file_too";
    if !can_run(TEST, &["mount"]) {
        return;
    }
    let layers = directory();
    for name in ["lower", "upper", "work"] {
        std::fs::create_dir(layers.path().join(name)).expect("a layer");
    }
    let top = text(layers.path());
    let options = format!("lowerdir={top}/lower,upperdir={top}/upper,workdir={top}/work");
    let arguments = ["-t", "overlay", "overlay", "-o", &options];
    let place = directory();
    if !try_run("mount", &[&arguments[..], &[text(place.path())]].concat()) {
        return skip_kernel(TEST, "overlay over the temporary directory");
    }
    let _undo = Cleanup(|| {
        unmount(place.path());
    });
    let target = target(place.path(), &filling(4));
    assert_eq!(target.size_bytes(), 4 * MIB);
    let content = &target.data_facts().expect("facts").content;
    assert!(
        content.blocks > 0 && content.blocks_zero == 0,
        "{content:?}"
    );
    let file = target
        .open(CacheMode::Direct, Access::ReadWrite)
        .expect("opens");
    write_block(&file, 0, 1).expect("writes");
    drop((file, target));
    assert_eq!(names(place.path()), Vec::<String>::new());
    assert_eq!(names(&layers.path().join("upper")), Vec::<String>::new());
}

#[test]
fn a_device_with_sectors_of_4096_bytes_is_measured_in_those() {
    own_process!();
    if !can_run(
        "a_device_with_sectors_of_4096_bytes_is_measured_in_those",
        &["losetup"],
    ) {
        return;
    }
    let device = Loop::with(64 * MIB, &["-b", "4096"]);
    assert_eq!(
        target(&device.device, &reading()).logical_sector_bytes(),
        4096
    );
    let device = Loop::new(64 * MIB);
    assert_eq!(
        target(&device.device, &reading()).logical_sector_bytes(),
        512
    );
}

#[test]
fn tmpfs_works_and_is_told_in_the_facts() {
    own_process!();
    if !can_run("tmpfs_works_and_is_told_in_the_facts", &["mount"]) {
        return;
    }
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=3G", "tmpfs"]);
    let target = target(&mount.path, &filling(4));
    let kind = target
        .facts()
        .file_system
        .as_ref()
        .map(|found| found.kind.as_str());
    assert_eq!(kind, Some("tmpfs"));
    assert_eq!(target.facts().device, None);
    assert_eq!(target.size_bytes(), 4 * MIB);
    assert_eq!(names(&mount.path), Vec::<String>::new());
}

#[test]
fn where_direct_io_is_refused_the_default_falls_back_and_says_so() {
    own_process!();
    const TEST: &str = "where_direct_io_is_refused_the_default_falls_back_and_says_so";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(3 << 30);
    run("mkfs.ext4", &["-q", &device.device]);
    // Journalled data cannot be written directly.
    let mount = Mount::new(&["-o", "data=journal", &device.device]);
    let path = users_file(&mount.path, "data", MIB);
    for (path, intent) in [(&mount.path, filling(4)), (&path, overwriting())] {
        let target = target(path, &intent);
        assert!(target.direct_refused().is_some());
        assert_eq!(
            target.cache_in_effect(CacheMode::Direct),
            CacheMode::Buffered
        );
        assert_eq!(
            target.cache_in_effect(CacheMode::DirectSync),
            CacheMode::BufferedSync
        );
        assert!(
            target
                .notes()
                .iter()
                .any(|note| note.contains("page cache"))
        );
        let file = target.open(CacheMode::Direct, Access::Read).expect("opens");
        let flags = rustix::fs::fcntl_getfl(&file).expect("flags");
        assert!(!flags.contains(rustix::fs::OFlags::DIRECT));
        drop((file, target));

        let by_name = Intent {
            cache_by_name: true,
            ..intent
        };
        let planned = plan(path, &by_name).expect("known only when it is opened");
        refused(prepare(planned), Unusable, "--cache buffered");
    }
    assert_eq!(names(&mount.path), ["data"]);
}

#[test]
fn a_file_system_that_does_not_know_its_size_gets_no_test_file() {
    own_process!();
    const TEST: &str = "a_file_system_that_does_not_know_its_size_gets_no_test_file";
    if !can_run(TEST, &["mount"]) {
        return;
    }
    let mount = Mount::new(&["-t", "ramfs", "ramfs"]);
    refused(plan(&mount.path, &filling(1)), Unusable, "how much space");
    assert_eq!(names(&mount.path), Vec::<String>::new());
}

#[test]
fn a_volume_on_a_sparse_file_gets_no_more_than_fits_below() {
    own_process!();
    const TEST: &str = "a_volume_on_a_sparse_file_gets_no_more_than_fits_below";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let (_device, below) = small_volume(128, "mkfs.ext4", &["-m", "0"]);
    let path = below.path.join("image");
    std::fs::File::create_new(&path)
        .and_then(|file| file.set_len(8 << 30))
        .expect("sparse");
    let device = Loop::stacked(&path);
    run(
        "mkfs.ext4",
        &["-q", "-E", "lazy_itable_init=1", &device.device],
    );
    let above = Mount::new(&[&device.device]);
    refused(plan(&above.path, &filling(256)), NoSpace, "sparse file");
    plan(&above.path, &filling(4)).expect("a small one fits below, too");
}

/// The next test, by the name that the harness knows: without the crate's.
fn killed() -> String {
    let (_, module) = module_path!().split_once("::").expect("a module");
    format!("{module}::killed_while_it_has_a_test_file")
}

const KILLED_IN: &str = "STRIPEWISE_IT_KILLED_IN";

/// Not a test by itself: the process that the next test kills.
#[test]
#[ignore = "the next test starts it and kills it"]
fn killed_while_it_has_a_test_file() {
    let directory = std::env::var_os(KILLED_IN).expect("the next test says where");
    let directory = std::path::PathBuf::from(directory);
    let planned = plan(&directory, &filling(16)).expect("there is room");
    let mut progress = Watching::new(|progress| {
        println!("at {}", progress.done_bytes);
        ControlFlow::Continue(())
    });
    let target = stripewise_targets::prepare(planned, &PlanContext::none(), &mut progress);
    let target = target.expect("filled");
    let _file = target
        .open(CacheMode::Direct, Access::ReadWrite)
        .expect("opens");
    println!("at work");
    // Until it is killed, or its parent is gone.
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn killed_at_any_moment_it_leaves_no_file() {
    own_process!();
    use std::io::{BufRead, BufReader};
    let top = directory();
    for moment in ["at 0", "at 16777216", "at work"] {
        let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", &killed(), "--ignored", "--nocapture"])
            .arg("--test-threads=1")
            .env(KILLED_IN, top.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let reached = output
            .lines()
            .map_while(Result::ok)
            .any(|line| line.ends_with(moment));
        child.kill().expect("killed with SIGKILL");
        child.wait().expect("gone");
        assert!(reached, "it came to `{moment}`");
        assert_eq!(names(top.path()), Vec::<String>::new(), "killed {moment}");
    }
}
