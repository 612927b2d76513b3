//! One run: session, keeper, progress. The record is stored before it returns.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, no_thread};
use crate::keep::{Keeper, RunPlace, show_unstored};
use crate::observer::Progress;
use crate::pilot::pilot_before;
use crate::start::Companion;
use crate::targets::{OpenTarget, living_arrays};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_disk_inspect::System;
use stripewise_io_engine::{EngineName, FaultPlan};
use stripewise_results::{
    Counting, ExperimentPlace, HostFacts, JobRecord, PILOT, RunRecord, Severity, SustainedRecord,
};
use stripewise_runner::LivingArrays;
use stripewise_runner::session::{Job, Listener, Settings, own_cost_ns, run_real};
use stripewise_runner::trust::Code;
use stripewise_runner::{Checks, Error};
use stripewise_store::{RunWriter, Store, WhenFull};
use stripewise_studies::LoadPilot;
pub use stripewise_studies::PlacedJob;
use stripewise_workload::{
    RecordedLoad, Request, RequestJob, Steady, TargetLimits, Workload, check, validate,
};

/// How long to wait for operations in flight after the stop.
const DRAIN_LIMIT_NS: u64 = 30_000_000_000;

/// How long the program's own cost is measured: about 200,000 operations.
const OWN_COST_NS: u64 = 5_000_000;

/// Interval of pilot runs on real targets.
const PIECE_INTERVAL_NS: u64 = 100_000_000;

/// Verifies the data that runs read and write.
pub trait RunVerification: Debug {
    /// What the next run of these jobs is checked against.
    fn checks(&self, context: &Context, jobs: &[PlacedJob]) -> Checks;
    /// Reads back everything that was written after a run, and records the findings.
    ///
    /// # Errors
    /// If nothing can be read any more.
    fn finish(
        &self,
        context: &Context,
        opened: &[OpenTarget],
        checks: &Checks,
        record: &mut RunRecord,
    ) -> Outcome<()>;
}

/// Supplies the operations of recorded loads.
pub trait Recordings: Debug {
    /// The operations for a run of this workload on this target.
    ///
    /// # Errors
    /// If the recording has changed, or does not fit the target.
    fn load(&self, workload: &Workload, target: &OpenTarget) -> Outcome<RecordedLoad>;
    /// Records how the operations of a job were issued.
    fn judge(&self, load: &RecordedLoad, job: &mut JobRecord);
}

/// How runs of one command are made.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Facts about this machine.
    pub host: HostFacts,
    /// The user's request; each run replaces its jobs by its own.
    pub request: Request,
    /// The series that the runs belong to, and their part of it.
    pub series: Option<(String, String)>,
    /// The random block if the run is made for the answer of its series.
    pub answer_block: Option<u32>,
    /// Their position in an experiment.
    pub experiment: Option<ExperimentPlace>,
    /// What a pilot of their load found about caches and burst credits.
    pub sustained: Option<SustainedRecord>,
    /// The latency limit that the series is to answer, as typed.
    pub latency_limit: Option<String>,
    /// What is counted each second, per job in order; jobs past its end count nothing.
    pub counting: Vec<Counting>,
    /// For each job in order, whether its file grows, where a journal has to be simulated; no file
    /// of jobs past its end does.
    pub growing: Vec<bool>,
    /// A short run on a fresh file: caches and bursts are possible.
    pub quick: bool,
    /// Time how long each submission call takes, see `Settings`.
    pub time_hand_overs: bool,
    /// The program's own cost of an operation, in nanoseconds.
    pub own_cost_ns: Option<f64>,
    /// Jobs of the grid so far; the grid's last run needs them.
    pub earlier: Vec<JobRecord>,
    /// Cells of the grid that were skipped, each with its reason.
    pub skipped: Vec<String>,
    /// Faults to inject, for tests.
    pub faults: Option<FaultPlan>,
    /// The companion of the runs: other hosts measure at the same time.
    pub companion: Option<Rc<dyn Companion>>,
    /// Verifies their data, if the request demands it.
    pub verified: Option<Rc<dyn RunVerification>>,
    /// The operations of recorded loads, if there are any.
    pub recordings: Option<Rc<dyn Recordings>>,
}

impl RunOptions {
    /// Options with nothing but this request. Measures the program's own cost, except for
    /// simulated arrays, on which it has no bearing.
    pub fn of(context: &Context, request: Request, simulated: bool) -> RunOptions {
        RunOptions {
            host: context.host(),
            request,
            own_cost_ns: (!simulated).then(|| own_cost_ns(OWN_COST_NS)).flatten(),
            ..RunOptions::default()
        }
    }
}

