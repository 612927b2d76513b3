//! The switches of `probe`.

use clap::{Args, Subcommand};
use stripewise_units::{ByteSize, Nanoseconds};

/// Stripe unit of an array, pages of an SSD, by timed reads.
///
/// Finds out what a target does not report.
#[derive(Debug, Args)]
pub struct Probe {
    #[command(subcommand)]
    pub what: What,
}

/// What is looked for.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Stripe unit, phase and number of disks of an array that does not report them
    Stripe(Stripe),
    /// Pages, alignment, parallelism and pauses of a solid-state drive
    Flash(Flash),
}

/// What flash does not report.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads some hundred thousand single blocks, up to 32 at once: which size and alignment cost a \
further page, how many reads it does at once. With --write it also writes, and shows how long \
collection pauses writes and how often: to a new file in a directory that is named (removed at the \
end), to an existing file with --overwrite, to a device with --destroy NAME. What the tests do not \
decide gets a reason, not a guess.\n\
Exit code 3 where the target is too small.")]
pub struct Flash {
    /// A block device, an existing file, or sim:NAME; with --write also a directory
    #[arg(value_name = "TARGET", value_parser = super::name_text())]
    pub target: String,
    /// Write this much, to see pauses: about ten times the distance between two of them
    #[arg(long, value_name = "SIZE")]
    pub write: Option<ByteSize>,
    /// Stop after this time, answers or not
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub time: Nanoseconds,
    /// Seed of the positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Allow --write to write to a file that Stripewise did not make; ITS CONTENT IS LOST
    #[arg(long, requires = "write")]
    pub overwrite: bool,
    /// Allow --write to write to the block device of this name; ITS CONTENT IS LOST
    #[arg(long, value_name = "NAME", requires = "write")]
    pub destroy: Option<String>,
    /// Use a busy device, or files of a live database, anyway
    #[arg(long)]
    pub busy_ok: bool,
}

/// The pattern of an array.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only: about ten thousand reads of one sector, a few at a time. The answer is exact or there \
is none: one disk, a mirror, an SSD, a virtualised array, a cache in the way or too much noise are \
reported as the reason. Layouts that reads cannot distinguish are all listed. The phase says where \
the first stripe unit begins, counted from byte 0 of the partition. For sim: targets all times are \
virtual.\n\
Exit code 3 where the target is too small.")]
pub struct Stripe {
    /// A block device, a partition, an existing file, or sim:NAME
    #[arg(value_name = "TARGET", value_parser = super::name_text())]
    pub target: String,
    /// Stop reading after this time, answer or not
    #[arg(long, value_name = "TIME", default_value = "15m")]
    pub time: Nanoseconds,
    /// Keep the answer with the disk as measured: `disks` and `align` use it from then on
    #[arg(long)]
    pub accept: bool,
    /// Seed of the positions that are read
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Read a device that is busy, or files of a live database, all the same
    #[arg(long)]
    pub busy_ok: bool,
}
