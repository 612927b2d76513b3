//! Advice on layouts, for people and as JSON, and its pages.

use crate::failure::Outcome;
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::line::{marked_to_go_on, print_result};
use crate::show::page::say_written;
use std::path::Path;
use stripewise_campaign::steps::layouts::session::LayoutsSession;
use stripewise_campaign::steps::layouts::stored_layouts::{FoundLayouts, StoredLayouts};
use stripewise_campaign::steps::pages::{PictureLook, ReportFormat};
use stripewise_report::{advice_charts, again_by, go_on_by};
use stripewise_results::AdviceRecord;
use stripewise_units::{NameText, counted, format_duration};

/// Prints the results, writes the page, and returns the exit.
pub fn show(context: &Context, session: &LayoutsSession, report: Option<&Path>) -> Outcome {
    let stored = &session.stored;
    let FoundLayouts { record, exit } = stored.found();
    let sheet = || {
        let mut sheet = stored.sheet(&record, context.global.explain);
        if session.is_stored {
            sheet.pointers = pointers(context, stored, &record);
        }
        sheet
    };
    let line = || line(context, session, &record);
    print_result(context, &stored.document(&record), sheet, line)?;
    if let Some(path) = report {
        write(context, stored, &record, path)?;
    }
    Ok(exit)
}

/// The choice and its gain, and where it is stored.
fn line(context: &Context, session: &LayoutsSession, record: &AdviceRecord) -> String {
    let stored = &session.stored;
    let found = stored.line(record);
    match session.is_stored {
        true => marked_to_go_on(&found, &stored.id, &pointers(context, stored, record)),
        false => found,
    }
}

/// The commands that show it again or continue it, and the commands that make the layout.
fn pointers(
    context: &Context,
    stored: &StoredLayouts,
    record: &AdviceRecord,
) -> Vec<(String, String)> {
    let id = context.short_name(&stored.id);
    let is_over = stored.is_over() || !stored.can_go_on();
    let passes = counted(stored.measured.passes.len(), "pass", "passes");
    let saved = format!(
        "{}{passes} in {}",
        stored.partial_words(),
        format_duration(stored.elapsed_ns)
    );
    let what = match (is_over, record.commands.is_empty()) {
        (true, false) => "  (--explain: commands, all layouts)",
        (true, true) => "  (--explain)",
        (false, _) => "",
    };
    let what = if context.global.explain { "" } else { what };
    let resume = format!("stripewise lab resume {id}{what}");
    let further = match is_over {
        true => again_by(resume),
        false => go_on_by(resume),
    };
    vec![("Saved".to_owned(), saved), further]
}

fn write(
    context: &Context,
    stored: &StoredLayouts,
    record: &AdviceRecord,
    path: &Path,
) -> Outcome<()> {
    let requested = ReportFormat::of_file(path).unwrap_or(ReportFormat::Html);
    let is_picture = matches!(requested, ReportFormat::Svg | ReportFormat::Png);
    if is_picture && advice_charts(record).is_empty() {
        context.note(format!(
            "{} was not written: there is nothing to draw before layouts can be judged",
            path.as_text()
        ));
        return Ok(());
    }
    let look = PictureLook::default();
    let page = match stored.page(record, requested, &look)? {
        // The answer is not made of runs.
        None => stored.page(record, ReportFormat::Html, &look)?,
        page => page,
    };
    let bytes = page.map(|page| page.bytes).unwrap_or_default();
    write_new(path, &bytes)?;
    say_written(context, path);
    Ok(())
}
