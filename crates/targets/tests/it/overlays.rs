//! Existing files on overlay file systems, where opening for writing may copy.

use crate::support::*;
use std::path::Path;
use std::process::Command;
use stripewise_targets::ErrorKind::{NeedsBusyOk, NeedsOverwrite, NoSpace, Refused};
use stripewise_targets::{Access, Intent, Size};
use stripewise_workload::CacheMode;

const BYTES: u64 = 256 << 10;

/// An overlay in a directory of its own. With `hidden` its upper directory is named relatively, so
/// that it cannot be located later.
fn overlay(top: &Path, hidden: bool) -> Option<Cleanup<impl FnMut()>> {
    for name in ["lower", "upper", "work", "merged"] {
        std::fs::create_dir(top.join(name)).expect("a directory");
    }
    users_file(&top.join("lower"), "data", BYTES);
    let start = if hidden { "" } else { text(top) };
    let [lower, upper, work] =
        ["lower", "upper", "work"].map(|name| text(&Path::new(start).join(name)).to_owned());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let mounted = Command::new("mount")
        .args(["-t", "overlay", "overlay", "-o", &options, "merged"])
        .current_dir(top)
        .output()
        .expect("mount starts");
    let merged = top.join("merged");
    mounted
        .status
        .success()
        .then(|| Cleanup(move || unmount(&merged)))
}

/// An intent without the assurance that no one else uses the file.
fn unsure() -> Intent {
    Intent {
        busy_ok: false,
        ..overwriting()
    }
}

#[test]
fn a_file_in_a_lower_layer_of_an_overlay_is_not_copied_up() {
    own_process!();
    const TEST: &str = "a_file_in_a_lower_layer_of_an_overlay_is_not_copied_up";
    if !can_run(TEST, &["mount"]) {
        return;
    }
    let top = directory();
    let Some(_undo) = overlay(top.path(), false) else {
        return skip_kernel(TEST, "overlay");
    };
    let merged = top.path().join("merged");
    let data = merged.join("data");
    refused(plan(&data, &overwriting()), Refused, "lower layer");
    refused(plan(&data, &writing()), NeedsOverwrite, "lower layer");
    assert_eq!(names(&top.path().join("upper")), Vec::<String>::new());
    target(merged.join("data"), &reading());
    // A file of the upper layer is like any other.
    let own = users_file(&merged, "own", BYTES);
    let target = target(&own, &overwriting());
    let file = target
        .open(CacheMode::Direct, Access::Write)
        .expect("opens");
    write_block(&file, 0, 1).expect("writes");
    assert_untouched(&top.path().join("lower/data"), BYTES);
}

#[test]
fn who_uses_a_file_in_the_upper_directory_is_seen_through_the_overlay() {
    own_process!();
    const TEST: &str = "who_uses_a_file_in_the_upper_directory_is_seen_through_the_overlay";
    if !can_run(TEST, &["mount", "losetup"]) {
        return;
    }
    let top = directory();
    let Some(_undo) = overlay(top.path(), false) else {
        return skip_kernel(TEST, "overlay");
    };
    let own = users_file(&top.path().join("merged"), "own", BYTES);
    let below = top.path().join("upper/own");
    let opened = target(&own, &overwriting());
    let again = || opened.open(CacheMode::Direct, Access::Write).map(drop);
    again().expect("nobody uses it");
    let above = Loop::stacked(&below);
    let expected_text = format!("the backing of /dev/{}", above.name());
    refused(plan(&own, &overwriting()), Refused, &expected_text);
    refused(again(), Refused, &expected_text);
    drop(above);
    let holder = Holder::of(&below);
    let expected_text = format!("pid {}", holder.pid());
    refused(plan(&own, &overwriting()), Refused, &expected_text);
    refused(again(), Refused, &expected_text);
    drop(holder);
    again().expect("nobody uses it any more");
    assert_untouched(&own, BYTES);
}

#[test]
fn where_the_layers_of_an_overlay_are_out_of_sight_copying_up_is_told() {
    own_process!();
    const TEST: &str = "where_the_layers_of_an_overlay_are_out_of_sight_copying_up_is_told";
    if !can_run(TEST, &["mount"]) {
        return;
    }
    let top = directory();
    let Some(_undo) = overlay(top.path(), true) else {
        return skip_kernel(TEST, "overlay");
    };
    let path = top.path().join("merged/data");
    // No one can determine who uses the file's own inode, so the user has to decide.
    refused(plan(&path, &unsure()), NeedsBusyOk, "relative path");
    let first = target(&path, &overwriting());
    let error = refused(
        first.open(CacheMode::Direct, Access::Write),
        Refused,
        "lower layer",
    );
    assert!(error.hint.contains("again"), "{error:?}");
    assert_untouched(&path, BYTES);
    drop(first);
    let second = target(&path, &overwriting());
    let file = second
        .open(CacheMode::Direct, Access::Write)
        .expect("it is in the upper layer now");
    write_block(&file, 0, 1).expect("writes");
    assert_untouched(&top.path().join("lower/data"), BYTES);
}

#[test]
fn a_file_that_may_be_copied_up_counts_whole_against_the_free_space() {
    own_process!();
    const TEST: &str = "a_file_that_may_be_copied_up_counts_whole_against_the_free_space";
    if !can_run(TEST, &["mount", "losetup", "mkfs.ext4"]) {
        return;
    }
    // So full that nothing may grow on it.
    let device = Loop::new(64 * MIB);
    run("mkfs.ext4", &["-q", &device.device]);
    let mount = Mount::new(&[&device.device]);
    let Some(_undo) = overlay(&mount.path, true) else {
        return skip_kernel(TEST, "overlay");
    };
    users_file(&mount.path, "hog", 44 * MIB);
    let path = mount.path.join("merged/data");
    let part = Intent {
        size: Size::Exactly(4096),
        ..overwriting()
    };
    refused(plan(&path, &part), NoSpace, "copied whole");
    assert_eq!(names(&mount.path.join("upper")), Vec::<String>::new());
}
