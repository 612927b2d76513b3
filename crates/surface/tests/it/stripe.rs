//! The pattern of arrays that do not tell.

use crate::arrays::{Made, striped, without};
use crate::simulated::Simulated;
use std::sync::atomic::{AtomicU64, Ordering};
use stripewise_array_sim::ArraySpec;
use stripewise_surface::Halt;
use stripewise_surface::stripe::{Limits, Probed, probe};

fn probed(spec: &ArraySpec, seed: u64) -> Probed {
    let limits = Limits {
        seed,
        ..Limits::default()
    };
    probe(&mut Simulated::new(spec), &limits, &mut |_| {})
}

/// What became of one array: exact, refused, or wrong.
#[derive(Debug, PartialEq)]
enum Verdict {
    Exact,
    Refused(String),
    Wrong(String),
}

fn judge(made: &Made, probed: &Probed) -> Verdict {
    let pattern = match &probed.outcome {
        Ok(pattern) => pattern,
        Err(refusal) => return Verdict::Refused(refusal.code.clone()),
    };
    let level = |level: &str| made.level == level;
    let right = pattern.unit_bytes == made.unit_bytes
        && pattern.phase_bytes == made.phase_bytes
        && pattern.columns == made.columns
        && pattern.layouts.iter().any(|one| level(&one.level))
        && pattern.level().is_none_or(level);
    match right {
        true => Verdict::Exact,
        false => Verdict::Wrong(format!("{pattern:?}")),
    }
}

/// Judges arrays on two threads, and returns how many got which verdict.
fn count(seeds: impl Iterator<Item = u64>, make: fn(u64) -> Made) -> [u64; 3] {
    let seeds: Vec<u64> = seeds.collect();
    let (next, counts) = (AtomicU64::new(0), [const { AtomicU64::new(0) }; 3]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let made = make(seed);
                    let probed = probed(&made.spec, seed + 1);
                    let verdict = judge(&made, &probed);
                    eprintln!(
                        "{seed}: {verdict:?}; {} reads, {:.0} s, truth {} {} {} {}: {}",
                        probed.reads,
                        probed.duration_ns as f64 / 1e9,
                        made.level,
                        made.unit_bytes,
                        made.phase_bytes,
                        made.columns,
                        made.text
                    );
                    let place = match verdict {
                        Verdict::Exact => 0,
                        Verdict::Refused(_) => 1,
                        Verdict::Wrong(_) => 2,
                    };
                    counts[place].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    counts.map(AtomicU64::into_inner)
}

#[test]
fn arrays_made_at_random_are_found_exactly() {
    let [exact, refused, wrong] = count(0..6, striped);
    assert_eq!((exact, refused, wrong), (6, 0, 0));
}

#[test]
fn nothing_is_found_where_there_are_no_stripes() {
    let [exact, refused, wrong] = count(0..4, without);
    assert_eq!((exact, refused, wrong), (0, 4, 0));
}

/// The campaign: `COUNT` arrays of each kind (300 if not set).
#[test]
#[ignore = "some minutes: what the documentation's figures come from"]
fn campaign() {
    let number = std::env::var("COUNT")
        .ok()
        .and_then(|text| text.parse().ok());
    let number: u64 = number.unwrap_or(300);
    let [exact, refused, wrong] = count(1_000..1_000 + number, striped);
    eprintln!("striped: {exact} exact, {refused} refused, {wrong} wrong");
    let [found, none, false_ones] = count(1_000..1_000 + number, without);
    eprintln!("without: {none} refused, {} answers", found + false_ones);
    assert_eq!((wrong, found + false_ones), (0, 0));
    assert!(exact * 10 >= number * 9, "{exact} of {number}");
}

#[test]
fn a_level_6_is_refused_or_its_unit_and_phase_are_right() {
    for (disks, seed) in [(4, 1), (6, 2)] {
        let text = format!("raid5-7k2?level=6&disks={disks}&stripe_unit=64K&offset=63s");
        let spec = ArraySpec::bundled(&text).unwrap();
        if let Ok(pattern) = probed(&spec, seed).outcome {
            assert_eq!((pattern.unit_bytes, pattern.phase_bytes), (65_536, 33_280));
            assert_eq!(pattern.level(), None);
            assert!(pattern.layouts.iter().any(|one| one.level == "6"));
        }
    }
}

#[test]
fn a_target_that_is_too_small_is_told_how_large_it_must_be() {
    let spec = ArraySpec::bundled("raid10-10k?size=100M").unwrap();
    let refusal = probed(&spec, 1).outcome.unwrap_err();
    assert_eq!(refusal.code, "too-small");
    assert!(refusal.reason.contains("256 MiB"), "{}", refusal.reason);
}

#[test]
fn time_that_is_over_is_no_answer() {
    let spec = ArraySpec::bundled("raid10-10k").unwrap();
    let limits = Limits {
        time_ns_max: 1_000_000_000,
        ..Limits::default()
    };
    let probed = probe(&mut Simulated::new(&spec), &limits, &mut |_| {});
    assert_eq!(probed.halt, Some(Halt::OutOfTime));
    assert_eq!(probed.outcome.unwrap_err().code, "too-few-reads");
    assert!(probed.reads > 0);
}

#[test]
fn one_seed_gives_one_answer() {
    let spec = ArraySpec::bundled("raid5-7k2?offset=63s&disks=3").unwrap();
    let (a, b) = (probed(&spec, 9), probed(&spec, 9));
    assert_eq!((a.outcome, a.reads), (b.outcome, b.reads));
}
