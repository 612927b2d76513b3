//! Existing files: read without a trace, written only with leave, and never
//! where no flag allows it.

use crate::support::*;
use rustix::fs::OFlags;
use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use stripewise_targets::ErrorKind::{Denied, NeedsOverwrite, NoSpace, Refused, TooSmall, Unusable};
use stripewise_targets::{Access, Intent, PlanContext, Size};
use stripewise_workload::CacheMode;

const BYTES: u64 = 256 << 10;

/// Refused with `--overwrite`, not written, and without the flag the hint says
/// that the flag would not help.
fn check_never_written(path: &Path, expected_text: &str) {
    refused(plan(path, &overwriting()), Refused, expected_text);
    let error = refused(plan(path, &writing()), NeedsOverwrite, expected_text);
    assert!(
        error.hint.starts_with("It would be refused anyway"),
        "{}",
        error.hint
    );
    assert_untouched(path, BYTES);
}

#[test]
fn reading_opens_read_only_and_leaves_no_trace() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let before = std::fs::metadata(&path).expect("there");
    let target = target(&path, &reading());
    for cache in [CacheMode::Direct, CacheMode::Buffered] {
        let file = target.open(cache, Access::Read).expect("opens");
        let flags = rustix::fs::fcntl_getfl(&file).expect("flags");
        assert_eq!(flags & OFlags::RWMODE, OFlags::RDONLY);
        assert_eq!(flags.contains(OFlags::DIRECT), cache == CacheMode::Direct);
        write_block(&file, 0, 0xff).expect_err("not open for writing");
    }
    for access in [Access::Write, Access::ReadWrite] {
        let error = target
            .open(CacheMode::Direct, access)
            .expect_err("not planned");
        assert_eq!(error.kind, Refused);
    }
    drop(target);
    let after = std::fs::metadata(&path).expect("there");
    assert_eq!(before.mtime_nsec(), after.mtime_nsec());
    assert_eq!(before.atime_nsec(), after.atime_nsec());
    assert_untouched(&path, BYTES);
}

#[test]
fn writing_needs_leave_and_then_changes_neither_size_nor_inode() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    refused(plan(&path, &writing()), NeedsOverwrite, "--overwrite");
    let before = std::fs::metadata(&path).expect("there");
    let target = target(&path, &overwriting());
    assert_eq!(target.size_bytes(), BYTES);
    assert_untouched(&path, BYTES);
    let file = target
        .open(CacheMode::Direct, Access::ReadWrite)
        .expect("opens");
    assert_eq!(write_block(&file, 4096, 0xaa).expect("writes"), 4096);
    target.finish().expect("nothing to remove");
    let after = std::fs::metadata(&path).expect("still there");
    assert_eq!((before.len(), before.ino()), (after.len(), after.ino()));
    let data = std::fs::read(&path).expect("readable");
    assert!(data[4096..8192].iter().all(|byte| *byte == 0xaa));
    assert_eq!(&data[..8], b"precious");
}

#[test]
fn sync_modes_open_with_their_flags() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let target = target(&path, &overwriting());
    for (cache, direct, sync) in [
        (CacheMode::Direct, true, false),
        (CacheMode::DirectSync, true, true),
        (CacheMode::Buffered, false, false),
        (CacheMode::BufferedSync, false, true),
    ] {
        let file = target.open(cache, Access::Write).expect("opens");
        let flags = rustix::fs::fcntl_getfl(&file).expect("flags");
        assert_eq!(flags.contains(OFlags::DIRECT), direct, "{cache:?}");
        assert_eq!(flags.contains(OFlags::DSYNC), sync, "{cache:?}");
    }
}

#[test]
fn files_with_several_names_are_never_written() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    std::fs::hard_link(&path, top.path().join("other")).expect("a link");
    check_never_written(&path, "2 names");
}

#[test]
fn a_second_name_made_after_the_plan_or_after_the_opening_stops_the_writing() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let other = top.path().join("other");
    let early = plan(&path, &overwriting()).expect("may be written");
    std::fs::hard_link(&path, &other).expect("a link");
    refused(prepare(early), Refused, "2 names");
    std::fs::remove_file(&other).expect("gone");
    let target = target(&path, &overwriting());
    std::fs::hard_link(&path, &other).expect("a link");
    let late = target.open(CacheMode::Direct, Access::Write);
    refused(late, Refused, "second name");
    assert_untouched(&path, BYTES);
}

