//! A device that serves others is left alone, with an exit code of its own: 6.

use crate::support::slow_array::{Served, SlowArray};
use crate::support::{Desk, Loop, MIB, can_run, directory, long_enough, skip};
use rustix::process::Signal;
use std::time::Duration;

/// In flight at any time: four fifths of a second's worth, so that there is work to do
/// although whoever asks for it waits for a processor.
const IN_FLIGHT: u64 = 16;

/// One disk that takes one read after the other.
const DISK: SlowArray = SlowArray {
    size_bytes: 64 * MIB,
    disks: 1,
    unit_bytes: 64 << 10,
    first_unit_bytes: 0,
    partition_sector: 63,
    read: Duration::from_millis(50),
    reads_max: u64::MAX,
};

/// Reads that the device has and did not answer yet.
fn in_flight(device: &Loop) -> u64 {
    let path = format!("/sys/block/{}/inflight", device.name());
    let text = std::fs::read_to_string(path).expect("counts of reads and of writes");
    let reads = text.split_whitespace().next().expect("the reads");
    reads.parse().expect("a number")
}

/// Whoever presses Ctrl-C while the device is watched gets the code of an interruption, not
/// that of the busy device at the end of the five seconds, which comes first where nobody
/// asked in between. How long that takes is counted in windows where the device is watched.
fn stops_at_once(desk: &Desk, run: &[&str]) {
    let interrupted = || {
        let mut stopped = desk.start(run);
        let status = format!("/proc/{}/status", stopped.pid());
        stopped.until_true("ready for signals", || catches(&status, Signal::INT));
        stopped.signal(Signal::INT);
        stopped.wait()
    };
    // A signal that comes after that is one that was sent too late.
    let mut tries = (0..20).map(|_| interrupted());
    let answer = tries.find(|answer| answer.code != Some(6));
    let answer = answer.expect("interrupted in time").ended(130);
    answer.warned(&["error: interrupted before measuring began"]);
}

/// Whether a process has a handler for a signal.
fn catches(status: &str, signal: Signal) -> bool {
    let status = std::fs::read_to_string(status).unwrap_or_default();
    let mask = status.split("SigCgt:").nth(1).unwrap_or_default();
    let mask = mask.split_whitespace().next().unwrap_or_default();
    (u64::from_str_radix(mask, 16).unwrap_or(0) >> (signal.as_raw() - 1)) & 1 == 1
}

#[test]
fn a_device_that_serves_others_ends_with_the_code_of_busy() {
    own_process!();
    let test = "a_device_that_serves_others_ends_with_the_code_of_busy";
    if !can_run(test, &["root", "losetup", "mount"]) {
        return;
    }
    let Some(served) = Served::start(DISK) else {
        return skip(test, "/dev/fuse");
    };
    let (desk, theirs) = (Desk::new(), Desk::new());
    let device = Loop::over(served.file(), directory(), &["--direct-io=on"]);
    let outstanding = IN_FLIGHT.to_string();
    let load = ["--outstanding", &outstanding, "--duration", "1h"];
    let mut others = theirs.start(&[&["run", &device.device, "--busy-ok"], &load[..]].concat());
    others.until("Measuring");
    others.until_true("as many in flight", || in_flight(&device) >= IN_FLIGHT);

    let run = ["run", &device.device, "--duration", "2s"];
    let says = ["is busy with other work", device.name(), "`--busy-ok`"];
    desk.run(&run).failed(6, &says);
    desk.run(&["bench", &device.device]).failed(6, &says);
    assert!(desk.ids().is_empty());
    stops_at_once(&desk, &run);

    let measure = |duration: &str| {
        let run = ["run", &device.device, "--busy-ok", "--duration", duration];
        desk.job(&run)
    };
    long_enough(measure, |job| job.at("outcome.operations").count() > 0);
}
