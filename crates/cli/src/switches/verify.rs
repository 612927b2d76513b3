//! The switches of `verify`.

use clap::{Args, ValueEnum};
use stripewise_campaign::verify::Caching;
use stripewise_io_engine::{EngineName, FaultPlan};
use stripewise_units::{ByteSize, Nanoseconds};

/// Does it keep what it was given?
///
/// Everything is written once, then worked on as SQL Server does (random pages of 8K,
/// checkpoint bursts up to 256K, log appends of 512 bytes to 60K that are durable one by
/// one, read-ahead of 64K to 1M over all of it), and read once more from the device at the
/// end. Every sector says which write put it there, so each fault has a name: lost, stale,
/// torn, misdirected, damaged... Exit code 1 says that there were faults.
#[derive(Debug, Args)]
pub struct Verify {
    /// Directories (a test file is made in each and removed), files or block devices; all at once
    #[arg(required = true, num_args = 1.., value_parser = super::name_text())]
    pub targets: Vec<String>,
    /// Write and read the whole device once: its real capacity, and its bad places. Goes on where it was stopped
    #[arg(long, conflicts_with_all = ["image", "duration", "size", "cache", "threads", "read_percent"])]
    pub capacity: bool,
    /// Only read what an earlier run left here (--keep), maybe copied or restored since, and say how old it is
    #[arg(long, conflicts_with_all = ["duration", "cache", "threads", "outstanding", "read_percent", "keep", "overwrite", "destroy", "inject"])]
    pub image: bool,
    /// How long to work after everything was written once
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub duration: Nanoseconds,
    /// Size of the test file, or how much of the target to use [default: of devices 8G]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// Through which caches: direct, buffered, or mixed (in turn)
    #[arg(long, value_name = "MODE", default_value = "direct")]
    pub cache: CachingName,
    /// Threads for pages on each target
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), help = "Threads for pages on each target [default: 2]")]
    pub threads: Option<u32>,
    /// Operations that each of them keeps in flight
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help = "Operations that each of them keeps in flight [default: 8]")]
    pub outstanding: Option<u32>,
    /// Share of reads among the page operations
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u8).range(0..=99))]
    pub read_percent: u8,
    /// Stop after N faults
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub stop_after: u64,
    /// Which way to do I/O: auto, uring, iocp or threads
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

/// Through which caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CachingName {
    Direct,
    Buffered,
    Mixed,
}

impl CachingName {
    /// What it names.
    pub fn caching(self) -> Caching {
        match self {
            CachingName::Direct => Caching::Direct,
            CachingName::Buffered => Caching::Buffered,
            CachingName::Mixed => Caching::Mixed,
        }
    }
}
