//! Whose the files are, who may read them, and what the system refuses to open.

use crate::common::*;
use crate::skips::skip;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use stripewise_store::ErrorKind;

const NOBODY: u32 = 65_534;

/// The child: creates a store and stops with it open, so that the adjacent files can be examined;
/// or opens one and reports why it could not.
#[test]
#[ignore = "the child of other tests"]
fn child_with_rights() {
    let Some((role, path)) = child_role() else {
        return;
    };
    let mut out = std::io::stdout();
    if role.starts_with("starved") || role == "refused" {
        // Descriptors run out before the store's file is opened.
        let mut hoard = Vec::new();
        while role.starts_with("starved")
            && let Ok(file) = std::fs::File::open("/dev/null")
        {
            hoard.push(file);
        }
        // The number is the remaining limit: enough for the file, too few for the adjacent ones.
        let left = role.trim_start_matches("starved").parse().unwrap_or(0);
        hoard.truncate(hoard.len().saturating_sub(left));
        let error = open(&path).unwrap_err();
        drop(hoard);
        writeln!(out, "failed {error} / {}", error.hint()).unwrap();
        return;
    }
    let mut store = open(&path).unwrap();
    let id = format!("by-{}", std::process::id());
    store.save_run(&finished(&id, 1, 1)).unwrap();
    writeln!(out, "made").unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Where tests are built others may not look; a copy can be run by anybody.
fn copy_for_all() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), place.path().join("it")).unwrap();
    place
}

/// The child above as another user and under another umask.
fn run_as(uid: u32, umask: &str, role: &str, program: &tempfile::TempDir, store: &Path) -> Child {
    Command::new("setpriv")
        .args([format!("--reuid={uid}"), format!("--regid={uid}")])
        .args(["--clear-groups", "--", "sh", "-c"])
        .arg(format!("umask {umask}; exec \"$0\" \"$@\""))
        .arg(program.path().join("it"))
        .args(["--ignored", "--exact", "--nocapture", "--quiet"])
        .arg("rights::child_with_rights")
        .env("STRIPEWISE_TEST_ROLE", role)
        .env("STRIPEWISE_TEST_STORE", store)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Makes a store so, and looks at it while it is open.
fn made_by(uid: u32, umask: &str, path: &Path, look: impl FnOnce()) {
    let program = copy_for_all();
    let mut child = run_as(uid, umask, "make", &program, path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines.any(|line| line.unwrap().ends_with("made")),
        "no store was made at {}",
        path.display()
    );
    look();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

fn can_change_user(test: &str) -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let tool = Command::new("setpriv").arg("--version").output().is_ok();
    if !root || !tool {
        skip(test, "root (setpriv)");
    }
    root && tool
}

/// Mode and owner of the store's file and all adjacent ones.
#[track_caller]
fn check_files(store: &Path, mode: u32, uid: u32) {
    let mut seen = 0;
    for entry in std::fs::read_dir(store.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        let name = entry.file_name();
        assert_eq!(metadata.mode() & 0o7777, mode, "{}", name.display());
        assert_eq!(metadata.uid(), uid, "{}", name.display());
        seen += 1;
    }
    assert!(seen >= 3, "the file, its log and the log's index");
}

#[test]
fn what_root_makes_is_for_root_only_whatever_the_umask() {
    own_process!();
    let test = "what_root_makes_is_for_root_only_whatever_the_umask";
    if !can_change_user(test) {
        return;
    }
    for umask in ["000", "022"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        made_by(0, umask, &path, || check_files(&path, 0o600, 0));
    }
}

#[test]
fn what_others_make_follows_the_umask() {
    own_process!();
    if !can_change_user("what_others_make_follows_the_umask") {
        return;
    }
    for (umask, mode) in [("077", 0o600), ("027", 0o640)] {
        let directory = tempfile::tempdir().unwrap();
        chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        let path = directory.path().join("store.db");
        made_by(NOBODY, umask, &path, || check_files(&path, mode, NOBODY));
    }
}

#[test]
fn a_store_that_root_makes_in_a_users_home_belongs_to_the_user() {
    own_process!();
    let test = "a_store_that_root_makes_in_a_users_home_belongs_to_the_user";
    if !can_change_user(test) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let path = home.path().join(".local/share/stripewise/store.db");
    made_by(0, "000", &path, || check_files(&path, 0o600, NOBODY));
    for above in path.ancestors().skip(1).take(3) {
        let metadata = std::fs::metadata(above).unwrap();
        assert_eq!(metadata.uid(), NOBODY, "{}", above.display());
        assert_eq!(metadata.mode() & 0o7777, 0o755, "{}", above.display());
    }
    // And goes on working for both.
    made_by(NOBODY, "022", &path.with_file_name("store.db"), || {});
}

#[test]
fn a_directory_that_somebody_put_a_link_in_place_of_is_not_given_away() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    stripewise_store::create_directories(&link.join("below")).unwrap();
    assert!(target.join("below").is_dir());
    let error = stripewise_store::create_new(&link).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn a_store_of_another_user_names_the_owner_and_what_to_do() {
    own_process!();
    let test = "a_store_of_another_user_names_the_owner_and_what_to_do";
    if !can_change_user(test) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = directory.path().join("store.db");
    drop(open(&path).unwrap());
    let program = copy_for_all();
    let output = run_as(NOBODY, "022", "refused", &program, &path)
        .wait_with_output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains("belongs to root"), "{output}");
    assert!(output.contains("sudo chown"), "{output}");
}

