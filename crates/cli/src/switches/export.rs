//! The switches of `export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Records as JSON lines or CSV, one after the other, however many there are.
#[derive(Debug, Args)]
pub struct Export {
    /// Runs, series, experiments, last, last-run, dataset:NAME, files [default: every stored run, oldest first]
    #[arg(value_name = "RUN|EXPERIMENT|SERIES|dataset:NAME", value_parser = super::name_text())]
    pub subjects: Vec<String>,
    /// jsonl (a record a line) or csv [default: by the end of the file's name, else jsonl]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// The file to make [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A record of a run on each line, as in the JSON document
    Jsonl,
    /// A row for each job of each run
    Csv,
}
