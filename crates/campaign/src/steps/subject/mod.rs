//! The possible subjects of commands that show or compare: stored runs, series
//! and experiments, published tables, and files: documents printed by this program,
//! other tools' results, directories of them.
//!
//! Stored names take precedence over files, because
//! `history` lists them; `./NAME` is always a file.

mod named;

use crate::steps::foreign::{REPEATS_LEFT_OUT, Reading, interrupted, leave_out_repeats};
use crate::steps::measured;
use crate::steps::stored_experiment::StoredExperiment;
use named::Named;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_compat::dataset::{Dataset, dataset, names};
use stripewise_compat::{Error, Import};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{RESULTS_BYTES_MAX, read};
use stripewise_results::{ComparisonRecord, Document, RunRecord, SeriesRecord};
use stripewise_store::{Filter, Store};
use stripewise_units::{NameText, counted, is_sim_target, nearest, path_of, plural};

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// A stored run.
    Run,
    /// The stored runs of a series.
    Series,
    /// The stored runs of an experiment.
    Experiment,
    /// A published table.
    Dataset,
    /// A JSON document of this program.
    Document,
    /// Other tools' results.
    Imported,
}

/// Runs, and the group they form.
#[derive(Clone, Debug)]
pub struct Subject {
    /// As a column heading: the id, the name of the table, the file.
    pub name: String,
    /// Origin of its runs.
    pub kind: SubjectKind,
    /// In chronological order, or in the order of their file.
    pub runs: Vec<RunRecord>,
    /// The table's own facts, for [`SubjectKind::Dataset`].
    pub dataset: Option<Box<Dataset>>,
    /// Comparisons contained in a document.
    pub comparisons: Vec<ComparisonRecord>,
    /// The experiment contained in a document.
    pub experiment: Option<Box<StoredExperiment>>,
    /// Notes on its interpretation.
    pub notes: Vec<String>,
    /// Summaries of its ladders from before its runs were stripped; else they
    /// are derived from the runs.
    pub series: Vec<SeriesRecord>,
}

impl Subject {
    /// Only runs.
    pub fn new(name: impl Into<String>, kind: SubjectKind, runs: Vec<RunRecord>) -> Subject {
        Subject {
            name: name.into(),
            kind,
            runs,
            dataset: None,
            comparisons: Vec::new(),
            experiment: None,
            notes: Vec::new(),
            series: Vec::new(),
        }
    }

    /// Removes runs that are in `seen` or duplicated: copies of one result
    /// count once, whatever files they came from. Adds a note.
    pub fn leave_out_copies(&mut self, seen: &mut HashSet<u128>) {
        let before = self.runs.len();
        self.runs.retain(|run| seen.insert(run.identity()));
        let copies = before - self.runs.len();
        if copies > 0 {
            self.notes.push(format!(
                "{} of {} {} of others and left out.",
                counted(copies, "run", "runs"),
                self.name,
                plural(copies, "is a copy", "are copies"),
            ));
        }
    }

    /// The label common to all of its runs, if any.
    pub fn label(&self) -> Option<&str> {
        let first = self.runs.first()?.label.as_deref()?;
        let same = |run: &RunRecord| run.label.as_deref() == Some(first);
        self.runs.iter().all(same).then_some(first)
    }
}

/// The subject named by `text`. Writes nothing; a read-only store will
/// do, and files need none.
///
/// # Errors
/// If it names nothing, or the subject cannot be read.
pub fn subject(context: &Context, text: &str) -> Outcome<Subject> {
    if let Some(name) = text.strip_prefix("dataset:") {
        return published(name);
    }
    if is_sim_target(text) {
        return Err(Failure::usage(
            format!("{text} is a target, and nothing has been measured on it here"),
            format!("`stripewise run {text}` measures and keeps a run; name that by its id"),
        ));
    }
    let path = &*path_of(text);
    let is_path = path.components().count() > 1 || text.starts_with('.');
    if is_path {
        return of_path(context, path);
    }
    let stored = match context.open_store_if_any() {
        Ok(Some(store)) => stored(context, &store, text),
        Ok(None) => Err(Failure::usage(
            format!("there is no run, series, experiment or file `{text}`; nothing is stored yet"),
            "`stripewise run TARGET` measures and keeps a run; name that by its id, or name a file",
        )),
        Err(failure) => Err(failure),
    };
    match stored {
        Err(_) if path.exists() => of_path(context, path),
        other => other,
    }
}

