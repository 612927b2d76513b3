//! Grids of known volumes, and buckets of known size.

use super::*;
use crate::random::Random;

/// The rate of a volume with caps, cut off sharply (`round` 20) or not (1 to 4).
struct Volume {
    iops: f64,
    bytes_per_s: f64,
    latency_s: f64,
    round: f64,
    shared: bool,
}

impl Volume {
    fn rate(&self, bytes: f64, outstanding: f64) -> f64 {
        let terms = [
            self.iops,
            self.bytes_per_s / bytes,
            outstanding / self.latency_s,
        ];
        let sum: f64 = terms.iter().map(|term| libm::pow(*term, -self.round)).sum();
        libm::pow(sum, -1.0 / self.round)
    }

    fn of(&self, cell: LimitCell, rates: &LimitRates) -> Option<f64> {
        let bytes = rates.block_size_bytes(cell)? as f64;
        let reads = self.rate(bytes, f64::from(rates.outstanding(cell)?));
        let write_share = match cell {
            LimitCell::Writes if !self.shared => 0.7,
            LimitCell::Mix if !self.shared => 1.0 / (0.5 + 0.5 / 0.7),
            _ => 1.0,
        };
        Some(reads * write_share)
    }

    fn grid(&self, scatter: f64, repetitions: usize, seed: u64) -> LimitRates {
        let mut random = Random::new(seed);
        let mut rates = LimitRates::default();
        let mut fill = |rates: &mut LimitRates, cells: &[LimitCell]| {
            for cell in cells {
                let Some(rate) = self.of(*cell, rates) else {
                    continue;
                };
                for _ in 0..repetitions {
                    rates.add(*cell, rate * libm::exp(scatter * random.normal()));
                }
            }
        };
        fill(&mut rates, &LimitCell::FIXED);
        rates.choose_corners();
        fill(&mut rates, &[LimitCell::SizeCorner, LimitCell::DepthCorner]);
        rates
    }
}

const GP3: Volume = Volume {
    iops: 3_000.0,
    bytes_per_s: 125.0 * 1_048_576.0,
    latency_s: 0.8e-3,
    round: 20.0,
    shared: true,
};

const SSD: Volume = Volume {
    iops: 95_000.0,
    bytes_per_s: 530.0 * 1_048_576.0,
    latency_s: 0.09e-3,
    round: 2.0,
    shared: false,
};

#[test]
fn a_sharp_shared_cap_is_a_limiter_and_its_interval_holds_it() {
    let grid = GP3.grid(0.02, 6, 1);
    let caps = grid.caps().unwrap();
    assert!(caps.iops.unwrap().per_s.contains(3_000.0), "{caps:?}");
    assert!(
        caps.bytes_per_s
            .unwrap()
            .per_s
            .contains(125.0 * 1_048_576.0)
    );
    assert_eq!((caps.counting, caps.drift), (Counting::Bytes, None));
    let found = grid.nature().unwrap();
    assert_eq!(
        (found.nature, found.sharing),
        (Nature::Limiter, Sharing::Shared)
    );
    assert!(!grid.wants_more(SCATTER_MAX));
}

#[test]
fn two_slow_runs_of_writes_do_not_hide_that_they_share_a_cap() {
    let mut grid = GP3.grid(0.002, 6, 1);
    grid.forget_writes();
    for run in 0..6 {
        let rate = 2_990.0 + 5.0 * f64::from(run);
        grid.add(LimitCell::Mix, rate);
        grid.add(LimitCell::Writes, if run < 2 { 1_500.0 } else { rate });
    }
    assert!(grid.rate(LimitCell::Writes).unwrap() < 2_700.0);
    assert_eq!(grid.nature().unwrap().sharing, Sharing::Shared);
}

