//! `import`: other tools' results into the store, all or nothing.

use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::document::{note, print_json, print_text};
use crate::switches::import::Import;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_campaign::steps::input::{RESULTS_BYTES_MAX, read as read_input};
use stripewise_compat::{ImportedFile, recognise};
use stripewise_report::imported_rows_table;
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_units::{NameText, counted};

const UNREADABLE: &str = "check the name, and who may read it";

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    files: Vec<FileLine>,
    /// Ids that were not there before.
    imported: Vec<&'a str>,
    /// Ids that were.
    already_there: Vec<&'a str>,
    runs: &'a [RunRecord],
}

#[derive(Serialize)]
struct FileLine {
    source: String,
    format: String,
    results: usize,
    notes: Vec<String>,
}

pub fn import(context: &Context, arguments: &Import) -> Outcome {
    let mut runs = Vec::new();
    let mut files = Vec::new();
    for path in &arguments.files {
        for (path, file) in read(context, path)? {
            files.push(FileLine {
                source: path.as_text(),
                format: file.format.to_string(),
                results: file.runs.len(),
                notes: file.notes.iter().map(ToString::to_string).collect(),
            });
            runs.extend(file.runs);
        }
    }
    // The same file twice, or a copy of it, is the same results.
    let mut seen = HashSet::new();
    let before = runs.len();
    runs.retain(|run: &RunRecord| seen.insert(run.id.clone()));
    let copies = before - runs.len();
    for run in &mut runs {
        run.label.clone_from(&arguments.label);
    }
    let new = context
        .open_store()?
        .save_runs(&runs)
        .map_err(store_failure)?;
    let ids = |wanted: bool| -> Vec<&str> {
        let pairs = runs.iter().zip(&new);
        let wanted = pairs.filter(|(_, new)| **new == wanted);
        wanted.map(|(run, _)| run.id.as_str()).collect()
    };
    if context.global.json {
        let (imported, already_there) = (ids(true), ids(false));
        print_json(&Document {
            schema_version: SCHEMA_VERSION,
            files,
            imported,
            already_there,
            runs: &runs,
        })?;
        return Ok(Exit::Done);
    }
    let mut text = imported_rows_table(&runs);
    for file in &files {
        text.push_str(&format!(
            "{}: {}, {}\n",
            file.source,
            file.format,
            counted(file.results, "result", "results")
        ));
    }
    for file in files.iter().filter(|_| !context.global.quiet) {
        for text in &file.notes {
            note(format!("{}: {text}", file.source));
        }
    }
    if copies > 0 && !context.global.quiet {
        note(format!(
            "{} a copy of another one of these files",
            counted(copies, "result is", "results are")
        ));
    }
    text.push_str(&summary(&ids(true), ids(false).len()));
    print_text(&text);
    Ok(Exit::Done)
}

fn summary(new: &[&str], already_there: usize) -> String {
    let there = match already_there {
        0 => String::new(),
        count => format!("; {} already there", counted(count, "was", "were")),
    };
    let shown = match new {
        [] => String::new(),
        [one] => format!("; `stripewise history show {one}` shows it"),
        [first, ..] => format!("; `stripewise history show {first}` shows the first"),
    };
    format!(
        "{} kept{there}{shown}.\n",
        counted(new.len(), "result", "results")
    )
}

/// The results of a file, or of each file of a directory that has some.
fn read(context: &Context, path: &Path) -> Outcome<Vec<(PathBuf, ImportedFile)>> {
    if !path.is_dir() {
        let bytes = bytes_of(context, path)?;
        return Ok(vec![(path.to_owned(), parse(path, &bytes)?)]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unreadable(path, &error))?;
    paths.sort();
    let inner = paths.iter().filter(|path| path.is_dir()).count();
    if inner > 0 && !context.global.quiet {
        note(format!(
            "{} holds {}, whose files are not read; name them to import what is in them",
            path.as_text(),
            counted(inner, "directory", "directories")
        ));
    }
    let mut files = Vec::new();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        let bytes = bytes_of(context, &path)?;
        match parse(&path, &bytes) {
            Ok(file) => files.push((path, file)),
            // Whatever else lies there; what is of a known tool must be readable.
            Err(failure) if recognise(&bytes).is_none() => {
                note(format!("{}; passed over", failure.error));
            }
            Err(failure) => return Err(failure),
        }
    }
    if files.is_empty() {
        return Err(Failure::usage(
            format!("{} holds no results of a known tool", path.as_text()),
            "name the files, or the directory that they lie in",
        ));
    }
    Ok(files)
}

fn parse(path: &Path, bytes: &[u8]) -> Outcome<ImportedFile> {
    stripewise_compat::import(bytes, &path.as_text()).map_err(|error| {
        let hint = error.hint().to_owned();
        Failure::usage(error.to_string(), hint)
    })
}

fn bytes_of(context: &Context, path: &Path) -> Outcome<Vec<u8>> {
    read_input(context, path, RESULTS_BYTES_MAX, UNREADABLE)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(
        format!("cannot read {}: {error}", path.as_text()),
        UNREADABLE,
    )
}
