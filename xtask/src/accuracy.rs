//! `accuracy`: how well the simulated arrays meet the published tables. Prints
//! every figure beside what it must be, and fails if one is not.

use anyhow::{Result, bail};
use stripewise_array_sim::accuracy::{OPERATIONS, report};

pub fn run() -> Result<()> {
    let report = report(OPERATIONS);
    print!("{report}");
    if !report.passed() {
        bail!("a figure above is outside what docs/ARRAY_MODEL.md claims");
    }
    Ok(())
}
