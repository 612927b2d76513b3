//! What the program will not take, with exit code 2 and a hint.

use crate::support::Desk;

/// Each is refused as a usage error that says these words, and nothing is kept.
fn check_refused(cases: &[(&[&str], &[&str])]) {
    let desk = Desk::new();
    for (arguments, says) in cases {
        desk.run(arguments).failed(2, says);
    }
    assert!(desk.ids().is_empty());
}

#[test]
fn numbers_out_of_range_are_refused() {
    check_refused(&[
        (
            &["run", "sim:nvme", "--threads", "4097"],
            &["--threads 4097", "4096"],
        ),
        (&["run", "sim:nvme", "--threads", "0"], &["--threads 0"]),
        (
            &["run", "sim:nvme", "--outstanding", "4097"],
            &["--outstanding 4097", "4096"],
        ),
        (
            &["run", "sim:nvme", "--outstanding", "0"],
            &["--outstanding 0"],
        ),
        (
            &[
                "run",
                "sim:nvme",
                "--threads",
                "32",
                "--outstanding",
                "4096",
            ],
            &["131,072", "65,536", "--outstanding 2048"],
        ),
        (
            &["run", "sim:nvme", "--block", "513"],
            &["--block 513", "512", "1K"],
        ),
        (&["run", "sim:nvme", "--block", "256"], &["--block 256"]),
        (
            &["run", "sim:nvme", "--block", "65M"],
            &["--block 65M", "64 MiB"],
        ),
        (
            &["run", "sim:nvme", "--size", "9T"],
            &["--size 9T", "past the end"],
        ),
        (&["run", "sim:nvme", "--size", "4K"], &["4,096 bytes"]),
        (
            &["run", "sim:nvme", "--base-offset", "9T"],
            &["--base-offset 9T"],
        ),
        (
            &["run", "sim:nvme", "--base-offset", "100"],
            &["--base-offset 100", "sector"],
        ),
        (&["run", "sim:nvme", "--duration", "0s"], &["--duration"]),
        (
            &["bench", "sim:nvme", "--step", "5124095h"],
            &["--step 5124095h", "a year"],
        ),
        (
            &["align", "sim:nvme", "--step", "5124095h"],
            &["--step 5124095h", "a year"],
        ),
        (
            &["sqlio", "-s5124095559999", "x.dat", "--drive", "X=sim:nvme"],
            &[],
        ),
        (
            &["bench", "sim:nvme", "--report", "nowhere/report.html"],
            &["nowhere/report.html", "directory"],
        ),
        (
            &["run", "sim:nvme", "--interval", "0s"],
            &["--interval 0s", "1ms to 10s"],
        ),
    ]);
}

#[test]
fn ways_of_operating_that_exclude_each_other_are_refused() {
    check_refused(&[
        (
            &["run", "sim:nvme", "--atomic"],
            &["--atomic", "no writes", "--write"],
        ),
        (
            &["run", "sim:nvme", "--write", "--atomic", "--block", "12K"],
            &["--atomic", "power of two", "--block"],
        ),
        (
            &[
                "run",
                "sim:nvme",
                "--write",
                "--atomic",
                "--base-offset",
                "63s",
            ],
            &["--atomic", "31.5K", "multiple"],
        ),
        (
            &["run", "sim:nvme", "--poll", "--cache", "buffered"],
            &["--poll", "--cache buffered", "direct"],
        ),
        (
            &[
                "run",
                "sim:nvme",
                "--write",
                "--poll",
                "--sync",
                "fdatasync",
            ],
            &["--poll", "--sync", "direct-sync"],
        ),
        (
            &[
                "run",
                "sim:nvme",
                "--distribution",
                "covering",
                "--block",
                "4K:50,8K:50",
            ],
            &["4K:50,8K:50", "covering", "--distribution uniform"],
        ),
    ]);
}

