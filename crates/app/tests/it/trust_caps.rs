//! Limits of control groups on a loop device: the number is the limit's.

use crate::support::machine::skip_kernel;
use crate::support::{Answer, Cgroup, Desk, Json, Loop, MIB, can_run, codes};

struct Capped {
    desk: Desk,
    group: Cgroup,
    device: Loop,
}

/// A loop device that a group of version 1 limits; `None` where that is not to be
/// had, which is said.
fn capped(test: &str, file: &str, limit: &str) -> Option<Capped> {
    capped_of(test, 16 * MIB, file, limit)
}

fn capped_of(test: &str, bytes: u64, file: &str, limit: &str) -> Option<Capped> {
    if !can_run(test, &["root", "losetup"]) {
        return None;
    }
    let Some(group) = Cgroup::new("blkio") else {
        skip_kernel(test, "control groups of version 1");
        return None;
    };
    let device = Loop::dense(bytes, &[]);
    if !group.set(file, &format!("{} {limit}", device.number())) {
        skip_kernel(test, "limits of control groups on loop devices");
        return None;
    }
    Some(Capped {
        desk: Desk::new(),
        group,
        device,
    })
}

impl Capped {
    fn run(&self, arguments: &[&str]) -> Answer {
        let command = self.desk.command(arguments);
        Answer::of(&mut self.group.wrap(&command))
    }

    fn grid(&self, arguments: &[&str]) -> Json {
        let mut all = vec!["run", &self.device.device, "--busy-ok", "--json"];
        all.extend(arguments);
        self.run(&all).done().json()
    }
}

#[track_caller]
fn check_has(value: &Json, code: &str) {
    let found = codes(value);
    assert!(found.contains(&code.to_owned()), "no {code} in {found:?}");
}

/// The limit is not passed, and named as what the number is where it was reached. On
/// processors that others use as well it may not be.
#[track_caller]
fn check_limited(run: &Json, reached: f64, limit: f64) {
    assert!((0.0..1.2 * limit).contains(&reached), "{reached}");
    let job = run.at("jobs.0");
    check_has(&job, "io-throttled");
    let warnings = job.at("warnings").items();
    let is_void = warnings.iter().any(|warning| {
        warning.at("code").text() == "io-throttled" && warning.at("severity").text() == "void"
    });
    assert!(is_void || reached < 0.95 * limit, "{reached} of {limit}");
}

/// Runs that are equal within this share are to be told as flat.
const FLAT_SHARE: f64 = 0.02;

/// Other tests on the same processors may spread the runs of a grid, hardly those of each
/// of four; and where they do, nothing is flat.
#[track_caller]
fn check_flat(first: &Json, code: &str, value: &str, grid: impl Fn() -> Json) {
    let is_right = |document: &Json| {
        let runs = document.at("runs").items();
        let all = runs.iter().map(|run| run.at(value).number());
        let (low, high) = all.fold((f64::MAX, 0.0_f64), |(low, high), one| {
            (low.min(one), high.max(one))
        });
        codes(document).contains(&code.to_owned()) || low < (1.0 - FLAT_SHARE) * high
    };
    let message = codes(first).contains(&code.to_owned());
    assert!(is_right(first), "no {code} in {:?}", codes(first));
    assert!(
        message || (0..3).all(|_| is_right(&grid())),
        "no {code} in any of four"
    );
}

#[test]
fn an_iops_limit_is_told_run_by_run_and_over_the_grid() {
    own_process!();
    let test = "an_iops_limit_is_told_run_by_run_and_over_the_grid";
    let Some(capped) = capped(test, "blkio.throttle.read_iops_device", "1500") else {
        return;
    };
    let grid = || {
        capped.grid(&[
            "--block",
            "4K,16K,64K",
            "--outstanding",
            "16",
            "--duration",
            "1s",
            "--ramp",
            "300ms",
        ])
    };
    let document = grid();
    for run in document.at("runs").items() {
        let iops = run.at("jobs.0.outcome.iops").number();
        check_limited(&run, iops, 1_500.0);
    }
    check_flat(&document, "flat-iops", "jobs.0.outcome.iops", grid);
}

