//! Wishes, plans, users' files, and shorthands, for every system. What only Linux
//! has is in `support_linux.rs`.

#[cfg(target_os = "linux")]
pub use crate::support_linux::*;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stripewise_targets::{
    Error, FileSystemSize, FillProgress, Intent, Plan, PlanContext, Progress, Result, Size, Target,
    TargetName,
};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

/// A directory on the file system of temporary files.
pub fn directory() -> TempDir {
    tempfile::Builder::new()
        .prefix("stripewise-it-")
        .tempdir()
        .expect("a temporary directory")
}

/// Writes a file of a user's own: recognisable, dense.
pub fn users_file(directory: &Path, name: &str, bytes: u64) -> PathBuf {
    let path = directory.join(name);
    let word = b"precious";
    let data: Vec<u8> = word.iter().copied().cycle().take(bytes as usize).collect();
    std::fs::write(&path, data).expect("a user's file");
    let file = File::options().write(true).open(&path);
    file.and_then(|file| file.sync_all()).expect("synced");
    path
}

/// The user's file is as it was.
pub fn assert_untouched(path: &Path, bytes: u64) {
    let data = std::fs::read(path).expect("still there");
    assert_eq!(data.len() as u64, bytes, "{}", path.display());
    assert!(
        data.chunks(8)
            .all(|chunk| chunk == &b"precious"[..chunk.len()]),
        "{} was changed",
        path.display()
    );
}

/// The wish that most tests start from: the device under `/tmp` may be busy, and its file
/// system nearly full.
pub fn reading() -> Intent {
    Intent {
        busy_ok: true,
        file_system_size: FileSystemSize::AtMost { bytes: 4 << 30 },
        ..Intent::default()
    }
}

pub fn writing() -> Intent {
    Intent {
        writes: true,
        ..reading()
    }
}

pub fn overwriting() -> Intent {
    Intent {
        overwrite: true,
        ..writing()
    }
}

/// A test file of some MiB.
pub fn filling(mib: u64) -> Intent {
    Intent {
        size: Size::Exactly(mib * MIB),
        ..writing()
    }
}

pub fn plan(path: impl AsRef<Path>, intent: &Intent) -> Result<Plan> {
    plan_knowing(path.as_ref(), intent, &PlanContext::none())
}

pub fn plan_knowing(path: &Path, intent: &Intent, knowledge: &PlanContext<'_>) -> Result<Plan> {
    stripewise_targets::plan(&TargetName::Path(path.to_owned()), intent, knowledge)
}

/// A clock that does not advance, and a callback that never breaks off.
pub struct Quiet;

impl Progress for Quiet {
    fn now_ns(&mut self) -> u64 {
        0
    }
    fn report(&mut self, _: FillProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Calls a function at every report; the clock advances by a second each time
/// it is read.
pub struct Watching<F: FnMut(FillProgress) -> ControlFlow<()>> {
    pub seconds: u64,
    pub at_report: F,
}

impl<F: FnMut(FillProgress) -> ControlFlow<()>> Watching<F> {
    pub fn new(at_report: F) -> Self {
        Watching {
            seconds: 0,
            at_report,
        }
    }
}

impl<F: FnMut(FillProgress) -> ControlFlow<()>> Progress for Watching<F> {
    fn now_ns(&mut self) -> u64 {
        self.seconds += 1;
        self.seconds * 1_000_000_000
    }
    fn report(&mut self, progress: FillProgress) -> ControlFlow<()> {
        (self.at_report)(progress)
    }
}

pub fn prepare(plan: Plan) -> Result<Target> {
    stripewise_targets::prepare(plan, &PlanContext::none(), &mut Quiet)
}

pub fn target(path: impl AsRef<Path>, intent: &Intent) -> Target {
    match plan(path, intent).and_then(prepare) {
        Ok(target) => target,
        Err(error) => panic!("{error}; hint: {}", error.hint),
    }
}

/// An error that a tired person can work with.
pub fn refused(
    result: Result<impl Sized>,
    kind: stripewise_targets::ErrorKind,
    expected_text: &str,
) -> Error {
    let Err(error) = result else {
        panic!("it was not refused ({kind:?}: {expected_text})");
    };
    assert_eq!(error.kind, kind, "{error}");
    let all = format!("{error}; {}", error.hint);
    assert!(
        all.contains(expected_text),
        "`{expected_text}` is not in `{all}`"
    );
    assert!(!error.hint.is_empty(), "{error}: no hint");
    error
}

/// Names in a directory.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("readable");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}
