//! A single scan of all processes.

use super::mappings::Mappings;
use super::rings::{self, Registered};
use super::{Openers, Unverified, all_processes_visible};
use crate::linux::file_or_devices::FileOrDevices;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use stripewise_machine::linux::descriptors::share_descriptors;

/// Most descriptors examined over all processes.
const DESCRIPTORS_MAX: usize = 500_000;

/// Daemons that keep disks open for reading only to monitor them. They do not prevent writing to a
/// device explicitly named for it.
const WATCHERS: [&str; 4] = ["multipathd", "smartd", "udisksd", "systemd-udevd"];

/// A `/proc`, possibly captured, and the results so far.
pub(super) struct ProcScan<'a> {
    proc: &'a Path,
    /// The scanning process, which is ignored.
    own: u32,
    wanted: &'a FileOrDevices,
    /// The kernel's names of the wanted devices.
    names: &'a [String],
    share_descriptors: fn(u32, u32) -> Option<bool>,
    mappings: Mappings<'a>,
    descriptors: usize,
    found: &'a Mutex<Openers>,
}

/// How a process uses the device.
enum Use {
    No,
    Yes(&'static str),
    Unknown(&'static str),
}

impl<'a> ProcScan<'a> {
    /// For this machine, or a captured tree where threads share their descriptors.
    pub(super) fn live(
        proc: &'a Path,
        own: u32,
        wanted: &'a FileOrDevices,
        names: &'a [String],
        found: &'a Mutex<Openers>,
    ) -> ProcScan<'a> {
        ProcScan {
            proc,
            own,
            wanted,
            names,
            share_descriptors,
            mappings: Mappings::new(wanted, names),
            descriptors: 0,
            found,
        }
    }

    #[cfg(test)]
    pub(super) fn with_threads(mut self, share: fn(u32, u32) -> Option<bool>) -> ProcScan<'a> {
        self.share_descriptors = share;
        self
    }

    #[cfg(test)]
    pub(super) fn looked_up(&self) -> usize {
        self.mappings.looked_up()
    }

