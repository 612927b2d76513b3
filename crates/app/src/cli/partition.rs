//! The switches of `partition`.

use clap::Args;

/// Make an aligned partition: prints the plan, does it with --yes --destroy NAME.
#[derive(Debug, Args)]
pub struct Partition {}
