//! The study on volumes defined by formulas.

use super::*;
use crate::{NextStep, Study};
use stripewise_report::Annotation;
use stripewise_results::{
    Interval, JobOutcome, LatencySummary, VolumeOperations, VolumeReport, Warning,
};

const GP3: Volume = Volume {
    iops: 3_000.0,
    bytes_per_s: 125.0 * 1_048_576.0,
    latency_s: 0.8e-3,
    bucket: f64::INFINITY,
    sustained: 0.0,
    scatter: 0.0,
    unit_bytes: f64::INFINITY,
};

/// Caps, latency, and a bucket of operations with its refill rate.
#[derive(Clone, Copy)]
struct Volume {
    iops: f64,
    bytes_per_s: f64,
    latency_s: f64,
    bucket: f64,
    sustained: f64,
    /// Relative scatter of runs.
    scatter: f64,
    /// An operation counts once for each unit of this size that it starts.
    unit_bytes: f64,
}

impl Volume {
    /// Simulates time at a load; takes from the bucket.
    fn second(&mut self, bytes: f64, outstanding: f64, seconds: f64) -> f64 {
        let units = (bytes / self.unit_bytes).ceil().max(1.0);
        let cap = (self.iops / units).min(self.sustained + self.bucket / seconds);
        let rate = cap
            .min(self.bytes_per_s / bytes)
            .min(outstanding / self.latency_s);
        self.bucket += (self.sustained - rate) * seconds;
        rate
    }

    fn record(&mut self, run: &Run, warnings: Vec<Warning>) -> RunRecord {
        let planned = &run.jobs[0];
        let load = &planned.workload;
        let (bytes, depth) = (load.block_size_bytes, load.threads * load.outstanding);
        let mut intervals = Vec::new();
        let mut operations = 0.0;
        let seconds = load.duration_ns.div_ceil(1_000_000_000);
        let each_ns = load.duration_ns / seconds;
        for number in 0..seconds {
            let each_s = each_ns as f64 / 1e9;
            let rate = self.second(bytes as f64, f64::from(depth), each_s);
            operations += rate * each_s;
            intervals.push(Interval {
                start_ns: number * each_ns,
                duration_ns: each_ns,
                read_operations: (rate * each_s) as u64,
                bytes: (rate * each_s) as u64 * bytes,
                ..Interval::default()
            });
        }
        let job = JobRecord {
            name: planned.name.clone(),
            workload: load.clone(),
            outcome: JobOutcome {
                duration_ns: load.duration_ns,
                iops: operations * 1e9 / load.duration_ns as f64
                    * (1.0 + self.scatter * (f64::from(run.id.0 * 7 % 13) / 6.0 - 1.0)),
                intervals,
                ..JobOutcome::default()
            },
            warnings,
            ..JobRecord::default()
        };
        RunRecord {
            jobs: vec![job],
            ..RunRecord::empty()
        }
    }
}

fn options() -> LimitsOptions {
    LimitsOptions {
        writes: true,
        run_ns: 2_000_000_000,
        ramp_ns: 0,
        simulated_operations_min: 0,
        threads: 1,
        size_bytes: None,
        load: None,
        burst_ns_max: None,
        seed: 1,
    }
}

/// Makes all runs; between them, the study is serialised and restored.
fn drive(study: &mut LimitsStudy, volume: &mut Volume, warnings: &[Warning]) -> u32 {
    let mut runs = 0;
    loop {
        assert_eq!(
            study.next(),
            study.next(),
            "asked twice, it is the same step"
        );
        match study.next() {
            NextStep::Done => return runs,
            NextStep::Rest { length_ns, .. } => {
                volume.bucket += volume.sustained * length_ns as f64 / 1e9;
                study.rested();
            }
            NextStep::Run(run) => {
                runs += 1;
                study.completed(run.id, &volume.record(&run, warnings.to_vec()));
            }
        }
        let stored = serde_json::to_string(study).expect("a state");
        *study = serde_json::from_str(&stored).expect("the same state");
    }
}

fn warning(code: &str, severity: Severity) -> Warning {
    Warning {
        code: code.to_owned(),
        severity,
        message: format!("the message of {code}"),
        short: String::new(),
        hint: "nothing".into(),
    }
}

fn measured(options: LimitsOptions, mut volume: Volume, warnings: &[Warning]) -> LimitsDocument {
    let mut study = LimitsStudy::new(options);
    drive(&mut study, &mut volume, warnings);
    study.document(&LimitsFacts::default())
}

#[test]
fn caps_are_named_with_where_each_applies() {
    let load = Some((8 << 10, 64));
    let document = measured(LimitsOptions { load, ..options() }, GP3, &[]);
    let kinds: Vec<(CapKind, AppliesTo, Option<bool>)> = document
        .caps
        .iter()
        .map(|cap| (cap.kind, cap.applies_to, cap.limiter))
        .collect();
    // Large blocks were only read.
    let untested = AppliesTo::ReadsUntestedWrites;
    assert_eq!(
        kinds,
        [
            (CapKind::Iops, AppliesTo::Both, Some(true)),
            (CapKind::BytesPerS, untested, Some(true))
        ]
    );
    let limits = |bytes, outstanding| -> Vec<Limit> {
        let same = |one: &&LoadApplies| {
            (one.block_size_bytes, one.kind, one.outstanding)
                == (bytes, LoadKind::Reads, outstanding)
        };
        document
            .applies
            .iter()
            .find(same)
            .expect("a load")
            .limits
            .clone()
    };
    assert_eq!(limits(8 << 10, 64), [Limit::Iops], "the user's own");
    let mut cells = document.cells.iter();
    let own = cells.find(|cell| (cell.block_size_bytes, cell.outstanding) == (8 << 10, 64));
    let own = own.expect("a cell of the user's own load");
    assert!((own.iops / 3_000.0 - 1.0).abs() < 0.01 && own.runs >= 6);
    assert_eq!(limits(1 << 20, 64), [Limit::Bandwidth]);
    assert_eq!(limits(4 << 10, 1), [Limit::Latency]);
    let answer = sheet(&document).answer;
    assert!(
        answer.starts_with(
            "3,000 IOPS (2,970-3,030), shared by reads and writes, and 125 MiB/s (124-126) of \
             reads: a limiter, not the disk (judged by the IOPS)."
        ),
        "{answer}"
    );
    let may_be = " Below 43K blocks the IOPS limit applies, above it the bandwidth. This may be a \
        burst rate that does not last: only `--burst` can tell.";
    assert!(answer.ends_with(may_be), "{answer}");
    assert!(document.may_be_burst && !document.partial && document.refused.is_none());
}

