//! The stored runs of what a baseline measures: the target's own history.

use crate::steps::baselines::KeptBaseline;
use std::collections::{BTreeSet, HashMap};
use stripewise_conductor::context::store_failure;
use stripewise_conductor::failure::Outcome;
use stripewise_lab::compare::StoredRuns;
use stripewise_results::{JobRecord, RunRecord, Status};
use stripewise_store::{Filter, RunSummary, Store};

/// Stored runs that are looked at, the newest: two months of hourly ones.
const RUNS_MAX: u32 = 1_500;

/// Runs of the loads of a baseline on its machine and targets, in order of time.
#[derive(Debug, Default)]
pub(super) struct StoredHistory {
    runs: Vec<RunRecord>,
    /// A number for each boot, by the ids of its runs.
    boots: HashMap<String, u64>,
    baseline_at: String,
}

impl StoredHistory {
    /// All but those that are judged themselves. Runs that cannot be read are left out.
    pub(super) fn of(
        store: &Store,
        baseline: &KeptBaseline,
        judged: &[RunRecord],
    ) -> Outcome<StoredHistory> {
        let jobs = baseline.runs.iter().flat_map(|run| &run.jobs);
        // Runs of earlier versions are listed under what was typed, which is the same in every
        // directory: their records say which one it was.
        let names = |job: &JobRecord| [job.full_target_names(), job.target_names()];
        let targets: BTreeSet<[String; 2]> = jobs.map(names).collect();
        let host = baseline
            .runs
            .first()
            .map_or("", |run| run.host.name.as_str());
        let mut runs: Vec<RunRecord> = Vec::new();
        for [full, typed] in &targets {
            // What is listed by both names is loaded once.
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
                let listed = store.list_readable(&filter).map_err(store_failure)?.runs;
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

    /// Learns in which boot the runs were made that were stored since.
    pub(super) fn learn_boots(&mut self, store: &Store) -> Outcome<()> {
        self.boots = boots(store)?;
        Ok(())
    }

    /// Calls `judge` with what is stored. A run that is not stored is of a boot of its own.
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
    let all = store.boots().map_err(store_failure)?;
    let each = all.into_iter().map(|(id, boot)| {
        let next = numbers.len() as u64;
        (id, *numbers.entry(boot).or_insert(next))
    });
    Ok(each.collect())
}
