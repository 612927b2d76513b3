//! The switches of `compare`.

use clap::Args;

/// A against B: runs, series, experiments, imported files, published tables.
#[derive(Debug, Args)]
#[command(after_help = "\
What A and B can be: the id of a run, series or experiment that `stripewise history` lists (or the\n\
beginning of a run's id), last (what was done last, with all of its runs), last~1, last-run,\n\
dataset:NAME, dataset:NAME:COLUMN, two profiles of surfaces (`profile`), a file that --json printed, another tool's result, or a directory\n\
of such files. ./NAME always is a file.\n\
Published tables: oja-nisula-2007-offset, oja-nisula-2007-allocation-unit, eva8100-2009-offset,\n\
mssqltips-2127.\n\
\n\
Exit code 1 when a difference is found: one whose test, corrected for all rows, leaves less than 5 %\n\
to chance. Single runs and published figures have no repetitions, so nothing is found there.")]
pub struct Compare {
    /// The reference; alone: its levels are compared with each other
    #[arg(value_name = "A", value_parser = super::name_text())]
    pub a: String,
    /// What is held against it
    #[arg(value_name = "B", value_parser = super::name_text())]
    pub b: Option<String>,
    /// iops, mib_per_s, latency_mean, latency_p50, latency_p90, latency_p95, latency_p99, latency_p999 or latency_max
    #[arg(long, value_name = "NAME", default_value = "iops")]
    pub metric: String,
    /// With A alone: the level that the others are held against [default: the first]
    #[arg(long, value_name = "LEVEL", conflicts_with = "b")]
    pub baseline: Option<String>,
    /// Write a report here: html, or by the file's end png, svg, csv, md, json
    #[arg(long, value_name = "FILE")]
    pub report: Option<std::path::PathBuf>,
}
