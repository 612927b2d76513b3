//! A rotating disk: one arm, one spindle, a queue.
//!
//! Service = seek (+ write settle) + occupancy (when the arm moves) +
//! rotational wait + transfer. The command latency is not here: it is pipelined
//! in front of the drive, because charging it on the arm would cost sequential
//! streams a revolution per operation.
//!
//! The queue is a window of `queue_depth` accesses, from which the drive takes
//! the one with the least seek + w * rotational wait: w = 1 is shortest access
//! time first, w = 0 shortest seek first. Pure SATF is far too good for real
//! firmware, hence the blend. Beyond the window, arrivals wait in C-LOOK order.
//! Left out: caches other than a read-ahead segment, retries, zones.

use super::{Arrival, DriveAccess};
use crate::elevator::Elevator;
use crate::geometry::{Geometry, fraction};
use crate::seek::SeekCurve;
use std::collections::VecDeque;

pub(crate) const SECTOR_BYTES: u64 = 512;

/// How a drive picks its next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// In order of arrival.
    FirstCome,
    /// Least seek + w * rotational wait within the window.
    Blend,
}

/// What all disks of an array have in common. Times in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct DiskModel {
    /// Where sectors lie.
    pub geometry: Geometry,
    /// How long the arm takes.
    pub seek: SeekCurve,
    /// To another track of the same cylinder.
    pub head_switch_ns: f64,
    /// After a seek, before a write.
    pub write_settle_ns: f64,
    /// What firmware adds to each access that moves the arm.
    pub occupancy_ns: f64,
    /// How the next access is chosen.
    pub scheduling: Scheduling,
    /// w in seek + w * rotational wait.
    pub rotation_weight: f64,
    /// Accesses the drive knows of at once; it chooses among them.
    pub queue_depth: usize,
    /// An access that has waited longer goes first; `u64::MAX`: never.
    pub wait_limit_ns: u64,
    /// Sectors the drive reads on after a read; 0: none.
    pub read_ahead_sectors: u64,
    /// Spacing of what the array stores, 1 for packed; see `placement`.
    pub placement: f64,
    pub placement_unit_bytes: u64,
}

impl DiskModel {
    /// The sector of a byte offset. With a placement above 1 other volumes lie
    /// between this array's stripe units, so that each unit keeps its shape but
    /// the same data spans that much more of the disk.
    pub(crate) fn sector(&self, offset_bytes: u64) -> u64 {
        if self.placement <= 1.0 {
            return offset_bytes / SECTOR_BYTES;
        }
        let unit = offset_bytes / self.placement_unit_bytes;
        let inside = offset_bytes % self.placement_unit_bytes;
        let spread = (unit as f64 * self.placement) as u64;
        (spread * self.placement_unit_bytes + inside) / SECTOR_BYTES
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: u32,
    write: bool,
    track: u32,
    cylinder: u32,
    angle: f64,
    /// Revolutions that one sector takes.
    sector_turns: f64,
    sector: u64,
    sectors: u64,
    arrived_ns: u64,
}

/// One spindle.
#[derive(Clone, Debug)]
pub(crate) struct RotatingDrive {
    model: DiskModel,
    /// Nanoseconds per revolution of this very spindle.
    revolution_ns: f64,
    turns_per_ns: f64,
    /// Angle at time 0, in revolutions.
    phase: f64,
    /// What the drive chooses from (`Scheduling::Blend`).
    window: Vec<Waiting>,
    /// What waits for a place in the window, by sector.
    backlog: Elevator,
    backlog_items: crate::arena::Arena<Waiting>,
    /// The whole queue under `Scheduling::FirstCome`.
    first_come: VecDeque<Waiting>,
    /// The access in service; the arm is already where it will end.
    serving: Option<u32>,
    cylinder: u32,
    track: u32,
    /// End of the last read and the time its last sector passed the head.
    streamed_to: Option<(u64, u64)>,
    busy_ns: u64,
}

impl RotatingDrive {
    /// A spindle with its own phase (revolutions, 0 to 1) and revolution time.
    pub(crate) fn new(model: DiskModel, revolution_ns: f64, phase: f64, backlog: usize) -> Self {
        let window = model.queue_depth;
        let first_come = match model.scheduling {
            Scheduling::FirstCome => backlog,
            Scheduling::Blend => 0,
        };
        RotatingDrive {
            model,
            revolution_ns,
            turns_per_ns: 1.0 / revolution_ns,
            phase,
            window: Vec::with_capacity(window),
            backlog: Elevator::with_capacity(backlog),
            backlog_items: crate::arena::Arena::with_capacity(backlog),
            first_come: VecDeque::with_capacity(first_come),
            serving: None,
            cylinder: 0,
            track: 0,
            streamed_to: None,
            busy_ns: 0,
        }
    }

