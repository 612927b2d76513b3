//! Advice on layouts, for people and as JSON, and its pages.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::document::{print_json, print_text};
use crate::show::page::say_written;
use serde::Serialize;
use std::path::Path;
use stripewise_campaign::steps::layouts::kept::KeptLayouts;
use stripewise_campaign::steps::pages::ReportFormat;
use stripewise_lab::layouts::effect_sentences;
use stripewise_report::{
    About, advice_charts, advice_html, advice_markdown, advice_text, png, svg_of_all, wrapped,
};
use stripewise_results::{AdviceRecord, SCHEMA_VERSION};
use stripewise_units::{counted, format_duration};

/// Pixels for each of a picture's own.
const PNG_SCALE: f32 = 2.0;

/// As `--json` prints it.
#[derive(Serialize)]
struct AdviceDocument<'a> {
    schema_version: u32,
    id: &'a str,
    started_at: &'a str,
    status: &'static str,
    elapsed_ns: u64,
    #[serde(flatten)]
    advice: &'a AdviceRecord,
}

/// Prints an answer and writes its page; `exit` is what it comes to.
pub fn show(
    context: &Context,
    kept: &KeptLayouts,
    record: Option<&AdviceRecord>,
    report: Option<&Path>,
    exit: Exit,
) -> Outcome {
    let Some(record) = record else {
        return Ok(exit);
    };
    if context.global.json {
        print_json(&AdviceDocument {
            schema_version: SCHEMA_VERSION,
            id: &kept.id,
            started_at: &kept.started_at,
            status: status(kept),
            elapsed_ns: kept.elapsed_ns,
            advice: record,
        })?;
    } else {
        let mut text = advice_text(record, &effect_sentences(record));
        text.push_str(&wrapped(&kept_line(kept), "  "));
        print_text(&text);
    }
    if let Some(path) = report {
        write(context, kept, record, path)?;
    }
    Ok(exit)
}

fn status(kept: &KeptLayouts) -> &'static str {
    use stripewise_lab::layouts::PassesEnded::Interrupted;
    match kept.ended {
        Some(Interrupted) | None => "partial",
        Some(_) => "complete",
    }
}

fn kept_line(kept: &KeptLayouts) -> String {
    let passes = counted(kept.measured.passes.len(), "pass", "passes");
    let partial = match status(kept) {
        "partial" => "partial: ",
        _ => "",
    };
    format!(
        "{partial}Kept as {} ({passes}, {}); `stripewise lab resume {}` shows it again.",
        kept.id,
        format_duration(kept.elapsed_ns),
        kept.id
    )
}

fn write(context: &Context, kept: &KeptLayouts, record: &AdviceRecord, path: &Path) -> Outcome<()> {
    let effects = effect_sentences(record);
    let under = format!(
        "{}, {}; Stripewise {}",
        kept.id, kept.started_at, kept.version
    );
    let bytes = match ReportFormat::of_file(path) {
        Some(ReportFormat::Svg) => svg_of_all(&advice_charts(record)).into_bytes(),
        Some(ReportFormat::Png) => png(
            &svg_of_all(&advice_charts(record)),
            PNG_SCALE,
            &About::default(),
        )
        .map_err(|error| {
            Failure::new(
                Exit::Target,
                error.to_string(),
                "ask for svg, which needs no pixels",
            )
        })?,
        Some(ReportFormat::Md) => advice_markdown(record, &effects).into_bytes(),
        _ => advice_html(record, &effects, &under).into_bytes(),
    };
    write_new(path, &bytes)?;
    say_written(context, path);
    Ok(())
}
