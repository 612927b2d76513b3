//! Lists make grids; patterns, offsets, sizes and rates mean what they say.

use crate::support::{Desk, Json};

/// What tells the cells of a grid apart.
fn cell(run: &Json) -> (u64, u64, u64, u64) {
    let workload = run.at("jobs.0.workload");
    let field = |name: &str| workload.at(name).count();
    (
        field("block_size_bytes"),
        field("base_offset_bytes"),
        field("threads"),
        field("outstanding"),
    )
}

#[test]
fn every_combination_of_the_lists_is_a_run_and_a_row() {
    let desk = Desk::new();
    let arguments = [
        "run",
        "sim:nvme",
        "--duration",
        "10ms",
        "--block",
        "8K,64K",
        "--base-offset",
        "63s,36K",
        "--threads",
        "1,3",
        "--outstanding",
        "1,2",
    ];
    let document = desk.json(&arguments);
    let cells: Vec<_> = document.at("runs").items().iter().map(cell).collect();
    let mut expected = Vec::new();
    for block in [8 << 10, 64 << 10] {
        for offset in [63 * 512, 36 << 10] {
            for threads in [1, 3] {
                for outstanding in [1, 2] {
                    expected.push((block, offset, threads, outstanding));
                }
            }
        }
    }
    assert_eq!(cells, expected);
    let table = desk.run(&arguments).done().stdout;
    let rows = table.lines().filter(|line| line.starts_with("random read"));
    assert_eq!(rows.count(), 16, "{table}");
    assert!(table.contains("31.5K") && table.contains("36K"), "{table}");
}

#[test]
fn repeat_does_everything_again() {
    let desk = Desk::new();
    let document = desk.json(&[
        "run",
        "sim:nvme",
        "--duration",
        "10ms",
        "--outstanding",
        "1,4",
        "--repeat",
        "3",
    ]);
    let depths: Vec<u64> = document
        .at("runs")
        .items()
        .iter()
        .map(|run| cell(run).3)
        .collect();
    assert_eq!(depths, [1, 4, 1, 4, 1, 4]);
}

#[test]
fn a_misaligned_base_offset_costs_what_the_arithmetic_says() {
    let desk = Desk::new();
    // 8K on a 64K unit cross it once in eight where the start is not a multiple of 8K.
    let document = desk.json(&[
        "run",
        "sim:raid10-10k?offset=0",
        "--outstanding",
        "64",
        "--base-offset",
        "0,36K",
    ]);
    let iops: Vec<f64> = document
        .at("runs")
        .items()
        .iter()
        .map(|run| run.at("jobs.0.outcome.iops").number())
        .collect();
    let gain = iops[0] / iops[1];
    assert!((1.02..1.2).contains(&gain), "{gain}");
}

#[test]
fn patterns_mean_what_they_say_on_a_disk_that_seeks() {
    let desk = Desk::new();
    let iops = |arguments: &[&str]| {
        let mut all = vec!["run", "sim:disk-7k2", "--duration", "5s"];
        all.extend(arguments);
        desk.job(&all).at("outcome.iops").number()
    };
    let random = iops(&["--random"]);
    let sequential = iops(&["--sequential"]);
    let shared = iops(&["--sequential", "--threads", "4", "--cursor", "shared"]);
    let own = iops(&["--sequential", "--threads", "4", "--cursor", "own"]);
    let stride = iops(&["--stride", "64M"]);
    let hot = iops(&["--distribution", "hot:1/99"]);
    assert!(sequential > 20.0 * random, "{sequential} {random}");
    // One position for all threads is a stream, one for each is as bad as random.
    assert!(shared > 20.0 * own, "{shared} {own}");
    // A stride across the disk seeks; a hundredth of the disk needs short seeks.
    assert!(stride < sequential / 10.0, "{stride} {sequential}");
    assert!(hot > 1.2 * random, "{hot} {random}");
}

#[test]
fn distributions_and_patterns_are_in_the_record() {
    let desk = Desk::new();
    let cases: [(&[&str], &str, &str); 6] = [
        (&["--random"], "random", "uniform"),
        (&["--distribution", "zipf:0.99"], "random", "zipf:0.99"),
        (&["--distribution", "hot:10/90"], "random", "hot:10/90"),
        (&["--sequential"], "sequential", "own"),
        (
            &["--sequential", "--cursor", "shared"],
            "sequential",
            "shared",
        ),
        (&["--stride", "1M"], "stride", "own"),
    ];
    for (switches, pattern, detail) in cases {
        let mut all = vec!["run", "sim:nvme", "--duration", "10ms"];
        all.extend(switches);
        let workload = desk.job(&all).at("workload");
        assert_eq!(workload.at("pattern").text(), pattern);
        let name = if pattern == "random" {
            "distribution"
        } else {
            "cursor"
        };
        assert_eq!(workload.at(name).text(), detail, "{switches:?}");
    }
}

#[test]
fn a_poisson_rate_waits_longer_than_a_fixed_one() {
    let desk = Desk::new();
    let mean = |arrivals: &str| {
        let job = desk.job(&[
            "run",
            "sim:disk-15k",
            "--rate",
            "100",
            "--arrivals",
            arrivals,
            "--duration",
            "60s",
            "--outstanding",
            "64",
        ]);
        job.at("outcome.read.latency_ns.mean").number()
    };
    let (fixed, poisson) = (mean("fixed"), mean("poisson"));
    assert!(poisson > 1.1 * fixed, "{poisson} {fixed}");
}