#[test]
fn descriptors_that_run_out_are_named_as_that() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    for role in ["starved", "starved1", "starved2"] {
        let child = child("rights::child_with_rights", role, &path);
        let output = child.wait_with_output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.contains("Too many open files"), "{output}");
        assert!(output.contains("ulimit -n"), "{output}");
        assert!(!output.contains("cannot be written"), "{output}");
        assert!(!output.contains("read-only"), "{output}");
        // The second and third time there is one.
        drop(open(&path).unwrap());
    }
}

#[test]
fn a_store_that_is_deleted_or_replaced_while_open_is_noticed() {
    for replaced in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let mut store = open(&path).unwrap();
        let run = store.begin_run(&skeleton("one", 1)).unwrap();
        let moved_path = directory.path().join("elsewhere.db");
        std::fs::rename(&path, &moved_path).unwrap();
        if replaced {
            std::fs::write(&path, b"something else").unwrap();
        }
        let error = store.finish_run(run, &finished("one", 1, 1)).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Displaced, "{error:?}");
        let error = store.save_run(&finished("two", 1, 1)).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Displaced, "{error:?}");
    }
}

#[test]
fn a_file_goes_to_the_owner_of_the_directory_that_it_is_really_in() {
    let test = "a_file_goes_to_the_owner_of_the_directory_that_it_is_really_in";
    if !can_change_user(test) {
        return;
    }
    // A user's link to a directory of root's, and one of root's to a user's.
    let top = tempfile::tempdir().unwrap();
    let (of_user, of_root) = (top.path().join("user"), top.path().join("root"));
    for (directory, owner) in [(&of_user, NOBODY), (&of_root, 0)] {
        std::fs::create_dir(directory).unwrap();
        chown(directory, Some(owner), Some(owner)).unwrap();
    }
    std::os::unix::fs::symlink(&of_root, of_user.join("link")).unwrap();
    std::os::unix::fs::symlink(&of_user, of_root.join("link")).unwrap();
    for (place, owner) in [(of_user.join("link"), 0), (of_root.join("link"), NOBODY)] {
        stripewise_store::create_new(&place.join("file")).unwrap();
        stripewise_store::create_directories(&place.join("one/two")).unwrap();
        for name in ["file", "one", "one/two"] {
            let made = std::fs::metadata(place.join(name)).unwrap();
            assert_eq!(made.uid(), owner, "{}", place.join(name).display());
        }
    }
    // A name that can only be a directory's is not a file's.
    let error = stripewise_store::create_new(&of_user.join("new/")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::IsADirectory);
    assert!(!of_user.join("new").exists());
}
