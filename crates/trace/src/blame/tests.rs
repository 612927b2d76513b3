//! One scene for each cause, made by a queue of four servers. A thousand of each, made
//! differently, are in `cargo xtask truth`.

use super::*;
use crate::event::Flags;
use stripewise_stats::Random;
use stripewise_units::Kind;

pub(super) const MS: f64 = 1e6;
/// Calm until here; the capture is twice as long.
pub(super) const HALF: f64 = 10e9;
pub(super) const OWN: TaskId = TaskId::from_index(1);
pub(super) const OTHER: TaskId = TaskId::from_index(2);
pub(super) const DAEMON: TaskId = TaskId::from_index(3);

/// A request to the device: time, duration, type.
#[derive(Clone, Copy)]
pub(super) struct Demand {
    pub at: f64,
    pub service: f64,
    pub held: f64,
    pub wakeup: f64,
    pub task: TaskId,
    pub kind: Kind,
}

pub(super) struct Maker {
    pub random: Random,
    pub demands: Vec<Demand>,
}

impl Maker {
    fn new() -> Self {
        Maker::of_seed(5)
    }

    pub fn of_seed(seed: u64) -> Self {
        Maker {
            random: Random::new(seed),
            demands: Vec::new(),
        }
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.random.uniform().ln()
    }

    /// Arrivals at random between two times, with services of about 2 ms times `factor`.
    pub fn load(&mut self, task: TaskId, rate: f64, from: f64, to: f64, factor: f64) {
        let mut at = from + self.exponential(1e9 / rate);
        while at < to {
            let service = factor * (1.2 * MS + self.exponential(0.8 * MS));
            let kind = if task == DAEMON {
                Kind::Sync
            } else {
                Kind::Read
            };
            self.demands.push(Demand {
                at,
                service,
                held: 0.0,
                wakeup: 0.0,
                task,
                kind,
            });
            at += self.exponential(1e9 / rate);
        }
    }

    /// First come, first served, by four servers; a flush takes all of them.
    pub fn serve(mut self) -> Vec<Operation> {
        self.demands
            .sort_by(|one, other| (one.at + one.held).total_cmp(&(other.at + other.held)));
        let mut free = [0.0f64; 4];
        let mut all = Vec::new();
        for demand in &self.demands {
            let issued = demand.at + demand.held;
            let mut done = issued;
            let servers = if demand.kind == Kind::Sync { 4 } else { 1 };
            for _ in 0..servers {
                let next = (0..4).min_by(|&a, &b| free[a].total_cmp(&free[b])).unwrap();
                free[next] = free[next].max(issued) + demand.service;
                done = done.max(free[next]);
            }
            all.push(Operation {
                task: demand.task,
                entered_ns: Some(demand.at as u64),
                issued_ns: Some(issued as u64),
                completed_ns: Some(done as u64),
                returned_ns: Some((done + demand.wakeup) as u64),
                ..Operation::at(issued as u64, demand.kind, 0, 8_192)
            });
        }
        all.sort_by_key(|one| one.arrived_ns);
        all
    }
}

