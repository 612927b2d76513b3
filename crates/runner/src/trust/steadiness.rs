//! Warnings about a rate that moved while it was measured.

use super::code::Code;
use super::evidence::{Evidence, percent_of};
use stripewise_results::{Severity, TargetKind, Warning};
use stripewise_stats::{ROUND_NS_MIN, SteadyRule, mean, step_down};
use stripewise_units::{Nanoseconds, format_duration, format_iops};

/// A fall by less than this may be anything.
const DROP_SHARE_MIN: f64 = 0.2;
/// With fewer operations a round, chance alone moves rates by more than the
/// rule allows (Poisson: 8 % standard deviation at 150).
const ROUND_OPERATIONS_MIN: f64 = 150.0;

/// Rates of the whole intervals, operations a second; the last one is left out
/// where it was cut short.
fn rates(evidence: &Evidence) -> Vec<f64> {
    let intervals = &evidence.outcome.intervals;
    let longest = intervals
        .iter()
        .map(|interval| interval.duration_ns)
        .max()
        .unwrap_or(0);
    intervals
        .iter()
        .filter(|interval| interval.duration_ns > 0 && interval.duration_ns >= longest / 2)
        .map(|interval| {
            let operations = interval.read_operations + interval.write_operations;
            operations as f64 * 1e9 / interval.duration_ns as f64
        })
        .collect()
}

/// Not in steady state by SNIA's rule, over five rounds of equal length that
/// together are the measured window.
pub fn not_steady(evidence: &Evidence) -> Option<Warning> {
    let rule = SteadyRule::SNIA;
    let rates = rates(evidence);
    if rates.len() < rule.window || fell(&rates).is_some() {
        return None;
    }
    let each = rates.len() as f64 / rule.window as f64;
    let rounds: Vec<f64> = (0..rule.window)
        .filter_map(|round| {
            let from = (round as f64 * each).round() as usize;
            let to = ((round + 1) as f64 * each).round() as usize;
            mean(&rates[from..to])
        })
        .collect();
    let round_ns = evidence.outcome.duration_ns / rule.window as u64;
    let seconds = round_ns as f64 / 1e9;
    let found = rule.judge(&rounds).filter(|_| round_ns >= ROUND_NS_MIN)?;
    if found.steady || found.mean * seconds < ROUND_OPERATIONS_MIN {
        return None;
    }
    let message = format!(
        "not in steady state: over five rounds of {} the rate ranged over {} of its mean (20 % allowed) and \
         drifted by {} (10 % allowed)",
        format_duration(round_ns),
        percent_of(found.range_share),
        percent_of(found.slope_share)
    );
    let hint = match (evidence.workload.ramp_ns, evidence.quick) {
        (_, true) => "bench --qualify measures long enough to settle".to_owned(),
        (0, _) => {
            "give it time to settle with <--ramp>, and measure longer with <--duration>".to_owned()
        }
        (ramp, _) => format!(
            "a <--ramp> of {} was not enough: lengthen it and <--duration>; if it never settles, something else \
             uses the disk",
            format_duration(ramp)
        ),
    };
    Some(Code::NotSteady.warning(Severity::Warning, message, hint))
}

fn fell(rates: &[f64]) -> Option<stripewise_stats::StepDown> {
    step_down(rates, DROP_SHARE_MIN)
}

/// One lasting fall: the end of a burst credit, a full write cache, heat.
pub fn fell_once(evidence: &Evidence) -> Option<Warning> {
    let drop = fell(&rates(evidence))?;
    let at_ns = evidence
        .outcome
        .intervals
        .get(drop.index)
        .map_or(0, |interval| interval.start_ns);
    let message = format!(
        "after {} the rate fell from {} to {} IOPS ({} less) and stayed there: the average is neither",
        format_duration(at_ns),
        format_iops(drop.mean_before),
        format_iops(drop.mean_after),
        percent_of(drop.drop_share)
    );
    let reason = if evidence.writes() {
        "a write cache filled up or a burst credit or heat limit was reached"
    } else {
        "a burst credit or a heat limit was reached"
    };
    let switch = if evidence.quick {
        "`run` and --ramp"
    } else {
        "<--ramp>"
    };
    let hint = format!(
        "unless other load came in between, {reason}, and the lower rate is the lasting one; measure it alone \
         with {switch} {} or more",
        Nanoseconds(round_to_seconds(at_ns.saturating_mul(2)))
    );
    Some(Code::StepDown.warning(Severity::Warning, message, hint))
}

/// Whole seconds, at least one: as one types them.
fn round_to_seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000).max(1) * 1_000_000_000
}

/// Quick mode's own reservation.
pub fn quick_run(evidence: &Evidence) -> Option<Warning> {
    if !evidence.quick || !evidence.is_real() {
        return None;
    }
    let message = format!(
        "caches and bursts possible: {} measured{}",
        format_duration(evidence.outcome.duration_ns),
        if evidence.target.kind == TargetKind::TestFile {
            " on a fresh file"
        } else {
            ""
        }
    );
    let hint = "bench --qualify for a number to rely on";
    Some(Code::QuickRun.warning(Severity::Note, message, hint))
}
