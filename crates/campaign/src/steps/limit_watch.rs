//! Limits set outside a disk, for measurements without runs: a control group,
//! a volume's or drive's own reports, a processor quota.

use super::medium::evidence_of;
use std::path::Path;
use stripewise_conductor::targets::OpenTarget;
use stripewise_disk_inspect::System;
use stripewise_machine::observe::Snapshot;
use stripewise_results::{JobOutcome, KindOutcome, TargetFacts, Warning};
use stripewise_runner::session::{DeviceWatch, host_facts};
use stripewise_runner::trust::{Evidence, cpu_quota, io_throttled, thermal_throttling, throttled};
use stripewise_surface::ProbeIo;
use stripewise_units::{DeviceNumber, path_of};

/// The highest rates at which a target was read and written. A mean would hide a limit: a control
/// group lets a burst pass at once and delays what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FastestRates {
    /// Bytes read a second.
    pub read_bytes_per_s: f64,
    /// Reads a second.
    pub reads_per_s: f64,
    /// Bytes written a second.
    pub written_bytes_per_s: f64,
    /// Writes a second.
    pub writes_per_s: f64,
}

impl FastestRates {
    /// From the operations in this time.
    pub fn of(read: &KindOutcome, write: &KindOutcome, duration_ns: u64) -> FastestRates {
        let seconds = duration_ns.max(1) as f64 / 1e9;
        FastestRates {
            read_bytes_per_s: read.bytes as f64 / seconds,
            reads_per_s: read.operations as f64 / seconds,
            written_bytes_per_s: write.bytes as f64 / seconds,
            writes_per_s: write.operations as f64 / seconds,
        }
    }

    /// The higher of each rate.
    #[must_use]
    pub fn max(self, other: FastestRates) -> FastestRates {
        FastestRates {
            read_bytes_per_s: self.read_bytes_per_s.max(other.read_bytes_per_s),
            reads_per_s: self.reads_per_s.max(other.reads_per_s),
            written_bytes_per_s: self.written_bytes_per_s.max(other.written_bytes_per_s),
            writes_per_s: self.writes_per_s.max(other.writes_per_s),
        }
    }

    /// Of two that went on beside each other.
    #[must_use]
    pub fn plus(self, other: FastestRates) -> FastestRates {
        FastestRates {
            read_bytes_per_s: self.read_bytes_per_s + other.read_bytes_per_s,
            reads_per_s: self.reads_per_s + other.reads_per_s,
            written_bytes_per_s: self.written_bytes_per_s + other.written_bytes_per_s,
            writes_per_s: self.writes_per_s + other.writes_per_s,
        }
    }

    fn outcome(&self) -> JobOutcome {
        let kind = |operations: f64, bytes: f64| KindOutcome {
            operations: operations as u64,
            bytes: bytes as u64,
            ..KindOutcome::default()
        };
        JobOutcome {
            duration_ns: 1_000_000_000,
            read: kind(self.reads_per_s, self.read_bytes_per_s),
            write: kind(self.writes_per_s, self.written_bytes_per_s),
            ..JobOutcome::default()
        }
    }
}

/// Minimum length of a section: control groups distribute their budget in slices
/// of up to 100 ms.
const STRETCH_NS_MIN: u64 = 100_000_000;
/// Minimum operations of a section, so that it is not fast by chance.
const STRETCH_OPERATIONS_MIN: u64 = 100;

/// Finds the fastest section of operations issued in batches.
#[derive(Clone, Debug)]
pub struct RateMeter {
    since_ns: u64,
    read: KindOutcome,
    write: KindOutcome,
    fastest: Option<FastestRates>,
}

impl RateMeter {
    /// Before the first operation.
    pub fn new(now_ns: u64) -> RateMeter {
        RateMeter {
            since_ns: now_ns,
            read: KindOutcome::default(),
            write: KindOutcome::default(),
            fastest: None,
        }
    }

    /// Adds a completed batch.
    pub fn count(&mut self, batch: &[ProbeIo], now_ns: u64) {
        for one in batch {
            let kind = match one.write {
                true => &mut self.write,
                false => &mut self.read,
            };
            kind.operations += 1;
            kind.bytes += u64::from(one.length_bytes);
        }
        let passed_ns = now_ns.saturating_sub(self.since_ns);
        let operations = self.read.operations + self.write.operations;
        if passed_ns < STRETCH_NS_MIN || operations < STRETCH_OPERATIONS_MIN {
            return;
        }
        let stretch = FastestRates::of(&self.read, &self.write, passed_ns);
        let fastest = self.fastest.unwrap_or_default().max(stretch);
        *self = RateMeter {
            fastest: Some(fastest),
            ..RateMeter::new(now_ns)
        };
    }

    /// The rates of the fastest section; if there was none, of everything.
    pub fn fastest(&self, now_ns: u64) -> FastestRates {
        self.fastest.unwrap_or_else(|| {
            let passed_ns = now_ns.saturating_sub(self.since_ns);
            FastestRates::of(&self.read, &self.write, passed_ns)
        })
    }
}

/// Watches the external limits of a target during its measurement.
pub struct LimitWatch {
    system: System,
    evidence: Evidence,
    reports: Option<DeviceWatch>,
    before: Snapshot,
}

impl LimitWatch {
    /// Starts watching the limits of a file, a directory or a device.
    pub fn start(path: &Path, facts: TargetFacts) -> LimitWatch {
        LimitWatch::start_on(System::live(), evidence_of(path, facts))
    }

