//! The cost of reads that share a disk and of those that do not, and the evidence of one batch.
//!
//! If no one else uses the disks both costs are narrow, and a batch is judged by the normal
//! distribution. Other load makes some batches much longer, and none shorter: the two costs
//! overlap, but a short batch still shows that no disk is shared. So contrast is computed from
//! lower quartiles, and a batch is judged by how many of either type were as long in the
//! calibration.

use stripewise_stats::median;

/// Largest evidence of one batch.
const ONE_BATCH: f64 = 5.0;
/// Costs further apart than this many deviations are judged by the normal distribution.
const NARROW: f64 = 2.0;
/// Most bins of lengths.
const BINS: usize = 16;
/// Batches in a bin.
const PER_BIN: usize = 10;

/// The two costs, in logarithms of the mean latency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Medians.
    pub together: f64,
    pub apart: f64,
    /// Of one batch, from median deviations.
    pub deviation: f64,
    /// Lower quartiles.
    quiet_together: f64,
    quiet_apart: f64,
    /// Of one batch, from the lower half.
    quiet_deviation: f64,
    odds: Odds,
}

impl Scale {
    /// From batches of both types.
    pub fn of(together: &[f64], apart: &[f64]) -> Scale {
        let (together, apart) = (sorted(together), sorted(apart));
        let spread = |costs: &[f64]| {
            let middle = quantile(costs, 0.5);
            let away: Vec<f64> = costs.iter().map(|cost| (cost - middle).abs()).collect();
            1.4826 * median(&away).unwrap_or(0.0)
        };
        // As far apart as in a normal distribution with this deviation.
        let lower = |costs: &[f64]| (quantile(costs, 0.4) - quantile(costs, 0.1)) / 1.028;
        Scale {
            together: quantile(&together, 0.5),
            apart: quantile(&apart, 0.5),
            deviation: spread(&together).max(spread(&apart)).max(1e-3),
            quiet_together: quartile_of(&together),
            quiet_apart: quartile_of(&apart),
            quiet_deviation: libm::hypot(lower(&together), lower(&apart)).max(2e-3)
                / std::f64::consts::SQRT_2,
            odds: Odds::of(&together, &apart),
        }
    }

    /// Latency of reads on one disk relative to reads on two.
    pub fn contrast(&self) -> f64 {
        libm::exp(self.quiet_together - self.quiet_apart)
    }

    /// 0 if quiet batches are as short as for different disks, 1 if as for one.
    pub fn share(&self, quartile: f64) -> f64 {
        (quartile - self.quiet_apart) / (self.quiet_together - self.quiet_apart)
    }

    /// The difference of the two quartiles in deviations of one batch.
    pub fn separation(&self) -> f64 {
        (self.quiet_together - self.quiet_apart) / self.quiet_deviation
    }

    /// Standard error of the difference, for this many batches of either type.
    pub fn error(&self, batches: usize) -> f64 {
        // Of a lower quartile: sqrt(0.25 * 0.75) over the density there, 0.318.
        1.36 * self.quiet_deviation * libm::sqrt(2.0 / batches as f64)
    }

    /// Evidence of a batch: logarithm of the odds that the two places share a disk.
    pub fn evidence(&self, cost: f64) -> f64 {
        let difference = self.together - self.apart;
        let evidence = match difference >= NARROW * self.deviation {
            true => {
                let middle = f64::midpoint(self.together, self.apart);
                (cost - middle) * difference / (self.deviation * self.deviation)
            }
            false => self.odds.of_cost(cost),
        };
        evidence.clamp(-ONE_BATCH, ONE_BATCH)
    }
}

fn sorted(costs: &[f64]) -> Vec<f64> {
    let mut sorted = costs.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// A quantile of sorted values, 0 if there are none.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let at = part * last as f64;
    let (low, beyond) = (at as usize, at - libm::floor(at));
    sorted[low] + (sorted[(low + 1).min(last)] - sorted[low]) * beyond
}

/// The lower quartile.
pub(super) fn quartile(costs: &[f64]) -> f64 {
    quartile_of(&sorted(costs))
}

