//! From the switches of `run`, a plan file or a request file to the request that they
//! mean.

use crate::commands::advise::profile_of;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::switches::run::{BlockWord, LoadArguments, Run};
use std::path::Path;
use stripewise_campaign::steps::input::{PLAN_BYTES_MAX, read_text};
use stripewise_campaign::steps::measure::workload_failure;
use stripewise_units::{ByteSize, NameText, Nanoseconds};
use stripewise_workload::{
    BlockShare, BlockSizes, Plan, PlanError, PlanOrder, Request, RequestError, RequestJob,
    SIMULATED_OPERATIONS_MIN, Workload, WorkloadOptions, check_interval,
};

/// The request of a command line.
pub fn request_of(context: &Context, arguments: &Run) -> Outcome<Request> {
    if let Some(path) = &arguments.request {
        return of_file(context, path);
    }
    check_interval(arguments.how.interval.ns()).map_err(workload_failure)?;
    let request = match (&arguments.plan, &arguments.target) {
        (Some(path), _) => of_plan(context, arguments, path)?,
        (None, Some(_)) if arguments.how.alone => {
            return Err(Failure::usage(
                "--alone is about the jobs of a plan, and there is none",
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
        ..request
    })
}

/// A file that `--show-request` printed, or somebody wrote.
fn of_file(context: &Context, path: &Path) -> Outcome<Request> {
    let hint = "check the path given to --request";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    Request::from_json(&text).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &RequestError) -> Failure {
    Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
}

fn of_switches(arguments: &Run, target: &str) -> Outcome<Request> {
    let (load, how) = (&arguments.load, &arguments.how);
    let jobs = cells(load)?.into_iter().map(|cell| {
        let options = WorkloadOptions {
            duration: how.duration,
            ramp: how.ramp,
            ..cell
        };
        let workload = options
            .with_room_for_arrivals()
            .build(&Workload::default())
            .map_err(workload_failure)?;
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
        simulated_operations_min: match how.duration {
            None => SIMULATED_OPERATIONS_MIN,
            Some(_) => 0,
        },
        cache_by_name: load.cache.is_some(),
        load_by_number: !load.threads.is_empty() || !load.outstanding.is_empty(),
        ..Request::default()
    })
}

/// The cells of a profile at once.
fn of_profile(arguments: &Run, target: &str) -> Outcome<Request> {
    let how = &arguments.how;
    let (name, mix) = (arguments.profile.as_deref(), arguments.mix.as_deref());
    let mut request = profile_of(name, mix, cores())?.request(target);
    for job in &mut request.jobs {
        let times = &mut job.workload;
        times.duration_ns = how.duration.map_or(times.duration_ns, Nanoseconds::ns);
        times.ramp_ns = how.ramp.map_or(times.ramp_ns, Nanoseconds::ns);
    }
    if how.duration.is_some() {
        request.simulated_operations_min = 0;
    }
    Ok(Request {
        engine: engine(arguments).unwrap_or(request.engine),
        cpus: cpus(arguments).unwrap_or_default(),
        ..request
    })
}

/// Processors of this machine, which profiles count by.
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

/// Every combination of the switches that take lists: block sizes slowest, then
/// offsets, threads, outstanding.
fn cells(load: &LoadArguments) -> Outcome<Vec<WorkloadOptions>> {
    let base = WorkloadOptions {
        read: load.read,
        write: load.write,
        read_percent: load.read_percent,
        random: load.random,
        sequential: load.sequential,
        stride: load.stride,
        distribution: load.distribution,
        cursor: load.cursor,
        size: load.size,
        cache: load.cache,
        sync: load.sync,
        rate: load.rate,
        arrivals: load.arrivals,
        compressible: load.compressible,
        dedupable: load.dedupable,
        seed: load.seed,
        ..WorkloadOptions::default()
    };
    let mut cells = Vec::new();
    for (block, block_sizes) in blocks(&load.block)? {
        for base_offset in each(&load.base_offset) {
            for threads in each(&load.threads) {
                for outstanding in each(&load.outstanding) {
                    cells.push(WorkloadOptions {
                        block,
                        block_sizes: block_sizes.clone(),
                        base_offset,
                        threads,
                        outstanding,
                        ..base.clone()
                    });
                }
            }
        }
    }
    Ok(cells)
}

/// The sizes of a grid one by one, or one distribution of sizes.
fn blocks(words: &[BlockWord]) -> Outcome<Vec<(Option<ByteSize>, Option<BlockSizes>)>> {
    if words.iter().all(|word| word.percent.is_none()) {
        let sizes: Vec<ByteSize> = words.iter().map(|word| word.size).collect();
        return Ok(each(&sizes).into_iter().map(|size| (size, None)).collect());
    }
    let shares = words.iter().map(|word| {
        let size = word.size;
        let percent = word.percent.ok_or_else(|| {
            Failure::usage(
                format!("--block {size} has no share, and others have one"),
                "give every size a share, 100 in all (4K:60,64K:40), or none for a grid (4K,64K)",
            )
        })?;
        Ok(BlockShare {
            size_bytes: size.bytes(),
            percent,
        })
    });
    let sizes = BlockSizes::new(shares.collect::<Outcome<_>>()?).map_err(|error| {
        let hint = error.hint().to_owned();
        Failure::usage(format!("--block: {error}"), hint)
    })?;
    Ok(vec![(None, Some(sizes))])
}

/// Each value of a list; `None` once where it is empty.
fn each<T: Copy>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() {
        vec![None]
    } else {
        list.iter().copied().map(Some).collect()
    }
}

/// Switches that say what a job does belong into the plan when there is one.
fn refuse_beside_plan(arguments: &Run) -> Outcome<()> {
    let cells = cells(&arguments.load)?;
    let says_load = cells != [WorkloadOptions::default()];
    if says_load || arguments.how.duration.is_some() || arguments.how.ramp.is_some() {
        return Err(Failure::usage(
            "a switch of the workload is given beside --plan, which says what each job does",
            "write it into [defaults] of the plan, or leave it out",
        ));
    }
    Ok(())
}

fn of_plan(context: &Context, arguments: &Run, path: &Path) -> Outcome<Request> {
    refuse_beside_plan(arguments)?;
    let hint = "check the path given to --plan";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    let plan: Plan = text.parse().map_err(|error: PlanError| {
        Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
    })?;
    let request = plan
        .request(engine(arguments), cpus(arguments))
        .map_err(|error| {
            let hint = error.hint().to_owned();
            Failure::usage(error.to_string(), hint)
        })?;
    let order = match (request.order, arguments.how.alone) {
        (PlanOrder::Together, true) => PlanOrder::Both,
        (order, _) => order,
    };
    Ok(Request { order, ..request })
}
