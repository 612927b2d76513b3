//! The stored runs of a baseline's loads: the target's own history.

use crate::steps::baselines::StoredBaseline;
use std::collections::{BTreeSet, HashMap};
use stripewise_conductor::failure::Outcome;
use stripewise_lab::compare::StoredRuns;
use stripewise_results::{JobRecord, RunRecord, Status};
use stripewise_store::{Filter, RunSummary, Store};

/// Maximum number of stored runs used, the newest: two months of hourly ones.
const RUNS_MAX: u32 = 1_500;

/// Runs of a baseline's loads on its machine and targets, in chronological order.
#[derive(Debug, Default)]
pub(super) struct StoredHistory {
    runs: Vec<RunRecord>,
    /// A number for each boot, by the ids of its runs.
    boots: HashMap<String, u64>,
    baseline_at: String,
}

impl StoredHistory {
    /// All except the judged runs themselves. Unreadable runs are skipped.
    pub(super) fn of(
        store: &Store,
        baseline: &StoredBaseline,
        judged: &[RunRecord],
    ) -> Outcome<StoredHistory> {
        let jobs = baseline.runs.iter().flat_map(|run| &run.jobs);
        // Runs of earlier versions are listed under the name as typed, which is the same in every
        // directory: their records identify it.
        let names = |job: &JobRecord| [job.full_target_names(), job.target_names()];
        let targets: BTreeSet<[String; 2]> = jobs.map(names).collect();
        let host = baseline
            .runs
            .first()
            .map_or("", |run| run.host.name.as_str());
        let mut runs: Vec<RunRecord> = Vec::new();
        for [full, typed] in &targets {
            // Runs listed under both names are loaded once.
            let mut seen = BTreeSet::new();
            let is_own = |run: &RunSummary| {
                let is_new = judged.iter().any(|one| one.id == run.id);
                let mut jobs = run.jobs.iter();
                let is_there = jobs.all(|job| job.target == *full || job.target == *typed);
                run.tool.is_none() && run.host == host && !is_new && is_there
            };
            for name in BTreeSet::from([full, typed]) {
                let filter = Filter {
                    target: Some(name.clone()),
                    status: Some(Status::Complete),
                    limit: Some(RUNS_MAX),
                    ..Filter::default()
                };
                let listed = store.list_readable(&filter)?.runs;
                let loaded = listed
                    .iter()
                    .filter(|run| is_own(run) && seen.insert(run.id.clone()));
                let loaded = loaded.filter_map(|run| store.load(&run.id).ok());
                let own = loaded.filter(|run| {
                    let mut jobs = run.jobs.iter();
                    jobs.all(|job| job.full_target_names() == *full)
                });
                runs.extend(own.map(RunRecord::without_intervals));
            }
        }
        runs.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
        Ok(StoredHistory {
            runs,
            boots: boots(store)?,
            baseline_at: baseline.set_at.clone(),
        })
    }

    /// Determines the boots of runs that were stored since.
    pub(super) fn learn_boots(&mut self, store: &Store) -> Outcome<()> {
        self.boots = boots(store)?;
        Ok(())
    }

    /// Calls `judge` with the stored runs. A run that is not stored has a boot of its own.
    pub(super) fn with<T>(&self, judge: impl FnOnce(&StoredRuns<'_>) -> T) -> T {
        let boot = |id: &str| self.boots.get(id).copied().unwrap_or(u64::MAX);
        judge(&StoredRuns {
            runs: &self.runs,
            boot: &boot,
            baseline_at: &self.baseline_at,
        })
    }
}

fn boots(store: &Store) -> Outcome<HashMap<String, u64>> {
    let mut numbers: HashMap<String, u64> = HashMap::new();
    let all = store.boots()?;
    let each = all.into_iter().map(|(id, boot)| {
        let next = numbers.len() as u64;
        (id, *numbers.entry(boot).or_insert(next))
    });
    Ok(each.collect())
}
