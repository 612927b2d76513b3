//! Derives the answers from a finished series. Pure: the same records always give
//! the same summary, so that a stored series can be summarised again.

use crate::answer::{AnswerRun, estimate};
use crate::budget::{IN_FLIGHT_MAX, latency_stop_ns};
use crate::climb::{ClimbStep, Ended, goal_of_climb};
use crate::ladder::{Step, Stop};
use crate::sentence;
use crate::series::SeriesKind;
use crate::step::{answer_run, counts, latency_summary, load_of, rates_of, step_of};
use stripewise_results::{
    AnswerRecord, JobRecord, KneeRecord, RunRecord, SeriesRecord, Status, StepRecord,
    SustainedRecord,
};
use stripewise_stats::Slo;
use stripewise_stats::{Bootstrap, LadderStep, LoadBracket, bracketed, knee_brackets};

/// Confidence level of the knee's brackets.
const LEVEL: f64 = 0.90;

/// Summaries of all series that runs belong to, in the order of their first
/// runs. Runs whose part or latency limit is unknown to this version are left out.
pub fn series_of(runs: &[RunRecord]) -> Vec<SeriesRecord> {
    let key = |run: &RunRecord| Some((run.series.clone()?, run.series_part.clone()?));
    let mut keys: Vec<(String, String)> = Vec::new();
    for key in runs.iter().filter_map(key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.iter()
        .filter_map(|(id, part)| {
            let of_part: Vec<&RunRecord> = runs
                .iter()
                .filter(|run| key(run).is_some_and(|(i, p)| i == *id && p == *part))
                .collect();
            let slo: Slo = of_part.first()?.latency_limit.as_ref()?.parse().ok()?;
            summarise(id, SeriesKind::from_name(part)?, slo, &of_part)
        })
        .collect()
}

/// The summary of a series. `records` are its runs in chronological
/// order; runs without a job are skipped. `None` if there is no run.
pub fn summarise(
    id: &str,
    kind: SeriesKind,
    slo: Slo,
    records: &[&RunRecord],
) -> Option<SeriesRecord> {
    let (for_answer, climb): (Vec<&RunRecord>, Vec<&RunRecord>) =
        records.iter().partition(|run| run.answer_block.is_some());
    let steps = steps_in_order(&climb);
    if steps.is_empty() {
        return None;
    }
    let series_steps: Vec<StepRecord> = steps
        .iter()
        .map(|(run, job, bisection)| step_record(run, job, *bisection))
        .collect();
    let view: Vec<Step> = steps.iter().map(|(_, job, _)| step_of(job, slo)).collect();
    // A stopped step may have had a very lucky or unlucky moment, and a
    // void value is not the disk's: no answer uses either.
    let judged: Vec<usize> = (0..series_steps.len())
        .filter(|&index| series_steps[index].counts())
        .collect();
    // On a quiet disk throughput grows with the load, and this is the largest
    // load; if a step was disturbed, a smaller load with a higher rate is the
    // better answer.
    let within_limit = judged
        .iter()
        .copied()
        .filter(|&index| meets(view[index], slo))
        .max_by(|&a, &b| {
            let smaller = view[b].load.in_flight().cmp(&view[a].load.in_flight());
            view[a].iops.total_cmp(&view[b].iops).then(smaller)
        });
    let ceiling = judged
        .iter()
        .copied()
        .max_by(|&a, &b| view[a].iops.total_cmp(&view[b].iops));
    let ended = ended(kind, slo, records);
    let sustained = records
        .iter()
        .find_map(|run| run.sustained.as_deref().copied());
    let lasts = sustained.is_none_or(|found| found.is_reached());
    // Bisection steps lie between doublings; the knee is a property of the
    // doublings, which are evenly spaced on log2.
    let rates: Vec<LadderStep> = judged
        .iter()
        .map(|&index| &steps[index])
        .filter(|(_, _, bisection)| !bisection)
        .map(|(_, job, _)| rates_of(job))
        .collect();
    let mut series = SeriesRecord {
        id: id.to_owned(),
        name: kind.name().to_owned(),
        slo: slo.to_string(),
        partial: ended == Ended::Partial,
        no_answer: no_answer(kind, &series_steps, sustained.as_ref()),
        steps: series_steps,
        knee: (kind.climbs() && lasts).then(|| knee(&rates)).flatten(),
        within_limit: within_limit.filter(|_| lasts),
        ceiling: ceiling.filter(|_| lasts),
        answer: answer(kind, slo, records).filter(|_| lasts),
        answer_runs: for_answer
            .iter()
            .filter_map(|run| Some(step_record(run, run.jobs.first()?, false)))
            .collect(),
        sustained,
        stopped: ended.words().to_owned(),
        ..SeriesRecord::default()
    };
    if kind.climbs() && series.ceiling.is_some() {
        series.ceiling_bound = series.bound_of_ceiling();
    }
    series.sentence = sentence::answer(kind, slo, ended, &series);
    Some(series)
}

/// Why there is none: the steps only measured a cache, or none of them is valid.
fn no_answer(
    kind: SeriesKind,
    steps: &[StepRecord],
    sustained: Option<&SustainedRecord>,
) -> Option<String> {
    let highest = steps.iter().max_by(|a, b| a.iops.total_cmp(&b.iops));
    let not_sustained = sustained.and_then(|found| sentence::not_sustained(kind, highest, found));
    let counts = steps.iter().any(StepRecord::counts);
    not_sustained.or_else(|| (!counts).then(|| sentence::no_answer(steps)))
}

/// The answer, from the runs made for it at the place that the climb shows.
fn answer(kind: SeriesKind, slo: Slo, records: &[&RunRecord]) -> Option<AnswerRecord> {
    let climb = records.iter().filter(|run| run.answer_block.is_none());
    let climbed: Vec<ClimbStep> = climb.filter_map(|run| ClimbStep::of(run, slo)).collect();
    let aim = goal_of_climb(kind, slo, &climbed)?;
    // If there is only one load, its first run counts like those after it.
    let meant = records
        .iter()
        .filter(|run| run.answer_block.is_some() || !kind.climbs());
    let runs: Vec<AnswerRun<'_>> = meant
        .clone()
        .filter_map(|run| answer_run(run, slo))
        .collect();
    let block_bytes = records.first()?.jobs.first()?.workload.block_size_bytes;
    let found = estimate(aim, slo, &runs, block_bytes as f64 / 1_048_576.0)?;
    let counting = meant.filter(|run| counts(run));
    let operations = counting.filter_map(|run| Some(run.jobs.first()?.outcome.operations));
    let found = no_finer_than(found, operations.filter(|count| *count > 0).min());
    Some(AnswerRecord {
        in_full: found.in_full.filter(|full| !found.may_be(full.iops)),
        ..found
    })
}

/// Relative resolution of a histogram, and the difference that exactly equal runs, such as
/// a stream on a simulated array, would show if they began elsewhere.
const RESOLUTION: f64 = 0.001;

/// A rate counts whole operations, and where a run begins and ends decides about
/// one of them: however equal runs are, the interval is at least that wide.
fn no_finer_than(mut answer: AnswerRecord, operations: Option<u64>) -> AnswerRecord {
    let share = operations.map_or(0.0, |count| 1.0 / count as f64);
    let share = share.max(RESOLUTION);
    let low = |end: f64, value: f64| end.min(value * (1.0 - share));
    let high = |end: f64, value: f64| end.max(value * (1.0 + share));
    if answer.bound.is_none() {
        let (iops, mib) = (answer.iops, answer.mib_per_s);
        answer.iops_low = answer.iops_low.map(|end| low(end, iops));
        answer.iops_high = answer.iops_high.map(|end| high(end, iops));
        answer.mib_per_s_low = answer.mib_per_s_low.map(|end| low(end, mib));
        answer.mib_per_s_high = answer.mib_per_s_high.map(|end| high(end, mib));
    }
    answer
}

/// Each step with its run, by operations in flight. A step is a bisection if one
/// with more in flight ran before it: a climb only goes up.
fn steps_in_order<'a>(records: &[&'a RunRecord]) -> Vec<(&'a RunRecord, &'a JobRecord, bool)> {
    let mut highest = 0;
    let mut steps: Vec<(&'a RunRecord, &'a JobRecord, bool)> = Vec::new();
    for run in records {
        let Some(job) = run.jobs.first() else {
            continue;
        };
        let in_flight = load_of(job).in_flight();
        steps.push((run, job, in_flight < highest));
        highest = highest.max(in_flight);
    }
    // A step that was interrupted without a result is not a step, unless
    // there is nothing else.
    let is_empty = |(run, job, _): &(&RunRecord, &JobRecord, bool)| {
        run.status != Status::Complete && job.outcome.operations == 0
    };
    if !steps.iter().all(is_empty) {
        steps.retain(|step| !is_empty(step));
    }
    steps.sort_by_key(|(_, job, _)| load_of(job).in_flight());
    steps
}

