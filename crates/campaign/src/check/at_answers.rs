//! Which runs of a repeated bench a required latency is about: those at the load of its answer.
//! The others show how latency grows beyond it.

use std::collections::BTreeMap;
use stripewise_lab::compare::Requirement;
use stripewise_lab::latency_of;
use stripewise_results::RunRecord;
use stripewise_stats::{PLATEAU_SHARE, Slo, median};

/// The runs of `now` that a requirement applies to, where they repeat those of `then`: for a
/// latency, of the loads of a ladder only that of its answer; for a maximum smaller ones as well.
pub(super) fn meant_by<'a>(
    required: &Requirement,
    then: &[RunRecord],
    now: &[&'a RunRecord],
) -> Vec<&'a RunRecord> {
    if !required.is_of_latency() {
        return now.to_vec();
    }
    let mut answers: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for part in now.iter().filter_map(|run| run.series_part.as_deref()) {
        let answer = || load_of_answer(then, part);
        answers.entry(part).or_insert_with(answer);
    }
    let is_meant = |run: &&RunRecord| {
        let part = run.series_part.as_deref();
        let own = in_flight(run);
        match part.and_then(|part| answers[part]) {
            Some(load) => own == load || required.is_of_maximum() && own < load,
            None => true,
        }
    };
    now.iter().copied().filter(is_meant).collect()
}

fn in_flight(run: &RunRecord) -> u64 {
    let jobs = run.jobs.iter();
    let each =
        jobs.map(|job| u64::from(job.workload.threads) * u64::from(job.workload.outstanding));
    each.sum()
}

/// Operations in flight where the answer of a ladder was: the largest load within its limit, or
/// the smallest that gives as much if all are within it; the least if none is. `None` if these are
/// no runs made for an answer.
fn load_of_answer(then: &[RunRecord], part: &str) -> Option<u64> {
    let is_own =
        |run: &&RunRecord| run.answer_block.is_some() && run.series_part.as_deref() == Some(part);
    let runs = || then.iter().filter(is_own);
    let slo: Slo = runs().find_map(|run| run.latency_limit.as_deref()?.parse().ok())?;
    // Latencies and rates of each load.
    let mut loads: BTreeMap<u64, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for run in runs() {
        let Some(job) = run.jobs.first() else {
            continue;
        };
        let Some(latency_ns) = latency_of(job, slo) else {
            continue;
        };
        let (latencies, rates) = loads.entry(in_flight(run)).or_default();
        latencies.push(latency_ns as f64);
        rates.push(job.outcome.iops);
    }
    let is_within = |latencies: &[f64]| {
        // A float-to-integer cast saturates.
        median(latencies).is_some_and(|ns| slo.is_met_by(ns.round() as u64))
    };
    let rate = |load: u64| loads.get(&load).and_then(|(_, rates)| median(rates));
    let within = loads
        .iter()
        .filter(|(_, (latencies, _))| is_within(latencies));
    let within: Vec<u64> = within.map(|(load, _)| *load).collect();
    if within.len() < loads.len() || within.is_empty() {
        return within.last().or(loads.keys().next()).copied();
    }
    let rates = within.iter().filter_map(|load| rate(*load));
    let most = rates.fold(0.0, f64::max);
    let gives_as_much = |load: &u64| rate(*load).is_some_and(|rate| rate >= PLATEAU_SHARE * most);
    within.iter().copied().find(gives_as_much)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{JobRecord, LatencySummary};

    fn run(outstanding: u32, iops: f64, p99_ms: u64) -> RunRecord {
        let mut job = JobRecord::default();
        job.workload.outstanding = outstanding;
        job.outcome.iops = iops;
        job.outcome.read.latency_ns = Some(LatencySummary {
            p99: p99_ms * 1_000_000,
            ..LatencySummary::default()
        });
        RunRecord {
            series_part: Some("random-read".to_owned()),
            answer_block: Some(0),
            latency_limit: Some("p99<20ms".to_owned()),
            jobs: vec![job],
            ..RunRecord::empty()
        }
    }

    fn loads(required: &str, then: &[RunRecord]) -> Vec<u64> {
        let required: Requirement = required.parse().expect("a requirement");
        let now: Vec<&RunRecord> = then.iter().collect();
        let meant = meant_by(&required, then, &now);
        meant.into_iter().map(in_flight).collect()
    }

    #[test]
    fn a_latency_is_required_at_the_load_of_the_answer() {
        let crossed = [run(3, 300.0, 10), run(4, 380.0, 19), run(5, 420.0, 24)];
        assert_eq!(loads("p99<20ms", &crossed), [4]);
        assert_eq!(loads("max<1s", &crossed), [3, 4]);
        assert_eq!(loads("iops>=100", &crossed), [3, 4, 5]);
        let plateau = [run(8, 900.0, 9), run(16, 990.0, 12), run(32, 1_000.0, 15)];
        assert_eq!(loads("p99<20ms", &plateau), [16]);
        let slow = [run(1, 50.0, 30), run(2, 90.0, 40)];
        assert_eq!(loads("p99<20ms", &slow), [1]);
    }

    #[test]
    fn what_was_in_flight_at_the_stop_counts_for_a_limit_on_the_maximum() {
        let mut stalled = [run(3, 300.0, 10), run(4, 380.0, 19), run(5, 420.0, 24)];
        for one in &mut stalled {
            one.latency_limit = Some("max<30ms".to_owned());
        }
        stalled[2].jobs[0].outcome.drain.latency_ns_max = 900_000_000;
        assert_eq!(loads("p99<20ms", &stalled), [4]);
    }

    #[test]
    fn runs_that_are_of_no_answer_all_count() {
        let alone = |run: RunRecord| RunRecord {
            answer_block: None,
            ..run
        };
        let runs = [run(3, 300.0, 10), run(5, 420.0, 24)].map(alone);
        assert_eq!(loads("p99<20ms", &runs), [3, 5]);
    }
}
