//! Turns records into tables, CSV, Markdown, pictures and one-file HTML. No clock,
//! no SQL, no terminal: the same records give the same bytes. Text for terminals
//! has at most 100 columns.
//!
//! [`Material`] is the input of a report; [`charts`] chooses its charts, plain
//! data that [`svg`] draws and that the page of `html` draws again when opened.
#![forbid(unsafe_code)]

mod advice;
mod answers;
mod attribution;
mod bench;
mod card;
mod chart;
mod choose;
mod comparison;
mod crystaldiskmark;
mod csv;
mod difference;
mod draw;
mod escape;
mod faults;
mod history;
mod hosts;
mod identity;
mod imported;
mod line;
mod markdown;
mod markdown_table;
mod material;
mod number;
mod page;
mod picture;
mod plain;
mod quantity_text;
mod repetitions;
mod replay;
mod required;
mod rows;
mod run;
mod sheet;
mod sheet_markdown;
mod sheet_text;
mod sheets;
mod sqlio_histogram;
mod validity;
mod warning_summary;
mod warnings;
mod words;

pub use advice::{advice_charts, advice_sheet};
pub use attribution::{Attribution, StoredFacts, moment};
pub use card::Card;
pub use chart::{
    Annotation, Axis, Chart, ChartTable, Form, Panel, Point, Quantity, Scale, Series, Tick, nines,
    ticks,
};
pub use choose::{charts, runs_worth_a_closer_look};
pub use comparison::comparison_line;
pub use crystaldiskmark::{are_like_runs, is_like_job, megabytes_per_s};
pub use csv::{csv_answer, csv_heading, csv_rows, csv_text};
pub use draw::{
    Axes, Look, PALETTE_DARK, PALETTE_LIGHT, PhaseBar, PictureError, Pixels, SIZE, SURFACE_SIZE,
    Strip, SurfacePicture, Theme, VerificationPicture, letters_without_font, png, surface_svg, svg,
    svg_of_all, svg_picture, verification_svg,
};
pub use faults::{FAULTS_SHOWN_MAX, classes_text, faults_text, verification_text};
pub use history::{HistoryRow, history_table};
pub use imported::imported_table;
pub use line::{compared_line, document_line, experiment_line, one_line};
pub use markdown::markdown;
pub use material::{HintWords, LatencyInterval, LatencyOverTime, Material};
pub use page::{html, page_policy, sheet_page};
pub use picture::{Multiples, Picture, pictures};
pub use plain::{into_plain_json, plain_json};
pub use replay::{fidelity_text, format_factor};
pub use sheet::{Caution, Cell, Column, Judgement, Sheet, SheetTable, again, again_by, go_on_by};
pub use sheet_markdown::sheet_markdown;
pub use sheet_text::{
    Emphasis, Paint, marked, marked_to_go_on, sheet_line, sheet_text, sheet_text_painted,
    with_warnings, wrapped_at,
};
pub use sheets::{
    RunsLook, checked_sheet, comparison_sheet, partial_lines, runs_origin, runs_sheet,
};
pub use warnings::{failed_lines, warnings_text};
pub use words::{Heading, requirement_line};
