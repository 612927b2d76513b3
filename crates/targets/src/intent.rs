//! What the caller intends to do to a target, and what it knows.

use crate::{Error, ErrorKind, FileSystemSize, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use stripewise_workload::{CacheMode, DataPattern, Workload};

/// Most operations in flight over all jobs without an explicit number: what a production volume
/// handles without noticeable effect on its users.
pub const OUTSTANDING_MAX_UNASKED: u32 = 256;

/// Bytes of a test file, or bytes needed of an existing target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// Existing target: all of it. Test file: min(8 GiB, 5 % of free space),
    /// less where the space rule says so.
    Auto,
    /// Exactly N. Existing target: must have them. Test file: refused where the space rule forbids
    /// it.
    Exactly(u64),
    /// Up to N. Test file: as many as the space rule allows (and the plan reports it). Existing
    /// target: N or all it has.
    AtMost(u64),
}

/// Kernel features that operations need beyond plain reads and writes; refused where the target,
/// its file system or the kernel lacks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoFeatures {
    /// Atomic writes.
    pub atomic: bool,
    /// Writes made durable individually by a flag.
    #[serde(default)]
    pub dsync: bool,
    /// Polled completions.
    pub poll: bool,
    /// Commands that bypass the block layer (`--engine nvme`): the target is an NVMe generic
    /// character device; its block device is what the rules judge.
    #[serde(default)]
    pub passthrough: bool,
    /// Discards. They destroy data as writes do, so they imply [`Intent::writes`]; files are only
    /// discarded if Stripewise made them.
    pub discards: bool,
}

impl IoFeatures {
    /// Features that any of these workloads needs.
    pub fn of<'a>(workloads: impl IntoIterator<Item = &'a Workload>) -> IoFeatures {
        let join = |all: IoFeatures, one: &Workload| IoFeatures {
            atomic: all.atomic || one.atomic,
            dsync: all.dsync || one.dsync,
            poll: all.poll || one.poll,
            passthrough: all.passthrough,
            discards: all.discards || one.discards(),
        };
        workloads.into_iter().fold(IoFeatures::default(), join)
    }

    /// Workloads that need any of these features, each once.
    pub fn asking<'a>(workloads: impl IntoIterator<Item = &'a Workload>) -> Vec<Workload> {
        let mut asking: Vec<Workload> = Vec::new();
        for workload in workloads {
            if IoFeatures::of([workload]) != IoFeatures::default() && !asking.contains(workload) {
                asking.push(workload.clone());
            }
        }
        asking
    }

    /// The same features with `passthrough` set.
    #[must_use]
    pub fn passed_through(self, passthrough: bool) -> IoFeatures {
        IoFeatures {
            passthrough,
            ..self
        }
    }
}

/// What will be done to a target. All safety rules judge this.
#[derive(Clone, Debug)]
pub struct Intent {
    /// Something will be read.
    pub reads: bool,
    /// The measurement will write (filling a test file does not count).
    pub writes: bool,
    /// Size wanted or needed.
    pub size: Size,
    /// `--overwrite`: an existing file may be written.
    pub overwrite: bool,
    /// `--destroy NAME`: the kernel's name of the device that may be written, as `NAME` or
    /// `/dev/NAME`; links and aliases are not accepted.
    pub destroy: Option<String>,
    /// `--busy-ok`: measure despite a live database or a busy device.
    pub busy_ok: bool,
    /// `--keep`: the test file gets a name and is kept.
    pub keep: bool,
    /// `prepare PATH`: the path must not exist; a kept file is made there.
    pub create: bool,
    /// Operations in flight at once over all jobs and threads.
    pub outstanding_total: u32,
    /// The user gave that number explicitly.
    pub outstanding_by_number: bool,
    /// Cache modes that will be opened; see [`Target::open`](crate::Target::open).
    pub cache: CacheMode,
    /// The user gave the cache mode explicitly: a file system that refuses it is an error, not a
    /// fallback to `buffered`.
    pub cache_by_name: bool,
    /// Further kernel features that operations will need.
    pub features: IoFeatures,
    /// Workloads whose sizes must suit these features, as [`Target::fits`](crate::Target::fits)
    /// judges: known here, they are judged before a test file is filled.
    pub loads: Vec<Workload>,
    /// Content of the data that fills a test file.
    pub data: DataPattern,
    /// Seed of that data.
    pub seed: u64,
    /// The caller writes every byte of a test file before anything is read: the file is made at
    /// full size, with space reserved where supported, and not filled.
    pub filled_by_caller: bool,
    /// Filling stops after this long and the file is cut to what is written
    /// (quick `bench`: 25 s). `None`: as long as it takes.
    pub fill_time_limit_ns: Option<u64>,
    /// Size assumed for the file system when computing the share that must stay free.
    pub file_system_size: FileSystemSize,
}

