//! `baseline`: stores runs as the reference for `check`.

use crate::steps::baselines::{Change, KIND, LegacyOptions, REPETITIONS, StoredBaseline};
use crate::steps::rerun::{Repetitions, Work, open_targets, rerun};
use crate::steps::series_answers::answers_of;
use crate::steps::stored_check;
use crate::steps::subject::{Subject, SubjectKind, subject};
use serde::Serialize;
use std::collections::BTreeSet;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::exit_of;
use stripewise_conductor::permissions::Permissions;
use stripewise_lab::SeriesKind;
use stripewise_lab::compare::{minimum_repetitions, unsteady_writes, void_codes};
use stripewise_results::{RunRecord, SCHEMA_VERSION, Status};
use stripewise_store::Store;
use stripewise_units::{counted, format_duration};

/// A baseline that cannot show a loss of this many per cent is refused.
const LOSS_PERCENT_MAX: f64 = 10.0;
/// Minimum number of repetitions for a check to distinguish a change from chance.
const REPETITIONS_ENOUGH: usize = 4;

/// Parameters of a new baseline.
#[derive(Clone, Debug, Default)]
pub struct BaselineOptions {
    /// A run, a grid, a series or a file.
    pub id: String,
    /// The name of the baseline.
    pub name: String,
    /// Replace one of the same name.
    pub replace: bool,
    /// Accept void values.
    pub anyway: bool,
    /// Number of further runs to make now and store.
    pub repeat: Option<u32>,
}

/// What became of it.
#[derive(Debug)]
pub enum SetBaseline {
    /// The baseline was stored.
    Stored {
        /// As stored.
        stored: Box<StoredBaseline>,
        /// The baseline it replaced, in words.
        replaced: Option<String>,
    },
    /// Its repetitions were interrupted; they are in the history, and no baseline was
    /// set.
    BrokenOff(Exit),
}

/// Stores runs as a baseline.
///
/// # Errors
/// If there are no such runs, or they are not suitable.
pub fn set(
    context: &Context,
    wanted: &BaselineOptions,
    permissions: &Permissions,
) -> Outcome<SetBaseline> {
    let (from, mut runs) = of_id(context, &wanted.id)?;
    let mut store = context.open_store()?;
    let replaced = replaced(&store, wanted)?;
    if let Some(repeat) = wanted.repeat {
        let (records, exit) = repeated(context, &mut store, &runs, wanted, repeat, permissions)?;
        if exit != Exit::Done {
            return Ok(SetBaseline::BrokenOff(exit));
        }
        // The new runs share a session and an order; the one that
        // they repeat was made at another time and is left out.
        runs = records;
    }
    let void = void_codes(&runs);
    if !void.is_empty() && !wanted.anyway {
        return Err(refused(&from, &void, wanted.repeat.is_some()));
    }
    let stored = StoredBaseline {
        schema_version: SCHEMA_VERSION,
        name: wanted.name.clone(),
        from,
        set_at: context.timestamp(),
        runs: runs.into_iter().map(as_stored).collect(),
        legacy: LegacyOptions::default(),
        void_accepted: void,
        gentle_runs: Vec::new(),
        changes: Vec::new(),
    };
    if let Some(loss) = smallest_loss_percent(&stored).filter(|loss| *loss > LOSS_PERCENT_MAX)
        && !wanted.anyway
    {
        return Err(scatters(&stored, loss));
    }
    if let Some(found) = unsteady_writes(&stored.runs).filter(|_| !wanted.anyway) {
        return Err(not_steady(&stored, found));
    }
    stored.keep(context, &mut store)?;
    Ok(SetBaseline::Stored {
        stored: Box::new(stored),
        replaced: replaced.map(|old| old.words()),
    })
}

/// Repeats it as often as requested; returns the runs and how that ended.
fn repeated(
    context: &Context,
    store: &mut Store,
    runs: &[RunRecord],
    wanted: &BaselineOptions,
    repeat: u32,
    permissions: &Permissions,
) -> Outcome<(Vec<RunRecord>, Exit)> {
    let work = Work::of_records(runs, None)?;
    let ready = open_targets(context, store, &work, permissions)?;
    let mut records = Vec::new();
    let how = Repetitions {
        repeat,
        title: "Repeating the baseline",
        label: Some(format!("baseline {}", wanted.name)),
    };
    let outcome = rerun(context, store, &work, &ready, how, &mut records);
    for target in ready.opened {
        target.finish_or_report(context);
    }
    let exit = exit_of(context, &records);
    match (outcome?, exit) {
        // A baseline holds its runs itself.
        (Some(failure), Exit::Done) => context.note_late_failure(&failure),
        (Some(failure), _) => return Err(failure),
        (None, _) => {}
    }
    Ok((records, exit))
}