#[test]
fn a_file_cut_after_the_opening_is_not_made_to_grow_again_by_later_opens() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let target = target(&path, &overwriting());
    let cut = |bytes| {
        let file = File::options().write(true).open(&path).expect("opens");
        file.set_len(bytes).expect("cut");
    };
    cut(BYTES / 2);
    let late = target.open(CacheMode::Direct, Access::Write);
    refused(late, Refused, "was cut from 256 KiB to 128 KiB");
    assert_untouched(&path, BYTES / 2);
    // Who made it larger again works on it.
    cut(BYTES * 2);
    let late = target.open(CacheMode::Direct, Access::Write);
    refused(late, Refused, "was cut from 256 KiB to 128 KiB");
}

#[test]
fn a_file_replaced_after_the_plan_is_not_touched() {
    own_process!();
    let top = directory();
    for with_link in [false, true] {
        let path = users_file(top.path(), "data", BYTES);
        let precious = users_file(top.path(), "precious", BYTES);
        let plan = plan(&path, &overwriting()).expect("may be written");
        if with_link {
            std::fs::remove_file(&path).expect("gone");
            std::os::unix::fs::symlink(&precious, &path).expect("a link");
        } else {
            std::fs::rename(&precious, &path).expect("replaced");
        }
        refused(
            prepare(plan),
            Refused,
            "has changed since the plan was made",
        );
        assert_untouched(&path, BYTES);
        std::fs::remove_file(&path).expect("gone");
    }
}

#[test]
fn a_file_replaced_after_the_opening_is_not_touched_by_later_opens() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let precious = users_file(top.path(), "precious", BYTES);
    let target = target(&path, &overwriting());
    std::fs::rename(&precious, &path).expect("replaced");
    // The judged inode is still ours to write; the name leads elsewhere now.
    let file = target
        .open(CacheMode::Buffered, Access::Write)
        .expect("opens");
    write_block(&file, 0, 0xff).expect("writes");
    assert_untouched(&path, BYTES);
}

#[test]
fn a_path_that_flips_to_a_link_all_the_time_never_leads_to_a_protected_file() {
    own_process!();
    let top = directory();
    let (path, precious) = (
        top.path().join("data"),
        users_file(top.path(), "precious", BYTES),
    );
    // Protected by its second name, whatever the flags.
    std::fs::hard_link(&precious, top.path().join("second")).expect("a second name");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (file, link) = (top.path().join("file"), top.path().join("link"));
            loop {
                std::fs::write(&file, vec![0; 8192]).expect("a file without worth");
                std::fs::rename(&file, &path).expect("flipped");
                std::os::unix::fs::symlink(&precious, &link).expect("a link");
                std::fs::rename(&link, &path).expect("flipped");
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        while !path.exists() {
            std::thread::yield_now();
        }
        for _ in 0..200 {
            let opened = plan(&path, &overwriting())
                .and_then(prepare)
                .and_then(|target| target.open(CacheMode::Buffered, Access::Write));
            if let Ok(file) = opened {
                write_block(&file, 0, 0xff).expect("writes");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // The last flip was to the link.
    refused(plan(&path, &overwriting()), Refused, "2 names");
    assert_untouched(&precious, BYTES);
}

#[test]
fn a_symbolic_link_leads_to_its_file_and_is_judged_as_that() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let link = top.path().join("link");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    let plan = plan(&link, &overwriting()).expect("may be written");
    assert_eq!(plan.path, std::fs::canonicalize(&path).expect("there"));
    std::fs::hard_link(&path, top.path().join("other")).expect("a second name");
    refused(
        crate::support::plan(&link, &overwriting()),
        Refused,
        "2 names",
    );
}

#[test]
fn files_open_elsewhere_are_never_written() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let holder = Holder::of(&path);
    check_never_written(&path, &format!("pid {}", holder.pid()));
    drop(holder);
    let own = File::open(&path).expect("opens");
    check_never_written(&path, "by this very run");
    drop(own);
    plan(&path, &overwriting()).expect("no process has it open any more");
}

#[test]
fn a_file_under_two_spellings_in_one_run_is_told_as_that() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let link = top.path().join("link");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    let other_spelling = top.path().join(".").join("data");
    let plans = [&link, &other_spelling].map(|name| plan(name, &overwriting()).expect("free"));
    let first = target(&path, &overwriting());
    for plan in plans {
        let error = refused(prepare(plan), Refused, "by this very run");
        assert!(error.hint.contains("the same way in all jobs"), "{error:?}");
    }
    drop(first);
    target(&link, &overwriting());
    // A handle through which nothing can be read or written is no use.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let _handle = rustix::fs::open(&path, flags, rustix::fs::Mode::empty()).expect("opens");
    target(&path, &overwriting());
}

