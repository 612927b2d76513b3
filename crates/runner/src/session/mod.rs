//! A session: one run from facts to record. Takes snapshots of the machine around the run, executes
//! it on a driver, and makes the [`RunRecord`] with its warnings. The [`Listener`] stores and
//! displays it.
//!
//! Invariant: [`Listener::measured`] gets the record of the measurement before waiting for
//! operations still in flight.

mod device_logs;
mod engine;
mod engine_costs;
mod evidence;
mod file_watch;
mod host;
mod listen;
mod memory;
mod policy;
mod record;
mod trial;

pub use device_logs::{DeviceReports, DeviceWatch};
pub use engine::own_cost_ns;
pub use engine_costs::{
    MachineCosts, OUTSTANDING, READ_BYTES, ReadBatches, WAIT_NS, machine_costs, read_batches,
};
pub use host::host_facts;
pub use listen::Listener;
pub use memory::check_memory;
pub use trial::{Trial, trial_reads};

use crate::checked::Checks;
use crate::drive::virtual_time::{self, SimulatedJob};
use crate::pauses::looks_like_a_pause;
use crate::trust;
use crate::{Error, JobPlan, RunPlan, RunTotals};
use evidence::Watch;
use file_watch::FileMonitor;
use listen::RecordingObserver;
use policy::MinimumOperations;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::Simulate;
use stripewise_disk_inspect::System;
use stripewise_io_engine::{EngineName, FILES_SERVE_ONE_ENGINE, FaultPlan};
use stripewise_results::{
    Counting, EngineFacts, ExperimentPlace, HostFacts, JobRecord, RunRecord, Severity, Status,
    SustainedRecord, TargetFacts, TargetKind,
};
use stripewise_targets::{Access, FileWatch, Target};
use stripewise_workload::{CacheMode, RecordedLoad, Request, Span, Workload};

/// The target of a job.
#[derive(Clone, Debug)]
pub enum JobTarget<'a> {
    /// A prepared file or device.
    Real(&'a Target),
    /// One of the simulated arrays passed to [`run_simulated`].
    Simulated {
        /// Its facts.
        facts: Box<TargetFacts>,
        /// Its index.
        array: usize,
    },
    /// No target: for the null engine.
    Nothing {
        /// As the user named it.
        name: String,
        /// Offsets stay below this.
        size_bytes: u64,
    },
}

impl JobTarget<'_> {
    /// Facts about the target.
    pub fn facts(&self) -> TargetFacts {
        match self {
            JobTarget::Real(target) => target.facts().clone(),
            JobTarget::Simulated { facts, .. } => (**facts).clone(),
            JobTarget::Nothing { name, size_bytes } => TargetFacts {
                kind: TargetKind::Null,
                name: name.clone(),
                size_bytes: *size_bytes,
                logical_sector_bytes: 512,
                ..TargetFacts::default()
            },
        }
    }

    /// Watches for changes by others.
    fn watch(&self) -> Option<FileWatch> {
        match self {
            JobTarget::Real(target) => target.watch(),
            _ => None,
        }
    }

    /// The cache mode in effect when `requested` is requested.
    fn cache_in_effect(&self, requested: CacheMode) -> CacheMode {
        match self {
            JobTarget::Real(target) => target.cache_in_effect(requested),
            _ => requested,
        }
    }
}

/// One job of a session.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Unique within the run.
    pub name: String,
    /// Its workload, checked against each place's size and sector.
    pub workload: Workload,
    /// Its targets and the bytes used of each; at least one.
    pub places: Vec<(JobTarget<'a>, Span)>,
    /// The operations of a recorded workload.
    pub recorded: Option<Arc<RecordedLoad>>,
}