#[test]
fn units_are_told_from_a_cap_on_bytes_a_quarter_beyond_them() {
    let volume = Volume {
        bytes_per_s: 3_000.0 * 32_768.0,
        ..GP3
    };
    for seed in 0..20 {
        let grid = volume.grid(0.02, 6, seed);
        let beyond = grid.block_size_bytes(LimitCell::BeyondUnit);
        let of_size = grid.corners.block_size_bytes;
        assert_eq!((of_size, beyond), (Some(32 << 10), Some(40 << 10)));
        let counting = |beyond_per_s: f64| {
            let mut grid = grid.clone();
            let runs = if beyond_per_s > 0.0 { 6 } else { 0 };
            for _ in 0..runs {
                grid.add(LimitCell::BeyondUnit, beyond_per_s);
            }
            grid.caps().unwrap().counting
        };
        assert_eq!(counting(2_400.0), Counting::Bytes);
        assert_eq!(counting(1_500.0), Counting::Units(32 << 10));
        for beyond_per_s in [0.0, 1_900.0] {
            assert_eq!(counting(beyond_per_s), Counting::Either(32 << 10));
        }
    }
}

#[test]
fn a_cap_whose_runs_met_stalls_has_them_counted_in_full_beside_it() {
    let mut grid = GP3.grid(0.002, 6, 1);
    let quiet = grid.caps().unwrap().iops.unwrap();
    assert_eq!(quiet.in_full, None);
    for _ in 0..2 {
        grid.add(LimitCell::Small, 1_500.0);
    }
    let found = grid.caps().unwrap().iops.unwrap();
    assert!(found.per_s.contains(3_000.0), "{found:?}");
    let full = found.in_full.unwrap();
    assert_eq!(full.apart, 2, "{full:?}");
    assert!((full.apart_share + 0.5).abs() < 0.03, "{full:?}");
    let share = 1.0 - 0.5 * 2.0 / full.runs as f64;
    assert!((full.ratio / share - 1.0).abs() < 0.02, "{full:?}");
}

#[test]
fn a_drive_has_no_limiter() {
    for seed in 0..50 {
        let grid = SSD.grid(0.02, 6, seed);
        let found = grid.nature();
        assert!(
            found.is_none_or(|found| found.nature != Nature::Limiter),
            "{seed}"
        );
    }
}

#[test]
fn above_the_scatter_nothing_is_called_a_limiter() {
    let grid = GP3.grid(0.10, 6, 3);
    assert!(grid.wants_more(SCATTER_MAX));
    let found = grid.nature().unwrap();
    assert_eq!(found.nature, Nature::Undecided);
    let mut enough = GP3.grid(0.10, 24, 3);
    enough.corners = grid.corners;
    assert!(!enough.wants_more(SCATTER_MAX), "24 runs are the most");
}

#[test]
fn few_runs_say_nothing() {
    let mut rates = LimitRates::default();
    assert_eq!(rates.caps(), None);
    rates.choose_corners();
    assert_eq!(rates.corners, Corners::default());
    for cell in LimitCell::FIXED {
        rates.add(cell, 100.0);
        rates.add(cell, 0.0);
    }
    assert_eq!(
        (rates.caps(), rates.nature(), rates.repetitions()),
        (None, None, 1)
    );
}

#[test]
fn a_cap_that_falls_within_the_grid_is_a_drift() {
    let mut rates = LimitRates::default();
    for round in 0..8 {
        for cell in LimitCell::FIXED {
            let rate = if round < 5 { 3_000.0 } else { 1_000.0 };
            rates.add(cell, rate + f64::from(round));
        }
    }
    let drift = rates.caps().unwrap().drift.unwrap();
    assert_eq!(drift.after_rounds, Some(5));
    assert!((drift.change_share + 0.667).abs() < 0.05, "{drift:?}");
}

