//! The switches of `report`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use stripewise_lab::compare::Requirement;

/// Stored or imported results as HTML, PNG, SVG, CSV, Markdown or JSON.
///
/// The HTML report is one file without network: it opens from a mail attachment,
/// on a phone and in print. A file that exists is never overwritten.
#[derive(Debug, Args)]
#[command(after_help = "\
What can be shown: the id of a run, series or experiment that `stripewise history` lists (or the\n\
beginning of a run's id), last (what was done last, with all of its runs), last~1, last-run,\n\
dataset:NAME, a file that --json printed, another tool's result, or a directory of such files.\n\
./NAME always is a file.")]
pub struct Report {
    /// Runs, series, experiments, dataset:NAME, files; several make one report
    #[arg(
        value_name = "RUN|EXPERIMENT|SERIES|dataset:NAME",
        required_unless_present = "all",
        value_parser = super::name_text()
    )]
    pub subjects: Vec<String>,
    /// Every stored run
    #[arg(long, conflicts_with = "subjects")]
    pub all: bool,
    /// What to write [default: by the end of the file's name, else html]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// The file to make, or - for stdout [default: html and png stripewise-NAME.html in this directory, others stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A requirement that the report says is met or missed: 'read_iops>=20000'; may be given several times
    #[arg(long, value_name = "WHAT")]
    pub require: Vec<Requirement>,
    /// png and svg: which chart, by its name; `all` puts them one below the other [default: the first]
    #[arg(long, value_name = "NAME")]
    pub chart: Option<String>,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One file with charts, tables and records
    Html,
    /// One chart, 1,920 pixels wide
    Png,
    /// One chart
    Svg,
    /// A row for each job of each run
    Csv,
    /// For issues and pull requests
    #[value(alias = "markdown")]
    Md,
    /// The records
    Json,
}

impl ReportFormat {
    /// As it is typed, and as file names end.
    pub fn name(self) -> &'static str {
        match self {
            ReportFormat::Html => "html",
            ReportFormat::Png => "png",
            ReportFormat::Svg => "svg",
            ReportFormat::Csv => "csv",
            ReportFormat::Md => "md",
            ReportFormat::Json => "json",
        }
    }
}
