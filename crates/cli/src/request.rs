//! Builds the request from the switches of `run`, a plan file or a request
//! file.

use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::switches::run::{LoopName, Run};
use std::path::Path;
use stripewise_campaign::run::{Loop, ReplayOptions};
use stripewise_conductor::input::{PLAN_BYTES_MAX, read_text};
use stripewise_lab::profiles::{Profile, mix, profile};
use stripewise_units::{ByteSize, InputError, NameText, Nanoseconds};
use stripewise_workload::{
    Plan, PlanError, PlanOrder, Request, RequestJob, SIMULATED_OPERATIONS_MIN, Steady, Workload,
    check_interval,
};

/// The request of a command line.
pub fn request_of(context: &Context, arguments: &Run) -> Outcome<Request> {
    if let Some(path) = &arguments.request {
        return of_file(context, path);
    }
    check_interval(arguments.how.interval.ns())?;
    let request = match (&arguments.plan, &arguments.target) {
        (Some(path), _) => of_plan(context, arguments, path)?,
        (None, Some(_)) if arguments.how.alone => {
            return Err(Failure::usage(
                "--alone applies to the jobs of a plan, and there is no plan",
                "leave it out, or give the jobs with --plan FILE.toml",
            ));
        }
        (None, Some(target)) if arguments.profile.is_some() || arguments.mix.is_some() => {
            of_profile(arguments, target)?
        }
        (None, Some(target)) => of_switches(arguments, target)?,
        (None, None) => {
            return Err(Failure::usage(
                "no target is named",
                "name a directory, a file, a block device or sim:NAME",
            ));
        }
    };
    let how = &arguments.how;
    Ok(Request {
        label: how.label.clone().or(request.label),
        repetitions: how.repeat,
        interval_ns: how.interval.ns(),
        cache_size_bytes: how.cache_size.map(ByteSize::bytes),
        requirements: how.require.iter().map(ToString::to_string).collect(),
        verify: how.verify,
        steady: match how.steady {
            true => Steady::Thorough,
            false => Steady::No,
        },
        ..request
    })
}

/// A file that `--show-request` printed, or written by hand.
fn of_file(context: &Context, path: &Path) -> Outcome<Request> {
    let hint = "check the path given to --request";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    Request::from_json(&text).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &InputError) -> Failure {
    Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
}

fn of_switches(arguments: &Run, target: &str) -> Outcome<Request> {
    let load = &arguments.load;
    // A host of several may have several targets.
    if load.says("in-turn") && !target.contains('{') {
        return Err(Failure::usage(
            "--in-turn goes round several targets, and one is named",
            "leave it out, or name them in a plan: target = [\"...\", \"...\"]",
        ));
    }
    let cells = load.cells()?;
    let jobs = cells.into_iter().map(|options| {
        let workload = options
            .with_room_for_arrivals()
            .build(&Workload::default())?;
        Ok(RequestJob {
            name: "job".to_owned(),
            targets: vec![target.to_owned()],
            workload,
        })
    });
    Ok(Request {
        jobs: jobs.collect::<Outcome<_>>()?,
        order: PlanOrder::Alone,
        engine: engine(arguments).unwrap_or(Request::default().engine),
        cpus: cpus(arguments).unwrap_or_default(),
        simulated_operations_min: match load.says("duration") {
            false => SIMULATED_OPERATIONS_MIN,
            true => 0,
        },
        cache_by_name: load.says("cache"),
        load_by_number: load.says("threads") || load.says("outstanding"),
        ..Request::default()
    })
}

/// The workload options that a recorded load allows.
const OF_RECORDED: [&str; 7] = [
    "duration",
    "size",
    "outstanding",
    "cache",
    "compressible",
    "dedupable",
    "seed",
];