/// A run, series or experiment of the store, or all runs with a label; `last` is the most
/// recent result.
///
/// # Errors
/// If the store has none, or cannot be read.
pub fn stored(context: &Context, store: &Store, name: &str) -> Outcome<Subject> {
    let name = &measured::full_name(store, name)?;
    let ids = context.series_run_ids(store, name)?;
    if ids.is_empty() && store.document("experiment", name)?.is_some() {
        // Nothing was measured yet, or everything was deleted.
        return Ok(Subject::new(name, SubjectKind::Experiment, Vec::new()));
    }
    if ids.is_empty() {
        return match store.load(name) {
            Ok(run) => Ok(Subject::new(run.id.clone(), SubjectKind::Run, vec![run])),
            Err(error) if error.is_about_a_name() => {
                if let Some(labelled) = labelled(context, store, name)? {
                    return Ok(labelled);
                }
                if let Some(refused) = measured::no_run(store, name)? {
                    return Err(refused);
                }
                let failure = Failure::from(error);
                let label =
                    near_label(context, store, name)?.map(|near| format!("the label `{near}`"));
                let last = nearest(name, ["last", "last-run"]).map(|near| format!("`{near}`"));
                Err(match label.or(last) {
                    Some(near) => failure.hinted(format!(
                        "did you mean {near}? `stripewise history` lists what is stored"
                    )),
                    None => failure,
                })
            }
            Err(error) => Err(Failure::from(error)),
        };
    }
    let mut runs = Vec::with_capacity(ids.len());
    for id in &ids {
        // A damaged one is reported without affecting the others.
        runs.extend(context.unless_damaged(store.load(id))?);
    }
    let is_experiment = runs.iter().any(|run| {
        run.experiment
            .as_ref()
            .is_some_and(|place| place.experiment == *name)
    });
    let kind = if is_experiment {
        SubjectKind::Experiment
    } else {
        SubjectKind::Series
    };
    Ok(Subject::new(name, kind, runs))
}

/// The failure of a comparison one side of which is of a kind with a table of its own, and `other` is
/// not: that there is no `other`, or else `reason`.
pub fn unlike(context: &Context, other: &str, reason: String, hint: &'static str) -> Failure {
    let is_measurement = || -> Outcome<bool> {
        let Some(store) = context.open_store_if_any()? else {
            return Ok(false);
        };
        let id = measured::full_name(&store, other)?;
        Ok(measured::kind_of(&store, &id)?.is_some())
    };
    match subject(context, other) {
        Err(missing) if !is_measurement().unwrap_or(false) => missing,
        _ => Failure::usage(reason, hint),
    }
}

/// All runs with exactly this label, oldest first; `None` if there are none.
fn labelled(context: &Context, store: &Store, label: &str) -> Outcome<Option<Subject>> {
    let filter = Filter {
        label: Some(label.to_owned()),
        ..Filter::default()
    };
    let mut runs = Vec::new();
    for listed in context.stored_runs(store, &filter)?.into_iter().rev() {
        // The filter matches labels that contain it.
        if listed.label.as_deref() == Some(label) {
            runs.extend(context.unless_damaged(store.load(&listed.id))?);
        }
    }
    let found = !runs.is_empty();
    Ok(found.then(|| Subject::new(label, SubjectKind::Series, runs)))
}

/// The stored label that was probably meant.
fn near_label(context: &Context, store: &Store, typed: &str) -> Outcome<Option<String>> {
    let listed = context.stored_runs(store, &Filter::default())?;
    let labels = listed.iter().filter_map(|run| run.label.as_deref());
    Ok(nearest(typed, labels).map(str::to_owned))
}

fn published(name: &str) -> Outcome<Subject> {
    let Some(table) = dataset(name) else {
        let known: Vec<String> = names()
            .map(|(name, about)| format!("dataset:{name} ({about})"))
            .collect();
        let near = nearest(name, names().map(|(name, _)| name));
        let question = match near {
            Some(near) => format!("did you mean dataset:{near}? There are"),
            None => "available:".to_owned(),
        };
        return Err(Failure::usage(
            format!("there is no published table `{name}` here"),
            format!("{question} {}", known.join("; ")),
        ));
    };
    Ok(Subject {
        notes: table.notes.clone(),
        runs: table.runs.clone(),
        dataset: Some(Box::new(table)),
        ..Subject::new(format!("dataset:{name}"), SubjectKind::Dataset, Vec::new())
    })
}

