//! Repetitions as text: a row for each workload that ran several times, with the median of
//! its runs, the interval of the median (from six runs on), and their range; below the
//! table, an explanation of the interval.

use crate::crystaldiskmark::are_like_runs;
use crate::number::{latency, rate};
use crate::run::{kinds, row_name};
use crate::sheet::{Column, SheetTable};
use crate::validity::state_in_brief;
use stripewise_results::{Document, InFullRecord, JobRecord, RunRecord, Status};
use stripewise_stats::{in_full, mean, median, median_interval};

/// Confidence of each interval.
const LEVEL: f64 = 0.95;

/// Minimum number of runs for an interval at this level, see [`median_interval`].
const RUNS_MIN: usize = 6;

/// The table; `None` if no workload ran twice. Rates are those of each kind of
/// operation; for a mixed load, also of both together.
pub(crate) fn repetitions_table(runs: &[RunRecord]) -> Option<SheetTable> {
    let groups = groups_of(runs);
    let repeated = || groups.iter().filter(|group| group.len() > 1);
    repeated().next()?;
    let columns = [
        Column::text("Medians"),
        Column::number("Block"),
        Column::number("In flight"),
        Column::number("Runs").dropped(3),
        Column::number("IOPS"),
        Column::number("95 %"),
        Column::number("Lowest").dropped(1),
        Column::number("Highest").dropped(1),
        Column::number("p99"),
        Column::number("Worst p99").dropped(2),
        Column::text(""),
    ];
    let few = repeated().any(|group| group.len() < RUNS_MIN);
    let rows = repeated().flat_map(|group| rows(group)).collect();
    // A qualification decides itself how many minutes it measures.
    let is_given = (runs.iter()).all(|run| run.series_part.as_deref() != Some("qualify"));
    Some(SheetTable::new("", columns, rows).with_note(legend(few, is_given)))
}

/// Explains the interval, and when a row has none. `is_given`: a switch says how many runs.
fn legend(few: bool, is_given: bool) -> String {
    let mut text = "95 %: confidence interval of the median, by order statistics".to_owned();
    if few {
        text.push_str(&format!("; it needs {RUNS_MIN} runs"));
    }
    if few && is_given {
        text.push_str(&format!(" (--repeat {RUNS_MIN})"));
    }
    text
}

/// What the repetitions of a workload would give if those far from the others counted in full, where
/// the interval of the median excludes their mean; of several workloads, of the one that changes
/// most. Void and partial runs are slower for reasons of their own, which are named. Benches and
/// other tools' results have no medians.
pub(crate) fn repeated_in_full(document: &Document) -> Option<String> {
    let runs = &document.runs;
    let is_foreign = runs.iter().any(|run| run.imported.is_some());
    if !document.series.is_empty() || is_foreign || are_like_runs(runs) {
        return None;
    }
    let groups = groups_of(runs);
    let of = |group: &Vec<(&RunRecord, &JobRecord)>| {
        let valid = group.iter().filter(|(run, job)| {
            run.status == Status::Complete && run.void_codes_of(job).is_empty()
        });
        let rates: Vec<f64> = valid.map(|(_, job)| job.outcome.iops).collect();
        let (middle, [low, high]) = (median(&rates)?, median_interval(&rates, LEVEL)?);
        let plain = mean(&rates)?;
        if middle <= 0.0 || (low..=high).contains(&plain) {
            return None;
        }
        let ratios: Vec<f64> = rates.iter().map(|rate| rate / middle).collect();
        let (_, job) = group[0];
        let mib = job.workload.block_size_bytes as f64 / 1_048_576.0;
        let words = InFullRecord::of(&in_full(&ratios)?, middle, mib).words(false, "IOPS");
        let name = format!("{} {}", job.load_name(), job.workload.block_text());
        Some(((plain / middle - 1.0).abs(), name, words))
    };
    let found: Vec<(f64, String, String)> = groups.iter().filter_map(of).collect();
    let (_, name, words) = found.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(match groups.len() {
        1 => words.clone(),
        _ => format!("{words} ({name})"),
    })
}

