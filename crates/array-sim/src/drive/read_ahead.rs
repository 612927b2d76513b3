//! The read-ahead of a rotating disk: segments of its buffer.
//!
//! After a read the head keeps reading, up to a window beyond the last requested sector; each
//! further read of the stream advances the window. One segment at a time is *active*: the head is
//! filling it. Any other access freezes it, and its content can still be read until the segment is
//! reused (least recently used first). A head that has reached the end of its window waits; when
//! the stream continues, it must wait for the platter to come round.
//!
//! A segment holds the window twice: as much ahead of the reader as behind it. Not modelled:
//! adaptive windows, and drives that read ahead only after several sequential reads.

use crate::geometry::{float, whole};
use std::ops::Range;

/// A read that can be served from the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// Which segment.
    segment: usize,
    /// Nanoseconds until the head reaches the first requested sector; 0: it is there, or has
    /// passed.
    pub begins_ns: f64,
    /// Nanoseconds until the last requested sector is in the buffer.
    pub wait_ns: f64,
}

/// A range of sectors in the buffer, or about to be read.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    /// Sectors before this one had passed the head at `at_ns`.
    to: u64,
    at_ns: f64,
    /// Where the head stops unless the stream continues; 0: it is empty.
    limit: u64,
    /// The segments used before and after it, in a circle.
    older: usize,
    newer: usize,
}

/// How fast a stream passes the head at its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Nanoseconds per sector, including the skew between tracks.
    pub sector_ns: f64,
    /// Nanoseconds per revolution.
    pub revolution_ns: f64,
}

/// Granularity of the quick check, in sectors, as a power of two: no drive has 2^31 regions.
const REGION_SECTORS_LOG2: u32 = 12;
/// Segments compared in parallel.
const LANES: usize = 8;

/// Approximate range of [`LANES`] segments: their first and last regions.
#[derive(Clone, Copy, Debug)]
struct Reach {
    first: [i32; LANES],
    last: [i32; LANES],
}

impl Reach {
    /// Whether any segment is near these regions. Without early exit, so that all are compared in
    /// parallel.
    #[inline]
    fn meets(&self, first: i32, last: i32) -> bool {
        let lanes = self.first.iter().zip(&self.last);
        lanes.fold(false, |any, (&from, &to)| {
            any | ((from <= last) & (first <= to))
        })
    }
}

/// Signed, as vector instructions compare such numbers.
const fn region(sector: u64) -> i32 {
    (sector >> REGION_SECTORS_LOG2) as i32
}

/// The buffer of one drive.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    window: u64,
    segments: Vec<Segment>,
    /// Approximate ranges of the segments, for a quick check of all of them.
    reaches: Vec<Reach>,
    active: Option<usize>,
    /// The segment used least recently; empty ones are oldest, in order of their numbers.
    oldest: usize,
}

impl ReadAhead {
    /// With a window of this many sectors; 0: none.
    pub(crate) fn new(window: u64, segments: usize) -> Self {
        let segments = if window == 0 { 0 } else { segments.max(1) };
        let empty = |number: usize| Segment {
            from: 0,
            to: 0,
            at_ns: 0.0,
            limit: 0,
            older: (number + segments - 1) % segments,
            newer: (number + 1) % segments,
        };
        let nowhere = Reach {
            first: [0; LANES],
            last: [0; LANES],
        };
        ReadAhead {
            window,
            segments: (0..segments).map(empty).collect(),
            reaches: vec![nowhere; segments.div_ceil(LANES)],
            active: None,
            oldest: 0,
        }
    }

    pub(crate) fn enabled(&self) -> bool {
        self.window > 0
    }

    /// Quick check whether a read from `sector` may hit: whether it begins in or near a segment or
    /// the range the head is going to read. [`ReadAhead::find`] gives the exact answer.
    #[inline]
    pub(crate) fn may_hold(&self, sector: u64) -> bool {
        let region = region(sector);
        self.reaches.iter().any(|reach| reach.meets(region, region))
    }

    /// Updates the quick check after a segment has moved.
    #[inline]
    fn moved(&mut self, number: usize) {
        let segment = &self.segments[number];
        let reach = &mut self.reaches[number / LANES];
        reach.first[number % LANES] = region(segment.from);
        reach.last[number % LANES] = region(segment.limit);
    }

    /// The last sector of the newest stream's window; see [`ReadAhead::may_hold`].
    pub(crate) fn active_limit(&self) -> u64 {
        self.active.map_or(0, |active| self.segments[active].limit)
    }

