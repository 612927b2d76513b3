//! A device that serves others is left alone, with an exit code of its own: 6.

use crate::support::slow_array::{Served, SlowArray};
use crate::support::{Desk, Loop, MIB, can_run, directory, skip};
use rustix::process::Signal;
use std::time::{Duration, Instant};

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

/// Whoever presses Ctrl-C while the device is watched gets the code of an interruption, and
/// not after the whole of the five seconds.
fn stops_at_once(desk: &Desk, run: &[&str]) {
    let stopped = desk.start(run);
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    stopped.signal(Signal::INT);
    let answer = stopped.wait().ended(130);
    answer.warned(&["error: interrupted before measuring began"]);
    let waited = asked.elapsed();
    assert!(waited < Duration::from_secs(3), "{waited:?}");
}

#[test]
fn a_device_that_serves_others_ends_with_the_code_of_busy() {
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
    let load = ["--outstanding", &outstanding, "--duration", "10m"];
    let mut others = theirs.start(&[&["run", &device.device, "--busy-ok"], &load[..]].concat());
    others.until("Measuring");
    others.until_true("as many in flight", || in_flight(&device) >= IN_FLIGHT);

    let run = ["run", &device.device, "--duration", "2s"];
    let says = ["is busy with other work", device.name(), "`--busy-ok`"];
    desk.run(&run).failed(6, &says);
    desk.run(&["bench", &device.device]).failed(6, &says);
    assert!(desk.ids().is_empty());
    stops_at_once(&desk, &run);

    let measured = desk.job(&[&run[..], &["--busy-ok"]].concat());
    assert!(measured.at("outcome.operations").count() > 0);
}
