//! Merging as a whole: the algebra, and what is refused.

use super::*;
use proptest::prelude::*;
use stripewise_results::{
    GroupRecord, HostsLimitKind, Interval, JobOutcome, JobRecord, KindParts, OutcomeParts,
    RunRecord, StartRecord, Status, TargetFacts,
};
use stripewise_stats::Histogram;
use stripewise_units::WallTime;
use stripewise_workload::{CacheMode, Rate, Workload};

const S: u64 = 1_000_000_000;
const FROM: WallTime = WallTime(1_800_000_000 * S);

/// Latencies of reads and of writes of each interval.
type Seconds = Vec<[Vec<u64>; 2]>;

fn histogram(latencies_ns: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    histogram
}

/// The run of a host that measured these latencies from `from` on, and its intervals.
fn part(host: &str, from: WallTime, seconds: &Seconds) -> HostPart {
    let workload = Workload {
        read_percent: 70,
        duration_ns: seconds.len() as u64 * S,
        ..Workload::default()
    };
    let mut totals = [KindParts::default(), KindParts::default()];
    let mut intervals = Vec::new();
    for (number, kinds) in seconds.iter().enumerate() {
        let both = [histogram(&kinds[0]), histogram(&kinds[1])];
        for (total, histogram) in totals.iter_mut().zip(&both) {
            total.operations += histogram.count();
            total.bytes += histogram.count() * workload.block_size_bytes;
            total.histogram.merge(histogram);
        }
        let mut all = both[0].clone();
        all.merge(&both[1]);
        let interval = Interval {
            start_ns: number as u64 * S,
            duration_ns: S,
            read_operations: both[0].count(),
            write_operations: both[1].count(),
            bytes: all.count() * workload.block_size_bytes,
            ..Interval::default()
        };
        intervals.push(PartInterval {
            interval: interval.with_latencies_of(Some(&all)),
            latencies: Latencies::pack(Some(&both[0]), Some(&both[1]), None, None),
        });
    }
    let [read, write] = totals;
    let outcome = JobOutcome::from_parts(OutcomeParts {
        duration_ns: workload.duration_ns,
        read,
        write,
        intervals: intervals.iter().map(|part| part.interval).collect(),
        ..OutcomeParts::default()
    });
    let mut run = RunRecord {
        id: format!("run-{host}"),
        version: "1".to_owned(),
        start: Some(Box::new(StartRecord {
            measured_from: from,
            ..StartRecord::default()
        })),
        jobs: vec![JobRecord {
            name: "job".to_owned(),
            target: TargetFacts {
                name: "/dev/sdb".to_owned(),
                ..TargetFacts::unknown()
            },
            workload,
            outcome,
            ..JobRecord::default()
        }],
        ..RunRecord::empty()
    };
    run.host.name = host.to_owned();
    run.host.operating_system = "linux".to_owned();
    HostPart::new(run, vec![PartJob { intervals }])
}

/// As many reads of equal latency in each second as `rates` gives.
fn steady(host: &str, from: WallTime, rates: &[u64]) -> HostPart {
    let second = |rate: &u64| [vec![1_000_000; usize::try_from(*rate).unwrap()], Vec::new()];
    part(host, from, &rates.iter().map(second).collect())
}

fn total(parts: Vec<HostPart>) -> Result<Merged, MergeError> {
    parts
        .into_iter()
        .collect::<Merge>()
        .total(MissingHosts::Refused)
}

fn seconds() -> impl Strategy<Value = Seconds> {
    let latencies = || prop::collection::vec(1_000_u64..50_000_000, 0..12);
    let second = (latencies(), latencies()).prop_map(|(reads, writes)| [reads, writes]);
    prop::collection::vec(second, 1..8)
}

