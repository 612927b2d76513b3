//! The fold that counts.

use super::{
    DeviceObservation, KindObservation, Observation, SizeCount, TaskObservation, Timeline,
};
use crate::operation::Operation;
use crate::runs::Runs;
use crate::tasks::TaskId;
use std::collections::{BTreeMap, HashMap};
use stripewise_stats::Histogram;
use stripewise_units::{DeviceNumber, Kind};

/// Devices counted individually; the rest are combined.
const DEVICES_MAX: usize = 128;
/// Sizes counted individually.
const SIZES_MAX: usize = 256;
/// Tasks of a device counted individually; the rest are combined.
const TASKS_MAX: usize = 1_024;
/// Tasks with their own histogram, over all devices: each is 127 KiB at most.
const TASK_HISTOGRAMS_MAX: usize = 512;

/// The number under which devices beyond the first 128 are counted.
pub(super) const OTHERS: DeviceNumber = DeviceNumber {
    major: u32::MAX,
    minor: u32::MAX,
};

#[derive(Debug, Default)]
struct DeviceFold {
    kinds: [KindObservation; 4],
    sizes: BTreeMap<u64, u64>,
    other_sizes: u64,
    runs: Runs,
    /// Reads and writes.
    transfers: u64,
    continued: u64,
    tasks: HashMap<TaskId, TaskObservation>,
    timeline: Timeline,
    busy_ns: u128,
    completed: u64,
    /// Operations without a completion, and the sum of their issue times.
    open: u64,
    open_since_ns: u128,
}

/// Counts operations.
#[derive(Debug, Default)]
pub struct Statistics {
    first_ns: Option<u64>,
    /// Of the operations that follow a later one, too.
    earliest_ns: Option<u64>,
    last_ns: u64,
    devices: BTreeMap<DeviceNumber, DeviceFold>,
    histograms: usize,
}

impl Statistics {
    /// Counts an operation. They must be approximately in the order of arrival.
    pub fn add(&mut self, operation: &Operation) {
        let first_ns = *self.first_ns.get_or_insert(operation.arrived_ns);
        let earliest_ns = self.earliest_ns.get_or_insert(operation.arrived_ns);
        *earliest_ns = operation.arrived_ns.min(*earliest_ns);
        let seen_ns = operation.completed_ns.unwrap_or(operation.arrived_ns);
        self.last_ns = self.last_ns.max(seen_ns).max(operation.arrived_ns);
        let is_room = self.devices.len() < DEVICES_MAX;
        let device = if is_room || self.devices.contains_key(&operation.device) {
            operation.device
        } else {
            OTHERS
        };
        let fold = self.devices.entry(device).or_default();
        fold.add(operation, first_ns);
        fold.add_task(operation, &mut self.histograms);
    }

    /// The result. `observed_ns` is the length of the observation if known; otherwise it is the
    /// time from the earliest arrival to the last event.
    pub fn finish(self, observed_ns: Option<u64>) -> Observation {
        let first_ns = self.first_ns.unwrap_or(0);
        let earliest_ns = self.earliest_ns.unwrap_or(0);
        let seen_ns = self.last_ns.saturating_sub(earliest_ns);
        let observed_ns = observed_ns.unwrap_or(seen_ns);
        let end_ns = self.last_ns.max(earliest_ns.saturating_add(observed_ns));
        let devices = self.devices.into_iter();
        Observation {
            first_ns,
            observed_ns,
            devices: devices
                .map(|(device, fold)| fold.finish(device, observed_ns, end_ns))
                .collect(),
        }
    }
}

impl DeviceFold {
    fn add(&mut self, operation: &Operation, first_ns: u64) {
        let kind = &mut self.kinds[operation.kind.index()];
        kind.operations += 1;
        kind.bytes = kind.bytes.saturating_add(operation.size_bytes);
        let latency_ns = operation.latency_ns();
        if let Some(latency_ns) = latency_ns {
            kind.latency_ns.record(latency_ns);
            if operation.issued_ns.is_some() {
                kind.device_ns
                    .record(operation.stages().device.unwrap_or(latency_ns));
            }
        }
        if let (Some(entered), Some(returned)) = (operation.entered_ns, operation.returned_ns) {
            kind.call_ns.record(returned.saturating_sub(entered));
        }
        let issued_ns = operation.issued_or_arrived_ns();
        match operation.completed_ns {
            Some(completed_ns) => {
                self.completed += 1;
                self.busy_ns += u128::from(completed_ns.saturating_sub(issued_ns));
            }
            None => {
                self.open += 1;
                self.open_since_ns += u128::from(issued_ns);
            }
        }
        if operation.kind != Kind::Sync {
            let is_room = self.sizes.len() < SIZES_MAX;
            match self.sizes.get_mut(&operation.size_bytes) {
                Some(count) => *count += 1,
                None if is_room => {
                    self.sizes.insert(operation.size_bytes, 1);
                }
                None => self.other_sizes += 1,
            }
        }
        if matches!(operation.kind, Kind::Read | Kind::Write) {
            let end = operation.end_bytes();
            let place = self.runs.next(operation.kind, operation.offset_bytes, end);
            self.transfers += 1;
            self.continued += u64::from(!place.is_first);
        }
        let at_ns = operation.arrived_ns.saturating_sub(first_ns);
        self.timeline.add(at_ns, operation.size_bytes, latency_ns);
    }

    fn add_task(&mut self, operation: &Operation, histograms: &mut usize) {
        let is_room = self.tasks.len() < TASKS_MAX;
        let task = if is_room || self.tasks.contains_key(&operation.task) {
            operation.task
        } else {
            TaskId::UNKNOWN
        };
        let one = self.tasks.entry(task).or_insert_with(|| {
            *histograms += 1;
            TaskObservation {
                task,
                operations: [0; 4],
                bytes: [0; 4],
                latency_ns: (*histograms <= TASK_HISTOGRAMS_MAX).then(Histogram::new),
            }
        });
        let kind = operation.kind.index();
        one.operations[kind] += 1;
        one.bytes[kind] = one.bytes[kind].saturating_add(operation.size_bytes);
        if let Some((histogram, ns)) = one.latency_ns.as_mut().zip(operation.latency_ns()) {
            histogram.record(ns);
        }
    }

    fn finish(self, device: DeviceNumber, observed_ns: u64, end_ns: u64) -> DeviceObservation {
        let sizes = self
            .sizes
            .into_iter()
            .map(|(size_bytes, operations)| SizeCount {
                size_bytes,
                operations,
            });
        let mut sizes: Vec<SizeCount> = sizes.collect();
        sizes.sort_by_key(|one| (u64::MAX - one.operations, one.size_bytes));
        let mut tasks: Vec<TaskObservation> = self.tasks.into_values().collect();
        tasks.sort_by_key(|one| {
            let operations: u64 = one.operations.iter().sum();
            (u64::MAX - operations, one.task)
        });
        let open_ns =
            (u128::from(end_ns) * u128::from(self.open)).saturating_sub(self.open_since_ns);
        let busy_ns = self.busy_ns + open_ns;
        let is_known = self.completed > 0 && observed_ns > 0;
        let share = self.continued as f64 / self.transfers.max(1) as f64;
        DeviceObservation {
            device,
            kinds: self.kinds,
            sizes,
            other_sizes: self.other_sizes,
            sequential_share: (self.transfers > 0).then_some(share),
            depth_mean: is_known.then(|| busy_ns as f64 / observed_ns as f64),
            tasks,
            timeline: self.timeline,
        }
    }
}
