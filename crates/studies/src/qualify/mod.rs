//! Qualification: is a target good enough for a product? The product's own load runs in
//! pieces of a minute; after each check, every requirement is met, missed, or goes on.
//!
//! The rules are those of [`stripewise_stats::Qualification`]. The state keeps counts by
//! the second, so it can be stored after each piece and resumed.

mod commits;
mod document;
mod judge;
mod placement;
mod seconds;
mod sheet;
#[cfg(test)]
mod tests;

pub use document::{QUALIFY_SCHEMA_VERSION, QualifyDocument, RequirementRecord};
pub use judge::{Judgement, Verdict};
pub use placement::Placement;
pub use seconds::JobSeconds;

use crate::commit::CommitStudy;
use crate::product::{Metric, Product, ProductJob, ProductRequirement};
use crate::{FileState, NextStep, PlacedJob, Run, RunId, Study, StudyFile, StudyTime};
use serde::{Deserialize, Serialize};
use stripewise_report::Sheet;
use stripewise_results::{CountedOperations, RunRecord, Status};
use stripewise_stats::Design;
use stripewise_units::{InputError, format_duration, format_iops};
use stripewise_workload::{Workload, derived_seed};

const SECOND_NS: u64 = 1_000_000_000;
/// Length of a piece in seconds: at least the flush period of any disk.
const PIECE_S: u64 = 60;
/// The longest limit that arrivals of a rate are judged by: those due so close to the end of a
/// piece are left out.
const OPEN_LOOP_NS_MAX: u64 = PIECE_S / 2 * SECOND_NS;
/// Each arrival that a disk does not get to is counted, which takes a while at such rates.
const RATE_MAX: f64 = 1e7;
/// Ramp before each piece.
const RAMP_NS: u64 = SECOND_NS;

/// The duration and rigour of a qualification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QualifyDesign {
    /// Up to 30 minutes of continuous measuring.
    #[default]
    Usual,
    /// A minute at a random place in every 3, for 90 minutes: a verdict to sign off.
    Signed,
    /// 5 minutes, which cannot show that a requirement is met.
    Quick,
}

impl QualifyDesign {
    /// The schedule of checks.
    pub const fn design(self) -> Design {
        match self {
            QualifyDesign::Usual | QualifyDesign::Quick => Design::Continuous,
            QualifyDesign::Signed => Design::Spread,
        }
    }

    /// Maximum measured seconds, unless minutes differ.
    pub fn seconds_max(self) -> u64 {
        match self {
            QualifyDesign::Quick => 300,
            other => other.design().seconds() as u64,
        }
    }
}

/// Parameters of a qualification besides the product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QualifyOptions {
    /// How long.
    pub design: QualifyDesign,
    /// Placement of its jobs.
    pub placement: Placement,
    /// Number of processors, by which limits are multiplied if the product says so.
    pub processors: u32,
    /// Seed of its loads and random places.
    pub seed: u64,
    /// Ends with the first missed requirement.
    pub ends_at_miss: bool,
}

/// The stored state.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    product: String,
    options: QualifyOptions,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct State {
    /// Number of pieces begun: the id of the next run.
    runs: u32,
    /// State of each phase.
    phases: Vec<Phase>,
    /// Nanoseconds of completed runs and rests.
    spent_ns: u64,
    /// A rest before the next piece is over.
    rested: bool,
    /// The last piece was interrupted.
    interrupted: bool,
    /// What is judged of syncs is the commit that each ends. Earlier versions counted the syncs.
    #[serde(default)]
    counts_commits: bool,
    /// Commit methods of the product, compared when its requirements are judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commits: Option<CommitStudy>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Phase {
    /// For each job of the product; empty for those of other phases.
    jobs: Vec<JobSeconds>,
}

/// A qualification.
#[derive(Clone, Debug)]
pub struct Qualify {
    product: Product,
    text: String,
    options: QualifyOptions,
    state: State,
    judgements: Vec<Judgement>,
    /// Another process is measuring it now.
    is_being_measured: bool,
}

impl Qualify {
    /// A qualification before its first run. `text` is the product's file.
    ///
    /// # Errors
    /// If the text is not a valid product.
    pub fn new(text: &str, options: QualifyOptions) -> Result<Qualify, InputError> {
        let product: Product = text.parse()?;
        product.refuse_missing_commits()?;
        product.refuse_unused()?;
        let empty = Phase {
            jobs: vec![JobSeconds::default(); product.jobs.len()],
        };
        let state = State {
            phases: vec![empty; product.phases().len()],
            counts_commits: true,
            ..State::default()
        };
        let study = Qualify::of(product, text.to_owned(), options, state);
        study.refuse_impossible()?;
        Ok(study)
    }