/// The trace to replay, and how.
pub fn replay_of(arguments: &Run, trace: &Path) -> Outcome<ReplayOptions> {
    let (load, how, replay) = (&arguments.load, &arguments.how, &arguments.replay);
    check_interval(how.interval.ns())?;
    let given = |is_given: bool, name: &'static str| is_given.then_some(name);
    let others = load
        .others(&OF_RECORDED)
        .chain(given(how.repeat != 1, "repeat"));
    let mut others = others
        .chain(given(how.alone, "alone"))
        .chain(given(how.steady, "steady"))
        .chain(given(how.verify, "verify"));
    if let Some(name) = others.next() {
        return Err(Failure::usage(
            format!("--{name} cannot be combined with --trace, which says what is done"),
            format!(
                "leave it out; with a trace you may give --{}",
                OF_RECORDED.join(", --")
            ),
        ));
    }
    let cells = load.cells()?;
    let [options] = &cells[..] else {
        return Err(Failure::usage(
            "a list of values means several runs, and a trace is one",
            "give one value of each option",
        ));
    };
    let base = options.clone().build(&Workload::default())?;
    Ok(ReplayOptions {
        target: arguments.target.clone().unwrap_or_default(),
        trace: trace.to_owned(),
        columns: replay.columns.clone(),
        speed: replay.speed,
        copies: replay.copies,
        idle_ns_max: replay.idle_max.map(Nanoseconds::ns),
        closed_loop: match replay.closed_loop {
            LoopName::Auto => Loop::Auto,
            LoopName::Open => Loop::Open,
            LoopName::Closed => Loop::Closed,
        },
        duration_ns: load.times()[0].map(Nanoseconds::ns),
        base,
        request: Request {
            label: how.label.clone(),
            interval_ns: how.interval.ns(),
            engine: engine(arguments).unwrap_or(Request::default().engine),
            cpus: cpus(arguments).unwrap_or_default(),
            cache_size_bytes: how.cache_size.map(ByteSize::bytes),
            requirements: how.require.iter().map(ToString::to_string).collect(),
            cache_by_name: load.says("cache"),
            load_by_number: load.says("outstanding"),
            jobs: vec![RequestJob {
                name: "replay".to_owned(),
                targets: arguments.target.iter().cloned().collect(),
                workload: Workload::default(),
            }],
            ..Request::default()
        },
    })
}

/// The cells of a profile as concurrent jobs.
fn of_profile(arguments: &Run, target: &str) -> Outcome<Request> {
    let (name, mix) = (arguments.profile.as_deref(), arguments.mix.as_deref());
    let mut request = profile_of(name, mix, cores())?.request(target);
    let [duration, ramp] = arguments.load.times();
    for job in &mut request.jobs {
        let times = &mut job.workload;
        times.duration_ns = duration.map_or(times.duration_ns, Nanoseconds::ns);
        times.ramp_ns = ramp.map_or(times.ramp_ns, Nanoseconds::ns);
    }
    if duration.is_some() {
        request.simulated_operations_min = 0;
    }
    Ok(Request {
        engine: engine(arguments).unwrap_or(request.engine),
        cpus: cpus(arguments).unwrap_or_default(),
        ..request
    })
}

/// Number of processors of this machine, by which profiles scale.
fn cores() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cores).unwrap_or(1)
}

fn engine(arguments: &Run) -> Option<String> {
    arguments.how.engine.map(|engine| engine.to_string())
}

fn cpus(arguments: &Run) -> Option<Vec<u32>> {
    let list = arguments.how.cpus.as_ref();
    list.map(|list| list.cpus().to_vec())
}

/// Refuses switches about a job next to a plan, which defines it.
fn refuse_with_plan(arguments: &Run) -> Outcome<()> {
    if arguments.load.is_given() {
        return Err(Failure::usage(
            "a workload switch was given with --plan, which defines what each job does",
            "write it into [defaults] of the plan, or leave it out",
        ));
    }
    Ok(())
}

fn of_plan(context: &Context, arguments: &Run, path: &Path) -> Outcome<Request> {
    refuse_with_plan(arguments)?;
    let hint = "check the path given to --plan";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    let plan: Plan = text.parse().map_err(|error: PlanError| {
        Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
    })?;
    let request = plan.request(engine(arguments), cpus(arguments))?;
    let order = match (request.order, arguments.how.alone) {
        (PlanOrder::Together, true) => PlanOrder::Both,
        (order, _) => order,
    };
    Ok(Request { order, ..request })
}

/// The profile of this name, or the mix.
pub fn profile_of(name: Option<&str>, parts: Option<&str>, cores: u32) -> Outcome<Profile> {
    let found = match (name, parts) {
        (_, Some(parts)) => mix(parts, cores),
        (name, None) => profile(name.unwrap_or_default(), cores),
    };
    found.map_err(Failure::from)
}
