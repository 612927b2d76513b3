//! The switches of `align`.

use super::run::Safety;
use clap::{Args, ValueEnum};
use stripewise_campaign::align::{AlignOptions, DesignOptions, Operations};
use stripewise_campaign::steps::experiment::start::ExperimentOptions;
use stripewise_io_engine::EngineName;
use stripewise_units::{ByteSize, Nanoseconds};

/// Does the partition offset matter here?
///
/// Nothing is repartitioned: the same workload runs at shifted base offsets, as it would on partitions that
/// start there: where the target starts now (or 63 sectors) against 1M, block
/// after block in random order, until every interval is narrow or the time is
/// spent. Exit code 1: the offset matters.
#[derive(Debug, Args)]
pub struct Align {
    /// A block device (reads need no permission), a file, a directory (a test file is made in it and removed), or sim:NAME
    #[arg(value_parser = super::name_text())]
    pub target: String,
    #[command(flatten)]
    pub what: AlignWhat,
    #[command(flatten)]
    pub how: ExperimentArguments,
    /// Write a report to this file: html, or by its extension png, svg, csv, md, json
    #[arg(short = 'o', long, value_name = "FILE")]
    pub report: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub safety: Safety,
}

/// What to compare.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub struct AlignWhat {
    /// Offsets from the start of the disk; all are compared with the first [default: where the target starts now, or 63s, and 1M]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub offsets: Vec<ByteSize>,
    /// Add 36K to the offsets, to separate crossed stripe units from split pages of parity
    #[arg(long)]
    pub cause: bool,
    /// Threads [default: 1,8,64]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Queue depth of each thread [default: 4]
    #[arg(long, value_name = "N")]
    pub outstanding: Option<u32>,
    /// Block size, or a list [default: 8K]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub block: Vec<ByteSize>,
    /// Only reads
    #[arg(long, group = "align_operation")]
    pub read: bool,
    /// Only writes
    #[arg(long, group = "align_operation")]
    pub write: bool,
    /// Reads and writes (the default where writing is allowed)
    #[arg(long, group = "align_operation")]
    pub both: bool,
    /// Measure although every result will be void (the target is memory, or reads as holes or zeros)
    #[arg(long)]
    pub anyway: bool,
    /// Add sequential rows
    #[arg(long)]
    pub sequential: bool,
    /// Use the design of a published table; other switches change it
    #[arg(long, value_name = "NAME")]
    pub study: Option<Study>,
    /// How much of the target to use; size of the test file in a directory
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
}

/// How long, and how exactly.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Measuring")]
pub struct ExperimentArguments {
    /// Stop when every interval is narrower than this [default: 2%]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub precision: Option<f64>,
    /// Time for everything; virtual on sim [default: 10m, or what a verdict needs; on sim none]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// Maximum number of blocks [default: 200; on sim 40]
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Measured time of one run [default: 1s; on sim what about 30,000 operations take]
    #[arg(long, value_name = "TIME")]
    pub step: Option<Nanoseconds>,
    /// Size of the device's or controller's write cache, if known: writes go on until it overflows
    #[arg(long, value_name = "SIZE")]
    pub cache_size: Option<ByteSize>,
    /// I/O engine: auto, uring, nvme, iocp, threads or null
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineName>,
    /// Seed of the order and of all streams
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Label to store with the experiment
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}

impl Align {
    /// The options given by these switches.
    pub fn options(&self) -> AlignOptions {
        AlignOptions {
            target: self.target.clone(),
            design: self.what.design(),
            size_bytes: self.what.size.map(ByteSize::bytes),
            anyway: self.what.anyway,
            measuring: self.how.options(),
        }
    }
}

impl AlignWhat {
    fn design(&self) -> DesignOptions {
        let bytes = |sizes: &[ByteSize]| sizes.iter().map(|size| size.bytes()).collect();
        DesignOptions {
            offsets_bytes: bytes(&self.offsets),
            cause: self.cause,
            threads: self.threads.clone(),
            outstanding: self.outstanding,
            blocks_bytes: bytes(&self.block),
            operations: match (self.read, self.write, self.both) {
                (true, ..) => Operations::Reads,
                (_, true, _) => Operations::Writes,
                (.., true) => Operations::Both,
                _ => Operations::Unasked,
            },
            sequential: self.sequential,
            study: self.study.map(|study| match study {
                Study::Year2007 => stripewise_campaign::align::Study::Year2007,
                Study::Eva => stripewise_campaign::align::Study::Eva,
            }),
        }
    }
}

impl ExperimentArguments {
    /// The measurement options given by these switches.
    pub fn options(&self) -> ExperimentOptions {
        ExperimentOptions {
            precision_percent: self.precision,
            time_ns: self.time.map(Nanoseconds::ns),
            blocks: self.blocks,
            step_ns: self.step.map(Nanoseconds::ns),
            cache_size_bytes: self.cache_size.map(ByteSize::bytes),
            engine: self.engine,
            seed: self.seed,
            label: self.label.clone(),
            group: None,
        }
    }
}

/// Published designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Study {
    /// Oja and Nisula 2007: 31.5K against 64K, 1 to 256 threads, 4 outstanding, 8K, random and sequential reads and writes
    #[value(name = "2007")]
    Year2007,
    /// EVA8100, 2009: 31.5K against 64K, 128K, 1M and 2M, 1 to 32 threads, 32 outstanding, 8K random reads and writes
    #[value(name = "eva")]
    Eva,
}

/// `2`, `0.5`, `2%`.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("a width in per cent above 0, such as 2% or 0.5".to_owned()),
    }
}
