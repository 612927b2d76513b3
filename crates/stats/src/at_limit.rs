//! The rate at a latency limit, with an interval, from runs around the crossing.
//!
//! With N operations in flight, X per second and a tail latency L (p99, say), let u = ln N and
//! v = u - mean u. The rate xi(v) = ln X is fitted by a concave parabola, the ratio of the tail
//! to the mean latency tau(v) = ln(L X / N) by a line: by Little's law N / X is the mean latency,
//! so what slows a run as a whole is in xi and not in tau. The limit is met where
//! u - xi + tau = ln limit; the answer is X there.
//!
//! A change of xi by e moves the crossing as well, so that the answer changes by
//! (1 + rho) e with rho = xi' / (1 - xi' + tau'); one of tau by -rho e. With h2 and h1
//! the leverages of the crossing in the two fits,
//! var = (1 + rho)^2 s_xi^2 h2 + rho^2 s_tau^2 h1 - 2 rho (1 + rho) s_xitau h1.
//! Both fits are robust ([`crate::robust_mean_interval`] says how).
//!
//! A parabola smooths a curve that bends too sharply for it, and the rate at the bend is then too
//! high. The runs next to the crossing show it: the mean m of their residuals, weighted by
//! 1 - |v - root| / 0.35, is 0 up to chance if the parabola fits. On the side of m the interval
//! is that of var + ((1 + rho) m)^2. If the parabola fits, that makes intervals 3 % wider; at a
//! sharp knee they contain the rate in 95 of 100 cases instead of 91, and in its corner in 90
//! instead of 85.
//!
//! Not included: which runs to make, and what to report if there is no answer.

use crate::distribution::student_quantile;
use crate::in_full::{InFull, in_full};
use crate::robust::{RobustFit, robust_polynomial};
use crate::sample::{Estimate, mean};

/// If latency grows more slowly than this with the load (both as logarithms), the crossing is
/// undetermined.
const SLOPE_MIN: f64 = 0.1;
/// A crossing this far outside the measured loads (a quarter of a doubling) is still accepted.
const BEYOND: f64 = 0.173;
/// Intervals are this much wider than Student's. A mean needs 1.1; here the misfit accounts for
/// part of it: `cargo xtask truth --only e` measures how often they contain the rate.
const WIDENING: f64 = 1.07;
/// Runs closer to the crossing than this, as a logarithm, measure the parabola's fit there: three
/// of five loads within a factor of 1.6.
const NEAR: f64 = 0.35;
/// Fewest runs that a parabola and a line are fitted to.
const RUNS_MIN: usize = 6;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadRun {
    /// Operations in flight.
    pub load: f64,
    /// Operations per second.
    pub rate: f64,
    /// The limited latency, in seconds.
    pub latency_s: f64,
}

/// The rate at a limit, as far as runs determine it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtLimit {
    /// The limit is crossed within the measured loads.
    Crossed {
        /// Operations in flight there.
        load: f64,
        /// Operations per second there, with its interval.
        rate: Estimate,
    },
    /// It would be crossed outside of them, by extrapolation about there.
    Outside {
        /// Operations in flight.
        load: f64,
    },
    /// Latency hardly grows with the load here, or the fit never meets the limit.
    Unknown,
}

/// The rate at which the tail latency is `limit_s`. The interval is Student's, with n - 3 degrees
/// of freedom, 7 % wider, and extended on the side of a misfit.
///
/// n < 6, fewer than two different loads, or a run whose load, rate or latency is not
/// above 0: [`AtLimit::Unknown`]. With two different loads both fits are lines.
pub fn rate_at_limit(runs: &[LoadRun], limit_s: f64, level: f64) -> AtLimit {
    at_limit(runs, limit_s, level).unwrap_or(AtLimit::Unknown)
}

