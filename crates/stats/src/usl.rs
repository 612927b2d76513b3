//! The Universal Scalability Law: a curve through throughput by load.
//!
//! Gunther (1993): X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)), with
//! lambda the rate of one, sigma contention and kappa the cost of coherence.
//! With kappa > 0 throughput has a peak at sqrt((1 - sigma) / kappa).
//!
//! Descriptive only: three of five published series have kappa about 0, so the peak does not detect
//! the knee. Fitted by weighted linear least squares on N / X = (1 + sigma (N - 1) + kappa N (N -
//! 1)) / lambda, with weights that make the *relative* error of X count equally at all loads; sigma
//! and kappa are kept non-negative by trying the four sets of free coefficients.

use crate::knee::CurvePoint;
use serde::{Deserialize, Serialize};

/// A fitted law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ScalabilityLaw {
    /// Throughput at a load of 1.
    pub lambda: f64,
    /// Contention, 0 or above.
    pub sigma: f64,
    /// Coherence, 0 or above.
    pub kappa: f64,
    /// Root of the mean squared relative error of the fit.
    pub relative_error_rms: f64,
    /// Largest relative error of the fit.
    pub relative_error_max: f64,
    /// Share of the rates' variance explained by the law, at most 1; negative if their mean would
    /// fit better.
    pub r_squared: f64,
}

impl ScalabilityLaw {
    /// Throughput at a load.
    #[must_use]
    pub fn rate(&self, load: f64) -> f64 {
        self.lambda * load / (1.0 + self.sigma * (load - 1.0) + self.kappa * load * (load - 1.0))
    }

    /// The load of maximum throughput; none if kappa is 0 (no peak) or sigma above 1 (falls from
    /// the start).
    #[must_use]
    pub fn peak_load(&self) -> Option<f64> {
        (self.kappa > 0.0 && self.sigma < 1.0).then(|| libm::sqrt((1.0 - self.sigma) / self.kappa))
    }

    /// Whether it is worth printing: every point is within 5 % of the law.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.relative_error_max <= 0.05
    }
}

/// Fits the law to a curve of loads and rates above 0 (others are excluded).
///
/// None below four points: three would fit exactly and prove nothing; so for n = 0, 1 and 2. If the
/// points obey the law without noise, its parameters are recovered to about 1e-9.
///
/// ```
/// use stripewise_stats::{CurvePoint, fit_scalability};
/// let curve = [(1, 100.0), (2, 190.48), (4, 347.83), (8, 592.59), (16, 914.29)]
///     .map(|(load, rate)| CurvePoint { load, rate });
/// let law = fit_scalability(&curve).unwrap();
/// assert!((law.sigma - 0.05).abs() < 0.001 && law.is_good());
/// ```
#[must_use]
pub fn fit_scalability(curve: &[CurvePoint]) -> Option<ScalabilityLaw> {
    let points: Vec<(f64, f64)> = curve
        .iter()
        .filter(|p| p.load > 0 && p.rate.is_finite() && p.rate > 0.0)
        .map(|p| (p.load as f64, p.rate))
        .collect();
    if points.len() < 4 {
        return None;
    }
    [[true, true], [true, false], [false, true], [false, false]]
        .into_iter()
        .filter_map(|free| fit_with(&points, free))
        .reduce(|best, law| {
            // The first of equals has the fewest coefficients held at 0.
            if law.relative_error_rms < best.relative_error_rms * (1.0 - 1e-12) {
                law
            } else {
                best
            }
        })
}

/// Least squares with sigma and kappa free or 0; none if a free one is negative or the points do
/// not determine it.
fn fit_with(points: &[(f64, f64)], free: [bool; 2]) -> Option<ScalabilityLaw> {
    // Columns of 1/lambda, sigma/lambda and kappa/lambda; a row is divided by
    // N/X so that its target is 1 and residuals are relative.
    let columns: Vec<usize> = [true, free[0], free[1]]
        .iter()
        .enumerate()
        .filter_map(|(k, &is_free)| is_free.then_some(k))
        .collect();
    let n = columns.len();
    let mut normal = [[0.0; 4]; 3];
    for &(load, rate) in points {
        let weight = rate / load;
        let row = [weight, weight * (load - 1.0), weight * load * (load - 1.0)];
        for (i, &a) in columns.iter().enumerate() {
            for (j, &b) in columns.iter().enumerate() {
                normal[i][j] += row[a] * row[b];
            }
            normal[i][n] += row[a];
        }
    }
    let solved = solve(&mut normal, n)?;
    let mut all = [0.0; 3];
    for (value, &column) in solved.iter().zip(&columns) {
        all[column] = *value;
    }
    let [base, contention, coherence] = all;
    if base <= 0.0 || contention < 0.0 || coherence < 0.0 {
        return None;
    }
    let law = ScalabilityLaw {
        lambda: 1.0 / base,
        sigma: contention / base,
        kappa: coherence / base,
        relative_error_rms: 0.0,
        relative_error_max: 0.0,
        r_squared: 0.0,
    };
    Some(with_goodness(law, points))
}

