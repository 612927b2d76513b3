//! `doctor --engine`: costs that differ between machines, independent of the disk, and
//! the batches in which the target's completions arrive.

use super::{Check, check, fact};
use stripewise_runner::session::{OUTSTANDING, READ_BYTES, WAIT_NS, machine_costs, read_batches};
use stripewise_targets::Target;
use stripewise_units::{format_bytes, format_three_digits};

/// A slower clock is read by a system call, or in another slow way.
const CLOCK_NS_MAX: f64 = 100.0;
/// A slower system call is intercepted: by mitigations, a sandbox or a tracer.
const CALL_NS_MAX: f64 = 1_000.0;
/// How long reads are counted.
const READS_NS: u64 = 1_000_000_000;
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Clock, system call, timer.
pub(super) fn of_the_machine() -> Vec<Check> {
    let costs = machine_costs();
    let source = std::fs::read_to_string(CLOCK_SOURCE).map_or_else(
        |_| "its source is not visible".to_owned(),
        |name| name.trim().to_owned(),
    );
    let clock = check(
        "clock",
        costs.clock_ns < CLOCK_NS_MAX,
        format!("{source}; reading it takes {:.0} ns", costs.clock_ns),
        "each operation's latency needs the clock: the machine is busy, or its source is slow; `tsc` is the fastest \
         where the processor's is stable (`dmesg | grep -i clocksource`)",
    );
    let call = check(
        "system call",
        costs.call_ns < CALL_NS_MAX,
        format!("the shortest takes {:.0} ns", costs.call_ns),
        "something intercepts system calls (a sandbox, a tracer, mitigations): operations cost more processor \
         time than on other machines",
    );
    let timer = match costs.late_ns {
        Some([half, most]) => check(
            "timer",
            half < WAIT_NS && most < 10 * WAIT_NS,
            format!(
                "a wait of {} us ends {} us late (99 %: {} us)",
                WAIT_NS / 1_000,
                half / 1_000,
                most / 1_000
            ),
            "operations that are due at a time come late by as much: a busy machine, a virtual one, or coarse timers",
        ),
        None => check(
            "timer",
            false,
            "the engine does not open",
            "see `stripewise doctor`",
        ),
    };
    vec![clock, call, timer]
}

/// The result for a directory, which has nothing to read.
pub(super) fn without_reads() -> Check {
    not_counted("name a file or device, which is then read for a second")
}

/// The result if nothing was read.
pub(super) fn not_counted(why: &str) -> Check {
    fact("batches", format!("not counted: {why}"))
}

/// How many reads complete per wait.
pub(super) fn of_reads(target: &Target) -> Check {
    let found = match read_batches(target, READS_NS) {
        Ok(done) if done.waits > 0 && done.elapsed_ns > 0 => done,
        Ok(_) => {
            return check(
                "batches",
                false,
                "no read came back within a second",
                "see `dmesg`",
            );
        }
        Err(why) => {
            return check(
                "batches",
                false,
                why,
                "see `stripewise doctor` without --engine",
            );
        }
    };
    let rate = found.operations as f64 / (found.elapsed_ns as f64 / 1e9);
    let found = format!(
        "{:.1} operations a wait, at {} random reads of {} a second with {OUTSTANDING} in flight",
        found.operations as f64 / found.waits as f64,
        format_three_digits(rate),
        format_bytes(u64::from(READ_BYTES)),
    );
    fact("batches", found)
}
