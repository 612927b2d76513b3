//! Which intervals of several hosts correspond, and which count.
//!
//! Hosts begin at slightly different moments, by skew or by hand, and a pause
//! cut out of one host's run shifts all of its later intervals. So intervals are placed on
//! the hosts' common clock. The time in which *all* were measuring is
//! the intersection of their measuring times; an interval that extends beyond it does
//! not count. The remaining ones are numbered by the slot of common time that contains their
//! middle, and a slot counts if every host filled the same length of it.

use std::collections::BTreeMap;
use stripewise_results::{Interval, Pause};

/// An interval may extend beyond the common time by a hundredth of its length; 10 ms
/// are always allowed, a quarter of it never is.
const SLACK_SHARE: i128 = 100;
const SLACK_NS: i128 = 10_000_000;
const SLACK_SHARE_MAX: i128 = 4;

/// The intervals of one job of one host on the common clock, in order.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    from_ns: i128,
    to_ns: i128,
    /// No pause was cut out of it.
    is_whole: bool,
    duration_ns: u64,
}

/// A length of time in which all hosts were measuring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Since the first slot.
    pub start_ns: u64,
    /// The length that every host measured of it.
    pub duration_ns: u64,
    /// Indices of its intervals, lane by lane.
    pub intervals: Vec<Vec<usize>>,
}

impl Lane {
    /// Places intervals on the clock on which measuring began at `measured_from_ns`.
    pub fn new<'a>(
        measured_from_ns: u64,
        intervals: impl IntoIterator<Item = &'a Interval>,
        pauses: &[Pause],
    ) -> Lane {
        let paused_before = |at_ns: u64, with_it: bool| -> i128 {
            let before = pauses
                .iter()
                .filter(|pause| pause.at_ns < at_ns || with_it && pause.at_ns == at_ns);
            before.map(|pause| i128::from(pause.duration_ns)).sum()
        };
        let spans = intervals.into_iter().map(|interval| {
            let end_ns = interval.start_ns.saturating_add(interval.duration_ns);
            let on_clock = |at_ns: u64, paused_ns: i128| {
                i128::from(measured_from_ns) + i128::from(at_ns) + paused_ns
            };
            let from_ns = on_clock(interval.start_ns, paused_before(interval.start_ns, true));
            let to_ns = on_clock(end_ns, paused_before(end_ns, false));
            Span {
                from_ns,
                to_ns,
                is_whole: to_ns - from_ns == i128::from(interval.duration_ns)
                    && interval.duration_ns > 0,
                duration_ns: interval.duration_ns,
            }
        });
        Lane {
            spans: spans.collect(),
        }
    }

    /// Its longest interval.
    fn length_ns(&self) -> u64 {
        let lengths = self.spans.iter().map(|span| span.duration_ns);
        lengths.max().unwrap_or(0)
    }

    /// Times in which it was measuring, adjacent ones joined.
    fn measuring(&self) -> Vec<(i128, i128)> {
        let mut times: Vec<(i128, i128)> = Vec::new();
        for span in self.spans.iter().filter(|span| span.is_whole) {
            match times.last_mut() {
                Some((_, to_ns)) if *to_ns == span.from_ns => *to_ns = span.to_ns,
                _ => times.push((span.from_ns, span.to_ns)),
            }
        }
        times
    }

    /// First and last moment of measuring on the common clock, in nanoseconds since 1970;
    /// `None` without intervals.
    pub fn bounds_ns(&self) -> Option<(i128, i128)> {
        let (first, last) = (self.spans.first()?, self.spans.last()?);
        Some((first.from_ns, last.to_ns))
    }
}

/// The total length of these slots.
pub(super) fn measured_ns(slots: &[Slot]) -> u64 {
    let lengths = slots.iter().map(|slot| slot.duration_ns);
    lengths.fold(0, u64::saturating_add)
}

