//! What the runs made for an answer say.

use super::aim::Aim;
use crate::ladder::Step;
use stripewise_results::{AnswerBound, AnswerPlace, AnswerRecord, RunRecord, Severity};
use stripewise_stats::Slo;
use stripewise_stats::{AtLimit, Estimate, LoadRun, rate_at_limit, robust_mean_interval};

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;
/// Fewest runs of an answer at one load: with four, intervals hold the truth in 94 of 100.
const LEVEL_RUNS_MIN: usize = 4;
/// Fewest runs around a crossing: two blocks.
pub(crate) const CROSSING_RUNS_MIN: usize = 10;
/// What the host did to a run and the storage did not.
const DISTURBANCES: [&str; 3] = ["cpu-steal", "paused", "suspended"];

/// A run made for the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) step: Step,
    /// It ran to its end, and no warning voids it.
    pub(crate) counts: bool,
    /// Something recorded disturbed it.
    pub(crate) disturbed: bool,
}

/// Whether something that is recorded, and is not the storage's doing, disturbed a run.
pub(crate) fn is_disturbed(run: &RunRecord) -> bool {
    let of_jobs = run.jobs.iter().flat_map(|job| &job.warnings);
    run.warnings.iter().chain(of_jobs).any(|warning| {
        warning.severity >= Severity::Warning && DISTURBANCES.contains(&warning.code.as_str())
    })
}

/// The runs that an answer rests on. What disturbed a few of them disturbed those; what
/// disturbs more than a quarter is how this machine is, and is said by the warning.
fn kept(runs: &[Judged]) -> Vec<Step> {
    let counting: Vec<&Judged> = runs.iter().filter(|run| run.counts).collect();
    let disturbed = counting.iter().filter(|run| run.disturbed).count();
    let few = disturbed * 4 <= counting.len();
    let kept = counting.iter().filter(|run| !(few && run.disturbed));
    kept.map(|run| run.step).collect()
}

/// Where to make more runs: the crossing lies outside of those there are.
pub(crate) fn where_to_move(runs: &[Judged], slo: Slo) -> Option<f64> {
    match rate_at_limit(&load_runs(&kept(runs)), limit_s(slo), LEVEL) {
        AtLimit::Outside { load } => Some(load),
        AtLimit::Crossed { .. } | AtLimit::Unknown => None,
    }
}

/// The answer; none where too few runs count. `mib` is a block in MiB.
pub(crate) fn estimate(aim: Aim, slo: Slo, runs: &[Judged], mib: f64) -> Option<AnswerRecord> {
    let steps = kept(runs);
    let found = match aim {
        Aim::Crossing { .. } => crossing(&steps, slo),
        Aim::Level {
            load,
            place,
            rising,
        } => {
            let there: Vec<Step> = steps.into_iter().filter(|step| step.load == load).collect();
            level(&there, place, rising, slo)
        }
    }?;
    let left_out = runs.len() - found.runs;
    Some(record(&found, mib, left_out))
}

/// An answer before it is written down.
#[derive(Clone, Copy)]
struct AnswerDraft {
    place: AnswerPlace,
    in_flight: f64,
    rate: Estimate,
    bound: Option<AnswerBound>,
    latency_ns: f64,
    runs: usize,
}

fn record(found: &AnswerDraft, mib: f64, left_out: usize) -> AnswerRecord {
    let Estimate {
        value, low, high, ..
    } = found.rate;
    let (iops, low, high) = match found.bound {
        None => (value, Some(low), Some(high)),
        Some(AnswerBound::AtLeast) => (low, Some(low), None),
        Some(AnswerBound::AtMost) => (high, None, Some(high)),
    };
    let count = |runs: usize| u32::try_from(runs).unwrap_or(u32::MAX);
    AnswerRecord {
        at: found.place,
        in_flight: found.in_flight,
        bound: found.bound,
        iops,
        iops_low: low,
        iops_high: high,
        mib_per_s: iops * mib,
        mib_per_s_low: low.map(|low| low * mib),
        mib_per_s_high: high.map(|high| high * mib),
        level: found.rate.level,
        latency_ns: found.latency_ns.round().max(0.0) as u64,
        runs: count(found.runs),
        runs_left_out: count(left_out),
    }
}

