//! The limit on user instructions per operation that a change may not cross.
//!
//! 8 KiB random reads, one thread, 128 outstanding, every latency recorded; the
//! whole process counts, from its first instruction to its last. Instructions
//! hardly vary from run to run, so that one run decides.

use super::DEVICE_BYTES;
use super::counters::{Cost, Counters};
use super::device::Device;
use super::programs::{Load, stripewise};
use crate::{ci, root, shell};
use anyhow::{Result, bail};

/// On a device, through io_uring.
const INSTRUCTIONS_MAX: f64 = 150.0;

/// Size of the file that stands in for a device that cannot be made.
const FILE_BYTES: u64 = 16 << 20;

/// Where no device can be made: with the null engine, which completes at once
/// and leaves only our own loop.
const INSTRUCTIONS_NULL_MAX: f64 = 110.0;

/// Long enough that starting and reporting are lost in it.
const SECONDS: u32 = 10;

/// Fewer operations than this say more about starting than about the loop.
const OPERATIONS_MIN: u64 = 400_000;

pub fn run() -> Result<()> {
    let what = "the limit on user instructions";
    let Some(counters) = Counters::best() else {
        return shell::skip(what, "perf with counters, or valgrind");
    };
    let binary = ci::release_binary(&root::path())?;
    let (device, engine, limit) = match Device::fastest(DEVICE_BYTES)? {
        Some(device) => (device, "uring", INSTRUCTIONS_MAX),
        None => (Device::file(FILE_BYTES)?, "null", INSTRUCTIONS_NULL_MAX),
    };
    let load = Load {
        seconds: SECONDS,
        engine,
        ..Load::default()
    };
    let cost = counters.measure(&stripewise(&binary, device.path(), load)?)?;
    println!(
        "{:.1} user instructions per operation ({} operations, engine {engine}, on {}; {}); the limit is {limit}",
        cost.instructions_per_operation(),
        cost.operations,
        device.describe(),
        counters.name(),
    );
    judge(cost, limit)
}

fn judge(cost: Cost, limit: f64) -> Result<()> {
    if cost.operations < OPERATIONS_MIN {
        bail!(
            "{} operations are too few to judge by ({OPERATIONS_MIN})",
            cost.operations
        );
    }
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
    fn costs_above_the_limit_and_runs_too_short_are_refused() {
        let cost = |instructions, operations| Cost {
            instructions,
            cycles: None,
            operations,
        };
        assert!(judge(cost(150_000_000, 1_000_000), 150.0).is_ok());
        assert!(judge(cost(150_000_001, 1_000_000), 150.0).is_err());
        assert!(judge(cost(1_000, 1_000), 150.0).is_err());
    }
}
