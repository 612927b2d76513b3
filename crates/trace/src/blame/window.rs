//! Operations retained for judging, in bounded memory: all of a short recording; of a long one the
//! fastest and the slowest stretches, because calm and slow parts are compared.

use super::{Blame, CALM_SHARE_MIN, Cause, Scene, blame, calm_periods};
use crate::event::Flags;
use crate::operation::Operation;
use crate::tasks::{TaskId, Tasks};
use std::collections::{BTreeMap, BTreeSet};
use stripewise_stats::median;
use stripewise_units::{DeviceNumber, Kind};

/// Most operations retained, about 40 MiB.
const OPERATIONS_MAX: usize = 1 << 18;
/// For one stretch; more are dropped.
const PER_STRETCH_MAX: usize = OPERATIONS_MAX / 4;
/// Most separate stretches; with more, two are merged.
const STRETCHES_MAX: usize = 4_096;
/// Their initial width.
const WIDTH_NS: u64 = 100_000_000;
/// Mean operations per period, if the recording has enough.
const PERIOD_OPERATIONS: usize = 50;
/// An active control group passes on at least one operation in each of its slices, of a tenth of a
/// second or less: one in this many of a period reveals it.
const HELD_BACK_ONE_IN: u64 = 50;
/// The rate is at a limit within this range of it.
const AT_LIMIT: std::ops::Range<f64> = 0.9..1.2;
/// Fewest periods that show it.
const HELD_BACK_PERIODS_MIN: usize = 5;
/// With a limit, a period is calm up to this share of operations above it.
const CALM_ABOVE_LIMIT_MAX: f64 = 0.01;

/// Operations retained for judging.
#[derive(Debug)]
pub struct BlameWindow {
    width_ns: u64,
    stretches: BTreeMap<u64, Vec<Operation>>,
    /// Stretches dropped to save memory.
    dropped: BTreeSet<u64>,
    count: usize,
    total: u64,
}

impl Default for BlameWindow {
    fn default() -> Self {
        BlameWindow {
            width_ns: WIDTH_NS,
            stretches: BTreeMap::new(),
            dropped: BTreeSet::new(),
            count: 0,
            total: 0,
        }
    }
}

/// Facts besides the operations; see [`Scene`].
pub struct WindowFacts<'a> {
    /// The tasks.
    pub tasks: &'a Tasks,
    /// The name of the load that a task belongs to; None: tasks with the same name are one load.
    pub load_of: Option<&'a dyn Fn(TaskId) -> Option<String>>,
    /// The tasks of the load in question; None: on each device those with the name that has the
    /// most operations during calm periods.
    pub own: Option<&'a dyn Fn(TaskId) -> bool>,
    /// Threshold for slow; None: derived from the calm part.
    pub slow_ns: Option<u64>,
    /// The share of lost events.
    pub lost_share: f64,
    /// Share of the time between two moments in which some task waited for a processor; None if
    /// unknown.
    pub processor_pressure: &'a dyn Fn(u64, u64) -> Option<f64>,
    /// Limits of control groups on a device; None if unknown, and then no group is blamed. If
    /// nothing is limited, operations queued by kernel workers come from a loop device or
    /// encryption.
    pub limits: &'a dyn Fn(DeviceNumber) -> Option<Vec<ConfiguredLimit>>,
}

/// A control group's limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfiguredLimit {
    /// Of reads or of writes.
    pub kind: Kind,
    /// In bytes; otherwise in operations.
    pub is_bytes: bool,
    /// Limit per second.
    pub per_second: f64,
}

/// The verdict on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceBlame {
    /// The device.
    pub device: DeviceNumber,
    /// The name of the load that was judged; None if the source names none, or if the caller chose
    /// the tasks.
    pub own: Option<String>,
    /// The judgement.
    pub blame: Blame,
    /// Time that had operations and was judged, nanoseconds.
    pub judged_ns: u64,
    /// The calm part of that.
    pub calm_ns: u64,
}

impl BlameWindow {
    /// Adds an operation.
    pub fn add(&mut self, operation: &Operation) {
        self.total += 1;
        let stretch = operation.arrived_ns / self.width_ns;
        if self.dropped.contains(&stretch) {
            return;
        }
        let here = self.stretches.entry(stretch).or_default();
        if here.len() >= PER_STRETCH_MAX {
            return;
        }
        here.push(*operation);
        self.count += 1;
        while self.stretches.len() + self.dropped.len() > STRETCHES_MAX {
            self.widen();
        }
        if self.count > OPERATIONS_MAX {
            self.thin();
        }
    }