#[test]
fn a_burst_that_ends_with_the_first_runs_is_a_drift_or_a_first_run() {
    let of = |fast_runs: usize, burst_per_s: f64| {
        let mut rates = LimitRates::default();
        let mut runs = 0;
        for _ in 0..6 {
            for cell in LimitCell::FIXED {
                let rate = if runs < fast_runs { burst_per_s } else { 300.0 };
                rates.add(cell, rate);
                runs += 1;
            }
        }
        let drift = rates.caps().unwrap().drift;
        let after = drift.map(|drift| drift.after_rounds);
        (after, rates.first_run_ratio().map(f64::round))
    };
    // The first three of a round show the cap on operations.
    for (fast_runs, expected) in [
        (0, (None, None)),
        (2, (None, Some(10.0))),
        (3, (Some(Some(1)), Some(10.0))),
        (8, (Some(Some(1)), Some(10.0))),
        (10, (Some(Some(1)), Some(10.0))),
        (11, (Some(Some(2)), Some(10.0))),
        (16, (Some(Some(2)), Some(10.0))),
    ] {
        assert_eq!(of(fast_runs, 3_000.0), expected, "{fast_runs}");
    }
    // A first round that is a little faster is none.
    assert_eq!(of(8, 340.0), (None, None));
    assert_eq!(of(8, 100.0).0, None);
}

#[test]
fn disturbed_runs_and_a_rise_without_a_cap_are_no_drift() {
    let of = |rate: fn(LimitCell, usize) -> f64| {
        let mut rates = LimitRates::default();
        for round in 0..12 {
            for cell in LimitCell::FIXED {
                if round < 6 || cell == LimitCell::Small {
                    rates.add(cell, rate(cell, round));
                }
            }
        }
        rates.caps().unwrap()
    };
    // The last two runs of a cell were slowed to half, and two in between.
    let disturbed = of(|cell, round| match (cell, round) {
        (LimitCell::Small, 4 | 7 | 10 | 11) | (LimitCell::Large, 1) => 1_500.0,
        _ => 3_000.0,
    });
    assert_eq!(disturbed.drift, None);
    // Behind the writes of the grid, a drive without a cap on operations reads faster.
    let rise = |cell, round| match cell {
        LimitCell::Small if round >= 6 => 530_000.0,
        LimitCell::Small => 490_000.0,
        LimitCell::Medium => 200_000.0,
        LimitCell::HalfDepth => 310_000.0,
        _ => 3_400.0,
    };
    assert_eq!(of(rise).drift, None);
    // The same of a cap matters.
    let moved = of(|cell, round| match cell {
        LimitCell::Small if round >= 6 => 3_200.0,
        _ => 3_000.0,
    });
    assert!(moved.drift.unwrap().change_share > 0.0, "{moved:?}");
}

/// Rates of a volume of 3,000 IOPS, as rounds ask for them, with these of writes and of 4 KiB
/// reads behind them, by run; and the kinds of the runs.
fn rounds(writes: f64, again: fn(usize) -> f64, scatter: f64, seed: u64) -> (LimitRates, String) {
    let mut random = Random::new(seed);
    let mut rates = LimitRates::default();
    let mut kinds = String::new();
    let mut number = 0;
    while let Some(cells) = rates.round(number, true) {
        for cell in cells {
            let (kind, rate) = match cell {
                LimitCell::Mix => ('m', writes),
                LimitCell::Writes => ('w', writes),
                LimitCell::SmallAgain => ('a', again(rates.of(cell).len())),
                _ => ('r', GP3.of(cell, &rates).unwrap()),
            };
            kinds.push(kind);
            rates.add(cell, rate * libm::exp(scatter * random.normal()));
        }
        number += 1;
    }
    (rates, kinds)
}

#[test]
fn all_reads_come_before_the_mix_and_that_before_the_writes() {
    for (scatter, quiet_min) in [(0.0, 100), (0.05, 95), (0.08, 90), (0.2, 0)] {
        let mut quiet = 0;
        for seed in 0..100 {
            let (rates, kinds) = rounds(3_000.0, |_| 3_000.0, scatter, seed);
            let repetitions = rates.repetitions();
            let behind = kinds.trim_start_matches('r').trim_end_matches('a');
            let expected = ["m", "w"].map(|kind| kind.repeat(repetitions)).concat();
            assert_eq!(behind, expected, "{scatter}, {seed}");
            quiet += usize::from(rates.caps().unwrap().is_quiet);
            match scatter {
                0.0 => assert_eq!(repetitions, REPETITIONS_MIN),
                0.2 => assert_eq!(repetitions, REPETITIONS_MAX),
                _ => {}
            }
        }
        // What the writes add to the scatter seldom undoes what the reads came to.
        assert!(quiet >= quiet_min, "{scatter}: {quiet}");
    }
}

