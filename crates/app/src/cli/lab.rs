//! The switches of `lab`.

use clap::Args;

/// A full experiment: factors, levels, randomised blocks.
#[derive(Debug, Args)]
pub struct Lab {}
