//! `import`: stores other tools' results, all or none unless only complete ones are requested.

use crate::steps::foreign::{Reading, interrupted};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_compat::{Import, ReadFile, recognise};
use stripewise_conductor::context::{Context, store_failure};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{RESULTS_BYTES_MAX, read as read_input};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_store::Saving;
use stripewise_units::NameText;

const UNREADABLE: &str = "check the name, and the permission to read it";

/// Imported results.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct ImportDocument {
    schema_version: u32,
    /// What was read.
    pub files: Vec<FileLine>,
    /// Ids that were not there before.
    pub imported: Vec<String>,
    /// Ids that were.
    pub already_there: Vec<String>,
    /// Files of which no result is whole, where that is asked for; not what else lies in
    /// directories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedFile>,
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

/// A file that gave nothing.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct SkippedFile {
    /// Its name.
    pub source: String,
    /// Why it cannot be read.
    pub problem: String,
}

/// How files are imported.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions<'a> {
    /// Leave out results that are not whole, and files without any that is, instead of keeping
    /// none.
    pub whole: bool,
    /// A label for all of them.
    pub label: Option<&'a str>,
    /// Maximum number of results to return; all of them are stored.
    pub runs_max: usize,
}

/// Reads files, and directories of them, and stores their results. Memory holds one file
/// and one of its results; others can write to the store until all are read.
///
/// # Errors
/// If one of them cannot be read; then nothing is stored.
pub fn import(
    context: &Context,
    paths: &[PathBuf],
    options: ImportOptions<'_>,
) -> Outcome<ImportDocument> {
    let sources = sources(context, paths)?;
    // Only imported results create a store, not refused ones.
    if !context.store_is_there()? {
        Intake::new(context, options, None).all(&sources)?;
    }
    let mut store = context.open_store()?;
    let kept = store.save_each(|saving| Intake::new(context, options, Some(saving)).all(&sources));
    kept.map_err(store_failure)?
}

/// A named source.
enum Source {
    File(PathBuf),
    /// A pipe, whose bytes can be read only once.
    Pipe(PathBuf, Vec<u8>),
    Folder(PathBuf, Vec<PathBuf>),
}

fn sources(context: &Context, paths: &[PathBuf]) -> Outcome<Vec<Source>> {
    let of = |path: &PathBuf| {
        let path = path.clone();
        if path.is_dir() {
            let mut files = Vec::new();
            files_below(&path, 0, &mut files)?;
            return Ok(Source::Folder(path, files));
        }
        // Files may be read twice.
        if path.exists() && !path.is_file() {
            let bytes = bytes_of(context, &path)?;
            return Ok(Source::Pipe(path, bytes));
        }
        Ok(Source::File(path))
    };
    paths.iter().map(of).collect()
}

/// Takes over results as they are read.
struct Intake<'a, 's> {
    context: &'a Context,
    options: ImportOptions<'a>,
    /// `None`: only check whether all can be read.
    saving: Option<&'a mut Saving<'s>>,
    seen: HashSet<String>,
    results: usize,
    document: ImportDocument,
    /// Of the first file that was skipped.
    failure: Option<Failure>,
}

impl<'a, 's> Intake<'a, 's> {
    fn new(
        context: &'a Context,
        options: ImportOptions<'a>,
        saving: Option<&'a mut Saving<'s>>,
    ) -> Self {
        Intake {
            context,
            options,
            saving,
            seen: HashSet::new(),
            results: 0,
            document: ImportDocument {
                schema_version: SCHEMA_VERSION,
                ..ImportDocument::default()
            },
            failure: None,
        }
    }

    fn all(mut self, sources: &[Source]) -> Outcome<ImportDocument> {
        sources.iter().try_for_each(|source| self.source(source))?;
        match self.failure.filter(|_| self.document.files.is_empty()) {
            Some(failure) => Err(failure),
            None => Ok(self.document),
        }
    }

    fn source(&mut self, source: &Source) -> Outcome<()> {
        let (folder, files) = match source {
            Source::File(path) => {
                let bytes = bytes_of(self.context, path);
                // A name that nothing has is a slip of the pen.
                let is_there = path.exists();
                let skips = is_there && self.options.whole;
                return self.file_or_skip(path, bytes.map(Cow::Owned), skips);
            }
            Source::Pipe(path, bytes) => {
                return self.file_or_skip(path, Ok(Cow::Borrowed(bytes)), self.options.whole);
            }
            Source::Folder(folder, files) => (folder, files),
        };
        let before = self.document.files.len() + self.document.skipped.len();
        for path in files {
            let bytes = bytes_of(self.context, path);
            // Whatever else lies there; what is of a known tool must be readable.
            let is_other = bytes.as_ref().is_ok_and(|bytes| recognise(bytes).is_none());
            match bytes {
                Ok(bytes) if is_other => {
                    if let Err(failure) = self.check(path, &bytes) {
                        self.say_skipped(failure)?;
                    } else {
                        self.file(path, &bytes)?;
                    }
                }
                bytes => self.file_or_skip(path, bytes.map(Cow::Owned), self.options.whole)?,
            }
        }
        if self.document.files.len() + self.document.skipped.len() == before {
            return Err(Failure::usage(
                format!("{} holds no results of a known tool", folder.as_text()),
                "name the files, or the directory that holds them",
            ));
        }
        Ok(())
    }

