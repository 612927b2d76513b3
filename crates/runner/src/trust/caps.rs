//! Warnings about configured limits: control groups by name, those of a cloud volume or instance
//! from the volume's statistics, others from their pattern over a series: the same number at every
//! block size.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_machine::Throttle;
use stripewise_results::{JobRecord, Severity, Warning};
use stripewise_units::{format_bytes, format_count, format_iops, format_share};
use stripewise_workload::{CacheMode, Pattern};

/// From this share of a limit on, the result is the limit.
const REACHED_SHARE: f64 = 0.9;
/// Largest spread of "the same" numbers.
const FLAT_SHARE_MAX: f64 = 0.05;
/// Smallest ratio of the largest to the smallest block of a series.
const BLOCK_RATIO_MIN: u64 = 4;
/// A spinning disk by itself gives about the same IOPS at all small blocks.
const SPINNING_IOPS: f64 = 1_000.0;
/// From this block size on, constant bandwidth is normal for disks and links.
const SMALL_BLOCK_BYTES: u64 = 32 << 10;

/// Name, text and share reached of each limit.
fn shares(evidence: &Evidence, throttle: &Throttle) -> Vec<(String, f64)> {
    let outcome = &evidence.outcome;
    let seconds = outcome.duration_ns as f64 / 1e9;
    let rate = |count: u64| {
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    };
    let limits = [
        (
            throttle.read_iops,
            rate(outcome.read.operations),
            "reads/s",
            false,
        ),
        (
            throttle.write_iops,
            rate(outcome.write.operations),
            "writes/s",
            false,
        ),
        (
            throttle.read_bytes_per_s,
            rate(outcome.read.bytes),
            "read",
            true,
        ),
        (
            throttle.write_bytes_per_s,
            rate(outcome.write.bytes),
            "written",
            true,
        ),
    ];
    limits
        .into_iter()
        .filter_map(|(limit, reached, what, is_bytes)| {
            let limit = limit.filter(|limit| *limit > 0)?;
            let used = reached > 0.0;
            let text = if is_bytes {
                format!("{}/s {what}", format_bytes(limit))
            } else {
                format!("{} {what}", format_count(limit))
            };
            used.then(|| (text, reached / limit as f64))
        })
        .collect()
}

/// A control group limits the device.
pub fn io_throttled(evidence: &Evidence) -> Option<Warning> {
    let (throttle, (limit, share)) = evidence
        .throttles
        .iter()
        .flat_map(|throttle| {
            shares(evidence, throttle)
                .into_iter()
                .map(move |share| (throttle, share))
        })
        .max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1))?;
    let device = if throttle.device.is_empty() {
        throttle.number.to_string()
    } else {
        throttle.device.clone()
    };
    let (severity, what) = if share >= REACHED_SHARE {
        (
            Severity::Void,
            "the control group sets the limit, not the disk",
        )
    } else {
        (Severity::Note, "on average it was not reached")
    };
    let message = format!(
        "control group {} limits {device} to {limit}, {} of it used: {what}",
        throttle.cgroup,
        // A burst passes before the limit applies.
        format_share(share.min(1.0))
    );
    let hint =
        "lift the limit (io.max, or blkio.throttle.*_device), or run in another control group";
    Some(Code::IoThrottled.warning(severity, message, hint))
}

/// From this share of the time on, the result is mostly the limit.
const EXCEEDED_SHARE: f64 = 0.1;

/// The volume or instance reports that its own limit was exceeded.
pub fn throttled(evidence: &Evidence) -> Option<Warning> {
    let volume = evidence.outcome.volume.as_ref()?;
    let exceeded = volume.exceeded();
    let worst = exceeded.first()?;
    let severity = match worst.share >= EXCEEDED_SHARE {
        true => Severity::Warning,
        false => Severity::Note,
    };
    let each: Vec<String> = exceeded
        .iter()
        .map(|one| {
            format!(
                "throttled[{}] for {} of the run",
                one.name,
                format_share(one.share)
            )
        })
        .collect();
    let message = format!(
        "{}: more was wanted than {} (reported by {}, {})",
        each.join(", "),
        worst.words,
        volume.device,
        volume.source
    );
    let hint = match worst.name.starts_with("instance") {
        true => "the limit follows from the type of the instance, and its other volumes share it",
        false => "it is a setting of the volume, or of its size; `stripewise limits` measures it",
    };
    let warning = Code::Throttled.warning(severity, message, hint);
    Some(warning.shortened(each[0].clone()))
}

/// A step of a series, reduced to what matters for caps.
struct Step {
    block_bytes: u64,
    iops: f64,
    mib_per_s: f64,
    spins: bool,
}

/// Everything except the block size.
type Shape = ((u8, u8), bool, u32, u32, CacheMode, bool, String);

