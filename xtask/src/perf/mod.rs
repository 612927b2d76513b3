//! User instructions per operation and IOPS, compared with fio.
//!
//! All programs read 8 KiB blocks at random positions of the same device, one
//! thread, 128 outstanding, or as `--block-bytes`, `--threads` and `--outstanding` say.
//! `t/io_uring` runs without and with latencies. IOPS and processor time are compared in interleaved pairs: within each
//! pair the programs run one after another in an order that alternates, so that
//! drift of the machine falls on all of them alike.

pub mod agree;
pub mod counters;
pub mod device;
pub mod gate;
mod processor;
pub mod programs;
pub mod ratio;
pub mod report;
pub mod scale;
mod table;

use crate::{root, shell};
use anyhow::{Context, Result};
use counters::Counters;
use device::Device;
use programs::{Load, Program};
use std::path::{Path, PathBuf};
use suite::arguments::Arguments;

/// Size of the created device if none is given.
const DEVICE_BYTES: u64 = 4 << 30;

/// Long enough that start-up is negligible.
const COST_SECONDS: u32 = 20;

pub fn run(mut arguments: Arguments) -> Result<()> {
    let binary: Option<PathBuf> = arguments.value("--binary")?;
    if arguments.flag("--gate") {
        arguments.finish()?;
        return gate::run(binary);
    }
    if arguments.flag("--scale") {
        arguments.finish()?;
        return scale::run(binary);
    }
    let given: Option<PathBuf> = arguments.value("--device")?;
    let t_io_uring: Option<PathBuf> = arguments.value("--t-io-uring")?;
    let pairs: usize = arguments.value("--pairs")?.unwrap_or(20);
    let seconds: u32 = arguments.value("--seconds")?.unwrap_or(2);
    let is_table = arguments.flag("--table");
    let usual = Load::default();
    let outstanding: Option<u32> = arguments.value("--outstanding")?;
    let threads: Option<u32> = arguments.value("--threads")?;
    let is_rates_alone = arguments.flag("--rates");
    let block: Option<u64> = arguments.value("--block-bytes")?;
    arguments.finish()?;
    let stripewise = built(binary)?;
    let device = match given {
        Some(path) => Device::given(path),
        None => Device::fastest(DEVICE_BYTES)?
            .context("no device can be made here: run as root, or name one with --device")?,
    };
    println!("device: {}", device.describe());
    if is_table {
        return table::run(&stripewise, device.path(), pairs, seconds);
    }
    let load = Load {
        seconds,
        outstanding: outstanding.unwrap_or(usual.outstanding),
        threads: threads.unwrap_or(usual.threads),
        block_size_bytes: block.unwrap_or(usual.block_size_bytes),
        ..usual
    };
    let programs = |load| -> Result<Vec<Program>> {
        let mut programs = vec![programs::stripewise(&stripewise, device.path(), load)?];
        if shell::has("fio") {
            programs.push(programs::fio(device.path(), load));
        }
        if let Some(binary) = &t_io_uring {
            for has_latencies in [false, true] {
                let path = device.path();
                programs.push(programs::t_io_uring(binary, path, load, has_latencies));
            }
        }
        Ok(programs)
    };
    if !shell::has("fio") {
        shell::skip("the comparison with fio", "fio")?;
    }
    if is_rates_alone {
        return rates(&programs(load)?, pairs);
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

/// Prints instructions and cycles per operation of each program.
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
            "  {:<14} {:>8.1} instructions, {cycles} ({} operations)",
            program.name,
            cost.instructions_per_operation(),
            cost.operations
        );
    }
    Ok(())
}

/// Result of a program in a pair: IOPS, then CPU nanoseconds per operation, for the whole process
/// including start-up.
const MEASURED: [&str; 3] = ["IOPS", "user ns/op", "system ns/op"];

/// Prints each program's results and the ratio of ours to each of theirs.
fn rates(programs: &[Program], pairs: usize) -> Result<()> {
    let mut measured: Vec<[Vec<f64>; 3]> = vec![Default::default(); programs.len()];
    let mut recorded: [Vec<f64>; 2] = Default::default();
    for pair in 0..pairs {
        eprint!("\rpair {} of {pairs}", pair + 1);
        for place in 0..programs.len() {
            let index = ratio::turn(pair, place, programs.len());
            let before = processor::of_children()?;
            let run = programs[index].read()?;
            let [user, system] = processor::of_children()?.since(before);
            let operations = run.operations_in_all as f64;
            let values = [run.iops, user / operations, system / operations];
            for (all, value) in recorded.iter_mut().zip(run.cpu_ns.into_iter().flatten()) {
                all.push(value);
            }
            for (all, value) in measured[index].iter_mut().zip(values) {
                all.push(value);
            }
        }
    }
    eprintln!();
    for (number, what) in MEASURED.iter().enumerate() {
        println!("\n{what}, median of {pairs}");
        for (program, measured) in programs.iter().zip(&measured) {
            println!(
                "  {:<14} {:>12.0}",
                program.name,
                stripewise_stats::median(&measured[number]).unwrap_or(f64::NAN)
            );
        }
        for (program, theirs) in programs.iter().zip(&measured).skip(1) {
            if theirs[number].contains(&0.0) {
                println!("  {:<14} took less than a tick", program.name);
                continue;
            }
            let ratio = ratio::of(&measured[0][number], &theirs[number], 0.95)?;
            println!("  stripewise / {:<14} {ratio} (95 %)", program.name);
        }
    }
    let middle = |all: &[f64]| stripewise_stats::median(all).unwrap_or(f64::NAN);
    println!(
        "\nof our threads alone, in the window, by our own record: {:.1} user ns/op, {:.0} system ns/op",
        middle(&recorded[0]),
        middle(&recorded[1])
    );
    Ok(())
}

/// The given binary, otherwise one built now with the users' profile.
pub fn built(binary: Option<PathBuf>) -> Result<PathBuf> {
    binary.map_or_else(|| shell::release_binary(&root::path()), Ok)
}

/// A path as text, for command lines.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