fn limit_s(slo: Slo) -> f64 {
    slo.limit_ns as f64 / 1e9
}

fn load_runs(steps: &[Step]) -> Vec<LoadRun> {
    let runs = steps.iter().filter_map(|step| {
        Some(LoadRun {
            load: f64::from(step.load.in_flight()),
            rate: step.iops,
            latency_s: step.latency_ns? as f64 / 1e9,
        })
    });
    runs.collect()
}

fn crossing(steps: &[Step], slo: Slo) -> Option<AnswerDraft> {
    let runs = load_runs(steps);
    if runs.len() < CROSSING_RUNS_MIN {
        return None;
    }
    match rate_at_limit(&runs, limit_s(slo), LEVEL) {
        AtLimit::Crossed { load, rate } => Some(AnswerDraft {
            place: AnswerPlace::Limit,
            in_flight: load,
            rate,
            bound: None,
            latency_ns: slo.limit_ns as f64,
            runs: runs.len(),
        }),
        AtLimit::Outside { .. } | AtLimit::Unknown => bounded(steps, slo),
    }
}

/// Where no crossing can be told: a load at which the limit is met for certain gives at
/// least its own rate; else one at which it is missed for certain gives at most its own.
fn bounded(steps: &[Step], slo: Slo) -> Option<AnswerDraft> {
    let mut loads: Vec<u32> = steps.iter().map(|step| step.load.in_flight()).collect();
    loads.sort_unstable();
    loads.dedup();
    let limit = slo.limit_ns as f64;
    let at = |in_flight: u32| -> Option<(AnswerDraft, Estimate)> {
        let here = steps
            .iter()
            .filter(|step| step.load.in_flight() == in_flight);
        let here: Vec<Step> = here.copied().collect();
        let latency = logarithmic(&latencies(&here))?;
        let found = level(&here, AnswerPlace::Limit, false, slo)?;
        Some((found, latency))
    };
    let known: Vec<(AnswerDraft, Estimate)> = loads.into_iter().filter_map(at).collect();
    let bound = |found: &AnswerDraft, bound: AnswerBound| AnswerDraft {
        bound: Some(bound),
        runs: steps.len(),
        ..*found
    };
    let met = known.iter().rev().find(|(_, latency)| latency.high < limit);
    let missed = || known.iter().find(|(_, latency)| latency.low > limit);
    match met {
        Some((found, _)) => Some(bound(found, AnswerBound::AtLeast)),
        None => missed().map(|(found, _)| bound(found, AnswerBound::AtMost)),
    }
}

/// The rate at one load.
fn level(steps: &[Step], place: AnswerPlace, rising: bool, slo: Slo) -> Option<AnswerDraft> {
    if steps.len() < LEVEL_RUNS_MIN {
        return None;
    }
    let rates: Vec<f64> = steps.iter().map(|step| step.iops).collect();
    let latency = logarithmic(&latencies(steps));
    let is_over = latency.is_some_and(|latency| latency.value > slo.limit_ns as f64);
    Some(AnswerDraft {
        place,
        in_flight: f64::from(steps.first()?.load.in_flight()),
        rate: logarithmic(&rates)?,
        bound: match place {
            // Fresh runs miss the limit that a single run met: less load gives no more.
            AnswerPlace::Plateau if is_over => Some(AnswerBound::AtMost),
            _ => rising.then_some(AnswerBound::AtLeast),
        },
        latency_ns: latency.map_or(0.0, |latency| latency.value),
        runs: steps.len(),
    })
}

fn latencies(steps: &[Step]) -> Vec<f64> {
    let known = steps.iter().filter_map(|step| step.latency_ns);
    known.map(|ns| ns as f64).collect()
}

/// Huber's mean of logarithms and its interval, as values again.
fn logarithmic(values: &[f64]) -> Option<Estimate> {
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    Some(robust_mean_interval(&logarithms, LEVEL)?.map(libm::exp))
}
