//! The switches of `verify`.

use super::one_of;
use clap::Args;
use std::path::PathBuf;
use stripewise_campaign::power_cut::Durability;
use stripewise_campaign::verify::Caching;
use stripewise_io_engine::{EngineName, FaultPlan};
use stripewise_units::{ByteSize, Nanoseconds};

/// Switches for other modes than --power-cut.
const NOT_WITH_POWER_CUT: [&str; 6] = [
    "image",
    "capacity",
    "read_percent",
    "stop_after",
    "seed",
    "after_cut",
];

/// Does it keep the data it is given? Compares every byte.
///
/// Everything is written once, then used as SQL Server uses it (random pages of 8K, runs
/// of pages scattered in memory, checkpoint bursts up to 256K, log appends of 512 bytes to
/// 64K that are durable one by one, read-ahead of 64K to 1M over all of it; test files also
/// shrink and grow), and read once more from the device at the end. Every sector says which write put it there, so each fault has a name: lost, stale,
/// torn, misdirected, damaged... Exit code 1 says that there were faults.
///
/// --power-cut asks another question: does what was flushed survive when the power goes?
/// A witness elsewhere learns of each flush; after the cut --after-cut judges by what it saw.
#[derive(Debug, Args)]
#[command(after_help = "\
Power cuts, on the machine that keeps its power:\n  \
  stripewise witness cut.witness --listen 0.0.0.0:7411\n\
on the machine under test, with what the witness has printed:\n  \
  stripewise verify /dev/sdb --destroy sdb --power-cut --witness HOST:7411/TOKEN\n\
and with the power back on, with the witness's file:\n  \
  stripewise verify --after-cut cut.witness /dev/sdb")]
pub struct Verify {
    /// Directories (a test file is made in each and removed), files or block devices; all at once
    #[arg(required_unless_present = "plan", num_args = 1.., value_parser = super::name_text())]
    pub targets: Vec<String>,
    /// Write and read the whole device once: its real capacity, and its bad places. Continues where it was stopped
    #[arg(long, conflicts_with_all = ["image", "duration", "size", "cache", "threads", "read_percent"])]
    pub capacity: bool,
    /// Print what a target of this --size would take (memory, passes), and do nothing: none need be there
    #[arg(long, requires = "size", conflicts_with_all = ["targets", "capacity", "image", "power_cut", "after_cut"], help = "Only print what a target of this --size would take")]
    pub plan: bool,
    /// Only read what an earlier run left here (--keep), even if copied or restored since, and print how old it is
    #[arg(long, conflicts_with_all = ["duration", "cache", "threads", "outstanding", "read_percent", "keep", "overwrite", "destroy", "inject"])]
    pub image: bool,
    /// Write and flush until the power fails, while a witness records each flush (see below)
    #[arg(long, requires = "witness", conflicts_with_all = NOT_WITH_POWER_CUT)]
    pub power_cut: bool,
    /// Where the witness is: HOST:PORT/TOKEN as `stripewise witness` prints it, "|COMMAND" (like "|ssh HOST stripewise witness FILE --stdin"), or a new FILE on another disk
    #[arg(long, value_name = "WHERE", requires = "power_cut", conflicts_with_all = NOT_WITH_POWER_CUT, value_parser = super::name_text())]
    pub witness: Option<String>,
    /// What makes writes durable: flush (fsync; of a device its flush), fdatasync, fua (each write by itself, past the page cache), dsync (each write by itself, through it)
    #[arg(
        long,
        value_name = "KIND",
        requires = "power_cut",
        conflicts_with_all = NOT_WITH_POWER_CUT,
        default_value = "flush",
        hide_possible_values = true,
        value_parser = one_of([
            ("flush", Durability::Flush),
            ("fdatasync", Durability::DataSync),
            ("fua", Durability::Fua),
            ("dsync", Durability::EachWrite),
        ])
    )]
    pub sync: Durability,
    /// Judge what survived a power cut by this file of the witness; only reads
    #[arg(long, value_name = "WITNESS-FILE", conflicts_with_all = ["power_cut", "image", "capacity", "duration", "size", "cache", "threads", "outstanding", "read_percent", "stop_after", "keep", "overwrite", "destroy", "inject"])]
    pub after_cut: Option<PathBuf>,
    /// How long to work after everything was written once [default: 5m; with --power-cut without limit]
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Nanoseconds>,
    /// Size of the test file, at least 1M (rounded up to whole MiB), or how much of the target to use [default: of devices 8G]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// Caches to go through: direct, buffered, or mixed (in turn)
    #[arg(
        long,
        value_name = "MODE",
        default_value = "direct",
        value_parser = one_of([
            ("direct", Caching::Direct),
            ("buffered", Caching::Buffered),
            ("mixed", Caching::Mixed),
        ])
    )]
    pub cache: Caching,
    /// Threads for pages on each target
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), help = "Threads for pages on each target [default: 2]")]
    pub threads: Option<u32>,
    /// Operations that each of them keeps in flight
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help = "Queue depth of each of them [default: 8]")]
    pub outstanding: Option<u32>,
    /// Use the I/O of this profile instead (see advise --for): postgresql, mysql-innodb, oracle ...
    #[arg(long, value_name = "NAME", conflicts_with_all = ["capacity", "image", "power_cut", "after_cut", "threads", "outstanding", "read_percent"])]
    pub profile: Option<String>,
    /// Share of reads among the page operations
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u8).range(0..=99))]
    pub read_percent: u8,
    /// Stop after N faults
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub stop_after: u64,
    /// I/O engine: auto, uring, iocp or threads
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub engine: EngineName,
    /// Seed of all choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Faults to inject, for tests of the program itself
    #[arg(long, value_name = "PLAN", hide = true)]
    pub inject: Option<FaultPlan>,
    #[command(flatten)]
    pub safety: super::run::Safety,
}