    pub(crate) fn arrive(&mut self, now_ns: u64, access: DriveAccess, stretch: f64) -> Arrival {
        let sector = self.model.sector(access.offset_bytes);
        let position = self.model.geometry.position(sector);
        let waiting = Waiting {
            index: access.index,
            write: access.write,
            track: position.track,
            cylinder: position.cylinder,
            angle: position.angle,
            sector_turns: 1.0 / position.sectors_per_track,
            sector,
            sectors: u64::from(access.length_bytes).div_ceil(SECTOR_BYTES),
            arrived_ns: now_ns,
        };
        match self.model.scheduling {
            Scheduling::FirstCome => self.first_come.push_back(waiting),
            // The access in service counts against the window: the drive holds its tag.
            Scheduling::Blend
                if self.window.len() + usize::from(self.serving.is_some())
                    < self.model.queue_depth =>
            {
                self.window.push(waiting);
            }
            Scheduling::Blend => {
                let item = self.backlog_items.insert(waiting);
                self.backlog.push(sector, item);
            }
        }
        match self.start_if_idle(now_ns, stretch) {
            Some(done_ns) => Arrival::Started(done_ns),
            None => Arrival::Queued,
        }
    }

    pub(crate) fn done(&mut self, now_ns: u64, stretch: f64) -> (u32, Option<u64>) {
        let Some(finished) = self.serving.take() else {
            unreachable!("a drive is done only with what it serves");
        };
        if self.window.len() < self.model.queue_depth
            && let Some((_, item)) = self.backlog.pop()
        {
            let waiting = self.backlog_items.remove(item);
            self.window.push(waiting);
        }
        (finished, self.start_if_idle(now_ns, stretch))
    }

    pub(crate) fn load(&self) -> usize {
        self.window.len()
            + self.backlog.len()
            + self.first_come.len()
            + usize::from(self.serving.is_some())
    }

    pub(crate) fn cylinder_of(&self, offset_bytes: u64) -> u32 {
        let sector = self.model.sector(offset_bytes);
        self.model.geometry.position(sector).cylinder
    }

    pub(crate) fn distance(&self, cylinder: u32) -> u32 {
        cylinder.abs_diff(self.cylinder)
    }

    pub(crate) fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    fn start_if_idle(&mut self, now_ns: u64, stretch: f64) -> Option<u64> {
        if self.serving.is_some() {
            return None;
        }
        let next = match self.model.scheduling {
            Scheduling::FirstCome => self.first_come.pop_front()?,
            Scheduling::Blend => self.take_best(now_ns)?,
        };
        let service_ns = match self.streamed_ns(now_ns, &next) {
            Some(buffered_ns) => buffered_ns,
            None => self.mechanical_ns(now_ns, &next),
        };
        let busy_ns = (service_ns * stretch) as u64;
        self.serving = Some(next.index);
        self.busy_ns += busy_ns;
        Some(now_ns + busy_ns)
    }

    /// The window's cheapest access, or the oldest if it has waited too long.
    fn take_best(&mut self, now_ns: u64) -> Option<Waiting> {
        if self.model.wait_limit_ns < u64::MAX
            && let Some(place) = self.starving(now_ns)
        {
            return Some(self.window.remove(place));
        }
        let turned = self.turned(now_ns);
        let weight = self.model.rotation_weight;
        let (mut best, mut best_cost) = (None, f64::INFINITY);
        // The seek alone from this distance on costs more than the best so far:
        // farther accesses need not be looked at.
        let mut hopeless = u32::MAX;
        for (place, waiting) in self.window.iter().enumerate() {
            let distance = waiting.cylinder.abs_diff(self.cylinder);
            if distance >= hopeless {
                continue;
            }
            let arm_ns = self.arm_ns(distance, waiting);
            if arm_ns >= best_cost {
                // Seeks rise with the distance, and a write settles besides. (At
                // distance 0 the time is a head switch or nothing: no bound.)
                if !waiting.write && distance > 0 {
                    hopeless = distance;
                }
                continue;
            }
            let cost = arm_ns + weight * self.wait_ns(turned, arm_ns, waiting);
            if cost < best_cost {
                (best, best_cost) = (Some(place), cost);
            }
        }
        // `remove`, not `swap_remove`: equal costs are settled by order of arrival.
        best.map(|place| self.window.remove(place))
    }

