//! The switches of `advise`.

use super::run::Safety;
use clap::Args;
use std::path::PathBuf;
use stripewise_units::{ByteSize, Nanoseconds};

/// Which layout for which use, and what it gains.
///
/// Proposes the layouts worth trying, runs the cells of the profile on each of them in
/// passes, and answers with the layouts ranked, what matters and what does not, and the
/// plainest of the best. --explain adds the commands that make it. Exit code 1: the layout that
/// is there now is outside the set of the best by more than the margin.
#[derive(Debug, Args)]
pub struct Advise {
    /// A simulated array (sim:NAME, sim:FILE.toml, with its keys: sim:raid10-10k?offset=63s); a directory, file or device, on which only base offsets are measured; or devices (sdb,sdc,sdd) with --destroy, on which layouts are made
    #[arg(value_parser = super::name_text())]
    pub target: String,
    /// The use: sqlserver-oltp, postgresql, file-server ... (a wrong name lists all)
    #[arg(
        long = "for",
        value_name = "PROFILE",
        required_unless_present = "mix",
        conflicts_with = "mix"
    )]
    pub profile: Option<String>,
    /// A mix of your own: random-read=70,log=10,sequential-read:1M=20
    #[arg(long, value_name = "PART=SHARE,...")]
    pub mix: Option<String>,
    /// A factor with its levels, in place of what is proposed for it: stripe-unit=64K,1M
    #[arg(long, value_name = "FACTOR=LEVELS")]
    pub vary: Vec<String>,
    /// Differences up to this do not count [default: 2%]
    #[arg(long, value_name = "PERCENT", value_parser = super::align::percent)]
    pub margin: Option<f64>,
    /// Passes at most [default: 30]
    #[arg(long, value_name = "N")]
    pub passes: Option<u32>,
    /// Time for everything; virtual on sim [default: none]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// How much of the target to use [default: all of the smallest layout]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// Processors of the machine that the profile is for
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub cores: u32,
    /// Seed of the order and of all streams
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Label to store with the experiment
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Place the layouts side by side, in slots that change from pass to pass, and remove the difference between the slots; only where layouts are made
    #[arg(long)]
    pub slots: bool,
    /// Write a page or picture: .html, .svg, .png or .md
    #[arg(short = 'o', long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub safety: Safety,
}
