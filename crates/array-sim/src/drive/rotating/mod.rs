//! A rotating disk: one arm, one spindle, a queue.
//!
//! Service = seek (+ write settle) + occupancy (when the arm moves) + rotational wait + transfer.
//! Command latency is not included: it is pipelined in front of the drive, because charging it to
//! the arm would cost sequential streams a revolution per operation.
//!
//! The queue is a window of `queue_depth` accesses, from which the drive takes the one with the
//! least seek + w * rotational wait: w = 1 is shortest access time first, w = 0 shortest seek
//! first. Pure SATF is far better than real firmware, hence the blend. Beyond the window, arrivals
//! wait in C-LOOK order. Not modelled: caches other than a read-ahead segment, retries, zones.

use super::read_ahead::{Hit, Pace, ReadAhead};
use super::{DriveAccess, NONE, SECTOR_BYTES};
use crate::arena::Arena;
use crate::elevator::Elevator;
use crate::events::{Key, at_ns};
use crate::geometry::{Geometry, Position, float, fraction, whole};
use crate::seek::SeekCurve;
use std::collections::VecDeque;
use std::iter::successors;
use std::sync::Arc;

/// How a drive picks its next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// In order of arrival.
    FirstCome,
    /// Least seek + w * rotational wait within the window.
    Blend,
}

/// Parameters shared by all disks of an array. Times in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct DiskModel {
    /// Positions of the sectors.
    pub geometry: Geometry,
    /// Times for moving the arm.
    pub seek: SeekCurve,
    /// Switch to another track of the same cylinder.
    pub head_switch_ns: f64,
    /// Settling before a write after a seek.
    pub write_settle_ns: f64,
    /// Firmware overhead of each access that moves the arm.
    pub occupancy_ns: f64,
    /// Policy for choosing the next access.
    pub scheduling: Scheduling,
    /// w in seek + w * rotational wait.
    pub rotation_weight: f64,
    /// Accesses in the drive's queue, from which it chooses.
    pub queue_depth: usize,
    /// An access that has waited longer goes first; `u64::MAX`: never.
    pub wait_limit_ns: u64,
    /// Sectors read ahead after a read; 0: none.
    pub read_ahead_sectors: u64,
    /// Streams with read-ahead at the same time.
    pub segments: usize,
    /// Spacing of the array's data, 1 for contiguous; see `placement`.
    pub placement: f64,
    pub placement_unit_bytes: u64,
}

impl DiskModel {
    /// The sector of a byte offset. With a placement above 1 other volumes lie between this array's
    /// stripe units, so that each unit stays contiguous but the same data spans a larger part of
    /// the disk.
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

/// Arm time and rotational wait.
#[derive(Clone, Copy)]
struct AccessCost {
    arm_ns: f64,
    wait_ns: f64,
}

/// The choice of the next access.
#[derive(Clone, Copy, Default)]
struct Choice {
    /// Its rank by cylinder in the window.
    rank: usize,
    /// Its arm time and wait, if already known.
    way: Option<AccessCost>,
}

impl Choice {
    fn at(rank: usize) -> Self {
        Choice { rank, way: None }
    }
}

/// The cheapest access in the window to be served from the medium.
struct Cheapest {
    rank: usize,
    cost: f64,
    way: AccessCost,
}

/// The arm's position now, or at the end of the access in service.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    cylinder: u32,
    track: u32,
    /// When that access arrives, if the drive was idle, and the cylinder until then.
    awaited: Key,
    before: u32,
}

/// One spindle.
#[derive(Clone, Debug)]
pub(crate) struct RotatingDrive {
    /// Shared by all drives of an array, so that it stays in the CPU cache.
    model: Arc<DiskModel>,
    /// Nanoseconds per revolution of this particular spindle.
    revolution_ns: f64,
    turns_per_ns: f64,
    /// Nanoseconds per revolution for a stream, including the skew of its tracks.
    stream_ns: f64,
    /// Angle at time 0, in revolutions.
    phase: f64,
    /// Accesses in transit or waiting, inside or outside the window.
    waiting: Arena<DriveAccess>,
    /// The first and last of those in transit, in order of time; or [`NONE`].
    inbox: (u32, u32),
    /// The window from which the drive chooses, in order of cylinders: (cylinder, index of the
    /// waiting access).
    by_cylinder: Vec<(u32, u32)>,
    /// Accesses of the window on cylinders below the arm's.
    below: usize,
    /// Accesses that wait for a place in the window, by sector.
    backlog: Elevator,
    /// The whole queue under `Scheduling::FirstCome`.
    first_come: VecDeque<u32>,
    /// The operation whose access is in service, or [`NONE`]; the arm is already at its end
    /// position.
    serving: u32,
    arm: Arm,
    /// Read-ahead buffer.
    ahead: ReadAhead,
    /// Accesses in the window that it may serve.
    streaming: usize,
    busy_ns: u64,
}

