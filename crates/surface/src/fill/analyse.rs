//! Finds where the rate of a fill changes.
//!
//! Change points of the rate over bytes written (E-divisive, as in `stats::change_points`) on at
//! most 512 pieces, each located to the step by least squares between its neighbours. Intervals
//! come from a block bootstrap: blocks of adjacent residuals of each stretch are redrawn around its
//! mean, and the change is located in the result; a step to both sides is added, as a change inside
//! a step cannot be located better. Rates are bytes over time, with intervals from blocks of steps.

use super::Step;
use super::held::held_bytes;
use serde::{Deserialize, Serialize};
use stripewise_stats::{Bootstrap, ChangePointRule, Random, change_points, mean};

/// Most values searched for change points.
const VALUES_MAX: usize = 512;
/// Fewest steps that can show a change.
const STEPS_MIN: usize = 12;
/// Smaller changes of the rate's logarithm are not noticeable to users.
const MAGNITUDE_MIN: f64 = 0.08;
const RESAMPLES: usize = 400;
/// Largest remaining share of the rate after a cache is full.
const FALL: f64 = 0.8;
/// Part of a stretch that is next to its change, and the fewest steps of it.
const NEAR_PART: usize = 8;
const NEAR_STEPS_MIN: usize = 3;
/// Upper limit of memory in which drives buffer writes.
const BUFFER_BYTES_MAX: u64 = 1 << 30;
/// Each step waits until the preceding one is completely written: a device with a constant queue
/// would take up to 2 % more.
const UNSURE: [f64; 2] = [0.99, 1.02];
/// Steps on each side of a change that are used to locate it.
const PLACING_STEPS: usize = 600;

/// A stretch of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Stretch {
    /// Bytes written before it.
    pub from_bytes: u64,
    /// Bytes written at its end.
    pub to_bytes: u64,
    /// Bytes over time.
    pub bytes_per_s: f64,
    /// Interval of the rate (95 %); `None` if there are too few steps.
    pub bytes_per_s_interval: Option<[f64; 2]>,
}

/// Where the rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Change {
    /// Most likely bytes written before it.
    pub at_bytes: u64,
    /// Its interval (95 %).
    pub interval_bytes: [u64; 2],
}

/// A fill as stretches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// At least one if anything was written.
    pub stretches: Vec<Stretch>,
    /// Between them.
    pub changes: Vec<Change>,
    /// Bytes per second next to each of them, before and after it.
    pub next_to_changes: Vec<[f64; 2]>,
    /// Bytes that the drive's own memory may hold when a fast part seems to end.
    pub held_bytes: u64,
}

/// A fast part, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastPart {
    /// Where it ends.
    pub end: Change,
    /// Bytes per second before that.
    pub fast_bytes_per_s: f64,
    /// Bytes per second after it.
    pub slow_bytes_per_s: f64,
    /// Bytes of it that the drive's own memory may hold: the flash ends earlier by as much.
    pub held_bytes: u64,
}

impl FastPart {
    /// The interval (95 %) for both what the host could write fast and the drive's fast flash.
    pub fn interval_bytes(&self) -> [u64; 2] {
        let [low, high] = self.end.interval_bytes;
        [low.saturating_sub(self.held_bytes), high]
    }

    /// A rate midway between the two.
    pub fn between_bytes_per_s(&self) -> f64 {
        libm::sqrt(self.fast_bytes_per_s * self.slow_bytes_per_s)
    }
}

impl Curve {
    /// The first drop of the rate by at least a fifth below everything written before it: the end
    /// of the fast part. What a buffer absorbed is excluded ([`Curve::buffer`]), and so is a rate
    /// that falls by and by, as from the outer to the inner zones of a disk.
    pub fn fast_part(&self) -> Option<FastPart> {
        let from = usize::from(self.buffer().is_some());
        let (mut bytes, mut time_s) = (0.0, 0.0);
        for (number, end) in self.changes.iter().enumerate().skip(from) {
            let stretch = &self.stretches[number];
            let length = (stretch.to_bytes - stretch.from_bytes) as f64;
            bytes += length;
            time_s += length / stretch.bytes_per_s.max(1.0);
            let fast_bytes_per_s = bytes / time_s.max(1e-9);
            let slow_bytes_per_s = self.stretches[number + 1].bytes_per_s;
            let [before, after] = self
                .next_to_changes
                .get(number)
                .copied()
                .unwrap_or([0.0; 2]);
            if slow_bytes_per_s < FALL * fast_bytes_per_s && after < FALL * before {
                return Some(FastPart {
                    end: *end,
                    fast_bytes_per_s,
                    slow_bytes_per_s,
                    held_bytes: self.held_bytes,
                });
            }
        }
        None
    }