    /// The share of operations still retained, 0 to 1.
    pub fn kept_share(&self) -> f64 {
        self.count as f64 / self.total.max(1) as f64
    }

    /// Merges pairs of stretches; if one of a pair was dropped, both go.
    fn widen(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        self.dropped = self.dropped.iter().map(|stretch| stretch / 2).collect();
        let mut wider: BTreeMap<u64, Vec<Operation>> = BTreeMap::new();
        for (stretch, operations) in std::mem::take(&mut self.stretches) {
            if !self.dropped.contains(&(stretch / 2)) {
                wider.entry(stretch / 2).or_default().extend(operations);
            }
        }
        self.count = wider.values().map(Vec::len).sum();
        self.stretches = wider;
    }

    /// Drops the stretches in the middle, by median latency, until half are left. The one being
    /// filled stays.
    fn thin(&mut self) {
        let now = self.stretches.keys().next_back().copied();
        let ranked = self.stretches.iter().map(|(stretch, operations)| {
            let whole = operations.iter().filter_map(Operation::whole_ns);
            let latencies: Vec<f64> = whole.map(|ns| ns as f64).collect();
            (median(&latencies).unwrap_or(0.0), *stretch)
        });
        let mut ranked: Vec<(f64, u64)> = ranked.collect();
        ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
        let middle = ranked.len() / 2;
        // From the middle outwards: 0, 1, -1, 2, -2, ...
        let outwards = (0..ranked.len()).filter_map(|k| match k % 2 {
            0 => middle.checked_sub(k / 2),
            _ => Some(middle + k / 2 + 1),
        });
        for place in outwards {
            if self.count <= OPERATIONS_MAX / 2 {
                break;
            }
            let Some(&(_, stretch)) = ranked.get(place) else {
                continue;
            };
            if Some(stretch) != now
                && let Some(gone) = self.stretches.remove(&stretch)
            {
                self.count -= gone.len();
                self.dropped.insert(stretch);
            }
        }
    }

    /// Judges each device, the busiest first.
    pub fn judge(&self, facts: &WindowFacts<'_>) -> Vec<DeviceBlame> {
        let mut by_device: BTreeMap<DeviceNumber, Vec<Operation>> = BTreeMap::new();
        for operation in self.stretches.values().flatten() {
            let of_device = by_device.entry(operation.device).or_default();
            let is_free = (facts.limits)(operation.device).is_some_and(|all| all.is_empty());
            of_device.push(match is_free {
                false => *operation,
                true => Operation {
                    flags: operation.flags.without(Flags::DEFERRED),
                    ..*operation
                },
            });
        }
        let mut devices: Vec<(DeviceNumber, Vec<Operation>)> = by_device.into_iter().collect();
        devices.sort_by_key(|(_, operations)| usize::MAX - operations.len());
        let judged = devices.into_iter().map(|(device, mut operations)| {
            operations.sort_by_key(|one| one.arrived_ns);
            self.judge_device(device, &operations, facts)
        });
        judged.collect()
    }

    /// The length of the periods classified as calm or not.
    fn period_ns(&self, operations: usize) -> u64 {
        if !self.dropped.is_empty() || operations == 0 {
            return self.width_ns;
        }
        let stretches = self.stretches.len();
        let factors = [1, 2, 5, 10, 20, 50, 100];
        let is_enough = |factor: &usize| operations * factor >= PERIOD_OPERATIONS * stretches;
        let factor = factors.into_iter().find(is_enough).unwrap_or(100);
        self.width_ns.saturating_mul(factor as u64)
    }

