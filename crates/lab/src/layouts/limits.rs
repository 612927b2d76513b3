//! Limits on latency: which layouts are shown to meet or to break them.

use super::measured::{Measured, MixCell};
use stripewise_stats::{mean, standard_deviation, student_quantile};

/// Probability of misjudging a layout.
const ODDS: f64 = 0.01;

/// The state of one layout and one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitState {
    Meets,
    Breaks,
    Open,
}

/// Compares the logarithms of a layout's p99, one per pass, with that of the limit. The layout
/// meets it if the mean and Student's bound at 1 - 0.01 / k are at most the limit, with k the
/// number of layouts, and breaks it if the mean less the bound at 0.99 is above it.
pub(super) fn limit_state(p99_ns: &[f64], limit_ns: u64, layouts: usize) -> LimitState {
    let logs: Vec<f64> = p99_ns.iter().map(|ns| libm::log(*ns)).collect();
    let (Some(middle), Some(deviation)) = (mean(&logs), standard_deviation(&logs)) else {
        return LimitState::Open;
    };
    let error = deviation / libm::sqrt(logs.len() as f64);
    let degrees = (logs.len() - 1) as f64;
    let limit = libm::log(limit_ns as f64);
    let bound = |p: f64| student_quantile(p, degrees) * error;
    if middle + bound(1.0 - ODDS / layouts.max(1) as f64) <= limit {
        LimitState::Meets
    } else if middle - bound(1.0 - ODDS) > limit {
        LimitState::Breaks
    } else {
        LimitState::Open
    }
}

/// One limit and every layout.
pub(super) struct Limit {
    pub cell: usize,
    pub p99_ns: u64,
    pub standings: Vec<LimitState>,
    /// All layouts break it, or one of the limits: it cannot choose.
    pub is_void: bool,
}

/// All limits of the cells.
pub(super) fn limits(measured: &Measured, cells: &[MixCell], layouts: usize) -> Vec<Limit> {
    let limit = |(cell, given): (usize, &MixCell)| {
        let p99_ns = given.limit_ns_p99?;
        let of = |layout: usize| {
            let values = measured.cell(layout, cell);
            let known: Vec<f64> = values.iter().filter_map(|v| v.latency_ns_p99).collect();
            match known.len() == values.len() {
                true => limit_state(&known, p99_ns, layouts),
                false => LimitState::Open,
            }
        };
        let standings: Vec<LimitState> = (0..layouts).map(of).collect();
        Some(Limit {
            cell,
            p99_ns,
            is_void: !standings.iter().any(|one| *one != LimitState::Breaks),
            standings,
        })
    };
    let mut limits: Vec<Limit> = cells.iter().enumerate().filter_map(limit).collect();
    let breaks = |layout: usize| {
        let mut choosing = limits.iter().filter(|limit| !limit.is_void);
        choosing.any(|limit| limit.standings[layout] == LimitState::Breaks)
    };
    // Each is met by some layouts, and all of them by none: as void as one that none meets.
    if (0..layouts).all(breaks) {
        limits.iter_mut().for_each(|limit| limit.is_void = true);
    }
    limits
}
