//! Kept files: recognised without a flag, by nothing less than mark, inode, birth time, size and
//! the store together.

use crate::support::*;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use stripewise_targets::ErrorKind::{NeedsOverwrite, Refused, Usage};
use stripewise_targets::{Intent, MadeFile, PlanContext};

fn keeping() -> Intent {
    Intent {
        create: true,
        ..filling(2)
    }
}

/// Makes a kept file; what the store would know of it.
fn kept_test_file(path: &Path) -> MadeFile {
    let target = target(path, &keeping());
    let made = target.made_file().expect("recognisable").clone();
    target.finish().expect("nothing to remove");
    assert_eq!(std::fs::metadata(path).expect("it stays").len(), 2 * MIB);
    made
}

/// Plans a write without `--overwrite`, with a store that knows `made`.
fn plan_known(
    path: &Path,
    made: &MadeFile,
) -> stripewise_targets::Result<stripewise_targets::Plan> {
    prepared_known(path, made, &writing())
}

fn prepared_known(
    path: &Path,
    made: &MadeFile,
    intent: &Intent,
) -> stripewise_targets::Result<stripewise_targets::Plan> {
    let knowledge = PlanContext {
        is_known: &|file| made.is_same_file(file),
        ..PlanContext::none()
    };
    let plan = plan_knowing(path, intent, &knowledge)?;
    stripewise_targets::prepare(plan.clone(), &knowledge, &mut Quiet)?;
    Ok(plan)
}

/// Neither written without leave nor discarded from with leave.
fn not_ours(path: &Path, made: &MadeFile, expected_text: &str) {
    refused(plan_known(path, made), NeedsOverwrite, expected_text);
    for spec in [writing(), overwriting()] {
        let discarded = prepared_known(path, made, &discarding(spec));
        refused(discarded, Refused, "did not make");
    }
}

#[test]
fn a_kept_file_that_the_store_knows_is_written_without_a_flag() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    let made = kept_test_file(&path);
    assert_eq!((made.size_bytes, made.id.len()), (2 * MIB, 32));
    plan_known(&path, &made).expect("ours");
    assert_eq!(names(top.path()), ["kept"]);
    // Moved within its file system it is still the same file.
    let moved = top.path().join("moved");
    std::fs::rename(&path, &moved).expect("renamed");
    plan_known(&moved, &made).expect("still ours");
}

#[test]
fn looking_at_a_kept_file_leaves_no_more_than_its_first_pages_in_memory() {
    own_process!();
    const TEST: &str = "looking_at_a_kept_file_leaves_no_more_than_its_first_pages_in_memory";
    let top = directory();
    let path = top.path().join("kept");
    let made = kept_test_file(&path);
    // Open only while it is checked: a file that another process has open is not written.
    let opened = || std::fs::File::open(&path).expect("opens");
    let cached = || stripewise_machine::cached_bytes(&opened());
    opened().sync_all().expect("it is on the disk");
    rustix::fs::fadvise(opened(), 0, None, rustix::fs::Advice::DontNeed).expect("taken");
    // An in-memory file system keeps all of it, whatever the advice.
    if cached() != Some(0) {
        return skip(TEST, "a file system that takes files out of the page cache");
    }
    plan_known(&path, &made).expect("ours");
    // All of it is looked at; its head once more, for signatures.
    let left = cached().expect("known a moment ago");
    assert!(
        left <= 2 * MIB / 8,
        "reads to come would not ask the disk: {left}"
    );
}

/// Size of the kept files that become something else.
const IMAGE_MIB: u64 = 8;

/// Runs a tool on a file. What needs more than [`IMAGE_MIB`] is made in a sparse file beside it,
/// and the file gets its beginning.
fn make_image(maker: &str, switches: &[&str], mib: u64, path: &Path) {
    let sparse = path.with_file_name("sparse");
    let place = if mib > IMAGE_MIB {
        sparse.as_path()
    } else {
        path
    };
    if mib > IMAGE_MIB {
        run("truncate", &["-s", &format!("{mib}M"), text(place)]);
    }
    run(maker, &[switches, &[text(place)]].concat());
    if mib > IMAGE_MIB {
        let from: &str = &format!("if={}", text(place));
        let to: &str = &format!("of={}", text(path));
        let count: &str = &format!("count={IMAGE_MIB}");
        run(
            "dd",
            &[from, to, count, "bs=1M", "conv=notrunc", "status=none"],
        );
    }
}