/// Groups jobs that differ only in their seeds, in the order of their first runs.
pub(crate) fn groups_of(runs: &[RunRecord]) -> Vec<Vec<(&RunRecord, &JobRecord)>> {
    let same = |(run, job): (&RunRecord, &JobRecord), other: &RunRecord, its: &JobRecord| {
        let seedless = |job: &JobRecord| {
            let mut workload = job.workload.clone();
            workload.seed = 0;
            workload
        };
        run.jobs.len() == other.jobs.len()
            && job.name == its.name
            && job.target.full_name() == its.target.full_name()
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
    // A run that goes on has no syncs yet.
    let most = group.iter().map(|(_, job)| kinds(job)).max_by_key(Vec::len);
    let names = most.into_iter().flatten().map(|(name, _)| name);
    let cells = |name: &'static str| {
        let (mut rates, mut latencies) = (Vec::new(), Vec::new());
        for (_, job) in group {
            let mut of = kinds(job).into_iter();
            let Some((_, outcome)) = of.find(|(its, _)| *its == name) else {
                continue;
            };
            let seconds = job.outcome.duration_ns as f64 / 1e9;
            if seconds > 0.0 {
                rates.push(outcome.operations as f64 / seconds);
            }
            latencies.extend(outcome.latency_ns.map(|latencies| latencies.p99 as f64));
        }
        let workload = &first.workload;
        let mut cells = vec![
            row_name(first, name),
            workload.block_text(),
            (u64::from(workload.threads) * u64::from(workload.outstanding)).to_string(),
            group.len().to_string(),
        ];
        let [middle, low, high] = spread(&rates, rate);
        cells.extend([middle, interval(&rates), low, high]);
        let [middle, _, high] = spread(&latencies, |ns| latency(Some(ns.round() as u64)));
        cells.extend([middle, high]);
        cells.push(states(group));
        cells
    };
    names.map(cells).collect()
}

/// Median, lowest and highest as text.
fn spread(values: &[f64], text: impl Fn(f64) -> String) -> [String; 3] {
    let low = values.iter().copied().reduce(f64::min);
    let high = values.iter().copied().reduce(f64::max);
    [median(values), low, high].map(|value| value.map(&text).unwrap_or_default())
}

/// `11,580-11,650`: the interval of the median; `n<6` with fewer runs than that.
fn interval(values: &[f64]) -> String {
    median_interval(values, LEVEL).map_or_else(
        || format!("n<{RUNS_MIN}"),
        |[low, high]| format!("{}-{}", rate(low), rate(high)),
    )
}

/// The combined states of all of them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::KindOutcome;

    #[test]
    fn repetitions_of_which_one_has_no_syncs_yet_are_a_table() {
        let run = |has_syncs: bool| {
            let mut job = JobRecord::default();
            job.workload.read_percent = 0;
            job.outcome.duration_ns = 1_000_000_000;
            job.outcome.sync = has_syncs.then(KindOutcome::default);
            RunRecord {
                jobs: vec![job],
                ..RunRecord::empty()
            }
        };
        for which in [[true, false], [false, true]] {
            let table = repetitions_table(&which.map(run)).expect("it ran twice");
            assert_eq!(table.rows.len(), 2, "writes and syncs");
        }
    }

    #[test]
    fn six_runs_are_the_fewest_that_have_an_interval() {
        let runs: Vec<f64> = (1..=RUNS_MIN).map(|run| run as f64).collect();
        assert_eq!(interval(&runs), "1.0-6.0");
        assert_eq!(interval(&runs[1..]), "n<6");
        assert!(legend(true, true).ends_with("needs 6 runs (--repeat 6)"));
        assert!(legend(true, false).ends_with("needs 6 runs"));
        assert!(!legend(false, true).contains("needs"));
    }
}
