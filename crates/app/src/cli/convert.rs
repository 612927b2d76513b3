//! The switches of `convert`.

use clap::Args;

/// Turn another tool's workload into a plan.
#[derive(Debug, Args)]
pub struct Convert {}
