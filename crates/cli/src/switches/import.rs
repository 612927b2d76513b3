//! The switches of `import`.

use clap::Args;
use std::path::PathBuf;

/// Keep other tools' results: SQLIO, DiskSpd, fio
#[derive(Debug, Args)]
#[command(after_help = "\
Read are output of SQLIO, DiskSpd's text and XML (-Rxml), and fio's JSON and json+. What a result does not\n\
say stays empty. All files are read before the first is kept: one that cannot be read stops everything.")]
pub struct Import {
    /// Files of results, or directories of them
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Your words for these results
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}
