//! Devices as formulas: what a cache holds, what drains, and chance.

use super::*;
use crate::Random;

const BLOCK: u64 = 8_192;
const MIB: f64 = 1_048_576.0;

/// A device that takes `fast` operations a second until `cache_bytes` are full, and
/// drains `slow` all the time.
#[derive(Clone, Copy)]
struct Device {
    fast: f64,
    slow: f64,
    cache_bytes: f64,
}

const fn level(rate: f64) -> Device {
    Device {
        fast: f64::INFINITY,
        slow: rate,
        cache_bytes: 0.0,
    }
}

const fn cached(fast: f64, slow: f64, cache_mib: f64) -> Device {
    Device {
        fast,
        slow,
        cache_bytes: cache_mib * MIB,
    }
}

/// Intervals of a tenth of a second with Poisson noise.
struct Load {
    device: Device,
    filled: f64,
    random: Random,
}

impl Load {
    fn new(device: Device, seed: u64) -> Load {
        Load {
            device,
            filled: 0.0,
            random: Random::new(seed),
        }
    }

    fn next(&mut self) -> LoadInterval {
        let Device {
            fast,
            slow,
            cache_bytes,
        } = self.device;
        let room = (cache_bytes - self.filled).max(0.0) / BLOCK as f64;
        let expected = 0.1 * slow;
        let noisy = expected + libm::sqrt(expected) * self.random.normal();
        let drained = noisy.round().max(0.0);
        let operations = (0.1 * fast).min(room + drained).floor();
        let more = (operations - drained) * BLOCK as f64;
        self.filled = (self.filled + more).clamp(0.0, cache_bytes);
        interval(operations as u64, None)
    }
}

fn interval(operations: u64, latency_s: Option<f64>) -> LoadInterval {
    LoadInterval {
        seconds: 0.1,
        operations,
        bytes: operations * BLOCK,
        latency_s,
    }
}

fn thorough() -> PilotPlan {
    PilotPlan::new(false)
}

fn with_cache(cache_mib: u64) -> PilotPlan {
    PilotPlan {
        cache_bytes: Some(cache_mib << 20),
        ..thorough()
    }
}

/// The outcome, and the seconds that it took; the time is up after `limit_s`.
fn pilot(device: Device, plan: PilotPlan, limit_s: f64, seed: u64) -> (Sustained, f64) {
    let mut load = Load::new(device, seed);
    let mut pilot = Pilot::new(plan);
    let mut seconds = 0.0;
    while seconds < limit_s && pilot.feed(load.next()) != PilotStep::Done {
        seconds += 0.1;
    }
    (pilot.outcome(), seconds)
}

#[test]
fn what_a_cache_absorbs_and_what_lasts_are_found() {
    // Device, MiB until the step (the cache and what drains meanwhile), the rate behind it.
    let cases: [(&str, Device, Option<f64>, f64); 7] = [
        ("no cache", level(400.0), None, 400.0),
        ("64 MiB", cached(45_000.0, 800.0, 64.0), Some(65.2), 800.0),
        (
            "256 MiB",
            cached(45_000.0, 800.0, 256.0),
            Some(260.6),
            800.0,
        ),
        (
            "4 GiB",
            cached(45_000.0, 900.0, 4_096.0),
            Some(4_179.6),
            900.0,
        ),
        (
            "one that drains half",
            cached(2_000.0, 1_000.0, 512.0),
            Some(1_024.0),
            1_000.0,
        ),
        (
            "a rate 1,000 times lower",
            cached(45_000.0, 45.0, 1_024.0),
            Some(1_025.0),
            45.0,
        ),
        ("a slow disk", level(20.0), None, 20.0),
    ];
    for (name, device, absorbed_mib, rate) in cases {
        for seed in 0..3 {
            let (found, seconds) = pilot(device, with_cache(1), 7_200.0, seed);
            assert_eq!(found.claim, Claim::Sustained, "{name}");
            let seen = found.rate.unwrap();
            assert!((seen / rate - 1.0).abs() < 0.04, "{name}: {seen}");
            match (absorbed_mib, found.absorbed) {
                (None, None) => assert_eq!(found.from, Mark::default(), "{name}"),
                (Some(mib), Some(step)) => {
                    let mib_seen = step.at.bytes / MIB;
                    assert!((mib_seen / mib - 1.0).abs() < 0.08, "{name}: {mib_seen}");
                    assert!((step.rate / device.fast - 1.0).abs() < 0.08, "{name}");
                    assert_eq!(found.from, step.at, "{name}");
                }
                other => panic!("{name}: {other:?} after {seconds} s"),
            }
        }
    }
}

