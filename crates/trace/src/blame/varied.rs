//! Four scenes of each cause, with different rates, service times and severity. Each cause must be
//! named. A thousand of each, more varied, are in `cargo xtask truth`.

use super::tests::{DAEMON, Demand, HALF, MS, Maker, OTHER, OWN, judge, judge_with};
use super::*;
use crate::event::Flags;
use stripewise_units::Kind;

const SCENES: u64 = 4;

/// A calm load of 300 to 500 per second with a little of another, on a device that takes 1.2 to 2.4
/// ms, and the severity of its degradation: 0 to 1.
fn scene(seed: u64) -> (Maker, f64) {
    let mut maker = Maker::of_seed(100 + seed);
    let [rate, other, slow, worse] = [(); 4].map(|()| maker.random.uniform());
    let end = 2.0 * HALF;
    let factor = 0.6 + 0.6 * slow;
    maker.load(OWN, 300.0 + 200.0 * rate, 0.0, end, factor);
    maker.load(OTHER, 50.0 + 100.0 * other, 0.0, end, factor);
    maker.load(DAEMON, 1.0, 0.0, end, factor);
    (maker, worse)
}

/// Changes everything after the calm half.
fn change(maker: &mut Maker, mut to: impl FnMut(usize, &mut Demand)) {
    let late = maker.demands.iter_mut().filter(|one| one.at > HALF);
    late.enumerate().for_each(|(k, one)| to(k, one));
}

#[track_caller]
fn each_is(expected: Cause, cause_of: impl Fn(Maker, f64) -> Cause) {
    for seed in 0..SCENES {
        let (maker, worse) = scene(seed);
        assert_eq!(cause_of(maker, worse), expected, "scene {seed}");
    }
}

#[test]
fn calm_loads_are_not_slow() {
    each_is(Cause::NotSlow, |maker, _| judge(&maker.serve()).cause);
}

#[test]
fn a_slower_device_is_the_device() {
    let always = Cause::Device {
        is_intermittent: false,
    };
    each_is(always, |mut maker, worse| {
        change(&mut maker, |_, one| one.service *= 2.4 + worse);
        judge(&maker.serve()).cause
    });
    let sometimes = Cause::Device {
        is_intermittent: true,
    };
    each_is(sometimes, |mut maker, worse| {
        change(&mut maker, |k, one| {
            if k % 30 == 0 {
                one.service = (40.0 + 40.0 * worse) * MS;
            }
        });
        judge(&maker.serve()).cause
    });
}

#[test]
fn another_process_is_named_by_what_it_does() {
    let by_load = Cause::OtherProcess {
        task: OTHER,
        by_flushes: false,
    };
    each_is(by_load, |mut maker, worse| {
        maker.load(OTHER, 900.0 + 400.0 * worse, HALF, 2.0 * HALF, 1.5);
        judge(&maker.serve()).cause
    });
    let storm = Cause::FlushStorm { task: DAEMON };
    each_is(storm, |mut maker, worse| {
        maker.load(DAEMON, 18.0 + 8.0 * worse, HALF, 2.0 * HALF, 3.5);
        judge(&maker.serve()).cause
    });
}

#[test]
fn more_load_than_the_device_carries_is_one_s_own() {
    each_is(Cause::OwnSaturation, |mut maker, worse| {
        // Enough to keep all four servers busy, plus or minus a tenth.
        let busy: f64 = maker.demands.iter().map(|one| one.service).sum();
        let carried = 4.0 * maker.demands.len() as f64 / busy * 1e9;
        let now = maker.demands.len() as f64 / (2.0 * HALF) * 1e9;
        let mean = busy / maker.demands.len() as f64 / (2.0 * MS);
        let more = (0.96 + 0.06 * worse) * carried - now;
        maker.load(OWN, more, HALF, 2.0 * HALF, mean);
        judge(&maker.serve()).cause
    });
}

