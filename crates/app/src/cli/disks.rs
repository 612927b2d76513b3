//! The switches of `disks`.

use clap::Args;

/// What is here: disks, partitions, volumes, exact offsets, a verdict for each.
#[derive(Debug, Args)]
pub struct Disks {}
