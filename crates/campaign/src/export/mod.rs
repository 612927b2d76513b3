//! `export`: records one after the other. Stored runs are read and written one by
//! one, so that exporting a store of any size takes little memory.

use crate::steps::subject::subject;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::str::FromStr;
use stripewise_compat::FioExport;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::parts::line_of;
use stripewise_lab::series_of;
use stripewise_report::{csv_answer, csv_heading, csv_rows, into_plain_json, plain_json};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_store::{Filter, Store};
use stripewise_units::{ParseError, WallTime, nearest};

/// Formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One record of a run per line, as in the JSON document.
    Jsonl,
    /// A row for each job of each run.
    Csv,
    /// As [`ExportFormat::Jsonl`], with the histograms of every interval, as required for
    /// merging.
    Histograms,
    /// One JSON document.
    Document,
    /// One document in fio's format (json+), for fio's companion tools.
    FioJson,
}

impl FromStr for ExportFormat {
    type Err = ParseError;

    /// `jsonl`, `csv` or `fio-json`; `--json` selects a document.
    fn from_str(text: &str) -> Result<ExportFormat, ParseError> {
        match text {
            "jsonl" => Ok(ExportFormat::Jsonl),
            "csv" => Ok(ExportFormat::Csv),
            "fio-json" => Ok(ExportFormat::FioJson),
            _ => {
                let hint = match nearest(text, ["jsonl", "csv", "fio-json"]) {
                    Some(near) => format!("did you mean {near}?"),
                    None => String::new(),
                };
                let problem = "is neither jsonl, csv nor fio-json";
                Err(ParseError::new(text, problem, hint))
            }
        }
    }
}

/// Writes the records of the subjects, or all stored ones, oldest first; returns their number.
/// Writes nothing if there is nothing to export.
///
/// # Errors
/// If a subject cannot be read, or writing to `out` fails.
pub fn export(
    context: &Context,
    subjects: &[String],
    format: ExportFormat,
    out: &mut dyn Write,
) -> Outcome<usize> {
    match format {
        ExportFormat::Document => document(context, subjects, out),
        ExportFormat::FioJson => fio_json(context, subjects, out),
        _ => lines(context, subjects, format, out),
    }
}

/// Rows of CSV, or one record per line; returns the number of records.
fn lines(
    context: &Context,
    subjects: &[String],
    format: ExportFormat,
    out: &mut dyn Write,
) -> Outcome<usize> {
    let mut records = 0;
    if format == ExportFormat::Jsonl {
        for_each_json(context, subjects, |json| {
            records += 1;
            out.write_all(json.as_bytes())
                .and_then(|()| out.write_all(b"\n"))
                .map_err(unwritten)
        })?;
        return Ok(records);
    }
    if format == ExportFormat::Csv {
        out.write_all(csv_heading().as_bytes()).map_err(unwritten)?;
    }
    let mut answers = Answers::default();
    for_each(context, subjects, |run| {
        records += 1;
        if format == ExportFormat::Csv {
            out.write_all(answers.before(run).as_bytes())
                .map_err(unwritten)?;
        }
        let text = match format {
            ExportFormat::Csv => csv_rows(run),
            _ => with_histograms(context, run)? + "\n",
        };
        out.write_all(text.as_bytes()).map_err(unwritten)
    })?;
    out.write_all(answers.take().as_bytes())
        .map_err(unwritten)?;
    Ok(records)
}

/// The runs of the current bench, for the rows of its answers after it.
#[derive(Default)]
struct Answers(Vec<RunRecord>);

impl Answers {
    /// The answers of the previous bench, if `run` belongs to another.
    fn before(&mut self, run: &RunRecord) -> String {
        let known = self.0.first().and_then(|first| first.series.as_ref());
        let text = match known == run.series.as_ref() {
            true => String::new(),
            false => self.take(),
        };
        if run.series.is_some() && run.latency_limit.is_some() {
            self.0.push(run.clone());
        }
        text
    }

    fn take(&mut self) -> String {
        let runs = std::mem::take(&mut self.0);
        let all = series_of(&runs);
        let rows = all.iter().filter_map(|series| {
            let of_series = |run: &&RunRecord| run.series_part.as_ref() == Some(&series.name);
            Some(csv_answer(runs.iter().find(of_series)?, series))
        });
        rows.collect()
    }
}

/// One JSON document, as with `--json` on every command; its runs are still processed
/// one by one. Prints nothing if there is nothing to export.
fn document(context: &Context, subjects: &[String], out: &mut dyn Write) -> Outcome<usize> {
    let head = format!("{{\n  \"schema_version\": {SCHEMA_VERSION},\n  \"runs\": [");
    let mut before = head.as_str();
    let mut records = 0;
    for_each_json(context, subjects, |json| {
        let text = format!("{before}\n    {json}");
        before = ",";
        records += 1;
        out.write_all(text.as_bytes()).map_err(unwritten)
    })?;
    if before != "," {
        out.write_all(head.as_bytes()).map_err(unwritten)?;
    }
    out.write_all(b"\n  ]\n}\n").map_err(unwritten)?;
    Ok(records)
}

