//! Warnings about a rate that changed during the measurement.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_results::{Interval, Severity, TargetKind, Warning};
use stripewise_stats::{ROUND_NS_MIN, Steadiness, SteadyRule, StepDown, mean, step_down};
use stripewise_units::{Nanoseconds, format_bytes, format_duration, format_iops, format_share};

/// A smaller fall has no particular meaning.
const DROP_SHARE_MIN: f64 = 0.2;
/// With fewer operations per round, chance alone varies rates by more than the rule allows
/// (Poisson: 8 % standard deviation at 150).
const ROUND_OPERATIONS_MIN: f64 = 150.0;
/// Intervals per round needed to estimate the scatter of its mean latency.
const ROUND_INTERVALS_MIN: usize = 3;
/// Rounds whose mean latencies differ by fewer standard errors than this may differ by chance: with
/// three intervals each the error itself is uncertain.
const ERRORS_MIN: f64 = 6.0;

/// Rates of the full intervals, operations per second, excluding a last one that was cut short.
fn rates(evidence: &Evidence) -> Vec<f64> {
    whole_intervals(evidence)
        .into_iter()
        .map(|interval| {
            let operations = interval.operations();
            operations as f64 * 1e9 / interval.duration_ns as f64
        })
        .collect()
}

/// All intervals except a last one that was cut short.
fn whole_intervals(evidence: &Evidence) -> Vec<&Interval> {
    let intervals = &evidence.outcome.intervals;
    let longest = intervals
        .iter()
        .map(|interval| interval.duration_ns)
        .max()
        .unwrap_or(0);
    intervals
        .iter()
        .filter(|interval| interval.duration_ns > 0 && interval.duration_ns >= longest / 2)
        .collect()
}

