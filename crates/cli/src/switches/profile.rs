//! The switches of `profile`.

use clap::Args;
use std::path::PathBuf;
use stripewise_units::{ByteSize, Nanoseconds};

/// Rate and access time over the surface of a disk.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only, under two minutes unless --full is given. Places are read in random order, so that \
drift over time does not look like a difference between places. Of an SSD the profile reports that \
position does not matter. On a file, positions are those of the file, and slow spots are shown \
with the sector on the device under it.\n\
--fill writes: to a new file in a directory that is named (removed at the end), to an existing \
file with --overwrite, to a device with --destroy NAME. It shows how much is written fast, and \
what follows.\n\
Exit code 1 where slow spots were found, 4 where something could not be read or written.")]
pub struct Profile {
    /// A block device, an existing file, or sim:NAME; with --fill also a directory
    #[arg(value_name = "TARGET", value_parser = super::name_text())]
    pub target: String,
    /// Read every byte: finds each slow or unreadable spot
    #[arg(long)]
    pub full: bool,
    /// Fill it instead, and show MiB/s against what was written: where a fast cache ends
    #[arg(long, conflicts_with_all = ["full", "places"])]
    pub fill: bool,
    /// Bytes to write with --fill [default: the whole device or file; of a directory 8G at most]
    #[arg(long, value_name = "SIZE", requires = "fill", conflicts_with_all = ["full", "places"])]
    pub size: Option<ByteSize>,
    /// Rest this long after the fill, then write again: how much of the cache is available again?
    #[arg(long, value_name = "TIME", requires = "fill", conflicts_with_all = ["full", "places"])]
    pub idle: Option<Nanoseconds>,
    /// Stop reading after this time; what was measured is shown [default: 115s; none with --full]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// Places at which the rate is measured
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=20_000))]
    pub places: Option<u32>,
    /// Seed of the order and the positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a page (.html, .md), a picture (.svg, .png), a table (.csv) or the document (.json) to a new file; may be
    /// given several times
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Allow --fill to write to a file that Stripewise did not make; ITS CONTENT IS LOST
    #[arg(long, requires = "fill", conflicts_with_all = ["full", "places"])]
    pub overwrite: bool,
    /// Allow --fill to write to the block device of this name; ITS CONTENT IS LOST
    #[arg(long, value_name = "NAME", requires = "fill", conflicts_with_all = ["full", "places"])]
    pub destroy: Option<String>,
    /// Use a busy device, or files of a live database, anyway
    #[arg(long)]
    pub busy_ok: bool,
}