    fn start_on(system: System, evidence: Evidence) -> LimitWatch {
        LimitWatch {
            reports: evidence.storage.as_ref().map(DeviceWatch::start),
            before: Snapshot::take(&system, &[], &[]),
            evidence,
            system,
        }
    }

    /// The same for an open target; simulated ones have no such limits.
    pub fn of_open(target: &OpenTarget) -> Option<LimitWatch> {
        let facts = target.real()?.facts();
        Some(LimitWatch::start(&path_of(&facts.name), facts.clone()))
    }

    /// The device that holds the target.
    pub fn device(&self) -> Option<DeviceNumber> {
        Some(self.evidence.storage.as_ref()?.nearest()?.number)
    }

    /// Returns the limits that were reached. Prints nothing.
    pub fn finish(self, rates: &FastestRates) -> Vec<Warning> {
        let mut evidence = self.evidence;
        let layers = evidence.storage.iter().flat_map(|storage| storage.layers());
        let numbers: Vec<_> = layers.map(|device| device.number).collect();
        evidence.throttles = self.system.throttles(&numbers);
        let reports = self.reports.as_ref().map(DeviceWatch::finish);
        let reports = reports.unwrap_or_default();
        evidence.outcome = JobOutcome {
            volume: reports.volume,
            drives: reports.drives,
            ..rates.outcome()
        };
        evidence.host = host_facts(&self.system);
        let now = Snapshot::take(&self.system, &[], &[]);
        evidence.observed = Some(self.before.difference(&now));
        let judges = [io_throttled, throttled, thermal_throttling, cpu_quota];
        judges.iter().filter_map(|judge| judge(&evidence)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_fastest_stretch_is_neither_a_burst_nor_the_mean() {
        let mut meter = RateMeter::new(0);
        let batch = [ProbeIo::read(0, 4_096); 20];
        let mut now_ns = 0;
        // A burst of 20 reads in no time, then a 100 ms slice without any: 200 reads/s.
        for _ in 0..20 {
            meter.count(&batch, now_ns + MS / 10);
            now_ns += 100 * MS;
        }
        let rates = meter.fastest(now_ns);
        assert!((190.0..=260.0).contains(&rates.reads_per_s), "{rates:?}");
        // A second of rest does not hide the earlier rate.
        now_ns += 1_000 * MS;
        meter.count(&batch, now_ns);
        assert_eq!(meter.fastest(now_ns), rates);
        assert_eq!(rates.read_bytes_per_s, rates.reads_per_s * 4_096.0);
        assert_eq!((rates.writes_per_s, rates.written_bytes_per_s), (0.0, 0.0));
    }

    #[test]
    fn what_is_shorter_than_a_stretch_is_taken_as_a_whole() {
        let mut meter = RateMeter::new(5 * MS);
        meter.count(&[ProbeIo::read(0, 512); 10], 55 * MS);
        assert_eq!(meter.fastest(55 * MS).reads_per_s, 200.0);
        assert_eq!(RateMeter::new(7).fastest(7), FastestRates::default());
    }

    /// A captured machine whose group may read 120 times a second, and use half a processor.
    #[cfg(target_os = "linux")]
    #[test]
    fn limits_of_a_captured_machine_are_held_against_the_rates() {
        use stripewise_conductor::targets::nothing_measured;
        use stripewise_disk_inspect::Inspect;
        use stripewise_results::{Severity, TargetKind};
        let tree = tempfile::tempdir().expect("a directory");
        let set = |path: &str, text: &str| {
            let file = tree.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, text).expect("written");
        };
        set(
            "proc/self/mountinfo",
            "29 21 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        );
        set("proc/self/cgroup", "0::/probe\n");
        set("sys/fs/cgroup/probe/io.max", "8:16 riops=120 wiops=max\n");
        set("sys/fs/cgroup/probe/cpu.max", "50000 100000\n");
        set("sys/dev/block/8:16/dev", "8:16\n");
        let periods = |all: u64, held_back: u64| {
            let text = format!("nr_periods {all}\nnr_throttled {held_back}\nthrottled_usec 9\n");
            set("sys/fs/cgroup/probe/cpu.stat", &text);
        };
        let system = System::at(tree.path());
        let found = |reads_per_s: f64, held_back: u64| {
            let number = DeviceNumber {
                major: 8,
                minor: 16,
            };
            let facts = TargetFacts {
                kind: TargetKind::Device,
                ..TargetFacts::unknown()
            };
            let evidence = Evidence {
                storage: system.storage_of_device(number).ok(),
                ..nothing_measured(facts)
            };
            periods(100, 3);
            let watch = LimitWatch::start_on(system.clone(), evidence);
            assert_eq!(watch.device(), Some(number));
            periods(200, 3 + held_back);
            let rates = FastestRates {
                reads_per_s,
                ..FastestRates::default()
            };
            let warnings = watch.finish(&rates).into_iter();
            warnings
                .map(|one| (one.code, one.severity))
                .collect::<Vec<_>>()
        };
        let throttled = |severity| ("io-throttled".to_owned(), severity);
        assert_eq!(found(117.0, 0), [throttled(Severity::Void)]);
        assert_eq!(found(60.0, 0), [throttled(Severity::Note)]);
        let both = [
            throttled(Severity::Void),
            ("cpu-quota".to_owned(), Severity::Warning),
        ];
        assert_eq!(found(117.0, 40), both);
        assert_eq!(found(0.0, 0), []);
    }
}