    /// The end of a buffer that absorbed the first writes: a first stretch of less than 1 GiB, and
    /// of less than a third of the next one, before that one drops in turn.
    pub fn buffer(&self) -> Option<Change> {
        let end = self.changes.first()?;
        let [first, next, further @ ..] = &self.stretches[..] else {
            return None;
        };
        let small = end.at_bytes < BUFFER_BYTES_MAX.min((next.to_bytes - next.from_bytes) / 3);
        let falls = |from: &Stretch, to: &Stretch| to.bytes_per_s < from.bytes_per_s;
        let again = further.iter().any(|later| falls(next, later));
        (small && falls(first, next) && again).then_some(*end)
    }
}

/// What recovered during a rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Back {
    /// Bytes that were written fast again.
    pub bytes: u64,
    /// Their interval (95 %).
    pub interval_bytes: [u64; 2],
    /// The writing ended before it became slow: a lower bound.
    pub at_least: bool,
}

/// The stretches of a fill, and where they change.
pub fn analyse(steps: &[Step], seed: u64) -> Curve {
    let cuts = cuts_of(steps);
    let mut edges = vec![0];
    edges.extend(&cuts);
    edges.push(steps.len());
    let changes: Vec<Change> = (1..edges.len().saturating_sub(1))
        .map(|number| {
            let (from, cut, to) = (edges[number - 1], edges[number], edges[number + 1]);
            let from = from.max(cut.saturating_sub(PLACING_STEPS));
            let to = to.min(cut + PLACING_STEPS);
            let (part, cut) = (&steps[from..to], cut - from);
            let rates = outer_rates(part, cut);
            change(
                part,
                &logarithms(part),
                cut,
                rates,
                seed.wrapping_add(number as u64),
            )
        })
        .collect();
    let next_to_changes = edges.windows(3);
    let next_to_changes = next_to_changes.map(|edges| next_to(steps, edges)).collect();
    let stretches = edges
        .windows(2)
        .filter(|edge| edge[0] < edge[1])
        .enumerate()
        .map(|(number, edge)| {
            let before = number.checked_sub(1).map(|before| changes[before].at_bytes);
            let after = changes.get(number).map(|change| change.at_bytes);
            let part = inner(&steps[edge[0]..edge[1]], before.is_some(), after.is_some());
            stretch(part, before, after, seed)
        })
        .collect();
    let curve = Curve {
        stretches,
        changes,
        next_to_changes,
        held_bytes: 0,
    };
    Curve {
        held_bytes: held_bytes(steps, &curve),
        ..curve
    }
}

/// What was fast again after a rest: the steps above the mean of both rates, up to where the rate
/// drops. `None` if the curve has no fast part.
pub fn came_back(steps: &[Step], curve: &Curve, rest_ns: u64, seed: u64) -> Option<Back> {
    let fast_part = curve.fast_part()?;
    let between = fast_part.between_bytes_per_s();
    let end_of = |step: &Step| step.from_bytes + step.length_bytes;
    let step_bytes = steps.first()?.length_bytes;
    let values: Vec<f64> = steps.iter().map(Step::bytes_per_s).collect();
    let is_fast = |value: f64| value >= between;
    let fast_steps = values.iter().filter(|value| is_fast(**value)).count();
    if fast_steps == 0 {
        return Some(Back {
            bytes: 0,
            interval_bytes: [0, step_bytes],
            at_least: false,
        });
    }
    if fast_steps == values.len() {
        let bytes = steps.last().map_or(0, end_of);
        return Some(Back {
            bytes,
            interval_bytes: [bytes, bytes],
            at_least: true,
        });
    }
    // A buffer's initial rate is far higher, and is not a separate rate.
    let rates = [fast_part.fast_bytes_per_s, fast_part.slow_bytes_per_s];
    let [fast, slow] = rates.map(libm::log);
    let values: Vec<f64> = logarithms(steps)
        .into_iter()
        .map(|value| value.clamp(slow, fast))
        .collect();
    let change = change(steps, &values, best_cut(&values), rates, seed);
    // The drive's memory takes part of it, and is still being emptied when the rest begins: a drive
    // that rested all the time would have recovered more.
    let [low, high] = change.interval_bytes;
    let held = fast_part.held_bytes;
    let emptying_ns = held as f64 * 1e9 / fast_part.slow_bytes_per_s.max(1.0);
    let share = (emptying_ns / (rest_ns as f64).max(1.0)).min(1.0);
    let not_rested = (share * change.at_bytes as f64 / (1.0 - 0.9 * share)) as u64;
    Some(Back {
        bytes: change.at_bytes,
        interval_bytes: [low.saturating_sub(held), high + held.max(not_rested)],
        at_least: false,
    })
}