impl RotatingDrive {
    /// A spindle with its own phase (revolutions, 0 to 1) and revolution time, and with capacity
    /// for this many accesses.
    pub(crate) fn new(model: Arc<DiskModel>, revolution_ns: f64, phase: f64, room: usize) -> Self {
        let first_come = match model.scheduling {
            Scheduling::FirstCome => room,
            Scheduling::Blend => 0,
        };
        let ahead = ReadAhead::new(model.read_ahead_sectors, model.segments);
        RotatingDrive {
            stream_ns: revolution_ns * (1.0 + model.geometry.skew()),
            by_cylinder: Vec::with_capacity(model.queue_depth),
            below: 0,
            model,
            ahead,
            revolution_ns,
            turns_per_ns: 1.0 / revolution_ns,
            phase,
            waiting: Arena::with_capacity(room),
            inbox: (NONE, NONE),
            backlog: Elevator::with_capacity(room),
            first_come: VecDeque::with_capacity(first_come),
            serving: NONE,
            arm: Arm::default(),
            streaming: 0,
            busy_ns: 0,
        }
    }

    /// An access is sent to an idle drive, or the drive was waiting for it: returns when it will be
    /// done. Nothing else arrives before it.
    #[inline(never)]
    pub(crate) fn arrive_idle(&mut self, mut waiting: DriveAccess, stretch: f64) -> u64 {
        (self.arm.awaited, self.arm.before) = (waiting.arrives, self.arm.cylinder);
        waiting.streams = self.may_stream(&waiting);
        let now_ns = at_ns(waiting.arrives);
        self.start(now_ns, &waiting, Choice::default(), stretch)
    }

    /// An access is sent to a busy drive, after all others in transit.
    #[inline]
    pub(crate) fn arrive_busy(&mut self, access: &DriveAccess) {
        let item = self.waiting.insert(*access);
        match self.inbox {
            (NONE, _) => self.inbox = (item, item),
            (first, last) => {
                debug_assert!(self.waiting[last].arrives < access.arrives);
                self.waiting[last].next = item;
                self.inbox = (first, item);
            }
        }
    }

    /// The first access in transit that arrives before an event.
    #[inline]
    fn arrived_before(&mut self, key: Key) -> Option<u32> {
        let (first, last) = self.inbox;
        if first == NONE || self.waiting[first].arrives >= key {
            return None;
        }
        self.inbox = (self.waiting[first].next, last);
        Some(first)
    }

    /// Queues an access that has arrived.
    #[inline]
    fn take_in(&mut self, item: u32) {
        match self.model.scheduling {
            Scheduling::FirstCome => self.first_come.push_back(item),
            // The access in service counts against the window: the drive holds its tag.
            Scheduling::Blend if self.by_cylinder.len() + 1 < self.model.queue_depth => {
                self.enter(item);
            }
            Scheduling::Blend => self.backlog.push(self.waiting[item].position.sector, item),
        }
    }