#[test]
fn a_file_opened_between_plan_and_preparation_is_not_written() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let plan = plan(&path, &overwriting()).expect("may be written");
    let _holder = Holder::of(&path);
    refused(prepare(plan), Refused, "is open in sleep");
    assert_untouched(&path, BYTES);
}

#[test]
fn a_file_opened_by_somebody_after_the_preparation_is_not_opened_for_writing_again() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let target = target(&path, &overwriting());
    // Our own descriptor of an earlier run is no obstacle.
    let _earlier = target
        .open(CacheMode::Direct, Access::Write)
        .expect("ours alone");
    let holder = Holder::of(&path);
    for access in [Access::Write, Access::ReadWrite] {
        let late = target.open(CacheMode::Direct, access);
        refused(late, Refused, &format!("pid {}", holder.pid()));
    }
    target
        .open(CacheMode::Direct, Access::Read)
        .expect("reading hurts nobody");
    drop(holder);
    target
        .open(CacheMode::Direct, Access::Write)
        .expect("ours alone again");
    assert_untouched(&path, BYTES);
}

#[test]
fn a_file_that_becomes_a_loop_backing_is_not_opened_for_writing_again() {
    own_process!();
    const TEST: &str = "a_file_that_becomes_a_loop_backing_is_not_opened_for_writing_again";
    if !can_run(TEST, &["losetup"]) {
        return;
    }
    let top = directory();
    let path = users_file(top.path(), "data", BYTES);
    let target = target(&path, &overwriting());
    let _device = Loop::stacked(&path);
    let late = target.open(CacheMode::Direct, Access::Write);
    refused(late, Refused, "backing of /dev/loop");
    assert_untouched(&path, BYTES);
}

#[test]
fn a_running_program_is_never_written() {
    own_process!();
    let top = directory();
    let path = top.path().join("program");
    std::fs::copy("/bin/sleep", &path).expect("a copy");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("executable");
    let mut command = Command::new(&path);
    command.arg("3600");
    let _running = Holder::running(command);
    refused(plan(&path, &overwriting()), Refused, "mapped into memory");
}

#[test]
fn writing_to_somebody_elses_file_is_refused_where_openers_cannot_be_seen() {
    own_process!();
    const TEST: &str = "writing_to_somebody_elses_file_is_refused_where_openers_cannot_be_seen";
    if !can_run(TEST, &[]) {
        return;
    }
    let top = directory();
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o777)).expect("open to all");
    let path = users_file(top.path(), "data", BYTES);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("open to all");
    // `nobody` may write it, but is not its owner: no lease, and no view of root's processes.
    let result = as_ordinary_user(|| plan(&path, &overwriting()));
    refused(result, Refused, "may be open elsewhere");
    assert_untouched(&path, BYTES);
}

#[test]
fn an_ordinary_user_may_write_a_file_of_its_own() {
    own_process!();
    let (top, bytes) = (directory(), 1 << 20);
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o777)).expect("open to all");
    as_ordinary_user(|| {
        let path = users_file(top.path(), "data", bytes);
        refused(plan(&path, &writing()), NeedsOverwrite, "--overwrite");
        let target = target(&path, &overwriting());
        let file = target
            .open(CacheMode::Direct, Access::Write)
            .expect("opens");
        write_block(&file, 0, 1).expect("writes");
    });
}

#[test]
fn files_without_permission_say_what_is_missing() {
    own_process!();
    let top = directory();
    if !can_run("files_without_permission_say_what_is_missing", &[]) {
        return;
    }
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o755)).expect("listable");
    let path = users_file(top.path(), "data", BYTES);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("private");
    let result = as_ordinary_user(|| plan(&path, &reading()));
    refused(result, Denied, "owner of the file");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("readable");
    as_ordinary_user(|| plan(&path, &reading())).expect("may be read");
    let result = as_ordinary_user(|| plan(&path, &overwriting()));
    refused(result, Denied, "cannot be written");
    let result = as_ordinary_user(|| plan(top.path(), &filling(1)));
    refused(result, Denied, "no file can be made");
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o700)).expect("closed");
    let result = as_ordinary_user(|| plan(&path, &reading()));
    refused(result, Denied, "cannot be reached");
}

