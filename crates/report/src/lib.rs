//! Records in; tables and text out. No clock, no SQL, no terminal: what is
//! returned is a string of at most 100 columns.
#![forbid(unsafe_code)]

mod bench;
mod comparison;
mod history;
mod number;
mod run;
mod table;
mod warnings;

pub use bench::{bench_sentences, series_table};
pub use comparison::{
    comparison_heading, comparison_table, comparison_table_beside, comparison_text,
    comparison_words,
};
pub use history::{HistoryRow, history_table};
pub use run::{job_details, run_header, run_rows_table};
pub use warnings::{warnings_text, wrapped};
