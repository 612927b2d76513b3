//! The components between host and drives: a processor that handles one operation at a time, a
//! link, a cap, a cache, a choice of copies.

pub(crate) mod cache;
pub(crate) mod limiter;
pub(crate) mod read_ahead;

/// Which copy a mirrored read goes to. Drives without arms have no nearest one: there the first two
/// act as `Shortest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorRead {
    /// The copy with the nearest arm, unless an idle one was passed over for long.
    Nearest,
    /// An idle copy if only one is idle, otherwise as `Nearest`.
    NearestIdle,
    /// The copy with the fewest waiting accesses; the first if equal.
    Shortest,
    /// By a hash of the stripe row: each row has a fixed copy.
    Hash,
}

impl MirrorRead {
    /// Whether it depends on the number of pending accesses per drive.
    pub(crate) fn sees_loads(self) -> bool {
        matches!(self, MirrorRead::NearestIdle | MirrorRead::Shortest)
    }

    /// The effective policy for drives with or without arms.
    pub(crate) fn among(self, arms: bool) -> MirrorRead {
        match self {
            MirrorRead::Nearest | MirrorRead::NearestIdle if !arms => MirrorRead::Shortest,
            policy => policy,
        }
    }
}

/// Fixed costs of the controller, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerModel {
    /// Processor time per operation.
    pub operation_ns: u64,
    /// Processor time per stripe unit touched beyond the first.
    pub split_ns: u64,
    /// Processor time per operation for each doubling of the commands in progress.
    pub queue_ns: u64,
    /// Cost of each drive access beyond the first, as a share of an operation's time.
    pub access_share: f64,
    /// Latency of a command to a drive; unlimited commands can be in flight.
    pub command_ns: u64,
    /// Latency of a completion from a drive; likewise.
    pub completion_ns: u64,
    /// Bytes per second of the link to the host; 0: no limit.
    pub link_bytes_per_s: u64,
    pub mirror_read: MirrorRead,
}

/// The cost factors of the processor's work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// A host operation; otherwise only its further accesses, or a destage.
    pub whole: bool,
    /// Stripe units touched.
    pub pieces: u64,
    /// Accesses to drives.
    pub accesses: u64,
    /// Host commands in progress.
    pub commands: u32,
}

impl Work {
    /// An operation that needs no drive.
    pub(crate) fn without_drives(commands: u32) -> Work {
        Work {
            whole: true,
            pieces: 1,
            accesses: 1,
            commands,
        }
    }
}

/// log2 of `count`, interpolated linearly between powers of two, so that it needs no library call.
/// 0 for 0 and 1.
fn doublings(count: u32) -> f64 {
    let whole = count.max(1).ilog2();
    let power = f64::from(1u32 << whole);
    f64::from(whole) + f64::from(count.max(1)) / power - 1.0
}

/// The serial resources of the controller.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    pub model: ControllerModel,
    processor_free_ns: u64,
    link_free_ns: u64,
}

impl Controller {
    pub(crate) fn new(model: ControllerModel) -> Self {
        Controller {
            model,
            processor_free_ns: 0,
            link_free_ns: 0,
        }
    }

    /// Adds processor time for an operation, first in, first out. Returns the time when it is done.
    pub(crate) fn process(&mut self, now_ns: u64, work: Work) -> u64 {
        let model = &self.model;
        let mut cost_ns = model.split_ns * work.pieces.saturating_sub(1);
        if model.access_share == 0.0 && model.queue_ns == 0 {
            cost_ns += if work.whole { model.operation_ns } else { 0 };
        } else {
            let queue_ns = model.queue_ns as f64 * doublings(work.commands);
            let one_ns = model.operation_ns as f64 + queue_ns;
            let share = model.access_share;
            let times = match work.whole {
                true => 1.0 + share * work.accesses.saturating_sub(1) as f64,
                false => share * work.accesses as f64,
            };
            cost_ns += (one_ns * times) as u64;
        }
        self.processor_free_ns = self.processor_free_ns.max(now_ns) + cost_ns;
        self.processor_free_ns
    }

    /// When `bytes` that are ready at `now_ns` have crossed the link.
    pub(crate) fn transfer(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let rate = self.model.link_bytes_per_s;
        if rate == 0 {
            return now_ns;
        }
        let time_ns = u128::from(bytes) * 1_000_000_000 / u128::from(rate);
        self.link_free_ns = self.link_free_ns.max(now_ns) + time_ns as u64;
        self.link_free_ns
    }
}
