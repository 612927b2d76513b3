//! CPU time per operation by engine, block size and outstanding, as a table for MEASUREMENT: from
//! each run's record of its own threads, the median of several.

use super::programs::{Load, stripewise};
use anyhow::{Context, Result};
use std::path::Path;
use stripewise_stats::median;

const ENGINES: [&str; 2] = ["uring", "threads"];
const BLOCKS: [u64; 3] = [4 << 10, 8 << 10, 64 << 10];
const OUTSTANDING: [u32; 4] = [1, 8, 32, 128];

/// For random reads by one thread.
pub fn run(binary: &Path, target: &Path, runs: usize, seconds: u32) -> Result<()> {
    let heads: Vec<String> = OUTSTANDING.iter().map(|one| format!(" {one} |")).collect();
    println!("\nuser + system ns of the processor for an operation, median of {runs} runs\n");
    println!("| engine | block |{}", heads.concat());
    println!("|---|---:|{}", "---:|".repeat(heads.len()));
    for engine in ENGINES {
        for block_size_bytes in BLOCKS {
            let cells = OUTSTANDING.map(|outstanding| {
                cell(
                    binary,
                    target,
                    runs,
                    Load {
                        block_size_bytes,
                        outstanding,
                        seconds,
                        engine,
                        ..Load::default()
                    },
                )
            });
            let cells = cells.into_iter().collect::<Result<Vec<String>>>()?;
            let block = block_size_bytes >> 10;
            println!("| {engine} | {block}K | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

fn cell(binary: &Path, target: &Path, runs: usize, load: Load) -> Result<String> {
    let (mut user, mut system) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let run = stripewise(binary, target, load)?.read()?;
        let [in_user, in_system] = run.cpu_ns.context("the record has no processor time")?;
        user.push(in_user);
        system.push(in_system);
    }
    let middle = |all: &[f64]| median(all).unwrap_or(f64::NAN);
    Ok(format!("{:.0} + {:.0}", middle(&user), middle(&system)))
}
