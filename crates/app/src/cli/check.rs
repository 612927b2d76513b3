//! The switches of `check`.

use clap::Args;

/// Run the baseline again and tell change; or hold runs to requirements.
#[derive(Debug, Args)]
pub struct Check {}
