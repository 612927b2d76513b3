//! Failing operations, stalls, full and vanishing places.

use crate::support::windows::long_enough_from;
use crate::support::{
    Desk, Json, Loop, MIB, Mount, can_run, codes, long_enough, names, only_job, run, text,
    until_measured, users_file,
};
use rustix::process::Signal;

#[test]
fn a_failing_operation_is_counted_kept_and_told() {
    let desk = Desk::new();
    let volume = desk.volume();
    for engine in ["uring", "threads"] {
        let measure = |duration: &str| {
            desk.run(&[
                "run",
                &volume,
                "--busy-ok",
                "--size",
                "4M",
                "--duration",
                duration,
                "--engine",
                engine,
                "--outstanding",
                "4",
                "--inject",
                "fail=5@nth=20",
                "--json",
            ])
        };
        let answer = long_enough(measure, |answer| operations(&answer.json()) >= 30).ended(4);
        let job = only_job(&answer.json());
        let errors = job.at("outcome.errors");
        assert_eq!(errors.at("total").count(), 1, "{engine}");
        assert_eq!(errors.at("by_reason").at("read EIO").count(), 1);
        assert!(errors.at("first").text().contains("EIO"));
        assert!(codes(&job).contains(&"errors".to_owned()));
        // The others counted.
        let operations = job.at("outcome.operations").count();
        assert!(operations >= 19, "{operations}");
        assert_eq!(job.at("outcome.read.operations").count(), operations);
        let shown = desk.run(&["history", "show", "last", "--json"]).done();
        assert_eq!(shown.stdout, answer.stdout);
    }
    let words = desk.run(&["history", "show", "last"]).done().stdout;
    assert!(words.contains("EIO"), "{words}");
    assert!(names(&volume).is_empty());
}

/// Operations of the only job of a document that did not fail.
fn operations(document: &Json) -> u64 {
    only_job(document).at("outcome.operations").count()
}

#[test]
fn failing_writes_and_short_transfers_are_told_apart() {
    let desk = Desk::new();
    let volume = desk.volume();
    let failing = |kind: &str, inject: &str| {
        let measure = |duration: &str| {
            desk.run(&[
                "run",
                &volume,
                "--busy-ok",
                "--size",
                "4M",
                "--duration",
                duration,
                kind,
                "--inject",
                inject,
                "--json",
            ])
        };
        let answer = long_enough(measure, |answer| operations(&answer.json()) >= 30);
        only_job(&answer.ended(4).json())
    };
    for (inject, kind, reason) in [
        ("fail=28@every=10 write", "--write", "write ENOSPC"),
        ("fail=5@every=10 read", "--read", "read EIO"),
    ] {
        let job = failing(kind, inject);
        let failed = job.at("outcome.errors.by_reason").at(reason).count();
        let worked = job.at("outcome.operations").count();
        // One in ten, give or take what was in flight at either end.
        assert!(
            failed.abs_diff((worked + failed) / 10) <= 2,
            "{failed} {worked}"
        );
    }
    let job = failing("--read", "short=512@nth=5");
    assert_eq!(job.at("outcome.errors.total").count(), 1);
}

/// A directory in memory, where nothing takes long but what is made to, if there is one.
fn in_memory(desk: &Desk) -> (String, Option<tempfile::TempDir>) {
    let memory = tempfile::Builder::new()
        .prefix("stripewise-app-")
        .tempdir_in("/dev/shm");
    match memory {
        Ok(memory) => (text(memory.path()).to_owned(), Some(memory)),
        Err(_) => (desk.volume(), None),
    }
}

