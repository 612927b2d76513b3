//! `import`: other tools' results into the store, all or nothing.

use crate::context::{Context, store_failure};
use crate::failure::{Failure, Outcome};
use crate::observer::Event;
use crate::steps::input::{RESULTS_BYTES_MAX, read as read_input};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_compat::{ImportedFile, recognise};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_units::{NameText, counted};

const UNREADABLE: &str = "check the name, and who may read it";

/// What was imported.
#[derive(Debug, Serialize)]
pub struct ImportDocument {
    schema_version: u32,
    /// What was read.
    pub files: Vec<FileLine>,
    /// Ids that were not there before.
    pub imported: Vec<String>,
    /// Ids that were.
    pub already_there: Vec<String>,
    /// All of their results.
    pub runs: Vec<RunRecord>,
    /// Results that are copies of others of these files.
    #[serde(skip)]
    pub copies: usize,
}

/// A file that was read.
#[derive(Debug, Serialize)]
pub struct FileLine {
    /// Its name.
    pub source: String,
    /// Whose results it holds.
    pub format: String,
    /// How many.
    pub results: usize,
    /// What must be known to read them rightly.
    pub notes: Vec<String>,
}

/// Reads all of these files, and directories of them, then keeps what they hold.
///
/// # Errors
/// Where one of them cannot be read; then nothing is kept.
pub fn import(
    context: &Context,
    paths: &[PathBuf],
    label: Option<&str>,
) -> Outcome<ImportDocument> {
    let mut runs = Vec::new();
    let mut files = Vec::new();
    for path in paths {
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
        run.label = label.map(str::to_owned);
    }
    let new = context
        .open_store()?
        .save_runs(&runs)
        .map_err(store_failure)?;
    let ids = |wanted: bool| -> Vec<String> {
        let pairs = runs.iter().zip(&new);
        let wanted = pairs.filter(|(_, new)| **new == wanted);
        wanted.map(|(run, _)| run.id.clone()).collect()
    };
    Ok(ImportDocument {
        schema_version: SCHEMA_VERSION,
        files,
        imported: ids(true),
        already_there: ids(false),
        runs,
        copies,
    })
}

fn remark(context: &Context, text: &str) {
    context.observer().hear(&Event::Remark { text });
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
    if inner > 0 {
        remark(
            context,
            &format!(
                "{} holds {}, whose files are not read; name them to import what is in them",
                path.as_text(),
                counted(inner, "directory", "directories")
            ),
        );
    }
    let mut files = Vec::new();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        let bytes = bytes_of(context, &path)?;
        match parse(&path, &bytes) {
            Ok(file) => files.push((path, file)),
            // Whatever else lies there; what is of a known tool must be readable.
            Err(failure) if recognise(&bytes).is_none() => {
                context.note(format!("{}; passed over", failure.error));
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