#[test]
fn values_that_cannot_be_read_are_refused() {
    check_refused(&[
        (&["bench", "sim:nvme", "--slo", "fast"], &["fast"]),
        (&["bench", "sim:nvme", "--slo", "p99<"], &["p99<"]),
        (
            &["bench", "sim:nvme", "--series", "random"],
            &["random-read"],
        ),
        (&["run", "sim:nvme", "--block", "8Q"], &["8Q"]),
        (&["run", "sim:nvme", "--rate", "0"], &["--rate"]),
        (&["run", "sim:nvme", "--cache", "cold"], &["cold"]),
        (&["run", "sim:nvme", "--engine", "aio"], &["aio"]),
        (&["run", "sim:nvme", "--distribution", "zipf"], &["zipf"]),
        (&["run", "sim:nvme", "--cpus", "3-1"], &["3-1"]),
        (&["run", "sim:nvme", "--read-percent", "101"], &["101"]),
    ]);
}

#[test]
fn switches_that_contradict_each_other_are_refused() {
    check_refused(&[
        (&["run", "sim:nvme", "--read", "--write"], &["--write"]),
        (
            &["run", "sim:nvme", "--random", "--sequential"],
            &["--sequential"],
        ),
        (&["run", "sim:nvme", "--arrivals", "poisson"], &["--rate"]),
        (
            &[
                "run",
                "sim:nvme",
                "--sequential",
                "--distribution",
                "zipf:0.9",
            ],
            &["random positions"],
        ),
        (
            &["run", "sim:nvme", "--cursor", "shared"],
            &["--cursor", "--sequential"],
        ),
        (&["run", "sim:nvme", "--sync", "fdatasync"], &["--sync"]),
        (&["run", "sim:nvme", "--alone"], &["--plan"]),
        (&["run", "sim:nvme", "--plan", "x.toml"], &["--plan"]),
        (&["run"], &["TARGET"]),
        (
            &["bench", "sim:nvme", "--read-only", "--series", "log"],
            &["no series is left", "--read-only"],
        ),
    ]);
}

#[test]
fn targets_that_do_not_exist_are_told_by_name() {
    let desk = Desk::new();
    desk.run(&["run", "sim:floppy"])
        .failed(2, &["floppy", "raid10-10k"]);
    desk.run(&["run", "sim:nvme?disk=4"]).failed(2, &["disk"]);
    desk.run(&["run", "sim:missing.toml"])
        .failed(2, &["missing.toml"]);
    desk.run(&["run", "/nowhere/at/all"])
        .failed(3, &["/nowhere/at/all"]);
    desk.run(&["run", "dataset:oja-nisula-2007-offset"])
        .failed(2, &["published table"]);
}

#[test]
fn what_the_file_forbids_is_a_mistake_in_use() {
    let desk = Desk::new();
    let volume = desk.volume();
    for (switch, value) in [
        ("--block", "1000"),
        ("--base-offset", "100"),
        ("--block", "4M"),
    ] {
        let all = [
            "run",
            &volume,
            "--busy-ok",
            "--size",
            "2M",
            "--duration",
            "50ms",
            switch,
            value,
        ];
        desk.run(&all).failed(2, &[value]);
        assert!(crate::support::names(&volume).is_empty());
    }
}

#[test]
fn buffers_that_do_not_fit_in_memory_are_refused_before_anything_is_made() {
    let desk = Desk::new();
    let volume = desk.volume();
    // 4 TiB of buffers.
    let answer = desk.run(&[
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "64M",
        "--block",
        "64M",
        "--threads",
        "16",
        "--outstanding",
        "4096",
        "--duration",
        "100ms",
    ]);
    assert!(
        matches!(answer.code, Some(2 | 3)),
        "{:?}\n{}",
        answer.code,
        answer.stderr
    );
    assert_eq!(answer.stdout, "");
    answer.said(&["memory"]);
    assert!(desk.ids().is_empty());
}

#[test]
fn what_a_target_cannot_do_is_refused_as_its_fault() {
    let desk = Desk::new();
    let cases: [(&[&str], &[&str]); 3] = [
        (&["--write", "--atomic"], &["simulated arrays", "--atomic"]),
        (&["--poll"], &["simulated arrays", "--poll"]),
        (
            &["--cache", "dontcache"],
            &["simulated arrays", "dontcache"],
        ),
    ];
    for (options, says) in cases {
        let arguments = [&["run", "sim:nvme", "--duration", "10ms"], options].concat();
        desk.run(&arguments).failed(3, says);
    }
    assert!(desk.ids().is_empty());
}
