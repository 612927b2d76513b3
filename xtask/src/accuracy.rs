//! `accuracy`: how well the simulated arrays match the published tables. Prints every figure with
//! its bound, and fails if one is violated.

// Few targets use the published tables; all use the code that drives an array.
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
