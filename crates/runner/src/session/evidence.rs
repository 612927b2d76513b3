//! What the machine and the devices did around and during a run, collected for the warnings of
//! [`trust`](crate::trust).

use super::device_logs::{DeviceReports, DeviceWatch};
use super::engine::OpenJob;
use super::{Job, JobTarget, Settings};
use crate::trust::{BytesMoved, Evidence};
use crate::{JobTotals, RunTotals};
use std::fs::File;
use std::sync::Arc;
use stripewise_disk_inspect::storage::Storage;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_io_engine::{EngineName, Kind};
use stripewise_machine::Throttle;
use stripewise_machine::observe::{FileObserved, InFlight, Observed, Snapshot};
use stripewise_results::{JobRecord, ProcessorUse, RunRecord, Status};
use stripewise_units::DeviceNumber;

/// Most queue samples kept per job: an hour at one per second.
const SAMPLES_MAX: usize = 4_096;

/// Snapshots around a run, and queue samples during it.
pub(super) struct Watch {
    system: System,
    /// By job, the files in the order of its places.
    files: Vec<Vec<Arc<File>>>,
    /// By job, the storage below its first file.
    storages: Vec<Option<Storage>>,
    /// By job: whether its files are on several devices.
    spread: Vec<bool>,
    /// Operations bypass the block layer, which neither counts nor throttles them.
    past_block_layer: bool,
    devices: Vec<DeviceNumber>,
    /// By job, the statistics of the devices below.
    reporting: Vec<Option<DeviceWatch>>,
    before: Snapshot,
    samples: Vec<Vec<InFlight>>,
    next_sample_ns: u64,
}

/// Results of a [`Watch`].
pub(super) struct WatchResult {
    observed: Observed,
    files: Vec<Vec<FileObserved>>,
    storages: Vec<Option<Storage>>,
    spread: Vec<bool>,
    throttles: Vec<Vec<Throttle>>,
    samples: Vec<Vec<InFlight>>,
    /// By job: bytes read and written before measuring.
    ramp_bytes: Vec<[u64; 2]>,
    /// By job, the statistics of its devices.
    pub(super) reports: Vec<DeviceReports>,
}

impl WatchResult {
    /// By processor, for the record.
    pub(super) fn processors(&self) -> Vec<ProcessorUse> {
        let processors = self.observed.processors.iter();
        processors
            .map(|seen| ProcessorUse {
                number: seen.number,
                busy_ns: seen.busy_ns,
                idle_ns: seen.idle_ns,
                steal_ns: seen.steal_ns,
            })
            .collect()
    }
}

impl Watch {
    pub(super) fn start(jobs: &[OpenJob], engine: EngineName) -> Self {
        let past_block_layer = engine == EngineName::Nvme;
        let system = System::live();
        // Of one set per thread, the first suffices.
        let one_set = |job: &OpenJob| {
            let spans = job.plan.spans.len();
            job.files.iter().take(spans).cloned().collect()
        };
        let files: Vec<Vec<Arc<File>>> = jobs.iter().map(one_set).collect();
        let storages: Vec<Option<Storage>> = files
            .iter()
            .map(|files| system.storage_of_file(files.first()?).ok())
            .collect();
        let nearest = |file: &Arc<File>| Some(system.storage_of_file(file).ok()?.nearest()?.number);
        let spread = files
            .iter()
            .map(|files| {
                files.len() > 1 && files.iter().any(|file| nearest(file) != nearest(&files[0]))
            })
            .collect();
        let mut devices: Vec<DeviceNumber> = storages
            .iter()
            .flatten()
            .flat_map(Storage::layers)
            .filter(|_| !past_block_layer)
            .map(|device| device.number)
            .collect();
        devices.sort_unstable();
        devices.dedup();
        let reporting = storages
            .iter()
            .map(|storage| storage.as_ref().map(DeviceWatch::start));
        let reporting = reporting.collect();
        let before = snapshot(&system, &devices, &files);
        let samples = vec![Vec::new(); jobs.len()];
        Watch {
            samples,
            system,
            files,
            storages,
            spread,
            past_block_layer,
            devices,
            reporting,
            before,
            next_sample_ns: 0,
        }
    }

    /// Samples the devices' queues; called about 20 times a second.
    pub(super) fn sample(&mut self, now_ns: u64) {
        if now_ns < self.next_sample_ns || self.past_block_layer {
            return;
        }
        for (storage, samples) in self.storages.iter().zip(&mut self.samples) {
            let Some(device) = storage.as_ref().and_then(Storage::nearest) else {
                continue;
            };
            if let Some(in_flight) = self.system.in_flight(device.number)
                && samples.len() < SAMPLES_MAX
            {
                samples.push(in_flight);
            }
        }
        // Ten per second for the first seconds, then progressively fewer: short runs need enough of
        // them, long ones must not fill memory.
        let taken = self.samples.iter().map(Vec::len).max().unwrap_or(0);
        self.next_sample_ns = now_ns + if taken < 600 { 0 } else { 1_000_000_000 };
    }