pub(super) fn judge_with(
    operations: &[Operation],
    change: impl Fn(Scene<'static>) -> Scene<'static>,
) -> Blame {
    let scene = Scene {
        is_own: &|one| one.task == OWN,
        is_calm: &|at| (at as f64) < HALF,
        calm_ns: HALF as u64,
        other_ns: HALF as u64,
        slow_ns: None,
        lost_share: 0.0,
        processor_pressure: Some(0.02),
        calm_pressure: Some(0.02),
        configured_limit: None,
    };
    blame(operations, &change(scene))
}

pub(super) fn judge(operations: &[Operation]) -> Blame {
    judge_with(operations, |scene| scene)
}

/// A calm load of 400 per second, with a little of another.
fn calm() -> Maker {
    let mut maker = Maker::new();
    maker.load(OWN, 400.0, 0.0, 2.0 * HALF, 1.0);
    maker.load(OTHER, 100.0, 0.0, 2.0 * HALF, 1.0);
    maker.load(DAEMON, 1.0, 0.0, 2.0 * HALF, 1.0);
    maker
}

#[test]
fn nothing_is_slow() {
    let judgement = judge(&calm().serve());
    assert_eq!(judgement.cause, Cause::NotSlow);
    assert!(judgement.also.is_empty() && judgement.slow < judgement.operations / 20);
}

#[test]
fn losses_end_the_matter() {
    let operations = calm().serve();
    let judgement = judge_with(&operations, |scene| Scene {
        lost_share: 0.002,
        ..scene
    });
    assert_eq!(judgement.cause, Cause::Lost);
}

#[test]
fn one_at_a_time() {
    let mut maker = Maker::new();
    let mut at = 0.0;
    while at < 2.0 * HALF {
        let service = 1.2 * MS + maker.exponential(0.8 * MS);
        let task = OWN;
        let demand = Demand {
            at,
            service,
            held: 0.0,
            wakeup: 0.0,
            task,
            kind: Kind::Read,
        };
        maker.demands.push(demand);
        at += service + maker.exponential(0.1 * MS);
    }
    assert_eq!(judge(&maker.serve()).cause, Cause::OneAtATime);
}

#[test]
fn a_device_that_is_slow_always_or_now_and_then() {
    let mut maker = calm();
    for demand in &mut maker.demands {
        demand.service *= if demand.at > HALF { 2.2 } else { 1.0 };
    }
    let judgement = judge(&maker.serve());
    assert_eq!(
        judgement.cause,
        Cause::Device {
            is_intermittent: false
        }
    );
    let share = judgement.shares[0].share.unwrap();
    assert!(share.value > 0.95 && share.low <= share.value, "{share:?}");
    assert_eq!(judgement.shares[0].operations, judgement.slow);
    assert_eq!(judgement.examples.len(), 5);
    let worst = judgement.examples[0];
    assert!(worst.operation.whole_ns() >= judgement.examples[1].operation.whole_ns());
    let mut maker = calm();
    for (k, demand) in maker.demands.iter_mut().enumerate() {
        demand.service = if demand.at > HALF && k % 30 == 0 {
            60.0 * MS
        } else {
            demand.service
        };
    }
    assert_eq!(
        judge(&maker.serve()).cause,
        Cause::Device {
            is_intermittent: true
        }
    );
}

#[test]
fn another_process_is_named_and_seen_in_the_examples() {
    let mut maker = calm();
    maker.load(OTHER, 1_000.0, HALF, 2.0 * HALF, 1.4);
    let judgement = judge(&maker.serve());
    let cause = Cause::OtherProcess {
        task: OTHER,
        by_flushes: false,
    };
    assert_eq!(judgement.cause, cause);
    assert!(
        judgement
            .examples
            .iter()
            .all(|one| one.busiest == OTHER && one.of_busiest > 0)
    );
    assert!(
        judgement
            .examples
            .iter()
            .all(|one| one.in_flight >= one.of_busiest)
    );
}

#[test]
fn own_saturation_and_a_cap() {
    let mut maker = calm();
    maker.load(OWN, 1_550.0, HALF, 2.0 * HALF, 1.0);
    assert_eq!(judge(&maker.serve()).cause, Cause::OwnSaturation);
    // A cap: one at a time after the other, every 2 ms.
    let mut operations = calm().serve();
    let mut next = 0u64;
    for one in operations.iter_mut().filter(|one| one.kind != Kind::Sync) {
        let done = one.completed_ns.unwrap();
        if one.arrived_ns as f64 > HALF {
            next = (next + 2_000_000).max(one.arrived_ns);
            let done = done.max(next + 1_000_000);
            one.completed_ns = Some(done);
            one.returned_ns = Some(done);
        }
    }
    let judgement = judge(&operations);
    let Cause::VolumeCap { rate } = judgement.cause else {
        panic!("{:?}", judgement.cause);
    };
    assert!((rate - 500.0).abs() < 15.0, "{rate}");
}

#[test]
fn a_constant_rate_that_is_the_load_s_own_is_no_cap() {
    // One every 2 to 4 ms, calm and slow alike.
    let mut random = Random::new(5);
    let (mut operations, mut at) = (Vec::new(), 0.0);
    while at < 2.0 * HALF {
        let took = if at < HALF {
            1.0
        } else {
            25.0 + 5.0 * random.uniform()
        };
        operations.push(read(at, at + took * MS));
        at += (2.0 + 2.0 * random.uniform()) * MS;
    }
    let is_intermittent = false;
    let device = Cause::Device { is_intermittent };
    assert_eq!(judge(&operations).cause, device);
    // A closed loop is as regular, but its rate fell: a credit ran out.
    let (mut operations, mut done) = (Vec::new(), vec![0.0; 16]);
    let mut last = 0.0;
    while last < 2.0 * HALF {
        let gap = if last < HALF { 0.25 } else { 2.0 };
        last += gap * MS;
        operations.push(read(done[done.len() - 16], last));
        done.push(last);
    }
    let judgement = judge(&operations);
    let Cause::VolumeCap { rate } = judgement.cause else {
        panic!("{:?}", judgement.cause);
    };
    assert!((rate - 500.0).abs() < 15.0, "{rate}");
}

/// One of the own load that is at the device between these times.
fn read(from: f64, to: f64) -> Operation {
    Operation {
        task: OWN,
        issued_ns: Some(from as u64),
        completed_ns: Some(to as u64),
        ..Operation::at(from as u64, Kind::Read, 0, 8_192)
    }
}

#[test]
fn a_storm_of_flushes_and_one_without_end() {
    let mut maker = calm();
    maker.load(DAEMON, 25.0, HALF, 2.0 * HALF, 3.5);
    let judgement = judge(&maker.serve());
    assert_eq!(judgement.cause, Cause::FlushStorm { task: DAEMON });
    let mut operations = calm().serve();
    let mut at = HALF as u64;
    while (at as f64) < 2.0 * HALF {
        operations.push(Operation {
            task: DAEMON,
            issued_ns: Some(at),
            completed_ns: Some(at + 950_000),
            ..Operation::at(at, Kind::Sync, 0, 0)
        });
        at += 1_000_000;
    }
    for one in operations.iter_mut().filter(|one| one.task == OWN) {
        let factor = if one.arrived_ns as f64 > HALF {
            5_000_000
        } else {
            0
        };
        one.completed_ns = one.completed_ns.map(|done| done + factor);
        one.returned_ns = one.completed_ns;
    }
    operations.sort_by_key(|one| one.arrived_ns);
    let cause = Cause::OtherProcess {
        task: DAEMON,
        by_flushes: true,
    };
    assert_eq!(judge(&operations).cause, cause);
}

#[test]
fn a_control_group_with_system_calls_and_without() {
    let mut maker = calm();
    let mut next = HALF;
    for demand in maker
        .demands
        .iter_mut()
        .filter(|one| one.task == OWN && one.at > HALF)
    {
        next = (next + 2.6 * MS).max(demand.at);
        demand.held = next - demand.at;
    }
    let mut operations = maker.serve();
    let judgement = judge(&operations);
    assert_eq!(judgement.cause, Cause::ControlGroup);
    assert_eq!(judgement.shares[0].cause, Cause::ControlGroup);
    // Without them only the workers show, that hand operations on.
    for one in operations.iter_mut().filter(|one| one.task == OWN) {
        let held = one
            .entered_ns
            .is_some_and(|at| at + 10_000 < one.arrived_ns);
        one.flags = if held { Flags::DEFERRED } else { Flags::NONE };
        one.entered_ns = None;
        one.returned_ns = None;
    }
    assert_eq!(judge(&operations).cause, Cause::ControlGroup);
    // A slow device at the rate that is configured, where calls are not seen.
    let mut maker = calm();
    maker
        .demands
        .iter_mut()
        .for_each(|one| one.service *= if one.at > HALF { 2.2 } else { 1.0 });
    let mut operations = maker.serve();
    operations.iter_mut().for_each(|one| one.entered_ns = None);
    let judgement = judge_with(&operations, |scene| Scene {
        configured_limit: Some(410.0),
        ..scene
    });
    assert_eq!(judgement.cause, Cause::ControlGroup);
}

#[test]
fn a_processor_is_blamed_only_where_one_was_short() {
    let mut maker = calm();
    for (k, demand) in maker.demands.iter_mut().enumerate() {
        demand.wakeup = if demand.at > HALF && k % 3 == 0 {
            15.0 * MS
        } else {
            10_000.0
        };
    }
    let operations = maker.serve();
    let with = |pressure| {
        judge_with(&operations, |scene| Scene {
            processor_pressure: pressure,
            ..scene
        })
        .cause
    };
    assert_eq!(with(Some(0.5)), Cause::Processor);
    assert_eq!(with(Some(0.01)), Cause::Unknown);
    assert_eq!(with(None), Cause::Unknown);
}

#[test]
fn starvation_within_completions_is_not_the_device_s_for_certain() {
    let mut maker = calm();
    maker
        .demands
        .iter_mut()
        .for_each(|one| one.service *= if one.at > HALF { 2.2 } else { 1.0 });
    let mut operations = maker.serve();
    for (k, one) in operations.iter_mut().enumerate() {
        one.flags = if k % 2 == 0 {
            Flags::COMPLETED_BY_THREAD
        } else {
            Flags::NONE
        };
    }
    let with = |calm, now| {
        judge_with(&operations, |scene| Scene {
            processor_pressure: Some(now),
            calm_pressure: Some(calm),
            ..scene
        })
        .cause
    };
    let is_intermittent = false;
    let device = Cause::Device { is_intermittent };
    assert_eq!(with(0.02, 0.6), Cause::DeviceOrProcessor);
    assert_eq!(with(0.02, 0.1), device);
    // On a machine that is as busy while the disk is quick, processors explain nothing.
    assert_eq!(with(0.6, 0.65), device);
    assert_eq!(with(0.6, 0.9), Cause::DeviceOrProcessor);
    assert_eq!(with(0.97, 0.98), Cause::DeviceOrProcessor);
}

#[test]
fn a_queue_in_the_host_and_a_limit_of_one_s_own() {
    let mut operations = calm().serve();
    for one in operations
        .iter_mut()
        .filter(|one| one.arrived_ns as f64 > HALF)
    {
        let late = 9_000_000;
        one.issued_ns = one.issued_ns.map(|at| at + late);
        one.completed_ns = one.completed_ns.map(|at| at + late);
        one.returned_ns = one.completed_ns;
    }
    assert_eq!(judge(&operations).cause, Cause::HostQueue);
    let judgement = judge_with(&operations, |scene| Scene {
        slow_ns: Some(1_000_000_000),
        ..scene
    });
    assert_eq!(
        (judgement.cause, judgement.slow_ns),
        (Cause::NotSlow, 1_000_000_000)
    );
}

#[test]
fn a_device_and_a_processor_are_both_named() {
    let mut maker = calm();
    for (k, demand) in maker.demands.iter_mut().enumerate() {
        if demand.at > HALF {
            demand.service *= 2.2;
            demand.wakeup = if k % 3 == 0 { 9.0 * MS } else { 0.0 };
        }
    }
    let judgement = judge_with(&maker.serve(), |scene| Scene {
        processor_pressure: Some(0.5),
        ..scene
    });
    assert_eq!(judgement.cause, Cause::Processor);
    assert_eq!(
        judgement.also,
        [Cause::Device {
            is_intermittent: false
        }]
    );
}

#[test]
fn calm_periods_are_the_quick_ones() {
    let mut maker = calm();
    for demand in &mut maker.demands {
        let second = (demand.at / 1e9) as u64;
        demand.service *= if (5..8).contains(&second) { 2.5 } else { 1.0 };
    }
    let operations = maker.serve();
    let calm = calm_periods(&operations, 1_000_000_000);
    let seconds: Vec<u64> = calm.iter().map(|at| at / 1_000_000_000).collect();
    assert!(
        seconds.iter().all(|second| !(5..8).contains(second)),
        "{seconds:?}"
    );
    assert!(seconds.len() >= 15, "{seconds:?}");
    assert!(calm_periods(&[], 0).is_empty());
}

#[test]
fn nothing_at_all_is_judged_without_a_panic() {
    let judgement = judge(&[]);
    assert_eq!(
        (judgement.cause, judgement.slow, judgement.shares.len()),
        (Cause::NotSlow, 0, 0)
    );
    let open = vec![Operation::at(7, Kind::Read, 0, 512); 100];
    assert_eq!(judge(&open).slow, 0);
}
