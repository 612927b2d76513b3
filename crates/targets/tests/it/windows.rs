//! The rules of Windows' targets on files that the tests make themselves. They run
//! under Wine too, which has no streams for marks; drives are not touched.

use crate::support::*;
use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use stripewise_targets::ErrorKind::{Interrupted, NeedsBusyOk, NeedsOverwrite, Refused, Unusable};
use stripewise_targets::{
    Access, Intent, MadeFile, PlanContext, expand, judge_kept_file, remove_kept_file,
};
use stripewise_workload::CacheMode;

/// Checks that writing is refused with these words, whatever the flags, and the file unchanged.
fn check_never_written(path: &Path, bytes: u64, expected_text: &str) {
    refused(plan(path, &overwriting()), Refused, expected_text);
    assert_untouched(path, bytes);
}

/// Makes a file that stays, as `prepare` does.
fn kept_test_file(path: &Path) -> MadeFile {
    let intent = Intent {
        keep: true,
        create: true,
        ..filling(2)
    };
    let target = target(path, &intent);
    let made = target.made_file().expect("kept").clone();
    target.finish().expect("nothing to remove");
    made
}

fn grow(
    path: &Path,
    intent: &Intent,
    known: &RefCell<Vec<MadeFile>>,
) -> stripewise_targets::Result<()> {
    let is_known = |made: &MadeFile| known.borrow().iter().any(|one| one.is_same_file(made));
    let knowledge = PlanContext {
        is_known: &is_known,
        ..PlanContext::none()
    };
    let grown = expand(path, 4 * MIB, intent, &knowledge, &mut Quiet)?;
    known.borrow_mut().extend(grown);
    Ok(())
}

#[test]
fn writing_needs_leave_and_then_changes_no_size() {
    let top = directory();
    let path = users_file(top.path(), "own", 2 * MIB);
    refused(plan(&path, &writing()), NeedsOverwrite, "--overwrite");
    assert_untouched(&path, 2 * MIB);
    let target = target(&path, &overwriting());
    let file = target.open(CacheMode::Buffered, Access::Write);
    assert!(file.is_ok(), "{file:?}");
    drop((file, target));
    assert_untouched(&path, 2 * MIB);
}

#[test]
fn a_target_of_reads_is_never_opened_for_writing() {
    let top = directory();
    let path = users_file(top.path(), "own", MIB);
    let target = target(&path, &reading());
    let error = target.open(CacheMode::Buffered, Access::Write);
    assert_eq!(error.expect_err("not for writing").kind, Refused);
}

#[test]
fn what_no_flag_allows_is_never_written() {
    let top = directory();
    let path = users_file(top.path(), "several", MIB);
    std::fs::hard_link(&path, top.path().join("names")).expect("a second name");
    check_never_written(&path, MIB, "2 names");

    let path = users_file(top.path(), "protected", MIB);
    let mut rights = std::fs::metadata(&path).expect("there").permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&path, rights.clone()).expect("protected");
    check_never_written(&path, MIB, "read-only");
    #[expect(
        clippy::permissions_set_readonly_false,
        reason = "so that it can be removed"
    )]
    rights.set_readonly(false);
    std::fs::set_permissions(&path, rights).expect("as before");

    let path = users_file(top.path(), "PageFile.sys", MIB);
    check_never_written(&path, MIB, "belongs to Windows");

    let path = users_file(top.path(), "held", MIB);
    let holder = File::open(&path).expect("opens");
    check_never_written(&path, MIB, "open elsewhere");
    drop(holder);
    assert!(plan(&path, &overwriting()).is_ok());
}

#[test]
fn databases_of_sqlite_are_never_written() {
    let top = directory();
    let path = top.path().join("results.db");
    let mut data = b"SQLite format 3\0".to_vec();
    data.resize(MIB as usize, 7);
    std::fs::write(&path, &data).expect("a database");
    refused(plan(&path, &overwriting()), Refused, "SQLite");
    assert!(std::fs::read(&path).expect("there") == data);
}

