//! From open targets to the workers' shared state: regions, owners, maps, memory.

use super::{VerifyOptions, written_once};
use crate::steps::verification::worker_pool::WorkerSlot;
use crate::steps::verification::{check_memory, refuse_small_files};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_io_engine::{CAN_SCATTER, PIECE_BYTES};
use stripewise_lab::profiles::{ProfileRow, profile};
use stripewise_targets::Target;
use stripewise_units::{counted, format_bytes, format_duration};
use stripewise_verify::{Load, Plan, Role, TooSmall, VerifyTargets, Worker, WorkerSet};
use stripewise_workload::Pattern;

/// The workers, and their shared state.
pub(super) struct Workers {
    pub verify_targets: Arc<VerifyTargets>,
    pub slots: Vec<WorkerSlot>,
}

/// The smallest sector size.
const SECTOR_BYTES_MIN: u32 = 512;

/// Refuses options that suit no target, before a test file is made.
pub(super) fn check(options: &VerifyOptions) -> Outcome<()> {
    let plan = plan(options)?;
    // What suits no machine is refused first.
    if let Some(bytes) = options.size_bytes {
        refuse_small_files(&options.targets, bytes)?;
        (plan.fits(bytes, SECTOR_BYTES_MIN)).map_err(|small| {
            let what = format!("--size {}", format_bytes(bytes));
            too_small(&what, small, &plan)
        })?;
    }
    let each = plan.buffer_bytes();
    check_memory(
        each.saturating_mul(options.targets.len() as u64),
        "give fewer --threads or a smaller --outstanding",
    )
}

fn too_small(what: &str, small: TooSmall, plan: &Plan) -> Failure {
    Failure::usage(
        format!(
            "{what} is too little for pages of {} for {}",
            format_bytes(u64::from(small.page_bytes)),
            counted(plan.loads.len(), "thread", "threads")
        ),
        "give a larger --size, or fewer --threads",
    )
}

/// Distributes the targets among workers. `epoch_ns`: nanoseconds since 1970 at 0 of the
/// workers' clock.
pub(super) fn build_workers(
    targets: &[Target],
    options: &VerifyOptions,
    run: u64,
    epoch_ns: u64,
) -> Outcome<Workers> {
    let plan = plan(options)?;
    if !options.capacity {
        let each = targets.iter().map(|target| {
            let map = plan_on(&plan, target)
                .map_bytes(target.size_bytes(), target.logical_sector_bytes());
            // A target that is too small is refused below, by name.
            map.unwrap_or(0) + plan.buffer_bytes()
        });
        check_memory(
            each.sum(),
            "give a smaller --size; `--capacity` needs no map",
        )?;
    }
    let mut worker_set = WorkerSet::new(options.seed ^ run);
    let mut layouts = Vec::new();
    for (number, target) in (0..).zip(targets) {
        let (size_bytes, sector_bytes) = (target.size_bytes(), target.logical_sector_bytes());
        layouts.push(match options.capacity {
            true => worker_set.whole(number, size_bytes, sector_bytes, options.outstanding),
            false => {
                let layout =
                    worker_set.layout(number, size_bytes, sector_bytes, &plan_on(&plan, target));
                layout.map_err(|small| {
                    let has = format_bytes(size_bytes);
                    let what = format!("{} has {has}, which", target.facts().name);
                    too_small(&what, small, &plan)
                })?
            }
        });
    }
    let workers = u16::try_from(worker_set.all.len()).map_err(|_| {
        Failure::usage(
            "these are too many workers",
            "give fewer targets or --threads",
        )
    })?;
    let verify_targets = Arc::new(VerifyTargets::new(run, layouts, epoch_ns, workers));
    let slots = worker_set.all.into_iter().map(|identity| {
        let target = usize::from(identity.target);
        let grows = matches!(identity.role, Role::Grows { .. });
        let mut slot = WorkerSlot::new(Worker::new(Arc::clone(&verify_targets), identity), target);
        slot.resizer = grows.then(|| targets[target].resizer()).flatten();
        let sector_bytes = targets[target].logical_sector_bytes() as usize;
        slot.scatters = CAN_SCATTER
            && sector_bytes <= PIECE_BYTES
            && matches!(identity.role, Role::Pages { gathers: true, .. });
        slot
    });
    Ok(Workers {
        slots: slots.collect(),
        verify_targets,
    })
}

