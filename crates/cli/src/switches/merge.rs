//! The switches of `merge`.

use clap::Args;

/// Runs of several hosts at the same time as one.
///
/// Only intervals in which all of them were measuring count.
#[derive(Debug, Args)]
#[command(after_help = "\
On each host: `stripewise run TARGET ... --start-at 14:00:00`, with clocks kept in step by NTP or \
PTP. Then bring the stores to one place, or the files that `stripewise export --histograms last -o \
FILE` wrote, and merge. From a store the latest result is taken: a run, or all runs of a grid or \
bench, the first with the first of the other hosts and so on. STORE#ID names another run or \
bench; an ID alone names one of the store that --store names. The result is kept there, with the \
runs that it was made of.\n\
\n\
Refused: other versions, other jobs, other kinds of operation. Load, sizes, seeds, operating \
systems and devices may differ, and are reported where they do.")]
pub struct Merge {
    /// Stores, STORE#ID, or files that `export --histograms` made: one for each host
    #[arg(required = true, value_name = "STORE|STORE#ID|FILE", value_parser = super::name_text())]
    pub sources: Vec<String>,
    /// Merge what there is if a host is missing or its run was cut short
    #[arg(long)]
    pub partial: bool,
    /// Label to store with the merged run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}