/// Steps at which the rate changes.
fn cuts_of(steps: &[Step]) -> Vec<usize> {
    if steps.len() < STEPS_MIN {
        return Vec::new();
    }
    let group = steps.len().div_ceil(VALUES_MAX);
    // Logarithms: a single step a hundred times as fast must not mask the others.
    let values: Vec<f64> = steps
        .chunks(group)
        .map(|part| libm::log(rate_of(part)))
        .collect();
    let rule = ChangePointRule {
        window: 64,
        p_value_max: 0.001,
        magnitude_min: 0.0,
    };
    let coarse: Vec<usize> = change_points(&values, &rule)
        .iter()
        .map(|change| change.index)
        .filter(|cut| *cut > 0)
        .collect();
    let coarse = of_some_size(without_slivers(coarse, values.len()), &values);
    // Located to the step, between the neighbours.
    let all = logarithms(steps);
    let mut edges = vec![0];
    edges.extend(coarse.iter().map(|cut| cut * group));
    edges.push(steps.len());
    (1..edges.len() - 1)
        .map(|number| {
            let from = edges[number - 1].max(edges[number].saturating_sub(PLACING_STEPS));
            let to = edges[number + 1].min(edges[number] + PLACING_STEPS);
            from + best_cut(&all[from..to])
        })
        .collect()
}

/// A stretch of one or two values is the step in which the rate changed, and is joined to what
/// follows.
fn without_slivers(cuts: Vec<usize>, values: usize) -> Vec<usize> {
    let mut retained: Vec<usize> = Vec::new();
    for cut in cuts {
        if retained.last().is_some_and(|last| cut - last < 3) || cut < 2 || values - cut < 2 {
            continue;
        }
        retained.push(cut);
    }
    retained
}

/// Without changes that are too small to matter, smallest first.
fn of_some_size(mut cuts: Vec<usize>, values: &[f64]) -> Vec<usize> {
    loop {
        let mut edges = vec![0];
        edges.extend(&cuts);
        edges.push(values.len());
        let level = |number: usize| mean(&values[edges[number]..edges[number + 1]]).unwrap_or(0.0);
        let size = |number: usize| (level(number + 1) - level(number)).abs();
        let smallest = (0..cuts.len()).min_by(|&a, &b| size(a).total_cmp(&size(b)));
        match smallest {
            Some(number) if size(number) < MAGNITUDE_MIN => {
                cuts.remove(number);
            }
            _ => return cuts,
        }
    }
}

fn logarithms(steps: &[Step]) -> Vec<f64> {
    let logarithm = |step: &Step| libm::log(step.bytes_per_s().max(1.0));
    steps.iter().map(logarithm).collect()
}

fn rate_of(steps: &[Step]) -> f64 {
    let bytes: u64 = steps.iter().map(|step| step.length_bytes).sum();
    let time_ns: u64 = steps.iter().map(|step| step.duration_ns).sum();
    bytes as f64 * 1e9 / time_ns.max(1) as f64
}

/// Without the steps next to a change, which may be inside them.
fn inner(steps: &[Step], after_change: bool, before_change: bool) -> &[Step] {
    if steps.len() < 6 {
        return steps;
    }
    let from = usize::from(after_change);
    let to = steps.len() - usize::from(before_change);
    &steps[from..to]
}

