//! An instance of tracefs (`Documentation/trace/ftrace.rst`, "Instances").
//!
//! All writes go below a directory that this process created, in a file system verified to be
//! tracefs; other users' traces, the global buffer and its clock stay unchanged. Where tracefs is
//! not mounted, it is mounted privately for this process, without a mount point, and disappears
//! with the process.

use super::mounts::mounts;
use super::tree::Tree;
use crate::System;
use crate::tracefs::{CleanupReport, INSTANCE_PREFIX, LostEvents, TraceError, TraceRequest};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, fstatfs, mkdirat, open, openat, unlinkat};
use rustix::io::{Errno, read, write};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use stripewise_units::DeviceNumber;

/// `TRACEFS_MAGIC` of `include/uapi/linux/magic.h`.
const MAGIC: u64 = 0x7472_6163;
/// Files of tracefs are short.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Minimum and maximum bytes of a per-CPU buffer.
const BUFFER_BYTES_MIN: u64 = 256 << 10;
const BUFFER_BYTES_MAX: u64 = 16 << 20;
/// More devices do not fit into a filter; then all are traced.
const FILTERED_DEVICES_MAX: usize = 64;
/// Most processes whose calls are traced, in addition to their children.
const CALLERS_MAX: usize = 500;
/// Most pages read from a buffer in one round.
const PAGES_PER_ROUND: usize = 8_192;

/// Events of the block layer; for alternatives, the first that the kernel has.
const BLOCK_EVENTS: [&[&str]; 7] = [
    &["block_bio_queue"],
    // Since Linux 6.5; before, allocating a request marks its start.
    &["block_io_start", "block_getrq"],
    &["block_rq_issue"],
    &["block_rq_requeue"],
    &["block_rq_complete"],
    &["block_io_done"],
    &["block_bio_remap"],
];
/// Events without which a trace is useless.
const NEEDED: [&str; 2] = ["block_rq_issue", "block_rq_complete"];
/// System calls that wait for a disk or submit I/O to it.
const CALLS: [&str; 14] = [
    "read",
    "pread64",
    "readv",
    "preadv",
    "preadv2",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "io_uring_enter",
];

/// A descriptor of tracefs, wherever it is mounted.
struct Root(OwnedFd);

fn failed(step: impl Display, error: impl Into<io::Error>) -> TraceError {
    TraceError::Failed {
        step: step.to_string(),
        error: error.into(),
    }
}

/// The error for missing permissions.
fn refused(what: &'static str) -> TraceError {
    let tree_root = System::live();
    let lockdown = Tree::of(&tree_root).text("/sys/kernel/security/lockdown");
    match lockdown.is_some_and(|text| text.contains("[confidentiality]")) {
        true => TraceError::Lockdown,
        false => TraceError::NotPermitted(what),
    }
}

impl Root {
    fn open() -> Result<Root, TraceError> {
        let system = System::live();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mounted = mounts(Tree::of(&system)).into_iter();
        let mounted = mounted.filter(|mount| mount.kind == "tracefs" && mount.root == "/");
        for mount in mounted {
            if let Ok(root) = open(&mount.mount_point, flags, Mode::empty()) {
                return Root::checked(root);
            }
        }
        Root::checked(mount_privately()?)
    }

    fn checked(root: OwnedFd) -> Result<Root, TraceError> {
        let found = fstatfs(&root).map_err(|error| failed("look at tracefs", error))?;
        if found.f_type as u64 != MAGIC {
            return Err(TraceError::Missing);
        }
        Ok(Root(root))
    }

    fn instances(&self) -> Result<OwnedFd, TraceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(&self.0, "instances", flags, Mode::empty()).map_err(|error| match error {
            Errno::ACCESS | Errno::PERM => refused("the instances of tracefs cannot be opened"),
            Errno::NOENT => TraceError::Missing,
            error => failed("open the instances of tracefs", error),
        })
    }
}

/// A detached mount, without a path.
fn mount_privately() -> Result<OwnedFd, TraceError> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(|error| match error {
        Errno::NODEV => TraceError::Missing,
        Errno::PERM | Errno::ACCESS => {
            refused("tracefs is not mounted, and mounting it needs CAP_SYS_ADMIN")
        }
        error => failed("mount tracefs", error),
    })?;
    let made = fsconfig_create(context.as_fd()).and_then(|()| {
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    });
    made.map_err(|error| match error {
        Errno::PERM | Errno::ACCESS => {
            refused("tracefs is not mounted, and mounting it needs CAP_SYS_ADMIN")
        }
        error => failed("mount tracefs", error),
    })
}