    /// Sectors that the head has yet to reach, or that it passed since the newest stream last
    /// moved; empty if another segment is near that stream's. The head reaches the remaining ones
    /// in ascending order.
    pub(crate) fn active_alone(&self) -> Range<u64> {
        let Some(active) = self.active else {
            return 0..0;
        };
        let segment = &self.segments[active];
        let near = |other: &&Segment| other.from <= segment.limit && segment.from <= other.limit;
        // The segment is always near itself.
        match self.segments.iter().filter(near).count() {
            1 => segment.to.max(segment.from)..segment.limit + 1,
            _ => 0..0,
        }
    }

    /// The segment that can serve a read of these sectors, if any.
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
            // Only a head at this position can read the rest.
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

    /// Whether the head is reading this segment.
    pub(crate) fn is_active(&self, hit: Hit) -> bool {
        self.active == Some(hit.segment)
    }

    /// The stream continues: its window advances, and the head with it.
    pub(crate) fn follow(&mut self, now_ns: f64, hit: Hit, end: u64, pace: Pace) {
        if hit.segment == self.oldest {
            self.oldest = self.segments[self.oldest].newer;
        } else if hit.segment != self.segments[self.oldest].older {
            self.move_before(hit.segment, self.oldest);
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

    /// The head moves away, at `now_ns`.
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
        let number = self.oldest;
        let segment = &mut self.segments[number];
        self.oldest = segment.newer;
        (segment.from, segment.to) = (sector, sector + sectors);
        (segment.at_ns, segment.limit) = (end_ns, segment.to + self.window);
        self.active = Some(number);
        self.moved(number);
    }

    /// Moves a segment to the place before another one in the order of use.
    fn move_before(&mut self, number: usize, place: usize) {
        let Segment { older, newer, .. } = self.segments[number];
        self.segments[older].newer = newer;
        self.segments[newer].older = older;
        let older = std::mem::replace(&mut self.segments[place].older, number);
        self.segments[older].newer = number;
        (self.segments[number].older, self.segments[number].newer) = (older, place);
    }

    /// A write invalidates the data read before it.
    #[inline]
    pub(crate) fn forget(&mut self, sector: u64, sectors: u64) {
        let end = sector + sectors;
        let (first, last) = (region(sector), region(end));
        if self.reaches.iter().any(|reach| reach.meets(first, last)) {
            self.empty(sector, end);
        }
    }

    /// Empties the segments with any of these sectors.
    fn empty(&mut self, sector: u64, end: u64) {
        for number in 0..self.segments.len() {
            let segment = &mut self.segments[number];
            if sector >= segment.limit || segment.from >= end {
                continue;
            }
            let mut place = self.oldest;
            while self.segments[place].limit == 0 && place < number {
                place = self.segments[place].newer;
            }
            if place != number {
                self.move_before(number, place);
            }
            if place == self.oldest {
                self.oldest = number;
            }
            let segment = &mut self.segments[number];
            (segment.from, segment.to, segment.limit) = (0, 0, 0);
            self.moved(number);
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

    /// Nanoseconds from now until sectors before `end` have passed, if the head keeps reading until
    /// then.
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

/// When a sector that passed at `passed_ns` passes next, no earlier than `now_ns`.
fn next_pass_ns(passed_ns: f64, now_ns: f64, pace: Pace) -> f64 {
    let turns = (now_ns - passed_ns) / pace.revolution_ns;
    let whole = (turns as i64) as f64;
    let whole = if whole < turns { whole + 1.0 } else { whole };
    passed_ns + whole * pace.revolution_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One sector per 10 ns, one revolution per 1,000 ns.
    const PACE: Pace = Pace {
        sector_ns: 10.0,
        revolution_ns: 1_000.0,
    };

    #[test]
    fn the_head_reads_on_up_to_its_window() {
        let mut ahead = ReadAhead::new(64, 2);
        assert!(ahead.find(0.0, 108, 8, PACE).is_none());
        ahead.begin(100, 8, 1_000.0);
        // Immediately: eight sectors have yet to pass. Later: they have passed.
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
        // Data read earlier is still there, and starts the head again.
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
        for start in [10_000, 20_000, 30_000] {
            ahead.begin(start, 8, 0.0);
            ahead.leave(1_000.0, PACE);
        }
        assert!(!ahead.may_hold(10_004));
        assert!(ahead.may_hold(20_004) && ahead.may_hold(30_004));
        ahead.forget(20_000, 1);
        ahead.begin(40_000, 8, 0.0);
        assert!(!ahead.may_hold(20_004), "what was forgotten is used first");
        assert!(ahead.may_hold(30_004) && ahead.may_hold(40_004));
    }
}
