//! The switches of `export`.

use clap::Args;

/// Records as JSON lines or CSV.
#[derive(Debug, Args)]
pub struct Export {}