    /// Refuses a required rate above the load's own rate, which no disk could reach, rates that no
    /// disk comes near, and limits whose excess a minute of a rate does not show.
    fn refuse_impossible(&self) -> Result<(), InputError> {
        let rates = self.product.jobs.iter().map(|job| (job, job.workload.rate));
        for (job, rate) in rates {
            if rate.is_some_and(|rate| rate.iops > RATE_MAX) {
                return Err(InputError::new(
                    format!(
                        "job {}: at most {} arrivals a second are counted",
                        job.name,
                        format_iops(RATE_MAX)
                    ),
                    "lower the rate of the job",
                ));
            }
        }
        for required in &self.product.requirements {
            let job = &self.product.jobs[required.job];
            let threshold_ns = required.limit.map_or(0, |limit| limit.threshold_ns());
            let is_open_loop =
                job.workload.rate.is_some() && required.operations == CountedOperations::Transfers;
            if is_open_loop && required.metric.is_latency() && threshold_ns > OPEN_LOOP_NS_MAX {
                return Err(InputError::new(
                    format!(
                        "{}: job {} has a rate, where waits of up to {} can be judged",
                        required.name,
                        job.name,
                        format_duration(OPEN_LOOP_NS_MAX)
                    ),
                    "lower the limit, or leave out the rate of the job",
                ));
            }
            self.refuse_held(required, job)?;
        }
        Ok(())
    }

    /// Refuses a required rate above the load's own, and one so close to it that only a latency
    /// at that rate could show whether it is kept.
    fn refuse_held(
        &self,
        required: &ProductRequirement,
        job: &ProductJob,
    ) -> Result<(), InputError> {
        let (Some(rate), false) = (job.workload.rate, required.metric.is_latency()) else {
            return Ok(());
        };
        let most = match required.metric {
            Metric::MibPerS => rate.iops * job.workload.block_size_bytes as f64 / 1_048_576.0,
            _ => rate.iops,
        };
        let limit = self.limit_value(required);
        let what = || {
            format!(
                "{} requires at least {} of job {}, which is held to {}",
                required.name,
                required.metric.limit_text(limit),
                job.name,
                required.metric.value_text_beside(most, limit)
            )
        };
        if limit > most {
            return Err(InputError::new(
                what(),
                "raise the rate of the job, or leave it out",
            ));
        }
        if judge::is_close(most, limit) && judge::shows_rate(&self.product, required).is_none() {
            return Err(InputError::new(
                format!(
                    "{}: {} of it, which is too close to tell",
                    what(),
                    judge::close_words()
                ),
                "require a latency at that rate as well (p99, p999 or max of the same job), or \
                 leave out the rate of the job",
            ));
        }
        Ok(())
    }

    fn of(product: Product, text: String, options: QualifyOptions, state: State) -> Qualify {
        let mut study = Qualify {
            product,
            text,
            options,
            state,
            judgements: Vec::new(),
            is_being_measured: false,
        };
        study.judge();
        study
    }

    /// Restores a stored state.
    ///
    /// # Errors
    /// If it is not a valid state.
    pub fn from_json(json: &str) -> Result<Qualify, String> {
        let stored: Stored = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let product: Product = stored
            .product
            .parse()
            .map_err(|error: InputError| error.to_string())?;
        let phases = &stored.state.phases;
        let fits = phases.len() == product.phases().len()
            && phases
                .iter()
                .all(|one| one.jobs.len() == product.jobs.len());
        let commits = stored.state.commits.as_ref();
        let fits =
            fits && commits.is_none_or(|commits| commits.is_sound() && product.commit.is_some());
        if !fits {
            return Err("its counts are not those of its product".to_owned());
        }
        Ok(Qualify::of(
            product,
            stored.product,
            stored.options,
            stored.state,
        ))
    }