    /// The access in service is done, at `done`: returns its operation, and when the next access
    /// will be done. `stretch` is the factor on service times at a given time.
    #[inline]
    pub(crate) fn done(&mut self, done: Key, stretch: impl Fn(u64) -> f64) -> (u32, Option<u64>) {
        let now_ns = at_ns(done);
        while let Some(item) = self.arrived_before(done) {
            self.take_in(item);
        }
        let finished = std::mem::replace(&mut self.serving, NONE);
        let next = match self.model.scheduling {
            Scheduling::FirstCome => self.first_come.pop_front().map(|item| {
                self.waiting[item].streams = self.may_stream(&self.waiting[item]);
                (item, Choice::default())
            }),
            Scheduling::Blend => {
                if self.by_cylinder.len() < self.model.queue_depth
                    && let Some((_, item)) = self.backlog.pop()
                {
                    self.enter(item);
                }
                let choice = self.choose(now_ns);
                choice.map(|choice| (self.leave(choice.rank), choice))
            }
        };
        if let Some((item, choice)) = next {
            let next = self.waiting.remove(item);
            let next_ns = self.start(now_ns, &next, choice, stretch(now_ns));
            return (finished, Some(next_ns));
        }
        let awaited = self.arrived_before(Key::MAX);
        let next_ns = awaited.map(|item| {
            let waiting = self.waiting.remove(item);
            self.arrive_idle(waiting, stretch(at_ns(waiting.arrives)))
        });
        (finished, next_ns)
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.serving != NONE
    }

    /// Accesses waiting or in service; `passed` says whether an event has happened.
    pub(crate) fn load(&self, passed: impl Fn(Key) -> bool) -> usize {
        let on_its_way = |item: u32| (item != NONE).then(|| &self.waiting[item]);
        let inbox = successors(on_its_way(self.inbox.0), |item| on_its_way(item.next));
        let arrived = inbox.take_while(|item| passed(item.arrives)).count();
        self.by_cylinder.len()
            + self.backlog.len()
            + self.first_come.len()
            + arrived
            + usize::from(self.is_serving() && passed(self.arm.awaited))
    }

    pub(crate) fn position(&self, offset_bytes: u64) -> Position {
        let sector = self.model.sector(offset_bytes);
        self.model.geometry.position(sector)
    }

    /// Cylinders between the arm and a cylinder; `passed` as for the load.
    #[inline]
    pub(crate) fn distance(&self, cylinder: u32, passed: impl Fn(Key) -> bool) -> u32 {
        let arm = &self.arm;
        cylinder.abs_diff(if passed(arm.awaited) {
            arm.cylinder
        } else {
            arm.before
        })
    }

    pub(crate) fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Starts an access; returns when it will be done.
    #[inline(always)]
    fn start(&mut self, now_ns: u64, next: &DriveAccess, choice: Choice, stretch: f64) -> u64 {
        let service_ns = match self.hit(now_ns, next) {
            Some(hit) => self.buffered_ns(now_ns, next, choice, hit),
            None => self.mechanical_ns(now_ns, next, choice),
        };
        let busy_ns = whole(service_ns * stretch);
        self.serving = next.index;
        self.busy_ns += busy_ns;
        now_ns + busy_ns
    }

    /// The window's cheapest access, or the oldest if it has waited too long.
    fn choose(&mut self, now_ns: u64) -> Option<Choice> {
        if self.by_cylinder.len() <= 1 {
            return (!self.by_cylinder.is_empty()).then_some(Choice::at(0));
        }
        if self.model.wait_limit_ns < u64::MAX
            && let Some(rank) = self.starving(now_ns)
        {
            return Some(Choice::at(rank));
        }
        let streaming = self.best_hit(now_ns);
        if let Some((rank, cost)) = streaming
            && (cost <= 0.0 || self.streaming == self.by_cylinder.len())
        {
            return Some(Choice::at(rank));
        }
        match (streaming, self.cheapest(now_ns)) {
            (Some((rank, hit_cost)), Some(best)) if hit_cost <= best.cost => Some(Choice::at(rank)),
            (_, Some(best)) => Some(Choice {
                rank: best.rank,
                way: Some(best.way),
            }),
            (Some((rank, _)), None) => Some(Choice::at(rank)),
            (None, None) => None,
        }
    }

