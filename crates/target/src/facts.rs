//! What was found out about the data and the path of a target, for the trust
//! warnings of `runner`.

use stripewise_disk_inspect::{content::Content, storage::FileLayout};

/// What a bounded, read-only look at the data of a target found before the
/// first measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataFacts {
    /// Where the bytes are: holes, extents never written, shared or compressed
    /// ones. `None` for devices and where the file system cannot tell.
    pub layout: Option<FileLayout>,
    /// What a sample of the bytes looks like: zeros, copies, compressible.
    /// Empty (no blocks) where nothing could be read.
    pub content: Content,
}

/// What happened when the test file was filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FillReport {
    /// Bytes written: the size of the file.
    pub bytes: u64,
    /// Bytes that were planned.
    pub planned_bytes: u64,
    /// Time it took, with the final sync, on the caller's clock.
    pub duration_ns: u64,
    /// Written past the page cache.
    pub direct: bool,
    /// Stopped by the time limit.
    pub time_limit_hit: bool,
}

/// How far a preparation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillProgress {
    /// Bytes written.
    pub done_bytes: u64,
    /// Bytes to write.
    pub total_bytes: u64,
}

/// The caller's clock and ear while a target is prepared. `target` itself reads
/// no clock.
pub trait Progress {
    /// Monotonic nanoseconds since any origin.
    fn now_ns(&mut self) -> u64;
    /// Called once before the first byte, at least ten times a second
    /// while filling and once at the end. `Break` stops the preparation
    /// ([`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted)), and what
    /// was made is removed.
    fn report(&mut self, progress: FillProgress) -> std::ops::ControlFlow<()>;
}
