//! The switches of `align`.

use clap::Args;

/// Does the partition offset matter here? Nothing is repartitioned.
#[derive(Debug, Args)]
pub struct Align {}