#[test]
fn a_place_with_a_live_database_needs_leave() {
    let top = directory();
    std::fs::write(top.path().join("sales.mdf"), b"data").expect("a database");
    let intent = Intent {
        busy_ok: false,
        ..filling(2)
    };
    refused(plan(top.path(), &intent), NeedsBusyOk, "SQL Server");
    assert!(plan(top.path(), &filling(2)).is_ok());
}

#[test]
fn a_file_that_changed_since_it_was_judged_is_not_opened_for_writing_again() {
    let top = directory();
    let path = users_file(top.path(), "named", MIB);
    let target_named = target(&path, &overwriting());
    std::fs::hard_link(&path, top.path().join("second")).expect("a second name");
    let again = target_named.open(CacheMode::Buffered, Access::Write);
    refused(again, Refused, "second name");

    let path = users_file(top.path(), "cut", MIB);
    let target_cut = target(&path, &overwriting());
    let file = OpenOptions::new().write(true).open(&path).expect("opens");
    file.set_len(4096).expect("cut");
    drop(file);
    let again = target_cut.open(CacheMode::Buffered, Access::Write);
    refused(again, Refused, "was cut");
    assert_eq!(std::fs::metadata(&path).expect("there").len(), 4096);
}

#[test]
fn a_file_replaced_after_the_plan_is_not_touched() {
    let top = directory();
    let path = users_file(top.path(), "own", MIB);
    let plan = plan(&path, &overwriting()).expect("a plan");
    std::fs::rename(&path, top.path().join("away")).expect("renamed");
    users_file(top.path(), "own", MIB);
    refused(
        prepare(plan),
        Refused,
        "has changed since the plan was made",
    );
    assert_untouched(&path, MIB);
}

#[test]
fn a_test_file_is_there_while_it_is_measured_and_gone_after() {
    let top = directory();
    let target = target(top.path(), &filling(2));
    let made = names(top.path());
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(made[0].starts_with("stripewise-"), "{made:?}");
    let file = target
        .open(CacheMode::Buffered, Access::ReadWrite)
        .expect("opens");
    assert_eq!(file.metadata().expect("a size").len(), 2 * MIB);
    drop((file, target));
    assert!(names(top.path()).is_empty());
}

#[test]
fn an_interrupted_filling_leaves_nothing() {
    let top = directory();
    let plan = plan(top.path(), &filling(8)).expect("a plan");
    let mut stop = Watching::new(|_| ControlFlow::Break(()));
    let done = stripewise_targets::prepare(plan, &PlanContext::none(), &mut stop);
    let error = done.expect_err("stopped");
    assert_eq!(error.kind, Interrupted);
    assert!(names(top.path()).is_empty());
}

#[test]
fn a_file_is_never_made_over_another() {
    let top = directory();
    let path = users_file(top.path(), "own", MIB);
    let intent = Intent {
        create: true,
        keep: true,
        ..filling(2)
    };
    refused(plan(&path, &intent), Refused, "already exists");
    // Made by another process between plan and preparation.
    let other = top.path().join("other");
    let late = plan(&other, &intent).expect("a plan");
    users_file(top.path(), "other", MIB);
    refused(prepare(late), Refused, "already exists");
    assert_untouched(&path, MIB);
    assert_untouched(&other, MIB);
}