#[test]
fn a_kept_file_that_became_an_image_of_something_is_somebodys() {
    own_process!();
    // With the smallest size in MiB that is enough for it.
    let makers: [(&str, &[&str], u64, &str); 10] = [
        ("mkfs.ext4", &["-q", "-F"], 8, "ext4"),
        ("mkfs.xfs", &["-q", "-f"], 320, "XFS"),
        ("mkfs.btrfs", &["-q", "-f"], 128, "btrfs"),
        ("mkfs.ntfs", &["-q", "-F", "-Q"], 8, "NTFS"),
        ("mkfs.vfat", &[], 8, "FAT"),
        ("mkswap", &[], 8, "swap"),
        ("sfdisk", &[], 8, "partition table"),
        ("sqlite3", &[], 8, "SQLite"),
        ("VHD", &[], 8, "Stripewise did not write"),
        ("text", &[], 8, "Stripewise did not write"),
    ];
    for (maker, switches, mib, expected_text) in makers {
        let test = format!("a_kept_file_that_became_an_image_of_something ({maker})");
        let by_hand = ["sqlite3", "VHD", "text"].contains(&maker);
        if !by_hand && !can_run(&test, &[maker]) {
            continue;
        }
        let top = directory();
        let path = top.path().join("kept");
        let large = Intent {
            create: true,
            ..filling(IMAGE_MIB)
        };
        let target = target(&path, &large);
        let made = target.made_file().expect("recognisable").clone();
        target.finish().expect("it stays");
        plan_known(&path, &made).expect("ours");
        match maker {
            "sfdisk" => {
                let script = format!("echo 'label: gpt\nstart=2048' | sfdisk -q {}", text(&path));
                run("sh", &["-c", &script]);
            }
            _ if by_hand => {
                let (bytes, at): (&[u8], u64) = match maker {
                    "sqlite3" => (b"SQLite format 3\0", 0),
                    "VHD" => (
                        &[b"conectix".as_slice(), &[0; 504]].concat(),
                        IMAGE_MIB * MIB - 512,
                    ),
                    _ => (&b"Not to be forgotten. ".repeat(20), 4096),
                };
                let file = std::fs::File::options().write(true).open(&path);
                file.and_then(|file| file.write_all_at(bytes, at))
                    .expect("written");
            }
            _ => make_image(maker, switches, mib, &path),
        }
        let error = refused(plan_known(&path, &made), NeedsOverwrite, expected_text);
        assert!(error.what.contains("now)"), "{maker}: {error}");
        assert!(
            !remove_kept_knows(&path, &made),
            "{maker}: it is not removed either"
        );
        if !["mkswap", "sqlite3"].contains(&maker) {
            let knowledge = PlanContext {
                is_known: &|file| made.is_same_file(file),
                ..PlanContext::none()
            };
            plan_knowing(&path, &overwriting(), &knowledge).expect("whoever says so");
        }
    }
}

/// Whether the file would be removed as one of ours.
fn remove_kept_knows(path: &Path, made: &MadeFile) -> bool {
    let knowledge = PlanContext {
        is_known: &|file| made.is_same_file(file),
        ..PlanContext::none()
    };
    stripewise_targets::judge_kept_file(path, &knowledge).is_ok()
}

/// Remembers what is reported, and breaks off where configured to.
struct Remembering<'a> {
    seen: Vec<(MadeFile, bool)>,
    path: &'a Path,
    breaks: bool,
    not_retained: Vec<MadeFile>,
}

