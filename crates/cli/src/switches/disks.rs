//! The switches of `disks`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;
use stripewise_units::ByteSize;

/// What is here: disks, partitions, volumes, exact offsets, a verdict for each.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only. Exit code 1 where a volume with a file system starts inside a physical sector, or\n\
crosses stripe units with operations up to the largest size of --for. What is given with\n\
--stripe-unit, --raid, --cache-size and --note is kept with the disk, and shown as given.")]
pub struct Disks {
    /// A device (with what stands on it and below it), an image of a disk, or any file
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
    /// Level of that array, and its disks: raid5, raid10:8, single
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
    /// Anything else worth knowing
    #[arg(
        long,
        value_name = "TEXT",
        requires = "target",
        help_heading = "Given facts"
    )]
    pub note: Option<String>,
    /// Forget what was given for DEVICE before
    #[arg(long, requires = "target", help_heading = "Given facts")]
    pub forget: bool,
    /// Look at a captured tree of a machine instead of this one
    #[arg(long, value_name = "DIRECTORY")]
    pub sysroot: Option<PathBuf>,
    /// Sector size of an image whose table does not say
    #[arg(long, value_name = "SIZE", requires = "target")]
    pub sector: Option<ByteSize>,
    /// Print it as another tool would
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

/// A RAID level as given, with the number of disks where known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raid {
    pub level: String,
    pub disks: Option<u64>,
}

impl FromStr for Raid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LEVELS: [&str; 9] = [
            "single", "jbod", "linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10",
        ];
        let (level, disks) = match text.split_once(':') {
            Some((level, disks)) => (level, Some(disks)),
            None => (text, None),
        };
        let level = level.to_ascii_lowercase();
        // `5` and `10` are what many people type.
        let level = if level.starts_with(|c: char| c.is_ascii_digit()) {
            format!("raid{level}")
        } else {
            level
        };
        if !LEVELS.contains(&level.as_str()) {
            return Err(format!("is none of {}", LEVELS.join(", ")));
        }
        let least = match level.as_str() {
            "raid5" | "raid4" => 3,
            "raid6" => 4,
            "single" => 1,
            _ => 2,
        };
        let disks = match disks {
            None => None,
            Some(text) => match text.parse::<u64>() {
                Ok(disks) if (least..=1024).contains(&disks) => Some(disks),
                _ => return Err(format!("{level} has {least} to 1024 disks, not {text}")),
            },
        };
        Ok(Raid { level, disks })
    }
}
