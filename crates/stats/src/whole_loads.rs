//! The rate at a latency limit with few operations in flight.
//!
//! Loads are whole numbers, and between two of them latency may jump (18 to 59 ms between 2 and 4
//! in flight on an array of mirrors): a line across the jump misses the runs on both sides. So each
//! load is judged by its own runs, and the answer is the largest load that meets the limit. Rates
//! and latencies are compared as logarithms, by Huber means with a scale shared by all loads, with
//! Student's interval; if a load has four or more runs and more scatter than the others, its own
//! scatter counts.
//!
//! - The interval is that of the load's own runs. If the interval of latency at the next load
//!   includes the limit, it is extended up to that load's interval; if its own latency's does, down
//!   to that of the load below.
//! - If a smaller load reaches the rate, within 1 % or within the interval of that rate and 3 %,
//!   the answer is that one, the same at a shorter latency, with an interval that ends where that
//!   rate's does.
//!
//! Not included: which runs to make.

use crate::at_limit::LoadRun;
use crate::distribution::student_quantile;
use crate::in_full::{InFull, in_full};
use crate::isotonic::isotonic;
use crate::knee::PLATEAU_SHARE;
use crate::robust::{robust_groups, robust_mean_interval};
use crate::sample::Estimate;

/// Fewest runs of the load that gives the answer.
const RUNS_MIN: usize = 4;
/// Fewest runs of another load to be judged.
const NEIGHBOUR_RUNS_MIN: usize = 2;
/// A load with this share of the maximum counts as reaching it, whatever their intervals.
const REACHES: f64 = 0.99;
/// As for [`robust_mean_interval`].
const WIDENING: f64 = 1.1;
/// Of an interval of which only the middle matters.
const LEVEL: f64 = 0.95;

/// The rate at a limit, from runs at whole loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtWholeLoad {
    /// A load meets the limit.
    Met {
        /// The largest load that meets it.
        load_max: f64,
        /// The next larger measured load, which does not; none if all do.
        load_above: Option<f64>,
        /// The smallest load that reaches the rate.
        load: f64,
        /// Operations a second there.
        rate: Estimate,
        /// The limited latency there, in seconds.
        latency_s: f64,
    },
    /// The same, but the load that meets it has too few runs for an interval.
    FewRuns {
        /// The largest load that meets it.
        load_max: f64,
    },
    /// None meets it: the crossing is below this.
    NoneMeets {
        /// The smallest load that ran.
        load: f64,
    },
    /// Fewer than two loads with two runs each.
    Unknown,
}

/// One load and the results of its runs, as logarithms.
struct Rung {
    load: f64,
    runs: usize,
    rate: Estimate,
    latency: Estimate,
}

/// The rate of the largest whole load that meets the limit.
///
/// n = 0, 1, 2 and 3, or a run whose load, rate or latency is not above 0: unknown.
pub fn rate_at_whole_load(runs: &[LoadRun], limit_s: f64, level: f64) -> AtWholeLoad {
    let Some(rungs) = rungs(runs, level).filter(|rungs| rungs.len() >= 2) else {
        return AtWholeLoad::Unknown;
    };
    let limit = libm::log(limit_s);
    let latencies: Vec<f64> = rungs.iter().map(|rung| rung.latency.value).collect();
    let met = isotonic(&latencies)
        .iter()
        .filter(|latency| **latency <= limit)
        .count();
    let Some(top) = met.checked_sub(1) else {
        return AtWholeLoad::NoneMeets {
            load: rungs[0].load,
        };
    };
    let most = rungs[..met]
        .iter()
        .map(|rung| rung.rate)
        .max_by(|a, b| a.value.total_cmp(&b.value))
        .unwrap_or(rungs[top].rate);
    let least = |share: f64| most.value + libm::log(share);
    let enough = most.low.clamp(least(PLATEAU_SHARE), least(REACHES));
    let reaches = |rung: &&Rung| rung.runs >= RUNS_MIN && rung.rate.value >= enough;
    let load_max = rungs[top].load;
    // If that is not the largest load that meets the limit, the limit is far away; otherwise the
    // uncertainty about the limit is in the interval.
    let Some(found) = rungs[..met].iter().find(reaches) else {
        return AtWholeLoad::FewRuns { load_max };
    };
    let mut rate = found.rate;
    if most.value > rate.value {
        rate.high = rate.high.max(most.high);
    }
    let above = rungs.get(met);
    if let Some(above) = above.filter(|above| above.latency.low <= limit) {
        rate.high = rate.high.max(above.rate.high);
    }
    if found.latency.high > limit {
        let below = rungs[..top]
            .last()
            .map_or(f64::NEG_INFINITY, |rung| rung.rate.low);
        // Nothing below it was measured: not even one in flight may meet the limit.
        rate.low = rate.low.min(below);
    }
    AtWholeLoad::Met {
        load_max,
        load_above: above.map(|above| above.load),
        load: found.load,
        rate: rate.map(libm::exp),
        latency_s: libm::exp(found.latency.value),
    }
}

