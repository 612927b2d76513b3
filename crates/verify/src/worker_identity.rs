//! Who a worker is, what it may be told to do, and what it answers.

use stripewise_units::Kind;

/// What a worker is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Pages at random places, and bursts of larger writes as checkpoints make them.
    Pages {
        /// Share of reads, in percent.
        read_percent: u32,
        /// Writes are gathered from pages all over memory, and reads scattered.
        gathers: bool,
    },
    /// One kind of operation, as a workload has it.
    Uniform {
        /// Share of reads, in percent.
        read_percent: u32,
        /// Bytes of each; whole pages are taken.
        length_bytes: u32,
        /// One after the other instead of at random places.
        sequential: bool,
        /// Each write is durable when it completes.
        durable: bool,
    },
    /// Appends to a log that begins again at its start, each of them durable.
    Log,
    /// Pages in a part at the end of a file that is cut and grows again.
    Grows {
        /// Bytes of the file while nothing of it is cut off.
        full_bytes: u64,
    },
    /// Reads everything in order, but for what grows: read-ahead and audit.
    Scan,
}

/// What all workers are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Owners write all that is theirs once.
    Fill,
    /// Each does what its role says, until it is stopped.
    Work,
    /// Owners read all that is theirs once.
    Check,
}

impl Phase {
    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::Fill => "fill",
            Phase::Work => "work",
            Phase::Check => "check",
        }
    }
}

/// Who a worker is.
#[derive(Clone, Copy, Debug)]
pub struct WorkerIdentity {
    /// Its number, below that of the field's workers.
    pub id: u16,
    /// The target it works on.
    pub target: u16,
    /// The region that it owns a part of; of a scan, where it begins.
    pub region: usize,
    /// What it is for.
    pub role: Role,
    /// Operations in flight.
    pub slots: u32,
    /// Bytes of its largest operation, a multiple of all blocks.
    pub slot_bytes: u32,
    /// What its choices follow from.
    pub seed: u64,
}

/// An operation for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Below [`WorkerIdentity::slots`].
    pub slot: u32,
    /// It must be durable when it completes.
    pub durable: bool,
    /// What to do.
    pub kind: Kind,
    /// Absolute on the target.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u32,
}

/// What a worker answers to "what next?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Issue this.
    Operation(Operation),
    /// Make the file this long, and say so with `Worker::resized`: what the worker has
    /// beyond that is cut off, or it is as long again. Nothing of it is in flight there.
    Resize(u64),
    /// Something has to complete first.
    Full,
    /// There is no more to do, once everything in flight is home and it says so again.
    Finished,
}

/// What a worker has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes that were compared with what was expected.
    pub verified_bytes: u64,
    /// Operations that completed whole.
    pub operations: u64,
    /// Operations that failed or were short.
    pub errors: u64,
}

/// An operation that failed or was short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What it was to do; [`Kind::Sync`] for a change of the file's length.
    pub kind: Kind,
    /// Where.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u32,
    /// The error number; 0 for a short one.
    pub number: i32,
}
