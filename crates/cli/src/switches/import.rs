//! The switches of `import`.

use clap::Args;
use std::path::PathBuf;

/// Store results of fio, DiskSpd, SQLIO and others.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads output of SQLIO, DiskSpd's text and XML (-Rxml), fio's JSON (that of --client too), normal \
and terse output, Iometer's CSV, vdbench's flatfile.html and summary.html, elbencho's CSV and \
JSON, and the text of CrystalDiskMark and KDiskMark. What a result does not state stays empty. All \
files are read before the first is kept: one that cannot be read stops everything, unless \
--whole-results is given; then it is named, and the exit code is 1.")]
pub struct Import {
    /// Files of results, or directories of them with their subdirectories
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Store the results that are complete, and name the others
    #[arg(long)]
    pub whole_results: bool,
    /// Label to store with the results
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}