impl Default for Intent {
    /// Reads only, default size, direct, no flag given.
    fn default() -> Self {
        Intent {
            reads: true,
            writes: false,
            size: Size::Auto,
            overwrite: false,
            destroy: None,
            busy_ok: false,
            keep: false,
            create: false,
            outstanding_total: 1,
            outstanding_by_number: false,
            cache: CacheMode::Direct,
            cache_by_name: false,
            features: IoFeatures::default(),
            loads: Vec::new(),
            data: DataPattern::default(),
            seed: 1,
            filled_by_caller: false,
            fill_time_limit_ns: None,
            file_system_size: FileSystemSize::Measured,
        }
    }
}

impl Intent {
    /// Checks the request itself, before examining the target.
    pub(crate) fn judge(&self, name: &str) -> Result<()> {
        if self.outstanding_total > OUTSTANDING_MAX_UNASKED && !self.outstanding_by_number {
            return Err(Error::new(
                ErrorKind::TooManyOutstanding,
                name,
                format!(
                    "{} operations in flight at once would starve everybody else on this storage; \
                     the default limit is {OUTSTANDING_MAX_UNASKED}",
                    self.outstanding_total
                ),
            )
            .with_hint(
                "Give the number explicitly (`<--threads>`, `<--outstanding>`) if that is intended.",
            ));
        }
        judge_features(self.features, self.cache, name)?;
        judge_passthrough(self.features, self.cache, name)
    }
}

/// Refuses features that this operating system lacks.
pub(crate) fn judge_features(features: IoFeatures, cache: CacheMode, name: &str) -> Result<()> {
    if crate::platform::HAS_OPERATION_FLAGS {
        return Ok(());
    }
    let requested = [
        (cache == CacheMode::Dontcache, "<--cache> dontcache"),
        (features.atomic, "--atomic"),
        (features.dsync, "--dsync"),
        (features.poll, "--poll"),
        (features.passthrough, "<--engine> nvme"),
        (features.discards, "--discard"),
    ];
    match requested.into_iter().find(|(is_requested, _)| *is_requested) {
        None => Ok(()),
        Some((_, option)) => Err(Error::new(
            ErrorKind::Unusable,
            name,
            "uncached, atomic, RWF_DSYNC and polled operations, discards, and commands passed through to NVMe \
             devices, exist here on Linux only",
        )
        .with_hint(format!("Leave out `{option}`."))),
    }
}

