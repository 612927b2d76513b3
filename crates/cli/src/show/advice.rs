//! Advice on layouts, for people and as JSON, and its pages.

use crate::failure::Outcome;
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::line::{marked, print_answer};
use crate::show::page::say_written;
use std::path::Path;
use stripewise_campaign::steps::layouts::kept::{FoundLayouts, KeptLayouts};
use stripewise_campaign::steps::pages::{PictureLook, ReportFormat};
use stripewise_lab::layouts::effect_sentences;
use stripewise_report::{advice_charts, advice_text, wrapped};
use stripewise_results::{AdviceRecord, Status};
use stripewise_units::{NameText, counted, format_duration};

/// Prints what was found and writes its page. What it comes to is returned.
pub fn show(context: &Context, kept: &KeptLayouts, report: Option<&Path>) -> Outcome {
    let FoundLayouts { record, exit } = kept.found();
    if context.global.json {
        context.output.print_json(&kept.document(&record))?;
    } else {
        let whole = || {
            let text = advice_text(&record, &effect_sentences(&record));
            text + &wrapped(&kept_line(kept), "  ")
        };
        print_answer(context, whole, || line(kept, &record));
    }
    if let Some(path) = report {
        write(context, kept, &record, path)?;
    }
    Ok(exit)
}

/// The choice, and what it gains: the first sentences are the most important.
fn line(kept: &KeptLayouts, record: &AdviceRecord) -> String {
    let first: Vec<&str> = record
        .sentences
        .iter()
        .take(2)
        .map(String::as_str)
        .collect();
    let partial = match kept.status() {
        Status::Partial => "partial: ",
        _ => "",
    };
    marked(&format!("{partial}{}", first.join(" ")), &kept.id)
}

fn kept_line(kept: &KeptLayouts) -> String {
    let passes = counted(kept.measured.passes.len(), "pass", "passes");
    let partial = match kept.status() {
        Status::Partial => "partial: ",
        _ => "",
    };
    let resumed = match kept.is_over() || !kept.can_go_on() {
        true => "shows it again",
        false => "continues it",
    };
    format!(
        "{partial}Kept as {} ({passes}, {}); `stripewise lab resume {}` {resumed}.",
        kept.id,
        format_duration(kept.elapsed_ns),
        kept.id
    )
}

fn write(context: &Context, kept: &KeptLayouts, record: &AdviceRecord, path: &Path) -> Outcome<()> {
    let asked = ReportFormat::of_file(path).unwrap_or(ReportFormat::Html);
    let is_picture = matches!(asked, ReportFormat::Svg | ReportFormat::Png);
    if is_picture && advice_charts(record).is_empty() {
        context.note(format!(
            "{} was not written: there is nothing to draw before layouts can be judged",
            path.as_text()
        ));
        return Ok(());
    }
    let look = PictureLook::default();
    let page = match kept.page(record, asked, &look)? {
        // Runs are not the answer.
        None => kept.page(record, ReportFormat::Html, &look)?,
        page => page,
    };
    let bytes = page.map(|page| page.bytes).unwrap_or_default();
    write_new(path, &bytes)?;
    say_written(context, path);
    Ok(())
}