#[test]
fn units_in_which_operations_count_are_told_from_a_cap_on_bandwidth() {
    let load = Some((64 << 10, 64));
    let counted = Volume {
        unit_bytes: 32_768.0,
        bytes_per_s: f64::INFINITY,
        ..GP3
    };
    let document = measured(LimitsOptions { load, ..options() }, counted, &[]);
    assert_eq!(document.counted_unit_bytes, Some(32 << 10));
    let answer = sheet(&document).answer;
    let units = ". It counts I/O in units of 32K: 3,000 units/s, which move no more than 93.";
    assert!(answer.contains(units), "{answer}");
    let mut limits = document.applies.iter().flat_map(|one| &one.limits);
    assert!(limits.all(|limit| matches!(limit, Limit::Iops | Limit::Latency)));
    // A lower cap on bytes is one of its own.
    let both = Volume {
        unit_bytes: 262_144.0,
        bytes_per_s: 625.0 * 1_048_576.0,
        ..GP3
    };
    let load = Some((1 << 20, 64));
    let document = measured(LimitsOptions { load, ..options() }, both, &[]);
    assert_eq!(document.counted_unit_bytes, Some(256 << 10));
    let answer = sheet(&document).answer;
    let corner = " the IOPS limit applies, above it the bandwidth. It counts I/O in units of 256K.";
    assert!(answer.contains(corner), "{answer}");
    let large = document.applies.iter();
    let large = large.filter(|one| one.block_size_bytes == 1 << 20 && one.outstanding == 64);
    assert!(large.flat_map(|one| &one.limits).eq([&Limit::Bandwidth]));
    // The same rates at all multiples of 32 KiB.
    let capped = Volume {
        bytes_per_s: 3_000.0 * 32_768.0,
        ..GP3
    };
    let document = measured(options(), capped, &[]);
    assert_eq!(document.counted_unit_bytes, None);
    let answer = sheet(&document).answer;
    let corner = " Below 32K blocks the IOPS limit applies, above it the bandwidth.";
    assert!(
        answer.contains(corner) && document.notes.is_empty(),
        "{answer}"
    );
}

/// A load at a corner, or of blocks that are no multiple of half a unit, has slopes between two
/// limits.
#[test]
fn the_limit_of_a_load_of_ones_own_is_that_of_the_same_load_of_the_grid() {
    let near_cap = Volume {
        latency_s: 0.6e-3,
        ..GP3
    };
    let counted = Volume {
        unit_bytes: 32_768.0,
        bytes_per_s: f64::INFINITY,
        ..GP3
    };
    for (volume, load, limit) in [
        (near_cap, (4 << 10, 1), Limit::Latency),
        (GP3, (40 << 10, 64), Limit::Iops),
        (counted, (96 << 10, 64), Limit::Iops),
    ] {
        let load = Some(load);
        let document = measured(LimitsOptions { load, ..options() }, volume, &[]);
        assert_eq!(document.applies[0].limits, [limit], "{load:?}");
    }
}

/// The limits that are named for reads of this size, 64 in flight.
fn limits_of_reads(document: &LimitsDocument, block_size_bytes: u64) -> Vec<Limit> {
    let mut rows = document.applies.iter();
    let row = rows.find(|row| {
        (row.block_size_bytes, row.kind, row.outstanding) == (block_size_bytes, LoadKind::Reads, 64)
    });
    row.expect("a row").limits.clone()
}

#[test]
fn a_cap_on_bandwidth_just_below_what_units_move_is_the_only_one_of_large_blocks() {
    for (mib_per_s, scatter) in [(625.0, 0.0), (680.0, 0.0), (730.0, 0.0), (690.0, 0.02)] {
        let volume = Volume {
            unit_bytes: 262_144.0,
            bytes_per_s: mib_per_s * 1_048_576.0,
            scatter,
            ..GP3
        };
        let document = measured(options(), volume, &[]);
        assert_eq!(document.counted_unit_bytes, Some(256 << 10), "{mib_per_s}");
        for (bytes, limit) in [
            (16 << 10, Limit::Iops),
            (320 << 10, Limit::Iops),
            (512 << 10, Limit::Bandwidth),
            (1 << 20, Limit::Bandwidth),
        ] {
            let limits = limits_of_reads(&document, bytes);
            assert_eq!(limits, [limit], "{bytes} at {mib_per_s}");
        }
    }
}

/// The corner is measured in steps of 4 KiB: its load may be well beyond it.
#[test]
fn a_load_beyond_the_corner_has_the_limit_that_it_reaches() {
    let meeting_at = |kib: f64| Volume {
        bytes_per_s: 3_000.0 * kib * 1_024.0,
        ..GP3
    };
    for (kib, bytes, limit) in [
        (17.4, 16 << 10, Limit::Iops),
        (10.2, 12 << 10, Limit::Bandwidth),
        (10.2, 16 << 10, Limit::Bandwidth),
    ] {
        let document = measured(options(), meeting_at(kib), &[]);
        assert_eq!(limits_of_reads(&document, bytes), [limit], "{kib}, {bytes}");
    }
}

/// Blocks of 16 KiB are bandwidth-bound there, and say nothing against a cap on operations.
#[test]
fn caps_that_meet_below_16_kib_are_both_named() {
    for iops in [16_000.0, 12_000.0, 9_000.0] {
        let volume = Volume {
            iops,
            sustained: iops,
            ..GP3
        };
        let document = measured(options(), volume, &[]);
        let caps: Vec<_> = document.caps.iter().map(|cap| cap.limiter).collect();
        assert_eq!(caps, [Some(true), Some(true)], "{iops}");
        let found = &document.caps[0];
        assert!(
            found.per_s_low <= iops && iops <= found.per_s_high,
            "{iops}"
        );
        let of_medium = (document.applies.iter()).find(|one| one.block_size_bytes == 16 << 10);
        let limits = &of_medium.expect("16K").limits;
        assert!(limits.contains(&Limit::Bandwidth), "{iops}: {limits:?}");
    }
}

