//! Identity of a worker, its commands, and its answers.

use stripewise_units::Kind;

/// Role of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Pages at random locations, and bursts of larger writes as by checkpoints.
    Pages {
        /// Percentage of reads.
        read_percent: u32,
        /// Writes are gathered from pages all over memory, and reads scattered.
        gathers: bool,
    },
    /// One kind of operation, as in a workload.
    Uniform {
        /// Percentage of reads.
        read_percent: u32,
        /// Bytes of each; rounded to whole pages.
        length_bytes: u32,
        /// Sequential instead of random locations.
        sequential: bool,
        /// Each write is durable when it completes.
        durable: bool,
    },
    /// Durable appends to a log that wraps around to its start.
    Log,
    /// Pages in a part at the end of a file that is truncated and grows again.
    Grows {
        /// Bytes of the file while nothing is truncated.
        full_bytes: u64,
    },
    /// Reads everything in order, except what grows: read-ahead and audit.
    Scan,
}

// As in records.
stripewise_units::named! {
    /// The current activity of all workers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase {
        /// Owners write all of their blocks once.
        Fill = "fill",
        /// Each acts by its role until it is stopped.
        Work = "work",
        /// Owners read all of their blocks once.
        Check = "check",
    }
}

/// Identity of a worker.
#[derive(Clone, Copy, Debug)]
pub struct WorkerIdentity {
    /// Its number, below that of the field's workers.
    pub id: u16,
    /// The target it works on.
    pub target: u16,
    /// The region in which it owns a part; for a scan, where it begins.
    pub region: usize,
    /// Its role.
    pub role: Role,
    /// Operations in flight.
    pub slots: u32,
    /// Bytes of its largest operation, a multiple of all block sizes.
    pub slot_bytes: u32,
    /// The seed of its choices.
    pub seed: u64,
}

/// An operation for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Below [`WorkerIdentity::slots`].
    pub slot: u32,
    /// It must be durable when it completes.
    pub durable: bool,
    /// The operation.
    pub kind: Kind,
    /// Absolute on the target.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u32,
}

/// A worker's answer when polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Issue this.
    Operation(Operation),
    /// Set the file's length to this, and report it with `Worker::resized`: the worker's blocks
    /// beyond that are truncated, or it is as long again. None of them is in flight.
    Resize(u64),
    /// An operation has to complete first.
    Full,
    /// No more to do, once all operations in flight have completed and this is returned again.
    Finished,
}

/// Counters of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes compared with the expected data.
    pub verified_bytes: u64,
    /// Operations completed in full.
    pub operations: u64,
    /// Operations that failed or were short.
    pub errors: u64,
}

/// An operation that failed or was short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The attempted operation; [`Kind::Sync`] for a change of the file's length.
    pub kind: Kind,
    /// Its offset.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u32,
    /// The error number; 0 for a short one.
    pub number: i32,
}
