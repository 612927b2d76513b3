//! One at a time: does the next operation wait for the one before, or is the thread fed by a timer
//! or a queue? The slope of the next gap on the operation's own latency: 1 if it waits, 0 if it is
//! fed.
//!
//! Gaps and latencies are compared within groups of nine neighbours, so that slow drift of either
//! does not matter (Wald's estimator: medians of the slowest and the fastest third).

use super::sweep::Sweep;
use stripewise_stats::{Random, median};

/// Fewest gaps for a slope.
const GAPS_MIN: usize = 60;
const GROUP: usize = 9;
const RESAMPLES: usize = 49;
const SEED: u64 = 1;

/// Slope of the next gap on latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The estimate.
    pub value: f64,
    /// Lower end of a bootstrap interval (smallest of 49 resamples of whole chunks).
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The slope; None for fewer than 60 gaps that begin and end with nothing in flight, or if
/// latencies do not differ.
pub(crate) fn slope(sweep: &Sweep) -> Option<Slope> {
    let answers = sweep.answers();
    if answers.len() < GAPS_MIN {
        return None;
    }
    let value = wald(&answers)?;
    let chunks = (answers.len() / 27).clamp(10, 20);
    let edge = |chunk: usize| answers.len() * chunk / chunks;
    let mut random = Random::new(SEED);
    let mut drawn = Vec::with_capacity(answers.len());
    let mut all = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.clear();
        for _ in 0..chunks {
            let chunk = random.below(chunks);
            drawn.extend_from_slice(&answers[edge(chunk)..edge(chunk + 1)]);
        }
        all.extend(wald(&drawn));
    }
    Some(Slope {
        value,
        low: all.iter().copied().fold(f64::INFINITY, f64::min),
        high: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
    .filter(|slope| slope.low.is_finite() && slope.high.is_finite())
}

/// Of pairs of latency and gap.
fn wald(answers: &[(f64, f64)]) -> Option<f64> {
    let (mut quick, mut slow) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let groups = answers.chunks_exact(GROUP);
    if groups.len() < 3 {
        return None;
    }
    for group in groups {
        let mut group: Vec<(f64, f64)> = group.to_vec();
        group.sort_by(|one, other| one.0.total_cmp(&other.0));
        let third = GROUP / 3;
        for (into, part) in [
            (&mut quick, &group[..third]),
            (&mut slow, &group[2 * third..]),
        ] {
            into[0].extend(part.iter().map(|one| one.0));
            into[1].extend(part.iter().map(|one| one.1));
        }
    }
    let difference = |k: usize| Some(median(&slow[k])? - median(&quick[k])?);
    let (latency, gap) = (difference(0)?, difference(1)?);
    (latency > 0.0).then(|| gap / latency)
}
