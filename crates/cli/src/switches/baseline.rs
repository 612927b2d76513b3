//! The switches of `baseline`.

use super::run::Safety;
use clap::{Args, Subcommand};

/// Keep a result as the baseline for `check`.
#[derive(Debug, Args)]
pub struct Baseline {
    #[command(subcommand)]
    pub action: Option<BaselineAction>,
}

#[derive(Debug, Subcommand)]
pub enum BaselineAction {
    /// Store a run, a grid or a bench under a name
    Set(Box<BaselineSet>),
    /// List baselines (the default)
    List,
    /// Forget a baseline; its runs stay in the history
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct BaselineSet {
    /// A run, grid or bench that `stripewise history` lists; last, last~1, last-run; or a file of --json
    #[arg(value_parser = super::name_text())]
    pub id: String,
    /// The name of the baseline
    #[arg(long, default_value = "baseline")]
    pub name: String,
    /// Replace the baseline with this name; its runs stay in the history
    #[arg(long)]
    pub replace: bool,
    /// Accept void numbers; each check then says so
    #[arg(long)]
    pub anyway: bool,
    /// Run it N times more, now, to find out how much its runs differ by chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,
    #[command(flatten)]
    pub safety: Safety,
}
