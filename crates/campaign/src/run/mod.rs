//! Runs a request: one run, a grid, or the jobs of a plan.

mod like;
mod replay;

pub use like::{LikeOptions, crystaldiskmark, run_like_crystaldiskmark};
pub use replay::{Loop, ReplayOptions, replay};

use crate::steps::documents::check_names;
use crate::steps::verification::concurrent_verify::{self, RunVerifier};
use std::path::Path;
use std::rc::Rc;
pub use stripewise_conductor::conduct::ConductResult as RunResult;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{
    PlacedJob, RunOptions, RunVerification, check_before, engine_of, in_turn_ns, length_ns, measure,
};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::parallel::simulate_all;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::pilot::{announced, check_steady};
use stripewise_conductor::planned::PlannedRuns;
use stripewise_conductor::start::{Companion, places};
use stripewise_conductor::targets::{
    OpenTarget, judge_requirements, open_or_nothing, warn_of_one_pass,
};
use stripewise_disk_inspect::System;
use stripewise_io_engine::{EngineName, FaultPlan};
use stripewise_lab::compare::Requirement;
use stripewise_results::RunRecord;
use stripewise_runner::session::check_memory;
use stripewise_store::Store;
use stripewise_units::{counted, format_duration, is_sim_target};
use stripewise_workload::{Request, RequestPart, Steady, validate};

/// Parameters outside the request that do not affect the measurement.
#[derive(Clone, Debug, Default)]
pub struct RunExtras {
    /// Faults to inject between the program and real files, for tests.
    pub faults: Option<FaultPlan>,
    /// Other hosts that measure at the same time.
    pub companion: Option<Rc<dyn Companion>>,
}

/// Runs a request and stores its records.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn run(
    context: &Context,
    store: &mut Store,
    request: Request,
    permissions: &Permissions,
    extras: RunExtras,
) -> Outcome<RunResult> {
    let RunExtras { faults, companion } = extras;
    let mut planned = PlannedRuns::of(&request);
    let engine = engine_of(&request)?;
    // Some cells of a grid may be left out, but not all.
    let checked: Vec<Outcome<()>> = (planned.runs.iter().flatten())
        .map(|options| check_before(&options.workload, None))
        .collect();
    if checked.iter().all(Result::is_err) {
        checked.into_iter().collect::<Outcome<()>>()?;
    }
    check_clocks(&planned)?;
    check_steady(&planned.runs, &request)?;
    check_faults(faults.as_ref(), &planned, engine)?;
    check_cpus(&request.cpus)?;
    check_buffers(&planned, engine)?;
    if request.verify {
        concurrent_verify::check(&planned, engine)?;
    }
    if let Some(companion) = &companion {
        judge_all(context, store, permissions, &request, &planned)?;
        companion.checked(context, &places(&planned.targets), &plan_of(&request))?;
    }
    let mut opened = open_targets(context, store, permissions, &request, &planned)?;
    let simulated = opened.iter().any(|opened| opened.simulated().is_some());
    if !simulated && !request.steady.is_no() {
        context.plan(announced(request.steady == Steady::Quick, None));
    }
    for (index, opened) in opened.iter().enumerate() {
        let jobs = planned.runs.iter().flatten();
        let on_it = jobs.filter(|job| job.targets.contains(&index));
        warn_of_one_pass(context, opened, on_it.map(|job| &job.workload));
    }
    let skipped = leave_out_what_does_not_fit(context, &mut planned, &opened)?;
    let verified = match request.verify {
        true => {
            let id = context.free_id(store, &context.timestamp())?;
            let extras = RunVerifier::begin(context, &mut opened, &planned, &id, engine)?;
            Some(Rc::new(extras) as Rc<dyn RunVerification>)
        }
        false => None,
    };
    let how = RunOptions {
        skipped,
        verified,
        series: series_of(context, store, &request, planned.runs.len())?,
        faults,
        companion,
        ..RunOptions::of(context, request, simulated)
    };
    let mut records = Vec::new();
    let ended = run_all(context, store, &opened, &planned, &how, &mut records);
    for target in opened {
        target.finish_or_report(context);
    }
    Ok(RunResult { records, ended })
}

/// The requirements of a request, which contains them as typed.
///
/// # Errors
/// If one is invalid, or names no job of the request.
pub fn requirements(request: &Request) -> Outcome<Vec<Requirement>> {
    let each = request
        .requirements
        .iter()
        .map(|text| text.parse::<Requirement>().map_err(Failure::from));
    let required = each.collect::<Outcome<Vec<Requirement>>>()?;
    check_names(&required, request.jobs.iter().map(|job| job.name.as_str()))?;
    Ok(required)
}

