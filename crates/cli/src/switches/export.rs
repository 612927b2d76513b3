//! The switches of `export`.

use clap::Args;
use std::path::PathBuf;
use stripewise_campaign::export::ExportFormat;

/// Records as JSON lines, CSV or fio's JSON.
#[derive(Debug, Args)]
pub struct Export {
    /// Runs, benches, experiments, last, last-run, dataset:NAME, files [default: every stored run, oldest first]
    #[arg(value_name = "RUN|BENCH|EXPERIMENT|dataset:NAME", value_parser = super::name_text())]
    pub subjects: Vec<String>,
    /// jsonl (one record per line), csv, or fio-json (for fio-plot and its like) [default: by the file name extension, otherwise jsonl]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Include the histograms of every interval, which `merge` needs from another host
    #[arg(long)]
    pub histograms: bool,
    /// The file to make [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