impl stripewise_targets::Progress for Remembering<'_> {
    fn now_ns(&mut self) -> u64 {
        0
    }

    fn report(&mut self, _: stripewise_targets::FillProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn before_keeping(&mut self, made: &MadeFile) -> ControlFlow<()> {
        self.seen.push((made.clone(), self.path.exists()));
        match self.breaks {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn not_retained(&mut self, made: &MadeFile) {
        self.not_retained.push(made.clone());
    }
}

#[test]
fn a_kept_file_is_known_before_it_has_its_name() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    let remembering = |breaks| Remembering {
        seen: Vec::new(),
        path: &path,
        breaks,
        not_retained: Vec::new(),
    };
    // What cannot be remembered gets no name at all.
    let mut progress = remembering(true);
    let planned = plan(&path, &keeping()).expect("room");
    stripewise_targets::prepare(planned, &PlanContext::none(), &mut progress)
        .expect_err("not remembered");
    assert_eq!(progress.seen.len(), 1);
    assert!(names(top.path()).is_empty());
    let mut progress = remembering(false);
    let planned = plan(&path, &keeping()).expect("room");
    let target = stripewise_targets::prepare(planned, &PlanContext::none(), &mut progress)
        .expect("remembered");
    let [(made, had_its_name)] = progress.seen.as_slice() else {
        panic!("once: {:?}", progress.seen);
    };
    assert!(!had_its_name, "remembered first");
    assert_eq!(target.made_file(), Some(made));
    target.finish().expect("it stays");
    plan_known(&path, made).expect("what was remembered is the file");
    assert!(progress.not_retained.is_empty());
}

#[test]
fn an_ordinary_user_keeps_a_file_and_is_recognised() {
    own_process!();
    let top = directory();
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o777)).expect("open to all");
    let path = top.path().join("kept");
    as_ordinary_user(|| {
        let made = kept_test_file(&path);
        plan_known(&path, &made).expect("ours");
    });
    let mode = std::fs::metadata(&path)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else's business");
}

#[test]
fn the_mark_alone_is_not_enough() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    kept_test_file(&path);
    let error = refused(
        plan(&path, &writing()),
        NeedsOverwrite,
        "is marked as made by Stripewise",
    );
    assert!(error.what.contains("another store"), "{error}");
}

#[test]
fn the_store_alone_is_not_enough() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    kept_test_file(&path);
    rustix::fs::removexattr(&path, "user.stripewise.made").expect("the mark is gone");
    let all_known = PlanContext {
        is_known: &|_| true,
        ..PlanContext::none()
    };
    refused(
        plan_knowing(&path, &writing(), &all_known),
        NeedsOverwrite,
        "--overwrite",
    );
}

#[test]
fn copies_successors_and_files_that_changed_their_size_are_not_ours() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    let made = kept_test_file(&path);
    let copy = top.path().join("copy");
    run("cp", &["--preserve=all", text(&path), text(&copy)]);
    let mut value = [0u8; 256];
    rustix::fs::getxattr(&copy, "user.stripewise.made", &mut value[..])
        .expect("the copy carries the mark");
    not_ours(&copy, &made, "copy");

    // The copy takes the name of the original.
    std::fs::rename(&copy, &path).expect("replaced");
    not_ours(&path, &made, "copy");

    let grown = top.path().join("grown");
    let made = kept_test_file(&grown);
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(&grown)
        .expect("opens");
    std::io::Write::write_all(&mut &file, b"a user's data").expect("grown");
    drop(file);
    not_ours(&grown, &made, "size");
}

#[test]
fn a_successor_on_the_same_inode_is_not_ours() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    let made = kept_test_file(&path);
    let mut value = [0u8; 256];
    let length = rustix::fs::getxattr(&path, "user.stripewise.made", &mut value[..]);
    let mark = value[..length.expect("marked")].to_vec();
    std::fs::remove_file(&path).expect("gone");
    // The most that anybody can forge: mark, size and (by luck) inode number.
    let successor = users_file(top.path(), "kept", 2 * MIB);
    let flags = rustix::fs::XattrFlags::CREATE;
    rustix::fs::setxattr(&successor, "user.stripewise.made", &mark, flags).expect("forged");
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata(&successor).expect("there").ino();
    let lucky = MadeFile { inode, ..made };
    not_ours(&successor, &lucky, "copy");
    assert_untouched(&successor, 2 * MIB);
}

#[test]
fn even_a_kept_file_is_not_written_while_somebody_else_uses_it() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    let made = kept_test_file(&path);
    let holder = Holder::of(&path);
    refused(plan_known(&path, &made), Refused, "is open in sleep");
    let discarded = prepared_known(&path, &made, &discarding(writing()));
    refused(discarded, Refused, "is open in sleep");
    drop(holder);
    std::fs::hard_link(&path, top.path().join("second")).expect("a second name");
    refused(plan_known(&path, &made), Refused, "2 names");
}

