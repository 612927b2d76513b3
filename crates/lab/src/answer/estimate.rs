//! Estimates the answer from the runs made for it.

use super::limit_search::{AnswerGoal, FEW_IN_FLIGHT};
use crate::ladder::Step;
use serde::{Deserialize, Serialize};
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerRecord, InFullRecord, LatencySummary, RunRecord, Severity,
};
use stripewise_stats::{
    AtLimit, AtWholeLoad, Estimate, Histogram, LatencyStatistic, LoadRun, Slo, crossing_in_full,
    loads_in_full, rate_at_limit, rate_at_whole_load, robust_mean_interval,
};

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;
/// Minimum number of runs at one load: with four, intervals hold the truth in 94 of 100.
pub(crate) const LEVEL_RUNS_MIN: usize = 4;
/// Minimum number of runs around a crossing: two blocks.
pub(crate) const CROSSING_RUNS_MIN: usize = 10;
/// Disturbances caused by the host, not by the storage.
const DISTURBANCES: [&str; 3] = ["cpu-steal", "paused", "suspended"];

/// A run made for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgedRun {
    pub(crate) step: Step,
    /// Latencies of all its operations.
    pub(crate) latency: Option<LatencySummary>,
    /// It ran to completion, and no warning voids it.
    pub(crate) counts: bool,
    /// A recorded event disturbed it.
    pub(crate) disturbed: bool,
}

/// A run made for the answer, with all its latencies if its record has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerRun<'a> {
    pub(crate) judged: JudgedRun,
    pub(crate) histogram: Option<&'a Histogram>,
}

impl From<JudgedRun> for AnswerRun<'_> {
    fn from(judged: JudgedRun) -> Self {
        AnswerRun {
            judged,
            histogram: None,
        }
    }
}

impl AnswerRun<'_> {
    fn in_flight(&self) -> u32 {
        self.judged.step.load.in_flight()
    }
}

/// Whether a recorded event that the storage did not cause disturbed a run.
pub(crate) fn is_disturbed(run: &RunRecord) -> bool {
    run.all_warnings().any(|warning| {
        warning.severity >= Severity::Warning && DISTURBANCES.contains(&warning.code.as_str())
    })
}

/// The runs that an answer is based on: undisturbed ones, if at most a quarter were disturbed.
/// More than that is how this machine behaves, and the warning says so.
fn retained<'a, R: Copy + Into<AnswerRun<'a>>>(runs: &[R]) -> Vec<AnswerRun<'a>> {
    let all = runs.iter().map(|run| -> AnswerRun<'a> { (*run).into() });
    let mut counting: Vec<AnswerRun<'a>> = all.filter(|run| run.judged.counts).collect();
    let is_disturbed = |run: &&AnswerRun<'a>| run.judged.disturbed;
    if counting.iter().filter(is_disturbed).count() * 4 <= counting.len() {
        counting.retain(|run| !run.judged.disturbed);
    }
    counting
}

/// Where to make more runs, after those around a crossing at `in_flight`: the crossing is
/// outside of them, or at few in flight, where whole loads are judged.
pub(crate) fn where_to_move(in_flight: f64, runs: &[JudgedRun], slo: Slo) -> Option<f64> {
    let runs = load_runs(&retained(runs));
    if in_flight >= FEW_IN_FLIGHT {
        return match rate_at_limit(&runs, limit_s(slo), LEVEL) {
            AtLimit::Outside { load } => Some(load),
            AtLimit::Crossed { load, .. } => Some(load).filter(|load| *load < FEW_IN_FLIGHT),
            AtLimit::Unknown => None,
        };
    }
    match rate_at_whole_load(&runs, limit_s(slo), LEVEL) {
        AtWholeLoad::Met {
            load_max,
            load_above: None,
            ..
        } => Some(load_max + 1.0),
        AtWholeLoad::Met {
            load_max,
            load_above: Some(above),
            ..
        } => Some(load_max).filter(|load| above > load + 1.0),
        AtWholeLoad::FewRuns { load_max } => Some(load_max),
        AtWholeLoad::NoneMeets { load } => Some(load - 1.0).filter(|load| *load >= 1.0),
        AtWholeLoad::Unknown => None,
    }
}

