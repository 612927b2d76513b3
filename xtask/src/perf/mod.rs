//! User instructions per operation and IOPS beside fio's.
//!
//! All programs read 8 KiB blocks at random positions of the same device, one
//! thread, 128 outstanding. IOPS are compared in interleaved pairs: within each
//! pair the programs run one after another in an order that alternates, so that
//! drift of the machine falls on all of them alike.

pub mod agree;
pub mod counters;
pub mod device;
pub mod gate;
pub mod programs;
pub mod ratio;
pub mod report;

use crate::arguments::Arguments;
use crate::{root, shell};
use anyhow::{Context, Result};
use counters::Counters;
use device::Device;
use programs::{Load, Program};
use std::path::{Path, PathBuf};

/// Size of the device that is made where none is given.
const DEVICE_BYTES: u64 = 4 << 30;

/// So long that starting is little beside what it costs to run.
const COST_SECONDS: u32 = 20;

pub fn run(mut arguments: Arguments) -> Result<()> {
    let binary: Option<PathBuf> = arguments.value("--binary")?;
    if arguments.flag("--gate") {
        arguments.finish()?;
        return gate::run(binary);
    }
    let given: Option<PathBuf> = arguments.value("--device")?;
    let t_io_uring: Option<PathBuf> = arguments.value("--t-io-uring")?;
    let pairs: usize = arguments.value("--pairs")?.unwrap_or(20);
    let seconds: u32 = arguments.value("--seconds")?.unwrap_or(2);
    arguments.finish()?;
    let stripewise = built(binary)?;
    let device = match given {
        Some(path) => Device::given(path),
        None => Device::fastest(DEVICE_BYTES)?
            .context("no device can be made here: run as root, or name one with --device")?,
    };
    println!("device: {}", device.describe());
    let load = Load {
        seconds,
        ..Load::default()
    };
    let programs = |load| -> Result<Vec<Program>> {
        let mut programs = vec![programs::stripewise(&stripewise, device.path(), load)?];
        if shell::has("fio") {
            programs.push(programs::fio(device.path(), load));
        }
        if let Some(path) = &t_io_uring {
            programs.push(programs::t_io_uring(path, device.path(), load));
        }
        Ok(programs)
    };
    if !shell::has("fio") {
        shell::skip("the comparison with fio", "fio")?;
    }
    costs(&programs(Load {
        seconds: COST_SECONDS,
        ..load
    })?)?;
    rates(&programs(load)?, pairs)?;
    drop(device);
    if let Some(counters) = Counters::best() {
        report::run(counters, &stripewise)?;
    }
    Ok(())
}

/// Prints instructions and cycles an operation of each program.
fn costs(programs: &[Program]) -> Result<()> {
    let Some(counters) = Counters::best() else {
        return shell::skip(
            "instructions per operation",
            "perf with counters, or valgrind",
        );
    };
    println!(
        "\nuser instructions and cycles per operation ({})",
        counters.name()
    );
    for program in programs {
        let cost = counters.measure(program)?;
        let cycles = match cost.cycles {
            Some(cycles) => format!("{:.0} cycles", cycles as f64 / cost.operations as f64),
            None => "cycles not counted here".to_owned(),
        };
        println!(
            "  {:<12} {:>8.1} instructions, {cycles} ({} operations)",
            program.name,
            cost.instructions_per_operation(),
            cost.operations
        );
    }
    Ok(())
}

/// Prints the IOPS of each program and the ratio of ours to each of theirs.
fn rates(programs: &[Program], pairs: usize) -> Result<()> {
    let mut iops: Vec<Vec<f64>> = vec![Vec::new(); programs.len()];
    for pair in 0..pairs {
        eprint!("\rpair {} of {pairs}", pair + 1);
        for place in 0..programs.len() {
            let index = ratio::turn(pair, place, programs.len());
            iops[index].push(programs[index].read()?.iops);
        }
    }
    eprintln!();
    println!("\nIOPS, median of {pairs}");
    for (program, iops) in programs.iter().zip(&iops) {
        println!(
            "  {:<12} {:>12.0}",
            program.name,
            stripewise_stats::median(iops).unwrap_or(f64::NAN)
        );
    }
    for (program, theirs) in programs.iter().zip(&iops).skip(1) {
        let ratio = ratio::of(&iops[0], theirs, 0.95)?;
        println!("  stripewise / {:<12} {ratio} (95 %)", program.name);
    }
    Ok(())
}

/// The binary that was named, else one built now as users build it.
pub fn built(binary: Option<PathBuf>) -> Result<PathBuf> {
    binary.map_or_else(|| shell::release_binary(&root::path()), Ok)
}

/// A path as text, for command lines.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