#[test]
fn a_stall_of_a_second_shows_in_an_open_loop_and_hides_in_a_closed_one() {
    const HALF_A_SECOND_NS: u64 = 500_000_000;
    let desk = Desk::new();
    let (place, _memory) = in_memory(&desk);
    let stalled = |load: &[&str]| {
        let run = ["run", &place, "--busy-ok", "--size", "8M"];
        let stall = ["--inject", "stall@between=500000000..1500000000"];
        desk.job(&[&run[..], &stall, load].concat()).at("outcome")
    };
    // Half of all arrivals fall into the stall and wait for its end, from their intended start.
    let open = stalled(&["--rate", "200", "--outstanding", "16", "--duration", "2s"]);
    for percentile in ["p90", "p99"] {
        let latency_ns = open.at("read.latency_ns").at(percentile).count();
        assert!(latency_ns >= HALF_A_SECOND_NS, "{percentile}: {latency_ns}");
    }
    // One operation waits, those that it kept from starting are not there. As each comes after
    // the other, there is no room for so many that take half a second.
    let has_many = |outcome: &Json| {
        let room = outcome.at("duration_ns").count() / HALF_A_SECOND_NS;
        outcome.at("operations").count() > 10 * room
    };
    let closed = long_enough_from(2_000, |window| stalled(&["--duration", window]), has_many);
    assert!(closed.at("read.latency_ns.max").count() >= HALF_A_SECOND_NS);
    assert!(closed.at("read.latency_ns.p90").count() < HALF_A_SECOND_NS);
}

#[test]
fn a_volume_that_fills_up_while_the_test_file_is_made_is_told() {
    own_process!();
    let test = "a_volume_that_fills_up_while_the_test_file_is_made_is_told";
    if !can_run(test, &["root", "mount", "fallocate"]) {
        return;
    }
    let device = Loop::new(600 * MIB);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F", "-m", "0"], &device, &[]);
    let hog = format!("{}/hog", mount.text());
    // The file may have been filled before it was stopped.
    let is_in_time = || {
        let desk = Desk::new();
        let run_it = ["run", mount.text(), "--size", "64M", "--busy-ok"];
        let mut running = desk.start(&[&run_it[..], &["--duration", "100ms"]].concat());
        running.until("Filling");
        running.signal(Signal::STOP);
        let free = run("stat", &["-f", "-c", "%a %S", mount.text()]);
        let free: Vec<u64> = free
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let bytes = (free[0] * free[1]).saturating_sub(16 * MIB).to_string();
        run("fallocate", &["-l", &bytes, &hog]);
        running.signal(Signal::CONT);
        let answer = running.wait();
        if answer.code != Some(0) {
            // Whoever notices first words it: the rule of free space, or the disk itself, when
            // the space is taken or when it is written.
            let answer = answer.failed(3, &[mount.text()]);
            let words = ["file system", "No space left"];
            let message = words.iter().any(|word| answer.stderr.contains(word));
            assert!(message, "{}", answer.stderr);
            assert_eq!(names(mount.text()), ["hog"]);
            assert!(desk.ids().is_empty());
            return true;
        }
        std::fs::remove_file(&hog).expect("ours");
        false
    };
    assert!((0..100).any(|_| is_in_time()), "it never fills up");
}

#[test]
fn a_read_only_file_system_is_told_and_can_be_read() {
    own_process!();
    let test = "a_read_only_file_system_is_told_and_can_be_read";
    if !can_run(test, &["root", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::new(64 * MIB);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let file = format!("{}/data", mount.text());
    users_file(&file, 4 * MIB);
    run("mount", &["-o", "remount,ro", mount.text()]);
    let load = ["--duration", "50ms", "--busy-ok"];
    let run = |target: &str, more: &[&str]| {
        let mut all = vec!["run", target];
        all.extend(load);
        all.extend(more);
        desk.run(&all)
    };
    run(mount.text(), &["--size", "1M"]).failed(3, &["read-only", mount.text()]);
    run(&file, &["--write", "--overwrite"]).failed(3, &["ead-only"]);
    run(&file, &[]).done();
    let made = format!("{}/made", mount.text());
    desk.run(&["prepare", &made, "--size", "1M", "--busy-ok"])
        .failed(3, &["ead-only"]);
}

#[test]
fn a_file_that_vanishes_before_it_is_used_is_told() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 4 * MIB);
    std::fs::remove_file(&file).expect("removed");
    desk.run(&["run", &file, "--busy-ok"]).failed(3, &[&file]);
}

#[test]
fn a_file_that_vanishes_while_it_is_read_ends_well() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 4 * MIB);
    let mut running = desk.start(&["run", &file, "--busy-ok", "--duration", "300ms", "--json"]);
    running.until("Measuring");
    std::fs::remove_file(&file).expect("removed");
    // Its blocks live as long as it is open.
    let job = crate::support::only_job(&running.wait().done().json());
    assert_eq!(job.at("outcome.errors.total").count(), 0);
}

