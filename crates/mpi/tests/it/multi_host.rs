//! The behaviour of a group of ranks without MPI: clocks are wrong on purpose, and ranks fail.

use crate::ranks::{Came, Group, Rank, S, request};
use stripewise_campaign::merge::{MergeRequest, merge};
use stripewise_campaign::{Context, FileSystemSize, Interrupt, NullObserver, Surroundings};
use stripewise_conductor::start::{Companion, places};
use stripewise_mpi::{HostTargets, Shutdown};
use stripewise_results::{RunRecord, Status};
use stripewise_workload::{Arrivals, CacheMode, Rate, Workload};

fn workload() -> Workload {
    Workload {
        duration_ns: 2 * S,
        ..Workload::default()
    }
}

/// Slow reads from a file, independent of the machine's load.
fn slow_reads() -> Workload {
    Workload {
        cache: CacheMode::Buffered,
        rate: Some(Rate {
            iops: 50.0,
            arrivals: Arrivals::Fixed,
        }),
        outstanding: 16,
        ..workload()
    }
}

/// On different arrays.
fn arrays() -> [Rank; 3] {
    [
        Rank::on("alpha", "sim:raid10-10k"),
        Rank::on("beta", "sim:sata-ssd"),
        Rank::on("gamma", "sim:raid10-10k?disks=4"),
    ]
}

fn total(received: &[Came]) -> &RunRecord {
    let merged = received[0].merged.as_ref();
    &merged.unwrap_or_else(|| panic!("{:?}", received[0].ended))[0]
}

#[test]
fn ranks_on_simulated_arrays_are_the_sum_of_each_alone() {
    let received = Group::new().run(&arrays(), &request(&workload(), 2));
    assert_eq!(
        total(&received).status,
        Status::Complete,
        "{:?}",
        received[0].notes
    );
    let merged = received[0].merged.as_ref().expect("rank 0 merges");
    assert_eq!(merged.len(), 2, "a record for each repetition");
    for (number, total) in merged.iter().enumerate() {
        let of = |received: &Came| {
            received.ended.as_ref().unwrap()[number].jobs[0]
                .outcome
                .operations
        };
        let each: Vec<u64> = received.iter().map(of).collect();
        assert_eq!(total.jobs[0].outcome.operations, each.iter().sum::<u64>());
        assert_eq!(total.status, Status::Complete);
        let facts = total.merged.as_ref().unwrap();
        let ranks: Vec<u32> = facts.hosts.iter().filter_map(|host| host.rank).collect();
        assert_eq!(ranks, [0, 1, 2]);
        assert_eq!(facts.intervals_left_out, 0);
        assert!(facts.clocks_measured);
    }
    assert!(
        received
            .iter()
            .all(|received| received.closing == Shutdown::Together)
    );
}

/// What rank 0 assembled from messages equals the merged stores, to the
/// last bucket.
#[test]
fn histograms_are_those_of_the_merged_stores() {
    let group = Group::new();
    let ranks = arrays();
    let received = group.run(&ranks, &request(&workload(), 1));
    let heard = total(&received);
    let context = Context::new(Surroundings {
        clock: Box::new(Stopped),
        observer: Box::new(NullObserver),
        interrupt: Interrupt::default(),
        store: Some(group.directory.path().join("merged.db")),
        store_is_named: true,
        command: vec!["test".to_owned()],
        version: "1".to_owned(),
        random_seed: [1, 2],
        file_system_size: FileSystemSize::AtMost { bytes: 4 << 30 },
    });
    let of_rank = |(rank, received): (usize, &Came)| {
        let id = &received.ended.as_ref().unwrap()[0].id;
        format!("{}#{id}", group.store_of(rank).display())
    };
    let request = MergeRequest {
        sources: received.iter().enumerate().map(of_rank).collect(),
        partial: false,
        label: None,
    };
    let mut store = context.open_store().unwrap();
    let stored = merge(&context, &mut store, &request).unwrap();
    let stored = stored.records.into_iter().next().unwrap();
    assert_eq!(heard.jobs[0].outcome, stored.jobs[0].outcome);
    assert!(stored.jobs[0].outcome.read.histogram.is_some());
    let rows = |run: &RunRecord| -> Vec<(f64, f64)> {
        let hosts = run.merged.as_ref().unwrap().hosts.iter();
        hosts.map(|host| (host.iops, host.share)).collect()
    };
    assert_eq!(rows(heard), rows(&stored));
}

struct Stopped;

impl stripewise_campaign::Clock for Stopped {
    fn now_ns(&self) -> u64 {
        0
    }

