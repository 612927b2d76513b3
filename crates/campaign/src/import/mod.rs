//! `import`: stores other tools' results, all or none unless only complete ones are requested.

use crate::steps::foreign::{REPEATS_LEFT_OUT, Reading, interrupted, leave_out_repeats};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_compat::{Error, Import, ReadFile, Receiver};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{RESULTS_BYTES_MAX, read as read_input};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_store::{Owner, Saving, save_each_in_new};
use stripewise_units::{NameText, counted};

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
    /// What became of each file, a line for each.
    #[serde(skip)]
    pub outcomes: Vec<String>,
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
    let give = |saving: &mut Saving<'_>| Intake::new(context, options, saving).all(paths);
    // Only imported results create a store, not refused ones.
    let stored = match context.store_is_there()? {
        true => context.open_store()?.save_each(give),
        false => {
            let owner = Owner::of_this_process(&context.host().name);
            save_each_in_new(&owner, || context.open_store(), give)
        }
    };
    stored?
}

/// How much has been imported so far.
#[derive(Clone, Copy, Default)]
struct Before {
    results: usize,
    imported: usize,
    already_there: usize,
    copies: usize,
    runs: usize,
}

/// Takes over results as they are read.
struct Intake<'a, 's> {
    context: &'a Context,
    options: ImportOptions<'a>,
    saving: &'a mut Saving<'s>,
    seen: HashSet<String>,
    results: usize,
    document: ImportDocument,
    /// What there was before the file that is read.
    before: Before,
    /// Of the first file that was refused.
    failure: Option<Failure>,
    /// A file that was refused keeps the others from being stored.
    is_void: bool,
}

impl<'a, 's> Intake<'a, 's> {
    fn new(context: &'a Context, options: ImportOptions<'a>, saving: &'a mut Saving<'s>) -> Self {
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
            before: Before::default(),
            failure: None,
            is_void: false,
        }
    }

    fn all(mut self, paths: &[PathBuf]) -> Outcome<ImportDocument> {
        paths.iter().try_for_each(|path| self.source(path))?;
        let is_void = self.is_void || self.document.files.is_empty();
        match self.failure.filter(|_| is_void) {
            Some(failure) => Err(refusal(&self.document, failure)),
            None => Ok(self.document),
        }
    }

    /// Takes over a file, or what is of a known tool in a directory.
    fn source(&mut self, path: &Path) -> Outcome<()> {
        if path == Path::new("-") && !path.exists() {
            let hint = "give /dev/stdin to read a pipe, or write it into a file first";
            return self.refuse(path, Failure::usage("- is not a file", hint));
        }
        if !path.is_dir() {
            return self.file(path, false);
        }
        let mut files = Vec::new();
        files_below(path, 0, &mut files)?;
        if leave_out_repeats(&mut files) {
            self.context.note(REPEATS_LEFT_OUT);
        }
        let before = self.document.outcomes.len();
        files.iter().try_for_each(|file| self.file(file, true))?;
        if self.document.outcomes.len() == before {
            let failure = Failure::usage(
                format!("{} holds no results of a known tool", path.as_text()),
                "name the files, or the directory that holds them",
            );
            return self.refuse(path, failure);
        }
        Ok(())
    }

    /// Takes a file over. Other things may lie in a directory; what is of a known tool must be
    /// readable there, too.
    fn file(&mut self, path: &Path, is_of_folder: bool) -> Outcome<()> {
        let name = path.as_text();
        let bytes = match read_input(self.context, path, RESULTS_BYTES_MAX, UNREADABLE) {
            Ok(bytes) => bytes,
            Err(failure) => return self.refuse(path, failure),
        };
        self.before = Before {
            results: self.results,
            imported: self.document.imported.len(),
            already_there: self.document.already_there.len(),
            copies: self.document.copies,
            runs: self.document.runs.len(),
        };
        let error = match self.read(&name, &bytes)? {
            Ok(read) => {
                let results = self.results - self.before.results;
                let line = counted(results, "result", "results");
                let outcome = format!("{name}: {}, {line}", read.format);
                self.document.outcomes.push(outcome);
                self.document.files.push(FileLine {
                    source: name,
                    format: read.format.to_string(),
                    results,
                    notes: read.notes.iter().map(ToString::to_string).collect(),
                });
                return Ok(());
            }
            Err(error) => error,
        };
        if self.options.whole {
            self.void();
        }
        if is_of_folder && error.is_of_no_tool() {
            self.context.note(format!("{error}; skipped"));
            return Ok(());
        }
        let hint = match error.lines() {
            [_, ..] if !self.options.whole => {
                format!("{}; --whole-results imports the others", error.hint())
            }
            _ => error.hint().to_owned(),
        };
        self.refuse(path, Failure::usage(error.to_string(), hint))
    }

    /// Passes on the results of a file one by one; only an interruption is a failure.
    fn read(&mut self, name: &str, bytes: &[u8]) -> Outcome<Result<ReadFile, Error>> {
        let context = self.context;
        let reading = Reading::new(context, name);
        let watch = |progress| reading.on_event(progress);
        let mut file = Import::new(bytes, name).watched(&watch);
        if self.options.whole {
            file = file.whole_results();
        }
        match file.each(self) {
            Err(error) if error.is_interruption() => Err(interrupted(context, name)),
            read => Ok(read),
        }
    }

    /// Remembers a file that gives nothing.
    fn refuse(&mut self, path: &Path, failure: Failure) -> Outcome<()> {
        if matches!(failure.exit, Exit::Interrupted(_)) {
            return Err(failure);
        }
        // A name that nothing has is a slip of the pen.
        self.is_void |= !self.options.whole || !path.exists();
        let problem = failure.error.to_string();
        let mut outcome = problem.replace("\n  ", "; ");
        if !self.is_void {
            outcome.push_str("; skipped");
        }
        self.document.outcomes.push(outcome);
        self.document.skipped.push(SkippedFile {
            source: path.as_text(),
            problem,
        });
        self.failure.get_or_insert(failure);
        Ok(())
    }
}

