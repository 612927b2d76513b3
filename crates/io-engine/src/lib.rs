//! One small trait for doing I/O, and its back ends.
//!
//! A worker (a [`Source`]) returns its next operation and is notified of completions; an [`Engine`]
//! executes operations on files. The engine pulls a batch, submits and waits in one system call,
//! and pushes the batch's completions back with one timestamp. No virtual call, allocation or lock
//! per operation. Seven methods is the trait's limit: an optional ability is a field of
//! [`Capabilities`], not a method.
//!
//! A failed operation is data: it is returned as a [`Completion`] with a negative result. `Err`
//! means that the measurement itself is void.

pub mod backend;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod fault;
mod memory;
mod name;

pub use clock::Clock;
pub use error::{Error, ErrorKind, Result};
pub use fault::{Effect, Fault, FaultPlan, When};
pub use memory::{MemoryNeeded, memory_needed};
pub use name::{Choice, EngineName, WIN32_ERRORS_FROM, error_name};
pub use stripewise_units::Kind;

use std::fs::File;
use std::sync::Arc;

/// The most operations that one engine has in flight.
pub const SLOTS_MAX: u32 = 65_536;

/// A file serves one engine, so that each thread needs its own, opened separately (Windows: a file
/// object belongs permanently to one completion port).
pub const FILES_SERVE_ONE_ENGINE: bool = backend::sys::FILES_SERVE_ONE_ENGINE;

/// [`IoFeatures::scattered`] works on this system, with
/// [`Threads`](backend::portable_threads::Threads).
pub const CAN_SCATTER: bool = backend::sys::CAN_SCATTER;

/// Bytes of a memory piece in a scattered operation, as in Windows' `ReadFileScatter`.
pub const PIECE_BYTES: usize = 4096;

/// One operation, ready to be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The slot it occupies until its completion, below [`OpenPlan::slots`].
    pub slot: u32,
    /// Index into [`OpenPlan::files`].
    pub file: u16,
    /// What to do.
    pub kind: Kind,
    /// Absolute byte offset in the file.
    pub offset_bytes: u64,
    /// Bytes, at most [`OpenPlan::slot_size_bytes`].
    pub length_bytes: u32,
}

impl Operation {
    /// Bytes that it transfers on success: [`Completion::result`] then.
    pub const fn transfers_bytes(&self) -> u32 {
        match self.kind {
            Kind::Read | Kind::Write => self.length_bytes,
            Kind::Sync | Kind::Discard => 0,
        }
    }
}

/// The end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot of the operation.
    pub slot: u32,
    /// Bytes transferred (0 for a sync or a discard), or a negated error number of the operating
    /// system (see [`error_name`]).
    pub result: i32,
    /// When the program saw it, nanoseconds on the plan's [`Clock`].
    pub at_ns: u64,
}

/// A worker's answer when polled for its next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this.
    Operation(Operation),
    /// The queue is full: wait for a completion.
    Full,
    /// Nothing due before this time (open loop).
    NotBefore(u64),
    /// No more operations will come.
    Finished,
}

/// The worker's side: owns all policy, never blocks, never reads a clock.
pub trait Source {
    /// Whether [`Source::before_read`] and [`Source::look`] are called. A constant, so that workers
    /// that do not look pay nothing.
    const LOOKS: bool = false;

