//! Whether a period is the true one: compared with its multiples and parts at the same places.

use super::edges::{Comb, PERIODS_MIN, Window, anchor};
use super::layouts::UNITS_MAX;
use super::reads::Reader;
use super::search::Period;
use super::{Limits, Refusal, SearchEnd};
use crate::device::Device;

/// Batches for each multiple and part of a period, and the maximum if the target is noisy.
pub(super) const BATCHES_PARTS: usize = 16;
const BATCHES_PARTS_MAX: usize = 96;
/// Required standard error of mean differences, in units of the difference between one disk and
/// two.
const ERROR_PARTS: f64 = 0.12;
/// A part of the period is the period itself if places that far apart share a disk as often as
/// places a whole period apart do: all of them. Otherwise at most three in five do (a fifth of the
/// period of two disks is within one unit that often).
const PART_MIN: f64 = 0.8;
/// Below this nothing collides. Other load lowers means; calibration requires more.
const CONTRAST_MIN: f64 = 1.1;
/// Multiples of a near-period that are tried, and itself.
const MULTIPLES: std::ops::RangeInclusive<u64> = 1..=16;
/// Rounds of [`BATCHES_PARTS`] batches for each of them: reads at the near-period of a RAID 6 take a
/// quarter less time than at the period, about as much as batches of the same reads differ.
const ROUNDS_MIN: u32 = 3;
const ROUNDS_MAX: u32 = 6;
/// One that is behind the best by this many standard errors drops out.
const ERRORS_OUT: f64 = 4.0;
/// The best must be ahead of the near-period by this many. A false one only costs time.
const ERRORS_LONGER: f64 = 3.0;
/// Those that are not behind the best by this many collide as often.
const ERRORS_EQUAL: f64 = 2.0;

/// The mean of differences between batches at one place.
///
/// Pairs, because a place's disk may be faster than another's; means and not medians, because some
/// of the places may differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    pub value: f64,
    pub error: f64,
}

impl Mean {
    /// Of the middle 80 %: other load makes some batches long.
    pub fn of(values: &[f64]) -> Mean {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let cut = sorted.len() / 10;
        let retained = &sorted[cut..sorted.len() - cut];
        let n = retained.len().max(1) as f64;
        let value = retained.iter().sum::<f64>() / n;
        let squares: f64 = retained
            .iter()
            .map(|retained| (retained - value).powi(2))
            .sum();
        // The trimmed values would have increased the deviation.
        let error = 1.5 * libm::sqrt(squares) / n;
        Mean { value, error }
    }

    pub fn are_known(means: &[Mean], per_unit: f64) -> bool {
        let limit = ERROR_PARTS * per_unit.abs();
        means.iter().all(|mean| mean.error <= limit)
    }
}

/// Verifies that the period is neither a multiple nor a part of the true one.
pub(super) fn true_period<D: Device>(
    reader: &mut Reader<'_, D>,
    mut period_bytes: u64,
) -> Result<u64, SearchEnd> {
    for _ in 0..4 {
        let Some(better) = better_period(reader, period_bytes)? else {
            return Ok(period_bytes);
        };
        period_bytes = better;
    }
    Err(Refusal::not_a_pattern("parts of it fit as well as the whole").into())
}

fn better_period<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
) -> Result<Option<u64>, SearchEnd> {
    const PARTS: [u64; 3] = [2, 3, 5];
    let sector = reader.sector_bytes();
    let size = reader.size_bytes();
    let comb = |every: u64| Comb {
        period: period_bytes,
        every,
        window: Window { from: 0, to: size },
    };
    // Relative to the cost of the period itself, at the same anchor: its multiples, its parts.
    let mut above: [Vec<f64>; 6] = Default::default();
    let means = loop {
        for _ in 0..BATCHES_PARTS {
            let at = anchor(reader, period_bytes);
            let aside = |part: u64| at + i128::from(period_bytes / part / sector * sector);
            let settings: [(Comb, i128); 7] = std::array::from_fn(|number| match number {
                0..3 => (comb(PARTS[number]), at),
                3..6 => (comb(1), aside(PARTS[number - 3])),
                _ => (comb(1), at),
            });
            let costs = in_random_order(reader, at, settings)?;
            for (above, cost) in above.iter_mut().zip(costs) {
                above.push(cost - costs[6]);
            }
        }
        let means: [Mean; 6] = std::array::from_fn(|number| Mean::of(&above[number]));
        let least = means.iter().fold(0.0, |least, mean| mean.value.min(least));
        if Mean::are_known(&means, least) || above[0].len() >= BATCHES_PARTS_MAX {
            break means;
        }
    };
    let together = means[..3]
        .iter()
        .fold(0.0, |most, mean| mean.value.max(most));
    let apart = means[3..]
        .iter()
        .fold(0.0, |least, mean| mean.value.min(least));
    let contrast = libm::exp(together - apart);
    if contrast < CONTRAST_MIN {
        return Err(Refusal::no_contrast(contrast).into());
    }
    // For a noisy target only certain results: units that share a disk reveal a multiple later.
    let unknown = match Mean::are_known(&means, apart) {
        true => 0.0,
        false => 1.0,
    };
    let surely = |mean: Mean| mean.value - unknown * mean.error;
    let share = |above: f64| (above - apart) / (together - apart);
    for (number, part) in PARTS.iter().enumerate() {
        let whole = period_bytes.is_multiple_of(part * sector);
        if share(surely(means[3 + number])) > PART_MIN && whole {
            return Ok(Some(period_bytes / part));
        }
        if share(surely(means[number])) - share(0.0) > 0.4 {
            return Ok(Some(period_bytes * part));
        }
    }
    Ok(None)
}

