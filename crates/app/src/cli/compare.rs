//! The switches of `compare`.

use clap::Args;

/// A against B: runs, series, experiments, imported files, published tables.
#[derive(Debug, Args)]
pub struct Compare {}
