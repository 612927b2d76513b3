//! What lies between the host and the drives: a processor that handles one
//! operation at a time, a link, a cap, a cache, a choice of copies.

pub(crate) mod cache;
pub(crate) mod limiter;
pub(crate) mod read_ahead;

/// Which copy a mirrored read goes to. Drives without arms have no nearest one: there
/// the first two are `Shortest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorRead {
    /// The copy whose arm is nearest, but an idle one that was left out for long.
    Nearest,
    /// An idle copy if only one is idle, else as `Nearest`.
    NearestIdle,
    /// The copy with the fewest accesses waiting; the first when equal.
    Shortest,
    /// By a hash of the stripe row: each row has its copy.
    Hash,
}

impl MirrorRead {
    /// Whether it asks how many accesses a drive has.
    pub(crate) fn looks_at_loads(self) -> bool {
        matches!(self, MirrorRead::NearestIdle | MirrorRead::Shortest)
    }

    /// What it means for drives that have arms, or none.
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
    /// What each access to a drive beyond the first costs, of an operation's time.
    pub access_share: f64,
    /// Latency to a drive; any number of commands may be under way.
    pub command_ns: u64,
    /// Latency from a drive; likewise.
    pub completion_ns: u64,
    /// Bytes a second of the link to the host; 0: no limit.
    pub link_bytes_per_s: u64,
    pub mirror_read: MirrorRead,
}

/// What the processor has to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// A host operation; else only its further accesses, or a destage.
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

/// How often 1 doubles to reach `count`: log2, straight between powers of two, so
/// that it needs no library call. 0 for 0 and 1.
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

    /// Processor time for an operation; first in, first out. Returns when it is
    /// through.
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
