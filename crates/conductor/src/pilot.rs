//! Decides which loads get a pilot before their runs: those whose writes a cache may absorb, and
//! those that spend a burst credit of a simulated volume.

use crate::failure::{Failure, Outcome};
use crate::simulated::{AbsorbingStorage, Simulated};
use crate::targets::OpenTarget;
use stripewise_results::SustainedRecord;
use stripewise_stats::{CACHE_TIMES, PilotPlan};
use stripewise_studies::{LoadPilot, PlacedJob};
use stripewise_units::{ByteSize, format_duration};
use stripewise_workload::{Request, Steady};

/// A span of this many operations is long enough to compare with another.
const SPAN_OPERATIONS: u64 = 20_000;
/// Limit on a pilot's writes: every run has to write as much again before it
/// measures.
const PILOT_OPERATIONS_MAX: u64 = 5_000_000;
/// If that cannot reach a sustained rate, this many show the rate there is.
const PILOT_OPERATIONS_IN_VAIN: u64 = 100_000;
/// A run begins later than the pilot found the sustained rate, by this factor: its cache
/// does not fill at exactly the same operation.
const BEHIND: f64 = 1.25;
/// A pilot on a real target that has found nothing ends after this time ...
const QUICK_NS_MAX: u64 = 60_000_000_000;
/// ... or, with long spans, after this time.
const THOROUGH_NS_MAX: u64 = 1_200_000_000_000;

/// The pilot of a job, if the array has anything that absorbs its writes.
pub fn pilot_of(array: &Simulated, job: &PlacedJob) -> Option<LoadPilot> {
    let absorbs = array.absorbs(&job.workload)?;
    Some(simulated(array, job, absorbs, PILOT_OPERATIONS_MAX))
}

/// The same before runs that go on with the array as it is left, and need not spend as much again:
/// as long as a burst credit takes, and of reads, too, which spend one like writes.
fn pilot_alone(array: &Simulated, job: &PlacedJob) -> Option<LoadPilot> {
    let credits = array.credits(&job.workload).into_iter().flatten();
    let most = credits.map(|credit| credit.operations).reduce(f64::max);
    let absorbs = array.absorbs(&job.workload);
    let absorbs = absorbs.or_else(|| most.map(|_| AbsorbingStorage::default()))?;
    // A float-to-integer cast saturates.
    let to_spend = (CACHE_TIMES * most.unwrap_or(0.0)) as u64;
    let operations = PILOT_OPERATIONS_MAX.max(to_spend);
    Some(simulated(array, job, absorbs, operations))
}

fn simulated(
    array: &Simulated,
    job: &PlacedJob,
    absorbs: AbsorbingStorage,
    operations_max: u64,
) -> LoadPilot {
    let block_bytes = job.workload.block_bytes_mean().max(1);
    let most_bytes = operations_max.saturating_mul(block_bytes);
    let is_in_vain = absorbs.flash_bytes.is_some_and(|bytes| bytes > most_bytes);
    let operations = match is_in_vain {
        true => PILOT_OPERATIONS_IN_VAIN,
        false => operations_max,
    };
    let plan = PilotPlan {
        span_operations: Some(SPAN_OPERATIONS),
        cache_bytes: absorbs.cache_bytes,
        flash_bytes: absorbs.flash_bytes,
        credits: array.credits(&job.workload),
        bytes_max: Some(operations.saturating_mul(block_bytes)),
        ..PilotPlan::new(false)
    };
    LoadPilot::new(job.clone(), plan, array.limits().size_bytes, None)
}

/// The pilot that a request asks for before a run of one job, if the job writes and
/// something may absorb that, or spends a credit of a simulated volume. Concurrent jobs have
/// none: see [`check_steady`].
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
    if job.workload.read_percent == 100 && target.simulated().is_none() {
        return None;
    }
    let plan = PilotPlan {
        cache_bytes: request.cache_size_bytes,
        ..PilotPlan::new(quick)
    };
    pilot_on(target, job, plan, Some(longest_ns(quick)))
}

/// The pilot of a job on this target: on a real one, which it writes to, by `plan` and within
/// `time_ns`.
pub fn pilot_on(
    target: &OpenTarget,
    job: &PlacedJob,
    plan: PilotPlan,
    time_ns: Option<u64>,
) -> Option<LoadPilot> {
    match target {
        OpenTarget::Nothing { .. } => None,
        OpenTarget::Simulated(array) => pilot_alone(array, job),
        OpenTarget::Real { .. } => {
            let size_bytes = target.limits().size_bytes;
            Some(LoadPilot::new(job.clone(), plan, size_bytes, time_ns))
        }
    }
}

/// How long a pilot on a real target takes at most, where it is given no shorter time.
pub fn longest_ns(quick: bool) -> u64 {
    if quick { QUICK_NS_MAX } else { THOROUGH_NS_MAX }
}

/// What pilots on a real target may write, for the plan.
pub fn announced(quick: bool, time_ns: Option<u64>) -> String {
    let longest_ns = longest_ns(quick);
    format!(
        "Before each load that writes, writes go on until no cache absorbs them, for {} and {} at \
         most.",
        format_duration(time_ns.map_or(longest_ns, |time_ns| time_ns.min(longest_ns))),
        ByteSize(PilotPlan::bytes_max(quick))
    )
}

/// Refuses requests for a pilot that cannot be made.
///
/// # Errors
/// If several jobs run concurrently, or a job uses several targets.
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

/// Time a run of this load needs, from an empty cache, to get past what is absorbed.
pub fn behind_ns(found: &SustainedRecord) -> u64 {
    // A float-to-integer cast saturates.
    (found.from_ns as f64 * BEHIND) as u64
}
