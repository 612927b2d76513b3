//! Warnings about fewer operations in flight than requested.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_results::{Severity, Warning};

/// Little's law over the window is accurate to a few per cent.
const PROGRAM_SHARE_MIN: f64 = 0.9;
/// At the device the tolerance is much larger: samples are few and splits add to the count.
const DEVICE_SHARE_MIN: f64 = 0.5;
/// Fewer samples are not meaningful.
const SAMPLES_MIN: usize = 5;

/// At the program: the workers could not keep up the queue depth.
pub fn outstanding_below_requested(evidence: &Evidence) -> Option<Warning> {
    let requested = evidence.outstanding_requested()?;
    let outcome = &evidence.outcome;
    // Syncs of a job block a thread without counting as in flight.
    if outcome.operations == 0 || evidence.workload.sync.is_some() || requested == 0 {
        return None;
    }
    if outcome.outstanding_mean >= PROGRAM_SHARE_MIN * requested as f64 {
        return None;
    }
    let message = format!(
        "{requested} in flight were asked for, {:.1} were reached on average: the number is that of the lower depth",
        outcome.outstanding_mean
    );
    let hint = if !evidence.is_direct() {
        "buffered operations end before they start to overlap: leave out <--cache>"
    } else if super::processor::cpu_bound(evidence).is_some() {
        "the processor is the limit: see cpu-bound"
    } else if evidence.engine.name == "threads" {
        "the threads engine needs a helper thread each: <--engine> uring keeps deep queues up"
    } else {
        "operations complete in the submitting call, so they do not overlap: usual for devices in memory and \
         for file systems that fall back to their cache"
    };
    Some(Code::OutstandingBelowAsked.warning(Severity::Warning, message, hint))
}

/// More requested than the block layer or the device accepts.
pub fn device_queue_limit(evidence: &Evidence) -> Option<Warning> {
    let requested = evidence
        .outstanding_requested()
        .filter(|_| !evidence.spread)?;
    let layers = evidence.storage.as_ref()?.layers();
    let limits = layers.iter().flat_map(|device| {
        let queue = &device.queue;
        let queues = u64::from(queue.hardware_queues.unwrap_or(1).max(1));
        let depth = queue
            .queue_depth
            .map(|depth| (device, u64::from(depth), "commands at once (queue_depth)"));
        let requests = queue.nr_requests.map(|requests| {
            (
                device,
                u64::from(requests) * queues,
                "queued requests (nr_requests)",
            )
        });
        depth.into_iter().chain(requests)
    });
    // A limit of 0 means that the driver does not report it.
    let tightest = limits
        .filter(|(_, limit, _)| *limit > 0)
        .min_by_key(|(_, limit, _)| *limit);
    let (device, limit, what) = tightest?;
    if requested <= limit {
        return None;
    }
    let message = format!(
        "{requested} in flight were asked for, {} takes {limit} {what}: the rest wait in line",
        device.name
    );
    let hint = format!(
        "latency includes that wait; more than {limit} in flight gains nothing on this device"
    );
    Some(Code::DeviceQueueLimit.warning(Severity::Note, message, hint))
}

/// Average number in flight at the nearest device: from samples, otherwise from its own counters.
fn in_flight_at_device(evidence: &Evidence) -> Option<(f64, &str)> {
    let device = evidence.nearest()?;
    if evidence.in_flight.len() >= SAMPLES_MIN {
        let sum: u64 = evidence
            .in_flight
            .iter()
            .map(|one| u64::from(one.reads) + u64::from(one.writes))
            .sum();
        return Some((sum as f64 / evidence.in_flight.len() as f64, &device.name));
    }
    let observed = evidence.observed_of(device)?;
    let elapsed_ns = evidence.running_ns();
    let counted = device.queue.counts_operations != Some(false) && observed.weighted_ns > 0;
    (counted && elapsed_ns > 0).then(|| {
        (
            observed.weighted_ns as f64 / elapsed_ns as f64,
            device.name.as_str(),
        )
    })
}

/// Whether adjacent requests were merged into one.
fn is_merged(evidence: &Evidence) -> bool {
    let observed = evidence
        .nearest()
        .and_then(|device| evidence.observed_of(device));
    observed.is_some_and(|observed| {
        let operations = observed.reads.saturating_add(observed.writes);
        observed.merges.saturating_mul(10) >= operations.max(1)
    })
}

/// At the device: what the program keeps in flight does not all arrive.
pub fn device_depth_below_requested(evidence: &Evidence) -> Option<Warning> {
    let requested = evidence
        .outstanding_requested()
        .filter(|_| !evidence.spread)?;
    // A shortfall in the program has its own warning, as do operations that need no device at all,
    // and one in flight cannot be less.
    let explained = outstanding_below_requested(evidence).is_some()
        || super::reconcile::device_saw_less(evidence).is_some()
        || is_merged(evidence);
    if !evidence.is_direct() || requested < 2 || explained {
        return None;
    }
    let (reached, device) = in_flight_at_device(evidence)?;
    // The block layer's limits have their own warning.
    let queue = &evidence.nearest()?.queue;
    let limit = u64::from(queue.nr_requests.unwrap_or(u32::MAX))
        .saturating_mul(u64::from(queue.hardware_queues.unwrap_or(1).max(1)));
    let wanted = requested.min(limit);
    if reached >= DEVICE_SHARE_MIN * wanted as f64 {
        return None;
    }
    let message = format!(
        "{requested} in flight were kept at the program, but {device} had {reached:.1} on average: its load was lower \
         than requested"
    );
    let hint = if !evidence.throttles.is_empty() {
        "a control group holds operations back: see io-throttled"
    } else if super::processor::cpu_bound(evidence).is_some() {
        "completed operations wait for the processor: see cpu-bound"
    } else if evidence.workload.discards() {
        "the kernel discards from one file or by one `BLKDISCARD` of a device at a time: on a device io_uring \
         of Linux 6.12 does not wait; else try several files"
    } else if evidence.writes() && evidence.storage.as_ref()?.file_system.is_some() {
        "file systems take writes to one file one at a time where they extend it or are off block alignment; \
         try the device, or several files"
    } else {
        "a limit, encryption or cache above the device lets fewer through (`lsblk` shows the layers), or the \
         device is so fast that operations wait for the program: use more <--threads>"
    };
    Some(Code::DeviceDepthBelowAsked.warning(Severity::Warning, message, hint))
}
