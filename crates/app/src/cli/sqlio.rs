//! The switches of `sqlio`.

use clap::Args;

/// Drop-in for sqlio.exe: its switches, its output.
#[derive(Debug, Args)]
pub struct Sqlio {}