fn stretch(steps: &[Step], from: Option<u64>, to: Option<u64>, seed: u64) -> Stretch {
    let bootstrap = Bootstrap {
        block_length: Bootstrap::block_length_for(steps.len()),
        resamples: RESAMPLES,
        seed,
    };
    let interval = bootstrap.interval_by_index(steps.len(), 0.95, |indices| {
        let bytes: u64 = indices.iter().map(|index| steps[*index].length_bytes).sum();
        let time_ns: u64 = indices.iter().map(|index| steps[*index].duration_ns).sum();
        bytes as f64 * 1e9 / time_ns.max(1) as f64
    });
    let first = steps.first().map_or(0, |step| step.from_bytes);
    let last = steps
        .last()
        .map_or(0, |step| step.from_bytes + step.length_bytes);
    Stretch {
        from_bytes: from.unwrap_or(first),
        to_bytes: to.unwrap_or(last),
        bytes_per_s: rate_of(steps),
        bytes_per_s_interval: interval.map(|interval| {
            let [less, more] = UNSURE;
            [interval.low * less, interval.high * more]
        }),
    }
}

/// The cut with the least squares around the means of both parts; at least 1.
fn best_cut(values: &[f64]) -> usize {
    let n = values.len();
    let total: f64 = values.iter().sum();
    let (mut left, mut best) = (0.0, (1, f64::MIN));
    for cut in 1..n {
        left += values[cut - 1];
        let right = total - left;
        // Least squares within equals most squares between.
        let between = left * left / cut as f64 + right * right / (n - cut) as f64;
        if between > best.1 {
            best = (cut, between);
        }
    }
    best.0
}

/// Rates before and after a cut, without the two steps around it: they may be a mixture.
fn outer_rates(steps: &[Step], cut: usize) -> [f64; 2] {
    let before = if cut > 1 { cut - 1 } else { cut };
    let behind = if cut + 1 < steps.len() { cut + 1 } else { cut };
    [rate_of(&steps[..before]), rate_of(&steps[behind..])]
}

/// Rates next to the middle one of three edges. Those of a rate that falls evenly differ little,
/// however different the whole stretches are.
fn next_to(steps: &[Step], edges: &[usize]) -> [f64; 2] {
    let [from, cut, to] = *edges else {
        return [0.0; 2];
    };
    if from >= cut || cut >= to {
        return [0.0; 2];
    }
    let near = |length: usize| (length / NEAR_PART).max(NEAR_STEPS_MIN);
    // The two steps around it may be a mixture.
    let end = (cut - 1).max(from + 1);
    let first = from.max(end.saturating_sub(near(cut - from)));
    let behind = (cut + 1).min(to - 1);
    let last = to.min(behind + near(to - cut));
    [rate_of(&steps[first..end]), rate_of(&steps[behind..last])]
}

/// The position of a change among values of the steps, and its interval.
fn change(steps: &[Step], values: &[f64], cut: usize, rates: [f64; 2], seed: u64) -> Change {
    let (left, right) = values.split_at(cut);
    let means = [mean(left).unwrap_or(0.0), mean(right).unwrap_or(0.0)];
    let residuals: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(index, value)| value - means[usize::from(index >= cut)])
        .collect();
    let mut random = Random::new(seed);
    let mut cuts: Vec<usize> = (0..RESAMPLES)
        .map(|_| {
            let mut drawn = Vec::with_capacity(values.len());
            drawn_around(&residuals[..cut], means[0], &mut random, &mut drawn);
            drawn_around(&residuals[cut..], means[1], &mut random, &mut drawn);
            best_cut(&drawn)
        })
        .collect();
    cuts.sort_unstable();
    let low = cuts[RESAMPLES * 25 / 1000].min(cut);
    let high = cuts[RESAMPLES * 975 / 1000].max(cut);
    let begin = |index: usize| steps[index.min(steps.len() - 1)].from_bytes;
    let last = steps[steps.len() - 1];
    let end = |index: usize| match index < steps.len() {
        true => steps[index].from_bytes,
        false => last.from_bytes + last.length_bytes,
    };
    Change {
        at_bytes: placed(steps, cut, rates),
        interval_bytes: [begin(low.saturating_sub(1)), end(high + 1)],
    }
}

/// Where inside the two steps around a cut the rate changed: their total time is that of one part
/// at one rate and of the rest at the other.
fn placed(steps: &[Step], cut: usize, means: [f64; 2]) -> u64 {
    let (before, behind) = (&steps[cut - 1], &steps[cut]);
    let bytes = (before.length_bytes + behind.length_bytes) as f64;
    let took_s = (before.duration_ns + behind.duration_ns) as f64 / 1e9;
    let (first, second) = (1.0 / means[0].max(1.0), 1.0 / means[1].max(1.0));
    let part = (bytes * second - took_s) / (second - first) / bytes;
    let part = if part.is_finite() { part } else { 0.5 };
    before.from_bytes + (bytes * part.clamp(0.0, 1.0)) as u64
}