impl Receiver for Intake<'_, '_> {
    fn receive(&mut self, mut run: RunRecord) {
        self.results += 1;
        if self.is_void {
            return;
        }
        // The same file twice, or a copy of it, has the same results.
        if !self.seen.insert(run.id.clone()) {
            self.document.copies += 1;
            return;
        }
        run.label = self.options.label.map(str::to_owned);
        let ids = match self.saving.save(&run) {
            true => &mut self.document.imported,
            false => &mut self.document.already_there,
        };
        ids.push(run.id.clone());
        if self.document.runs.len() < self.options.runs_max {
            self.document.runs.push(run);
        }
    }

    /// Takes back the results of the file that is read.
    fn void(&mut self) {
        let document = &mut self.document;
        let new = document.imported.split_off(self.before.imported);
        let there = document.already_there.split_off(self.before.already_there);
        for id in new.iter().chain(&there) {
            self.seen.remove(id);
        }
        for id in &new {
            self.saving.take_back(id);
        }
        document.copies = self.before.copies;
        document.runs.truncate(self.before.runs);
        self.results = self.before.results;
    }
}

/// The failure for all files, whose first one this is, with a line for each.
fn refusal(document: &ImportDocument, first: Failure) -> Failure {
    let problem = match &document.outcomes[..] {
        [_] => first.error.to_string(),
        all => format!(
            "{} of {} cannot be read\n  {}",
            document.skipped.len(),
            counted(all.len(), "file", "files"),
            all.join("\n  ")
        ),
    };
    Failure {
        error: format!("nothing was stored: {problem}").into(),
        ..first
    }
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

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(
        format!("cannot read {}: {error}", path.as_text()),
        UNREADABLE,
    )
}
