use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use stripewise_results::{
    HostFacts, Interval, JobOutcome, JobRecord, KindOutcome, KindParts, OutcomeParts, RunRecord,
    Severity, Status, TargetFacts, TargetKind, Warning,
};
use stripewise_stats::Histogram;
use stripewise_store::{IntervalHistograms, Owner, Result, RunHandle, Store};
use stripewise_workload::Workload;

/// Operations in each interval of [`interval`].
pub const READS: u64 = 100;
pub const WRITES: u64 = 20;

pub fn open(path: &Path) -> Result<Store> {
    Store::open(path, Owner::of_this_process("here"))
}

/// Fails at once if another process has the file.
pub fn open_impatiently(path: &Path) -> Result<Store> {
    Store::open_with_patience(path, Owner::of_this_process("here"), Duration::ZERO)
}

pub fn job(name: &str) -> JobRecord {
    JobRecord {
        name: name.to_owned(),
        target: TargetFacts {
            kind: TargetKind::TestFile,
            name: "/data".to_owned(),
            path: None,
            size_bytes: 1 << 33,
            partition_offset_bytes: Some(32_256),
            logical_sector_bytes: 512,
            physical_sector_bytes: None,
            file_system: None,
            device: None,
            simulation: None,
        },
        workload: Workload {
            read_percent: 83,
            ..Workload::default()
        },
        ..JobRecord::default()
    }
}

pub fn skeleton(id: &str, jobs: usize) -> RunRecord {
    RunRecord {
        id: id.to_owned(),
        started_at: format!("2026-11-21T20:15:30.{:0>3}Z", id.len()),
        status: Status::Running,
        partial_because: None,
        label: Some("a \"quoted\" label".to_owned()),
        command: vec!["stripewise".to_owned(), "run".to_owned()],
        request: None,
        version: "0.1.0".to_owned(),
        series: None,
        answer_block: None,
        sustained: None,
        merged: None,
        start: None,
        experiment: None,
        imported: None,
        series_part: None,
        latency_limit: None,
        processors: Vec::new(),
        verification: None,
        fidelity: None,
        host: HostFacts {
            name: "here".to_owned(),
            ..HostFacts::default()
        },
        jobs: (0..jobs).map(|index| job(&format!("job{index}"))).collect(),
        warnings: Vec::new(),
    }
}

/// Latencies of interval `index`: reads of 100 µs and a little, writes ten times that.
pub fn latencies(index: u64) -> (Histogram, Histogram) {
    let (mut read, mut write) = (Histogram::new(), Histogram::new());
    read.record_n(100_000 + index % 1000, READS);
    write.record_n(1_000_000 + index % 1000, WRITES);
    (read, write)
}

pub fn interval(index: u64) -> Interval {
    let (mut both, write) = latencies(index);
    both.merge(&write);
    Interval {
        start_ns: index * 100_000_000,
        duration_ns: 100_000_000,
        read_operations: READS,
        write_operations: WRITES,
        bytes: (READS + WRITES) * 8192,
        errors: index % 2,
        ..Interval::default()
    }
    .with_latencies_of(Some(&both))
}

pub fn append(store: &mut Store, run: &mut RunHandle, job: usize, index: u64) -> Result<()> {
    let (read, write) = latencies(index);
    let histograms = IntervalHistograms {
        read: Some(&read),
        write: Some(&write),
        ..IntervalHistograms::default()
    };
    store.append_interval(run, job, &interval(index), histograms)
}

/// What a run of `intervals` intervals comes to.
pub fn finished(id: &str, jobs: usize, intervals: u64) -> RunRecord {
    let mut record = skeleton(id, jobs);
    record.status = Status::Complete;
    for job in &mut record.jobs {
        let mut parts = OutcomeParts {
            duration_ns: intervals * 100_000_000,
            cpu_user_ns: 12_345,
            ..OutcomeParts::default()
        };
        let mut part = [KindParts::default(), KindParts::default()];
        for index in 0..intervals {
            let (read, write) = latencies(index);
            for (part, latency_ns) in part.iter_mut().zip([read, write]) {
                part.operations += latency_ns.count();
                part.histogram.merge(&latency_ns);
                parts.in_flight_ns_sum += latency_ns.sum();
            }
            parts.intervals.push(interval(index));
        }
        [parts.read, parts.write] = part;
        parts.read.bytes = parts.read.operations * 8192;
        parts.write.bytes = parts.write.operations * 8192;
        job.outcome = JobOutcome::from_parts(parts);
        job.warnings.push(Warning {
            code: "cpu-bound".to_owned(),
            severity: Severity::Warning,
            message: "a message".to_owned(),
            short: String::new(),
            hint: "a hint".into(),
        });
    }
    record
}

/// As [`finished`], of one job with 50 discards of 30 µs among its operations.
pub fn with_discards(id: &str) -> RunRecord {
    let mut record = finished(id, 1, 1);
    let mut latency_ns = Histogram::new();
    latency_ns.record_n(30_000, 50);
    record.jobs[0].workload.discard_percent = 20;
    record.jobs[0].outcome.discard = Some(KindOutcome::from(KindParts {
        operations: 50,
        bytes: 50 * 8192,
        histogram: latency_ns,
    }));
    record
}

/// This test binary again, running only the ignored test `name`, with `role` and
/// the store's path in its environment. Its standard output is a pipe.
pub fn child(name: &str, role: &str, store: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "--quiet", name])
        .env("STRIPEWISE_TEST_ROLE", role)
        .env("STRIPEWISE_TEST_STORE", store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Role and store of a child; `None` if the ignored test was run by hand.
pub fn child_role() -> Option<(String, std::path::PathBuf)> {
    let role = std::env::var("STRIPEWISE_TEST_ROLE").ok()?;
    Some((role, std::env::var_os("STRIPEWISE_TEST_STORE")?.into()))
}

/// A small generator for moments and damage: the same in every run.
pub struct SeededRng(pub u64);

impl SeededRng {
    pub fn below(&mut self, limit: u64) -> u64 {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