#[test]
fn what_a_cache_writes_back_is_in_no_read() {
    for (scatter, seed) in [(0.0, 1), (0.0, 2), (0.12, 1), (0.12, 2)] {
        let mut study = LimitsStudy::new(LimitsOptions { seed, ..options() });
        let mut volume = Volume { scatter, ..GP3 };
        let mut kinds = String::new();
        let most = study.grid_runs_left(REPETITIONS_MIN);
        let [expected_ns, most_ns] = study.grid_time_ns();
        assert!(expected_ns >= 2_000_000_000 * most && most_ns > expected_ns);
        while let NextStep::Run(run) = study.next() {
            // One that goes on announces what is left.
            let left = study.grid_runs_left(REPETITIONS_MIN);
            assert!(
                scatter > 0.0 || kinds.len() as u64 + left == most,
                "{kinds}, {left}"
            );
            kinds.push(match run.jobs[0].workload.read_percent {
                0 => 'w',
                100 => 'r',
                _ => 'm',
            });
            assert!(study.grid_runs_left(REPETITIONS_MIN) >= 1);
            study.completed(run.id, &volume.record(&run, Vec::new()));
        }
        let behind = kinds.trim_start_matches('r');
        let repetitions = behind.trim_end_matches('w').len();
        let expected = ["m", "w"].map(|kind| kind.repeat(repetitions)).concat();
        assert_eq!(behind, expected, "{scatter}, {seed}");
        match scatter {
            0.0 => assert_eq!((kinds.len() as u64, repetitions), (most, 6), "{kinds}"),
            _ => assert!(repetitions > 6, "{kinds}"),
        }
    }
}

/// Makes all runs of a volume of 3,000 IOPS; `before` changes it before each run.
fn changing(seed: u64, mut before: impl FnMut(&mut Volume, &Run)) -> LimitsDocument {
    let mut study = LimitsStudy::new(LimitsOptions { seed, ..options() });
    let mut volume = Volume {
        sustained: 300.0,
        ..GP3
    };
    while let NextStep::Run(run) = study.next() {
        before(&mut volume, &run);
        study.completed(run.id, &volume.record(&run, Vec::new()));
    }
    study.document(&LimitsFacts::default())
}

#[test]
fn reads_one_at_a_time_that_gain_nothing_by_depth_are_not_held_by_latency() {
    // Blocks of 16 KiB are slower, so that no cap on operations shows.
    let document = changing(1, |volume, run| {
        volume.latency_s = 1e-4;
        let is_medium = run.jobs[0].workload.block_size_bytes == 16 << 10;
        volume.iops = if is_medium { 2_000.0 } else { 3_000.0 };
    });
    let kinds: Vec<CapKind> = document.caps.iter().map(|cap| cap.kind).collect();
    assert_eq!(kinds, [CapKind::BytesPerS]);
    let single = document.applies.iter().find(|row| row.outstanding == 1);
    assert_eq!(single.expect("a row").limits, [Limit::Undecided]);
}

#[test]
fn a_burst_that_ends_while_writes_are_measured_is_no_cap_of_writes() {
    for seed in 1..=5 {
        // With the mix, with the writes, and within them.
        for (read_percent, runs_before) in [(50, 0), (0, 0), (0, 2)] {
            let mut runs = 0;
            let document = changing(seed, |volume, run| {
                if run.jobs[0].workload.read_percent == read_percent {
                    if runs == runs_before {
                        volume.bucket = 0.0;
                    }
                    runs += 1;
                }
            });
            assert!(document.caps.is_empty(), "{document:?}");
            assert_eq!(
                sheet(&document).answer,
                "No cap is named: 4K reads fell by 90 % while writes were measured, and stayed there: a \
                 burst ended, another load came, or the device is hot or still busy with the writes."
            );
        }
        // A cap of the writes' own is one: reads are as they were.
        let document = changing(seed, |volume, run| {
            volume.iops = match run.jobs[0].workload.read_percent {
                100 => 3_000.0,
                50 => 2_000.0,
                _ => 1_000.0,
            };
        });
        assert_eq!(document.refused, None);
        let caps: Vec<_> = document.caps.iter().map(|cap| cap.applies_to).collect();
        assert_eq!(
            caps,
            [AppliesTo::Reads, AppliesTo::Writes, AppliesTo::Reads]
        );
        // A device with slower writes looks the same.
        let limiters: Vec<_> = document.caps.iter().map(|cap| cap.limiter).collect();
        assert_eq!(limiters, [Some(true), None, Some(true)]);
        let answer = sheet(&document).answer;
        let of_writes = " of writes (a limiter's or the device's) and ";
        assert!(answer.contains(of_writes), "{answer}");
    }
}

#[test]
fn a_burst_that_ends_with_the_first_runs_is_no_part_of_a_cap() {
    for seed in 1..=5 {
        // Within a run, within the first round, and behind the first and the second.
        for bucket in [3_000.0, 6_000.0, 12_000.0, 20_000.0, 30_000.0, 60_000.0] {
            let volume = Volume {
                bucket,
                sustained: 300.0,
                bytes_per_s: f64::INFINITY,
                scatter: 0.01,
                ..GP3
            };
            let document = measured(LimitsOptions { seed, ..options() }, volume, &[]);
            let refused = document.refused.as_deref().unwrap_or_default();
            let is_fall = refused.starts_with("the rate at the cap fell by 90 % after ");
            if is_fall {
                assert!(document.caps.is_empty() && !document.may_be_burst);
                // Nor does the mixture show a latency.
                let mut rows = document.applies.iter();
                assert!(rows.all(|row| row.limits == [Limit::Undecided]));
                continue;
            }
            // A whole round of it is a fall.
            let is_short = bucket < 30_000.0;
            assert!(refused.is_empty() && is_short, "{bucket}, {seed}");
            let iops = &document.caps[0];
            let holds = (iops.per_s_low..=iops.per_s_high).contains(&300.0);
            assert!(
                holds && iops.per_s_high < 315.0,
                "{bucket}, {seed}: {iops:?}"
            );
            let first = "The first runs were up to ";
            let is_said = document.notes.iter().any(|note| note.starts_with(first));
            assert!(is_said && !document.may_be_burst, "{bucket}, {seed}");
        }
    }
}

#[test]
fn a_target_that_is_only_read_says_nothing_of_writes() {
    let reading = LimitsOptions {
        writes: false,
        ..options()
    };
    let study = LimitsStudy::new(reading.clone());
    assert!(study.loads().iter().all(|job| !job.workload.writes()));
    let document = measured(reading, GP3, &[]);
    assert!(
        document
            .caps
            .iter()
            .all(|cap| cap.applies_to == AppliesTo::ReadsUntestedWrites)
    );
}