#[test]
fn protected_files_are_never_written() {
    own_process!();
    if !can_run("protected_files_are_never_written", &["chattr"]) {
        return;
    }
    let top = directory();
    for (flag, word) in [("+i", "immutable"), ("+a", "append-only")] {
        let path = users_file(top.path(), word, BYTES);
        run("chattr", &[flag, text(&path)]);
        let _undo = Cleanup(|| {
            try_run("chattr", &["-ia", text(&path)]);
        });
        check_never_written(&path, word);
    }
}

#[test]
fn loop_backings_are_never_written_under_any_name() {
    own_process!();
    if !can_run(
        "loop_backings_are_never_written_under_any_name",
        &["losetup"],
    ) {
        return;
    }
    let top = directory();
    let path = users_file(top.path(), "backing", BYTES);
    let device = Loop::stacked(&path);
    check_never_written(&path, &format!("backing of {}", device.device));
    // Renamed, and its old name taken by another file.
    let renamed = top.path().join("renamed");
    std::fs::rename(&path, &renamed).expect("renamed");
    users_file(top.path(), "backing", BYTES);
    check_never_written(&renamed, "backing of /dev/loop");
    plan(&path, &overwriting()).expect("the new file under the old name is free");
    // Its only known name deleted: sysfs says "(deleted)", the device knows.
    let second = top.path().join("second");
    std::fs::hard_link(&renamed, &second).expect("a second name");
    std::fs::remove_file(&renamed).expect("the first is gone");
    std::fs::remove_file(&path).expect("the name that sysfs shows is gone");
    check_never_written(&second, "backing of /dev/loop");
}

#[test]
fn loop_backings_are_never_written_by_ordinary_users_either() {
    own_process!();
    const TEST: &str = "loop_backings_are_never_written_by_ordinary_users_either";
    if !can_run(TEST, &["losetup"]) {
        return;
    }
    let top = directory();
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o777)).expect("open to all");
    let path = as_ordinary_user(|| users_file(top.path(), "backing", BYTES));
    let _device = Loop::stacked(&path);
    as_ordinary_user(|| check_never_written(&path, "backing of /dev/loop"));
    // Where sysfs leads nowhere and the device cannot be queried, the lease decides.
    let second = top.path().join("second");
    as_ordinary_user(|| std::fs::hard_link(&path, &second).expect("a second name"));
    std::fs::remove_file(&path).expect("the name that sysfs shows is gone");
    as_ordinary_user(|| check_never_written(&second, "open elsewhere"));
}

#[test]
fn swap_files_are_never_written() {
    own_process!();
    if !can_run(
        "swap_files_are_never_written",
        &["mkswap", "swapon", "mkfs.ext4", "losetup"],
    ) {
        return;
    }
    let device = Loop::new(64 * MIB);
    run("mkfs.ext4", &["-q", &device.device]);
    let mount = Mount::new(&[&device.device]);
    // A space and a backslash, which the kernel escapes.
    let path = users_file(&mount.path, "swap \\file", MIB);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("private");
    run("mkswap", &[text(&path)]);
    if !try_run("swapon", &["-p", "0", text(&path)]) {
        return skip_kernel("swap_files_are_never_written", "swap");
    }
    let _undo = Cleanup(|| {
        try_run("swapoff", &[text(&path)]);
    });
    refused(plan(&path, &overwriting()), Refused, "swap");
    let error = refused(plan(&path, &writing()), NeedsOverwrite, "swap");
    assert!(
        error.hint.starts_with("It would be refused anyway"),
        "{}",
        error.hint
    );
}

#[test]
fn the_store_and_other_databases_of_sqlite_are_never_written() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "results.db", BYTES);
    let log = users_file(top.path(), "results.db-wal", BYTES);
    let knowledge = PlanContext {
        store: Some(&path),
        ..PlanContext::none()
    };
    for file in [&path, &log] {
        refused(
            plan_knowing(file, &overwriting(), &knowledge),
            Refused,
            "store of results",
        );
    }
    // Nor opened to be read: closing it would give up the locks of this process on it.
    refused(
        plan_knowing(&path, &reading(), &knowledge),
        Refused,
        "store of results",
    );
    let other = top.path().join("other.db");
    std::fs::write(&other, b"SQLite format 3\0and more".repeat(1000)).expect("a database");
    refused(plan(&other, &overwriting()), Refused, "SQLite");
    let swap = top.path().join("swap");
    let mut area = vec![7u8; 1 << 20];
    area[4086..4096].copy_from_slice(b"SWAPSPACE2");
    std::fs::write(&swap, &area).expect("a swap file that is not in use");
    refused(plan(&swap, &overwriting()), Refused, "swap file");
}

