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
    let Some(device) = Device::fastest(DEVICE_BYTES)? else {
        return shell::skip(what, "a block device of its own (root; zram or loop)");
    };
    let load = Load {
        seconds: SECONDS,
        ..Load::default()
    };
    let cost = counters.measure(&stripewise(&binary, device.path(), load)?)?;
    println!(
        "{:.1} user instructions per operation ({} operations on {}; {}); the limit is {INSTRUCTIONS_MAX}",
        cost.instructions_per_operation(),
        cost.operations,
        device.describe(),
        counters.name(),
    );
    judge(cost)
}

fn judge(cost: Cost) -> Result<()> {
    if cost.operations < OPERATIONS_MIN {
        bail!(
            "{} operations are too few to judge by ({OPERATIONS_MIN})",
            cost.operations
        );
    }
    let instructions = cost.instructions_per_operation();
    if instructions > INSTRUCTIONS_MAX {
        bail!("{instructions:.1} user instructions per operation are more than {INSTRUCTIONS_MAX}");
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
        assert!(judge(cost(150_000_000, 1_000_000)).is_ok());
        assert!(judge(cost(150_000_001, 1_000_000)).is_err());
        assert!(judge(cost(1_000, 1_000)).is_err());
    }
}
