//! What a rotating disk has read ahead: segments of its buffer.
//!
//! After a read the head reads on, up to a window behind the last sector asked
//! for; each further read of the stream moves the window on. One segment at a time
//! is *active*: the head is filling it. Any other access freezes it, and what it
//! holds can still be read until the segment is used again (least recently used
//! first). A head that has reached the end of its window waits; when the stream
//! goes on, it must wait for the platter to come round.
//!
//! A segment holds the window twice: what lies ahead of the reader and as much
//! behind it. Left out: adaptive windows, and drives that read ahead only after
//! several sequential reads.

use crate::geometry::{float, whole};
use std::collections::VecDeque;
use std::ops::Range;

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Which segment.
    segment: usize,
    /// Nanoseconds until the head is at the first sector asked for; 0: it is there,
    /// or has passed.
    pub begins_ns: f64,
    /// Nanoseconds until the last sector asked for is in the buffer.
    pub wait_ns: f64,
}

/// A stretch of sectors in the buffer, or on its way there.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    /// Sectors before this one had passed the head at `at_ns`.
    to: u64,
    at_ns: f64,
    /// Where the head stops unless the stream goes on.
    limit: u64,
    /// When it was used last, by number of use.
    used: u64,
}

/// How fast a stream passes the head, where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Nanoseconds per sector, skew between tracks included.
    pub sector_ns: f64,
    /// Nanoseconds per revolution.
    pub revolution_ns: f64,
}

/// Stretches of so many sectors, as a power of two, are told apart at a first look.
const REGION_SECTORS_LOG2: u32 = 6;
/// Segments that are looked at side by side.
const LANES: usize = 8;

/// About where [`LANES`] segments are, in regions, modulo 2^32: first, and how many more.
#[derive(Clone, Copy, Debug)]
struct Reach {
    first: [u32; LANES],
    more: [u32; LANES],
}

impl Reach {
    /// Which segments come near these regions, as bits. Without leaving early, so that all
    /// are compared at once.
    #[inline]
    fn meets(&self, first: u32, more: u32) -> u32 {
        let lanes = self.first.iter().zip(&self.more).enumerate();
        let meet = lanes.map(|(lane, (&other, &length))| {
            let meet = (other.wrapping_sub(first) <= more) | (first.wrapping_sub(other) <= length);
            u32::from(meet) << lane
        });
        meet.fold(0, |all, one| all | one)
    }
}

const fn region(sector: u64) -> u32 {
    (sector >> REGION_SECTORS_LOG2) as u32
}

/// The buffer of one drive.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    window: u64,
    segments: Vec<Segment>,
    /// Where the segments are, for a first look at all of them.
    reaches: Vec<Reach>,
    active: Option<usize>,
    uses: u64,
    /// Segments in the order of their use, of equally old ones by number.
    order: VecDeque<usize>,
}

impl ReadAhead {
    /// A window of so many sectors, 0: none.
    pub(crate) fn new(window: u64, segments: usize) -> Self {
        let empty = Segment {
            from: 0,
            to: 0,
            at_ns: 0.0,
            limit: 0,
            used: 0,
        };
        let segments = if window == 0 { 0 } else { segments.max(1) };
        let nowhere = Reach {
            first: [0; LANES],
            more: [0; LANES],
        };
        ReadAhead {
            window,
            segments: vec![empty; segments],
            reaches: vec![nowhere; segments.div_ceil(LANES)],
            active: None,
            uses: 0,
            order: (0..segments).collect(),
        }
    }

    pub(crate) fn enabled(&self) -> bool {
        self.window > 0
    }

    /// Whether a read from `sector` may find something here: whether it begins in
    /// or near a segment, or what the head is going to read. [`ReadAhead::find`] knows.
    #[inline]
    pub(crate) fn may_hold(&self, sector: u64) -> bool {
        let region = region(sector);
        // Without leaving early, so that all are compared at once.
        self.reaches.iter().any(|reach| {
            let inside = |(&first, &more): (&u32, &u32)| region.wrapping_sub(first) <= more;
            let lanes = reach.first.iter().zip(&reach.more);
            lanes.fold(false, |found, lane| found | inside(lane))
        })
    }

    /// A segment has moved.
    #[inline]
    fn moved(&mut self, number: usize) {
        let segment = &self.segments[number];
        let (first, last) = (region(segment.from), region(segment.limit));
        let reach = &mut self.reaches[number / LANES];
        reach.first[number % LANES] = first;
        reach.more[number % LANES] = last.wrapping_sub(first);
    }

    /// The last sector of the newest stream's window; see [`ReadAhead::may_hold`].
    pub(crate) fn active_limit(&self) -> u64 {
        self.active.map_or(0, |active| self.segments[active].limit)
    }

