//! Whether a cap is a limiter's or the device's: how each affects the corners of the roofline,
//! reads against writes, and small against larger blocks.
//!
//! A limiter cuts off sharply: at the corner, where two terms are equal, the rate is almost either
//! of them; a device's queues and components round it off. A limiter has one bucket for reads and
//! writes, or one each; a device's writes have a different cost, and a mix reaches the harmonic
//! mean.

use super::cells::{LimitCell, LimitRates, Scatter};
use crate::sample::median;
use serde::{Deserialize, Serialize};
use std::f64::consts::{LN_2, PI};

/// Minimum probability to call a cap the device's.
const DEVICE_MIN: f64 = 0.95;
/// The same for a limiter, which blames an operator: at 0.95 an SSD with equal reads and writes and
/// sharp corners was called one in 3.6 % of trials, at a scatter of 5 %.
const LIMITER_MIN: f64 = 0.98;
/// Share of runs moved far away by some disturbance.
const DISTURBED_SHARE: f64 = 0.07;

/// The origin of a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// It was configured.
    Limiter,
    /// It is the device's own capability.
    Device,
    /// The data is inconclusive.
    Undecided,
}

/// How reads and writes share a cap on operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Reads, writes and a mix reach the same rate: one bucket.
    Shared,
    /// A mix reaches twice the lower of the two: a bucket each.
    Separate,
    /// Neither.
    Neither,
    /// Nothing was written.
    Untested,
}

/// The result of the classification.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NatureFound {
    /// The origin.
    pub nature: Nature,
    /// Probability that it is a limiter, at even prior odds.
    pub limiter_probability: f64,
    /// How reads and writes share it.
    pub sharing: Sharing,
}

impl LimitRates {
    /// The origin of the cap on operations, or on bytes where that holds 4 KiB reads as well.
    /// `None` if there is none, or below three runs of each cell.
    pub fn nature(&self) -> Option<NatureFound> {
        let scatter = self.scatter()?;
        let caps = self.caps()?;
        self.cap_of_small(&caps)?;
        let read = self.log_mean(LimitCell::Small)?;
        let levels = self.levels()?;
        let of_size_corner = self.of_size_corner(levels, &scatter);
        // Nothing else then shows that the rate does not depend on the size.
        let is_shown = of_size_corner.is_some() || self.bytes_hold_medium() != Some(true);
        let mut odds = of_size_corner.unwrap_or(0.0)
            + self.of_depth_corner(levels, &scatter).unwrap_or(0.0)
            + self.of_kinds(read, &scatter).unwrap_or(0.0)
            + self.of_flatness(read, &scatter).unwrap_or(0.0);
        // Beyond this the exponential function saturates.
        odds = odds.clamp(-500.0, 500.0);
        let limiter_probability = 1.0 / (1.0 + libm::exp(-odds));
        let nature = if !caps.is_quiet || !is_shown {
            Nature::Undecided
        } else if limiter_probability >= LIMITER_MIN {
            Nature::Limiter
        } else if limiter_probability <= 1.0 - DEVICE_MIN {
            Nature::Device
        } else {
            Nature::Undecided
        };
        Some(NatureFound {
            nature,
            limiter_probability,
            sharing: self.sharing(&scatter),
        })
    }

    /// Log odds from the rate at the block size where the caps meet.
    fn of_size_corner(&self, (iops, bytes_per_s): (f64, f64), scatter: &Scatter) -> Option<f64> {
        let bytes = self.corners.block_size_bytes? as f64;
        let ceiling = iops.min(bytes_per_s - libm::log(bytes));
        let sharpness = self.log_mean(LimitCell::SizeCorner)? - ceiling;
        Some(corner(sharpness, scatter, (0.97, 0.02), (0.75, 0.13)))
    }

