//! Lists make grids; patterns are recorded; sizes, offsets and syncs on real files. What
//! patterns and rates mean is tested as functions in `campaign`.

use crate::support::machine::skip_kernel;
use crate::support::{Desk, Json, long_enough};

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
fn syncs_of_a_real_file_are_counted_apart() {
    let desk = Desk::new();
    let counts = |duration: &str| {
        let load = ["--write", "--sync", "fdatasync:2", "--duration", duration];
        let outcome = desk.job_on_file(&load).at("outcome");
        let syncs = outcome.maybe("sync.operations");
        let syncs = syncs.map_or(0, |count| count.count());
        (outcome.at("write.operations").count(), syncs)
    };
    let (writes, syncs) = long_enough(counts, |(writes, _)| *writes > 6);
    assert!(syncs.abs_diff(writes / 2) <= 2, "{writes} {syncs}");
    assert!(desk.job_on_file(&[]).at("outcome").maybe("sync").is_none());
}

#[test]
fn cache_modes_work_on_a_real_file_and_are_recorded() {
    let desk = Desk::new();
    for mode in ["direct", "direct-sync", "buffered", "buffered-sync"] {
        let measure = |duration: &str| {
            desk.job_on_file(&["--write", "--cache", mode, "--duration", duration])
        };
        let writes = |job: &Json| job.at("outcome.write.operations").count() > 0;
        let job = long_enough(measure, writes);
        assert_eq!(job.at("workload.cache").text(), mode);
    }
}

#[test]
fn blocks_from_512_bytes_to_64_mib_work_on_a_real_file() {
    let test = "blocks_from_512_bytes_to_64_mib_work_on_a_real_file";
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
            skip_kernel(test, "sectors of 512 bytes below temporary files");
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
    let has_operations = |job: &Json| job.at("outcome.operations").count() > 0;
    let inside = |duration: &str| {
        desk.job_on_file(&[
            "--base-offset",
            "64K",
            "--size",
            "1M",
            "--inject",
            inject,
            "--outstanding",
            "8",
            "--duration",
            duration,
        ])
    };
    let job = long_enough(inside, has_operations);
    assert_eq!(job.at("outcome.errors.total").count(), 0);
    for offset in ["63s", "36K"] {
        let load = ["--base-offset", offset, "--size", "4M", "--duration"];
        let measure = |duration: &str| desk.job_on_file(&[&load[..], &[duration]].concat());
        long_enough(measure, has_operations);
    }
}