#[test]
fn what_is_in_the_way_is_named_instead_of_a_cap() {
    let document = measured(options(), GP3, &[warning("page-cache", Severity::Void)]);
    assert_eq!(
        document.refused.as_deref(),
        Some("the message of page-cache")
    );
    assert!(document.caps.is_empty());
    let document = measured(options(), GP3, &[warning("cpu-steal", Severity::Warning)]);
    assert!(document.refused.expect("a reason").contains("processor"));
    assert!(
        document
            .applies
            .iter()
            .all(|one| one.limits == [Limit::Processor])
    );
    let group = warning("io-throttled", Severity::Void);
    let spoilt = [group.clone(), warning("page-cache", Severity::Void)];
    let mut study = LimitsStudy::new(options());
    drive(&mut study, &mut GP3.clone(), &spoilt);
    let facts = LimitsFacts {
        control_group: Some(ControlGroupLimit {
            cgroup: "/slice".to_owned(),
            device: "sda".to_owned(),
            read_iops: Some(1_500),
            read_bytes_per_s: Some(50 << 20),
            ..ControlGroupLimit::default()
        }),
        ..LimitsFacts::default()
    };
    assert_eq!(
        sheet(&study.document(&facts)).answer,
        "Control group /slice limits sda to 1,500 reads/s, 50 MiB/s read, which was reached: it sets the \
         limit, not the disk. No cap is named: the message of page-cache."
    );
    let document = measured(options(), GP3, &[group]);
    assert_eq!(document.refused, None);
    assert!(document.caps.iter().all(|cap| cap.limiter.is_none()));
    assert!(
        document
            .applies
            .iter()
            .all(|one| one.limits == [Limit::ControlGroup])
    );
}

/// A volume that reports that its IOPS limit held most of each small run.
fn reported(run: &Run, mut record: RunRecord) -> RunRecord {
    let job = &mut record.jobs[0];
    let load = &run.jobs[0].workload;
    let depth = load.threads * load.outstanding;
    let is_small = load.block_size_bytes <= 16 << 10 && depth >= 32;
    let operations = job.outcome.iops as u64;
    job.outcome.read.operations = operations;
    job.outcome.read.latency_ns = Some(LatencySummary {
        mean: 630_000.0,
        ..LatencySummary::default()
    });
    job.outcome.volume = Some(Box::new(VolumeReport {
        source: "Amazon EBS, NVMe log page 0xD0".to_owned(),
        device: "nvme1n1".to_owned(),
        elapsed_ns: load.duration_ns,
        volume_iops_exceeded_ns: if is_small { load.duration_ns } else { 0 },
        read: VolumeOperations {
            operations,
            time_ns: 510_000 * operations,
            ..VolumeOperations::default()
        },
        ..VolumeReport::default()
    }));
    record
}

#[test]
fn what_the_volume_reports_of_itself_is_told_and_counts() {
    let mut study = LimitsStudy::new(options());
    let mut volume = GP3;
    while let NextStep::Run(run) = study.next() {
        let record = volume.record(&run, Vec::new());
        study.completed(run.id, &reported(&run, record));
    }
    let document = study.document(&LimitsFacts::default());
    assert_eq!(document.caps[0].limiter, Some(true));
    let found = document.volume.clone().expect("a volume");
    assert_eq!(found.throttled[0].limit, "volume-iops");
    assert!((0.3..0.8).contains(&found.throttled[0].share), "{found:?}");
    // The volume's report covers only one kind of cap.
    let mut mixed = document.clone();
    assert_eq!(mixed.caps[1].kind, CapKind::BytesPerS);
    mixed.caps[1].limiter = None;
    let answer = sheet(&mixed).answer;
    let natures = ": of the IOPS a limiter, not the disk; of the bandwidth limiter or device is \
        undecided.";
    assert!(answer.contains(natures), "{answer}");
    mixed.volume.as_mut().expect("a volume").throttled[0].share = 0.004;
    let rare = sheet(&mixed).findings;
    let is_reported = rare
        .iter()
        .any(|(_, value)| value.ends_with("for 0.4 % of the runs"));
    assert!(is_reported, "{rare:?}");
    let findings = sheet(&document).findings;
    let of = |name: &str| {
        let mut named = findings.iter().filter(|(other, _)| other == name);
        named.next().map(|(_, value)| value.clone()).expect("found")
    };
    assert!(
        of("volume")
            .starts_with("nvme1n1 (Amazon EBS, NVMe log page 0xD0): throttled[volume-iops] for")
    );
    assert_eq!(
        of("latency"),
        "4K reads one at a time: 510 µs at the volume, 630 µs here: 120 µs are this host's"
    );
}

#[test]
fn a_page_that_may_not_be_read_says_why() {
    let mut study = LimitsStudy::new(options());
    let mut volume = GP3;
    let NextStep::Run(run) = study.next() else {
        panic!("a run comes first");
    };
    let mut record = volume.record(&run, Vec::new());
    record.jobs[0].outcome.volume = Some(Box::new(VolumeReport {
        source: "Amazon EBS, NVMe log page 0xD0".to_owned(),
        device: "nvme1n1".to_owned(),
        not_read: Some("needs root".to_owned()),
        ..VolumeReport::default()
    }));
    study.completed(run.id, &record);
    let document = study.document(&LimitsFacts::default());
    let line = "nvme1n1 (Amazon EBS, NVMe log page 0xD0): not read (needs root)";
    assert_eq!(
        sheet(&document).findings,
        [("volume".to_owned(), line.to_owned())]
    );
}

#[test]
fn the_picture_has_the_points_below_the_roof() {
    let chart = roofline(&measured(options(), GP3, &[]));
    let series = &chart.panels[0].series;
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "what the caps allow",
            "reads, several in flight",
            "reads, one at a time",
            "writes, several in flight",
            "half and half, several in flight",
        ]
    );
    let [
        Annotation::AtY { label: iops, .. },
        Annotation::AtPoint { x, y, label: bytes },
    ] = &chart.panels[0].annotations[..]
    else {
        panic!("{:?}", chart.panels[0].annotations);
    };
    assert!(iops.contains(" IOPS ("), "{iops}");
    assert!(bytes.contains(" MiB/s ("), "{bytes}");
    // On the slope.
    assert!((x * y / (125.0 * 1_048_576.0) - 1.0).abs() < 0.01);
    assert!(*x > 43_000.0 && *x < 1_048_576.0, "{x}");
    let roof = &series[0].points;
    assert!((roof[0].y / 3_000.0 - 1.0).abs() < 0.01);
    let last = roof.last().expect("points");
    assert!((last.y / 125.0 - 1.0).abs() < 0.01, "{last:?}");
    let most = roof[0].y * 1.05;
    let measured = series[1..].iter().flat_map(|one| &one.points);
    assert!(measured.clone().count() >= 10 && measured.clone().all(|point| point.y <= most));
}