    fn timestamp(&self) -> String {
        "2026-01-01T00:00:00.000Z".to_owned()
    }

    fn wall(&self) -> stripewise_units::WallTime {
        stripewise_units::WallTime(0)
    }
}

/// The recorded skew is right although clocks are wrong by seconds: the recorded
/// start agrees with the common instant.
#[test]
fn clocks_that_are_wrong_by_seconds_do_no_harm() {
    let group = Group::new();
    let offsets_ns = [0, 3_000_000_000, -3_000_000_000];
    let names = ["alpha", "beta", "gamma"];
    let ranks: Vec<Rank> = (names.iter().zip(offsets_ns))
        .map(|(name, clock_by_ns)| Rank {
            clock_by_ns,
            ..Rank::on(name, &group.file(name))
        })
        .collect();
    let received = group.run(&ranks, &request(&slow_reads(), 1));
    let facts = total(&received).merged.as_ref().unwrap();
    let mut common = Vec::new();
    for (rank, part) in ranks.iter().zip(&received[0].parts[0]) {
        let start = part.run.start.as_ref().unwrap();
        let offset_ns = start.clock_offset_ns.unwrap();
        let error_ns = i64::try_from(start.clock_error_ns.unwrap()).unwrap();
        // All ranks read one clock: the offset is right within its own error.
        let wrong_by_ns = (offset_ns - rank.clock_by_ns).abs();
        assert!(wrong_by_ns <= error_ns + 1_000, "{start:?}");
        // On the true clock, when it was to start and when it did.
        let agreed = start.agreed.unwrap().shifted(-offset_ns);
        let began = start.measured_from.shifted(-rank.clock_by_ns);
        let skew_ns = start.skew_ns.unwrap();
        assert!(skew_ns >= 0, "{start:?}");
        let seen_ns = began.since(agreed);
        assert!(
            (seen_ns - skew_ns).abs() <= wrong_by_ns + 1_000,
            "{start:?}"
        );
        common.push(agreed);
    }
    assert_eq!(common, [common[0]; 3]);
    assert!(facts.hosts.iter().all(|host| host.clock_drift_ns.is_some()));
}

/// A rank that cannot do it, and the message of rank 0 about it.
#[test]
fn a_rank_that_cannot_do_it_stops_all_before_the_first_byte() {
    let change = |change: &dyn Fn(&mut Rank)| {
        let mut ranks = arrays();
        change(&mut ranks[1]);
        ranks.to_vec()
    };
    let no_targets = {
        let [alpha, beta, gamma] = arrays();
        let target = "/nonexistent/disk".to_owned();
        let (beta, gamma) = (
            Rank {
                target: target.clone(),
                ..beta
            },
            Rank { target, ..gamma },
        );
        vec![alpha, beta, gamma]
    };
    let cases: [(Vec<Rank>, &[&str]); 5] = [
        (
            change(&|rank| rank.target = "/nonexistent/disk".to_owned()),
            &["beta: ", "/nonexistent/disk"],
        ),
        (no_targets, &["beta: ", "gamma: ", "/nonexistent/disk"]),
        (
            change(&|rank| rank.version = "2"),
            &["beta runs version 2, and alpha version 1"],
        ),
        (
            change(&|rank| rank.is_silent = true),
            &["rank 1 says nothing for 5 s"],
        ),
        (
            change(&|rank| rank.destroys_anywhere = true),
            &["--destroy names a device without its host"],
        ),
    ];
    for (ranks, says) in cases {
        let mut group = Group::new();
        group.patience.answer_ns = 5 * S;
        group.patience.silence_ns = 5 * S;
        let received = group.run(&ranks, &request(&workload(), 1));
        let reported_text = received[0].ended.as_ref().unwrap_err();
        for part in says {
            assert!(reported_text.contains(part), "{reported_text}");
        }
        assert!(
            received[2].ended.is_err(),
            "no rank measures without the others"
        );
        assert!(
            received
                .iter()
                .all(|received| received.merged.is_none() && received.parts.is_empty())
        );
    }
}

#[test]
fn two_ranks_of_a_host_share_a_file_only_where_that_is_allowed() {
    let group = Group::new();
    let file = group.file("data");
    let workload = Workload {
        duration_ns: S / 2,
        ..slow_reads()
    };
    let ranks = |host: &str, is_shared: bool| {
        ["alpha", host].map(|host| Rank {
            is_shared,
            ..Rank::on(host, &file)
        })
    };
    let received = group.run(&ranks("alpha", false), &request(&workload, 1));
    let reported_text = received[0].ended.as_ref().unwrap_err();
    assert!(
        reported_text.contains("two ranks on alpha would work on"),
        "{reported_text}"
    );
    for ranks in [ranks("alpha", true), ranks("beta", false)] {
        let received = Group::new().run(&ranks, &request(&workload, 1));
        assert_eq!(total(&received).merged.as_ref().unwrap().hosts.len(), 2);
    }
}

