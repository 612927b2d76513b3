//! `import`: other tools' results into the store, all or nothing unless what is whole is asked for.

use crate::context::{Context, store_failure};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::foreign::{Reading, interrupted};
use crate::steps::input::{RESULTS_BYTES_MAX, read as read_input};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_compat::{Import, ImportedFile, recognise};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_units::NameText;

const UNREADABLE: &str = "check the name, and the permission to read it";

/// What was imported.
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
#[derive(Debug, Serialize, schemars::JsonSchema)]
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

/// Reads all of these files, and directories of them, then keeps what they hold; with
/// `whole`, what is whole of it.
///
/// # Errors
/// Where one of them cannot be read; then nothing is kept.
pub fn import(
    context: &Context,
    paths: &[PathBuf],
    whole: bool,
    label: Option<&str>,
) -> Outcome<ImportDocument> {
    let mut runs = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        for (path, file) in read(context, path, whole)? {
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

/// Directories below one that is named, at most: deeper ones are a loop, or no results.
const DEPTH_MAX: usize = 32;
/// Files in all directories that are named together.
const FILES_MAX: usize = 100_000;

/// The results of a file, or of each file of a directory, and of those in it, that has
/// some.
fn read(context: &Context, path: &Path, whole: bool) -> Outcome<Vec<(PathBuf, ImportedFile)>> {
    if !path.is_dir() {
        let bytes = bytes_of(context, path)?;
        return Ok(vec![(
            path.to_owned(),
            parse(context, path, &bytes, whole)?,
        )]);
    }
    let mut paths = Vec::new();
    files_below(path, 0, &mut paths)?;
    let mut files = Vec::new();
    for path in paths {
        let bytes = bytes_of(context, &path)?;
        match parse(context, &path, &bytes, whole) {
            Ok(file) => files.push((path, file)),
            // Whatever else lies there; what is of a known tool must be readable.
            Err(failure) if is_interruption(&failure) => return Err(failure),
            Err(failure) if whole || recognise(&bytes).is_none() => {
                context.note(format!("{}; skipped", failure.error));
            }
            Err(failure) => return Err(failure),
        }
    }
    if files.is_empty() {
        return Err(Failure::usage(
            format!("{} holds no results of a known tool", path.as_text()),
            "name the files, or the directory that holds them",
        ));
    }
    Ok(files)
}

/// The files of a directory and of those in it, by name. Links to directories are not
/// followed: they may lead back.
fn files_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Outcome<()> {
    if depth > DEPTH_MAX || found.len() > FILES_MAX {
        return Err(Failure::usage(
            format!(
                "{} has more files or nested directories than a set of results would",
                folder.as_text()
            ),
            "name the directory that holds the results",
        ));
    }
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unreadable(folder, &error))?;
    paths.sort();
    for path in paths {
        if path.is_file() {
            found.push(path);
        } else if path.is_dir() && !path.is_symlink() {
            files_below(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

fn parse(context: &Context, path: &Path, bytes: &[u8], whole: bool) -> Outcome<ImportedFile> {
    let name = path.as_text();
    let reading = Reading::new(context, &name);
    let watch = |progress| reading.hear(progress);
    let file = Import::new(bytes, &name).watched(&watch);
    let file = if whole { file.whole_results() } else { file };
    file.all().map_err(|error| {
        if error.is_interruption() {
            return interrupted(context, &name);
        }
        let hint = match error.lines() {
            [] => error.hint().to_owned(),
            _ if whole => error.hint().to_owned(),
            _ => format!("{}; --whole-results imports the others", error.hint()),
        };
        Failure::usage(error.to_string(), hint)
    })
}

fn is_interruption(failure: &Failure) -> bool {
    matches!(failure.exit, Exit::Interrupted(_))
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
