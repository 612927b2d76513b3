//! A target that is ready to be measured: facts, notes, and a way to reopen it without resolving
//! its path again.

use crate::{
    Access, Changed, DataFacts, Error, ErrorKind, FillReport, Intent, MadeFile, Result, platform,
};
use std::fs::File;
use stripewise_results::TargetFacts;
use stripewise_workload::{CacheMode, Workload};

/// A prepared target. Dropping it removes what was made and is not kept. [`open`](Target::open) may
/// be called from several threads.
#[derive(Debug)]
pub struct Target {
    pub(crate) facts: TargetFacts,
    pub(crate) data_facts: Option<DataFacts>,
    pub(crate) fill_report: Option<FillReport>,
    pub(crate) made_file: Option<MadeFile>,
    pub(crate) notes: Vec<String>,
    pub(crate) size_bytes: u64,
    pub(crate) writes: bool,
    pub(crate) direct_refused: Option<String>,
    pub(crate) cache_by_name: bool,
    /// It was judged for discards.
    pub(crate) may_discard: bool,
    /// It was made here.
    pub(crate) made: bool,
    pub(crate) opened: platform::OpenHandle,
}

/// Changes the length of a test file that was made here; see [`Target::resizer`].
#[derive(Debug)]
pub struct Resizer {
    file: File,
    bytes_max: u64,
}

impl Resizer {
    /// Sets the length of the file, never longer than it was made: its space was judged
    /// for that.
    pub fn resize(&self, bytes: u64) -> std::io::Result<()> {
        self.file.set_len(bytes.min(self.bytes_max))
    }

    /// Frees all of its space and restores its length: each write then allocates space. With
    /// `reserved` the space is reserved at once, but never written.
    ///
    /// # Errors
    /// The system's error; [`std::io::ErrorKind::Unsupported`] where it cannot reserve space.
    pub fn renew(&self, reserved: bool) -> std::io::Result<()> {
        self.file.set_len(0)?;
        if reserved {
            platform::reserve(&self.file, self.bytes_max)?;
        }
        self.file.set_len(self.bytes_max)?;
        // Sync the changes before anything is measured.
        self.file.sync_all()
    }
}

/// The opened target, what is known of it, and how to reopen it.
pub(crate) struct OpenedTarget {
    pub(crate) opened: platform::OpenHandle,
    pub(crate) facts: TargetFacts,
    pub(crate) notes: Vec<String>,
    /// Why direct I/O is unavailable, if it is.
    pub(crate) direct_refused: Option<String>,
}

impl Target {
    /// For an existing target; the caller fills in its data facts and what was made.
    pub(crate) fn of(
        settled: OpenedTarget,
        intent: &Intent,
        writes: bool,
        size_bytes: u64,
    ) -> Self {
        let mut facts = settled.facts;
        if let Some(file_system) = &mut facts.file_system {
            file_system.atomic_writes = settled.opened.atomic_writes();
        }
        Target {
            facts,
            data_facts: None,
            fill_report: None,
            made_file: None,
            notes: settled.notes,
            size_bytes,
            writes,
            direct_refused: settled.direct_refused,
            cache_by_name: intent.cache_by_name,
            may_discard: writes && intent.features.discards,
            made: false,
            opened: settled.opened,
        }
    }

    /// For shortening and restoring a test file that was made here, and nothing else. `None` for
    /// one that is kept: it is recognised by its size, which a kill in between would change.
    pub fn resizer(&self) -> Option<Resizer> {
        if !self.made || !self.writes || self.made_file.is_some() {
            return None;
        }
        let file = self
            .opened
            .open(CacheMode::Buffered, Access::ReadWrite)
            .ok()?;
        Some(Resizer {
            file,
            bytes_max: self.facts.size_bytes,
        })
    }

    /// Marks that its space is renewed before each run ([`Resizer::renew`]): its current data means
    /// nothing.
    pub fn is_renewed(&mut self) {
        self.data_facts = None;
    }

    /// What it is and where it lies.
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// What the data in it looks like; `None` for a test file just filled.
    pub fn data_facts(&self) -> Option<&DataFacts> {
        self.data_facts.as_ref()
    }

    /// Samples its data again after the caller has written all of it, as
    /// [`Intent::filled_by_caller`](crate::Intent) promised.
    pub fn inspect_data(&mut self) {
        let kind = self.facts.kind;
        self.data_facts = Some(platform::data_facts(&self.opened, self.size_bytes, kind));
    }

    /// Whether it may be written.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// Where the bytes of a file are on the device below its file system; `None` for devices and
    /// where the file system cannot report it, including where it uses its own address space
    /// (btrfs) or several devices.
    pub fn placement(&self) -> Option<stripewise_disk_inspect::placement::Placement> {
        let file_system = self.facts.file_system.as_ref()?;
        let plain = matches!(
            file_system.kind.to_ascii_lowercase().as_str(),
            "ext2" | "ext3" | "ext4" | "xfs" | "f2fs" | "ntfs"
        );
        if plain && self.facts.partition_offset_bytes.is_some() {
            self.opened.placement()
        } else {
            None
        }
    }

