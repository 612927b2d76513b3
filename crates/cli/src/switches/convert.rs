//! The switches of `convert`.

use clap::Args;
use std::path::PathBuf;
use stripewise_compat::convert::Tool;

/// A job of fio, DiskSpd or SQLIO as a plan for run.
#[derive(Debug, Args)]
#[command(after_help = "\
The plan goes to stdout, or into a new file with -o; what it cannot carry is reported on stderr \
and in the plan. `stripewise run --plan FILE` runs it.")]
pub struct Convert {
    /// Whose workload it is: sqlio (a batch file), diskspd (command lines) or fio (a job file)
    #[arg(long, value_name = "TOOL")]
    pub from: Tool,
    /// The file
    pub file: PathBuf,
    /// Write the plan to this file, which must not exist yet
    #[arg(long, short, value_name = "PLAN.toml")]
    pub output: Option<PathBuf>,
    /// What a drive letter stands for: L=/mnt/data [env: STRIPEWISE_DRIVE_L]
    #[arg(long, value_name = "L=PATH")]
    pub drive: Vec<String>,
}