#[test]
fn making_a_kept_file_never_replaces_anything() {
    own_process!();
    let top = directory();
    let file = users_file(top.path(), "file", MIB);
    let dangling = top.path().join("dangling");
    std::os::unix::fs::symlink("nowhere", &dangling).expect("a link");
    for path in [&file, &dangling, &top.path().to_owned()] {
        refused(plan(path, &keeping()), Refused, "already exists");
    }
    for odd in ["/", ".."] {
        refused(
            plan(PathBuf::from(odd), &keeping()),
            Usage,
            "name of a file",
        );
    }
    // Made by another process after the plan, or while the file is being filled.
    let path = top.path().join("late");
    let planned = plan(&path, &keeping()).expect("a free name");
    let mut progress = Watching::new(|_| {
        if !path.exists() {
            users_file(top.path(), "late", MIB);
        }
        ControlFlow::Continue(())
    });
    let filled = stripewise_targets::prepare(planned.clone(), &PlanContext::none(), &mut progress);
    refused(filled, Refused, "already exists");
    refused(prepare(planned), Refused, "already exists");
    assert_untouched(&path, MIB);
    assert_untouched(&file, MIB);
    assert_eq!(names(top.path()), ["dangling", "file", "late"]);
    assert!(
        !top.path().join("nowhere").exists(),
        "nothing was made behind the link"
    );
}

#[test]
fn keep_in_a_directory_chooses_a_name_and_says_which() {
    own_process!();
    let top = directory();
    let intent = Intent {
        keep: true,
        ..filling(1)
    };
    let planned = plan(top.path(), &intent).expect("there is room");
    let at = planned
        .fill
        .clone()
        .and_then(|fill| fill.kept_as)
        .expect("a name");
    assert!(planned.to_string().contains(text(&at)), "{planned}");
    drop(prepare(planned).expect("filled"));
    assert_eq!(
        at.parent(),
        Some(top.path().canonicalize().expect("there").as_path())
    );
    assert_eq!(std::fs::metadata(&at).expect("it stays").len(), MIB);
    assert_eq!(names(top.path()).len(), 1);
}

/// It is known again by its size: a kill while it is cut would leave another.
#[test]
fn a_file_that_stays_cannot_be_cut() {
    own_process!();
    let top = directory();
    let intent = filling(1);
    let gone = target(top.path(), &intent);
    assert!(gone.resizer().is_some());
    drop(gone);
    let keep = Intent {
        keep: true,
        ..intent
    };
    assert!(target(top.path(), &keep).resizer().is_none());
    let there = top.path().join("there");
    let made = kept_test_file(&there);
    let knowledge = PlanContext {
        is_known: &|file| made.is_same_file(file),
        ..PlanContext::none()
    };
    let plan = plan_knowing(&there, &writing(), &knowledge).expect("ours");
    let again = stripewise_targets::prepare(plan, &knowledge, &mut Quiet).expect("ours");
    assert!(again.resizer().is_none());
}

#[test]
fn a_kept_file_is_removed_and_nothing_else_is() {
    own_process!();
    let top = directory();
    let path = top.path().join("kept");
    let made = kept_test_file(&path);
    let knowledge = PlanContext {
        is_known: &|file| made.is_same_file(file),
        ..PlanContext::none()
    };
    let remove = |path: &Path| stripewise_targets::remove_kept_file(path, &knowledge);
    // A copy carries the mark, a stranger's file carries none.
    let copy = top.path().join("copy");
    std::fs::copy(&path, &copy).expect("copied");
    refused(remove(&copy), Refused, "left alone");
    let other = top.path().join("other");
    std::fs::write(&other, b"theirs").expect("a file");
    refused(remove(&other), Refused, "left alone");
    // Nor is ours while it has a second name, or is unknown to the store.
    let second = top.path().join("second");
    std::fs::hard_link(&path, &second).expect("linked");
    refused(remove(&path), Refused, "2 names");
    std::fs::remove_file(&second).expect("unlinked");
    let unknown = stripewise_targets::remove_kept_file(&path, &PlanContext::none());
    refused(unknown, Refused, "left alone");
    remove(&path).expect("ours");
    assert_eq!(names(top.path()), ["copy", "other"]);
}