/// Nanoseconds that concurrent jobs take, ramps included.
pub fn length_ns(jobs: &[PlacedJob]) -> u64 {
    let lengths = jobs.iter().map(|job| job.workload.length_ns());
    lengths.max().unwrap_or(0)
}

/// Nanoseconds that runs of these lengths take one after the other.
pub fn in_turn_ns(lengths: impl IntoIterator<Item = u64>) -> u64 {
    lengths.into_iter().fold(0, u64::saturating_add)
}

/// A run that took place, and whether it was stored.
pub struct Measured {
    /// The record.
    pub record: RunRecord,
    /// The store's failure, if it could not be stored. The record is valid
    /// and shown anyway.
    pub stored: Outcome<()>,
}

impl Measured {
    /// The record of a run that is part of no answer, such as a pilot's.
    ///
    /// # Errors
    /// If it could not be stored; it is shown then.
    pub fn if_stored(self, context: &Context) -> Outcome<RunRecord> {
        if self.stored.is_err() {
            show_unstored(context, &self.record);
        }
        self.stored.map(|()| self.record)
    }
}

/// Runs jobs concurrently and stores the record. Simulated arrays are rebuilt. Makes a pilot
/// first if the request asks for one and none was made yet.
pub fn measure(
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    placed_jobs: &[PlacedJob],
    how: &RunOptions,
    progress: &Progress<'_>,
    place: &RunPlace<'_>,
) -> Outcome<Measured> {
    let mut arrays = living_arrays(opened);
    let pilot = pilot_before(opened, placed_jobs, &how.request).filter(|_| how.sustained.is_none());
    let mut spent_ns = 0;
    let found = pilot.map(|mut pilot| {
        pilot_with(context, &mut pilot, how, &mut |piece, options| {
            let place = RunPlace {
                title: "Writing until no cache absorbs it",
                before_ns: place.before_ns.saturating_add(spent_ns),
                expected_ns: piece.workload.length_ns(),
                after_ns: place.after_ns,
            };
            spent_ns += place.expected_ns;
            let (jobs, shown) = (std::slice::from_ref(piece), (progress, &place));
            let measured = measure_on(context, store, opened, &mut arrays, jobs, options, shown)?;
            measured.if_stored(context)
        })
    });
    let piloted = found.transpose()?.map(|found| RunOptions {
        sustained: Some(found),
        ..how.clone()
    });
    let how = piloted.as_ref().unwrap_or(how);
    let (jobs, shown) = (placed_jobs, (progress, place));
    measure_on(context, store, opened, &mut arrays, jobs, how, shown)
}

/// [`measure`] for the only run of a command; `title` is the prefix of its progress line.
pub fn measure_alone(
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    placed_jobs: &[PlacedJob],
    how: &RunOptions,
    title: &str,
) -> Outcome<Measured> {
    let simulated = opened.iter().all(|one| one.simulated().is_some());
    let expected_ns = length_ns(placed_jobs);
    let progress = Progress::begin(context.observer(), simulated, expected_ns, "Measuring");
    let place = RunPlace {
        title,
        before_ns: 0,
        expected_ns,
        after_ns: Some(0),
    };
    measure(context, store, opened, placed_jobs, how, &progress, &place)
}

/// Makes the runs of a pilot and stores them, each as its own part.
///
/// # Errors
/// If one cannot be made or stored.
pub fn pilot_with(
    context: &Context,
    pilot: &mut LoadPilot,
    options: &RunOptions,
    run: &mut dyn FnMut(&PlacedJob, &RunOptions) -> Outcome<RunRecord>,
) -> Outcome<SustainedRecord> {
    let (id, part) = match &options.series {
        Some((id, part)) => (id.clone(), part.clone()),
        None => (context.new_id(&context.timestamp()), "run".to_owned()),
    };
    let options = RunOptions {
        series: Some((id, format!("{part}{PILOT}"))),
        latency_limit: None,
        experiment: None,
        request: Request {
            steady: Steady::No,
            simulated_operations_min: 0,
            operations_max_per_thread: None,
            interval_ns: PIECE_INTERVAL_NS,
            ..options.request.clone()
        },
        ..options.clone()
    };
    while context.signal().is_none()
        && let Some(piece) = pilot.next()
    {
        pilot.completed(&run(&piece, &options)?);
    }
    Ok(pilot.found())
}

