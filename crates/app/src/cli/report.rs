//! The switches of `report`.

use clap::Args;

/// Stored or imported results as HTML, PNG, SVG, CSV, Markdown or JSON.
#[derive(Debug, Args)]
pub struct Report {}