/// The slots in which all lanes measured, in order. Empty if a lane has no
/// intervals, or they have no time in common.
pub fn common_slots(lanes: &[Lane]) -> Vec<Slot> {
    let length_ns = lanes.iter().map(Lane::length_ns).max().unwrap_or(0);
    let mut common = match lanes.first() {
        Some(lane) => lane.measuring(),
        None => return Vec::new(),
    };
    for lane in &lanes[1..] {
        common = intersection(&common, &lane.measuring());
    }
    let (Some(&(anchor_ns, _)), true) = (common.first(), length_ns > 0) else {
        return Vec::new();
    };
    let length_ns = i128::from(length_ns);
    let slack_ns = (length_ns / SLACK_SHARE).max(SLACK_NS);
    let slack_ns = slack_ns.min(length_ns / SLACK_SHARE_MAX);
    let mut filled: BTreeMap<i128, Filling> = BTreeMap::new();
    for (number, lane) in lanes.iter().enumerate() {
        for (index, span) in lane.spans.iter().enumerate() {
            if !span.is_whole || !is_within(span, &common, slack_ns) {
                continue;
            }
            let middle_ns = span.from_ns + (span.to_ns - span.from_ns) / 2;
            let slot = (middle_ns - anchor_ns).div_euclid(length_ns);
            let filling = filled
                .entry(slot)
                .or_insert_with(|| Filling::new(lanes.len()));
            let sum_ns = &mut filling.duration_ns[number];
            *sum_ns = sum_ns.saturating_add(span.duration_ns);
            filling.intervals[number].push(index);
        }
    }
    slots(filled, length_ns)
}

/// Contents of a slot, lane by lane.
struct Filling {
    duration_ns: Vec<u64>,
    intervals: Vec<Vec<usize>>,
}

impl Filling {
    fn new(lanes: usize) -> Filling {
        Filling {
            duration_ns: vec![0; lanes],
            intervals: vec![Vec::new(); lanes],
        }
    }
}

fn slots(filled: BTreeMap<i128, Filling>, length_ns: i128) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut first = None;
    for (number, filling) in filled {
        let duration_ns = filling.duration_ns[0];
        let is_equal = filling.duration_ns.iter().all(|ns| *ns == duration_ns);
        // More than a slot holds: intervals that were joined across its edge.
        if !is_equal || duration_ns == 0 || i128::from(duration_ns) > length_ns {
            continue;
        }
        let first = *first.get_or_insert(number);
        slots.push(Slot {
            start_ns: u64::try_from((number - first) * length_ns).unwrap_or(u64::MAX),
            duration_ns,
            intervals: filling.intervals,
        });
    }
    slots
}

/// Both lists must be sorted and free of overlaps.
fn intersection(a: &[(i128, i128)], b: &[(i128, i128)]) -> Vec<(i128, i128)> {
    let (mut in_a, mut in_b) = (0, 0);
    let mut both = Vec::new();
    while let (Some(&(from_a, to_a)), Some(&(from_b, to_b))) = (a.get(in_a), b.get(in_b)) {
        let (from, to) = (from_a.max(from_b), to_a.min(to_b));
        if from < to {
            both.push((from, to));
        }
        match to_a < to_b {
            true => in_a += 1,
            false => in_b += 1,
        }
    }
    both
}

