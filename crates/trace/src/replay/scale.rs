//! Scales a recorded load in the two ways in which it can grow: more users, or the same users
//! faster. They are different loads, with different answers.

use super::recording::{RecordedRequest, Recording};
use crate::model::Request;
use std::collections::BTreeMap;
use stripewise_stats::Random;

/// Multiple of the run's length that a closed load takes from a recording: on a faster disk it gets
/// further.
const CLOSED_TIMES: u64 = 5;

/// The part of a recording, its multiplicity, and its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Superposed copies. For a fractional copy each operation is included with that probability;
    /// for a closed load, that share of its tasks.
    pub copies: f64,
    /// Factor by which the recording's time is accelerated.
    pub speed: f64,
    /// Where in the recording the first copy begins. Others begin at offsets drawn from the seed.
    pub from_ns: u64,
    /// Length of the load. The recording restarts where it ends.
    pub length_ns: u64,
    /// For the offsets of the copies, and for thinning.
    pub seed: u64,
}

/// One operation of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledRequest {
    /// Time, kind and location. For an operation of a closed load that waits for another: the time
    /// after that one's completion.
    pub request: Request,
    /// How long it took in the recording, scaled to the speed.
    pub lasted_ns: Option<u64>,
    /// Its copy.
    pub copy: u16,
    /// For a closed load: the operation that it waits for.
    pub after: Option<u32>,
}

impl Scale {
    fn speed(&self) -> f64 {
        if self.speed > 0.0 { self.speed } else { 1.0 }
    }

    /// Whole copies, and the fraction of the last.
    fn shares(&self) -> impl Iterator<Item = f64> {
        let copies = if self.copies > 0.0 {
            self.copies.min(65_535.0)
        } else {
            0.0
        };
        let whole = copies as usize;
        let rest = copies - whole as f64;
        let shares = std::iter::repeat_n(1.0, whole);
        shares.chain((rest > 0.0).then_some(rest))
    }

    /// Where each copy begins.
    fn starts(&self, duration_ns: u64, random: &mut Random) -> Vec<(f64, u64)> {
        let starts = self.shares().enumerate().map(|(copy, share)| {
            let shift_ns = match copy {
                0 => 0,
                _ => (random.uniform() * duration_ns as f64) as u64,
            };
            (
                share,
                self.from_ns.saturating_add(shift_ns) % duration_ns.max(1),
            )
        });
        starts.collect()
    }

    /// Approximate number of operations of an open load.
    pub fn operations(&self, recording: &Recording) -> f64 {
        let rate = recording.requests.len() as f64 / recording.duration_ns() as f64;
        rate * self.copies.max(0.0) * self.speed() * self.length_ns as f64
    }

    /// The load as an open one, in the order of arrival.
    pub fn open(&self, recording: &Recording) -> Vec<ScaledRequest> {
        let mut random = Random::new(self.seed);
        let speed = self.speed();
        let part_ns = (self.length_ns as f64 * speed) as u64;
        let mut all = Vec::new();
        let starts = self.starts(recording.duration_ns(), &mut random);
        for (copy, (share, from_ns)) in starts.into_iter().enumerate() {
            for (at_ns, one) in circular(recording, from_ns, part_ns) {
                if share < 1.0 && random.uniform() >= share {
                    continue;
                }
                all.push(ScaledRequest {
                    request: Request {
                        at_ns: (at_ns as f64 / speed) as u64,
                        ..one.request
                    },
                    lasted_ns: one.lasted_ns.map(|ns| (ns as f64 / speed) as u64),
                    copy: copy as u16,
                    after: None,
                });
            }
        }
        all.sort_by_key(|one| one.request.at_ns);
        all
    }

    /// The load as a closed one: each operation waits for the one of its own task that completed
    /// last before it was issued, plus the recorded delay. Each comes after the one it waits for.
    pub fn closed(&self, recording: &Recording) -> Vec<ScaledRequest> {
        let mut random = Random::new(self.seed);
        // A whole recording twice: on an even faster disk it ends early.
        let most_ns = (recording.duration_ns()).max(self.length_ns.saturating_mul(2));
        let part_ns = (self.length_ns.saturating_mul(CLOSED_TIMES)).min(most_ns);
        let mut tasks: Vec<u32> = recording.requests.iter().map(|one| one.task).collect();
        tasks.sort_unstable();
        tasks.dedup();
        let mut all: Vec<ScaledRequest> = Vec::new();
        let starts = self.starts(recording.duration_ns(), &mut random);
        for (copy, (share, from_ns)) in starts.into_iter().enumerate() {
            random.shuffle(&mut tasks);
            let count = (share * tasks.len() as f64).round() as usize;
            let mut own: Vec<u32> = tasks[..count].to_vec();
            own.sort_unstable();
            let mut chains: BTreeMap<u32, Chain> = BTreeMap::new();
            for (at_ns, one) in circular(recording, from_ns, part_ns) {
                if own.binary_search(&one.task).is_err() {
                    continue;
                }
                let chain = chains.entry(one.task).or_default();
                let (after, think_ns) = chain.add(at_ns, one.lasted_ns, all.len() as u32);
                all.push(ScaledRequest {
                    request: Request {
                        at_ns: think_ns,
                        ..one.request
                    },
                    lasted_ns: one.lasted_ns,
                    copy: copy as u16,
                    after,
                });
            }
        }
        all
    }
}

/// A task's operations that may still be waited for.
#[derive(Debug, Default)]
struct Chain {
    /// Completion time in the recording, and number, of each.
    open: Vec<(u64, u32)>,
    last: Option<(u64, u32)>,
}

impl Chain {
    /// An operation issued at `at_ns`: the one it waited for, and the delay after that.
    fn add(&mut self, at_ns: u64, lasted_ns: Option<u64>, number: u32) -> (Option<u32>, u64) {
        let last = &mut self.last;
        self.open.retain(|&(completed_ns, open)| {
            let is_over = completed_ns <= at_ns;
            if is_over && last.is_none_or(|(last_ns, _)| completed_ns >= last_ns) {
                *last = Some((completed_ns, open));
            }
            !is_over
        });
        self.open
            .push((at_ns.saturating_add(lasted_ns.unwrap_or(0)), number));
        match self.last {
            Some((completed_ns, after)) => (Some(after), at_ns - completed_ns),
            None => (None, at_ns),
        }
    }
}

/// `length_ns` of a recording that restarts where it ends, from `from_ns`; times count from there.
fn circular(
    recording: &Recording,
    from_ns: u64,
    length_ns: u64,
) -> impl Iterator<Item = (u64, &RecordedRequest)> {
    let requests = &recording.requests;
    let duration_ns = recording.duration_ns();
    let first = requests.partition_point(|one| one.request.at_ns < from_ns);
    let rounds = (0u64..).flat_map(move |round| {
        let skipped = if round == 0 { first } else { 0 };
        requests[skipped..].iter().map(move |one| {
            let at_ns = round
                .saturating_mul(duration_ns)
                .saturating_add(one.request.at_ns);
            (at_ns.saturating_sub(from_ns), one)
        })
    });
    rounds.take_while(move |(at_ns, _)| *at_ns < length_ns)
}