    /// What to issue at `now_ns`. Called until the answer is not an operation; `now_ns` advances
    /// when making data has taken time.
    fn next(&mut self, now_ns: u64) -> Next;
    /// Passes reads of the largest size from the first file to `take`, each as (slot, byte offset),
    /// to be issued at `now_ns`: at most `room` of them, and none if anything else may be due.
    /// Returns how many; [`Source::next`] is called for what follows. The most frequent operations
    /// thus avoid going through memory one by one. Sources without such a shortcut omit it, and so
    /// do those that look: [`Source::before_read`] is not called for these.
    fn reads(&mut self, now_ns: u64, room: u32, take: impl FnMut(u32, u64)) -> u32 {
        let _ = (now_ns, room, take);
        0
    }
    /// Writes the data of `operation` into `buffer`, which has its length. Called once for every
    /// write, before it is issued.
    fn data(&mut self, operation: &Operation, buffer: &mut [u8]);
    /// The data of the write on `slot` is made and it is issued, at `now_ns`: its latency counts
    /// from here, as making data is the program's work and not the device's. Called once for every
    /// write, after [`Source::data`]; never for reads, syncs and discards, which are issued when
    /// returned.
    fn ready(&mut self, slot: u32, now_ns: u64) {
        let _ = (slot, now_ns);
    }
    /// May fill the buffer of a read, which has its length, before the read is issued: what remains
    /// unchanged was not read. Engines that move no data do not call it.
    fn before_read(&mut self, operation: &Operation, buffer: &mut [u8]) {
        let _ = (operation, buffer);
    }
    /// Takes a completion. Its slot is free again.
    fn complete(&mut self, done: Completion);
    /// Takes completions that were all seen at `at_ns`, each as (slot, result).
    fn complete_all(&mut self, at_ns: u64, done: impl Iterator<Item = (u32, i32)>) {
        for (slot, result) in done {
            self.complete(Completion {
                slot,
                result,
                at_ns,
            });
        }
    }
    /// Receives the transferred bytes of `slot`'s buffer, just before the completion of an
    /// operation that transferred any: the data read or written. Engines that move no data do not
    /// call it.
    fn look(&mut self, slot: u32, transferred: &[u8]) {
        let _ = (slot, transferred);
    }
}

/// Result of [`Engine::fill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Operations taken in this call.
    pub taken: u32,
    /// Why no more were taken; never `Next::Operation`.
    pub then: Next,
}

/// Parameters for opening an engine. `targets` opens the files, under its rules.
#[derive(Clone, Debug)]
pub struct OpenPlan {
    /// The files that operations index; for this engine alone if [`FILES_SERVE_ONE_ENGINE`].
    pub files: Vec<Arc<File>>,
    /// Most operations in flight, 1 to [`SLOTS_MAX`] (io_uring: 32,768).
    pub slots: u32,
    /// Bytes of the largest operation; every slot has its own buffer.
    pub slot_size_bytes: u32,
    /// Request registered buffers if the engine supports them.
    pub register_buffers: bool,
    /// Kernel features required beyond plain operations.
    pub features: IoFeatures,
    /// The clock shared by all workers of a run.
    pub clock: Clock,
    /// Faults to inject. Only used by `backend::faulty::Faulty`, so plain engines pay nothing for
    /// it.
    pub faults: Option<FaultPlan>,
    /// Where to record submission times. Only used by `backend::timed::Timed`.
    pub hand_overs: Option<backend::timed::HandOverLog>,
}

impl OpenPlan {
    /// A plan with registered buffers and no faults.
    pub fn new(files: Vec<Arc<File>>, slots: u32, slot_size_bytes: u32, clock: Clock) -> Self {
        OpenPlan {
            files,
            slots,
            slot_size_bytes,
            register_buffers: true,
            features: IoFeatures::default(),
            clock,
            faults: None,
            hand_overs: None,
        }
    }
}

/// Kernel features that operations need beyond reading and writing. Linux only, except `fsync`:
/// `targets` refuses them elsewhere. An operation for which a feature is missing fails with
/// `EOPNOTSUPP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoFeatures {
    /// The page cache drops what was read or written (`RWF_DONTCACHE`).
    pub dontcache: bool,
    /// Writes are never torn (`RWF_ATOMIC`).
    pub atomic: bool,
    /// Each write is durable when it completes (`RWF_DSYNC`).
    pub dsync: bool,
    /// Syncs flush all metadata (`fsync`), not just what is needed to read the data (`fdatasync`).
    /// Systems with only one call, and devices, do the same for both.
    pub fsync: bool,
    /// Completions are polled (`IORING_SETUP_IOPOLL`); engines without polling do not open. Polled
    /// operations are direct, and there are no syncs.
    pub poll: bool,
    /// An operation is scattered to many memory pieces of [`PIECE_BYTES`], or gathered from them,
    /// and adjacent pieces of the file are not adjacent in memory (`preadv`, `pwritev`). The source
    /// sees the file's order. Supported only by the threads engine, where [`CAN_SCATTER`]; io_uring
    /// does not open.
    pub scattered: bool,
    /// There may be discards. Engines that do not support them on these files do not open.
    pub discards: bool,
}