fn meets(step: Step, slo: Slo) -> bool {
    step.latency_ns
        .is_some_and(|latency_ns| slo.is_met_by(latency_ns))
}

/// Why a series ended, derived from its runs by the ladder's rules;
/// if these would have continued, the time was up.
fn ended(kind: SeriesKind, slo: Slo, records: &[&RunRecord]) -> Ended {
    if records.iter().any(|run| run.status != Status::Complete) {
        return Ended::Partial;
    }
    if !kind.climbs() {
        return Ended::SingleStep;
    }
    let climb = records.iter().filter(|run| run.answer_block.is_none());
    let steps = steps_in_order(&climb.copied().collect::<Vec<_>>());
    // A ladder begins with one in flight.
    if steps
        .first()
        .is_none_or(|(_, job, _)| load_of(job).in_flight() > 1)
    {
        return Ended::Fragment;
    }
    let climbed: Vec<&JobRecord> = steps
        .iter()
        .filter(|(_, _, bisection)| !bisection)
        .map(|(_, job, _)| *job)
        .collect();
    let rates: Vec<LadderStep> = climbed.iter().map(|job| rates_of(job)).collect();
    let last = climbed.last().map(|job| step_of(job, slo));
    match last {
        Some(Step {
            latency_ns: None, ..
        }) => Ended::Ladder(Stop::NothingCompleted),
        _ if bracketed(&rates) => Ended::Ladder(Stop::KneeBracketed),
        Some(Step {
            latency_ns: Some(latency_ns),
            ..
        }) if latency_ns > latency_stop_ns(slo) => Ended::Ladder(Stop::LatencyLimit),
        Some(step) if step.load.in_flight() >= IN_FLIGHT_MAX => Ended::Ladder(Stop::InFlightLimit),
        _ => Ended::TimeSpent,
    }
}

