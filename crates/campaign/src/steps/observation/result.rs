//! Converts the accumulators to the document.

use super::document::{
    BlameShare, BlameVerdict, ClosednessRecord, FileShare, KindCounts, KindLatencies,
    ObservedDevice, ObservedMoment, ObservedSize, ObservedTimeline, ProcessShare, RoleShare,
    SlowOperation, TaskStructure,
};
use stripewise_results::LatencySummary;
use stripewise_stats::Histogram;
use stripewise_trace::blame::{Blame, Cause, DeviceBlame, Example};
use stripewise_trace::closedness::{LOST_SHARE_MAX, LoadClosedness, Structure};
use stripewise_trace::observation::{
    DeviceObservation, KindObservation, Observation, TaskObservation,
};
use stripewise_trace::{TaskId, Tasks};
use stripewise_units::{DeviceNumber, Kind};

const SIZES_MAX: usize = 32;
const PROCESSES_MAX: usize = 64;
const TASKS_MAX: usize = 16;
const SLOW_MOMENTS_MAX: usize = 16;

/// Names of devices and tasks for documents.
pub struct Names<'a> {
    /// The tasks behind the operations.
    pub tasks: &'a Tasks,
    /// The name of a device.
    pub device: &'a dyn Fn(DeviceNumber) -> String,
    /// The title of a process, if it is more specific than its name.
    pub title: &'a dyn Fn(i32) -> Option<String>,
    /// Device numbers refer to this machine.
    pub is_here: bool,
    /// Processes and files get numbers instead of names.
    pub is_anonymous: bool,
}

impl Names<'_> {
    /// `pg_dump (4711)`; `None` for a task that the source does not name.
    fn task(&self, task: TaskId) -> Option<String> {
        if task == TaskId::UNKNOWN {
            return None;
        }
        if self.is_anonymous {
            return Some(format!("process {}", task.index()));
        }
        let pid = self.tasks.pid(task);
        let title = pid.and_then(self.title);
        match (title.or_else(|| self.tasks.name(task)), pid) {
            (Some(name), Some(pid)) => Some(format!("{name} ({pid})")),
            (Some(name), None) => Some(name),
            (None, Some(pid)) => Some(format!("process {pid}")),
            (None, None) => None,
        }
    }
}

/// Roles and files of a device; empty if unknown.
pub type FileLookup<'a> = dyn Fn(DeviceNumber) -> (Vec<RoleShare>, Vec<FileShare>) + 'a;

/// The devices of an observation, the busiest first. If more was lost than statistics
/// tolerate, the distorted ones are left out.
pub fn devices(
    observation: &Observation,
    files_of: &FileLookup<'_>,
    names: &Names<'_>,
    lost_share: f64,
) -> Vec<ObservedDevice> {
    let is_whole = lost_share <= LOST_SHARE_MAX;
    let devices = observation.devices.iter().map(|device| {
        let (by_role, mut by_file) = files_of(device.device);
        if names.is_anonymous {
            for (k, file) in by_file.iter_mut().enumerate() {
                file.path = format!("file {}", k + 1);
            }
        }
        ObservedDevice {
            by_role,
            by_file,
            depth_mean: device.depth_mean.filter(|_| is_whole),
            sequential_share: device.sequential_share.filter(|_| is_whole),
            ..of_device(device, names)
        }
    });
    let mut devices: Vec<ObservedDevice> = devices.collect();
    devices.sort_by_key(|one| {
        let all = one.reads + one.writes + one.discards + one.flushes;
        (u64::MAX - all, one.name.clone())
    });
    devices
}

