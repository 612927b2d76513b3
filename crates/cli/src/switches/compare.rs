//! The switches of `compare`.

use clap::Args;

/// Runs, benches, imported files and published tables.
#[derive(Debug, Args)]
#[command(after_help = "\
What A and B can be: an id that `stripewise history` lists (or the beginning of a run's id), a \
label, last (the last bench, run, grid, check or experiment, with all of its runs), last~1, \
last-run, dataset:NAME, dataset:NAME:COLUMN, a profile, a file that --json printed, another tool's \
result, or a directory of such files. ./NAME is always a file. All runs with one label are one \
side.\n\
Published tables: oja-nisula-2007-offset, oja-nisula-2007-allocation-unit, eva8100-2009-offset, \
mssqltips-2127.\n\
\n\
Benches are compared by their answers, ceilings, knees and the log's latency; with --metric also \
step by step. Profiles, observations, headrooms, answers of limits and qualifications are compared \
two at a time, by a table of their own.\n\
\n\
Exit code 1 when a difference is found: one whose test, corrected for all rows, leaves less than 5 \
% to random_seed. Single runs and published figures have no repetitions, so nothing is found there.")]
pub struct Compare {
    /// The reference; alone: its levels are compared with each other
    #[arg(value_name = "A", value_parser = super::name_text())]
    pub a: String,
    /// What to compare with the reference, each by itself
    #[arg(value_name = "B", value_parser = super::name_text())]
    pub others: Vec<String>,
    /// Metrics of runs and benches to compare: iops, mib_per_s, latency_mean, latency_p50, latency_p90, latency_p95, latency_p99, latency_p999, latency_max [default: iops]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// With A alone: the level to compare the others with [default: the first]
    #[arg(long, value_name = "LEVEL", conflicts_with = "others")]
    pub baseline: Option<String>,
    /// Write a report to this file: html, or by the file's extension png, svg, csv, md, json
    #[arg(short = 'o', long, value_name = "FILE")]
    pub report: Option<std::path::PathBuf>,
}