/// The same seconds distributed over hosts, operation by operation.
fn deal(seconds: &Seconds, hosts: usize, deal: &[usize]) -> Vec<Seconds> {
    let mut parts: Vec<Seconds> = vec![vec![[Vec::new(), Vec::new()]; seconds.len()]; hosts];
    let mut next = deal.iter().cycle();
    for (number, kinds) in seconds.iter().enumerate() {
        for (kind, latencies) in kinds.iter().enumerate() {
            for latency in latencies {
                let host = next.next().unwrap() % hosts;
                parts[host][number][kind].push(*latency);
            }
        }
    }
    parts
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Merging the parts of a split run gives that run, bit for bit.
    #[test]
    fn merging_the_parts_of_a_run_gives_the_run(
        seconds in seconds(), hosts in 2_usize..5, dealt in prop::collection::vec(0_usize..4, 1..40),
    ) {
        let whole = part("whole", FROM, &seconds);
        let parts = deal(&seconds, hosts, &dealt);
        let parts = parts.iter().enumerate().map(|(host, seconds)| {
            part(&format!("host{host}"), FROM, seconds)
        });
        let merged = total(parts.collect()).unwrap();
        prop_assert_eq!(&merged.jobs, &whole.jobs);
        // The part holds its outcome without intervals and histograms.
        let outcome = &merged.run.jobs[0].outcome;
        let bare = merged.run.clone().without_intervals().without_histograms();
        prop_assert_eq!(&bare.jobs[0].outcome, &whole.run.jobs[0].outcome);
        let reads: Vec<u64> = seconds.iter().flat_map(|kinds| kinds[0].clone()).collect();
        let summed = outcome.read.histogram.clone().unwrap_or_default();
        prop_assert_eq!(summed, histogram(&reads));
    }

    /// The order and grouping of parts, and duplicates, do not matter.
    #[test]
    fn merging_is_associative_commutative_and_idempotent(
        runs in prop::collection::vec((seconds(), 0_u64..3), 3..6), turn in 0_usize..6,
    ) {
        let parts: Vec<HostPart> = runs.iter().enumerate().map(|(host, (seconds, late))| {
            part(&format!("host{host}"), WallTime(FROM.ns() + late * S), seconds)
        }).collect();
        let one = |index: usize| Merge::from(parts[index].clone());
        let all: Merge = parts.iter().cloned().collect();
        let mut turned = parts.clone();
        turned.rotate_left(turn % parts.len());
        turned.push(parts[0].clone());
        let turned: Merge = turned.into_iter().collect();
        prop_assert_eq!(&turned, &all);
        prop_assert_eq!(turned.total(MissingHosts::Refused), all.total(MissingHosts::Refused));
        let left = one(0).and(one(1)).and(one(2));
        let right = one(0).and(one(1).and(one(2)));
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(one(0).and(one(1)), one(1).and(one(0)));
        prop_assert_eq!(left.total(MissingHosts::Refused), right.total(MissingHosts::Refused));
    }

    /// Exporting a part and reading it back gives the same part.
    #[test]
    fn a_part_comes_back_from_its_line(seconds in seconds()) {
        let part = part("a", FROM, &seconds);
        let line = to_line(&part.run, &part.jobs, &[]).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(from_line(&line).unwrap(), [part]);
    }
}

#[test]
fn only_seconds_of_both_count_and_the_rest_is_counted_out() {
    let later = WallTime(FROM.ns() + 2 * S);
    let merged = total(vec![
        steady("a", FROM, &[100; 6]),
        steady("b", later, &[50; 6]),
    ])
    .unwrap();
    let outcome = &merged.run.jobs[0].outcome;
    assert_eq!((outcome.duration_ns, outcome.operations), (4 * S, 600));
    assert_eq!(outcome.iops, 150.0);
    let facts = merged.run.merged.as_deref().unwrap();
    assert_eq!((facts.intervals, facts.intervals_left_out), (4, 2));
    assert_eq!(facts.start_skew_ns, 2 * S);
    assert_eq!(facts.hosts[1].start_ns, 2 * S);
    assert_eq!(facts.hosts[0].share, 100.0 / 150.0);
    let codes: Vec<&str> = (merged.run.warnings.iter())
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(
        codes,
        ["start-skew", "intervals-left-out", "clocks-not-measured"]
    );
}