#[test]
fn a_bandwidth_limit_is_told_run_by_run_and_over_the_grid() {
    own_process!();
    let test = "a_bandwidth_limit_is_told_run_by_run_and_over_the_grid";
    let limit = (8 * MIB).to_string();
    let Some(capped) = capped(test, "blkio.throttle.read_bps_device", &limit) else {
        return;
    };
    let grid = || {
        capped.grid(&[
            "--block",
            "8K,32K,128K",
            "--outstanding",
            "8",
            "--duration",
            "1s",
            "--ramp",
            "300ms",
        ])
    };
    let document = grid();
    for run in document.at("runs").items() {
        let rate = run.at("jobs.0.outcome.mib_per_s").number();
        check_limited(&run, rate, 8.0);
    }
    check_flat(
        &document,
        "flat-bandwidth",
        "jobs.0.outcome.mib_per_s",
        grid,
    );
}

#[test]
fn a_limit_that_was_not_reached_is_a_note() {
    own_process!();
    let test = "a_limit_that_was_not_reached_is_a_note";
    let Some(capped) = capped(test, "blkio.throttle.read_iops_device", "100000000") else {
        return;
    };
    let document = capped.grid(&["--duration", "100ms"]);
    let warnings = document.at("runs.0.jobs.0.warnings").items();
    let throttled = warnings
        .iter()
        .find(|warning| warning.at("code").text() == "io-throttled")
        .expect("the limit is told");
    assert_eq!(throttled.at("severity").text(), "note");
}

/// Reads that a limit held back look like those of a cache, or of flash.
#[test]
fn a_probe_that_reaches_a_limit_is_void_and_is_not_kept() {
    own_process!();
    let test = "a_probe_that_reaches_a_limit_is_void_and_is_not_kept";
    let file = "blkio.throttle.read_iops_device";
    let Some(capped) = capped_of(test, 256 * MIB, file, "20") else {
        return;
    };
    for what in [&["stripe", "--accept"][..], &["flash"]] {
        let device = &capped.device.device;
        let how = [device, "--time", "2s", "--busy-ok", "--json"];
        let answer = capped.run(&[&["probe"], what, &how].concat());
        let document = answer.json();
        check_has(&document, "io-throttled");
        let warnings = document.at("warnings").items();
        let is_void = |one: &Json| {
            one.at("code").text() == "io-throttled" && one.at("severity").text() == "void"
        };
        if !warnings.iter().any(is_void) {
            // With one read in flight, a busy processor may keep the probe from the limit.
            let seconds = document.at("duration_ns").number() / 1e9;
            let reads = document.at("reads").number();
            assert!(reads < 0.95 * 20.0 * seconds, "{}", document.json());
            continue;
        }
        let answer = answer.ended(1);
        let kept = answer.stderr.contains("so nothing was accepted");
        assert_eq!(kept, what.contains(&"--accept"), "{}", answer.stderr);
    }
}

/// What was promised is judged after the cut; the limit says how little was tried.
#[test]
fn a_run_until_the_power_goes_names_the_limit_that_it_reached() {
    own_process!();
    let test = "a_run_until_the_power_goes_names_the_limit_that_it_reached";
    let Some(capped) = capped(test, "blkio.throttle.write_iops_device", "40") else {
        return;
    };
    let witness = format!("|echo READY; cat > {}", capped.desk.file("witness"));
    let answer = capped.run(&[
        "verify",
        &capped.device.device,
        "--destroy",
        capped.device.name(),
        "--power-cut",
        "--witness",
        &witness,
        "--duration",
        "1s",
        "--busy-ok",
        "--json",
    ]);
    check_has(&answer.done().json(), "io-throttled");
}