/// Several runs of one command share an id, so that they can be shown,
/// compared and deleted together.
fn series_of(
    context: &Context,
    store: &Store,
    request: &Request,
    runs: usize,
) -> Outcome<Option<(String, String)>> {
    if runs < 2 {
        return Ok(None);
    }
    let part = match request.part {
        RequestPart::Plan => "plan",
        RequestPart::Grid if runs == request.repetitions as usize => "repeat",
        RequestPart::Grid => "grid",
    };
    let id = context.free_id(store, &context.timestamp())?;
    Ok(Some((id, part.to_owned())))
}

/// Refuses a mix of virtual and real time before a test file
/// is filled.
fn check_clocks(planned: &PlannedRuns) -> Outcome<()> {
    let of = |run: &Vec<PlacedJob>, simulated: bool| {
        let mut targets = run.iter().flat_map(|options| &options.targets);
        targets.any(|&target| is_sim_target(&planned.targets[target]) == simulated)
    };
    if planned
        .runs
        .iter()
        .any(|run| of(run, true) && of(run, false))
    {
        return Err(Failure::usage(
            "real and simulated targets cannot run at once: they have different clocks",
            "split them into two plan files, or run the jobs one after the other: run = \"alone\"",
        ));
    }
    Ok(())
}

/// Refuses processors that do not exist.
fn check_cpus(cpus: &[u32]) -> Outcome<()> {
    let Some(online) = System::live().host().cpu.count_online else {
        return Ok(());
    };
    match cpus.iter().find(|cpu| **cpu >= online) {
        None => Ok(()),
        Some(cpu) => Err(Failure::usage(
            format!("--cpus names processor {cpu}, and this machine has {online}, counted from 0"),
            format!(
                "give processors below {online}, such as 0 or 0-{}",
                online.saturating_sub(1)
            ),
        )),
    }
}

/// Faults can only be injected between the program and real files.
fn check_faults(
    faults: Option<&FaultPlan>,
    planned: &PlannedRuns,
    engine: EngineName,
) -> Outcome<()> {
    let simulated = planned.targets.iter().any(|target| is_sim_target(target));
    if faults.is_none() || !(simulated || engine == EngineName::Null) {
        return Ok(());
    }
    Err(Failure::usage(
        "--inject applies to operations on real files, and there are none here",
        "name a file or directory; simulated arrays have faults of their own, see `stripewise sim show NAME`",
    ))
}

/// Checks memory before a test file is filled.
fn check_buffers(planned: &PlannedRuns, engine: EngineName) -> Outcome<()> {
    if planned.targets.iter().all(|target| is_sim_target(target)) {
        return Ok(());
    }
    let available = System::live().host().memory.usable_bytes();
    for run in &planned.runs {
        let loads: Vec<_> = run
            .iter()
            .map(|options| (&options.workload, options.targets.len()))
            .collect();
        check_memory(engine, &loads, available)?;
    }
    Ok(())
}

/// Checks all targets before anything is done to the first of them.
fn judge_all(
    context: &Context,
    store: &Store,
    permissions: &Permissions,
    request: &Request,
    planned: &PlannedRuns,
) -> Outcome<()> {
    if engine_of(request)? == EngineName::Null {
        return Ok(());
    }
    let mut targets = planned.targets.iter().enumerate();
    targets.try_for_each(|(index, text)| {
        let need = need_of(request, planned, index);
        judge_requirements(context, store, text, &need, permissions)
    })
}

/// What all hosts must have in common: the request without target names and seeds.
fn plan_of(request: &Request) -> String {
    let mut request = request.clone();
    for job in &mut request.jobs {
        job.targets.iter_mut().for_each(String::clear);
        job.workload.seed = 0;
    }
    request.to_json()
}

fn open_targets(
    context: &Context,
    store: &mut Store,
    permissions: &Permissions,
    request: &Request,
    planned: &PlannedRuns,
) -> Outcome<Vec<OpenTarget>> {
    let targets = planned.targets.iter().enumerate();
    let opened = targets.map(|(index, text)| {
        let need = need_of(request, planned, index);
        open_or_nothing(context, store, text, &need, permissions)
    });
    opened.collect()
}

/// The requirements of all runs on one target.
fn need_of(request: &Request, planned: &PlannedRuns, target: usize) -> Needs {
    let of_runs = Needs::of(planned.runs.iter().map(Vec::as_slice), target);
    Needs {
        // Verification fills the test file made in a directory.
        writes: of_runs.writes || (request.verify && Path::new(&planned.targets[target]).is_dir()),
        outstanding_by_number: request.load_by_number,
        cache_by_name: request.cache_by_name,
        // Refuse an unknown name before anything is opened.
        engine: request.engine.parse().unwrap_or_default(),
        filled_by_caller: request.verify,
        ..of_runs
    }
}

