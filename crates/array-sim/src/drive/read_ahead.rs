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

/// The buffer of one drive.
#[derive(Clone, Debug)]
pub(crate) struct ReadAhead {
    window: u64,
    segments: Vec<Segment>,
    active: Option<usize>,
    uses: u64,
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
        ReadAhead {
            window,
            segments: vec![empty; if window == 0 { 0 } else { segments.max(1) }],
            active: None,
            uses: 0,
        }
    }

    pub(crate) fn enabled(&self) -> bool {
        self.window > 0
    }

    /// Whether a read from `sector` may find something here: whether it begins in
    /// a segment, or in what the head is going to read.
    pub(crate) fn may_hold(&self, sector: u64) -> bool {
        // `limit` is not below `from`: one comparison for each segment.
        let holds =
            |segment: &Segment| sector.wrapping_sub(segment.from) <= segment.limit - segment.from;
        self.segments.iter().any(holds)
    }

    /// The last sector of the newest stream's window; see [`ReadAhead::may_hold`].
    pub(crate) fn active_limit(&self) -> u64 {
        self.active.map_or(0, |active| self.segments[active].limit)
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
        let segment = &mut self.segments[hit.segment];
        segment.used = self.uses;
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
    }

    /// The head goes elsewhere, at `now_ns`.
    pub(crate) fn leave(&mut self, now_ns: f64, pace: Pace) {
        if let Some(active) = self.active.take() {
            let segment = &mut self.segments[active];
            segment.to = segment.passed(now_ns, pace).max(segment.from);
            segment.limit = segment.to;
        }
    }

    /// A read from the medium, whose last sector will have passed at `end_ns`.
    pub(crate) fn begin(&mut self, sector: u64, sectors: u64, end_ns: f64) {
        self.uses += 1;
        let Some((number, segment)) = self
            .segments
            .iter_mut()
            .enumerate()
            .min_by_key(|(_, segment)| segment.used)
        else {
            return;
        };
        let to = sector + sectors;
        *segment = Segment {
            from: sector,
            to,
            at_ns: end_ns,
            limit: to + self.window,
            used: self.uses,
        };
        self.active = Some(number);
    }

    /// A write makes what was read before it old.
    pub(crate) fn forget(&mut self, sector: u64, sectors: u64) {
        for segment in &mut self.segments {
            if sector < segment.limit && segment.from < sector + sectors {
                (segment.from, segment.to, segment.limit) = (0, 0, 0);
                segment.used = 0;
            }
        }
    }
}

impl Segment {
    /// Sectors before this one have passed the head by now.
    fn passed(&self, now_ns: f64, pace: Pace) -> u64 {
        let since_ns = (now_ns - self.at_ns).max(0.0);
        self.limit.min(self.to + (since_ns / pace.sector_ns) as u64)
    }

    /// When the head reaches the end of its window.
    fn stops_ns(&self, pace: Pace) -> f64 {
        self.at_ns + self.limit.saturating_sub(self.to) as f64 * pace.sector_ns
    }

    /// Nanoseconds from now until sectors before `end` have passed, the head
    /// reading on as far as that.
    fn until(&self, now_ns: f64, end: u64, pace: Pace) -> f64 {
        let stopped_ns = self.stops_ns(pace);
        let beyond = end.saturating_sub(self.limit) as f64 * pace.sector_ns;
        if end <= self.limit || stopped_ns >= now_ns {
            let passes_ns = self.at_ns + end.saturating_sub(self.to) as f64 * pace.sector_ns;
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
    }
}