    /// The state, to be stored.
    ///
    /// # Errors
    /// None in practice: all fields are plain.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Stored {
            product: self.text.clone(),
            options: self.options.clone(),
            state: self.state.clone(),
        })
    }

    /// Whether an earlier version counted syncs where commits are required: what was measured
    /// then cannot be continued.
    pub fn counted_syncs(&self) -> bool {
        !self.state.counts_commits && self.product.of_commits().next().is_some()
    }

    /// The product.
    pub fn product(&self) -> &Product {
        &self.product
    }

    /// The parameters of the study.
    pub fn options(&self) -> &QualifyOptions {
        &self.options
    }

    /// The target may only be read: jobs that write are left out.
    pub fn reads_only(&self) -> bool {
        self.options.placement.reads_only
    }

    /// Verdicts so far, in the order of the requirements.
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    /// The worst of the verdicts.
    pub fn verdict(&self) -> Verdict {
        judge::worst(self.judgements.iter().map(|one| one.verdict))
    }

    /// Measured seconds of the phase that was measured longest.
    pub fn seconds(&self) -> u64 {
        let phases = 0..self.state.phases.len();
        phases
            .map(|phase| self.seconds_of(phase))
            .max()
            .unwrap_or(0)
    }

    /// Whether another process is measuring it now: it was not stopped.
    pub fn set_being_measured(&mut self, is_being_measured: bool) {
        self.is_being_measured = is_being_measured && self.is_open();
        if let Some(commits) = &mut self.state.commits {
            commits.set_being_measured(is_being_measured);
        }
    }

    /// It was interrupted, and can be resumed.
    pub fn is_open(&self) -> bool {
        self.is_judging() || self.open_commits().is_some()
    }

    /// A requirement may still come to another verdict.
    fn is_judging(&self) -> bool {
        self.next_phase().is_some()
    }

    /// Jobs with their counts.
    fn jobs(&self) -> impl Iterator<Item = (&str, &JobSeconds)> {
        let jobs = self.product.jobs.iter().enumerate();
        jobs.map(|(index, job)| {
            let counts = &self.state.phases[self.phase_of(index)].jobs[index];
            (job.name.as_str(), counts)
        })
    }

    fn phase_of(&self, job: usize) -> usize {
        let phases = self.product.phases();
        let name = self.product.jobs[job].phase.as_str();
        phases.iter().position(|phase| *phase == name).unwrap_or(0)
    }

    fn judge(&mut self) {
        let one = |index: usize| {
            let job = self.product.requirements[index].job;
            let phase = &self.state.phases[self.phase_of(job)];
            judge::judge(self, index, phase)
        };
        self.judgements = (0..self.product.requirements.len()).map(one).collect();
    }

    /// Minimum measured seconds before a phase is over.
    fn seconds_wanted(&self, phase: usize) -> u64 {
        let wanted = self
            .open_of(phase)
            .map(|(judgement, _)| judgement.seconds_wanted);
        wanted.max().unwrap_or(0)
    }

    fn runs_of(&self, phase: usize) -> Vec<usize> {
        let jobs = 0..self.product.jobs.len();
        jobs.filter(|&job| self.phase_of(job) == phase)
            .filter(|&job| !self.reads_only() || !self.product.jobs[job].workload.writes())
            .collect()
    }

    /// The next phase: the one with the fewest seconds of those that need more.
    fn next_phase(&self) -> Option<usize> {
        if self.is_cut_short() {
            return None;
        }
        let phases = 0..self.state.phases.len();
        phases
            .filter(|&phase| !self.runs_of(phase).is_empty())
            .filter(|&phase| self.seconds_of(phase) < self.seconds_wanted(phase))
            .min_by_key(|&phase| self.seconds_of(phase))
    }

    /// Requirements of a phase that are neither void nor impossible, with their verdicts.
    fn open_of(&self, phase: usize) -> impl Iterator<Item = (&Judgement, usize)> {
        let all = self.judgements.iter().zip(&self.product.requirements);
        all.filter(move |(judgement, one)| {
            self.phase_of(one.job) == phase && judgement.seconds_wanted > 0
        })
        .map(|(judgement, one)| (judgement, one.job))
    }

    /// Valid seconds of a phase: those of the job with the fewest.
    fn seconds_of(&self, phase: usize) -> u64 {
        let jobs = &self.state.phases[phase].jobs;
        let open = self.open_of(phase).map(|(_, job)| jobs[job].seconds.len());
        let all = jobs.iter().map(|job| job.seconds.len()).max();
        open.min().or(all).unwrap_or(0) as u64
    }

    /// Rest before a piece if each has a random place in a window of its own: the rest
    /// of the previous window, and the offset within its own.
    fn rest_ns(&self) -> Option<u64> {
        let (run_s, window_s) = self.options.design.design().run_in_window_s()?;
        let slack_ns = (window_s - run_s) * SECOND_NS - RAMP_NS;
        let place =
            |run: u32| derived_seed(self.options.seed, (1 << 33) + u64::from(run)) % slack_ns;
        let left_ns = match self.state.runs.checked_sub(1) {
            Some(before) => slack_ns - place(before),
            None => 0,
        };
        Some(left_ns + place(self.state.runs))
    }

    fn piece(&self, phase: usize) -> Run {
        let wanted = self.seconds_wanted(phase) - self.seconds_of(phase);
        let seconds = wanted.min(PIECE_S);
        let jobs = self.runs_of(phase);
        let name = self.product.phases()[phase].to_owned();
        let placed = jobs.iter().map(|&job| {
            let own = &self.product.jobs[job];
            let placed = self.options.placement.place(&self.product, job);
            PlacedJob {
                name: own.name.clone(),
                workload: Workload {
                    duration_ns: seconds * SECOND_NS,
                    ramp_ns: RAMP_NS,
                    seed: derived_seed(
                        self.options.seed,
                        u64::from(self.state.runs) * 64 + job as u64,
                    ),
                    ..placed.0
                },
                targets: vec![placed.1],
            }
        });
        Run {
            id: RunId(self.state.runs),
            title: format!("{}: {name}", self.product.name),
            jobs: placed.collect(),
            part: "qualify".to_owned(),
            counting: jobs.iter().map(|&job| judge::counting(self, job)).collect(),
            growing: jobs.iter().map(|&job| self.is_journaled(job)).collect(),
            simulated_operations_min: 0,
        }
    }
}