fn of_device(device: &DeviceObservation, names: &Names<'_>) -> ObservedDevice {
    let kind = |kind: Kind| device.kind(kind);
    let latencies = |of: fn(&KindObservation) -> &Histogram| {
        let one = |of_kind: Kind| LatencySummary::of(of(kind(of_kind)));
        KindLatencies {
            read: one(Kind::Read),
            write: one(Kind::Write),
            flush: one(Kind::Sync),
            discard: one(Kind::Discard),
        }
    };
    let sizes = device.sizes.iter().take(SIZES_MAX);
    ObservedDevice {
        name: (names.device)(device.device),
        number: names.is_here.then(|| device.device.to_string()),
        reads: kind(Kind::Read).operations,
        writes: kind(Kind::Write).operations,
        read_bytes: kind(Kind::Read).bytes,
        write_bytes: kind(Kind::Write).bytes,
        discards: kind(Kind::Discard).operations,
        discard_bytes: kind(Kind::Discard).bytes,
        flushes: kind(Kind::Sync).operations,
        latency_ns: latencies(|one| &one.latency_ns),
        device_latency_ns: latencies(|one| &one.device_ns),
        call_latency_ns: latencies(|one| &one.call_ns),
        depth_mean: device.depth_mean,
        sequential_share: device.sequential_share,
        sizes: sizes
            .map(|one| ObservedSize {
                size_bytes: one.size_bytes,
                operations: one.operations,
            })
            .collect(),
        by_process: device
            .tasks
            .iter()
            .take(PROCESSES_MAX)
            .map(|task| process(task, names))
            .collect(),
        by_group: Vec::new(),
        by_role: Vec::new(),
        by_file: Vec::new(),
        timeline: timeline(device),
    }
}

fn process(task: &TaskObservation, names: &Names<'_>) -> ProcessShare {
    let operations = |kind: Kind| task.operations[kind.index()];
    let counts = KindCounts {
        reads: operations(Kind::Read),
        writes: operations(Kind::Write),
        read_bytes: task.bytes[Kind::Read.index()],
        write_bytes: task.bytes[Kind::Write.index()],
        discards: operations(Kind::Discard),
        flushes: operations(Kind::Sync),
    };
    let is_named = !names.is_anonymous;
    ProcessShare {
        pid: names.tasks.pid(task.task).filter(|_| is_named),
        name: match is_named {
            true => {
                let title = names.tasks.pid(task.task).and_then(names.title);
                title.or_else(|| names.tasks.name(task.task))
            }
            false => names.task(task.task),
        },
        counts,
        latency_ns: task.latency_ns.as_ref().and_then(LatencySummary::of),
    }
}

fn timeline(device: &DeviceObservation) -> ObservedTimeline {
    let timeline = &device.timeline;
    let bins = timeline.bins().iter().map(|moment| ObservedMoment {
        operations: moment.operations,
        bytes: moment.bytes,
        latency_ns_mean: moment.latency_ns_mean(),
        latency_ns_max: (moment.completed > 0).then_some(moment.latency_ns_max),
    });
    let slow = timeline.slow_moments(SLOW_MOMENTS_MAX);
    ObservedTimeline {
        width_ns: timeline.width_ns(),
        bins: bins.collect(),
        slow_ns: slow.into_iter().map(|(at, _)| at).collect(),
    }
}

/// The name of a cause in documents.
fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::NotSlow => "not-slow",
        Cause::OneAtATime => "one-at-a-time",
        Cause::ControlGroup => "control-group",
        Cause::HostQueue => "host-queue",
        Cause::Processor => "processor",
        Cause::FlushStorm { .. } => "flush-storm",
        Cause::OtherProcess {
            by_flushes: true, ..
        } => "other-process-flushes",
        Cause::OtherProcess { .. } => "other-process",
        Cause::VolumeCap { .. } => "volume-cap",
        Cause::OwnSaturation => "own-saturation",
        Cause::Device {
            is_intermittent: true,
        } => "device-intermittent",
        Cause::Device { .. } => "device",
        Cause::DeviceOrProcessor => "device-or-processor",
        Cause::Unknown => "unknown",
        Cause::Lost => "lost-events",
    }
}