/// Parameters of a session besides its jobs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Id of the run.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The user's label.
    pub label: Option<String>,
    /// The command line.
    pub command: Vec<String>,
    /// The request, for the record.
    pub request: Option<Box<Request>>,
    /// The program's version.
    pub version: String,
    /// The series that the run belongs to, and its part in that.
    pub series: Option<(String, String)>,
    /// The random block it belongs to, if run for its series' answer.
    pub answer_block: Option<u32>,
    /// Its position in an experiment.
    pub experiment: Option<ExperimentPlace>,
    /// What an earlier pilot of its load found about caches.
    pub sustained: Option<SustainedRecord>,
    /// The latency limit that the series answers, as typed.
    pub latency_limit: Option<String>,
    /// What is counted per second, for each job in order; nothing for jobs past its end.
    pub counting: Vec<Counting>,
    /// For each job in order, whether its file grows: on [`LivingArrays`](crate::LivingArrays) each
    /// of its commits writes to a journal. No file of jobs past its end does.
    pub growing: Vec<bool>,
    /// Facts of the machine; see [`host_facts`].
    pub host: HostFacts,
    /// Length of an interval.
    pub interval_ns: u64,
    /// How long to wait for operations in flight.
    pub drain_limit_ns: u64,
    /// Continue past the duration until this many operations have completed.
    pub operations_min: u64,
    /// Stop once every thread has issued this many, even if time is left.
    pub operations_max_per_thread: Option<u64>,
    /// The engine; not used on simulated arrays.
    pub engine: EngineName,
    /// Processors for the threads, in turn; empty: the system's choice.
    pub cpus: Vec<u32>,
    /// The device's or controller's cache, if the user gave it.
    pub cache_size_bytes: Option<u64>,
    /// A short run on a fresh file: caches and bursts may affect it.
    pub quick: bool,
    /// Submit operations one by one and time that: SQLIO's initiation latency. Costs a system call
    /// each; not used on simulated arrays.
    pub time_hand_overs: bool,
    /// The program's own cost, see [`own_cost_ns`].
    pub own_cost_ns: Option<f64>,
    /// Jobs of the earlier runs of the same grid, if this run is its last: together they reveal
    /// caps.
    pub earlier: Vec<JobRecord>,
    /// Cells of the grid that were left out, with reasons.
    pub skipped: Vec<String>,
    /// Faults to inject, for end-to-end tests.
    pub faults: Option<FaultPlan>,
    /// What the data of all jobs is verified against, if requested.
    pub checks: Option<Checks>,
}

