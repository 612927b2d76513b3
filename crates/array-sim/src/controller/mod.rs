//! What lies between the host and the drives: a processor that handles one
//! operation at a time, a link, a cap, a cache, a choice of copies.

pub(crate) mod cache;
pub(crate) mod limiter;

use crate::drive::Drive;
use crate::random::{Entity, draw};

/// Which copy a mirrored read goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorRead {
    /// The copy whose arm is nearest.
    Nearest,
    /// An idle copy if only one is idle, else the nearest arm.
    NearestIdle,
    /// The copy with the fewest accesses waiting; the first when equal.
    Shortest,
    /// By a hash of the stripe row: each row has its copy.
    Hash,
}

/// Fixed costs of the controller, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerModel {
    /// Processor time per operation.
    pub operation_ns: u64,
    /// Processor time per stripe unit touched beyond the first.
    pub split_ns: u64,
    /// Latency to a drive; any number of commands may be under way.
    pub command_ns: u64,
    /// Latency from a drive; likewise.
    pub completion_ns: u64,
    /// Bytes a second of the link to the host; 0: no limit.
    pub link_bytes_per_s: u64,
    pub mirror_read: MirrorRead,
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

    /// Processor time for one operation in `pieces` parts; first in, first out.
    /// Returns when it is through.
    pub(crate) fn process(&mut self, now_ns: u64, pieces: u64) -> u64 {
        let cost_ns = self.model.operation_ns + self.model.split_ns * pieces.saturating_sub(1);
        self.processor_free_ns = self.processor_free_ns.max(now_ns) + cost_ns;
        self.processor_free_ns
    }

    /// Processor time for the splits alone: destaging pays no host operation.
    pub(crate) fn process_splits(&mut self, now_ns: u64, pieces: u64) -> u64 {
        let cost_ns = self.model.split_ns * pieces.saturating_sub(1);
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

    /// The drive among `count` copies from `first` on that shall read.
    pub(crate) fn choose_copy(
        &self,
        drives: &[Drive],
        first: u32,
        count: u32,
        offset_bytes: u64,
        seed_and_row: (u64, u64),
    ) -> u32 {
        let copies = first..first + count;
        // All copies lie at the same place of equal drives.
        let cylinder = drives[first as usize].cylinder_of(offset_bytes);
        let distance = |&disk: &u32| drives[disk as usize].distance(cylinder);
        let load = |disk: u32| drives[disk as usize].load();
        let chosen = match self.model.mirror_read {
            MirrorRead::Hash => {
                let bits = draw(seed_and_row.0, Entity::Mirror, 0, seed_and_row.1);
                return first + (bits % u64::from(count)) as u32;
            }
            MirrorRead::Nearest => copies.min_by_key(distance),
            MirrorRead::NearestIdle => copies.min_by_key(|disk| (load(*disk) > 0, distance(disk))),
            MirrorRead::Shortest => copies.min_by_key(|&disk| load(disk)),
        };
        chosen.unwrap_or(first)
    }
}