fn shape(job: &JobRecord) -> Shape {
    let workload = &job.workload;
    (
        (workload.read_percent, workload.discard_percent),
        matches!(workload.pattern, Pattern::Random { .. }),
        workload.threads,
        workload.outstanding,
        workload.cache,
        workload.sync.is_some(),
        job.target.full_name().to_owned(),
    )
}

/// Groups of steps that differ only in block size; open loops and threads with think time are
/// excluded, as the disk does not limit their rate.
fn groups(jobs: &[&JobRecord]) -> Vec<Vec<Step>> {
    let mut groups: Vec<(Shape, Vec<Step>)> = Vec::new();
    for job in jobs {
        let mixed = !job.workload.block_sizes.is_empty();
        let paced = job.workload.has_due_times() || job.workload.think_time.is_some();
        if paced || mixed || job.outcome.operations == 0 {
            continue;
        }
        let step = Step {
            block_bytes: job.workload.block_size_bytes,
            iops: job.outcome.iops,
            mib_per_s: job.outcome.mib_per_s,
            // A virtual disk may be backed by a spinning one.
            spins: job
                .target
                .device
                .as_ref()
                .is_some_and(|device| device.rotational != Some(false)),
        };
        let shape = shape(job);
        match groups.iter_mut().find(|(known, _)| *known == shape) {
            Some((_, steps)) => steps.push(step),
            None => groups.push((shape, vec![step])),
        }
    }
    let mut groups: Vec<Vec<Step>> = groups.into_iter().map(|(_, steps)| steps).collect();
    for steps in &mut groups {
        steps.sort_by_key(|step| step.block_bytes);
    }
    groups.retain(|steps| match (steps.first(), steps.last()) {
        (Some(small), Some(large)) => {
            large.block_bytes >= BLOCK_RATIO_MIN.saturating_mul(small.block_bytes)
        }
        _ => false,
    });
    groups
}

/// Mean of the values if all are within the share of each other.
fn flat(values: &[f64]) -> Option<f64> {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let smallest = values.iter().copied().fold(f64::MAX, f64::min);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (smallest > 0.0 && largest - smallest <= FLAT_SHARE_MAX * mean).then_some(mean)
}

fn blocks(steps: &[Step]) -> String {
    let (first, last) = (steps.first(), steps.last());
    let bytes = |step: Option<&Step>| format_bytes(step.map_or(0, |step| step.block_bytes));
    format!("{} to {}", bytes(first), bytes(last))
}

/// The limit's name, if known.
fn named(throttles: &[Throttle], is_it: impl Fn(&Throttle) -> bool) -> String {
    match throttles.iter().find(|throttle| is_it(throttle)) {
        Some(throttle) => format!(
            "control group {} limits {}: lift it (io.max, or blkio.throttle.*_device)",
            throttle.cgroup, throttle.device
        ),
        None => "no control group of this process sets it; `stripewise limits` tells a limiter of the volume, \
                 the instance or the hypervisor from what the device can do"
            .to_owned(),
    }
}

/// The same IOPS at every block size.
pub fn flat_iops(jobs: &[&JobRecord], throttles: &[Throttle]) -> Option<Warning> {
    groups(jobs).iter().find_map(|steps| {
        let iops: Vec<f64> = steps.iter().map(|step| step.iops).collect();
        let mean = flat(&iops)?;
        if steps.iter().any(|step| step.spins) && mean < SPINNING_IOPS {
            return None;
        }
        let message = format!(
            "{} IOPS at every block size from {}: the IOPS limit applies, a limiter's or the device's",
            format_iops(mean),
            blocks(steps)
        );
        let hint = named(throttles, |one| {
            one.read_iops.is_some() || one.write_iops.is_some()
        });
        Some(Code::FlatIops.warning(Severity::Warning, message, hint))
    })
}

/// The same bandwidth at every block size, including small ones.
pub fn flat_bandwidth(jobs: &[&JobRecord], throttles: &[Throttle]) -> Option<Warning> {
    groups(jobs).iter().find_map(|steps| {
        let rates: Vec<f64> = steps.iter().map(|step| step.mib_per_s).collect();
        let mean = flat(&rates)?;
        // Large blocks alone saturate any link.
        if steps.first()?.block_bytes > SMALL_BLOCK_BYTES {
            return None;
        }
        let message = format!(
            "{mean:.1} MiB/s at every block size from {}: the bandwidth limit applies, a limiter's or the device's",
            blocks(steps)
        );
        let hint = named(throttles, |one| one.read_bytes_per_s.is_some() || one.write_bytes_per_s.is_some());
        Some(Code::FlatBandwidth.warning(Severity::Warning, message, hint))
    })
}