/// Why no run may follow a verified one: it would overwrite the evidence.
fn ends_all(context: &Context, record: &RunRecord) -> Option<&'static str> {
    let verification = record.verification.as_ref()?;
    if !verification.faults.is_empty() {
        return Some("wrong data");
    }
    // What is on the disk was not read, however the run itself ended.
    let is_open = !verification.read_at_end && context.signal().is_none();
    is_open.then_some("what the run wrote could not be read again")
}

fn not_started(left: usize) -> String {
    format!(
        "{} not started",
        counted(left, "more run was", "more runs were")
    )
}

fn run_all(
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    planned: &PlannedRuns,
    how: &RunOptions,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    let simulated = opened.iter().all(|opened| opened.simulated().is_some());
    if simulated && planned.runs.len() > 1 && how.companion.is_none() {
        let runs = planned.runs.iter().map(|jobs| (jobs.as_slice(), how));
        let refused = simulate_all(context, store, opened, runs, records)?;
        return refused.map_or(Ok(()), Err);
    }
    let lengths: Vec<u64> = planned.runs.iter().map(|run| length_ns(run)).collect();
    let total_ns = in_turn_ns(lengths.iter().copied());
    let real = opened.iter().any(|opened| opened.simulated().is_none());
    if real && lengths.len() > 1 {
        context.plan(format!(
            "{} runs, {} in all",
            lengths.len(),
            format_duration(total_ns)
        ));
    }
    let progress = Progress::begin(context.observer(), !real, total_ns, "Measuring");
    let mut before_ns = 0;
    for (index, run) in planned.runs.iter().enumerate() {
        let title = match planned.runs.len() {
            1 => "Measuring".to_owned(),
            count => format!("Run {} of {count}", index + 1),
        };
        let after_ns = total_ns
            .saturating_sub(before_ns)
            .saturating_sub(lengths[index]);
        let place = RunPlace {
            title: &title,
            before_ns,
            expected_ns: lengths[index],
            after_ns: Some(after_ns),
        };
        // The last run of a grid judges all of it: caps show over block sizes.
        let last = index + 1 == planned.runs.len();
        let earlier = if last {
            records
                .iter()
                .flat_map(|run| run.jobs.iter().cloned())
                .collect()
        } else {
            Vec::new()
        };
        let how = RunOptions {
            earlier,
            ..how.clone()
        };
        let measured = measure(context, store, opened, run, &how, &progress, &place)?;
        records.push(measured.record);
        measured.stored?;
        let left = planned.runs.len() - index - 1;
        if let Some(why) = records.last().and_then(|record| ends_all(context, record)) {
            if left > 0 {
                context.note(format!("{why}; {}", not_started(left)));
            }
            break;
        }
        before_ns = before_ns.saturating_add(lengths[index]);
        if context.signal().is_some() {
            if left > 0 {
                context.note(format!("interrupted; {}", not_started(left)));
            }
            break;
        }
    }
    Ok(())
}

/// Checks every run against its targets before the first one starts. Cells of a
/// grid whose offset or block conflicts with the device's sector are skipped, and the
/// records of the others list them; anything else is an error.
fn leave_out_what_does_not_fit(
    context: &Context,
    planned: &mut PlannedRuns,
    opened: &[OpenTarget],
) -> Outcome<Vec<String>> {
    let grid = planned.runs.len() > 1;
    let mut skipped: Vec<String> = Vec::new();
    let mut stored = Vec::new();
    let mut first = None;
    for run in std::mem::take(&mut planned.runs) {
        let fits = run.iter().try_for_each(|options| {
            let mut targets = options.targets.iter().map(|&index| opened[index].limits());
            targets.try_for_each(|limits| validate(&options.workload, limits).map(drop))
        });
        match fits {
            Ok(()) => stored.push(run),
            Err(error) if grid && matches!(error.option(), "block" | "base-offset") => {
                let reason = format!("--{error}");
                if !skipped.contains(&reason) {
                    context.note(format!("left out: {reason}"));
                    skipped.push(reason);
                }
                first.get_or_insert(error);
            }
            Err(error) => return Err(Failure::from(error)),
        }
    }
    planned.runs = stored;
    match first {
        Some(error) if planned.runs.is_empty() => Err(Failure::from(error)),
        _ => Ok(skipped),
    }
}