/// Commands that bypass the block layer use no page cache and have no flag for atomic writes.
fn judge_passthrough(features: IoFeatures, cache: CacheMode, name: &str) -> Result<()> {
    if !features.passthrough {
        return Ok(());
    }
    let is_direct = matches!(cache, CacheMode::Direct | CacheMode::DirectSync);
    let (what, hint) = match features {
        _ if !is_direct => (
            format!("`--engine nvme` has no page cache to go through (`--cache {cache}`)"),
            "Use `<--cache> direct` or `direct-sync`, or the block device with `<--engine> uring`.",
        ),
        IoFeatures { atomic: true, .. } => (
            "`--engine nvme` has no atomic writes".to_owned(),
            "Leave out `--atomic`, or use the block device with `<--engine> uring`.",
        ),
        IoFeatures { dsync: true, .. } => (
            "`--engine nvme` has no `--dsync`".to_owned(),
            "Use `<--cache> direct-sync`: its writes have forced unit access.",
        ),
        IoFeatures { discards: true, .. } => (
            "`--engine nvme` has no discards".to_owned(),
            "Leave out `--discard`, or use the block device with `<--engine> uring`.",
        ),
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Usage, name, what).with_hint(hint))
}

/// How a worker opens a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `O_RDONLY`.
    Read,
    /// `O_WRONLY`; only where the plan allows writing.
    Write,
    /// `O_RDWR`; only where the plan allows writing.
    ReadWrite,
}

impl Access {
    /// Whether this access permits writing.
    pub fn writes(self) -> bool {
        self != Access::Read
    }
}

/// Identifies a kept file that Stripewise made. The caller stores it when it gets one
/// ([`Target::made_file`](crate::Target::made_file)) and answers [`PlanContext::is_known`] from
/// there. A copy carries the mark but has another inode; a file that reused the inode has another
/// birth time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MadeFile {
    /// `st_dev`, as the kernel's major << 32 | minor. Device numbers may change with a reboot:
    /// informational, not part of the identity.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// Birth time in nanoseconds since the epoch; `None` where the file system
    /// has none (such a file cannot be recognised later).
    pub birth_time_ns: Option<i64>,
    /// The unique id in the mark: 32 hexadecimal digits.
    pub id: String,
    /// Its size when made.
    pub size_bytes: u64,
}

impl MadeFile {
    /// Whether it is the same file: id, inode and birth time agree, and there is a birth time.
    pub fn is_same_file(&self, other: &MadeFile) -> bool {
        self.birth_time_ns.is_some()
            && self.birth_time_ns == other.birth_time_ns
            && self.id == other.id
            && self.inode == other.inode
    }
}

/// What the rules need to know from the rest of the program.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// Whether the store has this file (by [`MadeFile::is_same_file`]); false if the store is
    /// unreadable.
    pub is_known: &'a dyn Fn(&MadeFile) -> bool,
    /// The store's own file: never a target, and its device is never written.
    pub store: Option<&'a Path>,
    /// Whether a stop was requested: watching a device then ends, and planning fails with
    /// [`ErrorKind::Interrupted`].
    pub is_stopped: &'a dyn Fn() -> bool,
}

impl PlanContext<'_> {
    /// Without a store: no file counts as made by Stripewise, and no stop is ever requested.
    pub fn none() -> PlanContext<'static> {
        PlanContext {
            is_known: &|_| false,
            store: None,
            is_stopped: &|| false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_file_is_the_same_only_with_id_inode_and_a_birth_time() {
        let file = MadeFile {
            device: 1,
            inode: 2,
            birth_time_ns: Some(3),
            id: "4".into(),
            size_bytes: 5,
        };
        // A device number may change with a reboot; the size is judged elsewhere.
        let moved = MadeFile {
            device: 9,
            size_bytes: 9,
            ..file.clone()
        };
        assert!(file.is_same_file(&moved));
        let others = [
            MadeFile {
                inode: 9,
                ..file.clone()
            },
            MadeFile {
                birth_time_ns: Some(9),
                ..file.clone()
            },
            MadeFile {
                id: "9".into(),
                ..file.clone()
            },
        ];
        for other in others {
            assert!(!file.is_same_file(&other), "{other:?}");
        }
        let unborn = MadeFile {
            birth_time_ns: None,
            ..file
        };
        assert!(
            !unborn.is_same_file(&unborn),
            "nothing tells it from a successor"
        );
    }
}
