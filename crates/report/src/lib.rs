//! Records in; tables, CSV, Markdown, pictures and one-file HTML out. No clock,
//! no SQL, no terminal: the same records give the same bytes. Text for terminals
//! has at most 100 columns.
//!
//! [`Material`] is what a report is made of; [`charts`] chooses its charts, plain
//! data that [`svg`] draws and that the page of `html` draws again when it is open.
#![forbid(unsafe_code)]

mod about;
mod advice;
mod answers;
mod bench;
mod brief;
mod card;
mod caution;
mod chart;
mod choose;
mod comparison;
mod comparisons;
mod csv;
mod difference;
mod draw;
mod escape;
mod faults;
mod history;
mod hosts;
mod identity;
mod imported;
mod like;
mod line;
mod markdown;
mod material;
mod number;
mod overview;
mod page;
mod picture;
mod plain;
mod quantity_text;
mod repetitions;
mod rows;
mod run;
mod runs;
mod sheet;
mod sheet_markdown;
mod sqlio_histogram;
mod table;
mod warnings;
mod words;

pub use about::{About, KeptFacts, moment};
pub use advice::{advice_charts, advice_html, advice_markdown, advice_text};
pub use bench::{bench_sentences, series_table};
pub use brief::warnings_brief;
pub use card::Card;
pub use caution::caution_text;
pub use chart::{
    Annotation, Axis, Chart, ChartTable, Form, Panel, Point, Quantity, Scale, Series, Tick, nines,
    ticks,
};
pub use choose::{charts, runs_worth_a_closer_look};
pub use comparison::{
    comparison_heading, comparison_table, comparison_table_beside, comparison_text,
    comparison_words,
};
pub use comparisons::comparisons_text;
pub use csv::{csv_answer, csv_heading, csv_rows, csv_text};
pub use draw::{
    Axes, Look, PALETTE_DARK, PALETTE_LIGHT, PhaseBar, PictureError, Pixels, SIZE, SURFACE_SIZE,
    Strip, SurfacePicture, Theme, VerificationPicture, letters_without_font, png, surface_svg, svg,
    svg_of_all, svg_picture, verification_svg,
};
pub use faults::{FAULTS_SHOWN_MAX, classes_text, faults_text, verification_text};
pub use history::{HistoryRow, history_table};
pub use hosts::{hosts_sentences, hosts_text};
pub use imported::imported_rows_table;
pub use like::{are_like_runs, is_like_job, like_table, megabytes_per_s};
pub use line::{document_line, experiment_line, one_line};
pub use markdown::markdown;
pub use material::{LatencyInterval, LatencyOverTime, Material};
pub use overview::{comparison_line, comparison_overview};
pub use page::{html, page_policy, sheet_page};
pub use picture::{Multiples, Picture, pictures};
pub use plain::plain_json;
pub use repetitions::repetitions_table;
pub use run::{job_details, percentiles_text, processors_text, run_header};
pub use runs::{RunsLook, header_text, like_text, partial_lines, runs_text};
pub use sheet::{Judged, Sheet, SheetTable};
pub use sheet_markdown::sheet_markdown;
pub use warnings::{errors_text, warnings_line, warnings_text, wrapped};
pub use words::{Heading, requirement_text};