/// What is known of whole runs only is not in the total, which says so.
#[test]
fn latencies_of_commits_are_named_where_they_are_missing() {
    let is_stated = |with_commits: bool| {
        let mut host = steady("a", FROM, &[100; 6]);
        let outcome = &mut host.run.jobs[0].outcome;
        outcome.commit = with_commits.then(|| outcome.write.clone());
        let merged = total(vec![host, steady("b", FROM, &[50; 6])]).unwrap();
        assert_eq!(merged.run.jobs[0].outcome.commit, None);
        let mut codes = merged.run.warnings.iter().map(|one| one.code.as_str());
        codes.any(|code| code == "commits-not-merged")
    };
    assert!(is_stated(true) && !is_stated(false));
}

/// Clocks that differ by 3 s are no skew where that was measured.
#[test]
fn measured_clock_offsets_are_taken_out() {
    let mut ahead = steady("b", WallTime(FROM.ns() + 3 * S + 250_000), &[50; 6]);
    let start = ahead.run.start.as_mut().unwrap();
    (start.clock_offset_ns, start.clock_error_ns) = (Some(3_000_000_000), Some(20_000));
    let mut a = steady("a", FROM, &[100; 6]);
    a.run.start.as_mut().unwrap().clock_offset_ns = Some(0);
    let merged = total(vec![a, ahead]).unwrap();
    let facts = merged.run.merged.as_deref().unwrap();
    assert_eq!(facts.start_skew_ns, 250_000);
    assert_eq!(facts.intervals, 6);
    assert!(facts.clocks_measured && merged.run.warnings.is_empty());
    assert_eq!(facts.hosts[1].clock_error_ns, Some(20_000));
}

#[test]
fn a_slow_host_is_named_and_limits() {
    let rates = [100, 101, 99, 60];
    let parts = rates
        .iter()
        .enumerate()
        .map(|(host, rate)| steady(&format!("host{host}"), FROM, &[*rate; 10]));
    let merged = total(parts.collect()).unwrap();
    let facts = merged.run.merged.as_deref().unwrap();
    assert_eq!(facts.stragglers, ["host3"]);
    assert_eq!(facts.limited_by.kind, HostsLimitKind::Host);
    assert_eq!(facts.limited_by.host.as_deref(), Some("host3"));
    assert!(
        facts.limited_by.text.contains("360 would be 400"),
        "{}",
        facts.limited_by.text
    );
    assert!(facts.hosts[3].robust_z.unwrap() > STRAGGLER_Z);
    let interval = facts.iops.unwrap();
    assert_eq!(
        (interval.value, interval.low, interval.high),
        (360.0, 360.0, 360.0)
    );
}

#[test]
fn a_rate_that_all_reach_is_the_limit() {
    let mut parts = vec![
        steady("a", FROM, &[100; 4]),
        steady("b", FROM, &[100; 4]),
        steady("c", FROM, &[100; 4]),
    ];
    for part in &mut parts {
        part.run.jobs[0].workload.rate = Some(Rate {
            iops: 100.0,
            arrivals: stripewise_workload::Arrivals::Fixed,
        });
    }
    let merged = total(parts).unwrap();
    let facts = merged.run.merged.as_deref().unwrap();
    assert_eq!(facts.limited_by.kind, HostsLimitKind::Rate);
    assert_eq!(merged.run.jobs[0].workload.rate.unwrap().iops, 300.0);
}

