//! Who uses a file or device of this machine right now: swap areas, loop
//! devices, processes. Whoever is about to write asks here.
//!
//! Nothing here decides alone. For files the kernel's lease decides as well; for
//! block devices it is `O_EXCL`, and this explains the refusal, except for users
//! that `O_EXCL` cannot see: loop devices over a device, and processes that have
//! it open without claiming it (virtual machines, databases on raw devices).

use super::generic;
use rustix::fs::{AtFlags, FileType, StatxFlags};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stripewise_disk_inspect::storage::BlockDeviceKind;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::linux::tree::{path_of_line, table_text, unescape_path};
use stripewise_machine::linux::{loop_status, swaps};
use stripewise_units::{DeviceNumber, NameText};

/// Most descriptors looked at over all processes.
const DESCRIPTORS_MAX: usize = 500_000;

const PROC: &str = "/proc";

/// The first namespace of processes has this fixed number (`PROC_PID_INIT_INO`).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Daemons that keep disks open for reading just to watch them. They are no
/// reason not to write a device that was named for it.
const WATCHERS: [&str; 4] = ["multipathd", "smartd", "udisksd", "systemd-udevd"];

/// What we ask about: one file, or a device with its relatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOrDevices {
    /// By what `stat` says of it.
    File {
        /// `st_dev`.
        device: DeviceNumber,
        /// `st_ino`.
        inode: u64,
    },
    /// A disk and its partitions, or a partition and its disk: writing to one
    /// changes the other. Device nodes have any number of names.
    Devices {
        /// Block devices.
        blocks: Vec<DeviceNumber>,
        /// Character devices that lead past them (`/dev/ng0n1`).
        characters: Vec<DeviceNumber>,
    },
}

impl FileOrDevices {
    /// A device with its relatives.
    #[must_use]
    pub fn device(system: &System, number: DeviceNumber) -> FileOrDevices {
        let mut family = vec![number];
        family.extend(system.partitions(number).iter().map(|found| found.number));
        if let Ok(device) = system.device(number)
            && device.kind == BlockDeviceKind::Partition
        {
            family.extend(device.below.iter().map(|disk| disk.number));
        }
        let mut characters: Vec<DeviceNumber> = (family.iter())
            .flat_map(|block| generic::characters_of(Path::new("/sys"), *block))
            .collect();
        characters.sort_unstable();
        characters.dedup();
        FileOrDevices::Devices {
            blocks: family,
            characters,
        }
    }

    /// Whether a path leads to it. A server that is gone is not waited for.
    fn is_at(&self, path: &Path) -> bool {
        let flags = AtFlags::STATX_DONT_SYNC;
        let wanted = StatxFlags::BASIC_STATS;
        let Ok(found) = rustix::fs::statx(rustix::fs::CWD, path, flags, wanted) else {
            return false;
        };
        let number = |major, minor| DeviceNumber { major, minor };
        match self {
            FileOrDevices::File { device, inode } => {
                let on = number(found.stx_dev_major, found.stx_dev_minor);
                (on, found.stx_ino) == (*device, *inode)
            }
            FileOrDevices::Devices { blocks, characters } => {
                let is = number(found.stx_rdev_major, found.stx_rdev_minor);
                match FileType::from_raw_mode(found.stx_mode.into()) {
                    FileType::BlockDevice => blocks.contains(&is),
                    FileType::CharacterDevice => characters.contains(&is),
                    _ => false,
                }
            }
        }
    }
}

/// Swap areas that are this file or device.
#[must_use]
pub fn swap_areas(wanted: &FileOrDevices) -> Vec<String> {
    let mut names = swaps::names(&swaps::table());
    names.retain(|name| wanted.is_at(name));
    names.iter().map(|name| name.as_text()).collect()
}

/// Loop devices that stand on this file or device, by name. Asks the devices
/// themselves where permitted (which finds deleted files and other paths), and
/// the paths in sysfs.
#[must_use]
pub fn loop_devices(wanted: &FileOrDevices) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("loop") {
            continue;
        }
        let path = entry.path().join("loop/backing_file");
        let Ok(backing) = std::fs::read(&path) else {
            continue; // Not in use.
        };
        let by_path = || path_of_line(&backing).is_some_and(|path| wanted.is_at(&path));
        if stands_on(&name, wanted).unwrap_or(false) || by_path() {
            found.push(name);
        }
    }
    found
}

