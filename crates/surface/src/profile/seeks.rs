//! The seek curve: arm movement time over distance.
//!
//! A read waits for the arm, then for the platter (up to a revolution, half of one on average),
//! plus a fixed time. So the mean latency over a distance, minus half a revolution and the fixed
//! time, is the seek. Distances are fractions of the stroke: of tracks, not of bytes, as outer
//! tracks hold more; the rate shows how much more. t(d) = a + b sqrt(d) + c d is fitted by least
//! squares; the mean over random pairs of tracks follows from E sqrt(d) = 8/15 and E d = 1/3
//! (Ruemmler and Wilkes 1994 for the curve).

use super::{AccessAt, Measured, RateAt};
use serde::{Deserialize, Serialize};

/// Fewest reads to fit a curve.
const READS_MIN: usize = 60;
/// If the longest seeks add less than this, the target has no arm.
const ARM_NS_MIN: f64 = 0.4e6;

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeekPoint {
    /// Fraction of the stroke, 0 to 1.
    pub distance: f64,
    /// Nanoseconds.
    pub seek_ns: f64,
}

/// The seeks of a disk, nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeekCurve {
    /// To an adjacent cylinder; includes the firmware's overhead for every movement.
    pub track_ns: f64,
    /// Mean over random pairs of tracks.
    pub average_ns: f64,
    /// Half the width of its interval (95 %).
    pub average_error_ns: f64,
    /// From one edge to the other.
    pub full_ns: f64,
    /// The curve at increasing distances.
    pub points: Vec<SeekPoint>,
}

/// The seek curve of the measurements, given a revolution; `None` if there is no arm.
pub(super) fn seeks(measured: &Measured, revolution_ns: f64, fixed_ns: f64) -> Option<SeekCurve> {
    let tracks = Tracks::of(&measured.rates, measured.size_bytes);
    let sample = |access: &AccessAt| {
        let distance = tracks.at(access.from_bytes) - tracks.at(access.offset_bytes);
        (distance.abs(), access.latency_ns as f64)
    };
    let all = measured
        .accesses
        .iter()
        .skip(1)
        .chain(&measured.full_strokes);
    let samples: Vec<(f64, f64)> = all.map(sample).collect();
    if samples.len() < READS_MIN {
        return None;
    }
    // Reads disturbed by other load or a retry would distort the curve.
    let retained = without_outliers(&samples, revolution_ns);
    let (fit, error_ns) = fit(&retained)?;
    let less_ns = revolution_ns / 2.0 + fixed_ns;
    let at = |distance: f64| {
        (fit[0] + fit[1] * libm::sqrt(distance) + fit[2] * distance - less_ns).max(0.0)
    };
    let full_ns = at(1.0);
    if full_ns - at(0.01) < ARM_NS_MIN {
        return None;
    }
    let average_ns = fit[0] + fit[1] * 8.0 / 15.0 + fit[2] / 3.0 - less_ns;
    let points = (0..=50)
        .map(|number| {
            let distance = f64::from(number) / 50.0;
            SeekPoint {
                distance,
                seek_ns: at(distance),
            }
        })
        .collect();
    Some(SeekCurve {
        track_ns: shortest(&measured.short_strokes, fixed_ns),
        average_ns,
        average_error_ns: 1.96 * error_ns,
        full_ns,
        points,
    })
}

/// The shortest of waits distributed evenly over a revolution: the minimum, minus the mean distance
/// between two of them.
fn shortest(accesses: &[AccessAt], fixed_ns: f64) -> f64 {
    let mut times: Vec<u64> = accesses.iter().map(|access| access.latency_ns).collect();
    times.sort_unstable();
    let n = times.len();
    if n < 8 {
        return 0.0;
    }
    let (least, middle) = (times[0] as f64, times[n / 2] as f64);
    let between = (middle - least) / (n as f64 / 2.0);
    (least - between - fixed_ns).max(0.0)
}

/// Without reads that took a revolution and a half more than the median of their type.
fn without_outliers(samples: &[(f64, f64)], revolution_ns: f64) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
    sorted.sort_by(f64::total_cmp);
    let limit = sorted[sorted.len() / 2] + 2.5 * revolution_ns + sorted[sorted.len() / 10];
    samples
        .iter()
        .copied()
        .filter(|sample| sample.1 < limit)
        .collect()
}