/// A link, a second name, another spelling: still the same file.
#[test]
fn a_file_is_told_by_what_it_is_and_not_by_its_name() {
    let group = Group::new();
    let file = group.file("data");
    let other = group.directory.path().join("other");
    std::fs::hard_link(&file, &other).unwrap();
    let other = other.to_str().unwrap();
    let ranks = [Rank::on("alpha", &file), Rank::on("alpha", other)];
    let reported_text = group.each(&ranks, &|member, own| {
        let target = ranks[member.rank() as usize].target.clone();
        let read = member
            .is_leader()
            .then(|| (Vec::new(), HostTargets::default()));
        let checked = member
            .targets(&own.context, read)
            .and_then(|_| member.checked(&own.context, &places(&[target]), ""));
        let failure = checked.expect_err("both are the same file");
        member.report_failure(&failure);
        failure.chain()
    });
    let reported_text = &reported_text[0];
    assert!(
        reported_text.contains("two ranks on alpha would work on the same bytes"),
        "{reported_text}"
    );
}

/// A disk that stalls while a test file is made blocks its rank for longer than the time
/// limit: it counts as present. A rank without heartbeats does not.
#[test]
fn a_disk_that_stalls_before_the_start_is_waited_for_and_a_dead_host_is_not() {
    let workload = Workload {
        duration_ns: S,
        ..slow_reads()
    };
    for has_pulse in [true, false] {
        let mut group = Group::new();
        (group.patience.preparing_ns, group.patience.answer_ns) = (5 * S, 5 * S);
        let ranks = ["alpha", "beta"].map(|name| Rank {
            held_up_ns: if name == "beta" { 8 * S } else { 0 },
            has_pulse,
            ..Rank::on(name, &group.file(name))
        });
        let received = group.run(&ranks, &request(&workload, 1));
        match has_pulse {
            true => assert_eq!(
                total(&received).status,
                Status::Complete,
                "{:?}",
                received[0]
            ),
            false => {
                let reported_text = received[0].ended.as_ref().unwrap_err();
                assert!(
                    reported_text.contains("beta says nothing for 5 s"),
                    "{reported_text}"
                );
            }
        }
    }
}

/// No rank has failed to answer if the answer is no longer awaited.
#[test]
fn a_signal_while_clocks_are_compared_is_called_one() {
    let group = Group::new();
    let interrupt = Interrupt::default();
    let mut ranks = ["alpha", "beta"].map(|name| Rank::on(name, &group.file(name)));
    ranks[0].interrupt = interrupt.clone();
    ranks[1].raises_at_ping = Some(interrupt);
    let received = group.run(&ranks, &request(&slow_reads(), 1));
    let reported_text = received[0].ended.as_ref().unwrap_err();
    assert!(
        reported_text.contains("interrupted while the hosts waited"),
        "{reported_text}"
    );
    assert!(
        !reported_text.contains("does not answer"),
        "{reported_text}"
    );
    assert!(received[0].merged.is_none());
}

/// A rank that falls silent while it measures: the others stop, it is reported, and its
/// earlier messages count.
#[test]
fn a_rank_that_falls_silent_is_named_and_what_was_measured_is_merged() {
    let mut group = Group::new();
    group.patience.silence_ns = 5 * S;
    let names = ["alpha", "beta", "gamma"];
    let ranks = names.map(|name| Rank {
        falls_silent: name == "beta",
        ..Rank::on(name, &group.file(name))
    });
    let workload = Workload {
        duration_ns: 60 * S,
        ..slow_reads()
    };
    let received = group.run(&ranks, &request(&workload, 2));
    let reported_text = received[0]
        .notes
        .iter()
        .find(|text| text.starts_with("beta says nothing"));
    assert!(reported_text.is_some(), "{:?}", received[0].notes);
    let total = total(&received);
    assert_eq!(total.status, Status::Partial);
    assert!(total.jobs[0].outcome.operations > 0);
    // The second run was not started, and says so.
    let ended = received[0].ended.as_ref().unwrap_err();
    assert!(ended.contains("a host is missing"), "{ended}");
    assert_eq!(received[0].closing, Shutdown::WithoutAll);
    // It has detected that it is alone, and stored its own part.
    assert!(
        received[1]
            .notes
            .iter()
            .any(|text| text.starts_with("rank 0 says nothing"))
    );
}
