//! Fault injection: what fails, and when, is determined by the seed.
//!
//! Each operation's fate is a function of (seed, kind of fault, number of the operation), each
//! stall's start one of (seed, number of the interval). Two arrays under the same load therefore
//! fail alike. Faults do not depend on the drives: they affect the array as the host sees it.

use crate::random::{Entity, below, draw};

/// Rates and sizes of faults; all zero: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Operations per million that end in an error (EIO).
    pub failed_per_million: u32,
    /// Operations per million that take longer by `spike_ns_min..=spike_ns_max`.
    pub spikes_per_million: u32,
    /// Smallest delay.
    pub spike_ns_min: u64,
    /// Largest delay.
    pub spike_ns_max: u64,
    /// One stall starts in each interval of this length; 0: none.
    pub stall_interval_ns: u64,
    /// Length of a stall; less than the interval.
    pub stall_ns: u64,
    /// Writes per million of which only the first part reaches the medium, although they are
    /// acknowledged.
    pub torn_per_million: u32,
    /// Writes per million that are acknowledged but never executed.
    pub lost_per_million: u32,
    /// Writes per million that go to the wrong address.
    pub misdirected_per_million: u32,
}

/// The fault in a write's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFault {
    /// Only this many sectors from the start were written.
    Torn {
        /// Sectors of the volume, fewer than in the operation.
        sectors: u64,
    },
    /// Nothing was written.
    Lost,
    /// All of it was written at this byte offset of the volume instead.
    Misdirected {
        /// The actual offset.
        offset_bytes: u64,
    },
}

/// Kinds of faults, as indices of their random draws.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Draw {
    Failed = 1,
    Spike = 2,
    SpikeLength = 3,
    Write = 4,
    WriteDetail = 5,
}

const MILLION: u64 = 1_000_000;

/// The fault plan of one array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    plan: FaultPlan,
    seed: u64,
}

impl Faults {
    pub(crate) fn new(plan: FaultPlan, seed: u64) -> Self {
        Faults { plan, seed }
    }

    fn draw(&self, kind: Draw, operation: u64) -> u64 {
        draw(self.seed, Entity::Fault, kind as u64, operation)
    }

    fn strikes(&self, kind: Draw, operation: u64, per_million: u32) -> bool {
        per_million > 0 && below(self.draw(kind, operation), MILLION) < u64::from(per_million)
    }

    pub(crate) fn fails(&self, operation: u64) -> bool {
        self.strikes(Draw::Failed, operation, self.plan.failed_per_million)
    }

    /// Added latency of the operation, in nanoseconds.
    pub(crate) fn spike_ns(&self, operation: u64) -> u64 {
        if !self.strikes(Draw::Spike, operation, self.plan.spikes_per_million) {
            return 0;
        }
        let span = self
            .plan
            .spike_ns_max
            .saturating_sub(self.plan.spike_ns_min)
            + 1;
        self.plan.spike_ns_min + below(self.draw(Draw::SpikeLength, operation), span)
    }

    /// One stall starts in each interval of this length; 0: none.
    pub(crate) fn stall_interval_ns(&self) -> u64 {
        match self.plan.stall_ns {
            0 => 0,
            _ => self.plan.stall_interval_ns,
        }
    }

    /// The end of the stall at this time, or the time itself.
    pub(crate) fn after_stall_ns(&self, now_ns: u64) -> u64 {
        let (interval, length) = (self.plan.stall_interval_ns, self.plan.stall_ns);
        if interval == 0 || length == 0 {
            return now_ns;
        }
        let number = now_ns / interval;
        let slack = interval.saturating_sub(length);
        let start = number * interval + below(draw(self.seed, Entity::Stall, 0, number), slack);
        if (start..start + length).contains(&now_ns) {
            start + length
        } else {
            now_ns
        }
    }

    /// The fault in the data of a write of `length_bytes` on a volume of `volume_bytes`.
    pub(crate) fn write_fault(
        &self,
        operation: u64,
        length_bytes: u64,
        sector_bytes: u64,
        volume_bytes: u64,
    ) -> Option<WriteFault> {
        let plan = &self.plan;
        let (torn, lost) = (
            u64::from(plan.torn_per_million),
            u64::from(plan.lost_per_million),
        );
        let misdirected = u64::from(plan.misdirected_per_million);
        if torn + lost + misdirected == 0 {
            return None;
        }
        let fate = below(self.draw(Draw::Write, operation), MILLION);
        let detail = self.draw(Draw::WriteDetail, operation);
        if fate < torn {
            let sectors = below(detail, length_bytes / sector_bytes);
            Some(WriteFault::Torn { sectors })
        } else if fate < torn + lost {
            Some(WriteFault::Lost)
        } else if fate < torn + lost + misdirected {
            let places = (volume_bytes - length_bytes) / sector_bytes + 1;
            let offset_bytes = below(detail, places) * sector_bytes;
            Some(WriteFault::Misdirected { offset_bytes })
        } else {
            None
        }
    }
}
