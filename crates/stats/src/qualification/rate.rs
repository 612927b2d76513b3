//! A required rate and a percentile together.
//!
//! The two are judged by one open loop at the required rate, latency from the intended
//! start: of arrivals due in [from, stop - limit] all is known at the stop, each is in time
//! or beyond (late, failed, never issued, never completed). No separate test of the rate
//! is needed: above what a device can do nearly all arrivals are late within seconds.

use crate::sample::Estimate;
use serde::{Deserialize, Serialize};

/// What a run in the open loop was asked and how it kept its own schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// The threshold of latency.
    pub limit_ns: u64,
    /// L, the share that may be beyond it.
    pub share_max: f64,
}

impl OpenLoop {
    /// The last due time that is judged, given when issuing stopped; saturates at 0.
    #[must_use]
    pub fn judged_until_ns(&self, stop_ns: u64) -> u64 {
        stop_ns.saturating_sub(self.limit_ns)
    }

    /// Operations in flight that must be allowed at least: ten times what the required
    /// rate has in flight at the limit, and 256.
    #[must_use]
    pub fn in_flight_cap_min(&self, rate: f64) -> u64 {
        let wanted = libm::ceil(10.0 * rate * self.limit_ns as f64 / 1e9);
        // Float to integer saturates.
        (wanted as u64).max(256)
    }

    /// An arrival that was issued so late, although fewer than the cap were in flight, was
    /// late by the program's own doing.
    #[must_use]
    pub fn is_own_lag(&self, lag_ns: u64) -> bool {
        lag_ns > self.limit_ns / 10
    }

    /// The run says nothing of the device: more than L/10 of the arrivals were late by the
    /// program's own doing.
    #[must_use]
    pub fn is_void(&self, arrivals: u64, own_lags: u64) -> bool {
        own_lags as f64 > self.share_max / 10.0 * arrivals as f64
    }
}

/// What a closed ladder may say about a required rate at a latency limit: never "met",
/// since waits behind a stall are not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedLadder {
    /// Its plateau lies below the required rate: missed.
    Missed,
    /// At the step below the required rate latency exceeds the limit already: an open
    /// loop is not worth trying, but the ladder does not decide.
    NotWorthTrying,
    /// Only the open loop can tell.
    Unknown,
}

/// `plateau` is the rate that no load exceeds, with its interval; `latency_below` the
/// isotonic latency at the step just below the required rate, in the unit of the limit.
#[must_use]
pub fn closed_ladder(
    rate_min: f64,
    limit: f64,
    plateau: Option<Estimate>,
    latency_below: Option<f64>,
) -> ClosedLadder {
    if plateau.is_some_and(|plateau| plateau.high < rate_min) {
        ClosedLadder::Missed
    } else if latency_below.is_some_and(|latency| latency > limit) {
        ClosedLadder::NotWorthTrying
    } else {
        ClosedLadder::Unknown
    }
}
