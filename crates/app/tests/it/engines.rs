//! Ways to do I/O agree with each other.

use crate::support::{Desk, Json, codes, long_enough, read_by_another};

#[test]
fn engines_count_the_same_bytes_of_the_same_file() {
    let desk = Desk::new();
    let file = desk.file("kept");
    desk.run(&["prepare", &file, "--size", "8M", "--busy-ok"])
        .done();
    for engine in ["auto", "uring", "threads", "null"] {
        for outstanding in ["1", "16"] {
            let measure = |duration: &str| {
                desk.job(&[
                    "run",
                    &file,
                    "--busy-ok",
                    "--duration",
                    duration,
                    "--engine",
                    engine,
                    "--block",
                    "16K",
                    "--outstanding",
                    outstanding,
                ])
            };
            let operations = |job: &Json| job.at("outcome.operations").count();
            let job = long_enough(measure, |job| operations(job) > 0);
            let outcome = job.at("outcome");
            let operations = operations(&job);
            assert_eq!(
                outcome.at("bytes").count(),
                operations * (16 << 10),
                "{engine}"
            );
            assert_eq!(outcome.at("errors.total").count(), 0, "{engine}");
            assert_eq!(job.at("engine.asked").text(), engine);
            let name = job.at("engine.name").text();
            let expected: &[&str] = match engine {
                "auto" => &["io_uring", "threads"],
                "uring" => &["io_uring"],
                "threads" => &["threads"],
                _ => &["null"],
            };
            assert!(expected.contains(&name.as_str()), "{engine}: {name}");
            let null = codes(&job).contains(&"null-engine".to_owned());
            assert_eq!(null, engine == "null");
        }
    }
}

#[test]
fn engines_write_what_they_say() {
    own_process!();
    let desk = Desk::new();
    for engine in ["uring", "threads"] {
        let file = desk.file(engine);
        desk.run(&["prepare", &file, "--size", "1M", "--busy-ok"])
            .done();
        let before = read_by_another(&file);
        // As many blocks as there is time for, of the 8 of the second half.
        let job = desk.job(&[
            "run",
            &file,
            "--busy-ok",
            "--write",
            "--sequential",
            "--block",
            "64K",
            "--base-offset",
            "512K",
            "--size",
            "512K",
            "--duration",
            "300ms",
            "--engine",
            engine,
        ]);
        let after = std::fs::read(&file).expect("the file");
        assert_eq!(after.len(), 1 << 20);
        assert!(
            before[..512 << 10] == after[..512 << 10],
            "{engine}: outside of the span"
        );
        let written =
            job.at("outcome.write.operations").count() + job.at("outcome.drain.operations").count();
        let changed = (0..8)
            .filter(|block| {
                let range = (512 << 10) + (block << 16)..(512 << 10) + ((block + 1) << 16);
                before[range.clone()] != after[range]
            })
            .count() as u64;
        assert_eq!(changed, written.min(8), "{engine}");
        // Unique per 4 KiB block, never zeros, also on rewrite.
        let mut blocks: Vec<&[u8]> = after.chunks(4096).collect();
        blocks.sort();
        blocks.dedup();
        assert_eq!(blocks.len(), 256, "{engine}");
    }
}

#[test]
fn four_thousand_outstanding_of_one_thread_work() {
    let desk = Desk::new();
    for engine in ["uring", "threads"] {
        let load = ["--outstanding", "4096", "--block", "4K", "--engine", engine];
        let job = with_operations(&desk, &load, 4096);
        let outcome = job.at("outcome");
        assert_eq!(outcome.at("errors.total").count(), 0, "{engine}");
        assert_eq!(outcome.at("drain.abandoned").count(), 0, "{engine}");
    }
}

/// A job on a file whose window is long enough to issue so many operations.
fn with_operations(desk: &Desk, load: &[&str], operations: u64) -> Json {
    let done = |job: &Json| {
        let outcome = job.at("outcome");
        outcome.at("operations").count() + outcome.at("drain.operations").count()
    };
    let measure =
        |duration: &str| desk.job_on_file(&[load, &["--duration", duration][..]].concat());
    long_enough(measure, |job| done(job) >= operations)
}

#[test]
fn two_hundred_and_fifty_six_threads_work_on_a_file() {
    let desk = Desk::new();
    let job = with_operations(&desk, &["--threads", "256", "--block", "4K"], 256);
    assert_eq!(job.at("outcome.errors.total").count(), 0);
}

#[test]
fn threads_stay_on_the_processors_that_were_named() {
    let desk = Desk::new();
    with_operations(&desk, &["--cpus", "0", "--threads", "2"], 1);
    let volume = desk.volume();
    desk.run(&[
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "50ms",
        "--cpus",
        "9999",
    ])
    .failed(2, &["9999"]);
}

#[test]
fn an_engine_that_is_not_here_is_refused_before_a_file_is_made() {
    let desk = Desk::new();
    let volume = desk.volume();
    let run = [
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "50ms",
        "--engine",
    ];
    let cases: [(&[&str], i32, &str); 3] = [
        (&["iocp"], 3, "only on Windows"),
        (&["nvme"], 2, "no NVMe generic character device"),
        (&["threads", "--poll"], 2, "does not poll"),
    ];
    for (engine, code, says) in cases {
        let answer = desk.run(&[&run, engine].concat());
        assert!(
            !answer.stderr.contains("Filling"),
            "{engine:?}: {}",
            answer.stderr
        );
        answer.failed(code, &[says, "hint:"]);
    }
    let gone = ["run", "/dev/ng/of/nobody", "--engine", "nvme"];
    desk.run(&gone)
        .failed(3, &["does not exist", "ls /dev/ng*"]);
}