/// The cost of reads at `at` concurrent with those of each setting. In random order, because load
/// left over from one batch keeps a disk busy in the next.
pub(super) fn in_random_order<D: Device, const N: usize>(
    reader: &mut Reader<'_, D>,
    at: i128,
    settings: [(Comb, i128); N],
) -> Result<[f64; N], SearchEnd> {
    let mut order: [usize; N] = std::array::from_fn(|number| number);
    reader.random.shuffle(&mut order);
    let mut costs = [0.0; N];
    for number in order {
        let (comb, other) = settings[number];
        costs[number] = comb.cost(reader, (at, other))?;
    }
    Ok(costs)
}

/// A period that may be the true one, and what reads at its multiples cost.
struct Candidate {
    multiple: u64,
    period: u64,
    costs: Vec<f64>,
    mean: Mean,
}

impl Candidate {
    /// Lower than another one by this many standard errors.
    fn is_below(&self, other: Mean, errors: f64) -> bool {
        other.value - self.mean.value > errors * libm::hypot(self.mean.error, other.error)
    }
}

/// The multiple of a near-period at which reads collide most, if they collide more there than at
/// the near-period itself, to the sector.
///
/// For RAID 6, and for parity that is not left-symmetric, the same disk recurs after about `disks`
/// units, except for some units that parity shifts. Most reads a near-period apart share a disk, so
/// the difference is small: candidates are read in rounds, and those that are behind drop out.
pub(super) fn longer_period<D: Device>(
    reader: &mut Reader<'_, D>,
    near: &Period,
    limits: &Limits,
) -> Result<Option<u64>, SearchEnd> {
    let mut all = candidates(reader, near, limits);
    let mut best = Mean {
        value: f64::MIN,
        error: 0.0,
    };
    for round in 1..=ROUNDS_MAX {
        for candidate in &mut all {
            add_collisions(reader, candidate)?;
        }
        let means = all.iter().map(|candidate| candidate.mean);
        best = means.fold(all[0].mean, |best, mean| match mean.value > best.value {
            true => mean,
            false => best,
        });
        all.retain(|candidate| !candidate.is_below(best, ERRORS_OUT));
        if round >= ROUNDS_MIN && all.iter().all(|candidate| candidate.multiple > 1) {
            break;
        }
    }
    let mut nearest = all.iter().filter(|candidate| candidate.multiple == 1);
    if !nearest.all(|candidate| candidate.is_below(best, ERRORS_LONGER)) {
        return Ok(None);
    }
    // Multiples of the true period collide as often: the shortest.
    let equal = all.iter().filter(|one| !one.is_below(best, ERRORS_EQUAL));
    Ok(equal.map(|candidate| candidate.period).min())
}

/// Every whole number of sectors that a multiple of the near-period may be.
fn candidates<D: Device>(reader: &Reader<'_, D>, near: &Period, limits: &Limits) -> Vec<Candidate> {
    let sector = reader.sector_bytes();
    // Not that of the search: parity makes periods of up to `UNITS_MAX` units.
    let most = (limits.unit_bytes_max * UNITS_MAX).min(reader.size_bytes() / PERIODS_MIN / 10);
    let mut all = Vec::new();
    for multiple in MULTIPLES {
        let middle = near.best * multiple as f64;
        if multiple > 1 && middle > most as f64 {
            break;
        }
        let middle = libm::round(middle / sector as f64) as u64;
        let uncertain = (near.high - near.low) / 2.0 * multiple as f64;
        let reach = libm::ceil(uncertain / sector as f64).min(8.0) as u64;
        let sectors = middle.saturating_sub(reach).max(1)..=middle + reach;
        all.extend(sectors.map(|at| Candidate {
            multiple,
            period: at * sector,
            costs: Vec::new(),
            mean: Mean {
                value: 0.0,
                error: 0.0,
            },
        }));
    }
    all
}

/// Reads batches at random multiples of a candidate.
fn add_collisions<D: Device>(
    reader: &mut Reader<'_, D>,
    candidate: &mut Candidate,
) -> Result<(), SearchEnd> {
    let size = reader.size_bytes();
    let comb = Comb {
        period: candidate.period,
        every: 1,
        window: Window { from: 0, to: size },
    };
    for _ in 0..BATCHES_PARTS {
        let at = anchor(reader, candidate.period);
        candidate.costs.push(comb.cost(reader, (at, at))?);
    }
    candidate.mean = Mean::of(&candidate.costs);
    Ok(())
}
