//! The switches of `witness`.

use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// Remember completed flushes for verify --power-cut.
///
/// Runs where the power stays on. `stripewise verify --power-cut --witness` at the other
/// end reports each flush that completed; after the cut `stripewise verify --after-cut`
/// judges the disk by FILE.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("reports").required(true).args(["listen", "stdin"]))]
pub struct Witness {
    /// The file to store reports in; it must not exist yet
    pub file: PathBuf,
    /// Accept one connection on this address, from the client that knows the token; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Read reports from stdin, at the end of a pipe through ssh, and answer on stdout
    #[arg(long)]
    pub stdin: bool,
    /// Read the token from the first line of this file instead of generating one
    #[arg(
        long,
        value_name = "FILE",
        requires = "listen",
        conflicts_with = "stdin"
    )]
    pub token_file: Option<PathBuf>,
}
