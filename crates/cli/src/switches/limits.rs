//! The switches of `limits`.

use super::one_of;
use clap::Args;
use std::path::PathBuf;
use stripewise_campaign::limits::Cloud;
use stripewise_io_engine::EngineName;
use stripewise_units::{ByteSize, Nanoseconds};

/// Which limit binds, and how long does a burst last?
///
/// IOPS, bandwidth, latency or the processor.
#[derive(Debug, Args)]
#[command(after_help = "\
Measures ten loads of 4K to 1M at random places, reads, writes and a mix, 1 to 64 in flight, in random \
order and at least six times each: about three minutes, up to ten where rates scatter. The answer \
has the cap on IOPS and the cap on bandwidth where there is one, each with its interval, whether a \
limiter sets them or the device, and which limit applies at which load. Devices are only read \
unless --destroy names them.\n\
A cap is not named where the processor, a page cache, another load or too much scatter is in the way; the \
reason is printed.\n\
Exit code 1 where that is so, 3 where the target is too small. Ctrl-C keeps what is certain so far, \
and --resume goes on.")]
pub struct Limits {
    /// A directory (a test file is made in it and removed), a file, a block device, or sim:NAME [default: .]
    #[arg(value_parser = super::name_text())]
    pub target: Option<String>,
    /// Size of the test file, or how much of the target to use
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// Block size of a load of yours: which limit applies to it? [default with --outstanding: 8K]
    #[arg(long, value_name = "SIZE")]
    pub block: Option<ByteSize>,
    /// Reads in flight of that load [default with --block: 32]
    #[arg(long, value_name = "N")]
    pub outstanding: Option<u32>,
    /// Then drive the cap until a burst ends, for this long at most, rest, and measure the refill
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "30m")]
    pub burst: Option<Nanoseconds>,
    /// Measured time of one run; a quarter of it is run before [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub step: Option<Nanoseconds>,
    /// No writes (a test file is still made where the target is a directory)
    #[arg(long)]
    pub read_only: bool,
    /// Compare the caps with this provider's volume types: auto (by the machine's and the device's names), aws, azure, gcp or none [default: auto]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = one_of(Cloud::ALL.map(|cloud| (cloud.name(), cloud)))
    )]
    pub cloud: Option<Cloud>,
    /// A table of volume types to use in place of the one that comes with the program
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// What the volume costs, in a unit of yours: prints the cost of 1,000 IOPS at the cap
    #[arg(long, value_name = "AMOUNT", value_parser = super::number)]
    pub price: Option<f64>,
    /// I/O engine: auto, uring, iocp or threads [default: auto]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineName>,
    /// A few words that are stored with the runs
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Write a page (.html, .md), the picture (.svg, .png) or the document (.json) to a new file; may be given several times
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Seed of the positions and the order [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Go on with one that was interrupted before its burst: its id, or last; all else is as it was then
    #[arg(long, value_name = "ID")]
    pub resume: Option<String>,
    #[command(flatten)]
    pub safety: super::run::TargetSafety,
}