    fn judge_device(
        &self,
        device: DeviceNumber,
        operations: &[Operation],
        facts: &WindowFacts<'_>,
    ) -> DeviceBlame {
        let period_ns = self.period_ns(operations.len());
        let all: BTreeSet<u64> = operations
            .iter()
            .map(|one| one.arrived_ns / period_ns)
            .collect();
        let mut calm = calm_of(operations, period_ns, facts.slow_ns);
        let held_back = held_back_periods(operations, period_ns);
        calm.retain(|period| !held_back.contains(period));
        if calm.len() == all.len() {
            // Nothing to compare: a constant condition is judged over the whole time.
            calm.clear();
        }
        let is_calm = |at: u64| calm.contains(&(at / period_ns));
        let loads = loads_of(operations, facts);
        let own = match facts.own {
            Some(_) => None,
            None => busiest_load(operations, &loads, &is_calm),
        };
        let is_own = |one: &Operation| {
            // The task it was queued for by a kernel worker is unknown: it may belong to this load.
            is_held_back(one)
                || match (facts.own, &own) {
                    (Some(is_own), _) => is_own(one.task),
                    (None, Some(name)) => {
                        loads.get(&one.task).and_then(Option::as_ref) == Some(name)
                    }
                    (None, None) => true,
                }
        };
        let pressure = |is_calm: bool| {
            let periods = all.iter().filter(|period| calm.contains(period) == is_calm);
            let shares = periods.filter_map(|period| {
                let from = period * period_ns;
                (facts.processor_pressure)(from, from.saturating_add(period_ns))
            });
            let shares: Vec<f64> = shares.collect();
            let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
            (!shares.is_empty()).then_some(mean)
        };
        let calm_ns = calm.len() as u64 * period_ns;
        let judged_ns = all.len() as u64 * period_ns;
        let scene = Scene {
            is_own: &is_own,
            is_calm: &is_calm,
            calm_ns,
            other_ns: judged_ns - calm_ns,
            slow_ns: facts.slow_ns,
            lost_share: facts.lost_share,
            processor_pressure: pressure(false),
            calm_pressure: pressure(true),
            configured_limit: None,
        };
        let mut blame = blame(operations, &scene);
        if calm_ns > 0 && (calm_ns as f64) < CALM_SHARE_MIN * judged_ns as f64 {
            name_nothing(&mut blame);
        }
        let limits = (facts.limits)(device).unwrap_or_default();
        if limits.is_empty() {
            // File systems and other kernel workers hold operations back as well.
            name_no_group(&mut blame);
        }
        if blame.cause != Cause::Lost && is_at_limit(operations, period_ns, &held_back, &limits) {
            name_group(&mut blame);
        }
        DeviceBlame {
            device,
            blame,
            own,
            judged_ns,
            calm_ns,
        }
    }
}

/// Too little is calm for a comparison.
fn name_nothing(blame: &mut Blame) {
    let is_settled = matches!(
        blame.cause,
        Cause::Lost | Cause::NotSlow | Cause::OneAtATime | Cause::ControlGroup
    );
    if !is_settled {
        blame.cause = Cause::Unknown;
        blame.also.clear();
    }
}

/// The rate is at a limit: the cause named first is secondary.
fn name_group(blame: &mut Blame) {
    blame.also.retain(|cause| *cause != Cause::ControlGroup);
    if !matches!(
        blame.cause,
        Cause::NotSlow | Cause::OneAtATime | Cause::Unknown | Cause::ControlGroup
    ) {
        blame.also.insert(0, blame.cause);
    }
    blame.cause = Cause::ControlGroup;
}

/// Without a known limit, no control group is blamed.
fn name_no_group(blame: &mut Blame) {
    blame.also.retain(|cause| *cause != Cause::ControlGroup);
    let of_shares = blame.shares.iter_mut().map(|share| &mut share.cause);
    for cause in of_shares.chain([&mut blame.cause]) {
        if *cause == Cause::ControlGroup {
            *cause = Cause::Unknown;
        }
    }
}

/// The calm periods: by their medians, or with a limit by operations above it.
fn calm_of(operations: &[Operation], period_ns: u64, slow_ns: Option<u64>) -> BTreeSet<u64> {
    let Some(limit) = slow_ns else {
        let calm = calm_periods(operations, period_ns).into_iter();
        return calm.map(|start| start / period_ns).collect();
    };
    let mut periods: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for one in operations {
        let (all, above) = periods.entry(one.arrived_ns / period_ns).or_default();
        *all += 1;
        *above += u64::from(one.whole_ns().is_some_and(|ns| ns > limit));
    }
    let calm = periods
        .into_iter()
        .filter(|(_, (all, above))| *above as f64 <= CALM_ABOVE_LIMIT_MAX * *all as f64);
    calm.map(|(period, _)| period).collect()
}

