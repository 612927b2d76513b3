//! Which loads have a pilot before their runs: those that write to what may absorb them.

use crate::failure::{Failure, Outcome};
use crate::simulated::Simulated;
use crate::targets::OpenTarget;
use stripewise_results::SustainedRecord;
use stripewise_stats::PilotPlan;
use stripewise_studies::{LoadPilot, PlacedJob};
use stripewise_units::{ByteSize, format_duration};
use stripewise_workload::{Request, Steady};

/// A span of so many operations is long enough to agree with another.
const SPAN_OPERATIONS: u64 = 20_000;
/// A pilot writes so often at most: every run has to write as often again before it
/// measures.
const PILOT_OPERATIONS_MAX: u64 = 5_000_000;
/// Where that cannot reach a sustained rate, this shows what there is instead.
const PILOT_OPERATIONS_IN_VAIN: u64 = 100_000;
/// A run begins this many times as late as the pilot found the rate that lasts: its cache
/// does not fill to the same operation.
const BEHIND: f64 = 1.25;
/// A pilot on a real target that has found nothing ends after this ...
const QUICK_NS_MAX: u64 = 60_000_000_000;
/// ... or, with long spans, after this.
const THOROUGH_NS_MAX: u64 = 1_200_000_000_000;

/// The pilot of a job, where the array has anything that absorbs it.
#[must_use]
pub fn pilot_of(array: &Simulated, job: &PlacedJob) -> Option<LoadPilot> {
    let absorbs = array.absorbs(&job.workload)?;
    let block_bytes = job.workload.block_bytes_mean().max(1);
    let most_bytes = PILOT_OPERATIONS_MAX.saturating_mul(block_bytes);
    let is_in_vain = absorbs.flash_bytes.is_some_and(|bytes| bytes > most_bytes);
    let operations = match is_in_vain {
        true => PILOT_OPERATIONS_IN_VAIN,
        false => PILOT_OPERATIONS_MAX,
    };
    let plan = PilotPlan {
        span_operations: Some(SPAN_OPERATIONS),
        cache_bytes: absorbs.cache_bytes,
        flash_bytes: absorbs.flash_bytes,
        bytes_max: Some(operations.saturating_mul(block_bytes)),
        ..PilotPlan::new(false)
    };
    Some(LoadPilot::new(
        job.clone(),
        plan,
        array.limits().size_bytes,
        None,
    ))
}

/// The pilot that a request asks for before a run of one job, where the job writes and
/// something may absorb that. Several jobs at once have none: see [`check_steady`].
#[must_use]
pub fn pilot_before(
    targets: &[OpenTarget],
    jobs: &[PlacedJob],
    request: &Request,
) -> Option<LoadPilot> {
    let [job] = jobs else { return None };
    let quick = match request.steady {
        Steady::No => return None,
        Steady::Quick => true,
        Steady::Thorough => false,
    };
    let target = &targets[*job.targets.first()?];
    if job.workload.read_percent == 100 {
        return None;
    }
    let plan = PilotPlan {
        cache_bytes: request.cache_size_bytes,
        ..PilotPlan::new(quick)
    };
    pilot_on(target, job, plan, Some(longest_ns(quick)))
}

/// The pilot of a job that writes to this target: on a real one by `plan`, within `time_ns`.
#[must_use]
pub fn pilot_on(
    target: &OpenTarget,
    job: &PlacedJob,
    plan: PilotPlan,
    time_ns: Option<u64>,
) -> Option<LoadPilot> {
    match target {
        OpenTarget::Nothing { .. } => None,
        OpenTarget::Simulated(array) => pilot_of(array, job),
        OpenTarget::Real { .. } => {
            let size_bytes = target.limits().size_bytes;
            Some(LoadPilot::new(job.clone(), plan, size_bytes, time_ns))
        }
    }
}

/// How long a pilot on a real target takes at most, where it is given no shorter time.
#[must_use]
pub fn longest_ns(quick: bool) -> u64 {
    if quick { QUICK_NS_MAX } else { THOROUGH_NS_MAX }
}

/// What pilots on a real target may write, for the plan.
#[must_use]
pub fn announced(quick: bool, time_ns: Option<u64>) -> String {
    let longest_ns = longest_ns(quick);
    format!(
        "Before each load that writes, writes go on until no cache absorbs them, for {} and {} at \
         most.",
        format_duration(time_ns.map_or(longest_ns, |time_ns| time_ns.min(longest_ns))),
        ByteSize(PilotPlan::bytes_max(quick))
    )
}

/// Refuses what has no pilot.
///
/// # Errors
/// Where several jobs run at once, or a job uses several targets.
pub fn check_steady(runs: &[Vec<PlacedJob>], request: &Request) -> Outcome<()> {
    let is_one = |run: &Vec<PlacedJob>| run.len() == 1 && run[0].targets.len() == 1;
    match request.steady.is_no() || runs.iter().all(is_one) {
        true => Ok(()),
        false => Err(Failure::usage(
            "--steady is for one load on one target at a time, and here several run at once",
            "leave --steady out and give a --ramp in which the cache fills, or run one job",
        )),
    }
}

/// How long a run of this load takes to be behind what is absorbed, from an empty cache.
#[must_use]
pub fn behind_ns(found: &SustainedRecord) -> u64 {
    // Float to integer saturates.
    (found.from_ns as f64 * BEHIND) as u64
}
