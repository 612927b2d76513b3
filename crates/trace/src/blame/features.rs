//! Numbers that the rules use. All of it is available to a recorder: stage times, the issuing task,
//! flushes.

use super::scene::Scene;
use crate::event::Flags;
use crate::operation::Operation;
use crate::tasks::TaskId;
use std::collections::BTreeMap;
use stripewise_stats::{Quantile, median, quantile};
use stripewise_units::Kind;

/// Stages: held; tag and scheduler; device; wake-up.
pub(super) const STAGES: usize = 4;
pub(super) const HELD: usize = 0;
pub(super) const QUEUE: usize = 1;
pub(super) const DEVICE: usize = 2;
pub(super) const WAKEUP: usize = 3;

/// Operations in flight from which a constant completion rate indicates a cap.
const FULL_DEPTH: usize = 8;
/// Fewest full bins for a constant rate.
const FULL_BINS_MIN: usize = 10;
/// Width of a bin in mean gaps.
const BIN_GAPS: f64 = 20.0;

/// One slow operation.
pub(crate) struct Slow {
    /// Its index among the operations.
    pub index: usize,
    /// The stage with most of its excess.
    pub stage: usize,
}

/// Statistics of one part of the capture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    /// Own completions per second.
    pub rate: f64,
    /// Own operations at the device as seen by arrivals, on average.
    pub depth: f64,
    /// Completions of others per second.
    pub others: f64,
    /// Flushes per second.
    pub flushes: f64,
}

/// Bins of the other part with at least eight in flight at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullBins {
    /// Variance over mean of the completions in a bin.
    pub completions: f64,
    /// The same of the operations that began in it.
    pub arrivals: f64,
    /// Completions per second.
    pub rate: f64,
}

/// See the fields.
pub(crate) struct Features {
    pub slow_ns: f64,
    pub slow: Vec<Slow>,
    /// Own operations in the part that is not calm.
    pub own_operations: usize,
    /// Shares of the summed excess in each stage.
    pub(super) shares: [f64; STAGES],
    /// Whether some own operation has a time above the block layer.
    pub(super) knows_calls: bool,
    pub(super) calm: Part,
    pub(super) other: Part,
    /// Share of own reads and synchronous writes queued by a kernel worker.
    pub(super) deferred: f64,
    /// Share of own completions made by kernel threads.
    pub(super) by_thread: f64,
    /// R of the own load: 1 if it issues one at a time.
    pub(super) per_slot: f64,
    /// Share of slow and of other operations concurrent with a flush.
    pub(super) beside_flush: [f64; 2],
    /// Share of the time with a flush in flight.
    pub(super) flushing: f64,
    /// None for fewer than ten such bins.
    pub(super) full_bins: Option<FullBins>,
    /// Share of own operations that took at most 1.2 calm medians at the device.
    pub(super) quick: f64,
    /// Median at the device relative to the calm one.
    pub(super) median_ratio: f64,
    /// Median and 97 % quantile at the device relative to the calm ones, at depths that calm parts
    /// have, and without a flush; None for fewer than 30 operations.
    pub(super) at_calm_depth: Option<(f64, f64)>,
    /// The other task whose rate grew most, and the one that flushed most.
    pub(super) busiest_other: TaskId,
    pub(super) busiest_flusher: TaskId,
}

/// An operation of the own load, in nanoseconds.
#[derive(Clone, Copy)]
struct Own {
    index: usize,
    is_calm: bool,
    whole: f64,
    stages: [f64; STAGES],
    start: u64,
    end: u64,
}

fn stages_of(operation: &Operation) -> [f64; STAGES] {
    let stages = operation.stages();
    let ns = |stage: Option<u64>| stage.unwrap_or(0) as f64;
    let queue = ns(stages.tag) + ns(stages.scheduler);
    // If the start is unknown, the time between arrival and issue counts as queueing.
    let queue = match (stages.scheduler, operation.issued_ns) {
        (None, Some(issued)) => issued.saturating_sub(operation.arrived_ns) as f64,
        _ => queue,
    };
    [ns(stages.held), queue, ns(stages.device), ns(stages.wakeup)]
}

/// Sorted start and end times: the number of operations in flight at a time.
#[derive(Default)]
struct InFlight {
    starts: Vec<u64>,
    ends: Vec<u64>,
}