fn at_limit(runs: &[LoadRun], limit_s: f64, level: f64) -> Option<AtLimit> {
    let sound = |run: &LoadRun| run.load > 0.0 && run.rate > 0.0 && run.latency_s > 0.0;
    if runs.len() < RUNS_MIN || limit_s <= 0.0 || !runs.iter().all(sound) {
        return None;
    }
    let u: Vec<f64> = runs.iter().map(|run| libm::log(run.load)).collect();
    let centre = mean(&u)?;
    let v: Vec<f64> = u.iter().map(|u| u - centre).collect();
    let rates: Vec<f64> = runs.iter().map(|run| libm::log(run.rate)).collect();
    let tails: Vec<f64> = runs
        .iter()
        .map(|run| libm::log(run.latency_s * run.rate / run.load))
        .collect();
    let xi = concave(&v, &rates)?;
    let tau = robust_polynomial(&v, &tails, 2)?;
    let Some(root) = root(&xi, &tau, libm::log(limit_s) - centre) else {
        return Some(AtLimit::Unknown);
    };
    let slope = 1.0 - xi.slope(root) + tau.slope(root);
    if slope < SLOPE_MIN {
        return Some(AtLimit::Unknown);
    }
    let load = libm::exp(centre + root);
    let low = v.iter().copied().fold(f64::INFINITY, f64::min) - BEYOND;
    let high = v.iter().copied().fold(f64::NEG_INFINITY, f64::max) + BEYOND;
    if !(low..=high).contains(&root) {
        return Some(AtLimit::Outside { load });
    }
    let degrees = (runs.len() - 3) as f64;
    let rho = xi.slope(root) / slope;
    let variance = variance(&xi, &tau, root, rho).max(0.0);
    let misfit = (1.0 + rho) * misfit(&xi, &v, root);
    let times = WIDENING * student_quantile(0.5 + 0.5 * level, degrees);
    let half = |misfit: f64| times * libm::sqrt(variance + misfit * misfit);
    let value = xi.value(root);
    Some(AtLimit::Crossed {
        load,
        rate: Estimate {
            value,
            low: value - half(misfit.min(0.0)),
            high: value + half(misfit.max(0.0)),
            level,
        }
        .map(libm::exp),
    })
}

/// The plain mean of the runs of [`rate_at_limit`] relative to its fit of their rates. What slows a
/// run as a whole slows the answer alike and leaves the crossing where it is. None where the fit is
/// undetermined, and as for [`in_full`].
pub fn crossing_in_full(runs: &[LoadRun]) -> Option<InFull> {
    let u: Vec<f64> = runs.iter().map(|run| libm::log(run.load)).collect();
    let centre = mean(&u)?;
    let v: Vec<f64> = u.iter().map(|u| u - centre).collect();
    let rates: Vec<f64> = runs.iter().map(|run| libm::log(run.rate)).collect();
    let xi = concave(&v, &rates)?;
    let each = v.iter().zip(&rates);
    let ratios = each.map(|(v, rate)| libm::exp(rate - xi.value(*v)));
    in_full(&ratios.collect::<Vec<_>>())
}

/// Mean distance of the runs next to the crossing from the fit: positive if they lie above it. 0 if
/// there are none.
fn misfit(xi: &RobustFit, v: &[f64], root: f64) -> f64 {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for (v, residual) in v.iter().zip(&xi.residuals) {
        let weight = (1.0 - (v - root).abs() / NEAR).max(0.0);
        sum += weight * residual;
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// A parabola that does not bend upwards; otherwise a line.
fn concave(v: &[f64], rates: &[f64]) -> Option<RobustFit> {
    robust_polynomial(v, rates, 3)
        .filter(|fit| fit.coefficients[2] <= 0.0)
        .or_else(|| robust_polynomial(v, rates, 2))
}

/// Where v - xi(v) + tau(v) = `goal`, on the branch on which latency rises with the
/// load. xi is concave, so the left side is convex: of two roots the upper one.
fn root(xi: &RobustFit, tau: &RobustFit, goal: f64) -> Option<f64> {
    let a = -xi.coefficients[2];
    let b = 1.0 - xi.coefficients[1] + tau.coefficients[1];
    let c = tau.coefficients[0] - xi.coefficients[0] - goal;
    if a < 1e-9 {
        return (b >= SLOPE_MIN).then(|| -c / b);
    }
    let square = b * b - 4.0 * a * c;
    (square >= 0.0).then(|| (libm::sqrt(square) - b) / (2.0 * a))
}

fn variance(xi: &RobustFit, tau: &RobustFit, at: f64, rho: f64) -> f64 {
    let product = |a: &RobustFit, b: &RobustFit| -> f64 {
        let pairs = a.residuals.iter().zip(&b.residuals);
        pairs.map(|(a, b)| a * b).sum()
    };
    let of_xi = product(xi, xi) / xi.degrees();
    let of_tau = product(tau, tau) / tau.degrees();
    let of_both = product(xi, tau) / xi.degrees();
    let (h2, h1) = (xi.leverage(at), tau.leverage(at));
    (1.0 + rho) * (1.0 + rho) * of_xi * h2 + rho * rho * of_tau * h1
        - 2.0 * rho * (1.0 + rho) * of_both * h1
}
