//! Arrivals within the bins of a profile: the gaps of bins with the same count.

use super::BIN_NS;
use stripewise_stats::Random;

/// Most donors per count.
const DONORS_PER_COUNT: usize = 64;
/// Most arrivals over all donors.
const DONOR_ARRIVALS_MAX: usize = 1 << 18;
/// With fewer donors of the same count, neighbouring counts are used too.
const EQUALS_MIN: usize = 4;
const NEIGHBOURS: usize = 8;
const SEED: u64 = 7;

/// Bins whose gaps are reused for others, by their number of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Donors {
    /// Sorted arrivals relative to the start of the bin; bins with the fewest first.
    pub bins: Vec<Vec<u32>>,
}

impl Donors {
    /// Chooses donors among bins at random, up to 64 per count.
    pub fn choose(bins: &[Vec<u32>]) -> Self {
        let mut order: Vec<usize> = (0..bins.len()).filter(|&k| !bins[k].is_empty()).collect();
        Random::new(SEED).shuffle(&mut order);
        let mut taken = std::collections::BTreeMap::new();
        let mut left = DONOR_ARRIVALS_MAX;
        let mut chosen = Vec::new();
        for k in order {
            let count = bins[k].len();
            let of_count: &mut usize = taken.entry(count).or_default();
            // The very first is taken whatever its length.
            if *of_count < DONORS_PER_COUNT && (count <= left || chosen.is_empty()) {
                *of_count += 1;
                left = left.saturating_sub(count);
                chosen.push(bins[k].clone());
            }
        }
        chosen.sort();
        chosen.sort_by_key(Vec::len);
        Donors { bins: chosen }
    }

    /// Sorted times of `count` arrivals relative to the start of a bin.
    pub fn arrivals(&self, count: usize, random: &mut Random) -> Vec<u64> {
        let from = self.bins.partition_point(|bin| bin.len() < count);
        let to = self.bins.partition_point(|bin| bin.len() <= count);
        let shift = random.below(BIN_NS as usize) as u64;
        let donor = if to - from >= EQUALS_MIN {
            self.bins.get(from + random.below(to - from))
        } else {
            let near = from + random.below(2 * NEIGHBOURS + 1);
            let last = self.bins.len().saturating_sub(1);
            self.bins.get(near.saturating_sub(NEIGHBOURS).min(last))
        };
        let mut all: Vec<u64> = match donor {
            None => (0..count)
                .map(|_| random.below(BIN_NS as usize) as u64)
                .collect(),
            Some(bin) if bin.len() == count => bin.iter().map(|&at| u64::from(at)).collect(),
            Some(bin) => stretched(bin, count, random),
        };
        for at in &mut all {
            *at = (*at + shift) % BIN_NS;
        }
        all.sort_unstable();
        all
    }
}

/// The gaps of a bin, closed to a ring, with a random start, cut or repeated to `count` gaps and
/// scaled to fill the bin.
fn stretched(bin: &[u32], count: usize, random: &mut Random) -> Vec<u64> {
    let start = random.below(bin.len());
    let gap = |k: usize| -> u64 {
        let (this, next) = (k % bin.len(), (k + 1) % bin.len());
        let wrapped = if next <= this { BIN_NS } else { 0 };
        u64::from(bin[next]) + wrapped - u64::from(bin[this])
    };
    let gaps: Vec<u64> = (0..count).map(|k| gap(start + k)).collect();
    let sum: u64 = gaps.iter().sum::<u64>().max(1);
    let mut at = 0u64;
    let each = |gap: u64| {
        at += gap;
        let scaled = u128::from(at) * u128::from(BIN_NS - 1) / u128::from(sum);
        u64::try_from(scaled).unwrap_or(BIN_NS - 1)
    };
    gaps.into_iter().map(each).collect()
}
