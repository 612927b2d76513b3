//! Reports in files, and their paths.

use crate::failure::{Failure, Outcome};
use crate::output::{check_new, write_new};
use crate::show::context::Context;
use crate::show::terminal::say_part;
use crate::switches::hints::stored_hint;
use std::path::{Path, PathBuf};
use stripewise_campaign::steps::pages::{
    PictureLook, Rendered, ReportFormat, material_of, material_on, rendered,
};
use stripewise_report::Material;
use stripewise_results::Document;
use stripewise_store::Store;
use stripewise_units::{NameText, listed};

/// Implements `--report FILE` of commands that measure: a report on their document in the
/// format of the file's extension. Refuses a file that exists.
pub fn write_report(
    context: &Context,
    store: Option<&Store>,
    document: Document,
    path: &Path,
) -> Outcome<()> {
    write_material(context, material_of(store, document), path)
}

/// Writes a report in the format of the file's extension.
pub fn write_material(context: &Context, material: Material, path: &Path) -> Outcome<()> {
    let material = Material {
        hint: stored_hint,
        ..material
    };
    let format = ReportFormat::of_file(path).unwrap_or(ReportFormat::Html);
    let rendered = rendered(&material, format, &PictureLook::default())?;
    write_rendered(context, &rendered, path)
}

/// Writes a rendered report into a new file.
pub fn write_rendered(context: &Context, rendered: &Rendered, path: &Path) -> Outcome<()> {
    name_the_rest(context, rendered);
    write_new(path, &rendered.bytes)
}

/// Refuses files that exist, or whose names do not give a format, before anything is measured for
/// them; `format` is [`format_of`] or [`format_of_answer`].
pub fn check_outputs(paths: &[PathBuf], format: fn(&Path) -> Outcome<ReportFormat>) -> Outcome<()> {
    paths.iter().try_for_each(|path| {
        format(path)?;
        check_new(path)
    })
}

/// The format of a new file, by its extension.
pub fn format_of(path: &Path) -> Outcome<ReportFormat> {
    ReportFormat::of_file(path).ok_or_else(|| {
        Failure::usage(
            format!("the file name {} does not give a format", path.as_text()),
            "end its name with .html, .svg, .png, .csv, .md or .json",
        )
    })
}

/// The same for an answer that is not a table, and so has no CSV.
pub fn format_of_answer(path: &Path) -> Outcome<ReportFormat> {
    let format = ReportFormat::of_file(path).filter(|format| *format != ReportFormat::Csv);
    format.ok_or_else(|| {
        Failure::usage(
            format!("the file name {} does not give a format", path.as_text()),
            "end its name with .html, .md, .svg, .png or .json",
        )
    })
}

/// Names the other available pictures in a line if none was chosen, all of them with `--explain`; and
/// letters that will be drawn as boxes, with the reason.
pub fn name_the_rest(context: &Context, rendered: &Rendered) {
    // The first is the one that was drawn.
    let others = rendered.pictures.get(1..).unwrap_or_default();
    if !others.is_empty() && !context.global.quiet {
        let shown = if context.global.explain {
            others.len()
        } else {
            1
        };
        let more = match others.len() > shown {
            true => " (--explain)",
            false => "",
        };
        context.output.note(format!(
            "`report --chart NAME` draws another picture: {}{more}",
            listed(others, shown)
        ));
    }
    if !rendered.boxes.is_empty() {
        context.output.note(format!(
            "the PNG shows the letters {} as boxes: no font here has them, or they join \
             with others; install a font that has them (Noto Sans CJK, for example), or use svg",
            rendered.boxes
        ));
    }
}

/// Implements `align --report FILE`: a report on a stored experiment.
pub fn write_report_on(context: &Context, store: &Store, id: &str, path: &Path) -> Outcome<()> {
    write_material(context, material_on(context, store, id)?, path)?;
    say_written(context, path);
    Ok(())
}

/// Prints the path of a report: on stdout, or on stderr next to a document; nothing with `-q`.
pub fn say_written(context: &Context, path: &Path) {
    let line = format!("Report: {}\n", path.as_text());
    match (context.global.json, context.global.quiet) {
        (_, true) => {}
        (false, false) => context.output.print_text(&line),
        (true, false) => say_part!(context.output, "{line}"),
    }
}

/// The default report of a bench: `reports/ID.html` in the
/// directory of the store.
pub fn write_next_to_store(
    context: &Context,
    store: &Store,
    document: Document,
) -> Outcome<PathBuf> {
    let first = document.runs.first();
    let name = first.and_then(|run| run.series.clone()).unwrap_or_default();
    let directory = store
        .path()
        .parent()
        .unwrap_or(Path::new(""))
        .join("reports");
    stripewise_store::create_directories(&directory).map_err(|error| {
        Failure::target(
            format!("cannot make {}: {error}", directory.as_text()),
            "name a file with --report FILE",
        )
    })?;
    let path = directory.join(format!("{name}.html"));
    write_report(context, Some(store), document, &path)?;
    Ok(path)
}

/// Refuses a file that exists before anything is measured for it.
pub fn refuse_existing(path: Option<&Path>) -> Outcome<()> {
    match path {
        Some(path) => check_new(path),
        None => Ok(()),
    }
}