/// Runs jobs on real places.
///
/// # Errors
/// If the run could not start; a run that was cut short is a partial record.
pub fn run_real(
    jobs: &[Job<'_>],
    settings: &Settings,
    listener: &mut dyn Listener,
    interrupt: &AtomicU8,
) -> Result<RunRecord, Error> {
    let mut skeleton = skeleton(jobs, settings);
    let opened = open_all(jobs, &skeleton, &settings.counting)?;
    let mut watch = Watch::start(&opened, settings.engine);
    let quota = System::live().host().cpu.quota;
    let plan = RunPlan {
        watches_for_pauses: !quota.is_some_and(|quota| looks_like_a_pause(&quota)),
        ..run_plan(jobs, settings)
    };
    let lookout = FileMonitor::start(jobs).map_err(|source| Error::Thread {
        job: 0,
        thread: 0,
        source,
    })?;
    let plan = RunPlan {
        look_ns: match lookout.is_there() || settings.checks.is_some() {
            true => file_watch::LOOK_NS,
            false => plan.look_ns,
        },
        ..plan
    };
    let mut observer = RecordingObserver::new(&mut skeleton, listener, Some(&mut watch));
    let found = || settings.checks.as_ref().is_some_and(Checks::found);
    let is_lost = || lookout.is_lost() || found();
    let mut policy = MinimumOperations::new(&plan, settings.operations_min, &is_lost);
    let driven = engine::drive(
        opened,
        settings,
        &plan,
        &mut policy,
        &mut observer,
        interrupt,
    )?;
    let totals = driven.totals;
    let ramp_bytes = observer.ramp_bytes();
    let seen = watch.finish(ramp_bytes);
    finish(&mut skeleton, &totals);
    if found() && skeleton.partial_because.is_none() {
        skeleton.status = Status::Partial;
        skeleton.partial_because = Some("a read returned wrong data, which ended it".to_owned());
    }
    for (job, hand_overs) in skeleton.jobs.iter_mut().zip(driven.hand_overs) {
        job.engine
            .fallbacks
            .extend(driven.fallbacks.iter().cloned());
        job.outcome.initiation_latency_ns = hand_overs.and_then(record::initiation_latency);
    }
    skeleton.processors = seen.processors();
    for (job, reports) in skeleton.jobs.iter_mut().zip(&seen.reports) {
        job.outcome.volume.clone_from(&reports.volume);
        job.outcome.drives.clone_from(&reports.drives);
    }
    let mut evidence = evidence::gather(jobs, settings, &skeleton, &totals, Some(&seen));
    for (evidence, changed) in evidence.iter_mut().zip(lookout.finish()) {
        evidence.changed = changed;
    }
    attach(&mut skeleton, &evidence);
    judge_grid(&mut skeleton, settings, &evidence);
    Ok(skeleton)
}

/// Runs jobs on simulated arrays, in virtual time.
pub fn run_simulated<A: Simulate>(
    jobs: &[Job<'_>],
    arrays: &mut [A],
    settings: &Settings,
    listener: &mut dyn Listener,
    interrupt: &AtomicU8,
) -> Result<RunRecord, Error> {
    let mut skeleton = skeleton(jobs, settings);
    for job in &mut skeleton.jobs {
        job.engine.name = "simulated".to_owned();
        job.engine.requested = "simulated".to_owned();
    }
    let simulated: Vec<SimulatedJob> = jobs
        .iter()
        .zip(counted(&settings.counting))
        .map(|(job, counting)| {
            let arrays = job.places.iter().map(|(place, _)| match place {
                JobTarget::Simulated { array, .. } => Ok(*array),
                _ => Err(mixed_clocks()),
            });
            Ok(SimulatedJob {
                plan: job_plan(job, 0, counting),
                arrays: arrays.collect::<Result<_, Error>>()?,
            })
        })
        .collect::<Result<_, _>>()?;
    let plan = run_plan(jobs, settings);
    let mut observer = RecordingObserver::new(&mut skeleton, listener, None);
    let mut policy = MinimumOperations::new(&plan, settings.operations_min, &|| false);
    let plan = policy.open_ended(plan);
    let totals = virtual_time::run(
        &simulated,
        arrays,
        &plan,
        &mut policy,
        &mut observer,
        interrupt,
    )?;
    drop(observer);
    finish(&mut skeleton, &totals);
    let evidence = evidence::gather(jobs, settings, &skeleton, &totals, None);
    attach(&mut skeleton, &evidence);
    Ok(skeleton)
}

/// The record as far as it is known before the run.
fn skeleton(jobs: &[Job<'_>], settings: &Settings) -> RunRecord {
    let (series, series_part) = settings.series.clone().unzip();
    RunRecord {
        id: settings.id.clone(),
        started_at: settings.started_at.clone(),
        status: Status::Running,
        partial_because: None,
        label: settings.label.clone(),
        command: settings.command.clone(),
        request: settings.request.clone(),
        version: settings.version.clone(),
        series,
        series_part,
        answer_block: settings.answer_block,
        experiment: settings.experiment.clone(),
        sustained: settings.sustained.map(Box::new),
        imported: None,
        latency_limit: settings.latency_limit.clone(),
        start: None,
        merged: None,
        host: settings.host.clone(),
        processors: Vec::new(),
        verification: None,
        fidelity: None,
        jobs: jobs.iter().map(|job| empty_job(job, settings)).collect(),
        warnings: Vec::new(),
    }
}

fn empty_job(job: &Job<'_>, settings: &Settings) -> JobRecord {
    let mut facts = job.places.iter().map(|(place, _)| place.facts());
    let cache = job
        .places
        .iter()
        .map(|(place, _)| place.cache_in_effect(job.workload.cache))
        .next_back();
    JobRecord {
        name: job.name.clone(),
        target: facts.next().unwrap_or_else(|| {
            JobTarget::Nothing {
                name: String::new(),
                size_bytes: 0,
            }
            .facts()
        }),
        further_targets: facts.collect(),
        workload: Workload {
            cache: cache.unwrap_or(job.workload.cache),
            ..job.workload.clone()
        },
        engine: EngineFacts {
            requested: settings.engine.to_string(),
            cpus: settings.cpus.clone(),
            null_ns_per_operation: settings.own_cost_ns,
            ..EngineFacts::default()
        },
        ..JobRecord::default()
    }
}

/// The times shared by all jobs: the longest of those requested.
fn run_plan(jobs: &[Job<'_>], settings: &Settings) -> RunPlan {
    let longest =
        |of: fn(&Workload) -> u64| jobs.iter().map(|job| of(&job.workload)).max().unwrap_or(0);
    RunPlan {
        interval_ns: settings.interval_ns,
        ramp_ns: longest(|workload| workload.ramp_ns),
        duration_ns: longest(|workload| workload.duration_ns),
        drain_limit_ns: settings.drain_limit_ns,
        operations_max_per_thread: settings.operations_max_per_thread,
        ..RunPlan::default()
    }
}

/// What is counted for each job.
fn counted(counting: &[Counting]) -> impl Iterator<Item = Counting> {
    let rest = std::iter::repeat_with(Counting::default);
    counting.iter().cloned().chain(rest)
}

fn job_plan(job: &Job<'_>, data_salt: u64, counting: Counting) -> JobPlan {
    let spans = job.places.iter().map(|(_, span)| *span).collect();
    JobPlan {
        workload: job.workload.clone(),
        spans,
        data_salt,
        counting,
        recorded: job.recorded.clone(),
    }
}

/// Opens each job's files through its targets, under the targets' rules.
fn open_all(
    jobs: &[Job<'_>],
    skeleton: &RunRecord,
    counting: &[Counting],
) -> Result<Vec<engine::OpenJob>, Error> {
    jobs.iter()
        .zip(counted(counting))
        .map(|(job, counting)| {
            let sets = match FILES_SERVE_ONE_ENGINE {
                true => job.workload.threads,
                false => 1,
            };
            let mut files = Vec::new();
            for _ in 0..sets {
                for (place, _) in &job.places {
                    files.extend(open_one(job, place)?);
                }
            }
            Ok(engine::OpenJob {
                plan: job_plan(job, salt(&skeleton.id), counting),
                files,
            })
        })
        .collect()
}

/// Opens one place of a job; for the null engine there is nothing to open.
fn open_one(job: &Job<'_>, place: &JobTarget<'_>) -> Result<Option<Arc<File>>, Error> {
    match place {
        JobTarget::Real(target) => target
            .fits(&job.workload)
            .and_then(|()| target.open(job.workload.cache, access(&job.workload)))
            .map(|file| Some(Arc::new(file)))
            .map_err(|source| Error::Target {
                job: job.name.clone(),
                source: Box::new(source),
            }),
        JobTarget::Nothing { .. } => Ok(None),
        JobTarget::Simulated { .. } => Err(mixed_clocks()),
    }
}

fn mixed_clocks() -> Error {
    Error::Plan(
        "real and simulated targets cannot run at once: they have different clocks".to_owned(),
    )
}

fn access(workload: &Workload) -> Access {
    match workload.read_percent {
        100 => Access::Read,
        0 => Access::Write,
        // Discarding needs write access.
        _ => Access::ReadWrite,
    }
}

/// Salts the written data of each run, so that a deduplicating device sees new blocks: FNV-1a of
/// the run's id.
fn salt(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Adds the driver's results.
fn finish(record: &mut RunRecord, totals: &RunTotals) {
    for (job, of_job) in record.jobs.iter_mut().zip(&totals.jobs) {
        let intervals = std::mem::take(&mut job.outcome.intervals);
        job.outcome = record::outcome(
            &of_job.counts,
            totals.measured_ns,
            job.workload.has_due_times(),
            intervals,
        );
        if job.engine.name != "simulated" {
            job.outcome.threads = record::threads(&of_job.threads);
        }
        job.outcome.drain = record::drain(&of_job.drain);
        job.outcome.due = of_job.drain.due.record();
        job.outcome.pauses = record::pauses(totals);
        record::engine(&mut job.engine, &of_job.capabilities);
        // Problems that did not end the run (a thread not pinned, or abandoned) belong to the run;
        // each of its jobs lists them.
        job.engine.fallbacks.extend(totals.notes.iter().cloned());
    }
    record::status(record, totals);
}

/// Warnings of each job; injected faults come first. A pilot is made to see rates fall and caches
/// fill: only warnings that void it are kept.
fn attach(record: &mut RunRecord, evidence: &[trust::Evidence]) {
    let is_pilot = record.is_pilot();
    for (job, evidence) in record.jobs.iter_mut().zip(evidence) {
        job.warnings = trust::judge(evidence);
        (job.warnings).retain(|warning| !is_pilot || warning.severity == Severity::Void);
    }
}

/// Warnings about a whole grid, issued with its last run.
fn judge_grid(record: &mut RunRecord, settings: &Settings, evidence: &[trust::Evidence]) {
    if settings.earlier.is_empty() {
        return;
    }
    let jobs: Vec<&JobRecord> = settings.earlier.iter().chain(&record.jobs).collect();
    let throttles: Vec<_> = evidence
        .iter()
        .flat_map(|evidence| evidence.throttles.iter().cloned())
        .collect();
    record.warnings = trust::judge_series(&jobs, &throttles);
}
