//! The switches of `check`.

use super::run::Safety;
use clap::Args;
use stripewise_lab::compare::Requirement;
use stripewise_units::{ByteSize, Nanoseconds};

/// Has it changed since the baseline? Is it as required?
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 better, or no difference found; 1 worse, undecided, or a requirement is missed;\n\
3 what would be measured cannot be compared with the baseline (other file system, size or mode).\n\
\n\
A rate is required of the best of several loads, a latency of each. Without a baseline, --require\n\
measures random reads or writes of 8K by 8 threads with 4 outstanding, and a log (sequential writes\n\
of 8K, one outstanding, direct-sync) where a requirement names `log`.")]
pub struct Check {
    /// Where to measure [default: where the baseline was measured]
    #[arg(value_parser = super::name_text())]
    pub target: Option<String>,
    /// The baseline to use [default: the only one, or the one called baseline]
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Judge this stored run, bench or file instead of measuring
    #[arg(long, value_name = "ID", conflicts_with_all = ["target", "repeat", "gentle", "CheckLoad"], value_parser = super::name_text())]
    pub run: Option<String>,
    /// A requirement: 'read_iops>=20000', 'log p99<1ms'; may be given several times
    #[arg(long, value_name = "WHAT")]
    pub require: Vec<Requirement>,
    /// Metric to compare: iops, mib_per_s, latency_mean, latency_p99... [default: iops; latency where a rate is fixed]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Repetitions of each workload of the baseline [default: 6; 1 where 30 or more runs are stored]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,
    /// Report losses up to this many percent, but do not count them as worse [default: 1, or as much as runs scatter]
    #[arg(long, value_name = "PERCENT", value_parser = super::number)]
    pub tolerate: Option<f64>,
    /// For a server in use: reads only, one outstanding, 50 a second
    #[arg(long)]
    pub gentle: bool,
    /// Record that something was changed on purpose, and compare anyway
    #[arg(long, value_name = "WORDS")]
    pub changed: Option<String>,
    /// Write a report to this file: html, or by its extension png, svg, csv, md, json
    #[arg(short = 'o', long, value_name = "FILE")]
    pub report: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub load: CheckLoad,
    #[command(flatten)]
    pub safety: Safety,
}

/// What to measure where there is no baseline.
#[derive(Debug, Args)]
#[command(next_help_heading = "Without a baseline")]
pub struct CheckLoad {
    /// Block size [default: 8K]
    #[arg(long, value_name = "SIZE")]
    pub block: Option<ByteSize>,
    /// Threads [default: 8]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Queue depth of each thread [default: 4]
    #[arg(long, value_name = "N")]
    pub outstanding: Option<u32>,
    /// Measured time of each run [default: 10s]
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Nanoseconds>,
    /// How much of the target to use; size of the test file in a directory
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// Size of the device's or controller's write cache, if known: writes go on until it overflows
    #[arg(long, value_name = "SIZE")]
    pub cache_size: Option<ByteSize>,
}
