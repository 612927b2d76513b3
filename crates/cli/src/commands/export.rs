//! `export`: records one after the other, to stdout or a file.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new_with;
use crate::show::context::Context;
use crate::show::terminal::Stdout;
use crate::switches::export::Export;
use serde::Serialize;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::rc::Rc;
use stripewise_campaign::export::{ExportFormat, export as write, is_broken_pipe, unwritten};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::NameText;

pub fn export(context: &Context, arguments: &Export) -> Outcome {
    let format = format(context, arguments)?;
    if let Some(path) = &arguments.output {
        to_file(context, arguments, format, path)?;
        return Ok(Exit::Done);
    }
    let mut out = BufWriter::new(Stdout(Rc::clone(&context.output)));
    let written = write(context, &arguments.subjects, format, &mut out);
    match written.and_then(|_| out.flush().map_err(unwritten)) {
        // A broken pipe means that the reader has enough.
        Err(failure) if is_broken_pipe(&failure) => {}
        other => other?,
    }
    Ok(Exit::Done)
}

/// The format from the switch, else from the file's extension, else one record per line; with
/// `--json` and no file, one document.
fn format(context: &Context, arguments: &Export) -> Outcome<ExportFormat> {
    let format = format_of_records(context, arguments)?;
    match (arguments.histograms, format) {
        (false, format) => Ok(format),
        (true, ExportFormat::Csv) => Err(Failure::usage(
            "a row of CSV has no room for histograms",
            "export them as JSON lines: --format jsonl, and a file that does not end in .csv",
        )),
        (true, ExportFormat::FioJson) => Err(Failure::usage(
            "fio's JSON has no place for the histograms of intervals",
            "leave --histograms out; the histograms of whole runs are in it (json+ bins)",
        )),
        (true, ExportFormat::Document) => Err(Failure::usage(
            "histograms go with records one by one, and --json prints one document",
            "leave --json out, or write the records to a file: -o FILE",
        )),
        (true, _) => Ok(ExportFormat::Histograms),
    }
}

fn format_of_records(context: &Context, arguments: &Export) -> Outcome<ExportFormat> {
    match (&arguments.output, arguments.format) {
        (None, Some(_)) if context.global.json => Err(Failure::usage(
            "--json prints one document, and --format asks for records one by one",
            "leave one of them out, or write the records to a file: -o FILE",
        )),
        (None, None) if context.global.json => Ok(ExportFormat::Document),
        (_, Some(format)) => Ok(format),
        (Some(path), None) if path.extension().is_some_and(is_csv) => Ok(ExportFormat::Csv),
        (_, None) => Ok(ExportFormat::Jsonl),
    }
}

fn to_file(
    context: &Context,
    arguments: &Export,
    format: ExportFormat,
    path: &Path,
) -> Outcome<()> {
    let mut records = 0;
    // Remove a partial file.
    context.end_at_once(false);
    write_new_with(path, |out| {
        records = write(context, &arguments.subjects, format, out)?;
        Ok(())
    })?;
    if context.global.json {
        context.output.print_json(&Exported {
            schema_version: SCHEMA_VERSION,
            export: Written {
                path: path.as_text(),
                records,
            },
        })?;
    }
    Ok(())
}

/// The `--json` document about a written file.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Exported {
    schema_version: u32,
    export: Written,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Written {
    path: String,
    records: usize,
}

fn is_csv(end: &std::ffi::OsStr) -> bool {
    end.eq_ignore_ascii_case("csv")
}