/// The plan of a burn-in for a target of this size, without a target.
///
/// # Errors
/// If the size is too small.
pub fn plan_of_size(options: &VerifyOptions, size_bytes: u64) -> Outcome<VerifyPlan> {
    let plan = plan(options)?;
    let map_bytes = plan.map_bytes(size_bytes, SECTOR_BYTES_MIN);
    Ok(VerifyPlan {
        size_bytes,
        duration_ns: options.duration_ns,
        map_bytes: map_bytes.map_err(|small| {
            let what = format!("--size {}", format_bytes(size_bytes));
            too_small(&what, small, &plan)
        })?,
        buffer_bytes: plan.buffer_bytes(),
    })
}

/// The plan of `verify --plan` for a target that need not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifyPlan {
    /// Bytes that are written once and read once more, besides the work between.
    pub size_bytes: u64,
    /// How long it works between the two passes.
    pub duration_ns: u64,
    /// Memory for what each block must hold.
    pub map_bytes: u64,
    /// Memory of the buffers.
    pub buffer_bytes: u64,
}

impl VerifyPlan {
    /// Estimated duration of each of the two passes: the disk's rate is unknown; at 1 GB/s, a byte
    /// takes a nanosecond.
    fn pass_ns(&self) -> u64 {
        self.size_bytes
    }

    /// In one line.
    pub fn line(&self) -> String {
        format!(
            "{}: {} of memory; two passes, each of {} at 1 GB/s, and {} of work",
            format_bytes(self.size_bytes),
            format_bytes(self.map_bytes + self.buffer_bytes),
            format_duration(self.pass_ns()),
            format_duration(self.duration_ns),
        )
    }

    /// Text for people.
    pub fn text(&self) -> String {
        format!(
            "{}\nMemory: {} for what each block must hold, {} of buffers\n\
             Time: {} of work, and two passes over all of it, each of {} at 1 GB/s\n",
            written_once(self.size_bytes, self.duration_ns),
            format_bytes(self.map_bytes),
            format_bytes(self.buffer_bytes),
            format_duration(self.duration_ns),
            format_duration(self.pass_ns()),
        )
    }
}

/// The run's own files also grow and shrink, as SQL Server's do.
fn plan_on(plan: &Plan, target: &Target) -> Plan {
    Plan {
        grows: plan.log && target.resizer().is_some(),
        ..plan.clone()
    }
}

/// SQL Server's kinds of I/O, or those of a profile.
fn plan(options: &VerifyOptions) -> Outcome<Plan> {
    let Some(name) = &options.profile else {
        let read_percent = u32::from(options.read_percent);
        return Ok(Plan::of_pages(
            options.threads,
            options.outstanding,
            read_percent,
        ));
    };
    let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let profile = profile(name, cores)?;
    let smallest = profile.rows.iter().map(|row| row.workload.block_size_bytes);
    let page_bytes = Plan::page_of(smallest.min().unwrap_or(1));
    Ok(Plan {
        page_bytes,
        loads: profile.rows.iter().flat_map(loads_of).collect(),
        log: false,
        scan: true,
        grows: false,
    })
}

/// The threads of one cell of a profile.
fn loads_of(row: &ProfileRow) -> Vec<Load> {
    let workload = &row.workload;
    let role = Role::Uniform {
        read_percent: u32::from(workload.read_percent),
        length_bytes: u32::try_from(workload.block_size_bytes).unwrap_or(u32::MAX),
        sequential: matches!(workload.pattern, Pattern::Sequential { .. }),
        durable: workload.is_write_durable() || workload.sync.is_some(),
    };
    let outstanding = workload.outstanding.max(1);
    vec![Load { role, outstanding }; workload.threads.max(1) as usize]
}