/// The answer; `None` if there are too few valid runs. `mib` is a block in MiB.
pub(crate) fn estimate<'a, R: Copy + Into<AnswerRun<'a>>>(
    goal: AnswerGoal,
    slo: Slo,
    runs: &[R],
    mib: f64,
) -> Option<AnswerRecord> {
    let retained = retained(runs);
    let all = load_runs(&retained);
    let found = match goal {
        AnswerGoal::Crossing { in_flight } => crossing(in_flight, &retained, slo),
        AnswerGoal::Plateau { .. } => plateau(&retained, slo),
        AnswerGoal::Level {
            load,
            place,
            rising,
        } => {
            let there = retained.into_iter();
            let there = there.filter(|run| run.judged.step.load == load);
            let there: Vec<AnswerRun<'a>> = there.collect();
            level(&there, place, rising, slo)
        }
    }?;
    let left_out = runs.len() - found.runs;
    let in_full = match found.is_of_curve {
        true => crossing_in_full(&all),
        false => loads_in_full(&all),
    };
    Some(AnswerRecord {
        in_full: in_full.map(|full| InFullRecord::of(&full, found.rate.value, mib)),
        ..record(&found, mib, left_out)
    })
}

/// An answer before it becomes a record.
#[derive(Clone, Copy)]
struct AnswerDraft {
    place: AnswerPlace,
    in_flight: f64,
    rate: Estimate,
    bound: Option<AnswerBound>,
    latency_ns: f64,
    latency: Option<LatencySummary>,
    /// There are enough runs for an interval.
    has_interval: bool,
    /// The rate is that of a curve through the runs of all loads.
    is_of_curve: bool,
    runs: usize,
}

fn record(found: &AnswerDraft, mib: f64, left_out: usize) -> AnswerRecord {
    let Estimate {
        value, low, high, ..
    } = found.rate;
    let (iops, low, high) = match found.bound {
        None if !found.has_interval => (value, None, None),
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
        latency: found.latency,
        runs: count(found.runs),
        runs_left_out: count(left_out),
        in_full: None,
    }
}

fn limit_s(slo: Slo) -> f64 {
    slo.limit_ns as f64 / 1e9
}

fn load_runs(runs: &[AnswerRun<'_>]) -> Vec<LoadRun> {
    let runs = runs.iter().map(|run| run.judged.step);
    let runs = runs.filter_map(|step| {
        Some(LoadRun {
            load: f64::from(step.load.in_flight()),
            rate: step.iops,
            latency_s: step.latency_ns? as f64 / 1e9,
        })
    });
    runs.collect()
}

/// The same for judging whole loads: the latency of a load is that of all its operations, which is
/// also the one that is shown beside it. (Where a curve is fitted, the scatter of the runs counts.)
fn whole_load_runs(runs: &[AnswerRun<'_>], slo: Slo) -> Vec<LoadRun> {
    let mut all = load_runs(runs);
    for load in loads_of(runs) {
        let there = at_load(runs, load);
        if let Some(latency_ns) = limited(merged(&there), &there, slo) {
            let there = all.iter_mut().filter(|one| one.load == f64::from(load));
            there.for_each(|one| one.latency_s = latency_ns / 1e9);
        }
    }
    all
}

/// The loads that were run, in flight, in ascending order.
fn loads_of(runs: &[AnswerRun<'_>]) -> Vec<u32> {
    let mut loads: Vec<u32> = runs.iter().map(AnswerRun::in_flight).collect();
    loads.sort_unstable();
    loads.dedup();
    loads
}

fn at_load<'a>(runs: &[AnswerRun<'a>], in_flight: u32) -> Vec<AnswerRun<'a>> {
    let there = runs.iter().filter(|run| run.in_flight() == in_flight);
    there.copied().collect()
}