impl InFlight {
    fn new(intervals: impl Iterator<Item = (u64, u64)>) -> Self {
        let (mut starts, mut ends): (Vec<u64>, Vec<u64>) = intervals.unzip();
        starts.sort_unstable();
        ends.sort_unstable();
        InFlight { starts, ends }
    }

    /// Started before `at`, and not ended by then.
    fn at(&self, at: u64) -> usize {
        let begun = self.starts.partition_point(|&start| start < at);
        begun.saturating_sub(self.ends.partition_point(|&end| end <= at))
    }

    /// Whether any of them is in [from, to].
    fn any_between(&self, from: u64, to: u64) -> bool {
        let begun = self.starts.partition_point(|&start| start <= to);
        begun > self.ends.partition_point(|&end| end < from)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    sum / count.max(1) as f64
}

fn share(values: impl Iterator<Item = bool>) -> f64 {
    mean(values.map(|one| f64::from(u8::from(one))))
}

impl Features {
    pub fn new(operations: &[Operation], scene: &Scene<'_>) -> Self {
        let is_own = |one: &Operation| one.kind != Kind::Sync && (scene.is_own)(one);
        let mut own = Vec::new();
        for (index, one) in operations.iter().enumerate().filter(|(_, one)| is_own(one)) {
            let Some(end) = one.completed_ns else {
                continue;
            };
            own.push(Own {
                index,
                is_calm: (scene.is_calm)(one.entered_ns.unwrap_or(one.arrived_ns)),
                whole: one.whole_ns().unwrap_or(0) as f64,
                stages: stages_of(one),
                start: one.issued_or_arrived_ns(),
                end,
            });
        }
        let (slow_ns, slow, shares) = slow_of(&own, scene.slow_ns);
        let flushes = of_kind(operations, true);
        let own_flight = InFlight::new(own.iter().map(|one| (one.start, one.end)));
        let all_flight = InFlight::new(of_kind(operations, false));
        let flight = InFlight::new(flushes);
        let busy = own.iter().filter(|one| !one.is_calm);
        let part = |is_calm: bool, ns: u64| part(operations, scene, &own, &own_flight, is_calm, ns);
        let calm_device = median_of(&own, true, |one| one.stages[DEVICE]).unwrap_or(0.0);
        let device = median_of(&own, false, |one| one.stages[DEVICE]).unwrap_or(0.0);
        let (busiest_other, busiest_flusher) = who(operations, scene);
        let direct = |one: &&Own| {
            let operation = &operations[one.index];
            operation.kind == Kind::Read || operation.flags.has(Flags::SYNC)
        };
        let has = |one: &Own, flag: Flags| operations[one.index].flags.has(flag);
        Features {
            slow_ns,
            own_operations: busy.clone().count(),
            shares,
            knows_calls: own
                .iter()
                .any(|one| operations[one.index].entered_ns.is_some()),
            calm: part(true, scene.calm_ns),
            other: part(false, scene.other_ns),
            deferred: share(
                busy.clone()
                    .filter(direct)
                    .map(|one| has(one, Flags::DEFERRED)),
            ),
            by_thread: share(busy.clone().map(|one| has(one, Flags::COMPLETED_BY_THREAD))),
            per_slot: per_slot(&own, &own_flight),
            beside_flush: beside_flush(&own, &slow, &flight),
            flushing: flushing(operations, scene),
            full_bins: full_bins(&all_flight, scene),
            quick: share(busy.map(|one| one.stages[DEVICE] < 1.2 * calm_device)),
            median_ratio: device / calm_device.max(1.0),
            at_calm_depth: at_calm_depth(&own, &all_flight, &flight),
            busiest_other,
            busiest_flusher,
            slow,
        }
    }
}

fn median_of(own: &[Own], is_calm: bool, of: impl Fn(&Own) -> f64) -> Option<f64> {
    let part = own.iter().filter(|one| one.is_calm == is_calm);
    median(&part.map(of).collect::<Vec<f64>>())
}

/// The threshold for slow operations, which ones are slow, and where their excess is.
fn slow_of(own: &[Own], limit_ns: Option<u64>) -> (f64, Vec<Slow>, [f64; STAGES]) {
    let calm: Vec<f64> = own
        .iter()
        .filter(|one| one.is_calm)
        .map(|one| one.whole)
        .collect();
    let usual = median(&calm).unwrap_or(f64::INFINITY);
    let p99 = quantile(&calm, 0.99, Quantile::Linear).unwrap_or(f64::INFINITY);
    let slow_ns = limit_ns.map_or((3.0 * usual).max(p99), |limit| limit as f64);
    let medians: Vec<f64> = (0..STAGES)
        .map(|stage| median_of(own, true, |one| one.stages[stage]).unwrap_or(0.0))
        .collect();
    let mut shares = [0.0; STAGES];
    let mut slow = Vec::new();
    for one in own.iter().filter(|one| !one.is_calm && one.whole > slow_ns) {
        let mut largest = (DEVICE, f64::NEG_INFINITY);
        for stage in 0..STAGES {
            let excess = one.stages[stage] - medians[stage];
            shares[stage] += excess.max(0.0);
            if excess > largest.1 {
                largest = (stage, excess);
            }
        }
        let index = one.index;
        slow.push(Slow {
            index,
            stage: largest.0,
        });
    }
    let sum: f64 = shares.iter().sum();
    (slow_ns, slow, shares.map(|share| share / sum.max(1.0)))
}

/// Intervals at the device of flushes, or of everything else.
fn of_kind(operations: &[Operation], is_flush: bool) -> impl Iterator<Item = (u64, u64)> {
    let kind = move |one: &&Operation| (one.kind == Kind::Sync) == is_flush;
    let of_kind = operations.iter().filter(kind);
    of_kind.filter_map(|one| Some((one.issued_or_arrived_ns(), one.completed_ns?)))
}

fn part(
    operations: &[Operation],
    scene: &Scene<'_>,
    own: &[Own],
    flight: &InFlight,
    is_calm: bool,
    ns: u64,
) -> Part {
    let here = |at: u64| (scene.is_calm)(at) == is_calm;
    let per_second = |count: usize| count as f64 * 1e9 / ns.max(1) as f64;
    let others = operations
        .iter()
        .filter(|one| one.kind != Kind::Sync && !(scene.is_own)(one) && here(one.arrived_ns));
    let flushes = operations
        .iter()
        .filter(|one| one.kind == Kind::Sync && here(one.arrived_ns));
    let arrived = own.iter().filter(|one| one.is_calm == is_calm);
    Part {
        rate: per_second(own.iter().filter(|one| here(one.end)).count()),
        depth: mean(arrived.map(|one| flight.at(one.start) as f64)),
        others: per_second(others.count()),
        flushes: per_second(flushes.count()),
    }
}

/// One minus the depth seen by arrivals over the mean depth over time.
fn per_slot(own: &[Own], flight: &InFlight) -> f64 {
    if own.is_empty() {
        return 0.0;
    }
    let seen = mean(own.iter().map(|one| flight.at(one.start) as f64));
    let busy: f64 = own
        .iter()
        .map(|one| one.end.saturating_sub(one.start) as f64)
        .sum();
    let starts = own.iter().map(|one| one.start);
    let span = starts.clone().max().unwrap_or(0) - starts.min().unwrap_or(0);
    1.0 - seen / (busy / span.max(1) as f64).max(1e-9)
}

fn beside_flush(own: &[Own], slow: &[Slow], flight: &InFlight) -> [f64; 2] {
    let is_slow: std::collections::HashSet<usize> = slow.iter().map(|one| one.index).collect();
    let busy = own.iter().filter(|one| !one.is_calm);
    let (slow, rest): (Vec<&Own>, Vec<&Own>) = busy.partition(|one| is_slow.contains(&one.index));
    let beside = share(
        slow.iter()
            .map(|one| flight.any_between(one.start, one.end)),
    );
    if slow.is_empty() || rest.len() <= 20 {
        return [beside, 1.0];
    }
    // As long a look-back as for the slow ones, or chance alone would favour them.
    let looks: Vec<f64> = slow.iter().map(|one| one.stages[DEVICE]).collect();
    let look = median(&looks).unwrap_or(0.0) as u64;
    let other = share(
        rest.iter()
            .map(|one| flight.any_between(one.start, one.start.saturating_add(look))),
    );
    [beside, other]
}

/// The share of the non-calm part with a flush in flight.
fn flushing(operations: &[Operation], scene: &Scene<'_>) -> f64 {
    let mut intervals: Vec<(u64, u64)> = of_kind(operations, true)
        .filter(|one| !(scene.is_calm)(one.0))
        .collect();
    intervals.sort_unstable();
    let (mut covered, mut end) = (0, 0);
    for (from, to) in intervals {
        covered += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    covered as f64 / scene.other_ns.max(1) as f64
}

/// Regularity of completions, and of arrivals, while the device is full.
fn full_bins(flight: &InFlight, scene: &Scene<'_>) -> Option<FullBins> {
    let ends = flight.ends.iter().copied();
    let ends: Vec<u64> = ends.filter(|&end| !(scene.is_calm)(end)).collect();
    let (first, last) = (*ends.first()?, *ends.last()?);
    let width = BIN_GAPS * (last - first) as f64 / ends.len() as f64;
    if width < 1.0 {
        return None;
    }
    let edge = |bin: usize| first.saturating_add((bin as f64 * width) as u64);
    let bins = ((last - first) as f64 / width) as usize;
    let is_full =
        |bin: usize| flight.at(edge(bin)) >= FULL_DEPTH && flight.at(edge(bin + 1)) >= FULL_DEPTH;
    let within = |sorted: &[u64], bin: usize| {
        let before = |end: u64| sorted.partition_point(|&at| at < end);
        (before(edge(bin + 1)) - before(edge(bin))) as f64
    };
    let full: Vec<usize> = (0..bins)
        .filter(|&bin| is_full(bin) && !(scene.is_calm)(edge(bin)))
        .collect();
    if full.len() < FULL_BINS_MIN {
        return None;
    }
    let completed: Vec<f64> = full.iter().map(|&bin| within(&ends, bin)).collect();
    let begun: Vec<f64> = full
        .iter()
        .map(|&bin| within(&flight.starts, bin))
        .collect();
    let average = mean(completed.iter().copied());
    (average > 0.0).then(|| FullBins {
        completions: dispersion(&completed),
        arrivals: dispersion(&begun),
        rate: average * 1e9 / width,
    })
}

/// Variance over mean: 1 if they come by chance.
fn dispersion(counts: &[f64]) -> f64 {
    let average = mean(counts.iter().copied());
    let squares = counts
        .iter()
        .map(|count| (count - average) * (count - average));
    mean(squares) / average
}

fn at_calm_depth(own: &[Own], all: &InFlight, flushes: &InFlight) -> Option<(f64, f64)> {
    let depth = |one: &Own| all.at(one.start) as f64;
    let calm: Vec<f64> = own.iter().filter(|one| one.is_calm).map(depth).collect();
    let most = quantile(&calm, 0.9, Quantile::Linear)?.max(1.0);
    let times = |is_calm: bool| -> Vec<f64> {
        let part = own.iter().filter(|one| one.is_calm == is_calm);
        let like =
            part.filter(|one| depth(one) <= most && !flushes.any_between(one.start, one.end));
        like.map(|one| one.stages[DEVICE]).collect()
    };
    let (before, now) = (times(true), times(false));
    let ratio = |share: f64| {
        let of = |times: &[f64]| quantile(times, share, Quantile::Linear);
        Some(of(&now)? / of(&before)?.max(1.0))
    };
    (now.len() >= 30).then(|| Some((ratio(0.5)?, ratio(0.97)?)))?
}

/// The other task that grew most, and the task that flushed most, in the non-calm part.
fn who(operations: &[Operation], scene: &Scene<'_>) -> (TaskId, TaskId) {
    let mut others: BTreeMap<TaskId, f64> = BTreeMap::new();
    let mut flushers: BTreeMap<TaskId, f64> = BTreeMap::new();
    let weight = |at: u64| {
        let ns = if (scene.is_calm)(at) {
            scene.calm_ns
        } else {
            scene.other_ns
        };
        let sign = if (scene.is_calm)(at) { -1.0 } else { 1.0 };
        sign / ns.max(1) as f64
    };
    for one in operations {
        let into = match one.kind {
            Kind::Sync => &mut flushers,
            _ if (scene.is_own)(one) => continue,
            _ => &mut others,
        };
        *into.entry(one.task).or_default() += weight(one.arrived_ns);
    }
    let most = |tasks: &BTreeMap<TaskId, f64>| {
        let most = tasks.iter().max_by(|one, other| one.1.total_cmp(other.1));
        most.map_or(TaskId::UNKNOWN, |(task, _)| *task)
    };
    (most(&others), most(&flushers))
}
