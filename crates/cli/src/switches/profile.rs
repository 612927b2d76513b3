//! The switches of `profile`.

use clap::Args;
use std::path::PathBuf;
use stripewise_units::Nanoseconds;

/// Rate and access time over the surface of a disk.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only, under two minutes unless --full is given. Places are read in random order, so that a drift in\n\
time is not taken for place. Of an SSD the profile says that position does not matter. On a file, positions\n\
are those of the file, and slow spots are shown with the sector on the device under it.\n\
Exit code 1 where slow spots were found, 4 where something could not be read.")]
pub struct Profile {
    /// A block device, an existing file, or sim:NAME
    #[arg(value_name = "TARGET", value_parser = super::name_text())]
    pub target: String,
    /// Read every byte: finds each slow or unreadable spot
    #[arg(long)]
    pub full: bool,
    /// Stop reading after this time; what was measured is shown [default: 115s; none with --full]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// Places at which the rate is measured
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=20_000))]
    pub places: Option<u32>,
    /// Seed of the order and the positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a picture (.svg, .png), a table (.csv) or the document (.json) to a new file; may be
    /// given several times
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Read a device that is busy, or files of a live database, all the same
    #[arg(long)]
    pub busy_ok: bool,
}