    /// Sectors that the head is still to reach, or that it passed since the newest stream
    /// last moved; none if another segment comes near that stream's. Those that it has not
    /// reached it reaches in their order.
    pub(crate) fn active_alone(&self) -> Range<u64> {
        let Some(active) = self.active else {
            return 0..0;
        };
        let segment = &self.segments[active];
        let own = &self.reaches[active / LANES];
        let first = own.first[active % LANES];
        let more = own.more[active % LANES];
        // The segment meets itself.
        let meets = |reach: &Reach| reach.meets(first, more).count_ones();
        match self.reaches.iter().map(meets).sum::<u32>() {
            1 => segment.to.max(segment.from)..segment.limit + 1,
            _ => 0..0,
        }
    }

    /// Where a read of these sectors would be served from.
    pub(crate) fn find(&self, now_ns: f64, sector: u64, sectors: u64, pace: Pace) -> Option<Hit> {
        let end = sector + sectors;
        for (number, segment) in self.segments.iter().enumerate() {
            if sector < segment.from || sector > segment.limit || segment.limit == 0 {
                continue;
            }
            let active = self.active == Some(number);
            let passed = if active {
                segment.passed(now_ns, pace)
            } else {
                segment.to
            };
            if sector < passed.saturating_sub(2 * self.window) {
                continue;
            }
            if end <= passed {
                return Some(Hit {
                    segment: number,
                    begins_ns: 0.0,
                    wait_ns: 0.0,
                });
            }
            // Only a head that is there can bring the rest.
            if active {
                return Some(Hit {
                    segment: number,
                    begins_ns: segment.until(now_ns, sector, pace),
                    wait_ns: segment.until(now_ns, end, pace),
                });
            }
        }
        None
    }

    /// Whether the head is reading what this finds.
    pub(crate) fn is_active(&self, hit: Hit) -> bool {
        self.active == Some(hit.segment)
    }

    /// The stream goes on: its window moves, and the head with it.
    pub(crate) fn follow(&mut self, now_ns: f64, hit: Hit, end: u64, pace: Pace) {
        self.uses += 1;
        self.segments[hit.segment].used = self.uses;
        if self.order.back() != Some(&hit.segment) {
            self.out_of_order(hit.segment);
            self.order.push_back(hit.segment);
        }
        let segment = &mut self.segments[hit.segment];
        if self.active != Some(hit.segment) {
            return;
        }
        let stopped_ns = segment.stops_ns(pace);
        if stopped_ns < now_ns {
            // The platter must bring the next sector round again.
            segment.at_ns = next_pass_ns(stopped_ns, now_ns, pace);
            segment.to = segment.limit;
        }
        segment.limit = segment.limit.max(end + self.window);
        let oldest = segment.to.saturating_sub(2 * self.window);
        segment.from = segment.from.max(oldest);
        self.moved(hit.segment);
    }

    /// The head goes elsewhere, at `now_ns`.
    pub(crate) fn leave(&mut self, now_ns: f64, pace: Pace) {
        if let Some(active) = self.active.take() {
            let segment = &mut self.segments[active];
            segment.to = segment.passed(now_ns, pace).max(segment.from);
            segment.limit = segment.to;
            self.moved(active);
        }
    }

    /// A read from the medium, whose last sector will have passed at `end_ns`.
    pub(crate) fn begin(&mut self, sector: u64, sectors: u64, end_ns: f64) {
        self.uses += 1;
        let Some(number) = self.take_oldest() else {
            return;
        };
        let to = sector + sectors;
        self.segments[number] = Segment {
            from: sector,
            to,
            at_ns: end_ns,
            limit: to + self.window,
            used: self.uses,
        };
        self.active = Some(number);
        self.moved(number);
    }

    /// The segment that was used longest ago, of several the first; it is the newest now.
    fn take_oldest(&mut self) -> Option<usize> {
        let oldest = self.order.pop_front()?;
        self.order.push_back(oldest);
        Some(oldest)
    }

    /// Takes a segment out of the order of use.
    fn out_of_order(&mut self, number: usize) {
        if let Some(place) = self.order.iter().rposition(|&other| other == number) {
            self.order.remove(place);
        }
    }

    /// A write makes what was read before it old.
    pub(crate) fn forget(&mut self, sector: u64, sectors: u64) {
        let first = region(sector);
        let more = region(sector + sectors).wrapping_sub(first);
        for group in 0..self.reaches.len() {
            let mut near = self.reaches[group].meets(first, more);
            while near != 0 {
                let number = group * LANES + near.trailing_zeros() as usize;
                near &= near - 1;
                if number < self.segments.len() {
                    self.forget_in(number, sector, sectors);
                }
            }
        }
    }

    fn forget_in(&mut self, number: usize, sector: u64, sectors: u64) {
        let segment = &mut self.segments[number];
        if sector < segment.limit && segment.from < sector + sectors {
            (segment.from, segment.to, segment.limit) = (0, 0, 0);
            segment.used = 0;
            self.moved(number);
            self.out_of_order(number);
            let before = |&other: &usize| self.segments[other].used == 0 && other < number;
            let place = self.order.partition_point(before);
            self.order.insert(place, number);
        }
    }
}