    /// The place of the oldest access, if it has waited too long.
    fn starving(&self, now_ns: u64) -> Option<usize> {
        let places = 0..self.window.len();
        let oldest = places.min_by_key(|&place| self.window[place].arrived_ns)?;
        let waited_ns = now_ns.saturating_sub(self.window[oldest].arrived_ns);
        (waited_ns > self.model.wait_limit_ns).then_some(oldest)
    }

    /// Revolutions this spindle has made, fractional part only.
    fn turned(&self, now_ns: u64) -> f64 {
        fraction(now_ns as f64 * self.turns_per_ns + self.phase)
    }

    /// Time until the head is on the track, settled.
    fn arm_ns(&self, distance: u32, waiting: &Waiting) -> f64 {
        let model = &self.model;
        if distance > 0 {
            let settle_ns = if waiting.write {
                model.write_settle_ns
            } else {
                0.0
            };
            model.seek.time_ns(f64::from(distance)) + settle_ns + model.occupancy_ns
        } else if waiting.track != self.track {
            model.head_switch_ns
        } else {
            0.0
        }
    }

    /// Rotational wait from then on.
    fn wait_ns(&self, turned: f64, arm_ns: f64, waiting: &Waiting) -> f64 {
        let under_head = fraction(turned + arm_ns * self.turns_per_ns);
        let ahead = waiting.angle - under_head;
        let ahead = if ahead < 0.0 { ahead + 1.0 } else { ahead };
        // An exact continuation may come out a rounding error too late; within
        // a sector and a half it is on time.
        let late = 1.0 - 1.5 * waiting.sector_turns;
        if ahead > late {
            0.0
        } else {
            ahead * self.revolution_ns
        }
    }

    /// Service from the medium; moves the arm.
    fn mechanical_ns(&mut self, now_ns: u64, next: &Waiting) -> f64 {
        let arm_ns = self.arm_ns(next.cylinder.abs_diff(self.cylinder), next);
        let wait_ns = self.wait_ns(self.turned(now_ns), arm_ns, next);
        let (transfer_ns, switches) = self.transfer(next);
        let service_ns = arm_ns + wait_ns + transfer_ns;
        self.track = next.track + switches;
        self.cylinder = self.model.geometry.cylinder(self.track);
        self.streamed_to = (self.model.read_ahead_sectors > 0 && !next.write)
            .then(|| (next.sector + next.sectors, now_ns + service_ns as u64));
        service_ns
    }

    /// Transfer time and the number of track boundaries crossed on the way.
    /// Each boundary costs the skew, which is the head-switch time.
    fn transfer(&self, next: &Waiting) -> (f64, u32) {
        let geometry = &self.model.geometry;
        let turns = next.sectors as f64 * next.sector_turns;
        // The angle within the track, the skew taken out again.
        let skewed = fraction(f64::from(next.track) * geometry.skew());
        let inside = fraction(next.angle - skewed + 1.0);
        let switches = (inside + turns) as u32;
        let turns = turns + f64::from(switches) * geometry.skew();
        (turns * self.revolution_ns, switches)
    }

    /// Service from the read-ahead segment: `next` continues the last read, and
    /// the drive has kept on reading since, up to the size of the segment.
    fn streamed_ns(&mut self, now_ns: u64, next: &Waiting) -> Option<f64> {
        let (end, end_ns) = self.streamed_to?;
        if next.write || next.sector != end {
            return None;
        }
        let sector_ns = self.revolution_ns * next.sector_turns;
        let read_on = now_ns.saturating_sub(end_ns) as f64 / sector_ns;
        let limit = self.model.read_ahead_sectors as f64;
        let wanted = next.sectors as f64;
        if read_on >= limit && wanted > limit {
            return None;
        }
        let (transfer_ns, switches) = self.transfer(next);
        self.track = next.track + switches;
        self.cylinder = self.model.geometry.cylinder(self.track);
        let buffered = if read_on < limit { read_on } else { limit };
        let missing_ns = (transfer_ns - buffered * sector_ns).max(0.0);
        // The medium is as far ahead of the reader as before, less this read.
        let frontier_ns = now_ns as f64 + transfer_ns - buffered * sector_ns;
        self.streamed_to = Some((end + next.sectors, frontier_ns.max(0.0) as u64));
        Some(missing_ns)
    }
}

#[cfg(test)]
mod tests;