/// Not in steady state by SNIA's rule, over five equal rounds that together are the measured
/// window.
pub fn not_steady(evidence: &Evidence) -> Option<Warning> {
    let rule = SteadyRule::SNIA;
    let rates = rates(evidence);
    if rates.len() < rule.window || fell(evidence).is_some() {
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
    if found.mean * seconds < ROUND_OPERATIONS_MIN {
        return None;
    }
    let absorbed = if !found.steady && may_be_absorbed(evidence) && fell_after_first(&rounds) {
        "; a write cache may have absorbed the first writes"
    } else {
        ""
    };
    let (what, found) = match found.steady {
        false => ("the rate", found),
        true => ("the mean latency", unsteady_latency(evidence)?),
    };
    // Short enough for its code beside it on 80 columns.
    let share = format_share(found.range_share);
    let short = match absorbed {
        "" => format!("not steady: {what} ranged over {share} of its mean"),
        _ => format!("not steady ({share}): the first writes may be cached"),
    };
    let message = format!(
        "not in steady state: over five rounds of {} {what} ranged over {share} of its mean (20 % allowed) and \
         drifted by {} (10 % allowed){absorbed}",
        format_duration(round_ns),
        format_share(found.slope_share)
    );
    let hint = match (evidence.workload.ramp_ns, evidence.quick) {
        (_, true) => "bench --thorough measures long enough to settle".to_owned(),
        _ if !absorbed.is_empty() => {
            "`run --steady` first writes until no cache absorbs the load, and measures what lasts"
                .to_owned()
        }
        (0, _) => {
            "give it time to settle with <--ramp>, and measure longer with <--duration>".to_owned()
        }
        (ramp, _) => format!(
            "a <--ramp> of {} was not enough: lengthen it and <--duration>; if it never settles, something else \
             uses the disk",
            format_duration(ramp)
        ),
    };
    let warning = Code::NotSteady.warning(Severity::Warning, message, hint);
    Some(warning.shortened(short))
}

/// Whether a cache may have taken writes at first: only writes, and no pilot filled it before.
fn may_be_absorbed(evidence: &Evidence) -> bool {
    let only_writes = evidence.writes() && !evidence.reads();
    only_writes && evidence.sustained.is_none() && !evidence.quick
}

/// Whether every later round is slower than the first one by a fall that means something.
fn fell_after_first(rounds: &[f64]) -> bool {
    let Some((first, later)) = rounds.split_first() else {
        return false;
    };
    later
        .iter()
        .all(|rate| *rate < (1.0 - DROP_SHARE_MIN) * first)
}

/// SNIA's rule on the mean latencies of five rounds, violated by more than the scatter within the
/// rounds explains. At a fixed queue depth latency and rate are equivalent; in an open loop only
/// latency shows it.
fn unsteady_latency(evidence: &Evidence) -> Option<Steadiness> {
    let rule = SteadyRule::SNIA;
    let intervals = whole_intervals(evidence);
    let each = intervals.len() / rule.window;
    if each < ROUND_INTERVALS_MIN {
        return None;
    }
    let rounds = intervals[intervals.len() - each * rule.window..].chunks(each);
    let (means, errors): (Vec<f64>, Vec<f64>) = rounds.filter_map(mean_latency).unzip();
    let found = rule.judge(&means).filter(|found| !found.steady)?;
    // Of a difference of two rounds; the largest of ten differences is judged.
    let error = (2.0 * mean(&errors.iter().map(|error| error * error).collect::<Vec<_>>())?).sqrt();
    (found.range_share * found.mean > ERRORS_MIN * error).then_some(found)
}

/// Mean latency of a round, nanoseconds, and its standard error from the scatter of its intervals.
fn mean_latency(round: &[&Interval]) -> Option<(f64, f64)> {
    let means: Vec<f64> = round
        .iter()
        .filter(|interval| interval.operations() > 0)
        .map(|interval| interval.latency_ns_mean)
        .collect();
    let centre = mean(&means)?;
    let squares: f64 = means.iter().map(|one| (one - centre).powi(2)).sum();
    let count = means.len() as f64;
    (count >= ROUND_INTERVALS_MIN as f64)
        .then(|| (centre, (squares / (count - 1.0) / count).sqrt()))
}

/// A drop whose lower level was seen for as long as the shortest round that means anything.
fn fell(evidence: &Evidence) -> Option<StepDown> {
    let drop = step_down(&rates(evidence), DROP_SHARE_MIN)?;
    let after = whole_intervals(evidence).into_iter().skip(drop.index);
    let after_ns: u64 = after.map(|interval| interval.duration_ns).sum();
    (after_ns >= ROUND_NS_MIN).then_some(drop)
}

/// One lasting drop: exhausted burst credits, a full write cache, heat.
pub fn fell_once(evidence: &Evidence) -> Option<Warning> {
    let drop = fell(evidence)?;
    let at_ns = evidence
        .outcome
        .intervals
        .get(drop.index)
        .map_or(0, |interval| interval.start_ns);
    let (absorbed, steady) = if may_be_absorbed(evidence) {
        let before = whole_intervals(evidence).into_iter().take(drop.index);
        let bytes: u64 = before.map(|interval| interval.bytes).sum();
        (
            format!(
                "; a write cache may have absorbed the first {}",
                format_bytes(bytes)
            ),
            "; or `run --steady`, which first writes until no cache absorbs the load",
        )
    } else {
        (String::new(), "")
    };
    let short = format!(
        "the rate fell from {} to {} IOPS after {}{absorbed}",
        format_iops(drop.mean_before),
        format_iops(drop.mean_after),
        format_duration(at_ns)
    );
    let message = format!(
        "after {} the rate fell from {} to {} IOPS ({} less) and stayed there, so the average describes neither phase{absorbed}",
        format_duration(at_ns),
        format_iops(drop.mean_before),
        format_iops(drop.mean_after),
        format_share(drop.drop_share)
    );
    let reason = if evidence.writes() {
        "a write cache filled up, a burst ended or a heat limit was reached"
    } else {
        "a burst ended or a heat limit was reached"
    };
    let switch = if evidence.quick {
        "`run` and --ramp"
    } else {
        "<--ramp>"
    };
    let hint = format!(
        "unless other load came in between, {reason}, and the lower rate is the lasting one; measure it alone \
         with {switch} {} or more{steady}",
        Nanoseconds(round_to_seconds(at_ns.saturating_mul(2)))
    );
    let warning = Code::StepDown.warning(Severity::Warning, message, hint);
    Some(warning.shortened(short))
}

/// Whole seconds, at least one: as typed on the command line.
fn round_to_seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000).max(1) * 1_000_000_000
}

/// The pilot of this load did not see the sustained rate: a cache may have absorbed all of it.
pub fn not_sustained(evidence: &Evidence) -> Option<Warning> {
    let message = evidence.sustained?.not_reached_words(!evidence.writes())?;
    let hint = match (evidence.target.kind, evidence.cache_size_bytes) {
        _ if !evidence.writes() => "give it more time",
        (TargetKind::Simulated, _) => "a simulated SSD in steady state: `?ssd.preconditioned=true`",
        (_, Some(_)) => "give it more time",
        (_, None) => "give it more time, or say how large the cache is: <--cache-size>",
    };
    Some(Code::NotSustained.warning(Severity::Void, message, hint))
}

/// The caveat of quick mode.
pub fn quick_run(evidence: &Evidence) -> Option<Warning> {
    if !evidence.quick || !evidence.is_real() {
        return None;
    }
    let measured = format!(
        "{} measured{}",
        format_duration(evidence.outcome.duration_ns),
        if evidence.target.kind == TargetKind::TestFile {
            " on a fresh file"
        } else {
            ""
        }
    );
    let message = format!("results may include caches and burst credit: {measured}");
    let hint = "bench --thorough for a number to rely on";
    let warning = Code::QuickRun.warning(Severity::Note, message, hint);
    Some(warning.shortened(format!("short run: {measured}")))
}
