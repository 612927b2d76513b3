//! Features of a load, and distances between them.

use crate::model::Request;
use crate::runs::Runs;
use std::collections::{BTreeMap, HashMap};
use stripewise_stats::Random;
use stripewise_units::Kind;

/// Extent size for heat and reuse.
const EXTENT_BYTES: u64 = 256 << 10;
/// Points of a quantile function.
const POINTS: usize = 100;
/// The simulated device for depth: servers, and their mean service time.
const SERVERS: usize = 4;
const SERVICE_NS: f64 = 2.4e6;
const SEED: u64 = 1;
/// Fewest bins for a dispersion.
const BINS_MIN: u64 = 20;

/// A feature of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Kinds and sizes (as powers of two): total variation.
    Mix,
    /// Length of each operation's run: mean difference of quantiles, in doublings.
    RunLength,
    /// Concentration of operations on few extents: largest difference of the curves.
    Hot,
    /// Operations since the extent was last used: largest difference of the distributions.
    Reuse,
    /// Gaps between arrivals: mean difference of quantiles, in powers of ten.
    Gaps,
    /// Operations in flight on a simulated device: mean difference of quantiles, in doublings.
    Depth,
    /// Variance over mean of counts in bins of this width: difference of logarithms.
    Dispersion {
        /// The width of a bin.
        bin_ms: u64,
    },
}

/// All features.
pub(super) const FEATURES: [Feature; 10] = [
    Feature::Mix,
    Feature::RunLength,
    Feature::Hot,
    Feature::Reuse,
    Feature::Gaps,
    Feature::Depth,
    Feature::Dispersion { bin_ms: 10 },
    Feature::Dispersion { bin_ms: 100 },
    Feature::Dispersion { bin_ms: 1_000 },
    Feature::Dispersion { bin_ms: 10_000 },
];

impl Feature {
    /// Smaller distances are meaningless.
    pub const fn floor(self) -> f64 {
        match self {
            Feature::Mix | Feature::Hot | Feature::Reuse => 0.01,
            Feature::Gaps => 0.02,
            Feature::RunLength | Feature::Depth => 0.05,
            Feature::Dispersion { .. } => 0.1,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Mix => "kinds and sizes",
            Feature::RunLength => "length of sequential runs",
            Feature::Hot => "hot places",
            Feature::Reuse => "reuse of places",
            Feature::Gaps => "gaps between arrivals",
            Feature::Depth => "operations in flight",
            Feature::Dispersion { bin_ms: 10 } => "bursts within 10 ms",
            Feature::Dispersion { bin_ms: 100 } => "bursts within 100 ms",
            Feature::Dispersion { bin_ms: 1_000 } => "bursts within 1 s",
            Feature::Dispersion { .. } => "bursts within 10 s",
        }
    }
}

/// The features of a load.
#[derive(Debug)]
pub(super) struct Features {
    mix: BTreeMap<(usize, u32), f64>,
    run_length: Vec<f64>,
    hot: Vec<f64>,
    reuse: Vec<f64>,
    gaps: Vec<f64>,
    depth: Vec<f64>,
    /// By the feature's bin; None if there are too few.
    dispersion: [Option<f64>; 4],
}

impl Features {
    pub fn new(requests: &[Request], duration_ns: u64) -> Self {
        let count = requests.len().max(1) as f64;
        let mut mix = BTreeMap::new();
        for one in requests {
            // To the nearest power of two.
            let size = libm::round(libm::log2(one.size_bytes.max(1) as f64)) as u32;
            *mix.entry((one.kind.index(), size)).or_default() += 1.0 / count;
        }
        let gaps = requests.windows(2).map(|pair| {
            let us = (pair[1].at_ns.saturating_sub(pair[0].at_ns) as f64 / 1e3).max(1.0);
            libm::log10(us)
        });
        let (hot, reuse) = places(requests);
        let bins = [10, 100, 1_000, 10_000];
        Features {
            mix,
            run_length: points(run_lengths(requests)),
            hot,
            reuse,
            gaps: points(gaps.collect()),
            depth: points(depths(requests)),
            dispersion: bins.map(|bin_ms| dispersion(requests, duration_ns, bin_ms * 1_000_000)),
        }
    }

    /// The distance in one feature; None if either load is too short for it.
    pub fn distance(&self, other: &Features, feature: Feature) -> Option<f64> {
        Some(match feature {
            Feature::Mix => {
                let of = |mix: &BTreeMap<_, f64>, key: &_| mix.get(key).copied().unwrap_or(0.0);
                let keys = self.mix.keys().chain(other.mix.keys());
                let keys: std::collections::BTreeSet<_> = keys.collect();
                let all = keys.into_iter();
                0.5 * all
                    .map(|key| (of(&self.mix, key) - of(&other.mix, key)).abs())
                    .sum::<f64>()
            }
            Feature::RunLength => mean_difference(&self.run_length, &other.run_length),
            Feature::Hot => largest_difference(&self.hot, &other.hot),
            Feature::Reuse => largest_difference(&self.reuse, &other.reuse),
            Feature::Gaps => mean_difference(&self.gaps, &other.gaps),
            Feature::Depth => mean_difference(&self.depth, &other.depth),
            Feature::Dispersion { bin_ms } => {
                let at = [10, 100, 1_000, 10_000]
                    .iter()
                    .position(|&ms| ms == bin_ms)?;
                (self.dispersion[at]? - other.dispersion[at]?).abs()
            }
        })
    }
}