/// A file, or all files of a directory (not of its subdirectories), by name; what no known tool
/// wrote may lie there, too.
fn of_path(context: &Context, path: &Path) -> Outcome<Subject> {
    if !path.is_dir() {
        return of_file(context, path)?.map_err(refused);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect()
        })
        .map_err(|error| unreadable(path, &error))?;
    let inner = files.iter().filter(|file| file.is_dir()).count();
    files.retain(|file| file.is_file());
    files.sort();
    let mut all = Subject::new(path.as_text(), SubjectKind::Document, Vec::new());
    if leave_out_repeats(&mut files) {
        all.notes.push(REPEATS_LEFT_OUT.to_owned());
    }
    if inner > 0 {
        all.notes.push(format!(
            "{} holds {}, whose files are not read.",
            path.as_text(),
            counted(inner, "directory", "directories")
        ));
    }
    for file in files {
        let one = match of_file(context, &file)? {
            Ok(one) => one,
            Err(error) => {
                all.notes.push(format!("{error}; skipped"));
                continue;
            }
        };
        if one.kind == SubjectKind::Imported {
            all.kind = SubjectKind::Imported;
        }
        all.runs.extend(one.runs);
        all.series.extend(one.series);
        all.comparisons.extend(one.comparisons);
        all.notes.extend(one.notes);
    }
    if all.runs.is_empty() {
        return Err(Failure::usage(
            format!("{} holds no results", path.as_text()),
            "name a directory of results, or one file",
        ));
    }
    Ok(all)
}

/// The results in a file; an error of its own if no known tool wrote it.
fn of_file(context: &Context, path: &Path) -> Outcome<Result<Subject, Error>> {
    let bytes = read(context, path, RESULTS_BYTES_MAX, UNREADABLE)?;
    let name = path.as_text();
    let is_document = std::str::from_utf8(&bytes).is_ok_and(|text| {
        text.trim_start().starts_with('{') && text.contains("\"schema_version\"")
    });
    if !is_document {
        return foreign(context, &name, &bytes);
    }
    of_document(context, name, &String::from_utf8_lossy(&bytes)).map(Ok)
}

/// Content of a document other than runs and comparisons.
#[derive(serde::Deserialize)]
struct Outline {
    #[serde(default)]
    runs: Option<Named>,
    #[serde(default)]
    experiment: Option<StoredExperiment>,
}

/// A document printed by a command with `--json`: its runs, or those of the
/// store whose ids it names.
fn of_document(context: &Context, name: String, text: &str) -> Outcome<Subject> {
    let whole = |text: &str| {
        Document::from_json(text)
            .map_err(|error| Failure::usage(format!("{name}: {error}"), error.hint()))
    };
    // A document of another version, or invalid JSON, is reported as such.
    let outline = serde_json::from_str(text);
    let Ok(Outline { runs, experiment }) = outline else {
        return whole(text).map(|document| of_runs(name.clone(), document));
    };
    let mut subject = match runs {
        None => {
            return Err(Failure::usage(
                format!("{name} is a document without runs"),
                "give what `run`, `bench`, `align`, `lab run`, `check` or `history show` printed with --json",
            ));
        }
        Some(runs) if !runs.has_records && !runs.ids.is_empty() => {
            let store = context.open_store_to_read()?;
            let runs = runs
                .ids
                .iter()
                .map(|id| store.load(id).map_err(Failure::from))
                .collect::<Outcome<_>>()?;
            of_runs(name, Document::new(runs))
        }
        _ => of_runs(name.clone(), whole(text)?),
    };
    if let Some(experiment) = experiment {
        subject.kind = SubjectKind::Experiment;
        subject.experiment = Some(Box::new(experiment));
    }
    Ok(subject)
}

fn of_runs(name: String, document: Document) -> Subject {
    Subject {
        // Their answers came from histograms that the document lacks.
        series: document.series,
        comparisons: document.comparisons,
        ..Subject::new(name, SubjectKind::Document, document.runs)
    }
}

/// The results of another tool; an error of its own if no known tool wrote them.
fn foreign(context: &Context, name: &str, bytes: &[u8]) -> Outcome<Result<Subject, Error>> {
    let reading = Reading::new(context, name);
    let watch = |progress| reading.on_event(progress);
    match Import::new(bytes, name).watched(&watch).all() {
        Ok(file) => Ok(Ok(Subject {
            notes: file.notes.iter().map(ToString::to_string).collect(),
            ..Subject::new(name, SubjectKind::Imported, file.runs)
        })),
        Err(error) if error.is_interruption() => Err(interrupted(context, name)),
        Err(error) if error.is_of_no_tool() => Ok(Err(error)),
        Err(error) => Err(refused(error)),
    }
}

fn refused(error: Error) -> Failure {
    let hint = error.hint().to_owned();
    Failure::of(Exit::Usage, error).hinted(hint)
}

const UNREADABLE: &str =
    "name a run or series that `stripewise history` lists, dataset:NAME, or a file of results";

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(
        format!("cannot read {}: {error}", path.as_text()),
        UNREADABLE,
    )
}