#[test]
fn sizes_that_cannot_be_measured_are_told_and_never_made_to_fit() {
    own_process!();
    let top = directory();
    let empty = top.path().join("empty");
    File::create_new(&empty).expect("made");
    refused(plan(&empty, &overwriting()), Unusable, "is empty");
    let tiny = users_file(top.path(), "tiny", 100);
    let planned = plan(&tiny, &reading()).expect("there is something to read");
    refused(
        prepare(planned),
        Unusable,
        "smaller (100 bytes) than one sector",
    );
    let odd = users_file(top.path(), "odd", BYTES + 1000);
    let exactly = |bytes| Intent {
        size: Size::Exactly(bytes),
        ..overwriting()
    };
    refused(plan(&odd, &exactly(BYTES * 2)), TooSmall, "less than");
    let target = target(&odd, &overwriting());
    assert_eq!(
        target.size_bytes() % u64::from(target.logical_sector_bytes()),
        0
    );
    assert!(target.size_bytes() <= BYTES + 1000);
    assert_eq!(target.facts().size_bytes, BYTES + 1000);
    drop(target);
    assert_eq!(std::fs::metadata(&empty).expect("there").len(), 0);
    assert_untouched(&tiny, 100);
    assert_untouched(&odd, BYTES + 1000);
}

#[test]
fn many_tebibytes_are_no_special_case() {
    own_process!();
    let top = directory();
    let path = top.path().join("huge");
    let bytes = 12 << 40;
    File::create_new(&path)
        .and_then(|file| file.set_len(bytes))
        .expect("a sparse file");
    let target = target(&path, &reading());
    assert_eq!(target.size_bytes(), bytes);
    let layout = target
        .data_facts()
        .and_then(|facts| facts.layout.clone())
        .expect("a layout");
    assert_eq!(layout.hole_bytes, bytes);
    drop(target);
    // Writing all of it would fill the file system.
    refused(plan(&path, &overwriting()), NoSpace, "sparse");
    let part = Intent {
        size: Size::Exactly(1 << 20),
        ..overwriting()
    };
    plan(&path, &part).expect("a part of it fits");
}

#[test]
fn what_the_data_looks_like_is_told() {
    own_process!();
    let top = directory();
    let zeros = top.path().join("zeros");
    std::fs::write(&zeros, vec![0; MIB as usize]).expect("zeros");
    let repeating = users_file(top.path(), "repeating", MIB);
    let sparse = top.path().join("sparse");
    File::create_new(&sparse)
        .and_then(|file| file.set_len(MIB))
        .expect("a sparse file");
    for path in [&zeros, &repeating, &sparse] {
        File::open(path)
            .and_then(|file| file.sync_all())
            .expect("synced");
    }
    let look = |path: &Path| {
        target(path, &reading())
            .data_facts()
            .expect("facts")
            .clone()
    };

    let facts = look(&zeros);
    assert!(facts.content.blocks > 0);
    assert_eq!(facts.content.blocks_zero, facts.content.blocks);
    let facts = look(&repeating);
    assert_eq!(facts.content.blocks_zero, 0);
    assert_eq!(facts.content.blocks_repeated, facts.content.blocks - 1);
    let facts = look(&sparse);
    assert_eq!(facts.layout.expect("a layout").hole_bytes, MIB);
}

