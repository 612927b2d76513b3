//! Processes that have a file or device open: through a descriptor, a mapping, or a
//! registration with io_uring. The last two outlive the descriptor that made them.
//!
//! | use | where it shows |
//! | --- | --- |
//! | descriptor | `/proc/PID/fd`; of threads with a table of their own: `/proc/PID/task/TID/fd` |
//! | mapping | `/proc/PID/maps`, and what `/proc/PID/map_files/ADDRESSES` leads to |
//! | registration | `UserFiles` in `/proc/PID/fdinfo/RING` |
//! | descriptor in flight (SCM_RIGHTS) | `scm_fds` of the socket that will receive it says how many, not of what |
//!
//! Files and devices are compared by numbers (`stat`), as a device node has any number of names.
//! The name decides only where the kernel shows nothing else.
//!
//! The scan is bounded by the number of descriptors and mappings, and by time, as reading
//! `/proc/PID/maps` waits for a process blocked in the kernel.

mod mappings;
mod proc_scan;
mod rings;
#[cfg(test)]
mod tests;

pub(super) use proc_scan::flags_of;

use super::file_or_devices::FileOrDevices;
use proc_scan::ProcScan;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time limit for one scan of all processes. A host with ten thousand processes needs about one
/// second.
const LOOK_MAX: Duration = Duration::from_secs(15);

const PROC: &str = "/proc";

/// The initial PID namespace has this fixed number (`PROC_PID_INIT_INO`).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Processes that use a file or device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openers {
    /// `name (pid 123)`, without ourselves and monitoring daemons.
    pub others: Vec<String>,
    /// Why there may be more; `None` if every process could be examined.
    pub unseen: Option<Unverified>,
}

/// Why an unknown process may use a file or device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unverified {
    /// Processes of other users, or outside a PID namespace, are hidden.
    Processes,
    /// There are more descriptors or mappings than the limit.
    TooMany,
    /// The scan exceeded its time limit.
    TooSlow,
    /// A process uses something that could not be looked up; what, and its name.
    Something(&'static str, String),
}

impl Unverified {
    /// The condition may be temporary.
    fn passes(&self) -> bool {
        matches!(self, Unverified::Something(..))
    }
}

impl std::fmt::Display for Unverified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unverified::Processes if all_processes_visible(Path::new(PROC)) => {
                f.write_str("this user has no permission to look into the processes of others")
            }
            Unverified::Processes => {
                f.write_str("processes outside of this container (PID namespace) are hidden")
            }
            Unverified::TooMany => f.write_str("too many files are open on this machine"),
            Unverified::TooSlow => write!(
                f,
                "looking at all processes takes longer than {} s",
                LOOK_MAX.as_secs()
            ),
            Unverified::Something(what, process) => write!(f, "{process} has {what}"),
        }
    }
}

impl Openers {
    /// Every process of this machine could be examined.
    pub fn complete(&self) -> bool {
        self.unseen.is_none()
    }

    /// No use was found, and no temporary condition could hide one: a retry is pointless.
    pub fn is_settled(&self) -> bool {
        self.others.is_empty() && !self.unseen.as_ref().is_some_and(Unverified::passes)
    }

    /// `is open in cp (pid 123) and 2 more`; `None` if no process was found.
    pub fn refusal(&self) -> Option<String> {
        let first = self.others.first()?;
        let and = match self.others.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("is open in {first}{and}"))
    }

    /// Adds the findings for another file or device.
    pub fn add(&mut self, found: Openers) {
        self.others.extend(found.others);
        self.unseen = self.unseen.take().or(found.unseen);
    }
}

/// Scans all processes; best effort, with a time limit.
pub fn openers(wanted: &FileOrDevices) -> Openers {
    let found = Arc::new(Mutex::new(Openers::default()));
    let take = || {
        let found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.clone()
    };
    let (ended, wait) = channel::<()>();
    let (shared, wanted) = (Arc::clone(&found), wanted.clone());
    let look = move || {
        let names = wanted.kernel_names();
        ProcScan::live(
            Path::new(PROC),
            std::process::id(),
            &wanted,
            &names,
            &shared,
        )
        .at_all();
        drop(ended);
    };
    // In a thread, as a read of /proc cannot be cancelled. It holds only its own files.
    let started = std::thread::Builder::new().spawn(look);
    match started.map(|_| wait.recv_timeout(LOOK_MAX)) {
        // It has dropped its end: its result is complete.
        Ok(Ok(()) | Err(RecvTimeoutError::Disconnected)) => take(),
        Ok(Err(RecvTimeoutError::Timeout)) | Err(_) => {
            let mut found = take();
            found.unseen.get_or_insert(Unverified::TooSlow);
            found
        }
    }
}

fn all_processes_visible(proc: &Path) -> bool {
    let namespace = std::fs::read_link(proc.join("self/ns/pid"));
    namespace.is_ok_and(|to| to == Path::new(FIRST_NAMESPACE))
}