/// Queued by a kernel worker, and not write-back from memory: held back by a control group.
fn is_held_back(one: &Operation) -> bool {
    let is_direct = one.kind == Kind::Read || one.flags.has(Flags::SYNC);
    is_direct && one.flags.has(Flags::DEFERRED)
}

/// Periods in which a control group held operations back: their latency at the device does not
/// reflect that.
fn held_back_periods(operations: &[Operation], period_ns: u64) -> BTreeSet<u64> {
    let mut periods: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for one in operations {
        let (all, held) = periods.entry(one.arrived_ns / period_ns).or_default();
        *all += 1;
        *held += u64::from(is_held_back(one));
    }
    let held_back = periods
        .into_iter()
        .filter(|(_, (all, held))| held * HELD_BACK_ONE_IN > *all);
    held_back.map(|(period, _)| period).collect()
}

/// Whether the rate equals a control group's limit while kernel workers queue part of it.
fn is_at_limit(
    operations: &[Operation],
    period_ns: u64,
    held_back: &BTreeSet<u64>,
    limits: &[ConfiguredLimit],
) -> bool {
    if held_back.len() < HELD_BACK_PERIODS_MIN {
        return false;
    }
    // The first and the last period may have begun before the recording, or end behind it.
    let arrived = operations.iter().map(|one| one.arrived_ns);
    let first = arrived.clone().min().unwrap_or(0);
    let last = arrived.max().unwrap_or(u64::MAX);
    let ns = held_back.iter().map(|period| {
        let begun = period.saturating_mul(period_ns);
        let ended = begun.saturating_add(period_ns);
        ended.min(last).saturating_sub(begun.max(first))
    });
    let seconds = ns.sum::<u64>().max(1) as f64 / 1e9;
    limits.iter().any(|limit| {
        let of_kind = operations.iter().filter(|one| {
            one.kind == limit.kind && held_back.contains(&(one.arrived_ns / period_ns))
        });
        let amount = of_kind.map(|one| match limit.is_bytes {
            true => one.size_bytes as f64,
            false => 1.0,
        });
        AT_LIMIT.contains(&(amount.sum::<f64>() / seconds / limit.per_second))
    })
}

/// The name of each task's load. Kernel threads are one load, others are grouped by the caller.
fn loads_of(operations: &[Operation], facts: &WindowFacts<'_>) -> BTreeMap<TaskId, Option<String>> {
    let tasks: BTreeSet<TaskId> = operations.iter().map(|one| one.task).collect();
    let load_of = |task: TaskId| {
        let name = facts.tasks.name(task)?;
        if name.starts_with("kworker") || name.starts_with("jbd2") {
            return Some("the kernel".to_owned());
        }
        match facts.load_of {
            Some(load_of) => load_of(task),
            None => Some(name),
        }
    };
    tasks
        .into_iter()
        .map(|task| (task, load_of(task)))
        .collect()
}

