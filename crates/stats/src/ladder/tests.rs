use super::*;
use crate::Random;

/// Five seconds of 100 ms rates around a level; noise of `share` an interval,
/// half of it shared with the interval before.
fn step(load: u64, level: f64, share: f64, random: &mut Random) -> LadderStep {
    let mut last = random.normal();
    let rates = (0..50)
        .map(|_| {
            last = 0.5 * last + 0.866 * random.normal();
            level * (1.0 + share * last)
        })
        .collect();
    LadderStep { load, rates }
}

/// Runs a doubling ladder over true levels; the number of steps it took.
fn steps_taken(levels: &[f64], share: f64, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut steps = Vec::new();
    for (k, &level) in levels.iter().enumerate() {
        steps.push(step(1 << k, level, share, &mut random));
        if bracketed(&steps) {
            break;
        }
    }
    steps.len()
}

/// X(N) = N X_max / (N + N_half): rises for ever, ever less.
fn saturating(half: f64, steps: u32) -> Vec<f64> {
    (0..steps)
        .map(|k| {
            let load = f64::from(1u32 << k);
            1_000.0 * load / (load + half)
        })
        .collect()
}

#[test]
fn fewer_than_four_steps_or_a_step_without_rates_do_not_bracket() {
    let exact = |load, rate| LadderStep {
        load,
        rates: vec![rate],
    };
    let flat: Vec<LadderStep> = (0..4).map(|k| exact(1 << k, 100.0)).collect();
    for n in 0..4 {
        assert!(!bracketed(&flat[..n]), "{n} steps");
    }
    assert!(bracketed(&flat));
    let mut gap = flat;
    gap[2].rates.clear();
    assert!(!bracketed(&gap));
}

#[test]
fn a_quiet_ladder_stops_two_steps_behind_a_sharp_plateau() {
    // Proportional up to 8 outstanding, level from there.
    let levels = [
        100.0, 200.0, 400.0, 800.0, 800.0, 800.0, 800.0, 800.0, 800.0,
    ];
    for seed in 0..100 {
        assert_eq!(steps_taken(&levels, 0.02, seed), 6);
    }
}

#[test]
fn a_noisy_plateau_takes_a_few_steps_more_but_ends() {
    let mut levels = vec![100.0, 200.0, 400.0, 800.0];
    levels.extend([800.0; 8]);
    let mut total = 0;
    for seed in 0..200 {
        let taken = steps_taken(&levels, 0.10, seed);
        assert!(taken >= 6, "seed {seed} stopped after {taken}");
        total += taken;
    }
    assert!(
        total <= 200 * 10,
        "mean {}",
        f64::from(total as u32) / 200.0
    );
}

#[test]
fn a_noisy_step_on_a_rising_ladder_does_not_stop_it() {
    // 12 % and more a doubling up to the end; one step has an outage of a
    // third of its rate.
    let levels: Vec<f64> = (0..9)
        .map(|k| 100.0 * libm::pow(1.12, f64::from(k)))
        .collect();
    for seed in 0..200 {
        let mut outage = levels.clone();
        outage[3 + seed as usize % 4] *= 0.67;
        for share in [0.02, 0.10] {
            let taken = steps_taken(&outage, share, seed);
            assert_eq!(taken, 9, "seed {seed}, noise {share}");
        }
    }
}

#[test]
fn a_slow_saturation_is_followed_until_the_plateau_is_true() {
    let levels = saturating(16.0, 14);
    let best = levels[13];
    let mut total = 0;
    for seed in 0..200 {
        let taken = steps_taken(&levels, 0.03, seed);
        total += taken;
        let reached = levels[taken - 1] / best;
        assert!(
            reached >= PLATEAU_SHARE,
            "seed {seed}: {reached} at {taken}"
        );
    }
    // The plateau begins at step 10 of 14; two more prove it where all is quiet.
    assert!(
        total <= 200 * 13,
        "mean {}",
        f64::from(total as u32) / 200.0
    );
}
