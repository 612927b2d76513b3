//! When a doubling ladder may stop: the knee is bracketed once later steps no
//! longer gain.
//!
//! The rule: take the last m steps, m = 2, 3 or 4, and the best mean rate X of all steps before
//! them. The ladder may stop when, for some m, either each of the m steps has its upper 95 %
//! confidence limit at most X / 0.97, or each has its mean there and the limit of their common mean
//! is there too (a mean below X counts as X in it, so that an outage cannot offset a gain). So two
//! steps beyond the knee suffice on a quiet device; on a noisy one the third and fourth add
//! evidence. One noisy low step cannot stop it, because every ending has at least two steps; a
//! device that gains 2 % with each doubling is not at its plateau, and continues.
//!
//! With fewer than four steps the answer is no: some devices gain nothing from 1
//! to 2 outstanding and much afterwards.
//!
//! Not included: the budget and the largest load, which also end a ladder.

use crate::bootstrap::Bootstrap;
use crate::distribution::student_quantile;
use crate::knee::{LadderStep, PLATEAU_SHARE};
use crate::sample::{mean, variance};

/// Fewest steps of a ladder.
const STEPS_MIN: usize = 4;
/// Fewest and most steps of an ending.
const ENDINGS: std::ops::RangeInclusive<usize> = 2..=4;

/// A mean with the variance of that mean.
struct Level {
    mean: f64,
    /// Variance of the mean; 0 if the rate is taken as exact.
    variance: f64,
    /// Degrees of freedom of `variance`.
    degrees: f64,
}

/// Whether the knee is within the steps measured so far, in order of load; another doubling would
/// not move it. See the module for the rule and its reasons.
///
/// n = 0, 1, 2 and 3 steps: false. Also false if a step has no rates; one with a single rate counts
/// as exact.
///
/// ```
/// use stripewise_stats::{LadderStep, bracketed};
/// let step = |load, rate| LadderStep { load, rates: vec![rate] };
/// let mut steps = vec![step(1, 100.0), step(2, 190.0), step(4, 300.0), step(8, 304.0)];
/// assert!(!bracketed(&steps));
/// steps.push(step(16, 303.0));
/// assert!(bracketed(&steps));
/// ```
pub fn bracketed(steps: &[LadderStep]) -> bool {
    if steps.len() < STEPS_MIN {
        return false;
    }
    let levels: Option<Vec<Level>> = steps.iter().map(|step| level_of(&step.rates)).collect();
    levels.is_some_and(|levels| {
        ENDINGS
            .take_while(|&ending| ending < levels.len())
            .any(|ending| {
                let (before, last) = levels.split_at(levels.len() - ending);
                no_gain(before, last)
            })
    })
}

/// More load may give more than the last of these rates, which are by rising load: it is above
/// all before it by more than a plateau's 3 %, or there are too few of them to tell. The one
/// rule for whether a ladder has shown the highest rate; where the ladder may stop
/// ([`bracketed`]) asks for more.
///
/// ```
/// use stripewise_stats::may_rise;
/// assert!(may_rise(&[100.0, 190.0, 300.0, 310.0]));
/// assert!(!may_rise(&[100.0, 190.0, 300.0, 308.0]));
/// assert!(may_rise(&[100.0, 100.0, 100.0]));
/// ```
pub fn may_rise(rates: &[f64]) -> bool {
    let Some((last, before)) = rates.split_last().filter(|_| rates.len() >= STEPS_MIN) else {
        return true;
    };
    let most = before.iter().copied().fold(0.0, f64::max);
    PLATEAU_SHARE * last > most
}

/// Mean and its variance by batch means: batches of neighbours are nearly
/// independent where single intervals are not.
fn level_of(rates: &[f64]) -> Option<Level> {
    let centre = mean(rates)?;
    let length = Bootstrap::block_length_for(rates.len());
    let batches: Vec<f64> = rates.chunks_exact(length).filter_map(mean).collect();
    let (variance, degrees) = match variance(&batches) {
        Some(v) => (v / batches.len() as f64, (batches.len() - 1) as f64),
        None => (0.0, f64::INFINITY),
    };
    Some(Level {
        mean: centre,
        variance,
        degrees,
    })
}

fn no_gain(before: &[Level], last: &[Level]) -> bool {
    let Some(best) = before.iter().max_by(|a, b| a.mean.total_cmp(&b.mean)) else {
        return false;
    };
    let allowed = best.mean / PLATEAU_SHARE;
    let best_variance = best.variance / (PLATEAU_SHARE * PLATEAU_SHARE);
    let within = |value: f64, variance: f64, degrees: f64| {
        value + one_sided_t(degrees) * libm::sqrt(variance + best_variance) <= allowed
    };
    if last
        .iter()
        .all(|l| within(l.mean, l.variance, l.degrees.min(best.degrees)))
    {
        return true;
    }
    let n = last.len() as f64;
    let common = last.iter().map(|l| l.mean.max(best.mean)).sum::<f64>() / n;
    let variance = last.iter().map(|l| l.variance).sum::<f64>() / (n * n);
    let degrees = last.iter().map(|l| l.degrees).sum::<f64>() + best.degrees;
    last.iter().all(|l| l.mean <= allowed) && within(common, variance, degrees)
}

/// Student's one-sided 95 % point; the normal one from a thousand degrees on.
fn one_sided_t(degrees: f64) -> f64 {
    student_quantile(0.95, degrees.min(1_000.0))
}

#[cfg(test)]
mod tests;
