//! Reads another tool's results, which may take long: reports progress, and stops
//! on request.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stripewise_compat::Progress;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::Failure;

/// Interval of progress messages, and delay of the first.
const EVERY_NS: u64 = 2_000_000_000;
/// Number of passes over a file: decoding, finding the results, parsing them.
const PASSES: u64 = 3;

/// The reading of one file.
pub struct Reading<'a> {
    context: &'a Context,
    name: &'a str,
    /// When the next message is due.
    due_ns: Cell<u64>,
}

impl<'a> Reading<'a> {
    /// For the file of this name.
    pub fn new(context: &'a Context, name: &'a str) -> Self {
        Reading {
            context,
            name,
            due_ns: Cell::new(context.now_ns().saturating_add(EVERY_NS)),
        }
    }

    /// Reports progress; stops if a signal came.
    pub fn on_event(&self, progress: Progress) -> ControlFlow<()> {
        if self.context.signal().is_some() {
            return ControlFlow::Break(());
        }
        let now_ns = self.context.now_ns();
        if now_ns >= self.due_ns.get() {
            self.due_ns.set(now_ns.saturating_add(EVERY_NS));
            let all = progress.source_bytes.saturating_mul(PASSES).max(1);
            let percent = progress.visited_bytes.saturating_mul(100) / all;
            self.context.status(format!(
                "Reading {}: {} %; Ctrl-C ends it.",
                self.name,
                percent.min(99)
            ));
        }
        ControlFlow::Continue(())
    }
}

/// The failure if a signal came while this file was read.
pub fn interrupted(context: &Context, name: &str) -> Failure {
    Failure::new(
        Exit::Interrupted(context.signal().unwrap_or(2)),
        format!("interrupted while reading {name}"),
        "nothing was imported; start again to read it",
    )
}

/// What [`leave_out_repeats`] left out.
pub const REPEATS_LEFT_OUT: &str = "of vdbench's output only flatfile.html is read: summary.html, totals.html and logfile.html beside it repeat its results";

/// Leaves out vdbench's other reports beside its flatfile, which say the same with fewer digits;
/// whether there were any.
pub fn leave_out_repeats(files: &mut Vec<PathBuf>) -> bool {
    const REPEATS: [&str; 3] = ["summary.html", "totals.html", "logfile.html"];
    let flat = files.iter().filter(|file| file.ends_with("flatfile.html"));
    let flat: HashSet<PathBuf> = flat
        .filter_map(|file| file.parent().map(Path::to_owned))
        .collect();
    let before = files.len();
    files.retain(|file| {
        let is_beside = file.parent().is_some_and(|folder| flat.contains(folder));
        !(is_beside && REPEATS.iter().any(|name| file.ends_with(name)))
    });
    files.len() < before
}