    /// Log odds from the rate at the depth where latency meets the cap.
    fn of_depth_corner(&self, (iops, _): (f64, f64), scatter: &Scatter) -> Option<f64> {
        let depth = f64::from(self.corners.outstanding?);
        let of_latency = self.log_mean(LimitCell::Single)? + libm::log(depth);
        let ceiling = of_latency.min(iops);
        let sharpness = self.log_mean(LimitCell::DepthCorner)? - ceiling;
        Some(corner(sharpness, scatter, (0.98, 0.025), (0.73, 0.13)))
    }

    /// Log odds from reads against writes and a mix.
    fn of_kinds(&self, read: f64, scatter: &Scatter) -> Option<f64> {
        let (write, mix) = self.write_and_mix()?;
        let error = scatter.error;
        let narrow = hypot(1.4 * error, 0.015);
        let one = density(write - read, 0.0, narrow) * density(mix - read, 0.0, narrow);
        let each =
            density(write - read, -0.3, 0.6) * density(mix - LN_2 - read.min(write), 0.0, narrow);
        let harmonic = -libm::log(0.5 * libm::exp(-read) + 0.5 * libm::exp(-write));
        let device = density(write - read, -0.25, hypot(0.3, error))
            * density(mix - harmonic, 0.0, hypot(1.41 * error, 0.06));
        Some(libm::log((0.6 * one + 0.4 * each) / device))
    }

    /// Log odds from 16 KiB against 4 KiB, unless the cap on bytes holds the former.
    fn of_flatness(&self, read: f64, scatter: &Scatter) -> Option<f64> {
        if self.bytes_hold_medium()? {
            return None;
        }
        let change = self.log_mean(LimitCell::Medium)? - read;
        let error = 1.41 * scatter.error;
        let limiter = density(change, 0.0, hypot(error, 0.01));
        let device =
            0.4 * density(change, 0.0, hypot(error, 0.03)) + 0.6 * density(change, -0.4, 0.3);
        Some(libm::log(limiter / device))
    }

    fn sharing(&self, scatter: &Scatter) -> Sharing {
        let means = self.log_mean(LimitCell::Small).zip(self.write_and_mix());
        let Some((read, (write, mix))) = means else {
            return Sharing::Untested;
        };
        let found = sharing_of([read, write, mix], scatter);
        // Two of six runs that something else slowed down move a mean, but no median.
        let cells = [LimitCell::Small, LimitCell::Writes, LimitCell::Mix];
        let medians = cells.map(|cell| median(&self.logs(cell)).unwrap_or(f64::NAN));
        match (found, sharing_of(medians, scatter)) {
            (Sharing::Neither, Sharing::Shared) => Sharing::Shared,
            _ => found,
        }
    }
}

/// The same from the logarithms of a rate of each.
fn sharing_of([read, write, mix]: [f64; 3], scatter: &Scatter) -> Sharing {
    let equal = |a: f64, b: f64| (a - b).abs() < scatter.tolerance_of_writes;
    if equal(write, read) && equal(mix, read) {
        Sharing::Shared
    } else if equal(mix, LN_2 + read.min(write)) {
        Sharing::Separate
    } else {
        Sharing::Neither
    }
}

/// Log odds of a limiter from ln(rate at a corner / lower of its two terms): mean and standard
/// deviation for either.
fn corner(sharpness: f64, scatter: &Scatter, limiter: (f64, f64), device: (f64, f64)) -> f64 {
    let error = 1.25 * scatter.error;
    let of =
        |(share, spread): (f64, f64)| density(sharpness, libm::log(share), hypot(error, spread));
    libm::log(of(limiter) / of(device))
}

/// Normal, with a share displaced by a disturbance.
fn density(x: f64, mean: f64, spread: f64) -> f64 {
    (1.0 - DISTURBED_SHARE) * normal(x, mean, spread)
        + DISTURBED_SHARE * normal(x, mean, 6.0 * spread + 0.2)
}

/// Density of the normal distribution.
pub(super) fn normal(x: f64, mean: f64, spread: f64) -> f64 {
    let z = (x - mean) / spread;
    libm::exp(-0.5 * z * z) / (spread * libm::sqrt(2.0 * PI))
}

pub(super) fn hypot(a: f64, b: f64) -> f64 {
    libm::hypot(a, b)
}
