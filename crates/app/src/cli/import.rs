//! The switches of `import`.

use clap::Args;

/// Keep other tools' results: SQLIO, DiskSpd, fio.
#[derive(Debug, Args)]
pub struct Import {}
