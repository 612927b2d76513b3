//! From the switches of `run`, or a plan file, to the runs that they mean: a
//! list of runs, each one or more jobs at once.

use crate::cli::run::{LoadArguments, Run};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::{PLAN_BYTES_MAX, read_text};
use crate::measure::{JobWish, workload_failure};
use stripewise_io_engine::EngineName;
use stripewise_units::{ByteSize, NameText, path_of};
use stripewise_workload::{Plan, PlanJob, PlanOrder, Workload, WorkloadOptions, derived_seed};

/// Everything that one `run` command does.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    pub targets: Vec<String>,
    /// In order; jobs of one run go at once.
    pub runs: Vec<Vec<JobWish>>,
    pub engine: Option<EngineName>,
    pub cpus: Vec<u32>,
    pub label: Option<String>,
    /// The duration was given, not defaulted.
    pub duration_given: bool,
    /// The cache mode was given, not defaulted.
    pub cache_given: bool,
    /// Threads or outstanding were given by number.
    pub load_given: bool,
}

/// The runs of a command line.
pub fn wishes(context: &Context, arguments: &Run) -> Outcome<Wishes> {
    match (&arguments.plan, &arguments.target) {
        (Some(path), _) => of_plan(context, arguments, path),
        (None, Some(_)) if arguments.how.alone => Err(Failure::usage(
            "--alone is about the jobs of a plan, and there is none",
            "leave it out, or give the jobs with --plan FILE.toml",
        )),
        (None, Some(target)) => of_switches(arguments, target),
        (None, None) => Err(Failure::usage(
            "no target is named",
            "name a directory, a file, a block device or sim:NAME",
        )),
    }
}

fn of_switches(arguments: &Run, target: &str) -> Outcome<Wishes> {
    let load = &arguments.load;
    let mut wishes = Wishes {
        targets: vec![target.to_owned()],
        engine: arguments.how.engine,
        cpus: arguments
            .how
            .cpus
            .as_ref()
            .map(|list| list.cpus().to_vec())
            .unwrap_or_default(),
        label: arguments.how.label.clone(),
        duration_given: arguments.how.duration.is_some(),
        cache_given: load.cache.is_some(),
        load_given: !load.threads.is_empty() || !load.outstanding.is_empty(),
        ..Wishes::default()
    };
    let cells = cells(load);
    for repetition in 0..u64::from(arguments.how.repeat) {
        for cell in &cells {
            let options = WorkloadOptions {
                duration: arguments.how.duration,
                ramp: arguments.how.ramp,
                ..cell.clone()
            };
            let mut workload = with_room_for_arrivals(options)
                .build(&Workload::default())
                .map_err(workload_failure)?;
            // A repetition draws anew; the first one has the seed that was given.
            workload.seed = derived_seed(workload.seed, repetition);
            wishes.runs.push(vec![JobWish {
                name: "job".to_owned(),
                targets: vec![0],
                workload,
            }]);
        }
    }
    Ok(wishes)
}

/// Every combination of the switches that take lists: block sizes slowest, then
/// offsets, threads, outstanding.
fn cells(load: &LoadArguments) -> Vec<WorkloadOptions> {
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
    for block in each(&load.block) {
        for base_offset in each(&load.base_offset) {
            for threads in each(&load.threads) {
                for outstanding in each(&load.outstanding) {
                    cells.push(WorkloadOptions {
                        block,
                        base_offset,
                        threads,
                        outstanding,
                        ..base.clone()
                    });
                }
            }
        }
    }
    cells
}

/// Each value of a list; `None` once where it is empty.
fn each<T: Copy>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() {
        vec![None]
    } else {
        list.iter().copied().map(Some).collect()
    }
}

/// Operations that an open loop may have in flight over all threads where no
/// number is given: with few, arrivals would wait for one another and not for
/// the disk alone.
const OPEN_LOOP_IN_FLIGHT: u32 = 256;

/// An open loop without a number of outstanding gets enough of them.
fn with_room_for_arrivals(options: WorkloadOptions) -> WorkloadOptions {
    if options.rate.is_none() || options.outstanding.is_some() {
        return options;
    }
    let threads = options.threads.unwrap_or(1).max(1);
    WorkloadOptions {
        outstanding: Some((OPEN_LOOP_IN_FLIGHT / threads).max(1)),
        ..options
    }
}

/// Switches that say what a job does belong into the plan when there is one.
fn refuse_beside_plan(arguments: &Run) -> Outcome<()> {
    let cells = cells(&arguments.load);
    let says_load = cells != [WorkloadOptions::default()];
    if says_load || arguments.how.duration.is_some() || arguments.how.ramp.is_some() {
        return Err(Failure::usage(
            "a switch of the workload is given beside --plan, which says what each job does",
            "write it into [defaults] of the plan, or leave it out",
        ));
    }
    Ok(())
}