#[test]
fn the_roof_bends_and_steps_where_the_caps_do() {
    let bytes_per_s = 700.0 * 1_048_576.0;
    let volume = Volume {
        unit_bytes: 262_144.0,
        bytes_per_s,
        ..GP3
    };
    let chart = roofline(&measured(options(), volume, &[]));
    let roof = &chart.panels[0].series[0].points;
    assert!(roof.windows(2).all(|pair| pair[0].x <= pair[1].x));
    let near = |value: f64, truth: f64| (value / truth - 1.0).abs() < 0.01;
    let mut at_bend = roof
        .iter()
        .filter(|point| near(point.x, bytes_per_s / 3_000.0));
    assert!(at_bend.any(|point| near(point.y, 3_000.0)), "{roof:?}");
    let edge = roof.iter().rposition(|point| point.x == 262_144.0);
    let edge = edge.expect("the edge of a unit");
    assert!(near(roof[edge].y, 2_800.0) && near(roof[edge + 1].y, 1_500.0));
}

#[test]
fn where_runs_lie_far_apart_no_cap_is_named() {
    let volume = Volume {
        scatter: 0.5,
        ..GP3
    };
    let document = measured(options(), volume, &[]);
    assert!(document.caps.is_empty());
    let refused = document.refused.expect("a reason");
    assert!(
        refused.starts_with("runs of one load scatter by"),
        "{refused}"
    );
}

#[test]
fn where_no_cap_shows_reads_and_writes_have_a_number_each() {
    let cell = |kind, iops| CellFound {
        block_size_bytes: 4096,
        kind,
        outstanding: 64,
        iops,
        bytes_per_s: 4096.0 * iops,
        runs: 6,
    };
    let mut document = LimitsDocument {
        cells: vec![
            cell(LoadKind::Reads, 236.0),
            cell(LoadKind::Writes, 11_778.0),
            cell(LoadKind::Mix, 246.0),
        ],
        ..LimitsDocument::default()
    };
    let reads =
        "No cap shows: the rate of reads depends on size and depth up to 236 IOPS and 0.92 MiB/s.";
    let writes = " Short runs of writes reached 11,778 IOPS, more than reads do: a cache took them \
        (`bench` finds the rate that lasts).";
    assert_eq!(sheet(&document).answer, format!("{reads}{writes}"));
    document.cells[1].iops = 200.0;
    assert_eq!(sheet(&document).answer, reads);
}

#[test]
fn a_cap_on_bytes_that_holds_small_blocks_is_no_cap_on_operations() {
    for iops in [f64::INFINITY, 16_000.0] {
        let volume = Volume {
            iops,
            bytes_per_s: 60.0 * 1_048_576.0,
            ..GP3
        };
        let document = measured(options(), volume, &[]);
        let caps: Vec<_> = (document.caps.iter())
            .map(|cap| (cap.kind, cap.applies_to, cap.limiter))
            .collect();
        assert_eq!(
            caps,
            [(CapKind::BytesPerS, AppliesTo::Both, None)],
            "{iops}"
        );
        for bytes in [4 << 10, 16 << 10, 1 << 20] {
            assert_eq!(
                limits_of_reads(&document, bytes),
                [Limit::Bandwidth],
                "{iops}"
            );
        }
        let answer = sheet(&document).answer;
        assert!(answer.starts_with("The rate levels off at 60"), "{answer}");
    }
}

#[test]
fn a_corner_at_a_load_of_the_grid_is_one_row() {
    let volume = Volume {
        iops: 16_000.0,
        bytes_per_s: 250.0 * 1_048_576.0,
        ..GP3
    };
    let document = measured(options(), volume, &[]);
    for rows in [document.applies.len(), document.cells.len()] {
        // 16K is the corner; 20K and a corner in depth are beside the eight.
        assert_eq!(rows, 10, "{document:?}");
    }
    let both = [Limit::Iops, Limit::Bandwidth];
    assert_eq!(limits_of_reads(&document, 16 << 10), both);
}

#[test]
fn runs_that_are_no_longer_than_these_are_not_proposed() {
    let note_of = |rest: LimitsDocument| {
        let document = LimitsDocument {
            applies: vec![LoadApplies {
                block_size_bytes: 4096,
                kind: LoadKind::Reads,
                outstanding: 64,
                limits: vec![Limit::Undecided],
            }],
            ..rest
        };
        sheet(&document).tables[0].note.clone()
    };
    let note = |step_ns| {
        note_of(LimitsDocument {
            step_ns,
            scatter_percent: Some(4.0),
            ..LimitsDocument::default()
        })
    };
    assert!(note(None).ends_with("; longer runs may (--step 10s)."));
    assert!(note(Some(2_000_000_000)).ends_with("; longer runs may (--step 10s)."));
    assert!(note(Some(10_000_000_000)).ends_with("; longer runs may (--step 1m)."));
    assert!(note(Some(60_000_000_000)).ends_with(" does not tell."));
    // Nor are they where nothing scatters, or where the study is to go on.
    let steady = note_of(LimitsDocument {
        scatter_percent: Some(0.3),
        ..LimitsDocument::default()
    });
    let says = "does not tell, nor would longer runs: those of one load hardly differ (0.3 %).";
    assert!(steady.ends_with(says), "{steady}");
    let stopped = note_of(LimitsDocument {
        partial: true,
        ..LimitsDocument::default()
    });
    assert!(stopped.ends_with("(--resume last)."), "{stopped}");
    // What else is in the way stays there.
    let refused = |why: &str| {
        note_of(LimitsDocument {
            scatter_percent: Some(15.0),
            refused: Some(why.to_owned()),
            ..LimitsDocument::default()
        })
    };
    assert!(refused("it is a tmpfs").ends_with(" does not tell."));
    assert!(refused("runs of one load scatter by 15 %").ends_with("(--step 10s)."));
    let in_burst = note_of(LimitsDocument {
        partial: true,
        burst_search: Some(BurstSearch {
            result: BurstResult::Interrupted,
            per_s: Some(3_000.0),
            unit: Some(BucketUnit::Operations),
            driven_s: 60.0,
        }),
        ..LimitsDocument::default()
    });
    assert!(!in_burst.contains("--resume"), "{in_burst}");
}