/// Asks the loop device itself; `None` where it may not be asked.
fn stands_on(name: &str, wanted: &FileOrDevices) -> Option<bool> {
    let backing = loop_status::backing(&Path::new("/dev").join(name))?;
    Some(match wanted {
        FileOrDevices::File { device, inode } => {
            (backing.device, backing.inode) == (*device, *inode)
        }
        FileOrDevices::Devices { blocks, .. } => {
            let is_device = backing.rdevice != DeviceNumber::default();
            is_device && blocks.contains(&backing.rdevice)
        }
    })
}

/// Asks again what is in the way, as something may only look for a moment:
/// `udev` and `blkid` whenever somebody closes a device, a child of ours between
/// fork and exec. What is still there after half a second is in the way: a server that
/// has the file open forks all the time, and no time is long enough to tell the two apart.
pub fn retry_briefly<T>(mut in_the_way: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..5 {
        in_the_way()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    in_the_way()
}

/// Processes that have a file or device open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openers {
    /// `name (pid 123)`, others than ourselves, without mere watchers.
    pub others: Vec<String>,
    /// Every process of this machine could be looked at.
    pub complete: bool,
}

/// Why not every process could be looked at, for [`Openers`] that are not complete.
#[must_use]
pub fn why_unseen() -> &'static str {
    if sees_all_processes() {
        "this user has no permission to look into the processes of others"
    } else {
        "processes outside of this container (PID namespace) are hidden"
    }
}

impl Openers {
    /// `is open in cp (pid 123) and 2 more`; `None` where nobody was seen.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        let first = self.others.first()?;
        let and = match self.others.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("is open in {first}{and}"))
    }
}

/// Looks through the descriptors of all processes; best effort.
#[must_use]
pub fn openers(wanted: &FileOrDevices) -> Openers {
    openers_in(Path::new(PROC), std::process::id(), wanted)
}

/// The same in a `/proc` that may be captured, for the process `own`.
fn openers_in(proc: &Path, own: u32, wanted: &FileOrDevices) -> Openers {
    let mut found = Openers {
        others: Vec::new(),
        complete: sees_all_in(proc),
    };
    // A /proc mounted with `hidepid` does not even list the processes of others; the
    // first one is always there.
    found.complete &= std::fs::read_dir(proc.join("1/fd")).is_ok();
    let mut looked_at = 0usize;
    for entry in std::fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<u32>().ok())
        else {
            continue;
        };
        if pid == own {
            continue;
        }
        let process = entry.path();
        let Ok(descriptors) = std::fs::read_dir(process.join("fd")) else {
            // Gone in the meantime is no gap; forbidden is.
            found.complete &= !process.exists();
            continue;
        };
        for descriptor in descriptors.flatten() {
            looked_at += 1;
            if looked_at > DESCRIPTORS_MAX {
                found.complete = false;
                return found;
            }
            // Only links to paths are followed: sockets and pipes are no files.
            let link = descriptor.path();
            let is_path = std::fs::read_link(&link).is_ok_and(|to| to.is_absolute());
            if is_path && wanted.is_at(&link) && !merely_watches(&process, &descriptor.file_name())
            {
                let name = name_of(&process);
                found.others.push(format!("{name} (pid {pid})"));
                break;
            }
        }
    }
    found
}

/// Another descriptor than `file` of this very process is open on it. Mere
/// handles (`O_PATH`) do not count: nothing is read or written through them.
#[must_use]
pub fn open_twice_here(file: &File, wanted: &FileOrDevices) -> bool {
    let own = Path::new("/proc/self");
    let this = file.as_raw_fd().to_string();
    let descriptors = std::fs::read_dir(own.join("fd"));
    descriptors
        .into_iter()
        .flatten()
        .flatten()
        .any(|descriptor| {
            let number = descriptor.file_name();
            number != *this
                && wanted.is_at(&descriptor.path())
                && flags_of(own, &number).is_some_and(|flags| flags & libc::O_PATH == 0)
        })
}

