//! Token buckets: when a burst ended, what it held, and how fast it refills, from per-second rates.
//!
//! Nothing is predicted before a step was seen. A step is marked after 18 of 20 seconds below 0.85
//! of the preceding rate, and is lasting if the following 300 s stay below 0.9; it is a credit only
//! if a rest restores the burst.

use crate::distribution::student_quantile;
use crate::sample::{Estimate, mean, median, standard_deviation};
use serde::{Deserialize, Serialize};

/// Seconds examined for being low before a step is marked.
pub const STEP_SECONDS: usize = 20;
const LOW_SECONDS: usize = 18;
const LOW_SHARE: f64 = 0.85;
/// Fewest and most seconds considered before a step.
const BEFORE_SECONDS: std::ops::RangeInclusive<usize> = 20..=1_800;
/// Seconds after a step that must stay low for the burst to have ended.
const LASTING_SECONDS: usize = 300;
const LASTING_LOW_SHARE: f64 = 0.9;
/// The share of those seconds that must.
const LASTING_SHARE: f64 = 0.9;
/// The step is located from this long before its mark to this long after it.
const FIT_BEFORE: usize = 60;
const FIT_BEHIND: usize = 10;
/// Seconds after a step that are still uneven.
const SETTLE_SECONDS: usize = 3;
/// Parts whose medians give a rate its interval.
const PARTS: usize = 10;
const LEVEL: f64 = 0.95;
/// Accuracy in seconds of a step's location.
const STEP_ERROR_S: f64 = 2.0;
/// Share of a bucket that dips and waits may hide.
const BUCKET_ERROR_SHARE: f64 = 0.01;
/// A second drive that takes this share of what the bucket holds found it full.
const FULL_SHARE: f64 = 0.95;
/// The rest restores what a burst of this many seconds takes, if the refill is the sustained rate.
const REST_BURST_S: f64 = 60.0;

/// A step down that was marked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateStep {
    /// The second at which it was marked.
    pub marked_at: usize,
    /// Median rate before.
    pub before_per_s: f64,
}

/// Use before a burst: a rate for a time, 0 for a rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstUse {
    /// Operations or bytes per second.
    pub per_s: f64,
    /// The same if the volume counts large operations several times.
    pub per_s_high: f64,
    /// Seconds.
    pub seconds: f64,
}

/// A burst that ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Rate before the step.
    pub burst_per_s: Estimate,
    /// Rate after the step.
    pub sustained_per_s: Estimate,
    /// Content of a full bucket: operations or bytes beyond the sustained rate.
    pub bucket: Estimate,
    /// Seconds that a full bucket lasts at the burst rate.
    pub lasts_s: Estimate,
    /// Seconds from the start of this load to the step.
    pub step_s: usize,
}

/// How fast a bucket refills.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refill {
    /// Operations or bytes per second, with the target idle.
    pub per_s: Estimate,
    /// Seconds of rest before the measurement.
    pub rest_s: f64,
}

/// The first step down marked at or after `from`, in per-second rates.
pub fn find_step(rates: &[f64], from: usize) -> Option<RateStep> {
    let first = (STEP_SECONDS + BEFORE_SECONDS.start()).max(from + 1);
    let mut before: Vec<f64> = Vec::new();
    for end in first..=rates.len() {
        let split = end - STEP_SECONDS;
        if before.is_empty() {
            before = rates[split.saturating_sub(*BEFORE_SECONDS.end())..split].to_vec();
            before.sort_by(f64::total_cmp);
        } else {
            insert(&mut before, rates[split - 1]);
            if let Some(old) = split.checked_sub(BEFORE_SECONDS.end() + 1) {
                remove(&mut before, rates[old]);
            }
        }
        let before_per_s = before[before.len() / 2];
        let low = |rate: &&f64| **rate < LOW_SHARE * before_per_s;
        if rates[split..end].iter().filter(low).count() >= LOW_SECONDS {
            return Some(RateStep {
                marked_at: end - 1,
                before_per_s,
            });
        }
    }
    None
}

fn insert(sorted: &mut Vec<f64>, value: f64) {
    let at = sorted.partition_point(|other| *other < value);
    sorted.insert(at, value);
}

fn remove(sorted: &mut Vec<f64>, value: f64) {
    let at = sorted.partition_point(|other| *other < value);
    sorted.remove(at);
}

/// Whether a step is lasting; `None` while fewer than 300 s after its mark are known.
pub fn is_lasting(rates: &[f64], step: &RateStep) -> Option<bool> {
    let behind = rates.get(step.marked_at + 1..step.marked_at + 1 + LASTING_SECONDS)?;
    let low = |rate: &&f64| **rate < LASTING_LOW_SHARE * step.before_per_s;
    let count = behind.iter().filter(low).count();
    Some(count as f64 >= LASTING_SHARE * LASTING_SECONDS as f64)
}

/// Seconds from the start needed to measure a burst that ended at `step_s`.
pub fn seconds_after_step(step_s: usize) -> usize {
    step_s + (LASTING_SECONDS + STEP_SECONDS).max(step_s / 5)
}