#[test]
fn nothing_known_of_a_cache_and_no_step_is_a_rate_for_so_many_bytes() {
    let (found, seconds) = pilot(level(1_000.0), thorough(), 600.0, 1);
    assert_eq!(found.claim, Claim::AtLeast);
    // Spans of 1, 1, 2, 4, ... 64 s.
    assert!((seconds - 127.9).abs() < 0.05, "{seconds}");
    assert_eq!(thorough().spans_s(), 128.0);
    let bytes = found.to.bytes - found.from.bytes;
    assert!((bytes / (128_000.0 * 8_192.0) - 1.0).abs() < 0.02);
    // A quick pilot never claims more, whatever is known about the cache.
    let quick = PilotPlan {
        cache_bytes: Some(1 << 20),
        ..PilotPlan::new(true)
    };
    let (found, seconds) = pilot(level(1_000.0), quick, 600.0, 1);
    assert_eq!(found.claim, Claim::AtLeast);
    assert!((seconds - 9.9).abs() < 0.05, "{seconds}");
}

#[test]
fn a_cache_that_may_hold_everything_is_named_with_what_would_overflow_it() {
    // 20 s at 45,000 a second are 6.9 GiB; four times 4 GiB are 16.
    let (found, _) = pilot(
        cached(45_000.0, 800.0, 65_536.0),
        with_cache(4_096),
        20.0,
        1,
    );
    assert_eq!(found.claim, Claim::NotReached(NotReached::CacheAbsorbs));
    assert!(!found.is_reached() && found.absorbed.is_none());
    let need = found.need.unwrap();
    // 16 GiB at 351.6 MiB/s are 46.6 s; then spans up to 64 s.
    assert!((need.seconds - (46.6 + 128.0)).abs() < 2.0, "{need:?}");
    assert!(need.bytes > 16.0 * 1_024.0 * MIB);
    // With the time it writes on past agreeing spans until the cache is overflowed.
    let (found, seconds) = pilot(level(1_000.0), with_cache(1_024), 3_600.0, 1);
    assert_eq!(found.claim, Claim::Sustained);
    assert!(
        seconds > 500.0 && found.to.bytes >= 4.0 * 1_024.0 * MIB,
        "{seconds}"
    );
}

#[test]
fn a_known_credit_is_spent_before_a_rate_is_called_sustained() {
    let credit = BurstCredit {
        operations: 5_400_000.0,
        per_s: 300.0,
    };
    let found = |rate: fn(u64) -> u64, seconds_max: u64| {
        let mut pilot = Pilot::new(PilotPlan {
            span_operations: Some(20_000),
            credits: [Some(credit), None],
            ..thorough()
        });
        for second in 0..seconds_max {
            let operations = rate(second);
            let interval = LoadInterval {
                seconds: 1.0,
                operations,
                bytes: operations * BLOCK,
                latency_s: None,
            };
            if pilot.feed(interval) == PilotStep::Done {
                break;
            }
        }
        pilot.outcome()
    };
    // 3,000 a second spend it in 2,000 s.
    let burst = |second: u64| if second < 2_000 { 3_000 } else { 300 };
    let spent = found(burst, 10_000);
    assert_eq!(spent.claim, Claim::Sustained);
    let absorbed = spent.absorbed.expect("a step");
    assert!((absorbed.at.seconds - 2_000.0).abs() < 2.0, "{spent:?}");
    assert!((spent.rate.unwrap() - 300.0).abs() < 1.0, "{spent:?}");
    let early = found(burst, 1_000);
    assert_eq!(early.claim, Claim::NotReached(NotReached::CacheAbsorbs));
    let need = early.need.unwrap();
    assert!(need.seconds > 1_990.0, "{need:?}");
    // A load at the cap or below it spends nothing.
    let slow = found(|_| 290, 10_000);
    assert_eq!(slow.claim, Claim::Sustained);
    assert!(slow.absorbed.is_none() && slow.to.seconds < 200.0);
}