#[test]
fn a_corner_of_one_cap_alone_is_none() {
    // Latency keeps the rate at the corner a fifth below the only cap.
    let volume = Volume {
        iops: f64::INFINITY,
        bytes_per_s: 700e6,
        latency_s: 1.3e-3,
        ..GP3
    };
    let document = measured(options(), volume, &[]);
    let kinds: Vec<CapKind> = document.caps.iter().map(|cap| cap.kind).collect();
    assert_eq!(kinds, [CapKind::BytesPerS]);
    for row in &document.applies {
        let is_at_cap = row.limits.contains(&Limit::Bandwidth);
        let mut cells = document.cells.iter();
        let same = |cell: &&CellFound| {
            (cell.block_size_bytes, cell.kind, cell.outstanding)
                == (row.block_size_bytes, row.kind, row.outstanding)
        };
        let reached = cells.find(same).expect("a cell").bytes_per_s / 700e6;
        assert!(!is_at_cap || reached > 0.95, "{row:?} at {reached}");
    }
}

#[test]
fn a_cap_that_nothing_is_known_to_set_limits_no_load() {
    // One in flight reaches the cap, too: latency is not what holds it.
    let volume = Volume {
        scatter: 0.13,
        latency_s: 0.3e-3,
        ..GP3
    };
    let document = measured(options(), volume, &[]);
    let kinds: Vec<_> = document
        .caps
        .iter()
        .map(|cap| (cap.kind, cap.limiter))
        .collect();
    assert_eq!(kinds, [(CapKind::Iops, None), (CapKind::BytesPerS, None)]);
    let limits = |bytes, outstanding| {
        let mut rows = document.applies.iter();
        let row = rows.find(|row| (row.block_size_bytes, row.outstanding) == (bytes, outstanding));
        row.expect("a row").limits.clone()
    };
    assert_eq!(limits(4 << 10, 64), [Limit::Undecided]);
    assert_eq!(limits(1 << 20, 64), [Limit::Undecided]);
    assert_eq!(limits(4 << 10, 1), [Limit::Undecided]);
}

#[test]
fn an_interrupted_study_says_what_is_certain_and_goes_on() {
    let mut study = LimitsStudy::new(options());
    let NextStep::Run(run) = study.next() else {
        panic!("a run comes first");
    };
    let mut volume = GP3;
    let partial = RunRecord {
        status: Status::Partial,
        ..volume.record(&run, Vec::new())
    };
    study.completed(run.id, &partial);
    let document = study.document(&LimitsFacts::default());
    assert!(document.partial && document.caps.is_empty());
    let note = "Stopped after 0 runs: this is what is certain so far.";
    assert_eq!(document.notes, [note]);
    assert_eq!(
        study.next(),
        NextStep::Run(run),
        "the same run is made again"
    );
    drive(&mut study, &mut volume, &[]);
    assert!(!study.document(&LimitsFacts::default()).partial);
}

#[test]
fn a_study_that_ends_between_two_runs_is_partial() {
    let mut study = LimitsStudy::new(options());
    let mut volume = GP3;
    for _ in 0..62 {
        let NextStep::Run(run) = study.next() else {
            panic!("the corners are still to come");
        };
        study.completed(run.id, &volume.record(&run, Vec::new()));
    }
    let document = study.document(&LimitsFacts::default());
    assert!(document.partial);
    let note = "Stopped after 62 runs: this is what is certain so far.";
    assert_eq!(document.notes.first().map(String::as_str), Some(note));
    // All that reads is known by then.
    let caps: Vec<_> = document.caps.iter().map(|cap| cap.applies_to).collect();
    assert_eq!(caps, [AppliesTo::ReadsUntestedWrites; 2]);
}

#[test]
fn what_more_runs_may_refute_is_not_named_before_them() {
    let mut study = LimitsStudy::new(LimitsOptions {
        load: Some((8 << 10, 64)),
        ..options()
    });
    let mut volume = Volume {
        sustained: 300.0,
        ..GP3
    };
    let mut named = Vec::new();
    let mut of_load = Vec::new();
    while let NextStep::Run(run) = study.next() {
        if run.jobs[0].workload.read_percent == 50 {
            volume.bucket = 0.0;
        }
        study.completed(run.id, &volume.record(&run, Vec::new()));
        let document = study.document(&LimitsFacts::default());
        if !document.caps.is_empty() {
            named.push(study.runs);
        }
        let mut applies = document.applies.iter();
        if applies.any(|one| one.block_size_bytes == 8 << 10) {
            of_load.push(study.runs);
        }
    }
    // Six rounds of ten reads; then corners and 4K reads, six times each; then the mix, which
    // shows what only reads behind the writes explain.
    let is_due = |runs: &u32| matches!(*runs, 56..=61 | 77..=78);
    assert!(named.iter().all(is_due), "{named:?}");
    assert!(named.contains(&60) && named.contains(&78), "{named:?}");
    assert!(of_load[0] > 50, "{of_load:?}");
    let refused = study.document(&LimitsFacts::default()).refused;
    assert!(refused.is_some_and(|why| why.starts_with("4K reads fell by 90 %")));
}

/// The result of the search for the end of a burst.
fn search(document: &LimitsDocument) -> BurstSearch {
    document.burst_search.clone().expect("looked for")
}