/// The load with the most reads and writes during calm periods; without any, overall.
fn busiest_load(
    operations: &[Operation],
    loads: &BTreeMap<TaskId, Option<String>>,
    is_calm: &dyn Fn(u64) -> bool,
) -> Option<String> {
    let count = |only_calm: bool| {
        let mut counts: BTreeMap<TaskId, u64> = BTreeMap::new();
        for one in operations {
            if one.kind != Kind::Sync && (!only_calm || is_calm(one.arrived_ns)) {
                *counts.entry(one.task).or_default() += 1;
            }
        }
        let mut names: BTreeMap<&String, u64> = BTreeMap::new();
        for (task, operations) in counts {
            *names.entry(loads.get(&task)?.as_ref()?).or_default() += operations;
        }
        let busiest = names.into_iter().max_by_key(|(_, operations)| *operations);
        busiest.map(|(name, _)| name.clone())
    };
    count(true).or_else(|| count(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Comm;

    const MS: u64 = 1_000_000;

    fn read(task: TaskId, at_ns: u64, latency_ns: u64) -> Operation {
        Operation {
            task,
            issued_ns: Some(at_ns),
            completed_ns: Some(at_ns + latency_ns),
            ..Operation::at(at_ns, Kind::Read, at_ns, 4_096)
        }
    }

    fn facts(tasks: &Tasks) -> WindowFacts<'_> {
        WindowFacts {
            tasks,
            load_of: None,
            own: None,
            slow_ns: None,
            lost_share: 0.0,
            processor_pressure: &|_, _| None,
            limits: &|_| None,
        }
    }

    #[test]
    fn the_load_that_is_there_while_it_is_calm_is_judged_and_the_other_one_blamed() {
        let mut tasks = Tasks::default();
        let victim = tasks.id(10, Comm::new(b"postgres"));
        let culprit = tasks.id(11, Comm::new(b"pg_dump"));
        let mut window = BlameWindow::default();
        for k in 0..2_000u64 {
            let is_loaded = (1_000..1_400).contains(&k);
            let latency = if is_loaded { 12 * MS } else { MS + k % 7 };
            window.add(&read(victim, k * 5 * MS, latency));
            if is_loaded {
                for j in 0..4 {
                    window.add(&read(culprit, k * 5 * MS + j * MS, 4 * MS));
                }
            }
        }
        let judged = window.judge(&facts(&tasks));
        assert_eq!(judged[0].own.as_deref(), Some("postgres"));
        let cause = judged[0].blame.cause;
        let by_flushes = false;
        let task = culprit;
        assert_eq!(cause, Cause::OtherProcess { task, by_flushes });
        assert!(judged[0].calm_ns > 0 && judged[0].calm_ns < judged[0].judged_ns);
    }

    #[test]
    fn less_than_one_operation_in_flight_saturates_nothing() {
        let mut window = BlameWindow::default();
        for k in 0..1_000 {
            // Twice the rate, and six times the latency.
            let is_slow = (500..700).contains(&k);
            let latency_ns = if is_slow { 6 * MS } else { MS };
            window.add(&read(TaskId::UNKNOWN, k * 20 * MS, latency_ns));
            if is_slow {
                window.add(&read(TaskId::UNKNOWN, k * 20 * MS + MS, latency_ns));
            }
        }
        let judged = window.judge(&facts(&Tasks::default()));
        let is_intermittent = false;
        assert_eq!(judged[0].blame.cause, Cause::Device { is_intermittent });
    }

    #[test]
    fn what_a_control_group_holds_back_is_seen_by_who_queues_it() {
        let mut tasks = Tasks::default();
        let victim = tasks.id(10, Comm::new(b"postgres"));
        let worker = tasks.id(11, Comm::new(b"kworker/1:2"));
        let mut window = BlameWindow::default();
        for k in 0..2_000u64 {
            let is_held = (1_000..1_200).contains(&k);
            let one = read(
                if is_held { worker } else { victim },
                k * 5 * MS,
                MS + k % 7,
            );
            window.add(&Operation {
                flags: match is_held {
                    true => Flags::DEFERRED,
                    false => Flags::NONE,
                },
                ..one
            });
        }
        let cause = |limits: Option<Vec<ConfiguredLimit>>| {
            let facts = WindowFacts {
                limits: &|_| limits.clone(),
                ..facts(&tasks)
            };
            window.judge(&facts)[0].blame.cause
        };
        let limit = ConfiguredLimit {
            kind: Kind::Read,
            is_bytes: false,
            per_second: 1e6,
        };
        assert_eq!(cause(Some(vec![limit])), Cause::ControlGroup);
        // An unknown limit is not blamed.
        assert_eq!(cause(None), Cause::Unknown);
        // If nothing is limited they come from a loop device, or from encryption.
        assert_eq!(cause(Some(Vec::new())), Cause::OneAtATime);
    }

    #[test]
    fn a_few_that_are_held_back_at_a_configured_rate_show_the_limit() {
        let mut tasks = Tasks::default();
        let victim = tasks.id(10, Comm::new(b"fio"));
        let worker = tasks.id(11, Comm::new(b"kworker/1:2"));
        // One waits for each slice of 100 ms, and the others follow at once.
        let window = |from_ns: u64, slices: u64, per_slice: u64| {
            let mut window = BlameWindow::default();
            for k in 0..slices * per_slice {
                let (slice, within) = (k / per_slice, k % per_slice);
                let is_held = within == 0;
                let at = from_ns + slice * 100 * MS + within * MS / 5;
                let one = read(if is_held { worker } else { victim }, at, MS / 10);
                window.add(&Operation {
                    flags: match is_held {
                        true => Flags::DEFERRED,
                        false => Flags::NONE,
                    },
                    ..one
                });
            }
            window
        };
        let cause = |window: &BlameWindow, per_second: f64| {
            let limit = ConfiguredLimit {
                kind: Kind::Read,
                is_bytes: false,
                per_second,
            };
            let facts = WindowFacts {
                limits: &|_| Some(vec![limit]),
                ..facts(&tasks)
            };
            window.judge(&facts)[0].blame.cause
        };
        let long = window(0, 200, 10);
        assert_eq!(cause(&long, 100.0), Cause::ControlGroup);
        assert_ne!(cause(&long, 1_000.0), Cause::ControlGroup);
        // Five seconds that begin and end in the middle of a period.
        let short = window(500 * MS, 50, 8);
        assert_eq!(cause(&short, 80.0), Cause::ControlGroup);
        assert_ne!(cause(&short, 100.0), Cause::ControlGroup);
    }

    #[test]
    fn what_is_slow_all_the_time_needs_a_limit() {
        let tasks = Tasks::default();
        let mut window = BlameWindow::default();
        for k in 0..1_000u64 {
            window.add(&read(TaskId::UNKNOWN, k * 10 * MS, 9 * MS));
        }
        let cause = |slow_ns| {
            let facts = WindowFacts {
                slow_ns,
                ..facts(&tasks)
            };
            window.judge(&facts)[0].blame.cause
        };
        assert_eq!(cause(None), Cause::OneAtATime);
        let is_intermittent = false;
        assert_eq!(cause(Some(5 * MS)), Cause::Device { is_intermittent });
    }

    #[test]
    fn no_group_is_blamed_for_what_waits_above_the_block_layer_without_a_limit() {
        let tasks = Tasks::default();
        let mut window = BlameWindow::default();
        for k in 0..2_000u64 {
            let held = if k % 400 < 200 { 0 } else { 8 * MS };
            let one = read(TaskId::UNKNOWN, k * 10 * MS, MS + k % 7);
            window.add(&Operation {
                entered_ns: Some((k * 10 * MS).saturating_sub(held)),
                ..one
            });
        }
        let blame = |limits: Option<Vec<ConfiguredLimit>>| {
            let facts = WindowFacts {
                limits: &|_| limits.clone(),
                ..facts(&tasks)
            };
            window.judge(&facts).remove(0).blame
        };
        let limit = ConfiguredLimit {
            kind: Kind::Read,
            is_bytes: false,
            per_second: 1e6,
        };
        assert_eq!(blame(Some(vec![limit])).cause, Cause::ControlGroup);
        // Live without a limit, and from a trace, which contains none, the result is the same.
        assert_eq!(blame(None), blame(Some(Vec::new())));
        assert_eq!(blame(None).cause, Cause::Unknown);
        assert_eq!(blame(None).shares[0].cause, Cause::Unknown);
    }

    #[test]
    fn too_little_calm_time_names_no_cause() {
        let tasks = Tasks::default();
        let cause = |calm: u64| {
            let mut window = BlameWindow::default();
            for k in 0..5_000u64 {
                let latency = if k < calm { MS } else { 9 * MS };
                window.add(&read(TaskId::UNKNOWN, k * 10 * MS, latency));
            }
            let facts = WindowFacts {
                slow_ns: Some(5 * MS),
                ..facts(&tasks)
            };
            window.judge(&facts)[0].blame.cause
        };
        assert_eq!(cause(100), Cause::Unknown);
        assert!(matches!(cause(2_500), Cause::Device { .. }));
    }

    #[test]
    fn a_long_recording_keeps_its_quickest_and_slowest_stretches() {
        let tasks = Tasks::default();
        let mut window = BlameWindow::default();
        let all = OPERATIONS_MAX as u64 * 3;
        for k in 0..all {
            let is_slow = k > all / 2 && k < all / 2 + 2_000;
            let latency = if is_slow { 50 * MS } else { MS + k * 100 / all };
            window.add(&read(TaskId::UNKNOWN, k * MS / 2, latency));
        }
        assert!(window.count <= OPERATIONS_MAX);
        assert!(window.stretches.len() + window.dropped.len() <= STRETCHES_MAX);
        assert!(window.kept_share() < 0.4);
        let judged = window.judge(&facts(&tasks));
        assert!(judged[0].blame.slow > 1_000, "{:?}", judged[0].blame.slow);
    }
}