#[test]
fn a_rate_that_the_target_cannot_give_is_told_with_what_was_left_out() {
    let desk = Desk::new();
    let job = desk.job(&[
        "run",
        "sim:disk-7k2",
        "--rate",
        "2000",
        "--outstanding",
        "4",
        "--duration",
        "5s",
    ]);
    let outcome = job.at("outcome");
    let (due, issued) = (
        outcome.at("arrivals_due").count(),
        outcome.at("arrivals_issued").count(),
    );
    assert_eq!(due, 10_000);
    assert!(issued < due / 2, "{issued}");
    // Latency counts from when it should have begun: seconds, not milliseconds.
    assert!(outcome.at("read.latency_ns.p50").count() > 500_000_000);
    assert!(crate::support::codes(&job).contains(&"arrivals-not-issued".to_owned()));
}

#[test]
fn syncs_are_counted_and_timed_apart() {
    let desk = Desk::new();
    for (policy, every) in [("fdatasync", 1), ("fdatasync:4", 4)] {
        let job = desk.job(&[
            "run",
            "sim:sata-ssd",
            "--write",
            "--sync",
            policy,
            "--duration",
            "1s",
        ]);
        let writes = job.at("outcome.write.operations").count();
        let syncs = job.at("outcome.sync.operations").count();
        assert!(
            syncs.abs_diff(writes / every) <= 1,
            "{policy}: {writes} {syncs}"
        );
        job.at("outcome.sync.latency_ns.p50");
        assert_eq!(job.at("outcome.operations").count(), writes);
    }
    let job = desk.job_on_file(&["--write", "--sync", "fdatasync:2", "--duration", "1s"]);
    let writes = job.at("outcome.write.operations").count();
    let syncs = job.at("outcome.sync.operations").count();
    assert!(syncs.abs_diff(writes / 2) <= 2, "{writes} {syncs}");
    assert!(desk.job_on_file(&[]).at("outcome").maybe("sync").is_none());
}

#[test]
fn cache_modes_work_on_a_real_file_and_are_recorded() {
    let desk = Desk::new();
    for mode in ["direct", "direct-sync", "buffered", "buffered-sync"] {
        let job = desk.job_on_file(&["--write", "--cache", mode]);
        assert_eq!(job.at("workload.cache").text(), mode);
        assert!(job.at("outcome.write.operations").count() > 0);
    }
}

#[test]
fn blocks_from_512_bytes_to_64_mib_work_on_a_real_file() {
    let desk = Desk::new();
    let volume = desk.volume();
    for (block, bytes, size) in [("512", 512, "8M"), ("64M", 64 << 20, "128M")] {
        let document = desk.run(&[
            "run",
            &volume,
            "--busy-ok",
            "--block",
            block,
            "--size",
            size,
            "--duration",
            "300ms",
            "--json",
        ]);
        if block == "512" && document.stderr.contains("logical sector") {
            eprintln!("skipped: 512 bytes on a real file: needs sectors of 512 bytes");
            continue;
        }
        let document = document.done().json();
        let outcome = document.at("runs.0.jobs.0.outcome");
        let operations = outcome.at("operations").count() + outcome.at("drain.operations").count();
        assert!(operations > 0, "{block}");
        let counted = outcome.at("operations").count();
        assert_eq!(outcome.at("bytes").count(), counted * bytes);
    }
}

#[test]
fn base_offsets_and_sizes_bound_what_is_read() {
    let desk = Desk::new();
    // Every byte outside of [64K, 64K + 1M) of the target fails.
    let inject = "fail=5@offsets=0..65536;fail=5@offsets=1114112..1099511627776";
    let job = desk.job_on_file(&[
        "--base-offset",
        "64K",
        "--size",
        "1M",
        "--inject",
        inject,
        "--outstanding",
        "8",
    ]);
    assert!(job.at("outcome.operations").count() > 0);
    assert_eq!(job.at("outcome.errors.total").count(), 0);
    for offset in ["63s", "36K"] {
        let job = desk.job_on_file(&["--base-offset", offset, "--size", "4M"]);
        assert!(job.at("outcome.operations").count() > 0, "{offset}");
    }
}

#[test]
fn two_hundred_and_fifty_six_threads_work_in_virtual_time() {
    let desk = Desk::new();
    let job = desk.job(&[
        "run",
        "sim:nvme",
        "--threads",
        "256",
        "--outstanding",
        "4",
        "--duration",
        "20ms",
    ]);
    assert_eq!(job.at("workload.threads").count(), 256);
    assert!(job.at("outcome.outstanding_mean").number() > 900.0);
}

#[test]
fn sixty_five_thousand_operations_in_flight_work_in_virtual_time() {
    let desk = Desk::new();
    let job = desk.job(&[
        "run",
        "sim:nvme",
        "--threads",
        "16",
        "--outstanding",
        "4096",
        "--duration",
        "1s",
    ]);
    // The array takes 1,024 at once; all others wait at the program.
    assert!(job.at("outcome.outstanding_mean").number() > 60_000.0);
}