#[test]
fn what_is_not_the_same_is_refused_by_name() {
    type Change = fn(&mut RunRecord);
    let a = || steady("a", FROM, &[100; 4]);
    let with = |change: Change| {
        let mut b = steady("b", FROM, &[100; 4]);
        change(&mut b.run);
        total(vec![a(), b]).unwrap_err().to_string()
    };
    let changes: [(Change, &str); 7] = [
        (
            |run| run.version = "2".to_owned(),
            "version is 1 on a and 2 on b",
        ),
        (
            |run| run.jobs[0].workload.block_size_bytes = 65_536,
            "block_size_bytes is 8192 on a and 65536 on b",
        ),
        (
            |run| run.jobs[0].workload.read_percent = 100,
            "read_percent is 70 on a and 100 on b",
        ),
        (
            |run| run.jobs[0].workload.cache = CacheMode::Buffered,
            "cache is direct on a and buffered on b",
        ),
        (
            |run| run.jobs[0].name = "log".to_owned(),
            "the list of jobs is job on a and log on b",
        ),
        (
            |run| {
                run.jobs[0].workload.rate = Some(Rate {
                    iops: 5.0,
                    arrivals: stripewise_workload::Arrivals::Fixed,
                });
            },
            "the loop is closed (no rate) on a and open (a rate) on b",
        ),
        (
            |run| run.jobs[0].engine.name = "simulated".to_owned(),
            "simulated arrays",
        ),
    ];
    for (change, expected) in changes {
        let is_stated = with(change);
        assert!(is_stated.contains(expected), "{is_stated}");
    }
}

#[test]
fn conditions_that_differ_are_reported() {
    let mut b = steady("b", FROM, &[100; 4]);
    b.run.host.operating_system = "windows".to_owned();
    b.run.jobs[0].engine.name = "iocp".to_owned();
    b.run.jobs[0].workload.outstanding = 8;
    b.run.jobs[0].workload.seed = 99;
    let merged = total(vec![steady("a", FROM, &[100; 4]), b]).unwrap();
    let warning = &merged.run.warnings[0];
    assert_eq!(warning.code, "hosts-differ");
    for part in [
        "linux on a, windows on b",
        "outstanding is 1 on a, 8 on b",
        "the engine",
    ] {
        assert!(warning.message.contains(part), "{}", warning.message);
    }
    assert!(!warning.message.contains("seed"), "{}", warning.message);
    assert_eq!(merged.run.host.operating_system, "linux and windows");
}

