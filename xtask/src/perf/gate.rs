//! The limit on user instructions per operation for every change.
//!
//! 8 KiB random reads, one thread, 128 outstanding, every latency recorded; the whole process
//! counts, from its first instruction to its last. Instructions hardly vary from run to run, so
//! that one run decides. A second limit is on the instructions of a report.

use super::DEVICE_BYTES;
use super::counters::{Cost, Counters};
use super::device::Device;
use super::programs::{Load, stripewise};
use super::report;
use anyhow::{Result, bail};
use std::path::PathBuf;
use suite::shell;

/// On a device, through io_uring.
const INSTRUCTIONS_MAX: f64 = 150.0;

/// Size of the file used if no device can be created.
const FILE_BYTES: u64 = 16 << 20;

/// If no device can be created: with the null engine, which completes at once, so that only our own
/// loop counts.
const INSTRUCTIONS_NULL_MAX: f64 = 115.0;

/// Start-up, machine facts and storing the result take some 15 million instructions: 7 per
/// operation with this many operations. A slower machine runs longer to reach them.
const OPERATIONS_GOAL: u64 = 2_000_000;

const SECONDS: u32 = 10;
const SECONDS_MAX: u32 = 120;

pub fn run(binary: Option<PathBuf>) -> Result<()> {
    let what = "the limit on user instructions";
    let Some(counters) = Counters::best() else {
        return shell::skip(what, "perf with counters, or valgrind");
    };
    let binary = super::built(binary)?;
    let (device, engine, limit) = match Device::fastest(DEVICE_BYTES)? {
        Some(device) => (device, "uring", INSTRUCTIONS_MAX),
        None => (Device::file(FILE_BYTES)?, "null", INSTRUCTIONS_NULL_MAX),
    };
    let load = Load {
        seconds: SECONDS,
        engine,
        ..Load::default()
    };
    let measure = |load| counters.measure(&stripewise(&binary, device.path(), load)?);
    let mut cost = measure(load)?;
    if cost.operations < OPERATIONS_GOAL {
        let seconds = seconds_for(cost.operations);
        cost = measure(Load { seconds, ..load })?;
    }
    println!(
        "{:.1} user instructions per operation ({} operations, engine {engine}, on {}; {}); the limit is {limit}",
        cost.instructions_per_operation(),
        cost.operations,
        device.describe(),
        counters.name(),
    );
    judge(cost, limit)?;
    report::gate(counters, &binary)
}

/// Run time to reach the goal, given the operations in [`SECONDS`].
fn seconds_for(operations: u64) -> u32 {
    let times = OPERATIONS_GOAL.div_ceil(operations.max(1));
    u32::try_from(times)
        .unwrap_or(SECONDS_MAX)
        .saturating_mul(SECONDS)
        .min(SECONDS_MAX)
}

fn judge(cost: Cost, limit: f64) -> Result<()> {
    let instructions = cost.instructions_per_operation();
    if instructions > limit {
        bail!("{instructions:.1} user instructions per operation are more than {limit}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_above_the_limit_are_refused() {
        let cost = |instructions| Cost {
            instructions,
            cycles: None,
            operations: 1_000_000,
        };
        assert!(judge(cost(150_000_000), 150.0).is_ok());
        assert!(judge(cost(150_000_001), 150.0).is_err());
    }

    #[test]
    fn a_slow_machine_runs_longer_but_not_for_ever() {
        assert_eq!(seconds_for(1_999_999), 20);
        assert_eq!(seconds_for(500_000), 40);
        assert_eq!(seconds_for(7), SECONDS_MAX);
        assert_eq!(seconds_for(0), SECONDS_MAX);
    }
}