/// The second at which two levels fit best, around a mark.
fn locate(rates: &[f64], step: &RateStep) -> usize {
    let from = step.marked_at.saturating_sub(FIT_BEFORE);
    let to = (step.marked_at + FIT_BEHIND).min(rates.len());
    let low = median(&rates[step.marked_at + 1 - STEP_SECONDS..=step.marked_at]).unwrap_or(0.0);
    // A stalled second, or a dip, weighs no more than the step itself.
    let ends = (
        low.max(f64::MIN_POSITIVE),
        step.before_per_s.max(f64::MIN_POSITIVE),
    );
    let log = |rate: &f64| libm::log(rate.clamp(ends.0, ends.1));
    let logs: Vec<f64> = rates[from..to].iter().map(log).collect();
    let sum: f64 = logs.iter().sum();
    let (mut before, mut best) = (0.0, (f64::MIN, 0));
    for (split, log) in logs.iter().enumerate() {
        if split > 0 {
            let behind = sum - before;
            let gain =
                before * before / split as f64 + behind * behind / (logs.len() - split) as f64;
            if gain > best.0 {
                best = (gain, split);
            }
        }
        before += log;
    }
    from + best.1
}

/// A rate from the medians of ten parts.
fn level(rates: &[f64]) -> Option<Estimate> {
    let length = rates.len() / PARTS;
    if length == 0 {
        return None;
    }
    let parts = rates[rates.len() - length * PARTS..].chunks(length);
    let medians: Option<Vec<f64>> = parts.map(median).collect();
    let medians = medians?;
    let value = mean(&medians)?;
    let error = standard_deviation(&medians)? / libm::sqrt(PARTS as f64);
    let half = student_quantile(0.5 + 0.5 * LEVEL, (PARTS - 1) as f64) * error;
    Some(around(value, half))
}

fn around(value: f64, half: f64) -> Estimate {
    Estimate {
        value,
        low: value - half,
        high: value + half,
        level: LEVEL,
    }
}

fn half_width(estimate: &Estimate) -> f64 {
    0.5 * (estimate.high - estimate.low)
}

/// What a bucket held, from per-second rates with a marked step, and the preceding use, in order of
/// time, which includes the first `in_earlier` of these seconds. `None` if too little is known on
/// either side.
pub fn fit_bucket(
    rates: &[f64],
    step: &RateStep,
    earlier: &[BurstUse],
    in_earlier: usize,
) -> Option<TokenBucket> {
    let step_s = locate(rates, step);
    let sustained = level(rates.get(step_s + SETTLE_SECONDS..)?)?;
    let burst = level(&rates[..step_s])?;
    let above = burst.value - sustained.value;
    if above <= 0.0 {
        return None;
    }
    // A full bucket stays full: unused refill is lost.
    let missing = |per_s: fn(&BurstUse) -> f64| {
        earlier.iter().fold(0.0, |missing: f64, one| {
            (missing + (per_s(one) - sustained.value) * one.seconds).max(0.0)
        })
    };
    let ends = [missing(|one| one.per_s), missing(|one| one.per_s_high)];
    let unsure = 0.5 * (ends[1] - ends[0]).abs();
    let missing = 0.5 * (ends[0] + ends[1]);
    let alone = &rates[in_earlier.min(step_s)..step_s];
    let taken: f64 = alone.iter().map(|rate| rate - sustained.value).sum();
    let value = missing + taken;
    let earlier_s: f64 = earlier.iter().map(|one| one.seconds).sum();
    let half = libm::hypot(
        libm::hypot(
            half_width(&sustained) * (alone.len() as f64 + earlier_s),
            STEP_ERROR_S * above,
        ),
        libm::hypot(BUCKET_ERROR_SHARE * value, unsure),
    );
    let bucket = around(value, half).map(|held| held.max(0.0));
    Some(TokenBucket {
        burst_per_s: burst,
        sustained_per_s: sustained,
        lasts_s: bucket.map(|held| held / above),
        bucket,
        step_s,
    })
}

/// Seconds to rest before the refill is measured.
pub fn rest_after_s(bucket: &TokenBucket) -> f64 {
    let sustained = bucket.sustained_per_s.value.max(f64::MIN_POSITIVE);
    REST_BURST_S * (bucket.burst_per_s.value - sustained) / sustained
}

/// How fast a bucket refills, from the per-second rates after a rest. `None` if the burst did not
/// return, or did not end again, or the bucket was full before the rest ended.
pub fn fit_refill(bucket: &TokenBucket, rates: &[f64], rest_s: f64) -> Option<Refill> {
    let step = find_step(rates, 0)?;
    if step.before_per_s < LASTING_LOW_SHARE * bucket.burst_per_s.value || rest_s <= 0.0 {
        return None;
    }
    let step_s = locate(rates, &step);
    let sustained = bucket.sustained_per_s;
    let above = bucket.burst_per_s.value - sustained.value;
    let taken: f64 = rates[..step_s]
        .iter()
        .map(|rate| rate - sustained.value)
        .sum();
    let full = bucket.bucket;
    if (FULL_SHARE * full.low..=full.high / FULL_SHARE).contains(&taken) {
        return None;
    }
    let half = libm::hypot(STEP_ERROR_S * above, half_width(&sustained) * step_s as f64);
    Some(Refill {
        per_s: around(taken, half).map(|refilled| refilled.max(0.0) / rest_s),
        rest_s,
    })
}