/// One document in fio's JSON. Prints nothing if there is nothing to export.
fn fio_json(context: &Context, subjects: &[String], out: &mut dyn Write) -> Outcome<usize> {
    let ms = |wall: WallTime| i64::try_from(wall.ns() / 1_000_000).unwrap_or(0);
    let mut export = FioExport::default();
    let mut head = FioExport::head(context.version(), ms(context.wall()));
    let mut records = 0;
    for_each(context, subjects, |run| {
        let started = run.started_at.parse::<WallTime>().ok().map(ms);
        let text = std::mem::take(&mut head) + &export.run(run, started);
        records += 1;
        out.write_all(plain_json(&text).as_bytes())
            .map_err(unwritten)
    })?;
    let end = head + FioExport::TAIL;
    out.write_all(end.as_bytes()).map_err(unwritten)?;
    let left_out = export.left_out();
    if !left_out.is_empty() {
        context.note(format!(
            "fio's JSON has no place for these, which are left out: {}; its clat_ns repeats lat_ns",
            left_out.join("; ")
        ));
    }
    Ok(records)
}

/// Calls `each` for the subjects' runs, or all stored ones, oldest first.
fn for_each(
    context: &Context,
    names: &[String],
    mut write: impl FnMut(&RunRecord) -> Outcome<()>,
) -> Outcome<()> {
    let mut take = |run: &RunRecord| {
        unless_interrupted(context)?;
        write(run)
    };
    if !names.is_empty() {
        // Look up all names before writing the first record.
        let mut subjects: Vec<_> = names
            .iter()
            .map(|name| subject(context, name))
            .collect::<Outcome<_>>()?;
        let mut seen = HashSet::new();
        for one in &mut subjects {
            let known = one.notes.len();
            one.leave_out_copies(&mut seen);
            one.notes[known..]
                .iter()
                .for_each(|text| context.note(text));
        }
        let mut runs = subjects.iter().flat_map(|subject| &subject.runs);
        return runs.try_for_each(take);
    }
    for_each_stored(context, |store, id| {
        let run = context.unless_damaged(store.load(id))?;
        run.as_ref().map_or(Ok(()), &mut take)
    })
}

/// The same for their JSON, each on one line.
fn for_each_json(
    context: &Context,
    names: &[String],
    mut write: impl FnMut(&str) -> Outcome<()>,
) -> Outcome<()> {
    if !names.is_empty() {
        return for_each(context, names, |run| write(&json_of(run)?));
    }
    for_each_stored(context, |store, id| {
        unless_interrupted(context)?;
        let json = context.unless_damaged(store.load_json(id, context.version()))?;
        json.map_or(Ok(()), |json| write(&into_plain_json(json)))
    })
}

fn for_each_stored(
    context: &Context,
    mut each: impl FnMut(&Store, &str) -> Outcome<()>,
) -> Outcome<()> {
    let store = context.open_store_to_read()?;
    let listed = context.stored_runs(&store, &Filter::default())?;
    listed
        .iter()
        .rev()
        .try_for_each(|run| each(&store, &run.id))
}

fn unless_interrupted(context: &Context) -> Outcome<()> {
    match context.signal() {
        Some(signal) => Err(Failure::of(Exit::Interrupted(signal), "interrupted")),
        None => Ok(()),
    }
}

/// A record on one line with the histograms of its intervals, which only the original
/// store has.
fn with_histograms(context: &Context, run: &RunRecord) -> Outcome<String> {
    let stored = context.open_store_if_any()?;
    let stored = stored.filter(|store| store.keeps(&run.id) && run.imported.is_none());
    let Some(store) = stored else {
        return Err(Failure::usage(
            format!(
                "{} is not a run of this store: its histograms are elsewhere",
                run.id
            ),
            "export it where it was measured; imported results and files have no histograms of intervals",
        ));
    };
    Ok(plain_json(&line_of(&store, run)?))
}

/// A record on one line with control characters escaped.
fn json_of(run: &RunRecord) -> Outcome<String> {
    let json = run.to_json();
    let json = json.map_err(|error| Failure::of(Exit::Store, error))?;
    Ok(into_plain_json(json))
}

/// The failure of a write, attributed to the output.
pub fn unwritten(error: std::io::Error) -> Failure {
    let hint = match error.kind() {
        ErrorKind::FileTooLarge => {
            "raise the limit on the size of files with `ulimit -f unlimited`, or name a file on a \
             file system that takes larger ones"
        }
        _ => "make room there, or name a file elsewhere",
    };
    Failure::of(Exit::Target, WriteFailed(error)).hinted(hint)
}

/// The export could not be written.
#[derive(Debug)]
struct WriteFailed(std::io::Error);

impl fmt::Display for WriteFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot write the export")
    }
}

impl Error for WriteFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Whether the reader closed the pipe because it has enough.
pub fn is_broken_pipe(failure: &Failure) -> bool {
    let unwritten = failure.error.downcast_ref::<WriteFailed>();
    unwritten.is_some_and(|error| error.0.kind() == ErrorKind::BrokenPipe)
}
