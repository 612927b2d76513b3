//! Rotational speed of the platters.
//!
//! A sector's read ends when it has passed under the head, so reads of one sector end at the same
//! angle: their ends are whole revolutions apart, whatever was read in between. The revolution is
//! the longest period at which the ends of every sector coincide (Rayleigh's measure, summed over
//! sectors).

use serde::{Deserialize, Serialize};

/// Range of revolution times searched: 20,000 to 3,000 rpm.
const SHORTEST_NS: f64 = 3.0e6;
const LONGEST_NS: f64 = 20.0e6;
/// Threshold for coinciding ends: mean length of their sum as unit vectors. Random ends give 1 /
/// sqrt(visits), about 0.2.
const TOGETHER_MIN: f64 = 0.75;

/// At half the revolution's frequency ends are at either of two angles: also 1 / sqrt(visits).
const BY_CHANCE_MAX: f64 = 0.5;

/// The detected rotation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rotation {
    /// Nanoseconds of a revolution.
    pub revolution_ns: f64,
    /// The same in revolutions per minute.
    pub rpm: f64,
    /// Half the width of the interval of `rpm` (95 %).
    pub rpm_error: f64,
    /// How closely reads of one sector end at the same angle: 1 is exactly.
    pub together: f64,
}

/// The rotation from visits: the number of a sector, and the end of its read.
pub(super) fn rotation(visits: &[(u32, u64)]) -> Option<Rotation> {
    let first_ns = visits.first()?.1;
    let span_ns = (visits.last()?.1 - first_ns) as f64;
    let sectors = visits.iter().map(|(sector, _)| *sector).max()? as usize + 1;
    if visits.len() < 4 * sectors || span_ns < 20.0 * LONGEST_NS {
        return None;
    }
    let times: Vec<(usize, f64)> = visits
        .iter()
        .map(|(sector, ended_ns)| (*sector as usize, (ended_ns - first_ns) as f64))
        .collect();
    let mut sums = vec![(0.0, 0.0); sectors];
    let mut together = |frequency: f64| coherence(&times, &mut sums, frequency);
    let step = 0.15 / span_ns;
    let (low, high) = (1.0 / LONGEST_NS, 1.0 / SHORTEST_NS);
    let steps = ((high - low) / step) as usize;
    let values: Vec<f64> = (0..steps)
        .map(|number| together(low + number as f64 * step))
        .collect();
    let best = values.iter().copied().fold(0.0, f64::max);
    if best < TOGETHER_MIN {
        return None;
    }
    // A multiple of the rotation frequency fits as well: the slowest one counts.
    let place = values.iter().position(|value| *value >= 0.93 * best)?;
    let peak =
        (place..(place + 14).min(values.len())).max_by(|&a, &b| values[a].total_cmp(&values[b]))?;
    let found = sharpen(low + peak as f64 * step, step, &mut together);
    // Some sectors' ends may coincide better at half of it: they end at two angles, half a turn
    // apart. If that were the revolution, they would be at either by chance.
    let mut slower = [3.0, 2.0].into_iter().filter_map(|times| {
        let frequency = found.0 / times;
        let is_looked_for = frequency >= low;
        let slower = is_looked_for.then(|| sharpen(frequency, step / times, &mut together))?;
        (slower.1 >= BY_CHANCE_MAX).then_some(slower)
    });
    let (frequency, together) = slower.next().unwrap_or(found);
    // For a sine in noise (Rife and Boorstyn 1974), with the scatter given by `together`.
    let scatter = libm::sqrt((-2.0 * libm::log(together.min(1.0 - 1e-9))).max(1e-9));
    let error = 1.96 * libm::sqrt(12.0 / visits.len() as f64) * scatter
        / (2.0 * std::f64::consts::PI * span_ns);
    Some(Rotation {
        revolution_ns: 1.0 / frequency,
        rpm: 60e9 * frequency,
        rpm_error: 60e9 * error,
        together,
    })
}

fn coherence(times: &[(usize, f64)], sums: &mut [(f64, f64)], frequency: f64) -> f64 {
    sums.fill((0.0, 0.0));
    for &(sector, time) in times {
        let turns = time * frequency;
        let angle = 2.0 * std::f64::consts::PI * (turns - libm::floor(turns));
        sums[sector].0 += libm::cos(angle);
        sums[sector].1 += libm::sin(angle);
    }
    let length = |sum: &(f64, f64)| libm::sqrt(sum.0 * sum.0 + sum.1 * sum.1);
    sums.iter().map(length).sum::<f64>() / times.len() as f64
}

/// The highest point near a frequency, by halving steps.
fn sharpen(mut at: f64, mut step: f64, value: &mut impl FnMut(f64) -> f64) -> (f64, f64) {
    let mut best = value(at);
    for _ in 0..24 {
        let (left, right) = (value(at - step), value(at + step));
        if left > best {
            (at, best) = (at - step, left);
        } else if right > best {
            (at, best) = (at + step, right);
        } else {
            step /= 2.0;
        }
    }
    (at, best)
}