/// It has too few repetitions for a check to distinguish a change from chance.
pub fn has_few_repetitions(stored: &StoredBaseline) -> bool {
    minimum_repetitions(&stored.runs) < REPETITIONS_ENOUGH
}

/// A run without data that only its own report needs, and with its request,
/// which records of earlier versions lack.
fn as_stored(run: RunRecord) -> RunRecord {
    RunRecord {
        request: Some(Box::new(run.request())),
        ..run.without_intervals()
    }
}

/// Void values cannot be a reference: they would not show a loss of the disk's.
fn refused(from: &str, void: &BTreeSet<String>, repeated: bool) -> Failure {
    let codes: Vec<&str> = void.iter().map(String::as_str).collect();
    let what = match repeated {
        true => format!("the repetitions of {from}"),
        false => from.to_owned(),
    };
    Failure::usage(
        format!(
            "the numbers of {what} are VOID ({}): they are not the disk's, and no baseline was set",
            codes.join(", ")
        ),
        "fix what the warnings name and measure again, or accept it with --anyway",
    )
}

/// The smallest loss that a check detects with 90 % probability; `None` if a load has only one run.
fn smallest_loss_percent(stored: &StoredBaseline) -> Option<f64> {
    Some(stored.sensitivity()?.smallest_loss_percent)
}

/// A check too insensitive to see relevant changes would reassure for no reason.
fn scatters(stored: &StoredBaseline, loss: f64) -> Failure {
    let hint = match stored.runs.len() < 20 {
        true => {
            "measure more or longer runs (--repeat 20), without other load; or accept it with --anyway"
        }
        false => "measure longer runs, without other load; or accept it with --anyway",
    };
    Failure::usage(
        format!(
            "the runs of {} scatter so much that a check of {REPETITIONS} repetitions finds a loss \
             only from {loss:.1} % on, and no baseline was set",
            stored.from
        ),
        hint,
    )
}

/// Writes that a cache absorbed at first would be compared with later ones as they happen to
/// find that cache; repetitions that each begin alike do not scatter.
fn not_steady(stored: &StoredBaseline, (count, words): (usize, &str)) -> Failure {
    Failure::usage(
        format!(
            "{count} of the {} of {} are writes that were not steady, and no baseline was set: {words}",
            counted(stored.runs.len(), "run", "runs"),
            stored.from
        ),
        "measure what lasts: `stripewise run ... --steady` first writes until no cache absorbs \
         the load; or accept it with --anyway",
    )
}

/// The baseline that already has the name. Only `--replace` removes it, along with
/// its gentle runs and recorded changes.
fn replaced(store: &Store, wanted: &BaselineOptions) -> Outcome<Option<StoredBaseline>> {
    let all = StoredBaseline::all(store)?;
    let Some(old) = all.into_iter().find(|one| one.name == wanted.name) else {
        return Ok(None);
    };
    if wanted.replace {
        return Ok(Some(old));
    }
    Err(Failure::usage(
        format!(
            "there is a baseline `{}` already: {}",
            old.name,
            old.words()
        ),
        "keep both with --name OTHER, or replace it with --replace",
    ))
}

/// The answer of the stored series, if it is more than its runs.
fn answered(context: &Context, found: &Subject) -> Outcome<Option<&'static str>> {
    let store = match found.kind {
        SubjectKind::Series => context.open_store_if_any()?,
        _ => None,
    };
    let answers = store.map(|store| answers_of(&store, &found.name));
    // The runs of a check are its baseline's, repeated.
    let is_more = |(kind, _): &(&str, &str)| *kind != stored_check::KIND;
    let first = answers
        .transpose()?
        .and_then(|all| all.into_iter().find(is_more));
    Ok(first.map(|(_, words)| words))
}

/// The runs behind an id or file, if suitable as a baseline, and its full name.
fn of_id(context: &Context, id: &str) -> Outcome<(String, Vec<RunRecord>)> {
    let found = subject(context, id)?;
    if found.kind == SubjectKind::Experiment {
        return Err(Failure::usage(
            format!("{id} is an experiment: it has levels to compare with each other already"),
            "take a run, a grid or a series as baseline",
        ));
    }
    if let Some(what) = answered(context, &found)? {
        return Err(Failure::usage(
            format!(
                "{id} is {what}: its runs are of many loads, and `check` would not answer it again"
            ),
            "repeat that command and compare the two ids; take a run, a grid or a series of `bench` as baseline",
        ));
    }
    let (whole, broken): (Vec<RunRecord>, Vec<RunRecord>) =
        (found.runs.into_iter()).partition(|run| run.status == Status::Complete);
    let runs = at_answers(whole);
    if !runs.is_empty() && !broken.is_empty() {
        context.note(format!(
            "{} was stopped before its end: {} left out, and what was planned after that is not part of the baseline",
            found.name,
            counted(broken.len(), "run is", "runs are")
        ));
    }
    if runs.is_empty() {
        return Err(Failure::usage(
            format!("{id} was stopped before its end: it has no whole run"),
            "take a run that was completed",
        ));
    }
    // Reported now rather than when it is to be repeated. Results of several hosts are only
    // compared with later ones of theirs.
    if !of_several_hosts(&runs) {
        Work::of_records(&runs, None)?;
    }
    Ok((found.name, runs))
}

