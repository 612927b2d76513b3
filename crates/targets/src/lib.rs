//! Parses and opens targets, judges safety, makes, fills and removes test files.
//!
//! Invariants:
//! - [`plan`] opens nothing for writing; [`prepare`] carries out a plan and
//!   judges again on the open descriptors, so nothing that changes in between
//!   passes.
//! - Nothing is ever truncated, renamed or removed that this process did not
//!   make itself, checked by device and inode on descriptors.
//! - Nothing else is extended either: no size is ever set, and only the span
//!   below the size that was judged is written. Should somebody cut the file
//!   while it is being measured, though, writes above its new end let it grow
//!   again, to the size that was judged at most: no file system has a write that
//!   never extends. [`Target::watch`] sees it, so that the run stops within
//!   milliseconds, and the next open refuses a file that became smaller.
//! - Later opens derive from the descriptor that was judged, never from a path.
//! - Where a rule cannot be verified, writing is refused; the two exceptions
//!   (other machines on a network file system, processes outside a container) are
//!   notes of the plan.
//!
//! Left out: simulated targets and datasets (parsed here, interpreted by
//! `array-sim` and `lab`), the clock (the caller's, see [`Progress`]) and the
//! store (the caller's, see [`Knowledge`]).
#![deny(unsafe_code)]

mod database;
mod error;
mod facts;
mod fill;
mod grow;
mod intent;
mod mark;
mod name;
mod plan;
mod space;
mod span;
mod target;

#[cfg(all(test, target_os = "linux"))]
#[macro_use]
#[path = "../../../tests/support/own_process.rs"]
mod own_process;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as platform;

#[cfg(not(any(target_os = "linux", windows)))]
#[allow(dead_code, reason = "only real targets need the rest")]
mod other;
#[cfg(not(any(target_os = "linux", windows)))]
use other as platform;

/// This system takes flags of each operation (`RWF_` ones), and knows `fdatasync` from `fsync`.
pub const HAS_OPERATION_FLAGS: bool = platform::HAS_OPERATION_FLAGS;

pub use error::{Error, ErrorKind, Result};
pub use facts::{Changed, DataFacts, FillProgress, FillReport, Progress, canonical, whole_path};
pub use intent::{Access, Intent, IoFeatures, Knowledge, MadeFile, OUTSTANDING_MAX_UNASKED, Size};
pub use name::TargetName;
pub use plan::{FillPlan, Plan};
pub use space::{FileSystemSize, TEST_FILE_BYTES_MIN};
pub use target::{FileWatch, Resizer, Target};

/// Judges a wish by every rule. Opens nothing for writing; may watch the device
/// for up to five seconds where it looks busy (a tenth of a second where not).
///
/// # Errors
/// See [`ErrorKind`]; [`ErrorKind::Usage`] for simulated targets and datasets,
/// which are not opened here.
pub fn plan(name: &TargetName, intent: &Intent, knowledge: &Knowledge<'_>) -> Result<Plan> {
    let TargetName::Path(path) = name else {
        return Err(Error::new(
            ErrorKind::Usage,
            name,
            "is not on this machine's storage",
        ));
    };
    platform::plan(path, intent, knowledge)
}

/// Carries out a plan: opens, checks again, makes and fills the test file.
/// One target may serve many jobs and workers; preparing the same target twice
/// at once fails, as the second finds it open.
///
/// # Errors
/// As [`plan`], and [`ErrorKind::Io`], [`ErrorKind::NoSpace`],
/// [`ErrorKind::Interrupted`]; what was made is removed then.
pub fn prepare(
    plan: Plan,
    knowledge: &Knowledge<'_>,
    progress: &mut dyn Progress,
) -> Result<Target> {
    platform::prepare(plan, knowledge, progress)
}

/// Makes the file at `path` larger, up to `to_bytes`; the new part is written in
/// full. It is writing to the file: `intent` is judged as if it were, whatever it
/// says. Where the file is one of ours, its new identity is returned, for the
/// caller's store.
///
/// # Errors
/// As [`plan`] and [`prepare`]; the file is cut back to what it was then.
pub fn expand(
    path: &std::path::Path,
    to_bytes: u64,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
    progress: &mut dyn Progress,
) -> Result<Option<MadeFile>> {
    let intent = Intent {
        writes: true,
        ..intent.clone()
    };
    platform::expand(path, to_bytes, &intent, knowledge, progress)
}

/// Removes a test file that was made and kept, and nothing else: the store must
/// know it, and the rules of writing to it apply.
///
/// # Errors
/// [`ErrorKind::Refused`] where it is not certainly ours or somebody uses it;
/// [`ErrorKind::NotFound`] where it is gone already; [`ErrorKind::Io`].
pub fn remove_kept(path: &std::path::Path, knowledge: &Knowledge<'_>) -> Result<()> {
    platform::remove_kept(path, knowledge)
}

/// Judges as [`remove_kept`] does, and removes nothing.
///
/// # Errors
/// As [`remove_kept`].
pub fn judge_kept(path: &std::path::Path, knowledge: &Knowledge<'_>) -> Result<()> {
    platform::judge_kept(path, knowledge).map(drop)
}

/// Whether a kept test file is certainly gone: nothing is under its name, and the
/// directory that held it is there on the same device (`st_dev`). A volume that
/// is not mounted just now, or a directory that cannot be looked into, is no proof.
#[must_use]
pub fn kept_is_gone(path: &std::path::Path, device: u64) -> bool {
    platform::kept_is_gone(path, device)
}