    /// The rank and cost of the access that the read-ahead can serve soonest. The head's delay to
    /// its first sector is weighted like a rotational wait, so that costs are comparable with those
    /// from the medium, which exclude the transfer too.
    fn best_hit(&mut self, now_ns: u64) -> Option<(usize, f64)> {
        if self.streaming == 0 {
            return None;
        }
        let alone = self.ahead.active_alone();
        let (mut best, mut best_key) = (None, (f64::INFINITY, u64::MAX));
        // The first access of a stream that the head has yet to reach.
        let mut soonest = u64::MAX;
        // Within a cylinder the latest arrival comes first: visit the oldest, usually the soonest,
        // before the rest.
        for rank in (0..self.by_cylinder.len()).rev() {
            let item = self.by_cylinder[rank].1;
            let waiting = &self.waiting[item];
            if !waiting.streams {
                continue;
            }
            // Nothing is sooner than data already in the buffer; the head reaches later sectors
            // later.
            let in_buffer = best_key.0 <= 0.0 && waiting.order() > best_key.1;
            if in_buffer
                || (waiting.position.sector > soonest && alone.contains(&waiting.position.sector))
            {
                continue;
            }
            let Some(hit) = self.hit(now_ns, waiting) else {
                // Its segment has been reused for another stream.
                self.waiting[item].streams = false;
                self.streaming -= 1;
                continue;
            };
            if hit.begins_ns > 0.0 && alone.contains(&waiting.position.sector) {
                soonest = soonest.min(waiting.position.sector);
            }
            let key = (hit.begins_ns * self.model.rotation_weight, waiting.order());
            if key < best_key {
                (best, best_key) = (Some((rank, key.0)), key);
            }
        }
        best
    }

    /// The buffer hit of an access, if any.
    #[inline]
    fn hit(&self, now_ns: u64, next: &DriveAccess) -> Option<Hit> {
        match next.streams {
            true => self.find(now_ns, next),
            false => None,
        }
    }

    fn find(&self, now_ns: u64, next: &DriveAccess) -> Option<Hit> {
        let pace = self.pace(next);
        self.ahead.find(
            float(now_ns),
            next.position.sector,
            u64::from(next.sectors),
            pace,
        )
    }

    /// How fast sectors pass at an access's position.
    #[inline]
    fn pace(&self, near: &DriveAccess) -> Pace {
        Pace {
            sector_ns: self.stream_ns * near.position.sector_turns,
            revolution_ns: self.revolution_ns,
        }
    }

    /// Marks accesses in the window that lie in the newest stream's range.
    #[inline(always)]
    fn mark_streaming(&mut self, from: &DriveAccess) {
        if self.streaming == self.by_cylinder.len() {
            return;
        }
        let first = match self.arm.cylinder == from.position.cylinder {
            true => self.below,
            false => self.below_from(self.below, from.position.cylinder),
        };
        for &(cylinder, item) in &self.by_cylinder[first..] {
            // A read-ahead window extends into the next cylinder at most.
            if cylinder > from.position.cylinder + 1 {
                break;
            }
            let waiting = &mut self.waiting[item];
            if waiting.write || waiting.streams {
                continue;
            }
            let ahead = from.position.sector..=self.ahead.active_limit();
            if ahead.contains(&waiting.position.sector) {
                waiting.streams = true;
                self.streaming += 1;
            }
        }
    }

    /// Whether the buffer in its current state may serve an access.
    fn may_stream(&self, waiting: &DriveAccess) -> bool {
        !waiting.write && self.ahead.may_hold(waiting.position.sector)
    }

    /// Adds an access to the window.
    #[inline(always)]
    fn enter(&mut self, item: u32) {
        let waiting = &self.waiting[item];
        let cylinder = waiting.position.cylinder;
        if self.may_stream(waiting) {
            self.waiting[item].streams = true;
            self.streaming += 1;
        }
        let rank = self.rank_of(cylinder);
        self.by_cylinder.insert(rank, (cylinder, item));
        self.below += usize::from(cylinder < self.arm.cylinder);
    }

    /// Accesses of the window on lower cylinders.
    #[inline]
    fn rank_of(&self, cylinder: u32) -> usize {
        let lower = |&(other, _): &(u32, u32)| other < cylinder;
        self.by_cylinder.partition_point(lower)
    }

    /// Removes an access from the window, by its rank among the cylinders.
    #[inline]
    fn leave(&mut self, rank: usize) -> u32 {
        let (_, item) = self.by_cylinder.remove(rank);
        self.below -= usize::from(rank < self.below);
        self.streaming -= usize::from(self.waiting[item].streams);
        item
    }

