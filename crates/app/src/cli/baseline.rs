//! The switches of `baseline`.

use clap::Args;

/// Keep a run as the baseline that `check` holds later ones against.
#[derive(Debug, Args)]
pub struct Baseline {}