/// What a process calls itself, which may be any bytes.
fn name_of(process: &Path) -> String {
    let name = std::fs::read(process.join("comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

/// A known daemon, and open for reading only.
fn merely_watches(process: &Path, descriptor: &OsStr) -> bool {
    WATCHERS.contains(&name_of(process).as_str())
        && flags_of(process, descriptor)
            .is_some_and(|flags| flags & libc::O_ACCMODE == libc::O_RDONLY)
}

/// The flags with which a descriptor was opened.
fn flags_of(process: &Path, descriptor: &OsStr) -> Option<i32> {
    let text = std::fs::read_to_string(process.join("fdinfo").join(descriptor)).ok()?;
    let octal = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    i32::from_str_radix(octal.trim(), 8).ok()
}

/// We are not in a process namespace of our own (a container), which hides
/// everybody outside.
#[must_use]
pub fn sees_all_processes() -> bool {
    sees_all_in(Path::new(PROC))
}

fn sees_all_in(proc: &Path) -> bool {
    let namespace = std::fs::read_link(proc.join("self/ns/pid"));
    namespace.is_ok_and(|to| to == Path::new(FIRST_NAMESPACE))
}

/// Mount points of a device in other mount namespaces than ours, which our own
/// mount table does not show (containers); best effort.
#[must_use]
pub fn mounted_elsewhere(number: DeviceNumber) -> Vec<PathBuf> {
    let mut namespaces = HashSet::new();
    if let Ok(own) = std::fs::read_link("/proc/self/ns/mnt") {
        namespaces.insert(own);
    }
    let wanted = number.to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(namespace) = std::fs::read_link(entry.path().join("ns/mnt")) else {
            continue;
        };
        if !namespaces.insert(namespace) {
            continue;
        }
        let bytes = std::fs::read(entry.path().join("mountinfo")).unwrap_or_default();
        for line in table_text(&bytes).lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if words.get(2) == Some(&wanted.as_str())
                && let Some(mount_point) = words.get(4)
            {
                found.push(unescape_path(mount_point));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// A `/proc` of our own, seen by process 10. Nothing is open in process 1.
    struct Proc(tempfile::TempDir);

    impl Proc {
        fn new() -> Proc {
            let proc = Proc(tempfile::tempdir().expect("a directory"));
            proc.process(1, b"init", &[]);
            let namespaces = proc.path("self/ns");
            std::fs::create_dir_all(&namespaces).expect("a directory");
            symlink(FIRST_NAMESPACE, namespaces.join("pid")).expect("a link");
            proc
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// A file that processes may have open.
        fn file(&self, name: &str) -> PathBuf {
            let path = self.path(name);
            std::fs::write(&path, name).expect("a file");
            path
        }

        /// A process with files that it has open with these flags, in octal.
        fn process(&self, pid: u32, name: &[u8], files: &[(&Path, &str)]) {
            let process = self.path(&pid.to_string());
            let (links, facts) = (process.join("fd"), process.join("fdinfo"));
            std::fs::create_dir_all(&links).expect("a directory");
            std::fs::create_dir(&facts).expect("a directory");
            let line = [name, b"\n"].concat();
            std::fs::write(process.join("comm"), line).expect("its name");
            for (number, (file, flags)) in files.iter().enumerate() {
                symlink(file, links.join(number.to_string())).expect("a link");
                let text = format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t29\n");
                std::fs::write(facts.join(number.to_string()), text).expect("its flags");
            }
        }

        fn openers(&self, wanted: &FileOrDevices) -> Openers {
            let mut found = openers_in(self.0.path(), 10, wanted);
            found.others.sort_unstable();
            found
        }
    }

    fn wanted(path: &Path) -> FileOrDevices {
        let found = std::fs::metadata(path).expect("there");
        FileOrDevices::File {
            device: DeviceNumber::from_raw(found.dev()),
            inode: found.ino(),
        }
    }

    #[test]
    fn who_has_a_file_open_is_named_unless_it_merely_watches() {
        const READING: &str = "0100000";
        const WRITING: &str = "0100002";
        let proc = Proc::new();
        let (data, other) = (proc.file("data"), proc.file("other"));
        let link = proc.path("second-name");
        std::fs::hard_link(&data, &link).expect("a second name");
        let no_path = Path::new("socket:[4711]");
        let odd = std::ffi::OsStr::from_bytes(b"d\xffd");
        // (process, name, what it has open, whether it is named)
        type Open<'a> = &'a [(&'a Path, &'a str)];
        let cases: [(u32, &[u8], Open<'_>, bool); 11] = [
            (10, b"stripewise", &[(&data, WRITING)], false),
            (11, b"cp", &[(&data, READING)], true),
            (12, b"dd", &[(&other, WRITING)], false),
            (13, b"cat", &[(&other, READING), (&link, READING)], true),
            (14, b"twice", &[(&data, READING), (&data, WRITING)], true),
            (15, b"ssh", &[(no_path, WRITING)], false),
            (16, b"smartd", &[(&data, READING)], false),
            (17, b"smartd", &[(&data, WRITING)], true),
            (18, b"smartd", &[(&data, READING), (&data, WRITING)], true),
            (19, b"udisksd", &[(&data, "no number")], true),
            (20, odd.as_bytes(), &[(&data, READING)], true),
        ];
        for (pid, name, files, _) in cases {
            proc.process(pid, name, files);
        }
        // No process: its name is no number.
        std::fs::create_dir_all(proc.path("driver/fd")).expect("a directory");
        symlink(&data, proc.path("driver/fd/0")).expect("a link");
        let named = cases.iter().filter(|(.., named)| *named);
        let named = named.map(|(pid, name, ..)| {
            let name = String::from_utf8_lossy(name);
            format!("{name} (pid {pid})")
        });
        let mut others: Vec<String> = named.collect();
        others.sort_unstable();
        let found = proc.openers(&wanted(&data));
        assert_eq!((found.others, found.complete), (others, true));
    }

    #[test]
    fn devices_are_found_by_their_number_and_kind() {
        let proc = Proc::new();
        proc.process(11, b"cat", &[(Path::new("/dev/null"), "0100000")]);
        let null = DeviceNumber { major: 1, minor: 3 };
        for (blocks, characters, open) in [
            (vec![], vec![null], true),
            (vec![null], vec![], false),
            (vec![], vec![DeviceNumber { minor: 5, ..null }], false),
        ] {
            let found = proc.openers(&FileOrDevices::Devices { blocks, characters });
            assert_eq!(found.refusal().is_some(), open, "{found:?}");
        }
    }

    #[test]
    fn where_processes_are_hidden_the_answer_is_not_complete() {
        let gaps: [fn(&Proc); 3] = [
            // Mounted with `hidepid`.
            |proc| std::fs::remove_dir_all(proc.path("1")).expect("gone"),
            // Another user's.
            |proc| std::fs::remove_dir(proc.path("11/fd")).expect("gone"),
            // A container's.
            |proc| {
                let link = proc.path("self/ns/pid");
                std::fs::remove_file(&link).expect("gone");
                symlink("pid:[4026532199]", &link).expect("a link");
            },
        ];
        for (number, gap) in gaps.iter().enumerate() {
            let proc = Proc::new();
            proc.process(11, b"cp", &[]);
            let data = proc.file("data");
            assert!(proc.openers(&wanted(&data)).complete);
            gap(&proc);
            assert!(!proc.openers(&wanted(&data)).complete, "gap {number}");
        }
    }

    #[test]
    fn a_refusal_names_one_process_and_counts_the_others() {
        let refusal = |others: &[&str]| {
            let others = others.iter().map(|&name| name.to_owned()).collect();
            let openers = Openers {
                others,
                complete: true,
            };
            openers.refusal()
        };
        assert_eq!(refusal(&[]), None);
        assert_eq!(refusal(&["a (pid 1)"]).unwrap(), "is open in a (pid 1)");
        let three = refusal(&["a (pid 1)", "b (pid 2)", "c (pid 3)"]);
        assert_eq!(three.unwrap(), "is open in a (pid 1) and 2 more");
    }

    #[test]
    fn only_what_stays_is_in_the_way() {
        for (stays, want) in [(0, None), (1, None), (5, None), (6, Some(6)), (9, Some(6))] {
            let mut asked = 0;
            let found = retry_briefly(|| {
                asked += 1;
                (asked <= stays).then_some(asked)
            });
            assert_eq!(found, want, "there for {stays} looks");
        }
    }
}