/// A directory of an instance: removed when dropped.
#[derive(Debug)]
struct Directory {
    instances: OwnedFd,
    name: String,
    own: OwnedFd,
}

impl Directory {
    fn make(root: &Root, purpose: &str) -> Result<Directory, TraceError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let instances = root.instances()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{INSTANCE_PREFIX}{}-{count}-{purpose}", std::process::id());
        mkdirat(&instances, &name, Mode::RWXU).map_err(|error| match error {
            Errno::ACCESS | Errno::PERM => refused("no instance of tracefs can be made"),
            error => failed("make an instance of tracefs", error),
        })?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat(&instances, &name, flags, Mode::empty()) {
            Ok(own) => Ok(Directory {
                instances,
                name,
                own,
            }),
            Err(error) => {
                let _ = unlinkat(&instances, &name, AtFlags::REMOVEDIR);
                Err(failed("open the instance of tracefs", error))
            }
        }
    }

    fn text(&self, path: &str) -> io::Result<String> {
        text_at(self.own.as_fd(), path)
    }

    fn put(&self, path: &str, value: &str) -> Result<(), TraceError> {
        let step = || format!("set {path} of the instance of tracefs");
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&self.own, path, flags, Mode::empty());
        let file = file.map_err(|error| failed(step(), error))?;
        let written = write(&file, value.as_bytes()).map_err(|error| failed(step(), error))?;
        match written == value.len() {
            true => Ok(()),
            false => Err(failed(step(), io::ErrorKind::WriteZero)),
        }
    }

    fn has(&self, path: &str) -> bool {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        openat(&self.own, path, flags, Mode::empty()).is_ok()
    }

    /// Names in a directory of the instance.
    fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        names_in(openat(&self.own, path, flags, Mode::empty())?)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Events end with the instance. `clean` finds one that is still in use.
        let _ = unlinkat(&self.instances, &self.name, AtFlags::REMOVEDIR);
    }
}

fn names_in(directory: OwnedFd) -> io::Result<Vec<String>> {
    let entries = Dir::read_from(&directory)?;
    let names =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str().ok().map(str::to_owned));
    Ok(names.filter(|name| !name.starts_with('.')).collect())
}

