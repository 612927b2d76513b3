//! Parses and opens targets, judges safety, makes, fills and removes test files.
//!
//! Invariants:
//! - [`plan`] opens nothing for writing; [`prepare`] carries out a plan and
//!   judges again on the open descriptors, so nothing that changes in between
//!   passes.
//! - Nothing is ever truncated, renamed or removed that this process did not make itself, checked
//!   by device and inode on descriptors.
//! - Nothing else is extended either: no size is ever set, and only the span below the judged size
//!   is written. If another process truncates the file during the measurement, though, writes above
//!   its new end extend it again, to the judged size at most: no file system has a write that never
//!   extends. [`Target::watch`] detects it, so that the run stops within milliseconds, and the next
//!   open refuses a file that became smaller.
//! - Later opens derive from the judged descriptor, never from a path.
//! - Where a rule cannot be verified, writing is refused; the two exceptions
//!   (other machines on a network file system, processes outside a container) are
//!   notes of the plan.
//!
//! Not included: simulated targets and datasets (parsed here, interpreted by `array-sim` and
//! `lab`), the clock (the caller's, see [`Progress`]) and the store (the caller's, see
//! [`PlanContext`]).
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

/// This system has per-operation flags (`RWF_*`) and distinguishes `fdatasync` from `fsync`.
pub const HAS_OPERATION_FLAGS: bool = platform::HAS_OPERATION_FLAGS;

pub use error::{Error, ErrorKind, Result};
pub use facts::{Changed, DataFacts, FillProgress, FillReport, Progress, canonical, whole_path};
pub use intent::{
    Access, Intent, IoFeatures, MadeFile, OUTSTANDING_MAX_UNASKED, PlanContext, Size,
};
pub use name::TargetName;
pub use plan::{FillPlan, Plan};
pub use space::{FileSystemSize, TEST_FILE_BYTES_MIN};
pub use target::{FileWatch, Resizer, Target};

/// Judges a request by every rule. Opens nothing for writing; may watch the device for up to five
/// seconds if it looks busy (a tenth of a second if not).
///
/// # Errors
/// See [`ErrorKind`]; [`ErrorKind::Usage`] for simulated targets and datasets,
/// which are not opened here.
pub fn plan(name: &TargetName, intent: &Intent, knowledge: &PlanContext<'_>) -> Result<Plan> {
    let TargetName::Path(path) = name else {
        return Err(Error::new(
            ErrorKind::Usage,
            name,
            "is not on this machine's storage",
        ));
    };
    platform::plan(path, intent, knowledge)
}

/// Carries out a plan: opens, checks again, makes and fills the test file. One target may serve
/// many jobs and workers; preparing the same target twice at once fails, because the second finds
/// it open.
///
/// # Errors
/// As [`plan`], and [`ErrorKind::Io`], [`ErrorKind::NoSpace`],
/// [`ErrorKind::Interrupted`]; what was made is removed then.
pub fn prepare(
    plan: Plan,
    knowledge: &PlanContext<'_>,
    progress: &mut dyn Progress,
) -> Result<Target> {
    platform::prepare(plan, knowledge, progress)
}

/// Extends the file at `path` to `to_bytes`; the new part is written in full. `intent` is judged as
/// one that writes, whatever it says. For a file that Stripewise made, returns its new identity for
/// the caller's store.
///
/// # Errors
/// As [`plan`] and [`prepare`]; the file is then truncated to its original size.
pub fn expand(
    path: &std::path::Path,
    to_bytes: u64,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
    progress: &mut dyn Progress,
) -> Result<Option<MadeFile>> {
    let intent = Intent {
        writes: true,
        ..intent.clone()
    };
    platform::expand(path, to_bytes, &intent, knowledge, progress)
}

/// Removes a kept test file, and nothing else: the store must know it, and the rules for writing to
/// it apply.
///
/// # Errors
/// [`ErrorKind::Refused`] where it is not certainly Stripewise's or is in use;
/// [`ErrorKind::NotFound`] where it no longer exists; [`ErrorKind::Io`].
pub fn remove_kept_file(path: &std::path::Path, knowledge: &PlanContext<'_>) -> Result<()> {
    platform::remove_kept_file(path, knowledge)
}

/// Judges as [`remove_kept_file`] does, but removes nothing.
pub fn judge_kept_file(path: &std::path::Path, knowledge: &PlanContext<'_>) -> Result<()> {
    platform::judge_kept_file(path, knowledge).map(drop)
}

/// Whether a kept test file is certainly gone: nothing has its name, and the directory that held it
/// exists on the same device (`st_dev`). A volume that is not mounted right now, or an unreadable
/// directory, is no proof.
pub fn kept_file_is_gone(path: &std::path::Path, device: u64) -> bool {
    platform::kept_file_is_gone(path, device)
}