/// All of them are merged runs.
fn of_several_hosts(runs: &[RunRecord]) -> bool {
    runs.iter().all(|run| run.merged.is_some())
}

/// For a bench, the runs behind its answers: several of each load. The steps of a climb
/// are single runs, from which no later run can be distinguished; they count if a series
/// has no others.
fn at_answers(runs: Vec<RunRecord>) -> Vec<RunRecord> {
    let series = |run: &RunRecord| (run.series.clone(), run.series_part.clone());
    let answered: BTreeSet<_> = runs
        .iter()
        .filter(|run| run.answer_block.is_some())
        .map(series)
        .collect();
    let log = SeriesKind::Log.name();
    let counts = |run: &RunRecord| {
        let is_log = run.series_part.as_deref() == Some(log);
        let is_alone =
            !answered.contains(&series(run)) && !run.is_at_required_rate() && !run.is_pilot();
        run.answer_block.is_some() || is_log || is_alone
    };
    runs.into_iter().filter(counts).collect()
}

/// Removes a baseline; its runs stay in the history.
///
/// # Errors
/// If there is none of this name.
pub fn remove(context: &Context, name: &str) -> Outcome<()> {
    let mut store = context.open_store_there()?;
    if !store.forget_document(KIND, name)? {
        // The error lists the existing ones.
        StoredBaseline::find(&store, Some(name))?;
    }
    Ok(())
}

/// All baselines, newest first.
///
/// # Errors
/// If the store, or one of them, cannot be read.
pub fn all(context: &Context) -> Outcome<Vec<StoredBaseline>> {
    match context.open_store_if_any()? {
        Some(store) => StoredBaseline::all(&store),
        None => Ok(Vec::new()),
    }
}

/// The document listing baselines.
#[derive(Serialize, schemars::JsonSchema)]
pub struct BaselineDocument<'a> {
    schema_version: u32,
    baselines: Vec<Listed<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Listed<'a> {
    name: &'a str,
    from: &'a str,
    set_at: &'a str,
    runs: Vec<&'a str>,
    changes: &'a [Change],
    /// The smallest loss, in per cent, that a check of six repetitions finds nine times in ten.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_loss_percent: Option<f64>,
    /// What each check says of it.
    cautions: Vec<String>,
}

impl<'a> BaselineDocument<'a> {
    /// The document for these baselines.
    pub fn of(all: &'a [StoredBaseline]) -> BaselineDocument<'a> {
        BaselineDocument {
            schema_version: SCHEMA_VERSION,
            baselines: all
                .iter()
                .map(|one| Listed {
                    name: &one.name,
                    from: &one.from,
                    set_at: &one.set_at,
                    runs: one.runs.iter().map(|run| run.id.as_str()).collect(),
                    changes: &one.changes,
                    smallest_loss_percent: smallest_loss_percent(one),
                    cautions: one.cautions(),
                })
                .collect(),
        }
    }
}

/// The document about a removed baseline.
#[derive(Serialize, schemars::JsonSchema)]
pub struct RemovedDocument<'a> {
    schema_version: u32,
    removed: &'a str,
}

impl<'a> RemovedDocument<'a> {
    /// For the one of this name.
    pub fn of(removed: &'a str) -> RemovedDocument<'a> {
        RemovedDocument {
            schema_version: SCHEMA_VERSION,
            removed,
        }
    }
}

/// A baseline in a sentence: its contents, its target, the duration of a check.
///
/// # Errors
/// If its runs cannot be repeated.
pub fn line(stored: &StoredBaseline) -> Outcome<String> {
    if of_several_hosts(&stored.runs) {
        return Ok(format!(
            "{}: {} of several hosts, from {}; `stripewise check --run ID` compares a later one with it",
            stored.name,
            counted(stored.runs.len(), "run", "runs"),
            stored.from
        ));
    }
    let work = Work::of_records(&stored.runs, None)?;
    let sees = smallest_loss_percent(stored).map_or(String::new(), |loss| {
        format!(" and finds a loss of {loss:.1} % nine times in ten")
    });
    let targets: Vec<&str> = work
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    Ok(format!(
        "{}: {} of {} on {}, from {}; a check of {REPETITIONS} repetitions takes {}{}",
        stored.name,
        counted(stored.runs.len(), "run", "runs"),
        counted(work.steps.len(), "workload", "workloads"),
        targets.join(", "),
        stored.from,
        format_duration(work.length_ns(REPETITIONS)),
        sees,
    ))
}