/// The same, but simulated arrays keep the state that the previous run left.
pub fn measure_on(
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    arrays: &mut LivingArrays,
    placed_jobs: &[PlacedJob],
    how: &RunOptions,
    (progress, place): (&Progress<'_>, &RunPlace<'_>),
) -> Outcome<Measured> {
    let (jobs, settings) = prepare_run(context, opened, placed_jobs, how)?;
    let stop = AtomicU8::new(u8::from(context.signal().is_some()));
    let mut used = placed_jobs.iter().flat_map(|spec| &spec.targets);
    let simulated = used.any(|&target| opened[target].simulated().is_some());
    let when_full = match simulated {
        true => WhenFull::Wait,
        false => WhenFull::Join,
    };
    let writer =
        RunWriter::start(store, when_full).map_err(|error| no_thread("to keep results", &error))?;
    let mut keeper = Keeper::new(context, writer, &stop, progress, place)
        .with_companion(how.companion.as_deref(), simulated);
    let mut record = if simulated {
        arrays.run(&jobs, &settings, &mut keeper, &stop)
    } else {
        run_real(&jobs, &settings, &mut keeper, &stop)
    }?;
    keeper.allowed()?;
    if let (Some(verification), Some(checks)) = (&how.verified, &settings.checks) {
        verification.finish(context, opened, checks, &mut record)?;
    }
    if let Some(recordings) = &how.recordings {
        let loads = jobs.iter().zip(&mut record.jobs);
        loads
            .filter_map(|(job, record)| Some((job.recorded.as_deref()?, record)))
            .for_each(|(load, record)| recordings.judge(load, record));
        let mut replays = record
            .jobs
            .iter()
            .filter_map(|job| job.outcome.replay.as_deref());
        let fidelity = replays.find_map(|replay| replay.fidelity.clone());
        record.fidelity = fidelity.map(Box::new);
    }
    let stored = keeper.finish(&mut record);
    Ok(Measured { record, stored })
}

/// The jobs of a run, checked against their targets, and its settings.
pub fn prepare_run<'a>(
    context: &Context,
    opened: &'a [OpenTarget],
    placed_jobs: &[PlacedJob],
    how: &RunOptions,
) -> Outcome<(Vec<Job<'a>>, Settings)> {
    let jobs = jobs(opened, placed_jobs, how.recordings.as_deref())?;
    Ok((jobs, settings(context, opened, placed_jobs, how)?))
}

/// Runs jobs on simulated arrays, each rebuilt first.
pub fn simulate(
    opened: &[OpenTarget],
    jobs: &[Job<'_>],
    settings: &Settings,
    listener: &mut dyn Listener,
    stop: &AtomicU8,
) -> Result<RunRecord, Error> {
    living_arrays(opened).run(jobs, settings, listener, stop)
}

fn jobs<'a>(
    opened: &'a [OpenTarget],
    placed_jobs: &[PlacedJob],
    recordings: Option<&dyn Recordings>,
) -> Outcome<Vec<Job<'a>>> {
    placed_jobs
        .iter()
        .map(|spec| {
            let places = spec
                .targets
                .iter()
                .map(|&index| {
                    let target = &opened[index];
                    let array = opened[..index]
                        .iter()
                        .filter(|other| other.simulated().is_some())
                        .count();
                    let span = validate(&spec.workload, target.limits())?;
                    Ok((target.place(array), span))
                })
                .collect::<Outcome<Vec<_>>>()?;
            Ok(Job {
                name: spec.name.clone(),
                workload: spec.workload.clone(),
                places,
                recorded: recorded(opened, spec, recordings)?,
            })
        })
        .collect()
}

/// The operations of a recorded load.
fn recorded(
    opened: &[OpenTarget],
    spec: &PlacedJob,
    recordings: Option<&dyn Recordings>,
) -> Outcome<Option<Arc<RecordedLoad>>> {
    let Some(named) = &spec.workload.recorded else {
        return Ok(None);
    };
    let (Some(recordings), [target]) = (recordings, &spec.targets[..]) else {
        return Err(Failure::usage(
            format!(
                "the operations of {} are in its recording, which was not given",
                named.name
            ),
            "use `stripewise run TARGET --trace FILE` with the file that was replayed",
        ));
    };
    let load = recordings.load(&spec.workload, &opened[*target])?;
    Ok(Some(Arc::new(load)))
}

