//! Whether two disks can serve reads of one unit: a mirrored pair.
//!
//! Two distant reads on one arm end at least a seek apart. On a pair of disks some pairs of reads
//! go to different arms, and then some end at nearly the same time, as two reads of different units
//! do.
//!
//! Ends seen at exactly the same time mean nothing: a busy machine looks at completions late. If
//! there are many, a mirror is never claimed.

use super::edges::{Comb, Window};
use super::multiples::Mean;
use super::reads::Reader;
use super::{Copies, SearchEnd};
use crate::device::Device;
use stripewise_stats::median;

const PAIRS: usize = 200;
const PAIRS_MAX: usize = 800;
/// Ends farther apart than the first and closer than the second value, as shares of the median time
/// of the first end, count as nearly simultaneous; closer ones as seen at once.
const CLOSE: [f64; 2] = [0.02, 0.12];
/// Fewest such pairs of different units for a verdict.
const CLOSE_MIN: f64 = 30.0;
/// Two arms have one pair in forty seen at once by chance; a busy machine, more.
const AT_ONCE_MAX: f64 = 0.06;

/// End of the first of two reads, and how much later the other ended.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first_ns: f64,
    gap_ns: f64,
}

/// How often two reads end nearly simultaneously, for one unit and for two.
pub(super) fn copies<D: Device>(
    reader: &mut Reader<'_, D>,
    period: u64,
    (anchor, apart): (i128, i128),
) -> Result<Copies, SearchEnd> {
    let size = reader.size_bytes();
    let comb = |from: u64, to: u64| Comb {
        period,
        every: 1,
        window: Window { from, to },
    };
    // Far apart: the arm must move from one to the other.
    let (near, far) = (comb(0, size / 3), comb(size / 3 * 2, size));
    let (mut one, mut two): (Vec<Ends>, Vec<Ends>) = Default::default();
    loop {
        for _ in 0..PAIRS {
            for (ends, other) in [(&mut one, anchor), (&mut two, apart)] {
                let first = near.position(reader, anchor);
                let second = far.position(reader, other);
                let answers = reader.run_batch(&[first, second])?;
                let (a, b) = (answers[0].latency_ns, answers[1].latency_ns);
                ends.push(Ends {
                    first_ns: a.min(b) as f64,
                    gap_ns: a.abs_diff(b) as f64,
                });
            }
        }
        if let Some(copies) = judge(&one, &two) {
            return Ok(copies);
        }
        if one.len() >= PAIRS_MAX {
            return Ok(Copies::Unknown);
        }
    }
}

/// Distances compared.
const DISTANCES: usize = 16;
/// Batches of each, in steps of the first, until the mean of each is accurate enough.
const ROUNDS: usize = 16;
const ROUNDS_MAX: usize = 128;
const ERROR_MAX: f64 = 0.1;
/// Squared deviations in standard errors, summed over the distances: a mirror exceeds this once in
/// many millions.
const SQUARES_MAX: f64 = 50.0;

/// Whether reads of a column collide equally at all distances; `None` if not known accurately
/// enough.
///
/// Two arms take reads of a mirror as they come. A column of a period that is only part of the true
/// one is also on several disks, and looks like a mirror; but there places at one distance always
/// share a disk, or nearly so, and at another never. Every column, `apart` bytes from the next, is
/// tested: one of them may still be on one disk.
pub(super) fn same_at_all_distances<D: Device>(
    reader: &mut Reader<'_, D>,
    period: u64,
    (anchor, apart): (i128, u64),
) -> Result<Option<bool>, SearchEnd> {
    let sector = reader.sector_bytes();
    let periods = reader.size_bytes() / period;
    // Far apart, as the nearer of two arms takes both of two close reads.
    let least = periods / 10 + reader.below(periods / 12);
    let mut above = vec![Vec::new(); DISTANCES];
    loop {
        for _ in 0..ROUNDS {
            let mut order: Vec<usize> = (0..DISTANCES).collect();
            reader.random.shuffle(&mut order);
            let column = anchor + i128::from(reader.below(period / apart) * apart);
            let first = column.rem_euclid(i128::from(period)) as u64;
            let mut costs = [0.0; DISTANCES];
            for number in order {
                let stride = (least + number as u64) * period;
                let room = (reader.size_bytes() - sector).saturating_sub(3 * stride + first);
                let at = first + reader.below(room / period) * period;
                costs[number] = reader.cost(&[0, 1, 2, 3].map(|k| at + k * stride))?;
            }
            let mean = costs.iter().sum::<f64>() / DISTANCES as f64;
            for (above, cost) in above.iter_mut().zip(costs) {
                above.push(cost - mean);
            }
        }
        let means: Vec<Mean> = above.iter().map(|above| Mean::of(above)).collect();
        let known = means.iter().all(|mean| mean.error <= ERROR_MAX);
        let squares: f64 = means
            .iter()
            .map(|mean| (mean.value / mean.error.max(1e-6)).powi(2))
            .sum();
        match squares <= SQUARES_MAX {
            false => return Ok(Some(false)),
            true if known => return Ok(Some(true)),
            true if above[0].len() >= ROUNDS_MAX => return Ok(None),
            true => {}
        }
    }
}

/// From pairs of reads of one unit, and of two.
fn judge(one: &[Ends], two: &[Ends]) -> Option<Copies> {
    let all: Vec<f64> = one.iter().chain(two).map(|ends| ends.first_ns).collect();
    let usual_ns = median(&all)?;
    let count = |ends: &[Ends], [low, high]: [f64; 2]| {
        let within = |ends: &&Ends| (low..high).contains(&(ends.gap_ns / usual_ns));
        ends.iter().filter(within).count() as f64
    };
    let (together, apart) = (count(one, CLOSE), count(two, CLOSE));
    let at_once = [0.0, CLOSE[0]];
    let busy = count(one, at_once) + count(two, at_once) > AT_ONCE_MAX * all.len() as f64;
    match apart >= CLOSE_MIN {
        true if together <= 0.1 * apart => Some(Copies::One),
        true if together >= 0.25 * apart && !busy => Some(Copies::Several),
        _ => None,
    }
}