/// Shares and verdicts of each judged device.
pub fn blamed(
    judged: &[DeviceBlame],
    first_ns: u64,
    names: &Names<'_>,
) -> (Vec<BlameShare>, Vec<BlameVerdict>) {
    let mut shares = Vec::new();
    let mut verdicts = Vec::new();
    for one in judged {
        let device = (names.device)(one.device);
        shares.extend(one.blame.shares.iter().map(|share| BlameShare {
            device: device.clone(),
            cause: cause_name(share.cause).to_owned(),
            operations: share.operations as u64,
            share: share.share.map(|estimate| estimate.value),
            low: share.share.map(|estimate| estimate.low),
            high: share.share.map(|estimate| estimate.high),
        }));
        verdicts.push(verdict(one, device, first_ns, names));
    }
    (shares, verdicts)
}

fn verdict(one: &DeviceBlame, device: String, first_ns: u64, names: &Names<'_>) -> BlameVerdict {
    let blame: &Blame = &one.blame;
    let blamed = match blame.cause {
        Cause::FlushStorm { task } | Cause::OtherProcess { task, .. } => names.task(task),
        _ => None,
    };
    BlameVerdict {
        device,
        load: one.own.clone().filter(|_| !names.is_anonymous),
        cause: cause_name(blame.cause).to_owned(),
        process: blamed,
        cap_iops: match blame.cause {
            Cause::VolumeCap { rate } => Some(rate),
            _ => None,
        },
        also: blame
            .also
            .iter()
            .map(|cause| cause_name(*cause).to_owned())
            .collect(),
        // Without a calm part for comparison, the threshold is above all latencies.
        slow_ns: (blame.slow_ns < u64::MAX).then_some(blame.slow_ns),
        slow: blame.slow as u64,
        operations: blame.operations as u64,
        judged_s: one.judged_ns as f64 / 1e9,
        calm_s: one.calm_ns as f64 / 1e9,
        examples: blame
            .examples
            .iter()
            .map(|example| slow_operation(example, first_ns, names))
            .collect(),
    }
}

fn slow_operation(example: &Example, first_ns: u64, names: &Names<'_>) -> SlowOperation {
    let operation = &example.operation;
    let stages = operation.stages();
    let queued = operation
        .issued_ns
        .map(|at| at.saturating_sub(operation.arrived_ns));
    SlowOperation {
        at_s: operation.arrived_ns.saturating_sub(first_ns) as f64 / 1e9,
        kind: kind_name(operation.kind).to_owned(),
        size_bytes: operation.size_bytes,
        process: names.task(operation.task),
        latency_ns: operation.whole_ns().unwrap_or(0),
        held_ns: stages.held,
        queued_ns: queued,
        device_ns: stages.device,
        wakeup_ns: stages.wakeup,
        in_flight: example.in_flight as u64,
        of_busiest: example.of_busiest as u64,
        busiest: names.task(example.busiest),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Sync => "flush",
        Kind::Discard => "discard",
    }
}

/// Whether the load waits, for documents.
pub fn closedness(load: &LoadClosedness, names: &Names<'_>) -> ClosednessRecord {
    let tasks = load.tasks.iter().take(TASKS_MAX).map(|one| {
        let is_known = one.closedness.structure != Structure::TooFew;
        TaskStructure {
            process: names.task(one.task).unwrap_or_else(|| "all".to_owned()),
            operations: one.operations,
            structure: structure_name(one.closedness.structure).to_owned(),
            elasticity: is_known.then_some(one.closedness.elasticity),
            slots: one.closedness.slots,
        }
    });
    ClosednessRecord {
        elasticity: load.elasticity,
        low: load.elasticity_interval[0],
        high: load.elasticity_interval[1],
        tasks: tasks.collect(),
    }
}

fn structure_name(structure: Structure) -> &'static str {
    match structure {
        Structure::OneAtATime => "one-at-a-time",
        Structure::OneAtATimeCauseUnknown => "one-at-a-time-cause-unknown",
        Structure::Paced => "paced",
        Structure::Closed => "closed",
        Structure::OpenBursty => "open-bursty",
        Structure::Open => "open",
        Structure::Undecided => "undecided",
        Structure::TooFew => "too-few",
    }
}
