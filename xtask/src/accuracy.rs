//! `accuracy`: how well the simulated arrays meet the published tables. Prints
//! every figure beside what it must be, and fails if one is not.

// Published tables are looked at by few; what drives an array, by all.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/array-sim/tests/accuracy/mod.rs"]
mod published;

use anyhow::{Result, bail};
use published::{OPERATIONS, report};

pub fn run() -> Result<()> {
    let report = report(OPERATIONS);
    print!("{report}");
    if !report.passed() {
        bail!("a figure above is outside what docs/ARRAY_MODEL.md claims");
    }
    Ok(())
}