fn crossing(in_flight: f64, retained: &[AnswerRun<'_>], slo: Slo) -> Option<AnswerDraft> {
    let runs = load_runs(retained);
    if runs.len() < CROSSING_RUNS_MIN {
        return None;
    }
    let smooth = rate_at_limit(&runs, limit_s(slo), LEVEL);
    let is_few = match smooth {
        AtLimit::Crossed { load, .. } => load.min(in_flight) < FEW_IN_FLIGHT,
        AtLimit::Outside { .. } | AtLimit::Unknown => in_flight < FEW_IN_FLIGHT,
    };
    let whole = at_whole_load(retained, AnswerPlace::Limit, slo).filter(|_| is_few);
    match smooth {
        _ if whole.is_some() => whole,
        AtLimit::Crossed { load, .. } if load < FEW_IN_FLIGHT => bounded(retained, slo),
        AtLimit::Crossed { load, rate } => Some(AnswerDraft {
            place: AnswerPlace::Limit,
            in_flight: load,
            rate,
            bound: None,
            latency_ns: slo.limit_ns as f64,
            latency: None,
            has_interval: true,
            is_of_curve: true,
            runs: runs.len(),
        }),
        AtLimit::Outside { .. } | AtLimit::Unknown => bounded(retained, slo),
    }
}

/// The rate of the smallest load that gives as much as any within the limit. Requires that all
/// loads up to the first that misses it were measured, or that none misses it.
fn at_whole_load(retained: &[AnswerRun<'_>], place: AnswerPlace, slo: Slo) -> Option<AnswerDraft> {
    let found = rate_at_whole_load(&whole_load_runs(retained, slo), limit_s(slo), LEVEL);
    let AtWholeLoad::Met {
        load_max,
        load_above,
        load,
        rate,
        latency_s,
    } = found
    else {
        return None;
    };
    let is_whole = match place {
        AnswerPlace::Plateau => load_above.is_none(),
        _ => load_above == Some(load_max + 1.0),
    };
    let there = at_load(retained, load as u32);
    let merged = merged(&there);
    is_whole.then(|| AnswerDraft {
        place,
        in_flight: load,
        rate,
        bound: None,
        latency_ns: limited(merged, &there, slo).unwrap_or(latency_s * 1e9),
        latency: merged.or_else(|| typical(&there)),
        has_interval: true,
        is_of_curve: false,
        runs: retained.len(),
    })
}

/// The plateau; a bound if its own runs miss the limit that single runs met.
fn plateau(retained: &[AnswerRun<'_>], slo: Slo) -> Option<AnswerDraft> {
    at_whole_load(retained, AnswerPlace::Plateau, slo).or_else(|| bounded(retained, slo))
}

/// Without a definite crossing: a load that certainly meets the limit gives at
/// least its own rate; else one that certainly misses it gives at most its own.
fn bounded(runs: &[AnswerRun<'_>], slo: Slo) -> Option<AnswerDraft> {
    let limit = slo.limit_ns as f64;
    let at = |in_flight: u32| -> Option<(AnswerDraft, Estimate)> {
        let here = at_load(runs, in_flight);
        let latency = logarithmic(&latencies(&here))?;
        let found = level(&here, AnswerPlace::Limit, false, slo)?;
        Some((found, latency))
    };
    let known: Vec<(AnswerDraft, Estimate)> = loads_of(runs).into_iter().filter_map(at).collect();
    let bound = |found: &AnswerDraft, bound: AnswerBound| AnswerDraft {
        bound: Some(bound),
        runs: runs.len(),
        ..*found
    };
    let is_over = |found: &AnswerDraft| found.latency_ns >= limit;
    let mut highest_first = known.iter().rev();
    let met = highest_first.find(|(found, latency)| latency.high < limit && !is_over(found));
    let missed = || {
        let mut all = known.iter();
        all.find(|(found, latency)| latency.low > limit || is_over(found))
    };
    match met {
        Some((found, _)) => Some(bound(found, AnswerBound::AtLeast)),
        None => missed().map(|(found, _)| bound(found, AnswerBound::AtMost)),
    }
}

/// The rate at one load. If only one load exists, two runs are already an answer, but
/// without an interval.
fn level(
    runs: &[AnswerRun<'_>],
    place: AnswerPlace,
    rising: bool,
    slo: Slo,
) -> Option<AnswerDraft> {
    let has_interval = runs.len() >= LEVEL_RUNS_MIN;
    if !has_interval && place != AnswerPlace::Only {
        return None;
    }
    let rates: Vec<f64> = runs.iter().map(|run| run.judged.step.iops).collect();
    let merged = merged(runs);
    let latency_ns = limited(merged, runs, slo).unwrap_or_else(|| {
        let middle = logarithmic(&latencies(runs));
        middle.map_or(0.0, |latency| latency.value)
    });
    Some(AnswerDraft {
        place,
        in_flight: f64::from(runs.first()?.in_flight()),
        rate: logarithmic(&rates)?,
        bound: match place {
            // Further runs miss the limit that a single run met: less load gives no more.
            AnswerPlace::Plateau if latency_ns >= slo.limit_ns as f64 => Some(AnswerBound::AtMost),
            _ => rising.then_some(AnswerBound::AtLeast),
        },
        latency_ns,
        latency: merged.or_else(|| typical(runs)),
        has_interval,
        is_of_curve: false,
        runs: runs.len(),
    })
}

fn latencies(runs: &[AnswerRun<'_>]) -> Vec<f64> {
    let known = runs.iter().filter_map(|run| run.judged.step.latency_ns);
    known.map(|ns| ns as f64).collect()
}

/// The latency of a load that its limit is compared with: that of all operations of its runs. The
/// largest is that of the runs, as it includes what was in flight at their stops.
fn limited(merged: Option<LatencySummary>, runs: &[AnswerRun<'_>], slo: Slo) -> Option<f64> {
    match slo.percentile {
        LatencyStatistic::Max => latencies(runs).into_iter().reduce(f64::max),
        _ => Some(merged?.limited(slo.percentile) as f64),
    }
}

/// The latencies of all operations of several runs of one load. `None` if the histogram of one is
/// not there.
fn merged(runs: &[AnswerRun<'_>]) -> Option<LatencySummary> {
    let all: Option<Vec<&Histogram>> = runs.iter().map(|run| run.histogram).collect();
    let all = all.filter(|all| all.len() > 1)?;
    let mut together = Histogram::new();
    all.into_iter().for_each(|one| together.merge(one));
    LatencySummary::of(&together)
}

/// The same without histograms, which documents lack: each statistic is averaged like a rate, minimum
/// and maximum are those of all.
fn typical(runs: &[AnswerRun<'_>]) -> Option<LatencySummary> {
    let all: Option<Vec<LatencySummary>> = runs.iter().map(|run| run.judged.latency).collect();
    let all = all.filter(|all| all.len() > 1)?;
    let middle = |of: &dyn Fn(&LatencySummary) -> Option<f64>| {
        let values: Option<Vec<f64>> = all.iter().map(of).collect();
        let values: Vec<f64> = values?.into_iter().map(|ns| ns.max(1.0)).collect();
        Some(logarithmic(&values)?.value)
    };
    let whole = |of: &dyn Fn(&LatencySummary) -> Option<u64>| {
        let value = middle(&|one: &LatencySummary| of(one).map(|ns| ns as f64))?;
        Some(value.round() as u64)
    };
    Some(LatencySummary {
        min: all.iter().map(|one| one.min).min()?,
        mean: middle(&|one| Some(one.mean))?,
        p50: whole(&|one| Some(one.p50))?,
        p90: whole(&|one| Some(one.p90))?,
        p95: whole(&|one| one.p95),
        p99: whole(&|one| Some(one.p99))?,
        p999: whole(&|one| one.p999),
        max: all.iter().map(|one| one.max).max()?,
    })
}

/// Huber's mean of logarithms and its interval, converted back to values.
fn logarithmic(values: &[f64]) -> Option<Estimate> {
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    Some(robust_mean_interval(&logarithms, LEVEL)?.map(libm::exp))
}
