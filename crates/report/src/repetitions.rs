//! Repetitions as text: a row for each workload that ran several times, with the median of
//! its runs, the interval of the median (from six runs on), and their range.

use crate::caution::state_in_brief;
use crate::number::{latency, rate};
use crate::run::kinds;
use crate::table::{draw, number, words};
use stripewise_results::{JobRecord, RunRecord};
use stripewise_stats::{median, median_interval};

/// Of each interval.
const LEVEL: f64 = 0.95;

/// The table; nothing where no workload ran twice. Rates are those of each kind of
/// operation; of a mixed load, also of both together.
#[must_use]
pub fn repetitions_table(runs: &[RunRecord]) -> String {
    let groups = groups_of(runs);
    let repeated: Vec<&Vec<(&RunRecord, &JobRecord)>> =
        groups.iter().filter(|group| group.len() > 1).collect();
    if repeated.is_empty() {
        return String::new();
    }
    let columns = [
        words("Medians"),
        number("Block"),
        number("Thr"),
        number("Out"),
        number("Runs"),
        number("IOPS"),
        number("95 %"),
        number("lowest"),
        number("highest"),
        number("p99"),
        number("highest"),
        words(""),
    ];
    let rows: Vec<Vec<String>> = repeated.into_iter().flat_map(|group| rows(group)).collect();
    draw(&columns, &rows)
}

/// Jobs that do the same but for their seeds, in the order of their first runs.
pub(crate) fn groups_of(runs: &[RunRecord]) -> Vec<Vec<(&RunRecord, &JobRecord)>> {
    let same = |(run, job): (&RunRecord, &JobRecord), other: &RunRecord, its: &JobRecord| {
        let seedless = |job: &JobRecord| {
            let mut workload = job.workload.clone();
            workload.seed = 0;
            workload
        };
        run.jobs.len() == other.jobs.len()
            && job.name == its.name
            && job.target.name == its.target.name
            && seedless(job) == seedless(its)
    };
    let mut groups: Vec<Vec<(&RunRecord, &JobRecord)>> = Vec::new();
    for run in runs {
        for job in &run.jobs {
            match groups.iter_mut().find(|group| same(group[0], run, job)) {
                Some(group) => group.push((run, job)),
                None => groups.push(vec![(run, job)]),
            }
        }
    }
    groups
}

fn rows(group: &[(&RunRecord, &JobRecord)]) -> Vec<Vec<String>> {
    let (_, first) = group[0];
    let names = kinds(first).into_iter().map(|(name, _)| name);
    let cells = |(index, name): (usize, &'static str)| {
        let (mut rates, mut latencies) = (Vec::new(), Vec::new());
        for (_, job) in group {
            let of = kinds(job);
            let outcome = &of[index].1;
            let seconds = job.outcome.duration_ns as f64 / 1e9;
            if seconds > 0.0 {
                rates.push(outcome.operations as f64 / seconds);
            }
            latencies.extend(outcome.latency_ns.map(|latencies| latencies.p99 as f64));
        }
        let workload = &first.workload;
        let mut cells = vec![
            format!("{}{name}", first.load_name()),
            workload.block_text(),
            workload.threads.to_string(),
            workload.outstanding.to_string(),
            group.len().to_string(),
        ];
        let [middle, low, high] = spread(&rates, rate);
        cells.extend([middle, interval(&rates), low, high]);
        let [middle, _, high] = spread(&latencies, |ns| latency(Some(ns.round() as u64)));
        cells.extend([middle, high]);
        cells.push(states(group));
        cells
    };
    names.enumerate().map(cells).collect()
}

/// Median, lowest and highest as text.
fn spread(values: &[f64], text: impl Fn(f64) -> String) -> [String; 3] {
    let low = values.iter().copied().reduce(f64::min);
    let high = values.iter().copied().reduce(f64::max);
    [median(values), low, high].map(|value| value.map(&text).unwrap_or_default())
}

/// `11,580-11,650`: the interval of the median; empty where six runs are not there.
fn interval(values: &[f64]) -> String {
    median_interval(values, LEVEL).map_or_else(String::new, |[low, high]| {
        format!("{}-{}", rate(low), rate(high))
    })
}

/// What is said of any of them.
fn states(group: &[(&RunRecord, &JobRecord)]) -> String {
    let mut states: Vec<String> = Vec::new();
    for (run, job) in group {
        let state = state_in_brief(run, job);
        if !state.is_empty() && !states.contains(&state) {
            states.push(state);
        }
    }
    states.join("; ")
}
