//! `export`: records one after the other. Stored runs are read and written one by
//! one, so that a store of any size passes through little memory.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{hint_of, write_new_with};
use crate::show::document::{note, print_json};
use crate::show::terminal::Stdout;
use crate::subject::subject;
use crate::switches::export::{Export, ExportFormat};
use serde::Serialize;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;
use stripewise_report::{csv_heading, csv_rows};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_store::Filter;
use stripewise_units::NameText;

pub fn export(context: &Context, arguments: &Export) -> Outcome {
    let write_all = |out: &mut dyn Write| match arguments.output {
        None if context.global.json => document(context, arguments, out),
        _ => lines(context, arguments, out).map(drop),
    };
    match &arguments.output {
        Some(path) => to_file(context, arguments, path)?,
        None => {
            let mut out = BufWriter::new(Stdout);
            let written = write_all(&mut out);
            match written.and_then(|()| out.flush().map_err(unwritten)) {
                // A broken pipe means that the reader has seen enough.
                Err(failure) if is_broken_pipe(&failure) => {}
                other => other?,
            }
        }
    }
    Ok(Exit::Done)
}

fn to_file(context: &Context, arguments: &Export, path: &Path) -> Outcome<()> {
    let mut records = 0;
    write_new_with(path, |out| {
        records = lines(context, arguments, out)?;
        Ok(())
    })?;
    if context.global.json {
        print_json(&Exported {
            schema_version: SCHEMA_VERSION,
            export: Written {
                path: path.as_text(),
                records,
            },
        })?;
    }
    Ok(())
}

/// What `--json` says of a file that was written.
#[derive(Serialize)]
struct Exported {
    schema_version: u32,
    export: Written,
}

#[derive(Serialize)]
struct Written {
    path: String,
    records: usize,
}

/// Rows of CSV, or a record a line; how many records.
fn lines(context: &Context, arguments: &Export, out: &mut dyn Write) -> Outcome<usize> {
    let format = arguments.format.unwrap_or_else(|| match &arguments.output {
        Some(path) if path.extension().is_some_and(is_csv) => ExportFormat::Csv,
        _ => ExportFormat::Jsonl,
    });
    if format == ExportFormat::Csv {
        out.write_all(csv_heading().as_bytes()).map_err(unwritten)?;
    }
    let mut records = 0;
    for_each(context, arguments, |run| {
        records += 1;
        let text = match format {
            ExportFormat::Csv => csv_rows(run),
            ExportFormat::Jsonl => json_of(run)? + "\n",
        };
        out.write_all(text.as_bytes()).map_err(unwritten)
    })?;
    Ok(records)
}

fn is_csv(end: &std::ffi::OsStr) -> bool {
    end.eq_ignore_ascii_case("csv")
}

/// One JSON document, as `--json` means on every command; its runs still pass
/// through one by one. Nothing is printed where there is nothing to export.
fn document(context: &Context, arguments: &Export, out: &mut dyn Write) -> Outcome<()> {
    if arguments.format.is_some() {
        return Err(Failure::usage(
            "--json prints one document, and --format asks for records one by one",
            "leave one of them out, or write the records to a file: -o FILE",
        ));
    }
    let head = format!("{{\n  \"schema_version\": {SCHEMA_VERSION},\n  \"runs\": [");
    let mut before = head.as_str();
    for_each(context, arguments, |run| {
        let text = format!("{before}\n    {}", json_of(run)?);
        before = ",";
        out.write_all(text.as_bytes()).map_err(unwritten)
    })?;
    if before != "," {
        out.write_all(head.as_bytes()).map_err(unwritten)?;
    }
    out.write_all(b"\n  ]\n}\n").map_err(unwritten)
}

/// The subjects' runs, or all that is stored, oldest first.
fn for_each(
    context: &Context,
    arguments: &Export,
    mut take: impl FnMut(&RunRecord) -> Outcome<()>,
) -> Outcome<()> {
    if !arguments.subjects.is_empty() {
        // All names are looked up before the first record is written.
        let mut subjects: Vec<_> = arguments
            .subjects
            .iter()
            .map(|name| subject(context, name))
            .collect::<Outcome<_>>()?;
        let mut seen = HashSet::new();
        for one in &mut subjects {
            let known = one.notes.len();
            one.leave_out_copies(&mut seen);
            one.notes[known..].iter().for_each(note);
        }
        let mut runs = subjects.iter().flat_map(|subject| &subject.runs);
        return runs.try_for_each(take);
    }
    let store = context.open_store_to_read()?;
    let listed = context.stored_runs(&store, &Filter::default())?;
    for id in listed.into_iter().rev().map(|run| run.id) {
        if let Some(run) = context.unless_damaged(store.load(&id))? {
            take(&run)?;
        }
    }
    Ok(())
}

fn json_of(run: &RunRecord) -> Outcome<String> {
    serde_json::to_string(run).map_err(|error| Failure::of(Exit::Store, error))
}

fn unwritten(error: std::io::Error) -> Failure {
    let hint = hint_of(&error, "make room there, or name a file elsewhere").to_owned();
    Failure::of(Exit::Target, Unwritten(error)).hinted(hint)
}

/// The export could not be written.
#[derive(Debug)]
struct Unwritten(std::io::Error);

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot write the export")
    }
}

impl Error for Unwritten {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn is_broken_pipe(failure: &Failure) -> bool {
    let unwritten = failure.error.downcast_ref::<Unwritten>();
    unwritten.is_some_and(|error| error.0.kind() == ErrorKind::BrokenPipe)
}