/// a, b, c of a + b sqrt(d) + c d, and the standard error of the mean over random pairs.
fn fit(samples: &[(f64, f64)]) -> Option<([f64; 3], f64)> {
    let mut matrix = [[0.0f64; 4]; 3];
    for &(distance, latency_ns) in samples {
        let row = [1.0, libm::sqrt(distance), distance];
        for i in 0..3 {
            for j in 0..3 {
                matrix[i][j] += row[i] * row[j];
            }
            matrix[i][3] += row[i] * latency_ns;
        }
    }
    let solution = solve(matrix)?;
    let left: f64 = samples
        .iter()
        .map(|&(distance, latency_ns)| {
            let foretold =
                solution[0] + solution[1] * libm::sqrt(distance) + solution[2] * distance;
            (latency_ns - foretold).powi(2)
        })
        .sum();
    let n = samples.len() as f64;
    // The mean over random pairs is in the middle of the samples, where the error of a fit is that
    // of a mean.
    let error_ns = libm::sqrt(left / (n - 3.0) / n);
    Some((solution, error_ns))
}

/// Gauss elimination with pivoting.
fn solve(mut matrix: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-9 {
            return None;
        }
        matrix.swap(column, pivot);
        for row in 0..3 {
            if row != column {
                let factor = matrix[row][column] / matrix[column][column];
                let subtracted = matrix[column];
                for (value, other) in matrix[row].iter_mut().zip(subtracted) {
                    *value -= factor * other;
                }
            }
        }
    }
    Some(std::array::from_fn(|row| matrix[row][3] / matrix[row][row]))
}

/// The fraction of tracks before a byte: bytes over rate is revolutions.
struct Tracks {
    /// Byte and fraction of tracks before it; ascending.
    edges: Vec<(f64, f64)>,
}

impl Tracks {
    fn of(rates: &[RateAt], size_bytes: u64) -> Self {
        let mut edges = vec![(0.0, 0.0)];
        let mut sum = 0.0;
        let mut from = 0.0;
        for (number, rate) in rates.iter().enumerate() {
            let to = match rates.get(number + 1) {
                Some(next) => rate.offset_bytes.midpoint(next.offset_bytes) as f64,
                None => size_bytes as f64,
            };
            sum += (to - from) / rate.bytes_per_s.max(1.0);
            from = to;
            edges.push((to, sum));
        }
        if edges.len() < 2 {
            edges.push((size_bytes.max(1) as f64, 1.0));
            sum = 1.0;
        }
        for edge in &mut edges {
            edge.1 /= sum;
        }
        Tracks { edges }
    }

    fn at(&self, byte: u64) -> f64 {
        let byte = byte as f64;
        let after = self.edges.partition_point(|edge| edge.0 <= byte);
        let after = after.clamp(1, self.edges.len() - 1);
        let (low, high) = (self.edges[after - 1], self.edges[after]);
        let part = ((byte - low.0) / (high.0 - low.0).max(1.0)).clamp(0.0, 1.0);
        low.1 + (high.1 - low.1) * part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_through_points_of_the_law_finds_its_terms() {
        let samples: Vec<(f64, f64)> = (0..200)
            .map(|number| {
                let distance = f64::from(number) / 200.0;
                (distance, 5.0 + 3.0 * libm::sqrt(distance) + 2.0 * distance)
            })
            .collect();
        let (terms, error) = fit(&samples).unwrap();
        for (found, expected) in terms.into_iter().zip([5.0, 3.0, 2.0]) {
            assert!((found - expected).abs() < 1e-6, "{terms:?}");
        }
        assert!(error < 1e-6);
    }

    #[test]
    fn outer_bytes_are_fewer_tracks() {
        let rate = |offset_bytes, bytes_per_s| RateAt {
            offset_bytes,
            length_bytes: 1,
            bytes_per_s,
        };
        // The outer half is twice as fast: it has a third of the tracks.
        let tracks = Tracks::of(&[rate(25, 200.0), rate(75, 100.0)], 100);
        assert!((tracks.at(50) - 1.0 / 3.0).abs() < 1e-9);
        assert!((tracks.at(100) - 1.0).abs() < 1e-9);
        assert!(tracks.at(0).abs() < 1e-9);
    }
}