#[test]
fn reads_behind_slower_writes_show_whether_a_burst_ended() {
    let of = |writes, again| {
        let (rates, kinds) = rounds(writes, again, 0.0, 1);
        let runs = kinds.len() - kinds.trim_end_matches('a').len();
        assert_eq!(runs, rates.of(LimitCell::SmallAgain).len());
        (rates.caps().unwrap().drift, runs)
    };
    // Writes as fast as reads leave nothing to ask.
    assert_eq!(of(3_000.0, |_| 300.0), (None, 0));
    // A cap of the writes' own, and a cache that is written back for ten runs.
    assert_eq!(of(1_000.0, |_| 3_000.0), (None, 3));
    let written_back = |run| if run < 10 { 500.0 } else { 3_000.0 };
    assert_eq!(of(1_000.0, written_back), (None, 12));
    // One disturbed run is no fall.
    let disturbed = |run| if run == 1 { 1_500.0 } else { 3_000.0 };
    assert_eq!(of(1_000.0, disturbed), (None, 3));
    let (drift, runs) = of(300.0, |_| 300.0);
    let drift = drift.expect("a burst that ended");
    assert_eq!((drift.after_rounds, runs), (None, REPETITIONS_MAX));
    assert!((drift.change_share + 0.9).abs() < 0.01, "{drift:?}");
}

/// Something else slowed down two of the first six runs of one cell.
#[test]
fn a_cell_whose_mean_was_moved_by_disturbed_runs_is_measured_again() {
    let mut rates = LimitRates::default();
    let mut number = 0;
    while let Some(cells) = rates.round(number, false) {
        for cell in cells {
            let is_disturbed = cell == LimitCell::Medium && [1, 4].contains(&number);
            let share = if is_disturbed { 0.5 } else { 1.0 };
            rates.add(cell, share * GP3.of(cell, &rates).unwrap());
        }
        number += 1;
    }
    assert!(rates.repetitions() > REPETITIONS_MIN);
    let cap = rates.caps().unwrap().iops.expect("a cap on operations");
    assert!(cap.per_s.contains(3_000.0), "{cap:?}");
}

#[test]
fn rounds_end_where_no_run_has_a_rate() {
    let mut rates = LimitRates::default();
    let rounds = (0..1_000).take_while(|number| rates.round(*number, true).is_some());
    assert!(rounds.count() < 100);
    assert_eq!(rates.caps(), None);
}

#[test]
fn writes_that_were_stopped_early_do_not_take_the_reads_along() {
    let (whole, _) = rounds(3_000.0, |_| 3_000.0, 0.02, 1);
    let mut stopped = LimitRates::default();
    for cell in LimitCell::FIXED {
        let runs = if cell.writes() { 2 } else { REPETITIONS_MIN };
        for rate in &whole.of(cell)[..runs] {
            stopped.add(cell, *rate);
        }
    }
    let caps = stopped.caps().expect("of reads");
    assert!(caps.iops.is_some() && caps.bytes_per_s.is_some());
    assert_eq!(stopped.nature().unwrap().sharing, Sharing::Untested);
}

#[test]
fn writes_that_scatter_blur_no_level_of_reads() {
    let mut random = Random::new(1);
    let mut rates = LimitRates::default();
    for cell in LimitCell::FIXED {
        for run in 0..REPETITIONS_MIN {
            // A cache took the first ones.
            let rate = match (cell.writes(), run < 3) {
                (true, true) => 9_000.0,
                (true, false) => 1_000.0,
                (false, _) => GP3.of(cell, &rates).unwrap(),
            };
            rates.add(cell, rate * libm::exp(0.04 * random.normal()));
        }
    }
    let with_writes = rates.caps().unwrap();
    rates.forget_writes();
    let alone = rates.caps().unwrap();
    assert_eq!(with_writes.tolerance, alone.tolerance);
    assert!(with_writes.scatter > alone.scatter);
}