fn step_record(run: &RunRecord, job: &JobRecord, bisection: bool) -> StepRecord {
    StepRecord {
        run: run.id.clone(),
        threads: job.workload.threads,
        outstanding: job.workload.outstanding,
        iops: job.outcome.iops,
        mib_per_s: job.outcome.mib_per_s,
        latency_ns: latency_summary(job).copied(),
        bisection,
        partial: run.status != Status::Complete,
        void: run
            .void_codes_of(job)
            .into_iter()
            .map(str::to_owned)
            .collect(),
    }
}

fn knee(rates: &[LadderStep]) -> Option<KneeRecord> {
    let found = knee_brackets(rates, LEVEL, &resampling(rates))?;
    let kneedle = found.kneedle?;
    let pair = |bracket: LoadBracket| [in_flight(bracket.low), in_flight(bracket.high)];
    Some(KneeRecord {
        kneedle_in_flight: in_flight(kneedle.load),
        kneedle_bracket: pair(kneedle),
        plateau_in_flight: in_flight(found.plateau.load),
        plateau_bracket: pair(found.plateau),
    })
}

/// Seeded by a constant, so that a stored series gives the same bracket again.
fn resampling(rates: &[LadderStep]) -> Bootstrap {
    let longest = rates.iter().map(|step| step.rates.len()).max().unwrap_or(0);
    Bootstrap {
        block_length: Bootstrap::block_length_for(longest),
        resamples: 1_000,
        seed: 1,
    }
}

fn in_flight(load: u64) -> u32 {
    u32::try_from(load).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