    /// Bytes that can be measured: the whole size (or what was asked for of
    /// it), rounded down to the logical sector.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Smallest unit of direct operations, offsets and lengths.
    pub fn logical_sector_bytes(&self) -> u32 {
        self.facts.logical_sector_bytes
    }

    /// The cache mode that [`open`](Target::open) will use for this one: it differs only where the
    /// file system refuses `O_DIRECT` and the user did not request it by name (direct becomes
    /// buffered, direct-sync buffered-sync). The record must carry the one in effect.
    pub fn cache_in_effect(&self, requested: CacheMode) -> CacheMode {
        match requested {
            _ if self.direct_refused.is_none() || self.cache_by_name => requested,
            CacheMode::Direct => CacheMode::Buffered,
            CacheMode::DirectSync => CacheMode::BufferedSync,
            other => other,
        }
    }

    /// Why `O_DIRECT` is unavailable here; `None` where it is available.
    pub fn direct_refused(&self) -> Option<&str> {
        self.direct_refused.as_deref()
    }

    /// Checks features that the workload needs beyond plain reads and writes: atomic writes of its
    /// block size, polled completions, discards in its units.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] with the reason where it cannot; [`ErrorKind::Refused`] for
    /// discards where the plan had none.
    pub fn fits(&self, workload: &Workload) -> Result<()> {
        if workload.discards() && !self.may_discard {
            return Err(Error::new(
                ErrorKind::Refused,
                &self.facts.name,
                "was planned without discards, nothing is discarded from it",
            )
            .with_hint(
                "Name the discards where the target is named, so that it is judged for them.",
            ));
        }
        self.opened.fits(workload)
    }

    /// Opens it for a worker, from the judged descriptor. With
    /// [`IoFeatures::passthrough`](crate::Manner) that is the character device that takes commands.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for writing under a read-only plan; [`ErrorKind::Unusable`] where the
    /// cache mode is not available; [`ErrorKind::Io`] where the system cannot reopen it.
    pub fn open(&self, cache: CacheMode, access: Access) -> Result<File> {
        self.refuse_unplanned(access)?;
        self.opened
            .open_for_operations(self.cache_in_effect(cache), access)
    }

    /// Opens the file or block device itself, regardless of how its operations are issued.
    pub fn open_storage(&self, cache: CacheMode, access: Access) -> Result<File> {
        self.refuse_unplanned(access)?;
        self.opened.open(self.cache_in_effect(cache), access)
    }

    fn refuse_unplanned(&self, access: Access) -> Result<()> {
        if access.writes() && !self.writes {
            return Err(Error::new(
                ErrorKind::Refused,
                &self.facts.name,
                "was planned for reading only, nothing is written to it",
            ));
        }
        Ok(())
    }

    /// Watches an existing file for changes by others; `None` for devices and test files, and where
    /// no one else can change it.
    pub fn watch(&self) -> Option<FileWatch> {
        self.opened.watch().map(FileWatch)
    }

    /// Asks the kernel to drop its clean pages from the page cache, so that the next reads come
    /// from the disk. Advisory only; reads may still come from memory.
    pub fn drop_cache(&self) {
        self.opened.drop_cache();
    }

    /// Result of the fill; `None` where nothing was filled.
    pub fn fill_report(&self) -> Option<&FillReport> {
        self.fill_report.as_ref()
    }

    /// Information for users, one sentence each: the plan's notes and those of the preparation (a
    /// smaller file and why, buffered instead of direct).
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The kept file that was made, for the store.
    pub fn made_file(&self) -> Option<&MadeFile> {
        self.made_file.as_ref()
    }

    /// Removes what was made, unless it is kept. Dropping does the same but ignores failures.
    ///
    /// # Errors
    /// When a named test file cannot be removed; the message has its name.
    pub fn finish(mut self) -> Result<()> {
        self.opened.finish()
    }
}

/// Watches an existing file for changes by others. It may outlive the target and run on its own
/// thread: on a hung network file system a check can block forever.
#[derive(Clone, Debug)]
pub struct FileWatch(platform::FileWatch);

impl FileWatch {
    /// Whether the file was truncated since it was judged; remembered once seen, as writes past the
    /// new end extend it again. Costs one system call, and contacts no server.
    pub fn is_cut(&self) -> bool {
        self.0.is_cut()
    }

    /// What another process did to it since it was judged: truncated, removed, renamed or linked.
    /// `None` if nothing was done or can still be seen.
    pub fn changed(&self) -> Option<Changed> {
        self.0.changed()
    }
}