#[test]
fn a_file_that_is_changed_under_a_run_is_told_even_when_it_grew_again() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", 4 * MIB);
    let opened = target(&path, &overwriting());
    let file = opened
        .open(CacheMode::Buffered, Access::Write)
        .expect("opens");
    let watch = opened.watch().expect("a file");
    assert_eq!(watch.changed(), None);
    write_block(&file, 0, 1).expect("writes");
    assert_eq!(watch.changed(), None, "our own writes change nothing");
    let what = || watch.changed().map(|found| found.what);
    let link = top.path().join("link");
    std::fs::hard_link(&path, &link).expect("linked");
    assert!(what().expect("linked").contains("second name"));
    std::fs::remove_file(&link).expect("gone");
    std::fs::rename(&path, &link).expect("renamed");
    assert!(what().expect("renamed").contains("renamed"));
    std::fs::write(&path, "another").expect("written");
    assert!(
        what()
            .expect("replaced")
            .contains("another file took its name")
    );
    std::fs::remove_file(&link).expect("gone");
    assert!(what().expect("removed").contains("removed"));

    let path = users_file(top.path(), "second", 4 * MIB);
    for looks_between in [true, false] {
        std::fs::remove_file(&path).expect("gone");
        let path = users_file(top.path(), "second", 4 * MIB);
        let opened = target(&path, &overwriting());
        let file = opened
            .open(CacheMode::Buffered, Access::Write)
            .expect("opens");
        let watch = opened.watch().expect("a file");
        std::fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|other| other.set_len(0))
            .expect("cut");
        if looks_between {
            let changed = watch.changed().expect("cut");
            assert!(
                changed.cut && changed.what.contains("from 4 MiB to 0 B"),
                "{changed:?}"
            );
        }
        // The last block alone makes it as long as it was.
        write_block(&file, 4 * MIB - 4096, 1).expect("writes");
        file.sync_all().expect("on disk");
        assert_eq!(std::fs::metadata(&path).expect("there").len(), 4 * MIB);
        let changed = watch
            .changed()
            .expect("it is remembered, or seen by its blocks");
        assert!(changed.cut, "{changed:?}");
        if looks_between {
            // The smallest size is reported, and nothing makes it writable again.
            assert!(changed.what.contains("from 4 MiB to 0 B"), "{changed:?}");
        }
        let again = opened.open(CacheMode::Buffered, Access::Write);
        refused(again, Refused, "was cut");
    }
}

#[test]
fn the_size_of_a_cut_file_is_a_bound_where_writes_may_have_come_between() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", 4 * MIB);
    let opened = target(&path, &overwriting());
    let watch = opened.watch().expect("a file");
    let file = opened
        .open(CacheMode::Buffered, Access::Write)
        .expect("opens");
    let user = File::options().write(true).open(&path).expect("opens");
    user.set_len(0).expect("cut");
    // Before the first check, and again before the second.
    write_block(&file, MIB, 1).expect("writes");
    assert!(watch.is_cut());
    write_block(&file, 2 * MIB, 1).expect("writes");
    let changed = watch.changed().expect("cut");
    // 1 MiB and a block, representing any size below.
    assert!(changed.what.ends_with("to 1.0 MiB or less"), "{changed:?}");
}

/// What these tests need of the file system of temporary files.
const RESERVATION: &str = "a file system that reserves blocks beyond the end";

#[test]
fn blocks_beyond_the_end_that_a_file_system_takes_back_are_no_cut() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", 4 * MIB);
    let user = File::options().write(true).open(&path).expect("opens");
    let ahead = rustix::fs::FallocateFlags::KEEP_SIZE;
    if rustix::fs::fallocate(&user, ahead, 4 * MIB, 4 * MIB).is_err() {
        return skip(
            "blocks_beyond_the_end_that_a_file_system_takes_back_are_no_cut",
            RESERVATION,
        );
    }
    drop(user);
    let opened = target(&path, &overwriting());
    let watch = opened.watch().expect("a file");
    assert_eq!(watch.changed(), None);
    let user = File::options().write(true).open(&path).expect("opens");
    user.set_len(4 * MIB).expect("as long as it is");
    assert_eq!(watch.changed(), None);
}

/// Blocks beyond the end do not mask holes within it.
#[test]
fn a_sparse_file_that_loses_blocks_beyond_its_end_is_not_cut() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "data", 4 * MIB);
    let user = File::options().write(true).open(&path).expect("opens");
    user.set_len(8 * MIB).expect("a hole");
    let ahead = rustix::fs::FallocateFlags::KEEP_SIZE;
    if rustix::fs::fallocate(&user, ahead, 8 * MIB, 8 * MIB).is_err() {
        return skip(
            "a_sparse_file_that_loses_blocks_beyond_its_end_is_not_cut",
            RESERVATION,
        );
    }
    drop(user);
    let opened = target(&path, &overwriting());
    let watch = opened.watch().expect("a file");
    let user = File::options().write(true).open(&path).expect("opens");
    user.set_len(8 * MIB).expect("as long as it is");
    assert_eq!(watch.changed(), None);
    user.set_len(2 * MIB).expect("cut");
    assert!(watch.changed().expect("cut").cut);
}