fn rungs(runs: &[LoadRun], level: f64) -> Option<Vec<Rung>> {
    let sound = |run: &LoadRun| run.load > 0.0 && run.rate > 0.0 && run.latency_s > 0.0;
    if !runs.iter().all(sound) {
        return None;
    }
    let loads = loads_of(runs);
    let groups = |value: fn(&LoadRun) -> f64| -> Vec<Vec<f64>> {
        loads.iter().map(|load| at(runs, *load, value)).collect()
    };
    let rates = intervals(&groups(|run| run.rate), level)?;
    let latencies = intervals(&groups(|run| run.latency_s), level)?;
    let each = loads.iter().zip(rates.into_iter().zip(latencies));
    Some(
        each.map(|(&load, (rate, latency))| Rung {
            load,
            runs: at(runs, load, |run| run.rate).len(),
            rate,
            latency,
        })
        .collect(),
    )
}

/// The loads with enough runs to be judged, ascending.
fn loads_of(runs: &[LoadRun]) -> Vec<f64> {
    let mut loads: Vec<f64> = runs.iter().map(|run| run.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    loads.retain(|load| at(runs, *load, |run| run.rate).len() >= NEIGHBOUR_RUNS_MIN);
    loads
}

/// Logarithms of a value of the runs at one load.
fn at(runs: &[LoadRun], load: f64, value: fn(&LoadRun) -> f64) -> Vec<f64> {
    let here = runs.iter().filter(|run| run.load == load);
    here.map(|run| libm::log(value(run))).collect()
}

/// The plain mean of the runs of all loads, each relative to the robust mean of its own load. None
/// as for [`in_full`].
pub fn loads_in_full(runs: &[LoadRun]) -> Option<InFull> {
    let groups = loads_of(runs).into_iter();
    let groups: Vec<Vec<f64>> = groups.map(|load| at(runs, load, |run| run.rate)).collect();
    let means = match groups.as_slice() {
        [only] => vec![robust_mean_interval(only, LEVEL)?.value],
        _ => robust_groups(&groups)?.means,
    };
    let each = groups.iter().zip(means);
    let ratios = each.flat_map(|(group, mean)| group.iter().map(move |log| libm::exp(log - mean)));
    in_full(&ratios.collect::<Vec<_>>())
}

/// The mean of each group, with the pooled scatter or its own, whichever is larger.
fn intervals(groups: &[Vec<f64>], level: f64) -> Option<Vec<Estimate>> {
    let fit = robust_groups(groups)?;
    let t = student_quantile(0.5 + 0.5 * level, fit.degrees);
    let each = groups.iter().zip(&fit.means).map(|(group, &value)| {
        let pooled = WIDENING * t * fit.scatter / libm::sqrt(group.len() as f64);
        let own = robust_mean_interval(group, level).filter(|_| group.len() >= RUNS_MIN);
        let half = own.map_or(0.0, |own| own.high - own.value).max(pooled);
        Estimate {
            value,
            low: value - half,
            high: value + half,
            level,
        }
    });
    Some(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Loads with rate and latency, `count` runs of each, that scatter by `noise`.
    fn runs(loads: &[(f64, f64, f64)], count: usize, noise: f64, seed: u64) -> Vec<LoadRun> {
        let mut random = Random::new(seed);
        let mut all = Vec::new();
        for _ in 0..count {
            for &(load, rate, latency_s) in loads {
                let factor = libm::exp(noise * random.normal());
                all.push(LoadRun {
                    load,
                    rate: rate * factor,
                    latency_s: latency_s / factor,
                });
            }
        }
        all
    }

    /// Mirrors: the tail latency jumps between 3 and 4 in flight.
    const JUMP: [(f64, f64, f64); 4] = [
        (2.0, 210.0, 0.018),
        (3.0, 220.0, 0.030),
        (4.0, 233.0, 0.059),
        (5.0, 249.0, 0.070),
    ];

    fn met(found: AtWholeLoad) -> (f64, Estimate) {
        match found {
            AtWholeLoad::Met { load, rate, .. } => (load, rate),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_answer_is_the_largest_load_whose_own_runs_meet_the_limit() {
        for (limit_s, load, truth) in [
            (0.060, 4.0, 233.0),
            (0.045, 3.0, 220.0),
            (0.020, 2.0, 210.0),
        ] {
            let found = met(rate_at_whole_load(&runs(&JUMP, 4, 0.002, 1), limit_s, 0.95));
            assert_eq!(found.0, load, "{limit_s}");
            assert!(found.1.contains(truth), "{found:?}");
            // Far from the limit on both sides: the interval of its own runs.
            assert!(found.1.high < truth * 1.03 || limit_s == 0.060, "{found:?}");
        }
    }

    #[test]
    fn doubt_about_the_limit_is_in_the_interval() {
        // 4 in flight may meet 59 ms or not.
        let (load, rate) = met(rate_at_whole_load(&runs(&JUMP, 6, 0.01, 3), 0.0592, 0.95));
        assert!(
            rate.contains(233.0) && rate.contains(220.0),
            "{load}: {rate:?}"
        );
        assert!(rate.high < 249.0, "{rate:?}");
    }

    #[test]
    fn a_smaller_load_that_reaches_the_rate_is_the_answer() {
        let flat = [
            (1.0, 700.0, 0.001),
            (2.0, 1_000.0, 0.002),
            (3.0, 1_001.0, 0.003),
            (4.0, 1_000.0, 0.004),
            (5.0, 1_000.0, 0.005),
        ];
        let found = rate_at_whole_load(&runs(&flat, 5, 0.005, 1), 0.0045, 0.95);
        let AtWholeLoad::Met {
            load_max,
            load_above,
            load,
            rate,
            latency_s,
        } = found
        else {
            panic!("{found:?}");
        };
        assert_eq!((load_max, load_above, load), (4.0, Some(5.0), 2.0));
        assert!(rate.contains(1_001.0) && (latency_s - 0.002).abs() < 0.0001);
        // Within the interval, though not within 1 %.
        let nearly = |scatter: f64| -> Vec<LoadRun> {
            let loads = [(1.0, 985.0), (2.0, 1_000.0), (3.0, 1_000.0)];
            let each = loads.iter().flat_map(|&(load, rate)| {
                let signs = [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
                signs.map(|sign| LoadRun {
                    load,
                    rate: rate * libm::exp(sign * scatter),
                    latency_s: 0.001 * load,
                })
            });
            each.collect()
        };
        for (scatter, expected) in [(0.001, 2.0), (0.03, 1.0)] {
            let (load, rate) = met(rate_at_whole_load(&nearly(scatter), 0.0025, 0.95));
            assert!(
                load == expected && rate.contains(1_000.0),
                "{load}: {rate:?}"
            );
        }
        // More in flight gives less.
        let falling = [
            (1.0, 1_000.0, 0.001),
            (2.0, 900.0, 0.002),
            (3.0, 800.0, 0.004),
        ];
        let (load, rate) = met(rate_at_whole_load(
            &runs(&falling, 5, 0.005, 1),
            0.003,
            0.95,
        ));
        assert!(load == 1.0 && rate.contains(1_000.0), "{rate:?}");
    }

    #[test]
    fn where_the_limit_is_not_crossed_that_is_the_answer() {
        let at = |limit_s, count| rate_at_whole_load(&runs(&JUMP, count, 0.002, 1), limit_s, 0.95);
        let AtWholeLoad::Met {
            load, load_above, ..
        } = at(0.5, 4)
        else {
            panic!("all meet it");
        };
        assert_eq!((load, load_above), (5.0, None));
        assert_eq!(at(0.001, 4), AtWholeLoad::NoneMeets { load: 2.0 });
        assert_eq!(at(0.045, 3), AtWholeLoad::FewRuns { load_max: 3.0 });
        for count in [0, 1] {
            assert_eq!(at(0.045, count), AtWholeLoad::Unknown);
        }
        let mut unsound = runs(&JUMP, 4, 0.002, 1);
        unsound[0].latency_s = 0.0;
        assert_eq!(
            rate_at_whole_load(&unsound, 0.045, 0.95),
            AtWholeLoad::Unknown
        );
        assert_eq!(
            rate_at_whole_load(&runs(&JUMP[..1], 4, 0.0, 1), 0.01, 0.95),
            AtWholeLoad::Unknown
        );
    }

    #[test]
    fn intervals_hold_the_rate_whether_the_limit_is_near_or_far() {
        for limit_s in [0.0445, 0.0585, 0.0595, 0.064] {
            let truth = JUMP
                .iter()
                .filter(|rung| rung.2 <= limit_s)
                .map(|rung| rung.1);
            let truth = truth.fold(0.0, f64::max);
            let covers = |seed: &u64| match rate_at_whole_load(
                &runs(&JUMP, 5, 0.05, *seed),
                limit_s,
                0.95,
            ) {
                AtWholeLoad::Met {
                    rate,
                    load_above: Some(_),
                    ..
                } => rate.contains(truth),
                // With 5 in flight the limit may be met by chance: more runs are made.
                _ => true,
            };
            let covered = (0..150).filter(covers).count();
            assert!(covered >= 137, "{limit_s}: {covered} of 150");
        }
    }
}
