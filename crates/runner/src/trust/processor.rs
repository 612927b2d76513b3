//! Warnings about the load generator: it may have been the limit, not the disk.

use super::code::Code;
use super::evidence::{Evidence, percent};
use stripewise_machine::observe::Observed;
use stripewise_results::{Severity, Warning};
use stripewise_units::{format_duration, format_share};

/// A worker this busy is not waiting for the disk.
const WORKER_BUSY_MIN: f64 = 0.9;
/// Share at which all usable processors are saturated.
const MACHINE_BUSY_MIN: f64 = 0.95;
const STEAL_SHARE_MIN: f64 = 0.02;
const THROTTLED_SHARE_MIN: f64 = 0.02;

/// CPU time of the job's threads as a share of the time they had.
fn worker_busy(evidence: &Evidence) -> Option<f64> {
    let outcome = &evidence.outcome;
    let each = outcome.cpu_user_ns_per_operation + outcome.cpu_system_ns_per_operation;
    let had = outcome.duration_ns as f64 * f64::from(evidence.workload.threads.max(1));
    (had > 0.0).then(|| each * outcome.operations as f64 / had)
}

/// Processors usable by this process: affinity and quota.
fn processors(evidence: &Evidence) -> f64 {
    let count = f64::from(evidence.host.cpu.count.max(1));
    evidence
        .host
        .cpu
        .quota
        .map_or(count, |quota| quota.min(count))
}

/// CPU time of the whole process as a share of what was usable.
fn process_busy(evidence: &Evidence) -> Option<f64> {
    let observed = evidence.observed.as_ref()?;
    let used = observed
        .own_cpu_user_ns
        .saturating_add(observed.own_cpu_system_ns);
    let had = evidence.running_ns() as f64 * processors(evidence);
    (had > 0.0).then(|| used as f64 / had)
}

/// Share of time in which the machine's processors were not idle.
fn machine_busy(observed: &Observed) -> Option<f64> {
    let busy = observed.cpu_busy_ns.saturating_add(observed.cpu_steal_ns);
    let all = busy.saturating_add(observed.cpu_idle_ns);
    (all > 0).then(|| busy as f64 / all as f64)
}

/// The processor was the limit.
pub fn cpu_bound(evidence: &Evidence) -> Option<Warning> {
    if !evidence.is_real() {
        return None;
    }
    let workload = &evidence.workload;
    let of_workers = worker_busy(evidence).filter(|share| *share >= WORKER_BUSY_MIN);
    let of_process = process_busy(evidence).filter(|share| *share >= MACHINE_BUSY_MIN);
    let of_machine = evidence
        .observed
        .as_ref()
        .and_then(machine_busy)
        .filter(|share| *share >= MACHINE_BUSY_MIN);
    let processors = processors(evidence);
    let message = match (of_workers, of_process, of_machine) {
        (Some(share), _, _) => format!(
            "the processor was the limit: the job's {} {} busy {} of the time",
            threads(workload.threads),
            if workload.threads == 1 { "was" } else { "were" },
            format_share(share.min(1.0))
        ),
        (None, Some(share), _) => format!(
            "the processor was the limit: the program used {} of the {processors:.1} processors available to it",
            format_share(share.min(1.0))
        ),
        (None, None, Some(share)) => {
            format!(
                "the machine's processors were busy {} of the time, partly with other work",
                format_share(share)
            )
        }
        (None, None, None) => return None,
    };
    let spare = f64::from(workload.threads) < processors.floor();
    let hint = if of_workers.is_none() && of_process.is_none() {
        "stop what else runs here (`top`), and run again".to_owned()
    } else if evidence
        .host
        .cpu
        .quota
        .is_some_and(|quota| quota < f64::from(evidence.host.cpu.count))
    {
        "the control group's CPU quota is the ceiling: raise it, or run outside the container"
            .to_owned()
    } else if !evidence.is_direct() {
        "copying through the page cache takes the time: leave out <--cache>".to_owned()
    } else if spare {
        let threads = processors.floor();
        match evidence.quick {
            // `bench` sets the threads itself.
            true => {
                format!("try more threads at once with `stripewise run TARGET --threads {threads}`")
            }
            false => format!("use more threads: <--threads> {threads}"),
        }
    } else if evidence.engine.name == "threads" {
        "the io_uring engine needs less processor time: <--engine> uring".to_owned()
    } else {
        "all processors are in use: the disk is faster than this machine can drive it at this block size; larger \
         blocks measure its bandwidth"
            .to_owned()
    };
    let share = of_workers.or(of_process).or(of_machine).unwrap_or(1.0);
    let share = format_share(share.min(1.0));
    let short = match (of_workers, of_process) {
        (Some(_), _) => format!("the job's threads were {share} busy"),
        (None, Some(_)) => format!("the program used {share} of the processors"),
        (None, None) => format!("processors {share} busy, partly by others"),
    };
    let warning = Code::CpuBound.warning(Severity::Warning, message, hint);
    Some(warning.shortened(short))
}

fn threads(count: u32) -> String {
    if count == 1 {
        "one thread".to_owned()
    } else {
        format!("{count} threads")
    }
}

/// A control group's quota held threads back.
pub fn cpu_quota(evidence: &Evidence) -> Option<Warning> {
    let observed = evidence.observed.as_ref().filter(|_| evidence.is_real())?;
    let throttled = observed.quota_periods_throttled;
    if throttled == 0 || (throttled as f64) < THROTTLED_SHARE_MIN * observed.quota_periods as f64 {
        return None;
    }
    let quota = evidence
        .host
        .cpu
        .quota
        .map(|quota| format!(" of {quota:.2} processors"))
        .unwrap_or_default();
    let message = format!(
        "the CPU quota{quota} held the program back in {} of its {} periods ({}), {} in all: latencies include \
         these pauses",
        throttled,
        observed.quota_periods.max(throttled),
        percent(throttled, observed.quota_periods.max(throttled)),
        format_duration(observed.quota_throttled_ns)
    );
    let hint = "raise the quota (cpu.max, or cpu.cfs_quota_us), or run outside the container";
    Some(Code::CpuQuota.warning(Severity::Warning, message, hint))
}

/// The hypervisor ran other guests on these processors.
pub fn cpu_steal(evidence: &Evidence) -> Option<Warning> {
    let observed = evidence.observed.as_ref().filter(|_| evidence.is_real())?;
    let all = observed
        .cpu_busy_ns
        .saturating_add(observed.cpu_idle_ns)
        .saturating_add(observed.cpu_steal_ns);
    if all == 0 || (observed.cpu_steal_ns as f64) < STEAL_SHARE_MIN * all as f64 {
        return None;
    }
    let message = format!(
        "the hypervisor took {} of the processors' time ({}): latencies include it",
        percent(observed.cpu_steal_ns, all),
        format_duration(observed.cpu_steal_ns)
    );
    let hint = "the host is overcommitted or the instance's CPU credit is used up: run again at another time, or \
                on a dedicated host";
    Some(Code::CpuSteal.warning(Severity::Warning, message, hint))
}
