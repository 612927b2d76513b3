//! User instructions of a report over many runs.
//!
//! A simulated grid creates the store, so the records and thus the instructions are the same on
//! every machine, but for the noise of ids and times of day. The page omits most of the runs: the
//! count covers reading the store, selecting, drawing and writing the rest.

use super::counters::Counters;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use suite::shell;

/// Runs in the report counted for each change; they take seconds under callgrind.
const RUNS_GATE: u32 = 1_000;
/// Runs in the report that `perf` counts.
pub const RUNS: u32 = 10_000;
/// Cells of the grid: 10 thread counts by 10 values of outstanding.
const CELLS: u32 = 100;
/// Limit per run, including its share of the page: about a tenth more than when this was written
/// (1.35 million).
const INSTRUCTIONS_MAX: f64 = 1_500_000.0;

/// Instructions of the whole process per run.
fn count(counters: Counters, binary: &Path, runs: u32) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let store = super::text(&folder.path().join("runs.db"));
    let counts = "1,2,3,4,5,6,7,8,9,10";
    let repeat = (runs / CELLS).to_string();
    let mut grid = Command::new(binary);
    grid.args([
        "run",
        "sim:nvme",
        "--duration",
        "100ms",
        "--interval",
        "10ms",
    ])
    .args(["--threads", counts, "--outstanding", counts])
    .args(["--repeat", &repeat, "--quiet", "--store", &store]);
    shell::read_measured(&mut grid).context("the grid that the report is about")?;
    let page = super::text(&folder.path().join("page.html"));
    let binary = super::text(binary);
    let words = [&binary, "report", "--all", "-o", &page, "--store", &store];
    let (_, instructions, _) = counters.count(|before| {
        let mut all = before.iter().map(String::as_str).chain(words);
        let mut command = Command::new(all.next().expect("the binary at least"));
        command.args(all);
        command
    })?;
    Ok(instructions as f64 / f64::from(runs))
}

/// Prints the cost of a report over 10,000 runs.
pub fn run(counters: Counters, binary: &Path) -> Result<()> {
    let each = count(counters, binary, RUNS)?;
    println!(
        "\nreport over {RUNS} runs: {:.2} billion user instructions, {each:.0} for each run ({})",
        each * f64::from(RUNS) / 1e9,
        counters.name()
    );
    Ok(())
}

/// Fails if a report exceeds the limit.
pub fn gate(counters: Counters, binary: &Path) -> Result<()> {
    let each = count(counters, binary, RUNS_GATE)?;
    println!(
        "{each:.0} user instructions for each of {RUNS_GATE} runs of a report ({}); the limit is {INSTRUCTIONS_MAX}",
        counters.name()
    );
    if each > INSTRUCTIONS_MAX {
        bail!(
            "{each:.0} user instructions for each run of a report are more than {INSTRUCTIONS_MAX}"
        );
    }
    Ok(())
}
