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
    if !can_run(test, &["root", "losetup"]) {
        return None;
    }
    let Some(group) = Cgroup::new("blkio") else {
        skip_kernel(test, "control groups of version 1");
        return None;
    };
    let device = Loop::dense(16 * MIB, &[]);
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
    fn grid(&self, arguments: &[&str]) -> Json {
        let mut all = vec!["run", &self.device.device, "--busy-ok", "--json"];
        all.extend(arguments);
        let command = self.desk.command(&all);
        Answer::of(&mut self.group.wrap(&command)).done().json()
    }
}

#[track_caller]
fn check_has(value: &Json, code: &str) {
    let found = codes(value);
    assert!(found.contains(&code.to_owned()), "no {code} in {found:?}");
}

/// Flat within a few per cent: other tests on the same processors may spread the
/// runs of one grid, hardly those of each of four.
#[track_caller]
fn check_flat(first: &Json, code: &str, grid: impl Fn() -> Json) {
    let has = |document: &Json| codes(document).contains(&code.to_owned());
    assert!(
        has(first) || (0..3).any(|_| has(&grid())),
        "no {code} in {:?}",
        codes(first)
    );
}

#[test]
fn an_iops_limit_is_told_run_by_run_and_over_the_grid() {
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
        assert!((1_000.0..1_700.0).contains(&iops), "{iops}");
        check_has(&run.at("jobs.0"), "io-throttled");
    }
    check_flat(&document, "flat-iops", grid);
}

#[test]
fn a_bandwidth_limit_is_told_run_by_run_and_over_the_grid() {
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
        assert!((6.0..10.0).contains(&rate), "{rate}");
        check_has(&run.at("jobs.0"), "io-throttled");
    }
    check_flat(&document, "flat-bandwidth", grid);
}

#[test]
fn a_limit_that_was_not_reached_is_a_note() {
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