    /// Scans every process.
    pub(super) fn at_all(&mut self) {
        // A /proc mounted with `hidepid` does not even list other users' processes; process 1
        // always exists.
        if !all_processes_visible(self.proc) || std::fs::read_dir(self.proc.join("1/fd")).is_err() {
            self.is_unseen(Unverified::Processes);
        }
        for entry in std::fs::read_dir(self.proc).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(pid) = pid.filter(|pid| *pid != self.own) else {
                continue;
            };
            let process = entry.path();
            match self.process(pid, &process) {
                Some(Use::Yes(how)) => {
                    let who = named(&process, pid, how);
                    self.with_found(|found| found.others.push(who));
                }
                Some(Use::Unknown(what)) => {
                    let who = named(&process, pid, "");
                    self.is_unseen(Unverified::Something(what, who));
                }
                Some(Use::No) => {}
                None => return self.is_unseen(Unverified::TooMany),
            }
        }
    }

    fn with_found(&self, change: impl FnOnce(&mut Openers)) {
        change(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Records a reason; the first one is kept.
    fn is_unseen(&self, why: Unverified) {
        self.with_found(|found| {
            found.unseen.get_or_insert(why);
        });
    }

    /// Scans one process; `None` where a limit was exceeded.
    fn process(&mut self, pid: u32, process: &Path) -> Option<Use> {
        let tables = self.tables(pid, process);
        let (mut unknown, mut has_ring) = (None, false);
        for table in &tables {
            match self.table(process, table, &mut has_ring)? {
                Use::No => {}
                Use::Yes(how) => return Some(Use::Yes(how)),
                Use::Unknown(what) => unknown = Some(what),
            }
        }
        // All threads share the memory; but an exited main thread shows none.
        for table in &tables {
            let mapped = self.mappings.of(process, table)?;
            if mapped.is_wanted {
                return Some(Use::Yes("; mapped into memory"));
            }
            if mapped.unknown {
                unknown = Some("mapped into memory what cannot be looked up");
            }
            if mapped.has_ring && !has_ring {
                unknown = Some("an io_uring without a descriptor");
            }
            if mapped.lines > 0 {
                break;
            }
        }
        Some(unknown.map_or(Use::No, Use::Unknown))
    }

    /// The process's folder, and those of threads with their own descriptor table.
    fn tables(&self, pid: u32, process: &Path) -> Vec<PathBuf> {
        let mut tables = vec![(pid, process.to_owned())];
        let tasks = std::fs::read_dir(process.join("task"));
        for task in tasks.into_iter().flatten().flatten() {
            let name = task.file_name();
            let thread = name.to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(thread) = thread.filter(|thread| *thread != pid) else {
                continue;
            };
            let mut cache = tables.iter().map(|(known, _)| *known);
            if !cache.any(|known| (self.share_descriptors)(known, thread) == Some(true)) {
                tables.push((thread, task.path()));
            }
        }
        tables.into_iter().map(|(_, folder)| folder).collect()
    }

    fn table(&mut self, process: &Path, table: &Path, has_ring: &mut bool) -> Option<Use> {
        let Ok(descriptors) = std::fs::read_dir(table.join("fd")) else {
            // A process that has exited is not a gap; denied access is.
            if table.exists() {
                self.is_unseen(Unverified::Processes);
            }
            return Some(Use::No);
        };
        let (mut unknown, mut rings) = (None, Vec::new());
        let mut links = Vec::new();
        for descriptor in descriptors.flatten() {
            self.descriptors += 1;
            if self.descriptors > DESCRIPTORS_MAX {
                return None;
            }
            let number = descriptor.file_name();
            let link = descriptor.path();
            let Ok(to) = std::fs::read_link(&link) else {
                continue;
            };
            // Only links to paths are followed: sockets and pipes are not files.
            if to.is_absolute() {
                if self.wanted.is_at(&link) && !only_watches_events(process, table, &number) {
                    return Some(Use::Yes(""));
                }
                links.push(to);
            } else if to == Path::new(rings::LINK) {
                rings.push(number);
            } else if self.wanted.is_device() && receives_descriptors(table, &to, &number) {
                unknown = Some("not yet received a descriptor that was sent to it (SCM_RIGHTS)");
            }
        }
        *has_ring |= !rings.is_empty();
        for ring in rings {
            match rings::registered(process, table, &ring, &links, self.wanted, self.names) {
                Registered::No => {}
                Registered::Wanted => return Some(Use::Yes("; registered with io_uring")),
                Registered::Unknown => {
                    unknown = Some("registered with io_uring what cannot be looked up");
                }
            }
        }
        Some(unknown.map_or(Use::No, Use::Unknown))
    }
}

/// Whether descriptors are in flight in a socket; only local sockets (`AF_UNIX`) carry any, and
/// kernels since 5.8 report it.
fn receives_descriptors(table: &Path, to: &Path, number: &OsStr) -> bool {
    to.as_os_str().as_encoded_bytes().starts_with(b"socket:")
        && std::fs::read_to_string(table.join("fdinfo").join(number)).is_ok_and(|text| {
            let count = text.lines().find_map(|line| line.strip_prefix("scm_fds:"));
            count.is_some_and(|count| count.trim() != "0")
        })
}

/// `cp (pid 123)`, `cp (pid 123; mapped into memory)`.
fn named(process: &Path, pid: u32, how: &str) -> String {
    format!("{} (pid {pid}{how})", name_of(process))
}

/// The name of a process, which may be any bytes.
fn name_of(process: &Path) -> String {
    let name = std::fs::read(process.join("comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

/// A known daemon with the device open for reading only.
fn only_watches_events(process: &Path, table: &Path, descriptor: &OsStr) -> bool {
    WATCHERS.contains(&name_of(process).as_str())
        && flags_of(table, descriptor)
            .is_some_and(|flags| flags & libc::O_ACCMODE == libc::O_RDONLY)
}

/// The open flags of a descriptor, from the folder of its process or thread.
pub(in super::super) fn flags_of(table: &Path, descriptor: &OsStr) -> Option<i32> {
    let text = std::fs::read_to_string(table.join("fdinfo").join(descriptor)).ok()?;
    let octal = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    i32::from_str_radix(octal.trim(), 8).ok()
}
