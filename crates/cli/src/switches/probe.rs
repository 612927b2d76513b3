//! The switches of `probe`.

use clap::{Args, Subcommand};
use stripewise_units::Nanoseconds;

/// What a target does not tell, from timed reads.
#[derive(Debug, Args)]
pub struct Probe {
    #[command(subcommand)]
    pub what: What,
}

/// What is looked for.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Stripe unit, phase and number of disks of an array that does not tell
    Stripe(Stripe),
}

/// The pattern of an array.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only: some ten thousand reads of one sector, a few at a time. The answer is exact or there is none:\n\
one disk, a mirror, an SSD, a virtualised array, a cache in the way or too much noise are reported as the\n\
reason. Layouts that reads cannot tell apart are all listed. The phase says where the first stripe unit\n\
begins, counted from byte 0 of the partition. For sim: targets all times are virtual.\n\
Exit code 3 where the target is too small.")]
pub struct Stripe {
    /// A block device, a partition, an existing file, or sim:NAME
    #[arg(value_name = "TARGET", value_parser = super::name_text())]
    pub target: String,
    /// Stop reading after this time, answer or not
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub time: Nanoseconds,
    /// Seed of the positions that are read
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Read a device that is busy, or files of a live database, all the same
    #[arg(long)]
    pub busy_ok: bool,
}
