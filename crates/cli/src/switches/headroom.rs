//! The switches of `headroom`.

use clap::Args;
use std::path::PathBuf;
use stripewise_campaign::headroom::Slo;
use stripewise_io_engine::EngineName;
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::CacheMode;

/// How much more of a load does it carry?
#[derive(Debug, Args)]
#[command(after_help = "\
Two answers, each with an interval: more users (copies of the load at once), and the same users \
faster. A load that waits for its disk has two others: the rate that the target carries at least, \
and how many such users it carries, each with think times as recorded. A long run at the lower end \
confirms the answer, or shows that a burst credit was spent.\n\
The load is issued on the target: use an idle volume of the same type, not the live one. Writes \
only go to a test file in a directory, or to what --overwrite or --destroy names.\n\
Exit code 1 where there is no answer, or the load as it is is more than the target carries. Ctrl-C \
keeps what is certain so far, and --resume goes on.")]
pub struct Headroom {
    /// A directory (a test file is made in it and removed), a file, a block device, or sim:NAME
    #[arg(value_name = "TARGET", value_parser = super::name_text(), required_unless_present = "resume")]
    pub target: Option<String>,
    /// A trace, a model (.swmodel), a profile (sqlserver-oltp, postgresql ...), or an observation that kept its
    /// operations
    #[arg(long, value_name = "LOAD", value_parser = super::name_text(), required_unless_present = "resume")]
    pub load: Option<String>,
    /// Columns of a trace of an unknown format: time=us,op=R/W,offset=bytes,size=sectors
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true)]
    pub columns: Option<String>,
    /// The limit on latency: the headroom ends where it is exceeded [default: p99<5ms]
    #[arg(long, value_name = "LIMIT")]
    pub slo: Option<Slo>,
    /// Operations per second of a profile, at random instants: the load as it is now
    #[arg(long, value_name = "IOPS", value_parser = super::number)]
    pub rate: Option<f64>,
    /// Length of a run [default: four times the longest bursts of the load, at least 10s]
    #[arg(long, value_name = "TIME")]
    pub run: Option<Nanoseconds>,
    /// Length of the confirming run, as long as a burst credit may last: 10m on cloud volumes [default: 2m]
    #[arg(long, value_name = "TIME")]
    pub confirm: Option<Nanoseconds>,
    /// Size of the test file [default: what the load needs]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// How caches are used: direct, direct-sync, buffered, buffered-sync [default: direct]
    #[arg(long, value_name = "MODE")]
    pub cache: Option<CacheMode>,
    /// I/O engine: auto, uring, nvme, iocp, threads or null [default: auto]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineName>,
    /// Seed of everything that is drawn [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Write a page (.html, .md), a picture (.svg, .png), a table of the runs (.csv) or the document (.json) to a
    /// new file; may be given several times
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Label to store with the runs
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Go on with one that was interrupted: its id, or last; all else is as it was then
    #[arg(long, value_name = "ID")]
    pub resume: Option<String>,
    #[command(flatten)]
    pub safety: super::run::TargetSafety,
}