fn is_within(span: &Span, common: &[(i128, i128)], slack_ns: i128) -> bool {
    // The first time that ends after the span's start, slack aside.
    let at = common.partition_point(|(_, to)| *to + slack_ns < span.to_ns);
    common
        .get(at)
        .is_some_and(|(from, to)| from - slack_ns <= span.from_ns && span.to_ns <= to + slack_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn intervals(lengths_ns: &[u64]) -> Vec<Interval> {
        let mut start_ns = 0;
        let interval = |&duration_ns: &u64| {
            let interval = Interval {
                start_ns,
                duration_ns,
                ..Interval::default()
            };
            start_ns = start_ns.saturating_add(duration_ns);
            interval
        };
        lengths_ns.iter().map(interval).collect()
    }

    fn lane(from_ns: u64, lengths_ns: &[u64]) -> Lane {
        Lane::new(from_ns, &intervals(lengths_ns), &[])
    }

    /// The intervals of each lane that count, slot by slot.
    fn counted(lanes: &[Lane]) -> Vec<Vec<usize>> {
        let slots = common_slots(lanes);
        let of_lane = |lane: usize| {
            let all = slots.iter().flat_map(|slot| &slot.intervals[lane]);
            all.copied().collect()
        };
        (0..lanes.len()).map(of_lane).collect()
    }

    #[test]
    fn hosts_that_begin_together_lose_nothing_to_a_skew_of_milliseconds() {
        for skew_ns in [0, 1, 9_999_999] {
            let lanes = [lane(100 * S, &[S; 5]), lane(100 * S + skew_ns, &[S; 5])];
            let all: Vec<usize> = (0..5).collect();
            assert_eq!(counted(&lanes), [all.clone(), all], "{skew_ns}");
        }
    }

    #[test]
    fn only_intervals_within_the_time_of_all_count() {
        // The second begins 3 s later and ends 3 s later; the third is shorter.
        let lanes = [
            lane(100 * S, &[S; 10]),
            lane(103 * S, &[S; 10]),
            lane(102 * S, &[S; 6]),
        ];
        assert_eq!(
            counted(&lanes),
            [
                vec![3, 4, 5, 6, 7],
                vec![0, 1, 2, 3, 4],
                vec![1, 2, 3, 4, 5]
            ]
        );
    }

    #[test]
    fn an_interval_that_another_host_measured_in_part_does_not_count() {
        // 0.4 s apart: the second does not cover the first one's edge intervals.
        let lanes = [lane(0, &[S; 5]), lane(4 * S / 10, &[S; 5])];
        // The remainder goes with its nearest neighbour.
        assert_eq!(counted(&lanes), [vec![1, 2, 3], vec![1, 2, 3]]);
        // 0.6 s apart: the other neighbour is nearer.
        let lanes = [lane(0, &[S; 5]), lane(6 * S / 10, &[S; 5])];
        assert_eq!(counted(&lanes), [vec![1, 2, 3, 4], vec![0, 1, 2, 3]]);
    }

    #[test]
    fn hosts_without_common_time_have_no_slots() {
        assert!(common_slots(&[lane(0, &[S; 5]), lane(5 * S, &[S; 5])]).is_empty());
        assert!(common_slots(&[lane(0, &[S; 5]), lane(0, &[])]).is_empty());
        assert!(common_slots(&[]).is_empty());
    }

    #[test]
    fn a_short_last_interval_counts_where_all_have_it() {
        let lanes = [lane(0, &[S, S, S / 2]), lane(0, &[S, S, S / 2])];
        let slots = common_slots(&lanes);
        let durations: Vec<u64> = slots.iter().map(|slot| slot.duration_ns).collect();
        assert_eq!(durations, [S, S, S / 2]);
        // Interrupted at different moments.
        let lanes = [lane(0, &[S, S, S / 2]), lane(0, &[S, S, S / 3])];
        assert_eq!(common_slots(&lanes).len(), 2);
    }

    #[test]
    fn a_pause_of_one_host_takes_its_time_from_all() {
        let pause = Pause {
            at_ns: 3 * S + S / 2,
            duration_ns: 2 * S,
        };
        let stopped = Lane::new(0, &intervals(&[S; 8]), &[pause]);
        let lanes = [lane(0, &[S; 8]), stopped];
        // The paused one measured until 3.5 s and from 5.5 s on: its intervals 4 and 5
        // are those of seconds 6 and 7.
        assert_eq!(counted(&lanes), [vec![0, 1, 2, 6, 7], vec![0, 1, 2, 4, 5]]);
    }

    #[test]
    fn joined_intervals_are_met_by_as_many_of_the_others() {
        let lanes = [lane(0, &[2 * S; 3]), lane(0, &[S; 6])];
        let slots = common_slots(&lanes);
        assert_eq!(slots.len(), 3);
        assert_eq!(slots[1].intervals, [vec![1], vec![2, 3]]);
        assert_eq!(slots[2].start_ns, 4 * S);
    }

    #[test]
    fn times_that_no_clock_shows_do_no_harm() {
        let far = lane(u64::MAX, &[u64::MAX, 5]);
        assert!(common_slots(&[far.clone(), lane(0, &[S; 2])]).is_empty());
        assert_eq!(common_slots(&[far]).len(), 1);
    }
}
