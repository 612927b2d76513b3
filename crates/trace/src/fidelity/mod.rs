//! How similar is one load to another? Each feature's distance, relative to the distance between
//! random halves of the recording.
//!
//! "1.0" means: as similar to the original as its own halves. The largest ratio is the score, and
//! its feature is named. The reference is the median over nine random halves of blocks of 10 s, and
//! at least a floor, below which a distance is meaningless (without floors a ratio of 15 was seen
//! for 0.016 of a doubling). A perfect second realisation of the same process has ratios up to 2.7
//! for single features: what is judged is a replay of *this recording*.

mod features;

pub use features::Feature;

use crate::model::Request;
use features::{FEATURES, Features};
use stripewise_stats::{Quantile, Random, median, quantile};
use thiserror::Error;

/// Halves used for the reference.
const HALVES: usize = 9;
const BLOCK_NS: u64 = 10_000_000_000;
const DURATION_NS_MIN: u64 = 60_000_000_000;
const OPERATIONS_MIN: usize = 5_000;
const SEED: u64 = 11;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FidelityError {
    /// Too short: its own halves would differ by chance alone.
    #[error("what was replayed is shorter than 60 s")]
    TooShort,
    /// Too few operations, likewise.
    #[error("what was replayed has fewer than 5,000 operations")]
    TooFew,
    /// Arrivals within a second are unknown.
    #[error("the recording's times are whole seconds")]
    WholeSeconds,
    /// Lost events are not random.
    #[error("more than 0.1 % of the recording's events were lost")]
    Lost,
}

/// One feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureFit {
    /// Its name.
    pub feature: Feature,
    /// The distance between the recording and the other load, in the feature's own unit.
    pub distance: f64,
    /// The distance between the recording's halves, at least the floor.
    pub reference: f64,
    /// The quotient of the two.
    pub ratio: f64,
    /// The ratio with the 80 % and the 20 % quantile of the halves' distances.
    pub ratio_interval: [f64; 2],
}

/// Similarity of another load.
#[derive(Clone, Debug, PartialEq)]
pub struct Fidelity {
    /// Each feature that the recording is long enough for, worst first.
    pub features: Vec<FeatureFit>,
}

impl Fidelity {
    /// The worst feature, whose ratio is the score.
    pub fn worst(&self) -> Option<&FeatureFit> {
        self.features.first()
    }
}

/// Facts about a recording besides its requests.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    /// Its length, nanoseconds; a last part shorter than 10 s is excluded.
    pub duration_ns: u64,
    /// See [`crate::files::FileReport::resolution_ns`].
    pub resolution_ns: Option<u64>,
    /// The share of lost events.
    pub lost_share: f64,
}

/// A recording used as a reference: its features, and its halves' distances.
#[derive(Debug)]
pub struct Original {
    features: Features,
    duration_ns: u64,
    /// The distances of the halves for each feature.
    halves: Vec<Vec<f64>>,
}

impl Original {
    /// From requests in the order of arrival; times count from the start of the recording.
    ///
    /// # Errors
    /// If the recording contains too little.
    pub fn new(requests: &[Request], recording: &Recording) -> Result<Self, FidelityError> {
        if recording.lost_share > crate::closedness::LOST_SHARE_MAX {
            return Err(FidelityError::Lost);
        }
        if recording
            .resolution_ns
            .is_some_and(|ns| ns >= 1_000_000_000)
        {
            return Err(FidelityError::WholeSeconds);
        }
        if recording.duration_ns < DURATION_NS_MIN {
            return Err(FidelityError::TooShort);
        }
        let blocks = recording.duration_ns / BLOCK_NS;
        let duration_ns = blocks * BLOCK_NS;
        let requests = until(requests, duration_ns);
        if requests.len() < OPERATIONS_MIN {
            return Err(FidelityError::TooFew);
        }
        let mut halves = vec![Vec::new(); FEATURES.len()];
        for seed in 0..HALVES as u64 {
            let mut order: Vec<u64> = (0..blocks).collect();
            Random::new(SEED + seed).shuffle(&mut order);
            let half = (blocks / 2) as usize;
            let features = |part: &[u64]| {
                let mut part = part.to_vec();
                part.sort_unstable();
                let duration_ns = half as u64 * BLOCK_NS;
                Features::new(&joined(requests, &part), duration_ns)
            };
            let (one, other) = (features(&order[..half]), features(&order[half..2 * half]));
            for (k, feature) in FEATURES.into_iter().enumerate() {
                halves[k].extend(one.distance(&other, feature));
            }
        }
        Ok(Original {
            features: Features::new(requests, duration_ns),
            duration_ns,
            halves,
        })
    }

    /// The similarity of another load over the same time.
    pub fn compare(&self, requests: &[Request]) -> Fidelity {
        let other = Features::new(until(requests, self.duration_ns), self.duration_ns);
        let fit = |(k, feature): (usize, Feature)| {
            let distance = self.features.distance(&other, feature)?;
            let halves = &self.halves[k];
            let floor = feature.floor();
            let at = |share: f64| {
                let halves = quantile(halves, share, Quantile::Linear).unwrap_or(floor);
                distance.max(floor) / halves.max(floor)
            };
            let reference = median(halves)?.max(floor);
            Some(FeatureFit {
                feature,
                distance,
                reference,
                ratio: distance.max(floor) / reference,
                ratio_interval: [at(0.8), at(0.2)],
            })
        };
        let mut features: Vec<FeatureFit> =
            FEATURES.into_iter().enumerate().filter_map(fit).collect();
        features.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
        Fidelity { features }
    }
}

fn until(requests: &[Request], duration_ns: u64) -> &[Request] {
    &requests[..requests.partition_point(|one| one.at_ns < duration_ns)]
}

/// These blocks of 10 s, concatenated.
fn joined(requests: &[Request], blocks: &[u64]) -> Vec<Request> {
    let mut all = Vec::new();
    for (to, &block) in (0u64..).zip(blocks) {
        let start = block * BLOCK_NS;
        let from = requests.partition_point(|one| one.at_ns < start);
        let part = requests[from..].iter();
        let part = part.take_while(|one| one.at_ns < start + BLOCK_NS);
        all.extend(part.map(|one| Request {
            at_ns: one.at_ns - start + to * BLOCK_NS,
            ..*one
        }));
    }
    all
}

#[cfg(test)]
mod tests;
