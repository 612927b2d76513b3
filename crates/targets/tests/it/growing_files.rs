//! Existing files that are made larger: what was there stays, what others write
//! meanwhile stays too, and a failure leaves the file as it was.

use crate::support::*;
use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use stripewise_targets::ErrorKind::{Interrupted, NeedsOverwrite, Refused};
use stripewise_targets::{FillProgress, Intent, PlanContext, Progress, Result, expand};

const TAIL: &[u8] = b"appended by somebody else\n";

fn grow(path: &Path, intent: &Intent, progress: &mut dyn Progress) -> Result<()> {
    let knowledge = PlanContext {
        is_known: &|_| false,
        ..PlanContext::none()
    };
    expand(path, 32 * MIB, intent, &knowledge, progress).map(drop)
}

fn append(path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).expect("a file");
    file.write_all(TAIL).expect("appended");
}

#[test]
fn a_users_file_grows_with_leave_only_and_keeps_what_it_held() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "own", 2 * MIB);
    let before = std::fs::read(&path).expect("read");
    let error = grow(&path, &writing(), &mut Quiet).expect_err("not without leave");
    assert_eq!(error.kind, NeedsOverwrite);
    assert_eq!(std::fs::read(&path).expect("read"), before);
    grow(&path, &overwriting(), &mut Quiet).expect("grown");
    let after = std::fs::read(&path).expect("read");
    assert_eq!(after.len() as u64, 32 * MIB);
    assert!(after.starts_with(&before));
}

#[test]
fn an_interrupted_growth_leaves_the_file_as_it_was() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "own", 2 * MIB);
    let before = std::fs::read(&path).expect("read");
    let mut stop = Watching::new(|progress: FillProgress| match progress.done_bytes {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    let error = grow(&path, &overwriting(), &mut stop).expect_err("stopped");
    assert_eq!(error.kind, Interrupted);
    assert_eq!(std::fs::read(&path).expect("read"), before);
}

#[test]
fn what_others_append_meanwhile_is_neither_written_over_nor_cut_away() {
    own_process!();
    for stop_then in [false, true] {
        let top = directory();
        let path = users_file(top.path(), "own", 2 * MIB);
        let appended = Cell::new(false);
        let mut other = Watching::new(|progress: FillProgress| {
            if progress.done_bytes > 0 && !appended.replace(true) {
                append(&path);
                if stop_then {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        let error = grow(&path, &overwriting(), &mut other).expect_err("somebody writes");
        assert_eq!(error.kind, Refused, "{error}");
        assert!(appended.get());
        let after = std::fs::read(&path).expect("read");
        assert!(after.ends_with(TAIL), "{stop_then}");
    }
}

#[test]
fn what_others_put_in_its_place_meanwhile_stays() {
    own_process!();
    for (stop_then, length) in [(false, 300), (true, 300), (true, 3 * MIB as usize)] {
        let top = directory();
        let path = users_file(top.path(), "own", 2 * MIB);
        let theirs = vec![7; length];
        let mut other = Watching::new(|progress: FillProgress| {
            if progress.done_bytes >= 2 * MIB {
                // As `cp` does it: cut to nothing, then written.
                std::fs::write(&path, &theirs).expect("written");
                if stop_then {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        let error = grow(&path, &overwriting(), &mut other).expect_err("somebody writes");
        assert_eq!(error.kind, Refused, "{error}");
        assert!(std::fs::read(&path).expect("read") == theirs, "{length}");
    }
}