#[test]
fn a_constant_rate_is_a_cap() {
    for seed in 0..SCENES {
        let (maker, worse) = scene(seed);
        let mut operations = maker.serve();
        let late = operations.iter().filter(|one| one.arrived_ns as f64 > HALF);
        // Slightly below the demand.
        let wanted = late.filter(|one| one.kind != Kind::Sync).count() as f64 / (HALF / 1e9);
        let rate = (0.9 + 0.08 * worse) * wanted;
        let mut next = HALF;
        for one in operations.iter_mut().filter(|one| one.kind != Kind::Sync) {
            if one.arrived_ns as f64 > HALF {
                next = (next + 1e9 / rate).max(one.arrived_ns as f64);
                let done = one.completed_ns.unwrap().max((next + MS) as u64);
                one.completed_ns = Some(done);
                one.returned_ns = Some(done);
            }
        }
        let judgement = judge(&operations).cause;
        let Cause::VolumeCap { rate: found } = judgement else {
            panic!("scene {seed}: {judgement:?}");
        };
        assert!((found / rate - 1.0).abs() < 0.04, "{found} of {rate}");
    }
}

#[test]
fn what_is_held_back_above_the_device_is_the_control_group() {
    each_is(Cause::ControlGroup, |mut maker, worse| {
        let mut next = HALF;
        change(&mut maker, |_, one| {
            if one.task == OWN {
                next = (next + (3.4 + worse) * MS).max(one.at);
                one.held = next - one.at;
            }
        });
        judge(&maker.serve()).cause
    });
    // Without events of system calls only the workers that pass operations on are visible.
    each_is(Cause::ControlGroup, |maker, worse| {
        let mut operations = maker.serve();
        let every = 2 + (2.0 * worse) as usize;
        for (k, one) in operations.iter_mut().enumerate() {
            if one.task == OWN && k % every == 0 {
                one.flags = Flags::DEFERRED;
            }
            one.entered_ns = None;
            one.returned_ns = None;
        }
        judge(&operations).cause
    });
}

#[test]
fn a_queue_in_the_host_is_not_the_device() {
    each_is(Cause::HostQueue, |maker, worse| {
        let mut operations = maker.serve();
        let late = ((9.0 + 6.0 * worse) * MS) as u64;
        for one in operations.iter_mut() {
            if one.arrived_ns as f64 > HALF {
                one.issued_ns = one.issued_ns.map(|at| at + late);
                one.completed_ns = one.completed_ns.map(|at| at + late);
                one.returned_ns = one.completed_ns;
            }
        }
        judge(&operations).cause
    });
}

#[test]
fn processors_that_were_short_are_named_where_they_were() {
    let scene_of = |mut maker: Maker, worse: f64, pressure| {
        change(&mut maker, |k, one| {
            if k % 3 == 0 {
                one.wakeup = (14.0 + 10.0 * worse) * MS;
            }
        });
        let known = |scene| Scene {
            processor_pressure: Some(pressure),
            ..scene
        };
        judge_with(&maker.serve(), known).cause
    };
    each_is(Cause::Processor, |maker, worse| {
        scene_of(maker, worse, 0.3 + 0.5 * worse)
    });
    each_is(Cause::Unknown, |maker, worse| scene_of(maker, worse, 0.01));
    each_is(Cause::DeviceOrProcessor, |mut maker, worse| {
        change(&mut maker, |_, one| one.service *= 2.4 + worse);
        let mut operations = maker.serve();
        for (k, one) in operations.iter_mut().enumerate() {
            if k % 2 == 0 {
                one.flags = Flags::COMPLETED_BY_THREAD;
            }
        }
        let short = |scene| Scene {
            processor_pressure: Some(0.5 + 0.3 * worse),
            ..scene
        };
        judge_with(&operations, short).cause
    });
}

#[test]
fn an_application_that_waits_for_each_operation_is_told_so() {
    for seed in 0..SCENES {
        let (mut maker, worse) = scene(seed);
        maker.demands.clear();
        let mut at = 0.0;
        while at < 2.0 * HALF {
            let service = (1.0 + worse) * MS + maker.exponential(0.6 * MS);
            maker.demands.push(Demand {
                at,
                service,
                held: 0.0,
                wakeup: 0.0,
                task: OWN,
                kind: Kind::Read,
            });
            at += service + maker.exponential(0.1 * MS);
        }
        assert_eq!(judge(&maker.serve()).cause, Cause::OneAtATime, "{seed}");
    }
}

#[test]
fn losses_forbid_a_verdict_whatever_was_slow() {
    each_is(Cause::Lost, |mut maker, worse| {
        change(&mut maker, |_, one| one.service *= 2.4 + worse);
        let lossy = |scene| Scene {
            lost_share: 0.0011 + worse,
            ..scene
        };
        judge_with(&maker.serve(), lossy).cause
    });
}
