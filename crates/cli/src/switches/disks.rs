//! The switches of `disks`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use stripewise_campaign::disks::Raid;
use stripewise_units::ByteSize;

/// Where partitions start, with a verdict for each.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only. Exit code 1 where a volume with a file system starts inside a physical sector, or\n\
crosses stripe units with operations up to the largest size of --for. What is given with\n\
--stripe-unit, --raid and --cache-size counts for this once; --keep keeps it with the disk.")]
pub struct Disks {
    /// A device (with all layers above and below it), an image of a disk, or any file
    /// [default: all devices]
    #[arg(value_name = "DEVICE|FILE")]
    pub target: Option<PathBuf>,
    /// Sizes of the operations that matter here
    #[arg(
        long = "for",
        value_name = "SIZE,...",
        value_delimiter = ',',
        default_value = "8K,64K"
    )]
    pub block_sizes: Vec<ByteSize>,
    /// Bytes on one disk of the array behind DEVICE, which the array does not report
    #[arg(
        long,
        value_name = "SIZE",
        requires = "target",
        help_heading = "Given facts"
    )]
    pub stripe_unit: Option<ByteSize>,
    /// Level of that array, and its number of disks: raid5, raid10:8, single
    #[arg(
        long,
        value_name = "LEVEL[:DISKS]",
        requires = "target",
        help_heading = "Given facts"
    )]
    pub raid: Option<Raid>,
    /// Cache of its controller
    #[arg(
        long,
        value_name = "SIZE",
        requires = "target",
        help_heading = "Given facts"
    )]
    pub cache_size: Option<ByteSize>,
    /// Keep a note with the disk, and what else is given
    #[arg(
        long,
        value_name = "TEXT",
        requires = "target",
        help_heading = "Given facts"
    )]
    pub note: Option<String>,
    /// Keep what is given with the disk: from now on it is shown as given
    #[arg(long, requires = "target", help_heading = "Given facts")]
    pub keep: bool,
    /// Forget what was kept for DEVICE
    #[arg(long, requires = "target", help_heading = "Given facts")]
    pub forget: bool,
    /// Show a captured tree of a machine instead of this one
    #[arg(long, value_name = "DIRECTORY")]
    pub sysroot: Option<PathBuf>,
    /// Sector size of an image whose table does not state it
    #[arg(long, value_name = "SIZE", requires = "target")]
    pub sector: Option<ByteSize>,
    /// Print it in another tool's format
    #[arg(long, value_name = "TOOL", value_enum, conflicts_with = "json")]
    pub like: Option<Like>,
}

/// Tools whose output scripts parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Like {
    /// `diskpar -i`: partitions of each disk
    Diskpar,
    /// `diskext`: extents of each volume
    Diskext,
}
