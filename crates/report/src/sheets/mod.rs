//! Documents of runs as sheets: benches, single runs, grids and repetitions. Terminals,
//! pages and Markdown all use these, so that a number is the same everywhere.

mod bench;
mod cautions;
mod columns;
mod comparison;
mod runs;
mod title;

pub(crate) use bench::{answer_words, answers_table, ladder_table, width_words};
pub(crate) use cautions::{cautions, single_runs};
pub use comparison::{checked_sheet, comparison_sheet};
pub(crate) use comparison::{comparison_tables, subjects};
pub use runs::{partial_lines, runs_sheet};
pub use title::runs_origin;

use stripewise_units::Percentile;

/// How much of runs to show.
#[derive(Clone, Copy, Default)]
pub struct RunsLook<'a> {
    /// Warnings in full, processor times, how everything was computed.
    pub explain: bool,
    /// Every step of the ladders of a bench.
    pub ladders: bool,
    /// Additional percentiles of latency.
    pub percentiles: &'a [Percentile],
}