impl Segment {
    /// Sectors before this one have passed the head by now.
    fn passed(&self, now_ns: f64, pace: Pace) -> u64 {
        let since_ns = (now_ns - self.at_ns).max(0.0);
        self.limit.min(self.to + whole(since_ns / pace.sector_ns))
    }

    /// When the head reaches the end of its window.
    fn stops_ns(&self, pace: Pace) -> f64 {
        self.at_ns + float(self.limit.saturating_sub(self.to)) * pace.sector_ns
    }

    /// Nanoseconds from now until sectors before `end` have passed, the head
    /// reading on as far as that.
    fn until(&self, now_ns: f64, end: u64, pace: Pace) -> f64 {
        let stopped_ns = self.stops_ns(pace);
        let beyond = float(end.saturating_sub(self.limit)) * pace.sector_ns;
        if end <= self.limit || stopped_ns >= now_ns {
            let passes_ns = self.at_ns + float(end.saturating_sub(self.to)) * pace.sector_ns;
            return (passes_ns - now_ns).max(0.0);
        }
        next_pass_ns(stopped_ns, now_ns, pace) + beyond - now_ns
    }
}

/// When a sector that passed at `passed_ns` comes round next, from `now_ns` on.
fn next_pass_ns(passed_ns: f64, now_ns: f64, pace: Pace) -> f64 {
    let turns = (now_ns - passed_ns) / pace.revolution_ns;
    let whole = (turns as i64) as f64;
    let whole = if whole < turns { whole + 1.0 } else { whole };
    passed_ns + whole * pace.revolution_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sector in 10 ns, a revolution in 1,000.
    const PACE: Pace = Pace {
        sector_ns: 10.0,
        revolution_ns: 1_000.0,
    };

    #[test]
    fn the_head_reads_on_up_to_its_window() {
        let mut ahead = ReadAhead::new(64, 2);
        assert!(ahead.find(0.0, 108, 8, PACE).is_none());
        ahead.begin(100, 8, 1_000.0);
        // At once: eight sectors have still to pass. Later: they have.
        assert_eq!(ahead.find(1_000.0, 108, 8, PACE).unwrap().wait_ns, 80.0);
        assert_eq!(ahead.find(1_040.0, 108, 8, PACE).unwrap().wait_ns, 40.0);
        assert_eq!(ahead.find(5_000.0, 108, 8, PACE).unwrap().wait_ns, 0.0);
        // Before the first and beyond the window: from the medium.
        assert!(ahead.find(5_000.0, 92, 8, PACE).is_none());
        assert!(ahead.find(5_000.0, 200, 8, PACE).is_none());
    }

    #[test]
    fn a_head_that_has_stopped_waits_for_the_platter() {
        let mut ahead = ReadAhead::new(16, 2);
        ahead.begin(100, 8, 1_000.0);
        // The head stopped behind sector 123 at 1,160 ns; 124 comes round at 2,160.
        let hit = ahead.find(1_500.0, 120, 8, PACE).unwrap();
        assert_eq!(hit.wait_ns, 2_160.0 + 40.0 - 1_500.0);
        // What was read before is still there, and starts the head again.
        let hit = ahead.find(1_500.0, 108, 8, PACE).unwrap();
        assert_eq!(hit.wait_ns, 0.0);
        ahead.follow(1_500.0, hit, 116, PACE);
        let hit = ahead.find(2_300.0, 120, 8, PACE).unwrap();
        assert_eq!(hit.wait_ns, 0.0, "read on from 2,160");
    }

    #[test]
    fn other_accesses_freeze_a_stream_and_writes_forget_it() {
        let mut ahead = ReadAhead::new(64, 2);
        ahead.begin(100, 8, 1_000.0);
        ahead.leave(1_200.0, PACE);
        assert_eq!(ahead.find(9_000.0, 108, 8, PACE).unwrap().wait_ns, 0.0);
        assert!(
            ahead.find(9_000.0, 124, 8, PACE).is_none(),
            "20 sectors passed"
        );
        ahead.forget(110, 1);
        assert!(ahead.find(9_000.0, 108, 8, PACE).is_none());
    }

    #[test]
    fn the_segment_that_was_used_longest_ago_is_used_again() {
        let mut ahead = ReadAhead::new(8, 2);
        for start in [1_000, 2_000, 3_000] {
            ahead.begin(start, 8, 0.0);
            ahead.leave(1_000.0, PACE);
        }
        assert!(!ahead.may_hold(1_004));
        assert!(ahead.may_hold(2_004) && ahead.may_hold(3_004));
        ahead.forget(2_000, 1);
        ahead.begin(4_000, 8, 0.0);
        assert!(!ahead.may_hold(2_004), "what was forgotten is used first");
        assert!(ahead.may_hold(3_004) && ahead.may_hold(4_004));
    }
}