/// It goes on until too many operations have failed in a row.
#[test]
fn a_file_that_shrinks_while_it_is_read_is_counted_as_errors() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 4 * MIB);
    let mut running = desk.start(&["run", &file, "--busy-ok", "--duration", "1h", "--json"]);
    running.until("Measuring");
    std::fs::File::options()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_len(4096))
        .expect("shrunk");
    let answer = running.wait().ended(4);
    let job = crate::support::only_job(&answer.json());
    assert!(job.at("outcome.errors.total").count() > 0);
    assert_eq!(desk.ids().len(), 1);
}

#[test]
fn a_device_that_is_gone_is_told() {
    own_process!();
    let test = "a_device_that_is_gone_is_told";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    // Another program may take the number meanwhile, and give it up again during the run.
    for left in (0..8).rev() {
        let device = Loop::dense(4 * MIB, &[]);
        let _alone = Loop::none_is_taken();
        run("losetup", &["-d", &device.device]);
        let answer = desk.run(&["run", &device.device, "--busy-ok", "--duration", "50ms"]);
        if answer.code == Some(3) || left == 0 {
            answer.failed(3, &[&device.device]);
            return;
        }
    }
}

#[test]
fn a_device_below_that_fails_is_counted() {
    own_process!();
    let test = "a_device_below_that_fails_is_counted";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(4 * MIB, &[]);
    // The backing file loses its second half: the loop device reports I/O errors.
    std::fs::File::options()
        .write(true)
        .open(&device.backing)
        .and_then(|file| file.set_len(2 * MIB))
        .expect("shrunk");
    let measure = |duration: &str| {
        let run = ["run", &device.device, "--busy-ok", "--duration", duration];
        desk.run(&[&run[..], &["--json"]].concat())
    };
    let answer = long_enough(measure, |answer| operations(&answer.json()) >= 30);
    let job = only_job(&answer.ended(4).json());
    assert!(job.at("outcome.errors.by_reason").at("read EIO").count() > 0);
}

#[test]
fn a_file_that_is_cut_under_its_writes_stops_the_run_and_one_that_is_removed_is_told() {
    own_process!();
    for (cut, code) in [(true, 4), (false, 130)] {
        let desk = Desk::new();
        let file = desk.file("data");
        users_file(&file, 64 * MIB);
        // Of the first half alone: no write gives the file its length back.
        let mut run = desk.start(&[
            "run",
            &file,
            "--size",
            "32M",
            "--write",
            "--overwrite",
            "--busy-ok",
            "--duration",
            "1h",
            "--interval",
            "100ms",
            "--json",
        ]);
        until_measured(&desk, &mut run, 1);
        if cut {
            let opened = std::fs::File::options().write(true).open(&file);
            opened.and_then(|opened| opened.set_len(0)).expect("cut");
        } else {
            std::fs::remove_file(&file).expect("removed");
            run.signal(Signal::INT);
        }
        let answer = run.wait().ended(code);
        let job = only_job(&answer.json());
        assert!(
            codes(&job).contains(&"target-changed".to_owned()),
            "{:?}",
            codes(&job)
        );
        if cut {
            let warnings = format!("{:?}", job.at("warnings"));
            assert!(warnings.contains("was cut from 64 MiB to"), "{warnings}");
        }
    }
}

#[test]
fn an_operation_that_fails_after_the_stop_is_reported_and_is_exit_code_4() {
    let desk = Desk::new();
    let volume = desk.volume();
    // The operations are held back until the window is over, and fail then.
    let answer = desk
        .run(&[
            "run",
            &volume,
            "--busy-ok",
            "--size",
            "4M",
            "--duration",
            "300ms",
            "--outstanding",
            "2",
            "--inject",
            "fail=5@every=1;stall@between=0..5000000000",
            "--json",
        ])
        .ended(4);
    let job = crate::support::only_job(&answer.json());
    assert_eq!(job.at("outcome.errors.total").count(), 0);
    let drain = job.at("outcome.drain");
    assert!(drain.at("errors").count() > 0);
    assert!(drain.at("first_error").text().contains("EIO"));
    assert!(codes(&job).contains(&"errors".to_owned()));
    let words = desk.run(&["history", "show", "last"]).done().stdout;
    assert!(words.contains("after the stop failed"), "{words}");
}