/// The quantile function at 100 points; all 0 if empty.
fn points(mut values: Vec<f64>) -> Vec<f64> {
    if values.is_empty() {
        return vec![0.0; POINTS];
    }
    values.sort_unstable_by(f64::total_cmp);
    let last = (values.len() - 1) as f64;
    let at = |k: usize| {
        let share = 0.005 + 0.99 * k as f64 / (POINTS - 1) as f64;
        let place = share * last;
        let (below, part) = (place as usize, place.fract());
        let above = values[(below + 1).min(values.len() - 1)];
        values[below] + part * (above - values[below])
    };
    (0..POINTS).map(at).collect()
}

fn mean_difference(one: &[f64], other: &[f64]) -> f64 {
    let sum: f64 = one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
    sum / one.len().max(1) as f64
}

fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    let each = one.iter().zip(other).map(|(a, b)| (a - b).abs());
    each.fold(0.0, f64::max)
}

/// The logarithm of the length of each operation's run.
fn run_lengths(requests: &[Request]) -> Vec<f64> {
    let mut runs = Runs::default();
    let mut lengths: Vec<u32> = Vec::new();
    let mut of_request = Vec::with_capacity(requests.len());
    for one in requests.iter().filter(|one| one.kind != Kind::Sync) {
        let run = runs.next(one.kind, one.offset_bytes, one.end_bytes()).run as usize;
        if lengths.len() <= run {
            lengths.resize(run + 1, 0);
        }
        lengths[run] += 1;
        of_request.push(run);
    }
    let length = |run: &usize| libm::log2(f64::from(lengths[*run]));
    of_request.iter().map(length).collect()
}

/// Shares of the hottest extents, at increasing numbers of them; and the distribution of how many
/// operations ago the extent was used, in powers of two, "never" last.
fn places(requests: &[Request]) -> (Vec<f64>, Vec<f64>) {
    let mut last: HashMap<u64, (u64, u64)> = HashMap::new();
    let mut reuse = [0.0; 27];
    let transfers = requests.iter().filter(|one| one.kind != Kind::Sync);
    let mut count = 0u64;
    for one in transfers {
        let extent = one.offset_bytes / EXTENT_BYTES;
        let known = last.entry(extent).or_insert((u64::MAX, 0));
        let class = match count.checked_sub(known.0) {
            Some(ago) => (63 - ago.max(1).leading_zeros() as usize).min(25),
            None => 26,
        };
        reuse[class] += 1.0;
        *known = (count, known.1 + 1);
        count += 1;
    }
    let all = count.max(1) as f64;
    let mut sum = 0.0;
    let reuse = reuse.map(|share| {
        sum += share / all;
        sum
    });
    let mut references: Vec<u64> = last
        .into_values()
        .map(|(_, references)| references)
        .collect();
    references.sort_unstable_by(|one, other| other.cmp(one));
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for references in references {
        sum += references as f64 / all;
        sums.push(sum);
    }
    let at = |k: u32| {
        let extents = libm::exp2(f64::from(k) * 0.25) as usize;
        sums[extents.min(sums.len() - 1)]
    };
    ((0..=80).map(at).collect(), reuse.to_vec())
}

/// The logarithm of one plus the operations in flight at each arrival, on a device with four
/// servers, first come first served, with service times drawn from a fixed seed.
fn depths(requests: &[Request]) -> Vec<f64> {
    let mut random = Random::new(SEED);
    let mut free = [0.0f64; SERVERS];
    let mut done: std::collections::BinaryHeap<std::cmp::Reverse<u64>> = Default::default();
    let each = |one: &Request| {
        let at = one.at_ns as f64;
        while done.peek().is_some_and(|end| end.0 <= one.at_ns) {
            done.pop();
        }
        let depth = done.len();
        // Gamma of shape 2: the sum of two exponential times.
        let service = -0.5 * SERVICE_NS * libm::log(random.uniform() * random.uniform());
        let next = (0..SERVERS)
            .min_by(|&a, &b| free[a].total_cmp(&free[b]))
            .unwrap_or(0);
        free[next] = free[next].max(at) + service;
        done.push(std::cmp::Reverse(free[next] as u64));
        libm::log2(1.0 + depth as f64)
    };
    requests.iter().map(each).collect()
}

/// The logarithm of variance over mean of the counts in bins.
fn dispersion(requests: &[Request], duration_ns: u64, bin_ns: u64) -> Option<f64> {
    let bins = duration_ns / bin_ns;
    if bins < BINS_MIN {
        return None;
    }
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for one in requests {
        *counts
            .entry((one.at_ns / bin_ns).min(bins - 1))
            .or_default() += 1;
    }
    let squares: u128 = counts
        .values()
        .map(|&n| u128::from(n) * u128::from(n))
        .sum();
    let mean = requests.len() as f64 / bins as f64;
    let variance = squares as f64 / bins as f64 - mean * mean;
    Some(libm::log(variance.max(1e-9) / mean.max(1e-9) + 1e-3))
}