    /// The access with the least seek + w * rotational wait from the medium; the earliest arrival
    /// if costs are equal. Searches outward from the arm, nearest cylinders first, until the seek
    /// alone costs more than the best so far: farther ones cannot be better, because seek time
    /// rises with distance.
    #[inline(always)]
    fn cheapest(&self, now_ns: u64) -> Option<Cheapest> {
        let (model, window, arm) = (&*self.model, self.by_cylinder.as_slice(), self.arm.cylinder);
        let turned = self.turned(now_ns);
        let (mut best, mut best_cost) = (None::<Cheapest>, f64::INFINITY);
        let order = |best: &Cheapest| self.waiting[window[best.rank].1].order();
        let mut consider = |rank: usize, waiting: &DriveAccess, arm_ns: f64, under_head: f64| {
            let wait_ns = self.wait_from_ns(under_head, waiting);
            let cost = arm_ns + model.rotation_weight * wait_ns;
            let earlier = |best| waiting.order() < order(best);
            if cost < best_cost || (cost == best_cost && best.as_ref().is_some_and(earlier)) {
                best_cost = cost;
                let way = AccessCost { arm_ns, wait_ns };
                best = Some(Cheapest { rank, cost, way });
            }
            best_cost
        };
        let mut above = self.below;
        let mut below = above;
        let mut bound = f64::INFINITY;
        // Sequential loads have most of their window on one cylinder.
        let on_arm = |rank: usize| window.get(rank).filter(|entry| entry.0 == arm);
        if on_arm(above).is_some() {
            let switched = self.under_head(turned, model.head_switch_ns);
            while let Some(&(_, item)) = on_arm(above) {
                let waiting = &self.waiting[item];
                if !waiting.streams {
                    bound = match waiting.position.track == self.arm.track {
                        true => consider(above, waiting, 0.0, turned),
                        false => consider(above, waiting, model.head_switch_ns, switched),
                    };
                }
                above += 1;
            }
        }
        let up_from = |rank: usize| window.get(rank).map_or(u32::MAX, |up| up.0 - arm);
        let down_from = |end: usize| match end {
            0 => u32::MAX,
            _ => arm - window[end - 1].0,
        };
        let (mut up, mut down) = (up_from(above), down_from(below));
        loop {
            let (rank, distance) = if up <= down {
                above += 1;
                let distance = std::mem::replace(&mut up, up_from(above));
                (above - 1, distance)
            } else {
                below -= 1;
                let distance = std::mem::replace(&mut down, down_from(below));
                (below, distance)
            };
            let Some(&(_, item)) = window.get(rank) else {
                return best;
            };
            let waiting = &self.waiting[item];
            if waiting.streams {
                continue;
            }
            let seek_ns = model.seek.time_ns(f64::from(distance));
            let mut arm_ns = seek_ns + model.occupancy_ns;
            if arm_ns > bound {
                return best;
            }
            // A write also has to settle, which does not bound reads farther out.
            if waiting.write {
                arm_ns = seek_ns + model.write_settle_ns + model.occupancy_ns;
                if arm_ns > bound {
                    continue;
                }
            }
            bound = consider(rank, waiting, arm_ns, self.under_head(turned, arm_ns));
        }
    }

    /// The rank of the oldest access, if it has waited too long.
    fn starving(&self, now_ns: u64) -> Option<usize> {
        let arrived = |rank: &usize| self.waiting[self.by_cylinder[*rank].1].arrives;
        let oldest = (0..self.by_cylinder.len()).min_by_key(arrived)?;
        let waited_ns = now_ns.saturating_sub(at_ns(arrived(&oldest)));
        (waited_ns > self.model.wait_limit_ns).then_some(oldest)
    }

    /// Revolutions of this spindle, fractional part only.
    #[inline]
    fn turned(&self, now_ns: u64) -> f64 {
        fraction(float(now_ns) * self.turns_per_ns + self.phase)
    }

    /// Time until the head is on the track, settled.
    #[inline]
    fn arm_ns(&self, distance: u32, waiting: &DriveAccess) -> f64 {
        let model = &self.model;
        if distance > 0 {
            let settle_ns = if waiting.write {
                model.write_settle_ns
            } else {
                0.0
            };
            model.seek.time_ns(f64::from(distance)) + settle_ns + model.occupancy_ns
        } else if waiting.position.track != self.arm.track {
            model.head_switch_ns
        } else {
            0.0
        }
    }

    /// Rotational wait after the arm has arrived.
    #[inline]
    fn wait_ns(&self, turned: f64, arm_ns: f64, waiting: &DriveAccess) -> f64 {
        self.wait_from_ns(self.under_head(turned, arm_ns), waiting)
    }