fn with_goodness(law: ScalabilityLaw, points: &[(f64, f64)]) -> ScalabilityLaw {
    let n = points.len() as f64;
    let mean = points.iter().map(|p| p.1).sum::<f64>() / n;
    let (mut squares, mut largest, mut left, mut all) = (0.0, 0f64, 0.0, 0.0);
    for &(load, rate) in points {
        let error = law.rate(load) - rate;
        squares += (error / rate) * (error / rate);
        largest = largest.max((error / rate).abs());
        left += error * error;
        all += (rate - mean) * (rate - mean);
    }
    ScalabilityLaw {
        relative_error_rms: libm::sqrt(squares / n),
        relative_error_max: largest,
        // A level curve has no variance to explain.
        r_squared: if all > 0.0 { 1.0 - left / all } else { 0.0 },
        ..law
    }
}

/// Gauss elimination with pivoting of n equations of n unknowns and a right side.
fn solve(rows: &mut [[f64; 4]; 3], n: usize) -> Option<Vec<f64>> {
    // Columns differ by powers of the load: scale each to a diagonal of 1.
    let scale: Vec<f64> = (0..n).map(|k| libm::sqrt(rows[k][k])).collect();
    if scale.iter().any(|s| !s.is_normal()) {
        return None;
    }
    for i in 0..n {
        for j in 0..n {
            rows[i][j] /= scale[i] * scale[j];
        }
        rows[i][n] /= scale[i];
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k].abs() < 1e-14 {
            return None;
        }
        let upper = rows[k];
        for row in &mut rows[k + 1..n] {
            let factor = row[k] / upper[k];
            for (value, above) in row.iter_mut().zip(&upper) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * solution[j]).sum();
        solution[k] = (rows[k][n] - known) / rows[k][k];
    }
    for (value, s) in solution.iter_mut().zip(&scale) {
        *value /= s;
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve_of(lambda: f64, sigma: f64, kappa: f64) -> Vec<CurvePoint> {
        let law = ScalabilityLaw {
            lambda,
            sigma,
            kappa,
            relative_error_rms: 0.0,
            relative_error_max: 0.0,
            r_squared: 0.0,
        };
        (0..9)
            .map(|k| CurvePoint {
                load: 1 << k,
                rate: law.rate(f64::from(1u32 << k)),
            })
            .collect()
    }

    #[test]
    fn the_parameters_of_exact_curves_come_back() {
        let cases = [
            (100.0, 0.05, 0.0),
            (995.6, 0.0267, 0.000_769),
            (1.0, 0.0, 0.0),
            (5e5, 0.9, 0.02),
            (20.0, 0.0, 0.001),
        ];
        for (lambda, sigma, kappa) in cases {
            let law = fit_scalability(&curve_of(lambda, sigma, kappa)).unwrap();
            assert!((law.lambda / lambda - 1.0).abs() < 1e-7, "{law:?}");
            assert!((law.sigma - sigma).abs() < 1e-7, "{law:?}");
            assert!((law.kappa - kappa).abs() < 1e-8, "{law:?}");
            assert!(law.is_good() && law.r_squared > 1.0 - 1e-9, "{law:?}");
        }
    }

    #[test]
    fn fewer_than_four_usable_points_are_not_fitted() {
        let curve = curve_of(100.0, 0.1, 0.0);
        for n in 0..4 {
            assert_eq!(fit_scalability(&curve[..n]), None);
        }
        let mut zeros = curve[..4].to_vec();
        zeros[0].rate = 0.0;
        assert_eq!(fit_scalability(&zeros), None);
    }

    #[test]
    fn contention_and_coherence_are_never_negative() {
        // Superlinear: each doubling of the load more than doubles the rate.
        let curve: Vec<CurvePoint> = (0..6)
            .map(|k| CurvePoint {
                load: 1 << k,
                rate: libm::pow(2.3, f64::from(k)),
            })
            .collect();
        let law = fit_scalability(&curve).unwrap();
        assert_eq!((law.sigma, law.kappa), (0.0, 0.0));
        assert!(!law.is_good());
    }

    #[test]
    fn a_peak_exists_only_with_coherence() {
        assert_eq!(
            fit_scalability(&curve_of(9.0, 0.1, 0.0))
                .unwrap()
                .peak_load(),
            None
        );
        let peaked = fit_scalability(&curve_of(9.0, 0.1, 0.001)).unwrap();
        assert!((peaked.peak_load().unwrap() - 30.0).abs() < 1e-4);
    }
}