    /// Takes a file over; one that gives nothing is named and skipped, where it may be.
    fn file_or_skip(
        &mut self,
        path: &Path,
        bytes: Outcome<Cow<'_, [u8]>>,
        skips: bool,
    ) -> Outcome<()> {
        if !skips {
            return self.file(path, &bytes?);
        }
        let read = bytes.and_then(|bytes| self.check(path, &bytes).map(|()| bytes));
        let failure = match read {
            Ok(bytes) => return self.file(path, &bytes),
            Err(failure) => failure,
        };
        self.document.skipped.push(SkippedFile {
            source: path.as_text(),
            problem: failure.error.to_string(),
        });
        let failure = self.say_skipped(failure)?;
        self.failure.get_or_insert(failure);
        Ok(())
    }

    /// Whether a file can be read, before anything of it is taken over.
    fn check(&self, path: &Path, bytes: &[u8]) -> Outcome<()> {
        let (whole, name) = (self.options.whole, path.as_text());
        read(self.context, &name, bytes, whole, &mut |_| {}).map(drop)
    }

    /// Names what is skipped, once of the two times that files may be read. An interruption is
    /// nothing to skip.
    fn say_skipped(&self, failure: Failure) -> Outcome<Failure> {
        if matches!(failure.exit, Exit::Interrupted(_)) {
            return Err(failure);
        }
        if self.saving.is_some() {
            self.context.note(format!("{}; skipped", failure.error));
        }
        Ok(failure)
    }

    fn file(&mut self, path: &Path, bytes: &[u8]) -> Outcome<()> {
        let (context, whole, name) = (self.context, self.options.whole, path.as_text());
        let before = self.results;
        let read = read(context, &name, bytes, whole, &mut |run| self.result(run))?;
        self.document.files.push(FileLine {
            source: name,
            format: read.format.to_string(),
            results: self.results - before,
            notes: read.notes.iter().map(ToString::to_string).collect(),
        });
        Ok(())
    }

    fn result(&mut self, mut run: RunRecord) {
        self.results += 1;
        let Some(saving) = &mut self.saving else {
            return;
        };
        // The same file twice, or a copy of it, has the same results.
        if !self.seen.insert(run.id.clone()) {
            self.document.copies += 1;
            return;
        }
        run.label = self.options.label.map(str::to_owned);
        let ids = match saving.save(&run) {
            true => &mut self.document.imported,
            false => &mut self.document.already_there,
        };
        ids.push(run.id.clone());
        if self.document.runs.len() < self.options.runs_max {
            self.document.runs.push(run);
        }
    }
}

/// Passes on the results of a file one by one.
fn read(
    context: &Context,
    name: &str,
    bytes: &[u8],
    whole: bool,
    take: &mut dyn FnMut(RunRecord),
) -> Outcome<ReadFile> {
    let reading = Reading::new(context, name);
    let watch = |progress| reading.hear(progress);
    let file = Import::new(bytes, name).watched(&watch);
    let file = match whole {
        true => file.whole_results(),
        false => file,
    };
    file.each(take).map_err(|error| {
        if error.is_interruption() {
            return interrupted(context, name);
        }
        let hint = match error.lines() {
            [] => error.hint().to_owned(),
            _ if whole => error.hint().to_owned(),
            _ => format!("{}; --whole-results imports the others", error.hint()),
        };
        Failure::usage(error.to_string(), hint)
    })
}

/// Maximum depth of directories: deeper ones are a loop, or not results.
const DEPTH_MAX: usize = 32;
/// Maximum number of files in all named directories.
const FILES_MAX: usize = 100_000;

/// The files below a directory, by name. Does not follow links to directories,
/// which may form a cycle.
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

fn bytes_of(context: &Context, path: &Path) -> Outcome<Vec<u8>> {
    read_input(context, path, RESULTS_BYTES_MAX, UNREADABLE)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(
        format!("cannot read {}: {error}", path.as_text()),
        UNREADABLE,
    )
}
