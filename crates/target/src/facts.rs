//! What was found out about the data and the path of a target, for the trust
//! warnings of `runner`.

/// What a bounded, read-only look at the data found. Counts of samples, not of
/// the whole target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataFacts {
    /// Bytes that the file system has allocated (`st_blocks`); `None` for devices.
    pub allocated_bytes: Option<u64>,
    /// There is at least one hole (`SEEK_HOLE` before the end).
    pub holes: bool,
    /// Bytes in holes; a lower bound where there were too many to count.
    pub hole_bytes: u64,
    /// Bytes in extents that are allocated but never written; a lower bound
    /// where there were too many extents. `None` where FIEMAP is missing.
    pub unwritten_bytes: Option<u64>,
    /// 4 KiB blocks looked at.
    pub sampled_blocks: u32,
    /// Of those, zeros throughout.
    pub zero_blocks: u32,
    /// Of those, equal to an earlier sample that is not zeros.
    pub repeated_blocks: u32,
    /// Of those that are not zeros, share that a simple compressor would save,
    /// 0 to 100: a lower bound on what a device could. `None` with no such block.
    pub compressible_percent: Option<u8>,
    /// Blocks that could not be read.
    pub unreadable_blocks: u32,
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
    /// Called once before the first byte, about ten times a second while
    /// filling and once at the end. `Break` stops the preparation
    /// ([`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted)), and what
    /// was made is removed.
    fn report(&mut self, progress: FillProgress) -> std::ops::ControlFlow<()>;
}