    pub(super) fn finish(self, ramp_bytes: Vec<[u64; 2]>) -> WatchResult {
        let observed = self
            .before
            .difference(&snapshot(&self.system, &self.devices, &self.files));
        let reports = self.reporting.iter().map(|watch| {
            let reports = watch.as_ref().map(DeviceWatch::finish);
            reports.unwrap_or_default()
        });
        let reports = reports.collect();
        let mut all = observed.files.iter().copied();
        let files = self
            .files
            .iter()
            .map(|files| all.by_ref().take(files.len()).collect())
            .collect();
        let throttles = self
            .storages
            .iter()
            .map(|storage| {
                let layers = storage
                    .iter()
                    .flat_map(Storage::layers)
                    .filter(|_| !self.past_block_layer)
                    .map(|device| device.number);
                self.system.throttles(&layers.collect::<Vec<_>>())
            })
            .collect();
        WatchResult {
            observed,
            files,
            storages: self.storages,
            spread: self.spread,
            throttles,
            samples: self.samples,
            ramp_bytes,
            reports,
        }
    }
}

fn snapshot(system: &System, devices: &[DeviceNumber], files: &[Vec<Arc<File>>]) -> Snapshot {
    let files: Vec<&File> = files.iter().flatten().map(Arc::as_ref).collect();
    Snapshot::take(system, devices, &files)
}

/// The evidence of each job. `seen` is absent for simulated arrays.
pub(super) fn gather(
    jobs: &[Job<'_>],
    settings: &Settings,
    record: &RunRecord,
    totals: &RunTotals,
    seen: Option<&WatchResult>,
) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = jobs
        .iter()
        .zip(&record.jobs)
        .map(|(job, of_record)| of_job(job, of_record, settings, record))
        .collect();
    let Some(seen) = seen else { return all };
    for (index, evidence) in all.iter_mut().enumerate() {
        evidence.starved_ns = totals.starved_ns;
        let waited_ns = totals.jobs[index].counts.cpu.waited_ns;
        evidence.waited_ns = waited_ns / u64::from(evidence.workload.threads.max(1));
        evidence.storage.clone_from(&seen.storages[index]);
        evidence.spread = seen.spread[index];
        evidence.throttles.clone_from(&seen.throttles[index]);
        evidence.in_flight.clone_from(&seen.samples[index]);
        evidence.observed = Some(Observed {
            files: seen.files[index].clone(),
            ..seen.observed.clone()
        });
        evidence.moved = Some(moved_on_device_of(index, jobs, seen, totals));
    }
    all
}

fn of_job(
    job: &Job<'_>,
    of_record: &JobRecord,
    settings: &Settings,
    record: &RunRecord,
) -> Evidence {
    let first = job.places.first().map(|(place, _)| place);
    let target = match first {
        Some(JobTarget::Real(target)) => Some(*target),
        _ => None,
    };
    Evidence {
        targets: u32::try_from(job.places.len()).unwrap_or(u32::MAX),
        direct_refused: target
            .and_then(|target| target.direct_refused())
            .map(str::to_owned),
        host: record.host.clone(),
        data: target.and_then(|target| target.data_facts()).cloned(),
        cache_size_bytes: settings.cache_size_bytes,
        sustained: settings.sustained,
        skipped: settings.skipped.clone(),
        faults_injected: settings.faults.is_some(),
        quick: settings.quick,
        interrupted: record.status == Status::Partial,
        ..Evidence::new(
            of_record.target.clone(),
            of_record.workload.clone(),
            of_record.engine.clone(),
            of_record.outcome.clone(),
        )
    }
}

/// Bytes that all jobs together moved on the device of job `index`, over the whole time between the
/// snapshots.
fn moved_on_device_of(
    index: usize,
    jobs: &[Job<'_>],
    seen: &WatchResult,
    totals: &RunTotals,
) -> BytesMoved {
    let device = |index: usize| {
        seen.storages[index]
            .as_ref()
            .and_then(Storage::nearest)
            .map(|device| device.number)
    };
    let mine = device(index);
    let mut moved = BytesMoved::default();
    for (other, of_job) in totals.jobs.iter().enumerate() {
        if mine.is_some() && device(other) == mine {
            let [read, written] = seen.ramp_bytes[other];
            moved.read_bytes += whole_time(&jobs[other], of_job, read, Kind::Read);
            moved.written_bytes += whole_time(&jobs[other], of_job, written, Kind::Write);
        }
    }
    moved
}

/// Bytes of one kind over ramp, measured window and drain. The kinds of drained operations are not
/// counted: they are apportioned by the workload's mix.
fn whole_time(job: &Job<'_>, of_job: &JobTotals, ramp_bytes: u64, kind: Kind) -> u64 {
    let percent = match kind {
        Kind::Read => u64::from(job.workload.read_percent),
        _ => 100 - u64::from(job.workload.read_percent + job.workload.discard_percent),
    };
    let drained = of_job.drain.operations * job.workload.block_bytes_mean() * percent / 100;
    of_job.counts.kind(kind).bytes + ramp_bytes + drained
}