#[test]
fn flash_is_not_called_sustained_before_all_of_it_is_written() {
    let flash = PilotPlan {
        flash_bytes: Some(4 << 30),
        ..thorough()
    };
    let device = cached(20_000.0, 2_000.0, 512.0);
    let capped = PilotPlan {
        bytes_max: Some(3 << 30),
        ..flash
    };
    let (found, _) = pilot(device, capped, 7_200.0, 1);
    assert_eq!(found.claim, Claim::NotReached(NotReached::FlashNotWritten));
    assert!(found.absorbed.is_some() && found.to.bytes >= 3.0 * 1_024.0 * MIB);
    assert!(found.need.unwrap().bytes >= 4.0 * 1_024.0 * MIB);
    let (found, _) = pilot(device, flash, 7_200.0, 1);
    assert_eq!(found.claim, Claim::Sustained);
    assert!(found.to.bytes >= 4.0 * 1_024.0 * MIB);
}

#[test]
fn a_pilot_whose_time_is_up_says_why_there_is_no_rate() {
    let device = cached(45_000.0, 800.0, 256.0);
    let cases = [
        ("nothing yet", device, thorough(), 0.0, NotReached::TooShort),
        (
            "one interval",
            device,
            thorough(),
            0.1,
            NotReached::TooShort,
        ),
        ("two", device, thorough(), 0.2, NotReached::TooShort),
        (
            "before a step",
            device,
            thorough(),
            0.7,
            NotReached::TooShort,
        ),
        (
            "one span",
            level(500.0),
            thorough(),
            2.5,
            NotReached::TooShort,
        ),
        (
            "some spans",
            level(500.0),
            thorough(),
            20.0,
            NotReached::TooShort,
        ),
        (
            "behind a step",
            device,
            thorough(),
            20.0,
            NotReached::JustSteppedDown,
        ),
    ];
    for (name, device, plan, limit_s, reason) in cases {
        let (found, _) = pilot(device, plan, limit_s, 1);
        assert_eq!(found.claim, Claim::NotReached(reason), "{name}");
        let need = found.need.unwrap();
        assert!(
            need.seconds > limit_s && need.bytes >= found.to.bytes,
            "{name}"
        );
    }
    let ignored = LoadInterval {
        seconds: 0.0,
        ..interval(5, None)
    };
    let mut pilot = Pilot::new(thorough());
    assert_eq!(pilot.feed(ignored), PilotStep::WriteOn { until_s: 1.0 });
    assert_eq!(
        (pilot.outcome().rate, pilot.outcome().to),
        (None, Mark::default())
    );
}

#[test]
fn a_pause_is_not_a_cache() {
    let mut pilot = Pilot::new(with_cache(1));
    let mut seen = Vec::new();
    for tenth in 0..6_000 {
        let operations = if (400..600).contains(&tenth) { 1 } else { 100 };
        match pilot.feed(interval(operations, None)) {
            PilotStep::SteppedDown(mark) => seen.push(mark.seconds),
            PilotStep::Done => break,
            PilotStep::WriteOn { .. } => {}
        }
    }
    let found = pilot.outcome();
    assert_eq!((found.claim, found.absorbed), (Claim::Sustained, None));
    assert!((found.rate.unwrap() - 1_000.0).abs() < 1.0);
    assert_eq!(seen.len(), 1);
    assert!((seen[0] - 40.0).abs() < 0.01, "{seen:?}");
}

#[test]
fn a_rate_that_falls_on_or_a_queue_that_grows_is_not_steady() {
    // 7 % less with every doubling of the time.
    let mut pilot = Pilot::new(with_cache(1));
    for tenth in 1..20_000 {
        let rate = 1_000.0 * libm::pow(f64::from(tenth), -0.1);
        assert_ne!(pilot.feed(interval(rate as u64, None)), PilotStep::Done);
    }
    assert_eq!(
        pilot.outcome().claim,
        Claim::NotReached(NotReached::Unsteady)
    );
    let mut pilot = Pilot::new(with_cache(1));
    for tenth in 1..8_000 {
        let latency_s = 0.001 * f64::from(tenth);
        assert_ne!(pilot.feed(interval(100, Some(latency_s))), PilotStep::Done);
    }
    assert_eq!(
        pilot.outcome().claim,
        Claim::NotReached(NotReached::Unsteady)
    );
}

#[test]
fn hours_of_short_intervals_are_kept_in_bounded_room() {
    let mut line = Timeline::new();
    for _ in 0..100_000 {
        line.push(interval(10, None));
    }
    assert!((line.end_s() - 10_000.0).abs() < 1e-6);
    let half = line.at(5_000.0);
    assert!((half.operations - 500_000.0).abs() < 1.0, "{half:?}");
    let hour = Span {
        from_s: 3_600.0,
        to_s: 7_200.0,
    };
    assert!((line.rate(hour) - 100.0).abs() < 1e-6);
}