/// It is told from a pause of the program, too.
#[test]
fn a_stall_in_the_middle_has_a_line_of_its_own() {
    let desk = Desk::new();
    let (place, _memory) = in_memory(&desk);
    let stall = "stall@between=1500000000..4000000000";
    let run = [
        "run",
        &place,
        "--busy-ok",
        "--size",
        "8M",
        "--inject",
        stall,
    ];
    let job = desk.job(&[&run[..], &["--duration", "5s", "--interval", "100ms"]].concat());
    let pauses = job.maybe("outcome.pauses").map(|list| list.items());
    let as_long = |pause: &Json| pause.at("duration_ns").count() >= 2_000_000_000;
    assert!(!pauses.unwrap_or_default().iter().any(as_long), "{job:?}");
    assert!(codes(&job).contains(&"stalled".to_owned()));
}

/// From too little to begin with to enough: each end is a code of the program's own and,
/// unless all went well, a sentence; never an abort, never a process that hangs.
#[test]
fn a_limit_of_memory_ends_with_a_sentence() {
    let test = "a_limit_of_memory_ends_with_a_sentence";
    if !can_run(test, &["bash"]) {
        return;
    }
    let desk = Desk::new();
    // What the program takes only to say its version.
    let fits = |kib: u64, arguments: &str| {
        let line = format!(
            "ulimit -v {kib}; exec \"$S\" {arguments} --store '{}'",
            desk.file("s.db")
        );
        let output = std::process::Command::new("timeout")
            .args(["-k", "1", "600", "bash", "-c", &line])
            .env("S", crate::support::program())
            .env("HOME", desk.file(""))
            .env("RUST_BACKTRACE", "1")
            .output()
            .expect("a shell");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    let enough = (1..64)
        .map(|step| step * 8 * 1024)
        .find(|&kib| fits(kib, "--version").0 == Some(0))
        .expect("half a gibibyte is enough for the version");
    let mut short = 0;
    for more in [0, 2, 4, 6, 8, 12, 16, 24, 48] {
        let load = "run sim:raid10-10k --threads 4 --outstanding 16 --duration 1s --repeat 3";
        let (code, stderr) = fits(enough + more * 1024, load);
        match code {
            Some(0) => {}
            Some(3 | 5) => {
                short += 1;
                assert!(stderr.contains("error: "), "{more} MiB more: {stderr}");
            }
            _ => panic!("{more} MiB more: {code:?} {stderr}"),
        }
    }
    assert!(short > 0, "none of these limits was too low");
}

/// What was measured before memory ran out is in the store, as after SIGKILL.
#[test]
fn runs_that_were_finished_before_memory_ran_out_are_kept() {
    let test = "runs_that_were_finished_before_memory_ran_out_are_kept";
    if !can_run(test, &["prlimit"]) {
        return;
    }
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 32 * MIB);
    // Each run wants 8 MiB of its own for its buffers.
    let mut running = desk.start(&[
        "run",
        &file,
        "--busy-ok",
        "--block",
        "1M",
        "--outstanding",
        "8",
        "--duration",
        "50ms",
        "--repeat",
        "500",
    ]);
    let finished = || {
        let listed = desk.json(&["history", "--limit", "1000"]);
        let all = listed.at("history").items();
        let complete = all
            .iter()
            .filter(|run| run.at("status").text() == "complete");
        complete.count()
    };
    running.until_true("three runs", || desk.store().exists() && finished() >= 3);
    // Below what it has: nothing more is given.
    let pid = running.pid().to_string();
    run("prlimit", &["--pid", &pid, "--as=1000000"]);
    let answer = running.wait();
    assert!(
        matches!(answer.code, Some(3 | 5)),
        "{:?} {}",
        answer.code,
        answer.stderr
    );
    assert!(answer.stderr.contains("error: "), "{}", answer.stderr);
    // The next command that writes to the store marks what was under way.
    desk.json(&["run", "sim:nvme", "--duration", "1ms"]);
    assert!(finished() >= 4);
    let listed = desk.json(&["history", "--limit", "1000"]);
    for run in listed.at("history").items() {
        assert_ne!(run.at("status").text(), "running");
    }
}