fn text_at(directory: BorrowedFd<'_>, path: &str) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(directory, path, flags, Mode::empty())?;
    // Some of these files return everything on the first read, or lose what does not fit.
    let mut bytes = vec![0; TEXT_BYTES_MAX];
    let mut length = 0;
    while length < bytes.len() {
        match read(&file, &mut bytes[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// The buffer of one CPU.
#[derive(Debug)]
struct Buffer {
    pages: OwnedFd,
    statistics: String,
}

/// A part of a trace: an instance with its buffers, which close before it is removed.
#[derive(Debug)]
struct Part {
    buffers: Vec<Buffer>,
    directory: Directory,
    page_bytes: usize,
}

impl Part {
    /// Creates an instance that does not trace yet, with buffers of this total size.
    fn make(root: &Root, purpose: &str, buffer_bytes: u64) -> Result<Part, TraceError> {
        let directory = Directory::make(root, purpose)?;
        directory.put("tracing_on", "0")?;
        directory.put("trace_clock", "mono")?;
        let processors = directory.names("per_cpu");
        let processors =
            processors.map_err(|error| failed("list the buffers of tracefs", error))?;
        let each = buffer_bytes / processors.len().max(1) as u64;
        let each = each.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        directory.put("buffer_size_kb", &(each >> 10).to_string())?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut buffers = Vec::new();
        for processor in processors {
            let path = format!("per_cpu/{processor}/trace_pipe_raw");
            let pages = openat(&directory.own, &path, flags, Mode::empty());
            buffers.push(Buffer {
                pages: pages.map_err(|error| failed("open a buffer of tracefs", error))?,
                statistics: format!("per_cpu/{processor}/stats"),
            });
        }
        // Since Linux 6.8 a buffer page may be larger than a memory page.
        let page_kib = directory.text("buffer_subbuf_size_kb").ok();
        let page_kib: Option<usize> = page_kib.and_then(|text| text.trim().parse().ok());
        let page_bytes = page_kib.map_or_else(rustix::param::page_size, |kib| kib << 10);
        Ok(Part {
            buffers,
            directory,
            page_bytes: page_bytes.clamp(4 << 10, 1 << 20),
        })
    }

    /// Enables an event; returns the text of its format.
    fn enable(&self, event: &str, filter: Option<&str>) -> Result<String, TraceError> {
        let format = self.directory.text(&format!("events/{event}/format"));
        let format =
            format.map_err(|error| failed(format_args!("read the format of {event}"), error))?;
        if let Some(filter) = filter {
            self.directory
                .put(&format!("events/{event}/filter"), filter)?;
        }
        self.directory.put(&format!("events/{event}/enable"), "1")?;
        Ok(format)
    }

    fn read(
        &self,
        first: usize,
        buffer: &mut [u8],
        page: &mut dyn FnMut(usize, &[u8]),
    ) -> io::Result<usize> {
        let buffer = &mut buffer[..self.page_bytes];
        let mut pages = 0;
        for (number, one) in self.buffers.iter().enumerate() {
            for _ in 0..PAGES_PER_ROUND {
                match read(&one.pages, &mut *buffer) {
                    Ok(0) | Err(Errno::AGAIN) => break,
                    Ok(length) => {
                        page(first + number, &buffer[..length]);
                        pages += 1;
                    }
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(pages)
    }

    /// Events that were overwritten before they were read, or did not fit.
    fn lost(&self) -> u64 {
        let of = |buffer: &Buffer| {
            let text = self.directory.text(&buffer.statistics).unwrap_or_default();
            lost_events(&text)
        };
        self.buffers.iter().map(of).sum()
    }
}

/// From the text of `per_cpu/cpuN/stats`.
fn lost_events(text: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let lost =
        lines.filter(|(name, _)| matches!(*name, "overrun" | "commit overrun" | "dropped events"));
    lost.filter_map(|(_, value)| value.trim().parse::<u64>().ok())
        .sum()
}

/// A trace in progress.
#[derive(Debug)]
pub(crate) struct Instance {
    header_page: String,
    formats: Vec<String>,
    parts: Vec<Part>,
    page: Vec<u8>,
}

impl Instance {
    pub(crate) fn header_page(&self) -> &str {
        &self.header_page
    }

    pub(crate) fn formats(&self) -> &[String] {
        &self.formats
    }

    pub(crate) fn read(&mut self, page: &mut dyn FnMut(usize, &[u8])) -> io::Result<usize> {
        let mut pages = 0;
        let mut first = 0;
        for part in &self.parts {
            pages += part.read(first, &mut self.page, page)?;
            first += part.buffers.len();
        }
        Ok(pages)
    }

    pub(crate) fn pause(&self) -> io::Result<()> {
        for part in &self.parts {
            part.directory
                .put("tracing_on", "0")
                .map_err(|error| match error {
                    TraceError::Failed { error, .. } => error,
                    other => io::Error::other(other),
                })?;
        }
        Ok(())
    }

    pub(crate) fn lost(&self) -> LostEvents {
        LostEvents {
            events: self.parts.iter().map(Part::lost).sum(),
        }
    }
}

/// The filter expression for devices, with the kernel's internal numbers.
fn filter_of(devices: &[DeviceNumber]) -> Option<String> {
    if devices.is_empty() || devices.len() > FILTERED_DEVICES_MAX {
        return None;
    }
    let each = devices.iter().map(|one| {
        let number = (u64::from(one.major) << 20) | u64::from(one.minor);
        format!("dev == {number}")
    });
    Some(each.collect::<Vec<String>>().join(" || "))
}

pub(crate) fn start(request: &TraceRequest) -> Result<Instance, TraceError> {
    let root = Root::open()?;
    let header_page =
        text_at(root.0.as_fd(), "events/header_page").map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => refused("tracefs cannot be read"),
            _ => failed("read the layout of tracefs' pages", error),
        })?;
    let block = Part::make(&root, "block", request.buffer_bytes)?;
    let filter = filter_of(&request.devices);
    let mut formats = Vec::new();
    for names in BLOCK_EVENTS {
        let has = |name: &&&str| block.directory.has(&format!("events/block/{name}/format"));
        match names.iter().find(has) {
            Some(name) => {
                formats.push(block.enable(&format!("block/{name}"), filter.as_deref())?);
            }
            None if NEEDED.contains(&names[0]) => return Err(TraceError::NoEvents(names[0])),
            None => {}
        }
    }
    let mut parts = vec![block];
    if !request.callers.is_empty() {
        parts.push(calls(&root, request, &mut formats)?);
    }
    for part in &parts {
        part.directory.put("tracing_on", "1")?;
    }
    let page_bytes = parts.iter().map(|part| part.page_bytes).max();
    Ok(Instance {
        header_page,
        formats,
        parts,
        page: vec![0; page_bytes.unwrap_or(0)],
    })
}

/// Traces system calls of some processes. They use a separate instance, as its filter by process
/// would also suppress completions, which occur in the context of any process.
fn calls(
    root: &Root,
    request: &TraceRequest,
    formats: &mut Vec<String>,
) -> Result<Part, TraceError> {
    let part = Part::make(root, "calls", request.buffer_bytes / 4)?;
    if !part.directory.has("events/syscalls/sys_enter_read/format") {
        return Err(TraceError::NoEvents(
            "sys_enter_read (CONFIG_FTRACE_SYSCALLS)",
        ));
    }
    part.directory.put("options/event-fork", "1")?;
    // More do not fit into one write, and a second one would replace them.
    let callers = request.callers.iter().take(CALLERS_MAX);
    let callers: Vec<String> = callers.map(i32::to_string).collect();
    part.directory.put("set_event_pid", &callers.join(" "))?;
    for call in CALLS {
        for way in ["enter", "exit"] {
            let event = format!("syscalls/sys_{way}_{call}");
            if part.directory.has(&format!("events/{event}/format")) {
                formats.push(part.enable(&event, None)?);
            }
        }
    }
    Ok(part)
}

/// Whether the process in this instance's name still runs this program. A killed zombie process has
/// no program any more.
fn is_of_running_observer(name: &str) -> bool {
    let program = |pid: &str| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let pid = name.strip_prefix(INSTANCE_PREFIX);
    let pid = pid.and_then(|rest| rest.split('-').next());
    let of_it = pid
        .filter(|pid| pid.parse::<u32>().is_ok())
        .and_then(program);
    of_it.is_some() && of_it == program("self")
}

pub(crate) fn clean() -> Result<CleanupReport, TraceError> {
    let instances = Root::open()?.instances()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = openat(&instances, ".", flags, Mode::empty());
    let names = listed.map_err(io::Error::from).and_then(names_in);
    let names = names.map_err(|error| failed("list the instances of tracefs", error))?;
    let mut cleaned = CleanupReport::default();
    for name in names
        .into_iter()
        .filter(|name| name.starts_with(INSTANCE_PREFIX))
    {
        // An instance being set up: its buffers are not open yet.
        if is_of_running_observer(&name) {
            cleaned.in_use.push(name);
            continue;
        }
        // The kernel refuses to remove an instance whose buffers a process has open.
        match unlinkat(&instances, &name, AtFlags::REMOVEDIR) {
            Ok(()) => cleaned.removed.push(name),
            Err(Errno::BUSY) => cleaned.in_use.push(name),
            // Another `--clean` was first; the kernel returns either error.
            Err(Errno::NOENT | Errno::NODEV) => {}
            Err(error) => return Err(failed(format_args!("remove the instance {name}"), error)),
        }
    }
    cleaned.removed.sort();
    cleaned.in_use.sort();
    Ok(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_left_to_the_observer_that_runs() {
        let of = |pid: u32| is_of_running_observer(&format!("{INSTANCE_PREFIX}{pid}-0-block"));
        assert!(of(std::process::id()));
        assert!(!of(u32::MAX), "no process has this number");
        assert!(!is_of_running_observer(INSTANCE_PREFIX));
        let mut other = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .expect("sleep");
        assert!(!of(other.id()), "another program");
        other.kill().expect("it runs");
        other.wait().expect("it ended");
    }

    #[test]
    fn lost_events_are_those_of_all_counters() {
        let text = "entries: 12\noverrun: 7\ncommit overrun: 1\nbytes: 800\noldest event ts:  1.2\n\
                    now ts:  3.4\ndropped events: 2\nread events: 90\n";
        assert_eq!((lost_events(text), lost_events("overrun: x")), (10, 0));
    }

    #[test]
    fn a_filter_names_each_device_by_the_kernels_number() {
        let one = DeviceNumber {
            major: 8,
            minor: 16,
        };
        let other = DeviceNumber {
            major: 259,
            minor: 1,
        };
        let filter = filter_of(&[one, other]);
        assert_eq!(
            filter.as_deref(),
            Some("dev == 8388624 || dev == 271581185")
        );
        assert_eq!((filter_of(&[]), filter_of(&[one; 65])), (None, None));
    }
}
