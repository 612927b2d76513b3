//! Whether a period is the true one: compared with its multiples and parts at the same places.

use super::edges::{Comb, PERIODS_MIN, Window, anchor};
use super::reads::Reader;
use super::search::Period;
use super::{Limits, Refusal, Trouble};
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
/// Multiples of a near-period that are tried.
const MULTIPLES: std::ops::RangeInclusive<u64> = 2..=15;

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
        let kept = &sorted[cut..sorted.len() - cut];
        let n = kept.len().max(1) as f64;
        let value = kept.iter().sum::<f64>() / n;
        let squares: f64 = kept.iter().map(|kept| (kept - value).powi(2)).sum();
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
) -> Result<u64, Trouble> {
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
) -> Result<Option<u64>, Trouble> {
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
) -> Result<[f64; N], Trouble> {
    let mut order: [usize; N] = std::array::from_fn(|number| number);
    reader.random.shuffle(&mut order);
    let mut costs = [0.0; N];
    for number in order {
        let (comb, other) = settings[number];
        costs[number] = comb.cost(reader, (at, other))?;
    }
    Ok(costs)
}

/// The multiple of a near-period at which reads collide most, if they collide more there than at
/// the near-period itself, to the sector.
///
/// For RAID 6, and for parity that is not left-symmetric, the same disk recurs after about `disks`
/// units, except for some units that parity shifts.
pub(super) fn longer_period<D: Device>(
    reader: &mut Reader<'_, D>,
    near: &Period,
    limits: &Limits,
) -> Result<Option<u64>, Trouble> {
    let sector = reader.sector_bytes();
    let near_bytes = near.best;
    let most = limits
        .period_bytes_max()
        .min(reader.size_bytes() / PERIODS_MIN / 10) as f64;
    // Every whole number of sectors that the multiple may be.
    let sectors = |multiple: u64| {
        let middle = libm::round(near_bytes * multiple as f64 / sector as f64) as i64;
        let uncertain = (near.high - near.low) / 2.0 * multiple as f64;
        let reach = libm::ceil(uncertain / sector as f64).min(8.0) as i64;
        (middle - reach..=middle + reach).map(|at| at as u64 * sector)
    };
    let mut best: Option<(u64, f64)> = None;
    let mut first: Option<(f64, f64)> = None;
    for multiple in std::iter::once(1).chain(MULTIPLES) {
        if near_bytes * multiple as f64 > most {
            break;
        }
        for period in sectors(multiple) {
            let cost = collision(reader, period)?;
            let least = first.get_or_insert((cost.value, cost.error));
            if multiple == 1 {
                least.0 = least.0.max(cost.value);
                continue;
            }
            let beyond = 5.0 * libm::hypot(cost.error, least.1);
            let known = best.map_or(least.0 + beyond, |(_, known)| known + beyond / 2.0);
            if cost.value > known {
                best = Some((period, cost.value));
            }
        }
    }
    Ok(best.map(|(period, _)| period))
}

/// The cost of reads at random multiples of a period.
fn collision<D: Device>(reader: &mut Reader<'_, D>, period: u64) -> Result<Mean, Trouble> {
    let size = reader.size_bytes();
    let comb = Comb {
        period,
        every: 1,
        window: Window { from: 0, to: size },
    };
    let mut costs = Vec::new();
    for _ in 0..BATCHES_PARTS {
        let at = anchor(reader, period);
        costs.push(comb.cost(reader, (at, at))?);
    }
    Ok(Mean::of(&costs))
}