/// Blocks of adjacent residuals around a mean.
fn drawn_around(residuals: &[f64], mean: f64, random: &mut Random, drawn: &mut Vec<f64>) {
    let n = residuals.len();
    let block = Bootstrap::block_length_for(n);
    let end = drawn.len() + n;
    while drawn.len() < end {
        let start = random.below(n);
        let length = block.min(end - drawn.len());
        drawn.extend((start..start + length).map(|index| mean + residuals[index % n]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of 16 MiB at these rates in MiB/s, which vary by `noise`.
    fn steps(parts: &[(usize, f64)], noise: f64, seed: u64) -> Vec<Step> {
        let mut random = Random::new(seed);
        let rates = parts.iter().flat_map(|&(count, rate)| vec![rate; count]);
        rates
            .enumerate()
            .map(|(number, rate)| {
                let rate = rate * (1.0 + noise * random.normal());
                Step {
                    from_bytes: number as u64 * (16 << 20),
                    length_bytes: 16 << 20,
                    duration_ns: (16e9 / rate) as u64,
                    temperature_millicelsius: None,
                }
            })
            .collect()
    }

    #[test]
    fn one_rate_is_one_stretch_and_two_have_a_change_between() {
        for seed in 0..20 {
            let even = analyse(&steps(&[(400, 1500.0)], 0.05, seed), 1);
            assert_eq!((even.stretches.len(), even.changes.len()), (1, 0), "{seed}");
            let found = analyse(&steps(&[(300, 3000.0), (500, 1500.0)], 0.05, seed), 1);
            assert_eq!(found.changes.len(), 1, "{seed}: {found:?}");
            let truth = 300 * (16 << 20);
            let [low, high] = found.changes[0].interval_bytes;
            assert!((low..=high).contains(&truth), "{seed}: {found:?}");
            assert!(high - low < truth / 10, "{seed}: {found:?}");
            let rate = found.stretches[1].bytes_per_s / 1_048_576.0;
            assert!((rate / 1500.0 - 1.0).abs() < 0.02, "{rate}");
        }
    }

    #[test]
    fn a_change_inside_a_step_is_placed_there() {
        let mut all = steps(&[(100, 2000.0), (1, 1200.0), (100, 500.0)], 0.0, 1);
        // Of 16 MiB x at 2,000 and 16 - x at 500: 4 MiB fast, 12 MiB slow.
        all[100].duration_ns = (4e9 / 2000.0 + 12e9 / 500.0) as u64;
        let found = analyse(&all, 1);
        let truth = 100 * (16 << 20) + (4 << 20);
        let [low, high] = found.changes[0].interval_bytes;
        assert!((low..=high).contains(&truth), "{found:?}");
        assert!(
            found.changes[0].at_bytes.abs_diff(truth) < 1 << 20,
            "{found:?}"
        );
    }

    #[test]
    fn what_is_back_is_counted_and_nothing_is_nothing() {
        let curve = analyse(&steps(&[(300, 3000.0), (500, 1000.0)], 0.05, 3), 1);
        let back = |parts: &[(usize, f64)]| {
            came_back(&steps(parts, 0.05, 9), &curve, 60_000_000_000, 1).unwrap()
        };
        let some = back(&[(40, 3000.0), (16, 1000.0)]);
        let [low, high] = some.interval_bytes;
        assert!((low..=high).contains(&(40 * (16 << 20))), "{some:?}");
        assert_eq!(back(&[(20, 1000.0)]).bytes, 0);
        assert!(back(&[(360, 3000.0)]).at_least);
        let even = analyse(&steps(&[(400, 1500.0)], 0.05, 1), 1);
        assert_eq!(
            came_back(&steps(&[(20, 1500.0)], 0.05, 1), &even, 1_000_000_000, 1),
            None
        );
    }

    #[test]
    fn few_or_no_steps_say_nothing_more_than_a_rate() {
        assert_eq!(analyse(&[], 1), Curve::default());
        let found = analyse(&steps(&[(3, 100.0)], 0.0, 1), 1);
        assert_eq!((found.stretches.len(), found.changes.len()), (1, 0));
    }
}