#[test]
fn a_burst_is_driven_to_its_end_and_its_refill_measured() {
    let gp2 = Volume {
        bucket: 1_080_000.0,
        sustained: 300.0,
        ..GP3
    };
    let bursting = LimitsOptions {
        burst_ns_max: Some(1_800_000_000_000),
        ..options()
    };
    let document = measured(bursting.clone(), gp2, &[]);
    let burst = document.burst.clone().expect("a burst");
    assert_eq!(burst.bucket_unit, BucketUnit::Operations);
    assert!((burst.bucket / 1_080_000.0 - 1.0).abs() < 0.03, "{burst:?}");
    assert!((burst.lasts_s / 400.0 - 1.0).abs() < 0.03, "{burst:?}");
    assert!((burst.refill_per_s.expect("a refill") / 300.0 - 1.0).abs() < 0.1);
    let answer = sheet(&document).answer;
    assert!(
        answer.contains("At 3,000 IOPS a full burst lasts 6.7 min (6.6-6.8), then 300 IOPS"),
        "{answer}"
    );
    assert_eq!(search(&document).result, BurstResult::Ended);
    // Without an end, nothing is predicted.
    let document = measured(bursting, GP3, &[]);
    assert_eq!(document.burst, None);
    let found = search(&document);
    assert_eq!(
        (found.result, found.driven_s),
        (BurstResult::NotEnded, 1_800.0)
    );
    let answer = sheet(&document).answer;
    let none =
        "No burst ended within 30 min at 3,000 IOPS; bursts shorter than 20 s are not detected.";
    assert!(answer.ends_with(none), "{answer}");
}

#[test]
fn a_burst_that_ended_within_the_grid_is_the_one_that_is_measured() {
    let gp2 = Volume {
        bucket: 60_000.0,
        sustained: 300.0,
        ..GP3
    };
    for writes in [true, false] {
        let bursting = LimitsOptions {
            writes,
            burst_ns_max: Some(60_000_000_000),
            ..options()
        };
        let document = measured(bursting, gp2, &[]);
        assert!(document.refused.is_some() && document.caps.is_empty());
        assert_eq!(search(&document).result, BurstResult::Ended);
        let burst = document.burst.clone().expect("a burst");
        assert_eq!(burst.bucket_unit, BucketUnit::Operations);
        // What the reads of 1M count as is not known.
        assert!((burst.bucket / 60_000.0 - 1.0).abs() < 0.15, "{burst:?}");
        let lows = [burst.bucket_low, burst.lasts_s_low];
        assert_eq!(lows, [0.0; 2], "only upper ends are known");
        assert!(
            (burst.sustained_per_s / 300.0 - 1.0).abs() < 0.01,
            "{burst:?}"
        );
        assert!((burst.refill_per_s.expect("a refill") / 300.0 - 1.0).abs() < 0.1);
        let answer = sheet(&document).answer;
        assert!(
            answer.contains("At 3,000 IOPS a full burst lasts at most "),
            "{answer}"
        );
    }
    // A fall too small for a step: the lower rate is not driven as if it were a burst.
    let mut runs = 0;
    let mut study = LimitsStudy::new(LimitsOptions {
        burst_ns_max: Some(60_000_000_000),
        ..options()
    });
    let mut volume = GP3;
    while let NextStep::Run(run) = study.next() {
        volume.iops = if runs < 20 { 3_000.0 } else { 2_600.0 };
        runs += 1;
        study.completed(run.id, &volume.record(&run, Vec::new()));
    }
    let document = study.document(&LimitsFacts::default());
    assert_eq!(search(&document).result, BurstResult::NotDriven);
    let answer = sheet(&document).answer;
    let none = " No burst was looked for, as no cap is named.";
    assert!(answer.ends_with(none), "{answer}");
}

/// The drive then begins below the cap, or falls before a step could be marked.
#[test]
fn a_burst_that_ends_as_the_drive_begins_was_driven_in_the_grid() {
    for left in [0.0, 8_000.0, 32_000.0] {
        let mut study = LimitsStudy::new(LimitsOptions {
            burst_ns_max: Some(600_000_000_000),
            ..options()
        });
        let mut volume = Volume {
            sustained: 300.0,
            ..GP3
        };
        loop {
            match study.next() {
                NextStep::Done => break,
                NextStep::Rest { length_ns, .. } => {
                    volume.bucket += volume.sustained * length_ns as f64 / 1e9;
                    study.rested();
                }
                NextStep::Run(run) => {
                    if study.burst.is_some() && volume.bucket.is_infinite() {
                        volume.bucket = left;
                    }
                    study.completed(run.id, &volume.record(&run, Vec::new()));
                }
            }
        }
        let document = study.document(&LimitsFacts::default());
        assert_eq!(search(&document).result, BurstResult::Ended, "{left}");
        let burst = document.burst.clone().expect("a burst");
        assert!(
            (burst.burst_per_s / 3_000.0 - 1.0).abs() < 0.05,
            "{burst:?}"
        );
        assert!(
            (burst.sustained_per_s / 300.0 - 1.0).abs() < 0.01,
            "{burst:?}"
        );
        let answer = sheet(&document).answer;
        let lasts = "IOPS a full burst lasts ";
        assert!(answer.contains(lasts), "{answer}");
    }
}

#[test]
fn a_pause_fills_the_bucket_and_ends_what_was_driven_of_a_burst() {
    let mut volume = Volume {
        bucket: 1_080_000.0,
        sustained: 300.0,
        ..GP3
    };
    let mut study = LimitsStudy::new(LimitsOptions {
        burst_ns_max: Some(1_800_000_000_000),
        ..options()
    });
    for _ in 0..40 {
        let NextStep::Run(run) = study.next() else {
            panic!("the grid is not over");
        };
        study.completed(run.id, &volume.record(&run, Vec::new()));
    }
    assert!(study.is_open());
    let taken = 1_080_000.0 - volume.bucket;
    let pause_s = 120.0;
    assert!(taken > 300.0 * pause_s, "{taken}");
    volume.bucket += 300.0 * pause_s;
    study.resumed(Some(pause_s));
    let mut again = study.clone();
    drive(&mut study, &mut volume, &[]);
    let burst = study.document(&LimitsFacts::default()).burst;
    let burst = burst.expect("a burst");
    assert!((burst.bucket / 1_080_000.0 - 1.0).abs() < 0.03, "{burst:?}");
    // With a target that begins anew nothing was taken, and writes are made again.
    again.resumed(None);
    assert!(again.used.is_empty() && again.is_open());
    let mut kinds = String::new();
    while again.burst.is_none() {
        let NextStep::Run(run) = again.next() else {
            panic!("the grid is not over");
        };
        kinds.push(match run.jobs[0].workload.read_percent {
            0 => 'w',
            100 => 'r',
            _ => 'm',
        });
        again.completed(run.id, &volume.record(&run, Vec::new()));
        if kinds == "rrrrrrrrrrrrrrmmmmmmw" {
            again.resumed(Some(10.0));
        }
    }
    assert_eq!(kinds, "rrrrrrrrrrrrrrmmmmmmwmmmmmmwwwwww");
    assert!(!again.is_open() && matches!(again.next(), NextStep::Run(_)));
}

