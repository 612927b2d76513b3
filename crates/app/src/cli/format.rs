//! The switches of `format`.

use clap::Args;

/// Make a file system: prints the plan, does it with --yes --destroy NAME.
#[derive(Debug, Args)]
pub struct Format {}