fn quartile_of(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.25)
}

/// Logarithms of odds by the length of a batch, non-decreasing.
#[derive(Clone, Copy, Debug)]
struct Odds {
    /// Upper ends of all bins but the last.
    ends: [f64; BINS],
    odds: [f64; BINS],
    bins: usize,
}

impl Odds {
    fn of(together: &[f64], apart: &[f64]) -> Odds {
        let all = sorted(&[together, apart].concat());
        let bins = (all.len() / PER_BIN).clamp(2, BINS);
        let mut odds = Odds {
            ends: [f64::INFINITY; BINS],
            odds: [0.0; BINS],
            bins,
        };
        for bin in 0..bins - 1 {
            odds.ends[bin] = quantile(&all, (bin + 1) as f64 / bins as f64);
        }
        let mut counts = vec![[0.0; 2]; bins];
        for (kind, costs) in [together, apart].into_iter().enumerate() {
            for cost in costs {
                counts[odds.bin(*cost)][kind] += 1.0;
            }
        }
        // Adjacent bins out of order are merged (pool adjacent violators).
        let mut pooled: Vec<(usize, [f64; 2])> = Vec::new();
        for count in counts {
            pooled.push((1, count));
            while let [.., (_, before), (_, last)] = pooled[..]
                && before[0] * last[1] >= last[0] * before[1]
            {
                let (width, count) = pooled.pop().unwrap_or_default();
                if let Some((wider, sum)) = pooled.last_mut() {
                    *wider += width;
                    *sum = [sum[0] + count[0], sum[1] + count[1]];
                }
            }
        }
        let rest = libm::log((apart.len() as f64 + 1.0) / (together.len() as f64 + 1.0));
        let mut bin = 0;
        for (width, [together, apart]) in pooled {
            let value = libm::log((together + 0.5) / (apart + 0.5)) + rest;
            odds.odds[bin..bin + width].fill(value);
            bin += width;
        }
        odds
    }

    fn bin(&self, cost: f64) -> usize {
        self.ends[..self.bins - 1].partition_point(|end| *end < cost)
    }

    fn of_cost(&self, cost: f64) -> f64 {
        self.odds[self.bin(cost)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_stats::Random;

    /// Costs around a logarithm; some of them longer by the wait for others.
    fn costs(middle: f64, waits: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count)
            .map(|_| {
                let wait = match random.uniform() < waits {
                    true => 0.8 * random.uniform(),
                    false => 0.0,
                };
                middle + 0.1 * random.normal() + wait
            })
            .collect()
    }

    #[test]
    fn the_contrast_is_that_of_quiet_batches() {
        let (one, two) = (0.7, 0.0);
        for waits in [0.0, 0.5, 0.7] {
            let scale = Scale::of(&costs(one, waits, 300, 1), &costs(two, waits, 300, 2));
            let contrast = scale.contrast();
            assert!((1.7..2.4).contains(&contrast), "{waits}: {contrast}");
        }
    }

    #[test]
    fn evidence_points_to_the_truth_whatever_the_load() {
        for waits in [0.0, 0.7, 0.9] {
            let scale = Scale::of(&costs(0.4, waits, 160, 3), &costs(0.0, waits, 160, 4));
            let mean = |middle: f64, seed| {
                let fresh = costs(middle, waits, 2_000, seed);
                fresh.iter().map(|cost| scale.evidence(*cost)).sum::<f64>() / 2_000.0
            };
            assert!(mean(0.4, 5) > 0.1 && mean(0.0, 6) < -0.1, "{waits}");
            let longer = |a: f64| scale.evidence(a + 0.01) >= scale.evidence(a);
            assert!((0..200).all(|step| longer(f64::from(step) * 0.01 - 0.5)));
        }
    }

    #[test]
    fn equal_costs_have_no_contrast() {
        let scale = Scale::of(&costs(0.0, 0.5, 320, 7), &costs(0.0, 0.5, 320, 8));
        assert!((scale.contrast() - 1.0).abs() < 4.0 * scale.error(320));
    }
}