#[test]
fn slopes_tell_which_limit_binds() {
    let cells = |bytes: f64, outstanding: f64| {
        let at = |bytes, outstanding| vec![GP3.rate(bytes, outstanding); 4];
        binding(&BindingRates {
            load: at(bytes, outstanding),
            larger: at(2.0 * bytes, outstanding),
            smaller: at(bytes / 2.0, outstanding),
            deeper: at(bytes, 2.0 * outstanding),
        })
        .unwrap()
        .bound_by
    };
    assert_eq!(cells(8_192.0, 32.0), Some(BoundBy::Iops));
    assert_eq!(cells(262_144.0, 32.0), Some(BoundBy::Bandwidth));
    assert_eq!(cells(8_192.0, 1.0), Some(BoundBy::Latency));
    assert_eq!(cells(43_000.0, 64.0), None, "at the corner");
    assert_eq!(binding(&BindingRates::default()), None);
}

fn seconds(levels: &[(f64, usize)], scatter: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let each = levels.iter().flat_map(|&(rate, n)| vec![rate; n]);
    each.map(|rate| rate * libm::exp(scatter * random.normal()))
        .collect()
}

#[test]
fn a_bucket_is_measured_with_what_was_taken_before() {
    let rates = seconds(&[(3_000.0, 900), (300.0, 400)], 0.05, 5);
    let step = find_step(&rates, 0).unwrap();
    assert!((915..925).contains(&step.marked_at), "{step:?}");
    assert_eq!(is_lasting(&rates, &step), Some(true));
    assert_eq!(is_lasting(&rates[..1_000], &step), None);
    let earlier = [
        BurstUse {
            per_s: 0.0,
            per_s_high: 0.0,
            seconds: 1e4,
        },
        BurstUse {
            per_s: 3_000.0,
            per_s_high: 3_000.0,
            seconds: 100.0,
        },
    ];
    let bucket = fit_bucket(&rates, &step, &earlier, 0).unwrap();
    assert!(bucket.bucket.contains(2_700_000.0), "{bucket:?}");
    assert!(bucket.lasts_s.contains(1_000.0), "{bucket:?}");
    let rest_s = rest_after_s(&bucket);
    assert!((rest_s - 540.0).abs() < 20.0);
    let again = seconds(&[(3_000.0, 60), (300.0, 60)], 0.05, 6);
    let refill = fit_refill(&bucket, &again, rest_s).unwrap();
    assert!(refill.per_s.contains(300.0), "{refill:?}");
    // A second drive that takes all that a bucket holds does not show how fast it filled.
    let small = seconds(&[(3_000.0, 60), (300.0, 400)], 0.0, 5);
    let step = find_step(&small, 0).unwrap();
    let bucket = fit_bucket(&small, &step, &[], 0).unwrap();
    assert_eq!(fit_refill(&bucket, &again, 5_400.0), None);
    // Seconds that the earlier use includes count once.
    let bucket = fit_bucket(&small, &step, &earlier[1..], 60).unwrap();
    assert!(bucket.bucket.contains(270_000.0), "{bucket:?}");
}

#[test]
fn what_does_not_last_or_come_back_is_no_credit() {
    let dip = seconds(&[(3_000.0, 200), (1_000.0, 60), (3_000.0, 400)], 0.05, 7);
    let step = find_step(&dip, 0).unwrap();
    assert_eq!(is_lasting(&dip, &step), Some(false));
    assert_eq!(find_step(&seconds(&[(3_000.0, 4_000)], 0.1, 8), 0), None);
    assert_eq!(find_step(&[], 0), None);
    let rates = seconds(&[(3_000.0, 900), (300.0, 400)], 0.05, 5);
    let bucket = fit_bucket(&rates, &find_step(&rates, 0).unwrap(), &[], 0).unwrap();
    assert_eq!(
        fit_refill(&bucket, &seconds(&[(300.0, 200)], 0.05, 9), 540.0),
        None
    );
}