/// Checks a workload before its target is made or filled, as far as possible
/// at that point: by itself, and against the requested part of the target.
pub fn check_before(workload: &Workload, size_bytes: Option<u64>) -> Outcome<()> {
    check(workload)?;
    let size_bytes = workload.size_bytes.or(size_bytes);
    let limits = TargetLimits {
        size_bytes: size_bytes.map_or(u64::MAX, |size_bytes| {
            size_bytes.saturating_add(workload.base_offset_bytes)
        }),
        // The smallest logical sector of any target.
        logical_sector_bytes: 512,
    };
    validate(workload, limits).map(drop).map_err(Failure::from)
}

fn settings(
    context: &Context,
    opened: &[OpenTarget],
    placed_jobs: &[PlacedJob],
    how: &RunOptions,
) -> Outcome<Settings> {
    let started_at = context.timestamp();
    let request = &how.request;
    let mut used = placed_jobs.iter().flat_map(|spec| &spec.targets);
    let simulated = used.any(|&target| opened[target].simulated().is_some());
    let jobs = placed_jobs.iter().map(|spec| RequestJob {
        name: spec.name.clone(),
        targets: spec
            .targets
            .iter()
            .map(|&target| opened[target].full_name())
            .collect(),
        workload: spec.workload.clone(),
    });
    Ok(Settings {
        id: context.new_id(&started_at),
        started_at,
        label: request.label.clone(),
        command: context.command().to_vec(),
        request: Some(Box::new(request.of_run(jobs.collect()))),
        version: context.version().to_owned(),
        series: how.series.clone(),
        answer_block: how.answer_block,
        experiment: how.experiment.clone(),
        sustained: how.sustained,
        latency_limit: how.latency_limit.clone(),
        counting: how.counting.clone(),
        growing: how.growing.clone(),
        host: how.host.clone(),
        interval_ns: request.interval_ns,
        drain_limit_ns: DRAIN_LIMIT_NS,
        operations_min: match simulated {
            true => request.simulated_operations_min,
            false => 0,
        },
        operations_max_per_thread: request.operations_max_per_thread,
        engine: engine_of(request)?,
        cpus: placed(&request.cpus),
        cache_size_bytes: request.cache_size_bytes,
        quick: how.quick,
        time_hand_overs: how.time_hand_overs,
        own_cost_ns: how.own_cost_ns,
        earlier: how.earlier.clone(),
        skipped: how.skipped.clone(),
        faults: how.faults.clone(),
        checks: (how.verified.as_ref())
            .map(|verification| verification.checks(context, placed_jobs)),
    })
}

/// The processors of a request in the order in which threads get them: separate cores first,
/// as long as there are any. A list that is not a set, such as SQLIO's per-thread list, is
/// unchanged.
fn placed(cpus: &[u32]) -> Vec<u32> {
    match cpus.is_sorted_by(|one, next| one < next) && cpus.len() > 1 {
        true => System::live().host().cpu.cores_first(cpus),
        false => cpus.to_vec(),
    }
}

/// The engine that a request names.
pub fn engine_of(request: &Request) -> Outcome<EngineName> {
    engine_named(&request.engine)
}

/// An engine by its name.
///
/// # Errors
/// If there is no engine of that name.
pub fn engine_named(name: &str) -> Outcome<EngineName> {
    name.parse().map_err(|error: String| {
        Failure::usage(error, "engine is auto, uring, nvme, iocp, threads or null")
    })
}

/// The exit code for a finished run.
pub fn exit_of(context: &Context, records: &[RunRecord]) -> Exit {
    let verified = || {
        records
            .iter()
            .filter_map(|record| record.verification.as_ref())
    };
    if verified().any(|one| !one.faults.is_empty()) {
        return Exit::Finding;
    }
    if let Some(signal) = context.signal() {
        return Exit::Interrupted(signal);
    }
    if verified().any(|one| !one.errors.is_empty()) {
        return Exit::InputOutput;
    }
    let cut = Code::TargetChanged.as_str();
    let failed = records.iter().any(|record| {
        !crate::keep::is_whole(record)
            || record.jobs.iter().any(|job| {
                let mut warnings = job.warnings.iter();
                job.outcome.failures() > 0
                    || warnings.any(|one| one.code == cut && one.severity == Severity::Void)
            })
    });
    if failed {
        Exit::InputOutput
    } else {
        Exit::Done
    }
}