    /// The angle under the head when the arm arrives.
    #[inline]
    fn under_head(&self, turned: f64, arm_ns: f64) -> f64 {
        fraction(turned + arm_ns * self.turns_per_ns)
    }

    /// Rotational wait from a given angle.
    #[inline]
    fn wait_from_ns(&self, under_head: f64, waiting: &DriveAccess) -> f64 {
        let ahead = waiting.position.angle - under_head;
        let ahead = ahead + if ahead < 0.0 { 1.0 } else { 0.0 };
        // A rounding error may make an exact continuation slightly late; within a sector and a half
        // it counts as on time.
        let late = 1.0 - 1.5 * waiting.position.sector_turns;
        if ahead > late {
            0.0
        } else {
            ahead * self.revolution_ns
        }
    }

    /// Service from the medium; moves the arm.
    #[inline(always)]
    fn mechanical_ns(&mut self, now_ns: u64, next: &DriveAccess, choice: Choice) -> f64 {
        let AccessCost { arm_ns, wait_ns } = choice.way.unwrap_or_else(|| {
            let arm_ns = self.arm_ns(next.position.cylinder.abs_diff(self.arm.cylinder), next);
            let wait_ns = self.wait_ns(self.turned(now_ns), arm_ns, next);
            AccessCost { arm_ns, wait_ns }
        });
        let service_ns = arm_ns + wait_ns + self.pass(next, choice.rank);
        if self.ahead.enabled() {
            self.ahead.leave(float(now_ns), self.pace(next));
            if next.write {
                self.ahead
                    .forget(next.position.sector, u64::from(next.sectors));
            } else {
                let end_ns = float(now_ns) + service_ns;
                self.ahead
                    .begin(next.position.sector, u64::from(next.sectors), end_ns);
                self.mark_streaming(next);
            }
        }
        service_ns
    }

    /// The head passes over an access that had this rank: the transfer time. Leaves the arm at the
    /// end of the access.
    #[inline(always)]
    fn pass(&mut self, next: &DriveAccess, rank: usize) -> f64 {
        let (transfer_ns, switches) = self.transfer(next);
        if next.position.cylinder != self.arm.cylinder {
            self.below = self.below_from(rank, next.position.cylinder);
        }
        (self.arm.track, self.arm.cylinder) = (next.position.track, next.position.cylinder);
        if switches > 0 {
            self.arm.track += switches;
            self.arm.cylinder = self.model.geometry.cylinder(self.arm.track);
            self.below = self.rank_of(self.arm.cylinder);
        }
        transfer_ns
    }

    /// Accesses of the window on lower cylinders, all of which are among its first `below`.
    #[inline]
    fn below_from(&self, mut below: usize, cylinder: u32) -> usize {
        while below > 0 && self.by_cylinder[below - 1].0 >= cylinder {
            below -= 1;
        }
        below
    }

    /// Transfer time and the number of track boundaries crossed. Each boundary costs the skew,
    /// which is the head-switch time.
    #[inline]
    fn transfer(&self, next: &DriveAccess) -> (f64, u32) {
        let geometry = &self.model.geometry;
        let turns = f64::from(next.sectors) * next.position.sector_turns;
        // The angle within the track, with the skew removed.
        let skewed = fraction(f64::from(next.position.track) * geometry.skew());
        let inside = fraction(next.position.angle - skewed + 1.0);
        if inside + turns < 1.0 {
            return (turns * self.revolution_ns, 0);
        }
        let switches = (inside + turns) as u32;
        let turns = turns + f64::from(switches) * geometry.skew();
        (turns * self.revolution_ns, switches)
    }

    /// Service from the buffer; the head continues its stream.
    fn buffered_ns(&mut self, now_ns: u64, next: &DriveAccess, choice: Choice, hit: Hit) -> f64 {
        let end = next.position.sector + u64::from(next.sectors);
        self.ahead.follow(float(now_ns), hit, end, self.pace(next));
        // Data in another segment is served from there, and the arm stays in place.
        if self.ahead.is_active(hit) {
            self.pass(next, choice.rank);
            self.mark_streaming(next);
        }
        hit.wait_ns
    }
}

#[cfg(test)]
mod tests;
