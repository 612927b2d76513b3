//! The switches of the small commands.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use stripewise_units::{ByteSize, Percentile};

/// Make a test file and keep it for later runs.
#[derive(Debug, Args)]
pub struct Prepare {
    /// The file to make; must not exist yet
    pub path: PathBuf,
    /// Its size
    #[arg(long, value_name = "SIZE")]
    pub size: ByteSize,
    /// Share of each 4 KiB block that a compressing device can save, 0 to 100
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub compressible: u8,
    /// Share of 4 KiB blocks that are copies of others, 0 to 100
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub dedupable: u8,
    /// Seed of the data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Use a directory that looks like a live database, or a busy device, anyway
    #[arg(long)]
    pub busy_ok: bool,
}

/// List, show or delete what is stored.
#[derive(Debug, Args)]
#[command(after_help = "\
What was stored last stands first, whenever it was measured; an import has its place by when it \
was imported. `last` is what was done here last - a bench, grid, experiment or check with all of \
its runs, or a run - and `last~1` what was done before it; `last-run` is the last single run. \
Imports are never `last`.")]
pub struct History {
    #[command(subcommand)]
    pub action: Option<HistoryAction>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    #[command(flatten)]
    pub only: HistoryFilter,
}

/// Which runs to list; what is given must hold together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Only some runs")]
pub struct HistoryFilter {
    /// Only targets whose name contains this: /data, sdb, sim:raid10
    #[arg(long, value_name = "TEXT", value_parser = super::name_text())]
    pub target: Option<String>,
    /// Started since a day or time in UTC (2026-11-20, 2026-11-20T08:00), or an age: 24h, 90m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only labels that contain this
    #[arg(long, value_name = "WORDS")]
    pub label: Option<String>,
    /// Only results imported from this tool: fio, diskspd, sqlio
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only this bench or experiment
    #[arg(long, value_name = "ID")]
    pub series: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum HistoryAction {
    /// Show runs in full: an id, the beginning of one, the id of a bench, last, last~1, last-run; or a profile or verification by its id
    Show {
        /// Which runs, profiles or verifications
        #[arg(required = true)]
        ids: Vec<String>,
        /// Also report these percentiles of latency: 95,99.99
        #[arg(long, value_name = "LIST", value_delimiter = ',')]
        percentiles: Vec<Percentile>,
        /// Also print every step of the ladders of a bench
        #[arg(long)]
        ladders: bool,
    },
    /// Delete runs, profiles and verifications from the store
    Delete {
        /// Which: ids as `history` lists them, or the id of a bench
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Copy what can be read of a damaged store (--store FILE) into a new one
    Salvage {
        /// The new store
        #[arg(value_name = "FILE")]
        to: PathBuf,
    },
}

/// The simulated arrays, for which no disk is needed.
#[derive(Debug, Args)]
pub struct Sim {
    #[command(subcommand)]
    pub action: SimAction,
}

#[derive(Debug, Subcommand)]
pub enum SimAction {
    /// The bundled arrays, a line each
    List,
    /// One array, with all its parameters and their sources
    Show {
        /// NAME, NAME?key=value&..., or a file
        name: String,
    },
}

/// What this machine supports, and what to change.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Also check the volume of this path, and read one block of a file or device
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Also measure what the engine's parts cost here: clock, system call, timer, and how many operations
    /// one wait brings (reads a file or device for a second)
    #[arg(long, help = "Also measure what the engine's parts cost here")]
    pub engine: bool,
}

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell
    pub shell: clap_complete::Shell,
}

/// Write the man pages into a directory.
#[derive(Debug, Args)]
pub struct Man {
    /// The directory to write them to; it must exist, and no file in it is replaced
    pub directory: PathBuf,
}
