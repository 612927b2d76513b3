//! The stored runs of what a baseline measures: the target's own history.

use crate::steps::baselines::KeptBaseline;
use std::collections::{BTreeSet, HashMap};
use stripewise_conductor::context::store_failure;
use stripewise_conductor::failure::Outcome;
use stripewise_lab::compare::StoredRuns;
use stripewise_results::{RunRecord, Status};
use stripewise_store::{Filter, Store};

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
        let targets = baseline.runs.iter().flat_map(|run| &run.jobs);
        let targets: BTreeSet<&str> = targets.map(|job| job.target.name.as_str()).collect();
        let host = baseline
            .runs
            .first()
            .map_or("", |run| run.host.name.as_str());
        let mut runs: Vec<RunRecord> = Vec::new();
        for target in targets {
            let filter = Filter {
                target: Some(target.to_owned()),
                status: Some(Status::Complete),
                limit: Some(RUNS_MAX),
                ..Filter::default()
            };
            let listed = store.list_readable(&filter).map_err(store_failure)?.runs;
            let own = listed.into_iter().filter(|run| {
                let is_new = |id: &str| judged.iter().any(|one| one.id == id);
                run.tool.is_none()
                    && run.host == host
                    && !is_new(&run.id)
                    && run.jobs.iter().all(|job| job.target == target)
            });
            let loaded = own.filter_map(|run| store.load(&run.id).ok());
            runs.extend(loaded.map(RunRecord::without_intervals));
        }
        runs.sort_by(|a, b| a.started_at.cmp(&b.started_at));
        Ok(StoredHistory {
            runs,
            boots: boots(store)?,
            baseline_at: baseline.set_at.clone(),
        })
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
