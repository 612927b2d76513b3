//! Experiments on simulated arrays, through the same session, records and analysis as any other: no
//! shortcuts, and no assumed distributions.

use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::{Array, ArraySpec, Simulate};
use stripewise_lab::experiment::{
    Continuation, Experiment, ExperimentPlan, ExperimentRunner, PlannedRun, Progress, conduct,
};
use stripewise_results::{Counting, HostFacts, Interval, RunRecord, TargetFacts, TargetKind};
use stripewise_runner::session::{Job, JobTarget, Listener, Settings, run_simulated};
use stripewise_runner::{IntervalSummary, LivingArrays};
use stripewise_workload::{RecordedLoad, TargetLimits, Workload, validate};

/// Makes runs on arrays: one specification for each level, rebuilt for every run with the
/// experiment's age, so that drift continues from run to run.
pub struct Simulated {
    arrays: Vec<ArraySpec>,
    elapsed_ns: u64,
}

impl Simulated {
    /// `arrays` belong to the plan's levels; if there are fewer, the last serves the rest.
    pub fn new(arrays: Vec<ArraySpec>) -> Self {
        Simulated {
            arrays,
            elapsed_ns: 0,
        }
    }

    fn spec(&self, level: usize) -> ArraySpec {
        let known = level.min(self.arrays.len() - 1);
        ArraySpec {
            age_ns: self.elapsed_ns,
            ..self.arrays[known].clone()
        }
    }
}

impl ExperimentRunner for Simulated {
    type Error = anyhow::Error;

    fn run_cell(&mut self, run: &PlannedRun) -> Result<RunRecord> {
        let mut record = measure(&self.spec(run.level), &run.workload)?;
        self.elapsed_ns += run.workload.ramp_ns + run.workload.duration_ns;
        record.experiment = Some(run.place.clone());
        Ok(record)
    }

    fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    fn after_block(&mut self, _progress: &Progress<'_>) -> Result<Continuation> {
        Ok(Continuation::On)
    }
}

/// Runs a whole experiment.
pub fn experiment(plan: &ExperimentPlan, arrays: Vec<ArraySpec>) -> Result<Experiment> {
    let mut runner = Simulated::new(arrays);
    conduct(plan, "truth", Vec::new(), &mut runner).map_err(|failed| failed.1)
}

/// One run.
pub fn measure(spec: &ArraySpec, workload: &Workload) -> Result<RunRecord> {
    run(spec, workload, None, &settings())
}

/// One run until this many operations are measured.
pub fn measure_until(spec: &ArraySpec, workload: &Workload, operations: u64) -> Result<RunRecord> {
    let settings = Settings {
        operations_min: operations,
        ..settings()
    };
    run(spec, workload, None, &settings)
}

/// One run of a recorded load, counting operations beyond a limit.
pub fn measure_recorded(
    spec: &ArraySpec,
    workload: &Workload,
    load: RecordedLoad,
    limit_ns: u64,
) -> Result<RunRecord> {
    let settings = Settings {
        counting: vec![Counting::transfers(vec![limit_ns])],
        ..settings()
    };
    run(spec, workload, Some(Arc::new(load)), &settings)
}

/// One run on persistent arrays, one of this size, until this many operations are measured.
pub fn measure_on(
    arrays: &mut LivingArrays,
    size_bytes: u64,
    workload: &Workload,
    operations: u64,
) -> Result<RunRecord> {
    let limits = TargetLimits {
        size_bytes,
        logical_sector_bytes: 512,
    };
    let settings = Settings {
        operations_min: operations,
        ..settings()
    };
    let jobs = [job(workload, limits, None)?];
    arrays
        .run(&jobs, &settings, &mut NullObserver, &AtomicU8::new(0))
        .context("a simulated run failed")
}

fn run(
    spec: &ArraySpec,
    workload: &Workload,
    recorded: Option<Arc<RecordedLoad>>,
    settings: &Settings,
) -> Result<RunRecord> {
    let mut array: Array = spec.build();
    let limits = TargetLimits {
        size_bytes: array.size_bytes(),
        logical_sector_bytes: array.sector_bytes(),
    };
    let jobs = [job(workload, limits, recorded)?];
    let arrays = std::slice::from_mut(&mut array);
    run_simulated(
        &jobs,
        arrays,
        settings,
        &mut NullObserver,
        &AtomicU8::new(0),
    )
    .context("a simulated run failed")
}

fn job(
    workload: &Workload,
    limits: TargetLimits,
    recorded: Option<Arc<RecordedLoad>>,
) -> Result<Job<'static>> {
    let span = validate(workload, limits)?;
    let place = JobTarget::Simulated {
        facts: Box::new(facts(limits)),
        array: 0,
    };
    Ok(Job {
        name: "job".to_owned(),
        workload: workload.clone(),
        places: vec![(place, span)],
        recorded,
    })
}

fn facts(limits: TargetLimits) -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Simulated,
        name: "sim:truth".to_owned(),
        path: None,
        size_bytes: limits.size_bytes,
        partition_offset_bytes: None,
        logical_sector_bytes: limits.logical_sector_bytes,
        physical_sector_bytes: None,
        file_system: None,
        device: None,
        simulation: None,
    }
}

fn settings() -> Settings {
    Settings {
        id: "truth".to_owned(),
        started_at: String::new(),
        label: None,
        command: Vec::new(),
        request: None,
        version: String::new(),
        series: None,
        answer_block: None,
        sustained: None,
        experiment: None,
        latency_limit: None,
        host: HostFacts::default(),
        interval_ns: 1_000_000_000,
        drain_limit_ns: 30_000_000_000,
        operations_min: 0,
        operations_max_per_thread: None,
        engine: "null".parse().unwrap_or_default(),
        cpus: Vec::new(),
        cache_size_bytes: None,
        time_hand_overs: false,
        counting: Vec::new(),
        growing: Vec::new(),
        quick: false,
        own_cost_ns: None,
        earlier: Vec::new(),
        skipped: Vec::new(),
        faults: None,
        checks: None,
    }
}

/// These runs are neither stored nor displayed.
struct NullObserver;

impl Listener for NullObserver {
    fn begin(&mut self, _skeleton: &RunRecord) {}
    fn interval(&mut self, _summary: &IntervalSummary, _intervals: &[Interval]) {}
    fn measured(&mut self, _record: &RunRecord) {}
    fn tick(&mut self, _now_ns: u64) {}
}