#[test]
fn a_kept_file_is_known_by_the_store_and_removed_by_nobody_else() {
    let top = directory();
    let path = top.path().join("kept.dat");
    let made = kept_test_file(&path);
    refused(plan(&path, &writing()), NeedsOverwrite, "--overwrite");
    refused(
        remove_kept_file(&path, &PlanContext::none()),
        Refused,
        "left alone",
    );
    assert!(path.exists());
    let is_known = |found: &MadeFile| made.is_same_file(found);
    let knowledge = PlanContext {
        is_known: &is_known,
        ..PlanContext::none()
    };
    plan_knowing(&path, &writing(), &knowledge).expect("ours");
    // A copy is another file, even under the same name.
    let copy = top.path().join("copy");
    std::fs::copy(&path, &copy).expect("a copy");
    refused(
        plan_knowing(&copy, &writing(), &knowledge),
        NeedsOverwrite,
        "--overwrite",
    );
    let holder = File::open(&path).expect("opens");
    refused(remove_kept_file(&path, &knowledge), Refused, "left alone");
    drop(holder);
    judge_kept_file(&path, &knowledge).expect("ours");
    remove_kept_file(&path, &knowledge).expect("removed");
    assert_eq!(names(top.path()), ["copy"]);
}

#[test]
fn a_users_file_grows_with_leave_only_and_keeps_what_it_held() {
    let top = directory();
    let path = users_file(top.path(), "own", 2 * MIB);
    let before = std::fs::read(&path).expect("read");
    let known = RefCell::default();
    refused(
        grow(&path, &writing(), &known),
        NeedsOverwrite,
        "--overwrite",
    );
    assert_untouched(&path, 2 * MIB);
    grow(&path, &overwriting(), &known).expect("grown");
    let after = std::fs::read(&path).expect("read");
    assert_eq!(after.len() as u64, 4 * MIB);
    assert!(after.starts_with(&before));
    assert!(after[before.len()..].iter().any(|byte| *byte != 0));
    assert!(known.borrow().is_empty(), "a stranger stays one");
}

#[test]
fn a_file_of_ours_stays_ours_when_it_grows() {
    let top = directory();
    let path = top.path().join("kept.dat");
    let known = RefCell::new(vec![kept_test_file(&path)]);
    grow(&path, &writing(), &known).expect("grown");
    let grown = known.borrow().last().expect("told").clone();
    assert_eq!(grown.size_bytes, 4 * MIB);
    let is_known = |found: &MadeFile| grown.is_same_file(found);
    let knowledge = PlanContext {
        is_known: &is_known,
        ..PlanContext::none()
    };
    plan_knowing(&path, &writing(), &knowledge).expect("still ours");
}

#[test]
fn nobody_gets_at_a_file_while_it_grows_and_an_interruption_leaves_it_as_it_was() {
    let top = directory();
    let path = users_file(top.path(), "own", 2 * MIB);
    let kept_out = Cell::new(false);
    let mut stop = Watching::new(|progress| {
        if progress.done_bytes == 0 {
            return ControlFlow::Continue(());
        }
        let other = OpenOptions::new().append(true).open(&path);
        kept_out.set(
            other
                .and_then(|mut file| file.write_all(b"theirs"))
                .is_err(),
        );
        ControlFlow::Break(())
    });
    let error = expand(
        &path,
        32 * MIB,
        &overwriting(),
        &PlanContext::none(),
        &mut stop,
    );
    assert_eq!(error.expect_err("stopped").kind, Interrupted);
    assert!(kept_out.get());
    assert_untouched(&path, 2 * MIB);
}

#[test]
fn a_file_that_others_have_open_does_not_grow() {
    let top = directory();
    let path = users_file(top.path(), "own", 2 * MIB);
    let holder = File::open(&path).expect("opens");
    let known = RefCell::default();
    refused(
        grow(&path, &overwriting(), &known),
        Refused,
        "open elsewhere",
    );
    drop(holder);
    assert_untouched(&path, 2 * MIB);
}

#[test]
fn what_is_no_file_is_told_as_that() {
    for path in [
        r"\\.\pipe\stripewise",
        r"\\.\CdRom0",
        "NUL",
        r"\\?\GLOBALROOT\Device\Harddisk0\DR0",
    ] {
        for intent in [reading(), overwriting()] {
            refused(plan(Path::new(path), &intent), Unusable, "stripewise disks");
        }
    }
}
