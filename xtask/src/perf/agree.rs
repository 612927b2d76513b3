//! Agreement with fio on a disk-bound target: the disk's performance must not depend on the
//! program.
//!
//! Eight cells - two block sizes, two depths, two engines - with a fixed number of interleaved
//! pairs each. The disk is a loop device that a control group limits to a number of reads per
//! second; without control groups the bare loop device, unthrottled.

use super::device::{Device, Throttle};
use super::programs::{self, Load, Program};
use super::ratio;
use anyhow::{Result, bail};
use std::path::PathBuf;
use suite::arguments::Arguments;
use suite::shell;

/// The 90 % interval of the ratio must lie inside.
const RATIO_LOW: f64 = 0.97;
const RATIO_HIGH: f64 = 1.03;
const LEVEL: f64 = 0.90;

/// The rate of the throttled disk.
const READS_PER_S: u32 = 1_000;

pub fn run(mut arguments: Arguments) -> Result<()> {
    let binary: Option<PathBuf> = arguments.value("--binary")?;
    let given: Option<PathBuf> = arguments.value("--device")?;
    let pairs: usize = arguments.value("--pairs")?.unwrap_or(30);
    let seconds: u32 = arguments.value("--seconds")?.unwrap_or(1);
    arguments.finish()?;
    if !shell::has("fio") {
        return shell::skip("agreement with fio", "fio");
    }
    let binary = super::built(binary)?;
    let device = match given {
        Some(path) => Device::given(path),
        None => match Device::loop_device(1 << 30)? {
            Some(device) => device,
            None => return shell::skip("agreement with fio", "root (losetup), or --device"),
        },
    };
    let throttle = Throttle::reads(device.path(), READS_PER_S);
    let before = throttle.as_ref().map_or(&[][..], Throttle::before);
    match throttle {
        Some(_) => println!(
            "device: {}, held to {READS_PER_S} reads/s",
            device.describe()
        ),
        None => println!("device: {}, not throttled", device.describe()),
    }
    println!("IOPS of stripewise / fio, {pairs} pairs of {seconds} s, 90 % interval");
    let mut outside = 0;
    for load in cells(seconds) {
        let ours = programs::stripewise(&binary, device.path(), load)?;
        let theirs = programs::fio(device.path(), load);
        let (ours, theirs) = measure(&[ours, theirs], before, pairs)?;
        let ratio = ratio::of(&ours, &theirs, LEVEL)?;
        let inside = ratio.low >= RATIO_LOW && ratio.high <= RATIO_HIGH;
        outside += usize::from(!inside);
        println!(
            "  {:>3} KiB, {:>2} outstanding, {:<7} {ratio} {}",
            load.block_size_bytes >> 10,
            load.outstanding,
            load.engine,
            if inside { "agrees" } else { "DOES NOT AGREE" }
        );
    }
    if outside > 0 {
        bail!("{outside} of 8 cells are not inside {RATIO_LOW} to {RATIO_HIGH}");
    }
    Ok(())
}

fn cells(seconds: u32) -> Vec<Load> {
    let mut cells = Vec::new();
    for engine in ["uring", "threads"] {
        for block_size_bytes in [4 << 10, 64 << 10] {
            for outstanding in [1, 64] {
                cells.push(Load {
                    block_size_bytes,
                    outstanding,
                    threads: 1,
                    seconds,
                    // The initial burst of a throttled disk is not its rate.
                    ramp_seconds: 1,
                    batch_min: 1,
                    engine,
                });
            }
        }
    }
    cells
}

fn measure(
    programs: &[Program; 2],
    before: &[String],
    pairs: usize,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut iops = [Vec::new(), Vec::new()];
    for pair in 0..pairs {
        for place in 0..2 {
            let index = ratio::turn(pair, place, 2);
            iops[index].push(programs[index].read_within(before)?.iops);
        }
    }
    let [ours, theirs] = iops;
    Ok((ours, theirs))
}