fn of_plan(context: &Context, arguments: &Run, path: &std::path::Path) -> Outcome<Wishes> {
    refuse_beside_plan(arguments)?;
    let hint = "check the path given to --plan";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    let plan: Plan = text
        .parse()
        .map_err(|error: stripewise_workload::PlanError| {
            Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
        })?;
    let mut wishes = Wishes {
        engine: engine_of(arguments, &plan)?,
        cpus: cpus_of(arguments, &plan)?,
        label: arguments.how.label.clone().or(plan.label),
        duration_given: plan.jobs.iter().any(|job| job.options.duration.is_some()),
        cache_given: plan.jobs.iter().any(|job| job.options.cache.is_some()),
        load_given: plan
            .jobs
            .iter()
            .any(|job| job.options.threads.is_some() || job.options.outstanding.is_some()),
        ..Wishes::default()
    };
    let jobs: Vec<JobWish> = plan
        .jobs
        .iter()
        .map(|job| wish_of(job, &mut wishes.targets))
        .collect();
    for repetition in 0..u64::from(arguments.how.repeat) {
        let jobs: Vec<JobWish> = jobs
            .iter()
            .map(|wish| {
                let seed = derived_seed(wish.workload.seed, repetition);
                let workload = Workload {
                    seed,
                    ..wish.workload.clone()
                };
                JobWish {
                    workload,
                    ..wish.clone()
                }
            })
            .collect();
        if plan.order != PlanOrder::Together || arguments.how.alone {
            wishes.runs.extend(jobs.iter().map(|job| vec![job.clone()]));
        }
        if plan.order != PlanOrder::Alone {
            wishes.runs.push(jobs.clone());
        }
    }
    Ok(wishes)
}

/// A directory gives each job a test file of its own; anything else that several
/// jobs name is one target that they share.
fn wish_of(job: &PlanJob, targets: &mut Vec<String>) -> JobWish {
    let indices = job
        .targets
        .iter()
        .map(|text| {
            let shared = !path_of(text).is_dir();
            let known = targets.iter().position(|known| shared && known == text);
            known.unwrap_or_else(|| {
                targets.push(text.clone());
                targets.len() - 1
            })
        })
        .collect();
    JobWish {
        name: job.name.clone(),
        targets: indices,
        workload: plan_workload(job),
    }
}

/// As [`with_room_for_arrivals`], for a job of a plan.
fn plan_workload(job: &PlanJob) -> Workload {
    let mut workload = job.workload.clone();
    if workload.rate.is_some() && job.options.outstanding.is_none() {
        workload.outstanding = (OPEN_LOOP_IN_FLIGHT / workload.threads.max(1)).max(1);
    }
    workload
}

/// Jobs that run at once run on one engine.
fn engine_of(arguments: &Run, plan: &Plan) -> Outcome<Option<EngineName>> {
    let mut named: Vec<&str> = plan
        .jobs
        .iter()
        .filter_map(|job| job.engine.as_deref())
        .collect();
    named.sort_unstable();
    named.dedup();
    match (arguments.how.engine, named.as_slice()) {
        (Some(engine), _) => Ok(Some(engine)),
        (None, []) => Ok(None),
        (None, [one]) => one
            .parse()
            .map(Some)
            .map_err(|error| Failure::usage(error, "engine is auto, uring, iocp, threads or null")),
        (None, several) => Err(Failure::usage(
            format!(
                "the jobs of the plan ask for different engines: {}",
                several.join(", ")
            ),
            "jobs that run at once run on one engine; give --engine, or run them from two plans",
        )),
    }
}

/// Processors are dealt out to all threads of a run in turn.
fn cpus_of(arguments: &Run, plan: &Plan) -> Outcome<Vec<u32>> {
    if let Some(list) = &arguments.how.cpus {
        return Ok(list.cpus().to_vec());
    }
    let mut lists: Vec<&[u32]> = plan
        .jobs
        .iter()
        .filter_map(|job| job.cpus.as_ref().map(|list| list.cpus()))
        .collect();
    lists.dedup();
    match lists.as_slice() {
        [] => Ok(Vec::new()),
        [one] => Ok(one.to_vec()),
        _ => Err(Failure::usage(
            "the jobs of the plan ask for different processors",
            "give one list for all of them, in [defaults] or with --cpus",
        )),
    }
}

/// What all runs together need of one target: the farthest byte.
pub fn span_needed(runs: &[Vec<JobWish>], target: usize) -> Option<ByteSize> {
    let uses = runs
        .iter()
        .flatten()
        .filter(|wish| wish.targets.contains(&target));
    uses.filter_map(|wish| {
        wish.workload
            .size_bytes
            .map(|size| size.saturating_add(wish.workload.base_offset_bytes))
    })
    .max()
    .map(ByteSize)
}