#[test]
fn a_rate_that_a_rest_does_not_bring_back_is_no_burst() {
    let worn = Volume {
        bucket: 1_080_000.0,
        sustained: 300.0,
        ..GP3
    };
    let bursting = LimitsOptions {
        burst_ns_max: Some(1_800_000_000_000),
        ..options()
    };
    let mut study = LimitsStudy::new(bursting.clone());
    let mut volume = worn;
    let mut interrupted = String::new();
    loop {
        match study.next() {
            NextStep::Done => break,
            NextStep::Rest { .. } => {
                let stopped = study.document(&LimitsFacts::default());
                assert!(stopped.may_be_burst && study.is_stopped_burst());
                interrupted = sheet(&stopped).answer;
                study.rested();
            }
            NextStep::Run(run) => study.completed(run.id, &volume.record(&run, Vec::new())),
        }
    }
    let expected_text = "The search for the end of a burst was stopped after 5 min at 3,000 IOPS. \
                Stopped early: only part of it was measured.";
    assert!(interrupted.ends_with(expected_text), "{interrupted}");
    let document = study.document(&LimitsFacts::default());
    assert!(!document.may_be_burst && !study.is_stopped_burst());
    assert_eq!(search(&document).result, BurstResult::NotRefilled);
    let answer = sheet(&document).answer;
    // A rest that adds more than the second drive takes brought it back.
    let mut study = LimitsStudy::new(bursting);
    let mut filled = worn;
    loop {
        match study.next() {
            NextStep::Done => break,
            NextStep::Rest { .. } => {
                filled.bucket = f64::INFINITY;
                study.rested();
            }
            NextStep::Run(run) => study.completed(run.id, &filled.record(&run, Vec::new())),
        }
    }
    let back = study.document(&LimitsFacts::default());
    assert_eq!(search(&back).result, BurstResult::Ended);
    assert_eq!(back.burst.expect("a burst").refill_per_s, None);
    let expected_text = "After 5 min at 3,000 IOPS the rate fell, and a rest did not bring it back: a full cache \
                or heat, not a burst.";
    assert!(answer.ends_with(expected_text), "{answer}");
}

/// It is empty again before half of the seconds in which a step is looked for are over.
#[test]
fn a_bucket_of_a_few_seconds_that_a_rest_fills_is_a_burst() {
    let mut study = LimitsStudy::new(LimitsOptions {
        burst_ns_max: Some(60_000_000_000),
        ..options()
    });
    let mut volume = Volume {
        bucket: 30_000.0,
        sustained: 300.0,
        bytes_per_s: f64::INFINITY,
        ..GP3
    };
    loop {
        match study.next() {
            NextStep::Done => break,
            NextStep::Rest { .. } => {
                volume.bucket = 20_000.0;
                study.rested();
            }
            NextStep::Run(run) => study.completed(run.id, &volume.record(&run, Vec::new())),
        }
    }
    let document = study.document(&LimitsFacts::default());
    let refused = document.refused.as_deref().unwrap_or_default();
    assert!(
        refused.starts_with("the rate at the cap fell by 90 % after 1 round:"),
        "{refused}"
    );
    assert_eq!(search(&document).result, BurstResult::Ended);
    let answer = sheet(&document).answer;
    assert!(
        answer.contains("At 3,000 IOPS a full burst lasts at most "),
        "{answer}"
    );
}

#[test]
fn without_a_cap_no_burst_is_looked_for() {
    let level = Volume {
        iops: f64::INFINITY,
        bytes_per_s: f64::INFINITY,
        ..GP3
    };
    let bursting = LimitsOptions {
        burst_ns_max: Some(1_800_000_000_000),
        ..options()
    };
    let document = measured(bursting, level, &[]);
    let search = document.burst_search.as_ref().expect("looked for");
    assert_eq!(search.result, BurstResult::NotDriven);
    let answer = sheet(&document).answer;
    assert!(
        answer.ends_with("No burst was looked for, as no cap shows."),
        "{answer}"
    );
    // Void rates may hide caps.
    let refused = LimitsDocument {
        refused: Some("rates scatter".to_owned()),
        ..document
    };
    let answer = "No cap is named: rates scatter. No burst was looked for, as no cap is named.";
    assert_eq!(sheet(&refused).answer, answer);
}

#[test]
fn a_rate_that_fell_without_a_burst_is_not_said_to_have_had_a_rest() {
    let unit = BucketUnit::Operations;
    let mut burst = burst::Burst::new(unit, 1_800_000_000_000, vec![], vec![], false);
    let mut seconds = 0;
    while let burst::BurstNext::Piece(_) = burst.next() {
        let interval = |second: u64| Interval {
            duration_ns: 1_000_000_000,
            read_operations: match second {
                0..45 => 10,
                45..100 => 3_000,
                _ => 2_000,
            },
            ..Interval::default()
        };
        burst.completed(&JobOutcome {
            intervals: (seconds..seconds + 60).map(interval).collect(),
            ..JobOutcome::default()
        });
        seconds += 60;
    }
    assert!(matches!(burst.next(), burst::BurstNext::Done));
    assert_eq!(burst.result(), BurstResult::NotMeasured);
    let document = LimitsDocument {
        burst_search: Some(BurstSearch {
            result: burst.result(),
            per_s: Some(3_000.0),
            unit: Some(BucketUnit::Operations),
            driven_s: 100.0,
        }),
        ..LimitsDocument::default()
    };
    let expected_text = "After 100 s at 3,000 IOPS the rate fell in a way that fits no burst: no rest was made that \
                would show whether it comes back.";
    let answer = sheet(&document).answer;
    assert!(answer.ends_with(expected_text), "{answer}");
}

#[test]
fn a_rate_that_moved_is_explained_by_where_it_went() {
    let of = |change_share| {
        text::drift(&stripewise_stats::Drift {
            change_share,
            after_rounds: Some(6),
            cell: stripewise_stats::LimitCell::Small,
        })
    };
    assert_eq!(
        of(-0.07),
        "the rate at the cap fell by 7 % after 6 rounds: a burst ended, another load came, or the \
         device is hot"
    );
    assert_eq!(
        of(0.07),
        "the rate at the cap rose by 7 % after 6 rounds: another load ended, or earlier writes were \
         still being processed"
    );
}
