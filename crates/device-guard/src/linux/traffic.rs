//! Which processes do storage I/O: their counters at two points in time (`/proc/PID/io`), and their
//! open files.

use rustix::fs::{AtFlags, FileType, StatxFlags};
use std::collections::HashMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;
use stripewise_machine::linux::tree::table_text;
use stripewise_units::{DeviceNumber, format_bytes};

/// Time limit for a scan: `/proc` may wait for a hanging process.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// Most processes named.
const NAMED_MAX: usize = 3;
/// Most processes whose descriptors are examined, largest amounts first.
const LOOKED_AT_MAX: usize = 32;
/// Most descriptors examined per process.
const DESCRIPTORS_MAX: usize = 10_000;

/// Bytes transferred by each process since its start, by pid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    proc: PathBuf,
    bytes: HashMap<u32, u64>,
}

impl Traffic {
    /// Current counters of all accessible processes.
    pub fn now() -> Traffic {
        within_a_second(|| Traffic::of(Path::new("/proc")))
    }

    fn of(proc: &Path) -> Traffic {
        let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
        let moved = |entry: DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let text = std::fs::read_to_string(entry.path().join("io")).ok()?;
            let counts = text.lines().filter_map(|line| {
                let (name, count) = line.split_once(": ")?;
                matches!(name, "read_bytes" | "write_bytes").then(|| count.parse::<u64>().ok())?
            });
            Some((pid, counts.fold(0, u64::saturating_add)))
        };
        Traffic {
            proc: proc.to_owned(),
            bytes: entries.filter_map(moved).collect(),
        }
    }

    /// Processes that did I/O since `before` and have one of these devices, or a file on it, open:
    /// `fio (pid 4711, 180 MiB)`, largest amounts first. Empty if `before` could not be read: the
    /// current counters may be from long ago.
    pub fn since(self, before: &Traffic, devices: &[DeviceNumber]) -> Vec<String> {
        if before.bytes.is_empty() {
            return Vec::new();
        }
        let mut moved: Vec<(u32, u64)> = (self.bytes.iter())
            .map(|(pid, bytes)| {
                let then = before.bytes.get(pid).copied().unwrap_or(0);
                (*pid, bytes.saturating_sub(then))
            })
            .filter(|(pid, bytes)| *bytes > 0 && *pid != std::process::id())
            .collect();
        moved.sort_by_key(|(pid, bytes)| (std::cmp::Reverse(*bytes), *pid));
        moved.truncate(LOOKED_AT_MAX);
        let (proc, devices) = (self.proc, devices.to_vec());
        within_a_second(move || {
            let named = moved.into_iter().filter_map(|(pid, bytes)| {
                let process = proc.join(pid.to_string());
                let name = std::fs::read(process.join("comm")).ok()?;
                has_open(&process, &devices).then(|| {
                    let name = table_text(name.trim_ascii_end());
                    format!("{name} (pid {pid}, {})", format_bytes(bytes))
                })
            });
            named.take(NAMED_MAX).collect()
        })
    }
}

/// Whether a process has one of these devices, or a file on its file system, open.
fn has_open(process: &Path, devices: &[DeviceNumber]) -> bool {
    let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten();
    let mut links = descriptors.flatten().take(DESCRIPTORS_MAX);
    links.any(|link| {
        // Do not wait for an unreachable server.
        let flags = AtFlags::STATX_DONT_SYNC;
        let Ok(found) =
            rustix::fs::statx(rustix::fs::CWD, link.path(), flags, StatxFlags::BASIC_STATS)
        else {
            return false;
        };
        let number = |major, minor| DeviceNumber { major, minor };
        let is_of = match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::BlockDevice => number(found.stx_rdev_major, found.stx_rdev_minor),
            _ => number(found.stx_dev_major, found.stx_dev_minor),
        };
        devices.contains(&is_of)
    })
}

/// The result of a scan, or nothing if it takes longer.
fn within_a_second<T: Default + Send + 'static>(look: impl FnOnce() -> T + Send + 'static) -> T {
    let (found, wait) = channel();
    // In a thread, as a read of /proc cannot be cancelled.
    let started = std::thread::Builder::new().spawn(move || found.send(look()).is_ok());
    match started {
        Ok(_) => wait.recv_timeout(LOOK_MAX).unwrap_or_default(),
        Err(_) => T::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    fn process(proc: &Path, pid: u32, moved: [u64; 2], opens: &Path) {
        let process = proc.join(pid.to_string());
        std::fs::create_dir_all(process.join("fd")).expect("a directory");
        let [read, written] = moved;
        let io = format!("rchar: 9\nread_bytes: {read}\nwrite_bytes: {written}\n");
        std::fs::write(process.join("io"), io).expect("its counters");
        std::fs::write(process.join("comm"), format!("db{pid}\n")).expect("its name");
        if !opens.as_os_str().is_empty() {
            symlink(opens, process.join("fd/3")).expect("a descriptor");
        }
    }

    #[test]
    fn those_are_named_that_moved_data_and_have_a_file_of_the_device_open() {
        let [then, now] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let data = now.path().join("data");
        std::fs::write(&data, "x").expect("a file");
        let device = DeviceNumber::from_raw(std::fs::metadata(&data).expect("there").dev());
        let other_mounts = Path::new("/proc/version");
        for (pid, before, after, opens) in [
            (11, [0, 100], [0, 100], &*data),
            (12, [5, 0], [5 + 4096, 0], &data),
            (13, [0, 0], [4096, 4096], &data),
            (14, [0, 0], [1 << 30, 0], other_mounts),
            (15, [0, 0], [1 << 31, 0], Path::new("")),
        ] {
            process(then.path(), pid, before, opens);
            process(now.path(), pid, after, opens);
        }
        // Started in the meantime.
        process(now.path(), 16, [0, 512], &data);
        let before = Traffic::of(then.path());
        let named = |devices: &[DeviceNumber]| Traffic::of(now.path()).since(&before, devices);
        assert_eq!(
            named(&[device]),
            [
                "db13 (pid 13, 8 KiB)",
                "db12 (pid 12, 4 KiB)",
                "db16 (pid 16, 512 B)"
            ]
        );
        assert_eq!(named(&[]), [""; 0]);
        let unread = Traffic::default();
        assert_eq!(Traffic::of(now.path()).since(&unread, &[device]), [""; 0]);
    }
}