impl Study for Qualify {
    fn loads(&self) -> Vec<PlacedJob> {
        let phases = 0..self.state.phases.len();
        let jobs = phases.flat_map(|phase| self.phase_jobs(phase));
        jobs.chain(self.commit_loads()).collect()
    }

    fn files(&self) -> Vec<StudyFile> {
        if self.options.placement.is_one_target {
            return vec![StudyFile::default()];
        }
        let states = self.product.files.iter().map(|file| file.state);
        states.map(|state| StudyFile { state }).collect()
    }

    fn next(&self) -> NextStep {
        let Some(phase) = self.next_phase() else {
            return match self.next_commit() {
                Some(run) => NextStep::Run(Box::new(run)),
                None => NextStep::Done,
            };
        };
        match self.rest_ns() {
            Some(length_ns) if !self.state.rested => NextStep::Rest {
                length_ns,
                title: "Waiting for a random minute".to_owned(),
            },
            _ => NextStep::Run(Box::new(self.piece(phase))),
        }
    }

    fn completed(&mut self, run: RunId, record: &RunRecord) {
        if run.0 != self.state.runs {
            return;
        }
        let Some(phase) = self.next_phase() else {
            return self.commit_completed(record);
        };
        let jobs = self.runs_of(phase);
        let measured = &mut self.state.phases[phase];
        for (&job, job_record) in jobs.iter().zip(&record.jobs) {
            let state = match self.options.placement.is_one_target {
                true => FileState::Written,
                false => self.product.files[self.product.jobs[job].file].state,
            };
            measured.jobs[job].add(record, job_record, state);
        }
        let lengths = record.jobs.iter().map(|job| job.outcome.duration_ns);
        let length_ns = RAMP_NS + lengths.max().unwrap_or(0);
        let rest_ns = self.rest_ns().unwrap_or(0);
        let spent_ns = &mut self.state.spent_ns;
        *spent_ns = spent_ns.saturating_add(length_ns).saturating_add(rest_ns);
        self.state.runs += 1;
        self.state.rested = false;
        self.state.interrupted = record.status != Status::Complete;
        self.judge();
    }

    fn rested(&mut self) {
        self.state.rested = true;
    }

    fn time(&self) -> StudyTime {
        let phases = 0..self.state.phases.len();
        let left = phases
            .filter(|&phase| !self.runs_of(phase).is_empty())
            .map(|phase| {
                let left = self
                    .seconds_most(phase)
                    .saturating_sub(self.seconds_of(phase));
                match self.options.design.design().run_in_window_s() {
                    Some((run_s, window_s)) => left.div_ceil(run_s) * window_s,
                    None => left + left.div_ceil(PIECE_S),
                }
            });
        let left_s: u64 = match self.is_judging() {
            true => left.sum(),
            false => 0,
        };
        let commits = self.commit_time();
        StudyTime {
            spent_ns: self.state.spent_ns.saturating_add(commits.spent_ns),
            left_ns: left_s * SECOND_NS + commits.left_ns,
        }
    }

    fn sheet(&self) -> Sheet {
        sheet::sheet(self)
    }
}

impl Qualify {
    /// All jobs of a phase with their placement.
    fn phase_jobs(&self, phase: usize) -> Vec<PlacedJob> {
        let jobs = self.runs_of(phase);
        let placed = jobs.iter().map(|&job| {
            let (workload, target) = self.options.placement.place(&self.product, job);
            PlacedJob {
                name: self.product.jobs[job].name.clone(),
                workload,
                targets: vec![target],
            }
        });
        placed.collect()
    }

    /// Whether the journal of a file system is simulated for a job's file.
    fn is_journaled(&self, job: usize) -> bool {
        let state = self.product.files[self.product.jobs[job].file].state;
        self.options.placement.is_simulated && state == FileState::Growing
    }

    /// Whether a simulated journal is in what is shown.
    fn shows_journal(&self) -> bool {
        let mut jobs = 0..self.product.jobs.len();
        let commits = self.shown_commits();
        jobs.any(|job| self.is_journaled(job)) || commits.is_some_and(CommitStudy::has_growing_file)
    }

    /// Maximum measured seconds of a phase, as far as known.
    fn seconds_most(&self, phase: usize) -> u64 {
        let most = self
            .open_of(phase)
            .map(|(judgement, _)| judgement.seconds_most);
        most.max().unwrap_or(0)
    }
}
