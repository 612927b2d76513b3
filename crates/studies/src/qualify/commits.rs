//! Commit methods of a product: the study of commit methods with the product's own cells, on
//! the product's own file, once its requirements are judged. They decide no requirement.

use super::{Qualify, Verdict};
use crate::commit::CommitStudy;
use crate::{FileState, NextStep, PlacedJob, Run, RunId, Study, StudyTime};
use stripewise_results::RunRecord;

impl Qualify {
    /// The same with the product's commit methods, where it has any and the target may be
    /// written to. `is_linux`: the methods that Linux alone has are to be had.
    #[must_use]
    pub fn with_commits(mut self, is_linux: bool) -> Qualify {
        let commit = self.product.commit.as_ref();
        let commits = commit.filter(|_| !self.reads_only()).and_then(|commit| {
            let mut section = commit.section.clone();
            // There files have no states of their own, but simulated ones.
            let placement = self.options.placement;
            if placement.is_one_target && !placement.is_simulated {
                section.states = vec![FileState::Written];
            }
            CommitStudy::of_product(section, is_linux, self.options.seed)
        });
        self.state.commits = commits;
        self
    }

    /// What is compared, as far as it is.
    pub fn commits(&self) -> Option<&CommitStudy> {
        self.state.commits.as_ref()
    }

    /// Its state is worth storing: after each piece, and where the study of commit methods says so.
    pub fn is_at_pause(&self) -> bool {
        self.is_judging() || self.commits().is_none_or(CommitStudy::is_at_pause)
    }

    /// The comparison, while something is left of it.
    pub(super) fn open_commits(&self) -> Option<&CommitStudy> {
        self.commits()
            .filter(|commits| !self.is_cut_short() && !commits.is_whole())
    }

    /// The comparison, once it is its turn.
    pub(super) fn shown_commits(&self) -> Option<&CommitStudy> {
        self.commits()
            .filter(|_| !self.is_cut_short() && !self.is_judging())
    }

    /// It was to end with the first miss, and did.
    pub(super) fn is_cut_short(&self) -> bool {
        self.options.ends_at_miss && self.verdict() == Verdict::Missed
    }

    pub(super) fn commit_loads(&self) -> Vec<PlacedJob> {
        let loads = self.commits().map_or_else(Vec::new, Study::loads);
        loads.into_iter().map(|job| self.on_its_file(job)).collect()
    }

    pub(super) fn next_commit(&self) -> Option<Run> {
        let NextStep::Run(run) = self.open_commits()?.next() else {
            return None;
        };
        let jobs = run.jobs.into_iter().map(|job| self.on_its_file(job));
        Some(Run {
            id: RunId(self.state.runs),
            title: format!("{}: {}", self.product.name, run.title),
            jobs: jobs.collect(),
            ..*run
        })
    }

    pub(super) fn commit_completed(&mut self, record: &RunRecord) {
        let Some(commits) = &mut self.state.commits else {
            return;
        };
        if let NextStep::Run(run) = commits.next() {
            commits.completed(run.id, record);
            self.state.runs += 1;
        }
    }

    pub(super) fn commit_time(&self) -> StudyTime {
        let spent_ns = self.commits().map_or(0, |commits| commits.time().spent_ns);
        let left_ns = self
            .open_commits()
            .map_or(0, |commits| commits.time().left_ns);
        StudyTime { spent_ns, left_ns }
    }

    /// The line of the plan.
    pub(super) fn commit_plan(&self) -> Option<String> {
        let commit = self.product.commit.as_ref()?;
        let study = self.open_commits()?;
        let used = commit.files.iter().take(study.files().len());
        let names: Vec<&str> = used.map(|&file| &*self.product.files[file].name).collect();
        Some(study.plan(&names.join(" and of ")))
    }

    fn on_its_file(&self, job: PlacedJob) -> PlacedJob {
        let Some(commit) = &self.product.commit else {
            return job;
        };
        // The study counts the files that it commits to.
        let file = job
            .targets
            .first()
            .and_then(|&index| commit.files.get(index));
        let (placement, file) = (self.options.placement, file.copied().unwrap_or(0));
        let (workload, target) = placement.place_in(&self.product, file, job.workload);
        PlacedJob {
            workload,
            targets: vec![target],
            ..job
        }
    }
}