#[test]
fn what_does_not_say_enough_is_refused() {
    let a = || steady("a", FROM, &[100; 4]);
    let mut without_start = steady("b", FROM, &[100; 4]);
    without_start.run.start = None;
    let mut bare = steady("b", FROM, &[100; 4]);
    bare.jobs[0].intervals[2].latencies = Latencies::default();
    let mut partial = steady("b", FROM, &[100; 4]);
    partial.run.status = Status::Partial;
    partial.run.partial_because = Some("interrupted".to_owned());
    let other_start = steady("b", WallTime(FROM.ns() + 4 * S), &[100; 4]);
    let cases = [
        (vec![], "no run is given"),
        (vec![a()], "only one run is given: run-a, of host a"),
        (vec![a(), a()], "only one run is given"),
        (
            vec![a(), without_start],
            "does not say when it began to measure",
        ),
        (
            vec![a(), bare],
            "run run-b of host b comes without histograms",
        ),
        (
            vec![a(), partial],
            "run run-b of host b is partial: interrupted",
        ),
        (
            vec![a(), other_start],
            "a 08:00:00.000 to 08:00:04.000 and b 08:00:04.000 to 08:00:08.000",
        ),
    ];
    for (parts, expected) in cases {
        let error = total(parts).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn a_missing_host_of_a_group_is_named_and_allowed_on_request() {
    let in_group = |host: &str, rank: u32| {
        let mut part = steady(host, FROM, &[100; 4]);
        part.run.start.as_mut().unwrap().group = Some(GroupRecord {
            id: "g".to_owned(),
            rank,
            hosts: ["a", "b", "c"].map(str::to_owned).to_vec(),
        });
        part
    };
    let merge: Merge = [in_group("a", 0), in_group("c", 2)].into_iter().collect();
    let refused = merge.total(MissingHosts::Refused).unwrap_err();
    assert_eq!(
        refused,
        MergeError::MissingHosts {
            hosts: "b".to_owned()
        }
    );
    // A host that was lost before its first interval was stored is missing as well.
    let mut silent = in_group("b", 1);
    silent.jobs[0].intervals.clear();
    let with_silent = merge.clone().and(silent.into());
    assert!(with_silent.total(MissingHosts::Refused).is_err());
    let of_two = with_silent.total(MissingHosts::Allowed).unwrap().run;
    let merged = merge.total(MissingHosts::Allowed).unwrap().run;
    assert_eq!(of_two.jobs, merged.jobs);
    assert_eq!(of_two.merged, merged.merged);
    assert_eq!(merged.status, Status::Partial);
    assert_eq!(
        merged.partial_because.as_deref(),
        Some("there is no record of b")
    );
    assert_eq!(merged.merged.as_deref().unwrap().missing, ["b"]);
    assert_eq!(merged.warnings[0].code, "hosts-missing");
    // Of another group.
    let mut stranger = in_group("b", 1);
    let start = stranger.run.start.as_mut().unwrap();
    start.group.as_mut().unwrap().id = "h".to_owned();
    let refused = merge
        .and(stranger.into())
        .total(MissingHosts::Refused)
        .unwrap_err();
    assert!(matches!(refused, MergeError::Groups { .. }), "{refused}");
}

#[test]
fn ranks_of_one_host_are_told_apart() {
    let on = |id: &str| {
        let mut part = steady("a", FROM, &[100; 4]);
        part.run.id = id.to_owned();
        part
    };
    let merged = total(vec![on("r1"), on("r2")]).unwrap().run;
    let facts = merged.merged.as_deref().unwrap();
    let names: Vec<&str> = facts.hosts.iter().map(|host| host.host.as_str()).collect();
    assert_eq!(names, ["a:1", "a:2"]);
    assert_eq!(merged.jobs[0].target.name, "a:1:/dev/sdb");
    assert_eq!(merged.warnings[0].code, "same-target");
}

#[test]
fn lines_that_nobody_exported_are_refused() {
    let part = steady("a", FROM, &[3; 2]);
    let line = to_line(&part.run, &part.jobs, &[]).unwrap();
    let plain = serde_json::to_string(&part.run).unwrap();
    assert!(matches!(from_line(&plain), Err(LineError::Bare { .. })));
    assert!(matches!(from_line("{"), Err(LineError::Malformed(_))));
    let cut = line.replacen("\"read\":\"HIST", "\"read\":\"HISU", 1);
    assert_ne!(cut, line);
    let cut = from_line(&cut).unwrap_err().to_string();
    assert!(cut.contains("interval at 0 ns are damaged"), "{cut}");
    let other = to_line(&part.run, &[], &[]).unwrap();
    assert!(matches!(
        from_line(&other),
        Err(LineError::Jobs {
            jobs: 1,
            found: 0,
            ..
        })
    ));
}

/// A merged and exported record is merged with others like its hosts.
#[test]
fn a_merged_line_brings_its_parts() {
    let [a, b, c] = ["a", "b", "c"].map(|host| steady(host, FROM, &[100; 4]));
    let merged = total(vec![a.clone(), b.clone()]).unwrap();
    let line = to_line(&merged.run, &merged.jobs, &[a.clone(), b.clone()]).unwrap();
    let parts = from_line(&line).unwrap();
    assert_eq!(parts, [a.clone(), b.clone()]);
    let all = total(parts.into_iter().chain([c.clone()]).collect());
    assert_eq!(all, total(vec![a, b, c]));
    let without = to_line(&merged.run, &merged.jobs, &[]).unwrap();
    assert!(matches!(from_line(&without), Err(LineError::Merged { .. })));
}
