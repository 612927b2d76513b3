//! Facts about one job for judging its result: plain data, nothing is looked up from here. Unknown
//! facts are `None` or empty, and warnings that depend on them are then not issued.

use stripewise_disk_inspect::storage::{BlockDevice, Storage};
use stripewise_machine::Throttle;
use stripewise_machine::observe::{DeviceObserved, InFlight, Observed};
use stripewise_results::{
    EngineFacts, HostFacts, JobOutcome, SustainedRecord, TargetFacts, TargetKind,
};
use stripewise_targets::{Changed, DataFacts};
use stripewise_units::format_share;
use stripewise_workload::{CacheMode, Workload};

/// All facts about one job of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The target; the first one if there are several.
    pub target: TargetFacts,
    /// Number of files or devices that the job works on, at least 1: each
    /// thread keeps `workload.outstanding` in flight on each.
    pub targets: u32,
    /// The targets are on several devices: the first one's activity is only part of the job, and is
    /// not compared with the whole.
    pub spread: bool,
    /// The requested workload, with the cache mode in effect.
    pub workload: Workload,
    /// Why `O_DIRECT` was not available, if requested.
    pub direct_refused: Option<String>,
    /// The engine used.
    pub engine: EngineFacts,
    /// The job's results.
    pub outcome: JobOutcome,
    /// The machine.
    pub host: HostFacts,
    /// The storage below the target.
    pub storage: Option<Storage>,
    /// Facts about the target's data before the run; `None` for a test file that was just filled.
    pub data: Option<DataFacts>,
    /// The part of the pauses in which the program was runnable but had no processor; nanoseconds,
    /// 0 if unknown.
    pub starved_ns: u64,
    /// How long each of the job's threads was runnable without a processor, on average, while
    /// measuring; nanoseconds, 0 if unknown.
    pub waited_ns: u64,
    /// What the machine did meanwhile: from before the first operation to after the last, so
    /// including ramp and drain. Its `files` are the job's targets.
    pub observed: Option<Observed>,
    /// Bytes that all jobs of the run moved on this target's devices in the time of `observed`,
    /// including ramp and drain. `None`: this job was alone, and its measured bytes are scaled to
    /// the whole time.
    pub moved: Option<BytesMoved>,
    /// In flight at the nearest block device, sampled while measuring.
    pub in_flight: Vec<InFlight>,
    /// Limits of control groups on the devices below.
    pub throttles: Vec<Throttle>,
    /// Offsets or block sizes that were requested but left out, with reasons.
    pub skipped: Vec<String>,
    /// Cache of the device or controller, if the user gave it.
    pub cache_size_bytes: Option<u64>,
    /// What a pilot found before the run.
    pub sustained: Option<SustainedRecord>,
    /// What another process did to the job's file meanwhile.
    pub changed: Option<Changed>,
    /// Faults were injected, to test the program itself.
    pub faults_injected: bool,
    /// A short run, usually on a fresh file.
    pub quick: bool,
    /// Stopped early, so that there is less of everything.
    pub interrupted: bool,
}

/// Bytes moved by all jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesMoved {
    /// Read.
    pub read_bytes: u64,
    /// Written.
    pub written_bytes: u64,
}

impl Evidence {
    /// The minimum that every job has; the rest unknown.
    pub fn new(
        target: TargetFacts,
        workload: Workload,
        engine: EngineFacts,
        outcome: JobOutcome,
    ) -> Self {
        Evidence {
            target,
            targets: 1,
            workload,
            engine,
            outcome,
            ..Evidence::default()
        }
    }

    /// Whether it is a disk or file of this machine rather than a simulated array or nothing.
    pub(super) fn is_real(&self) -> bool {
        !matches!(self.target.kind, TargetKind::Simulated | TargetKind::Null)
    }

    pub(super) fn reads(&self) -> bool {
        self.workload.read_percent > 0
    }

    pub(super) fn writes(&self) -> bool {
        self.workload.writes()
    }

    /// Whether it bypasses the page cache, as far as the file system complies.
    pub(super) fn is_direct(&self) -> bool {
        matches!(
            self.workload.cache,
            CacheMode::Direct | CacheMode::DirectSync
        )
    }

    /// Whether operations may end in the page cache. Synced writes do not: they end on the disk.
    pub(super) fn may_end_in_memory(&self) -> bool {
        !self.is_direct() && (self.reads() || !self.is_synced())
    }

    /// Whether writes are made durable, by the mode or by explicit syncs.
    pub(super) fn is_synced(&self) -> bool {
        self.workload.is_write_durable() || self.workload.sync.is_some()
    }

    /// Requested in flight, over all threads and targets; `None` for open loops, which request a
    /// rate instead, and for threads with think time.
    pub(super) fn outstanding_requested(&self) -> Option<u64> {
        let each = u64::from(self.workload.threads) * u64::from(self.workload.outstanding);
        let keeps_up = !self.workload.has_due_times() && self.workload.think_time.is_none();
        keeps_up.then(|| match self.workload.in_turn {
            true => each,
            false => each * u64::from(self.targets.max(1)),
        })
    }

    /// Bytes of the target that the job uses.
    pub(super) fn span_bytes(&self) -> u64 {
        let rest = self
            .target
            .size_bytes
            .saturating_sub(self.workload.base_offset_bytes);
        self.workload.size_bytes.map_or(rest, |size| size.min(rest))
    }

    /// The nearest block device below.
    pub(super) fn nearest(&self) -> Option<&BlockDevice> {
        self.storage.as_ref()?.nearest()
    }

    /// What one device did meanwhile.
    pub(super) fn observed_of(&self, device: &BlockDevice) -> Option<&DeviceObserved> {
        let devices = &self.observed.as_ref()?.devices;
        devices.iter().find(|one| one.number == device.number)
    }

    /// The time of `observed` in nanoseconds without pauses of the program, in which it neither
    /// moved anything nor kept anything in flight. 0 if nothing was observed.
    pub(super) fn running_ns(&self) -> u64 {
        let pauses = self.outcome.pauses.iter();
        let paused_ns = pauses.fold(0u64, |sum, pause| sum.saturating_add(pause.duration_ns));
        let observed = self.observed.as_ref();
        observed.map_or(0, |observed| observed.elapsed_ns.saturating_sub(paused_ns))
    }

    /// Bytes moved by all jobs in the time of `observed`, as far as known: otherwise the measured
    /// ones scaled to that time.
    pub(super) fn moved_in_all(&self) -> BytesMoved {
        self.moved.unwrap_or_else(|| {
            let elapsed_ns = self.running_ns();
            let measured_ns = self.outcome.duration_ns;
            let scale = |bytes: u64| {
                if measured_ns == 0 || elapsed_ns <= measured_ns {
                    return bytes;
                }
                let scaled = u128::from(bytes) * u128::from(elapsed_ns) / u128::from(measured_ns);
                u64::try_from(scaled).unwrap_or(u64::MAX)
            };
            BytesMoved {
                read_bytes: scale(self.outcome.read.bytes),
                written_bytes: scale(self.outcome.write.bytes),
            }
        })
    }
}

/// A readable share: `3 %`, `0.4 %`, `<0.1 %`.
pub(super) fn percent(part: u64, whole: u64) -> String {
    format_share(part as f64 / whole as f64)
}