impl IoFeatures {
    /// The `RWF_` flags of an operation.
    pub(crate) fn flags(self, kind: Kind) -> u32 {
        const DSYNC: u32 = 0x2;
        const ATOMIC: u32 = 0x40;
        const DONTCACHE: u32 = 0x80;
        let uncached = if self.dontcache { DONTCACHE } else { 0 };
        match kind {
            Kind::Read => uncached,
            Kind::Write => {
                let atomic = if self.atomic { ATOMIC } else { 0 };
                uncached | atomic | if self.dsync { DSYNC } else { 0 }
            }
            Kind::Sync | Kind::Discard => 0,
        }
    }
}

/// What was obtained, and why not more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// `io_uring`, `nvme`, `iocp`, `threads`, `null`...
    pub name: &'static str,
    /// Buffers are registered with the kernel.
    pub registered_buffers: bool,
    /// Files are registered with the kernel.
    pub registered_files: bool,
    /// Single issuer with deferred task running.
    pub deferred_task_running: bool,
    /// Completions are polled.
    pub polled: bool,
    /// How long the engine may hold back a completion to deliver several at once, although the
    /// caller waits for one; 0 if it never does.
    pub completion_hold_ns_max: u64,
    /// Why a requested feature is missing; one sentence each.
    pub fallbacks: Vec<String>,
}

/// What was given up at the end: operations still in flight when the limit passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// Their number. Their buffers are leaked, as the kernel may still write to them.
    pub operations: u32,
}

/// A back end. Opened, used and closed on the worker's own thread.
pub trait Engine: Sized {
    /// Creates rings, buffers and helpers.
    ///
    /// # Errors
    /// If the back end cannot work here at all; lesser problems are [`Capabilities::fallbacks`].
    fn open(plan: &OpenPlan) -> Result<Self>;
    /// What was obtained.
    fn capabilities(&self) -> &Capabilities;
    /// Nanoseconds on the plan's clock.
    fn now_ns(&self) -> u64;
    /// Pulls operations from `source` until it has no more for now. With [`OpenPlan::slots`] in
    /// flight the engine returns [`Next::Full`] itself, without polling the source. Submits what is
    /// ready if that would otherwise wait for the data of other writes; errors of that show in
    /// [`Engine::submit_and_wait`].
    ///
    /// # Panics
    /// On a bug in the source, in engines that own buffers: a slot out of range or already in
    /// flight, or a length above [`OpenPlan::slot_size_bytes`]. A wrong file index is not one: it
    /// completes with "bad file descriptor".
    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled;
    /// Submits what was filled and waits until `at_least` completions are there or `until_ns` has
    /// come, whichever is first; one system call. With fewer in flight it waits for those; with
    /// none in flight, for `until_ns` alone (and not at all if that is `None`). Returns `Ok` early
    /// when interrupted by a signal: call [`Engine::reap`] and decide again.
    ///
    /// Pass `at_least` = 1. Batches form by themselves: while one is handled the next one
    /// completes, and an engine may wait for a few more where they come fast and steadily (at most
    /// a sixteenth of a mean latency, more only if that lowers it, and no longer than
    /// [`Capabilities::completion_hold_ns_max`]). A larger `at_least` holds finished operations
    /// back for as long as the others take: their latency grows, and the device sees fewer
    /// outstanding than requested. 0 submits without waiting.
    ///
    /// # Errors
    /// If the ring or pool itself has failed.
    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()>;
    /// Delivers completions, all with one clock reading (helper threads timestamp each themselves);
    /// returns their number. Never waits.
    fn reap(&mut self, source: &mut impl Source) -> u32;
    /// Waits for operations in flight, at most `limit_ns`, then gives up the rest. Completions seen
    /// here are not delivered; operations filled but never submitted are dropped.
    fn close(self, limit_ns: u64) -> Abandoned;
}

#[cfg(test)]
mod tests {
    use super::{IoFeatures, Kind};

    #[test]
    fn only_writes_are_durable_by_a_flag() {
        let durable = IoFeatures {
            dsync: true,
            ..IoFeatures::default()
        };
        // From linux/fs.h: RWF_DSYNC.
        assert_eq!(Kind::ALL.map(|kind| durable.flags(kind)), [0, 2, 0, 0]);
    }
}
