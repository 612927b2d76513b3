//! `history`: lists, shows and deletes stored results.

mod measurements;
mod rows;

use crate::steps::documents::{document, judge_as_requested, verdicts_as_requested};
use crate::steps::headroom::{self, StoredHeadroom};
use crate::steps::layouts::stored_layouts::StoredLayouts;
use crate::steps::levels::levels_compared;
use crate::steps::limits::{self, StoredLimits};
use crate::steps::measured;
pub use crate::steps::measured::Measurement;
use crate::steps::observation::ObservationDocument;
use crate::steps::qualification::QualifyResult;
use crate::steps::resumable_answer::json_of_series;
use crate::steps::series_answers::{ANSWERS, answers_of};
use crate::steps::stored_check::StoredCheck;
use crate::steps::stored_experiment::StoredExperiment;
use crate::steps::subject::stored;
use crate::steps::surface::MeasuredSurface;
use crate::steps::verification::text::verdict;
use crate::steps::verification_page::{of_stored, sheet};
use rows::{KnownJobs, job_fields, rows};
use serde::Serialize;
use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{HistoryRow, Sheet};
use stripewise_results::{ComparisonRecord, Document, RunRecord, SCHEMA_VERSION, Status};
use stripewise_store::{Filter, Owner, RunSummary, Store};
use stripewise_units::{NameText, Nanoseconds};

/// Runs to load per row, since the runs of a series form one row.
const RUNS_A_ROW: u32 = 64;

/// Stored results, newest first.
pub struct History {
    store: Option<Store>,
    runs: Vec<(RunSummary, KnownJobs)>,
    measurements: Vec<Measurement>,
    /// There is a store, and a filter was given.
    pub is_filtered: bool,
    /// There may be more runs than were loaded.
    pub is_cut: bool,
}

/// Lists stored results. `since` of the filter is text as typed, see [`since`].
pub fn list(context: &Context, filter: &Filter) -> Outcome<History> {
    let store = context.open_store_if_any()?;
    let mut runs = Vec::new();
    let mut is_cut = false;
    if let Some(store) = &store {
        let found = context.stored_runs(store, filter)?;
        is_cut = (filter.limit).is_some_and(|limit| found.len() >= limit as usize);
        for run in found {
            if let Some(job_fields) = job_fields(context, store, &run)? {
                runs.push((run, job_fields));
            }
        }
    }
    let all = Filter {
        limit: filter.limit,
        ..Filter::default()
    };
    let (measurements, unreadable) = match &store {
        Some(store) => measured::measurements(store, filter)?,
        None => Default::default(),
    };
    for damaged in unreadable {
        context.unless_damaged::<()>(Err(damaged.error))?;
    }
    Ok(History {
        measurements,
        is_filtered: store.is_some() && *filter != all,
        is_cut,
        store,
        runs,
    })
}

/// Number of runs to load for this many rows.
pub fn runs_for_rows(limit: u32) -> u32 {
    limit.saturating_mul(RUNS_A_ROW)
}

impl History {
    /// Whether there are no results.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.measurements.is_empty()
    }

    /// A row for each run, series, profile, fill or verification, at most `limit`.
    pub fn rows(&self, limit: usize) -> Vec<HistoryRow> {
        // Without a store there are no runs.
        let store = self.store.as_ref();
        let rows = store.map_or_else(Vec::new, |store| rows(store, &self.runs, limit));
        measurements::merged(rows, &self.measurements, limit)
    }

    /// As `--json` prints it.
    pub fn document(&self) -> HistoryDocument<'_> {
        let runs = self.runs.iter().map(|(run, _)| run);
        let verdicts = match &self.store {
            Some(store) => verdicts_as_requested(store, runs),
            None => Vec::new(),
        };
        listed(&self.runs, &verdicts, &self.measurements)
    }
}

/// What another process is measuring now, by its id; `last` is what was measured before it.
pub fn being_measured(context: &Context) -> Outcome<Option<String>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    let filter = Filter {
        limit: Some(1),
        ..Filter::default()
    };
    let Some(newest) = store.list_readable(&filter)?.runs.pop() else {
        return Ok(None);
    };
    let is_running = newest.status == Status::Running;
    Ok(match newest.series {
        Some(series) => store.is_measured_elsewhere(&series)?.then_some(series),
        None if is_running && store.is_alive(&newest.id)? == Some(true) => Some(newest.id),
        None => None,
    })
}

/// The answer of a stored qualification. `None` if `name` is something else.
pub fn qualification(context: &Context, name: &str) -> Outcome<Option<QualifyResult>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    // A name unknown to the store may be a file's.
    let found = crate::steps::qualification::answered(&store, name);
    Ok(found.ok().flatten())
}

/// The result of a stored check. `None` if `name` is something else.
pub fn check(context: &Context, name: &str) -> Outcome<Option<StoredCheck>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    StoredCheck::find(&store, &measured::full_name(&store, name)?)
}

/// The answer of a stored experiment over layouts, and the same in a line. `None` if `name` is
/// something else.
pub fn layouts(context: &Context, name: &str, explain: bool) -> Outcome<Option<(Sheet, String)>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    let stored = StoredLayouts::named(&store, &measured::full_name(&store, name)?)?;
    Ok(stored.map(|stored| {
        let record = stored.found().record;
        (stored.sheet(&record, explain), stored.line(&record))
    }))
}

/// The comparison of the levels of a stored experiment, and what was found in a line. `None` if
/// `name` is something else, or has nothing to compare.
pub fn experiment(
    context: &Context,
    name: &str,
) -> Outcome<Option<(Vec<ComparisonRecord>, String)>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    let name = measured::full_name(&store, name)?;
    if !StoredExperiment::is_known(&store, &name)? {
        return Ok(None);
    }
    let found = levels_compared(context, &stored(context, &store, &name)?);
    if found.is_empty() {
        return Ok(None);
    }
    let line = StoredExperiment::load(&store, &name)?.line(&found);
    Ok(Some((found, line)))
}

/// Parses the start of a period as typed: a day or time, or a duration
/// before now. Returns RFC 3339 in UTC, as far as it was given.
///
/// # Errors
/// If it is neither.
pub fn since(context: &Context, text: &str) -> Outcome<String> {
    let now: Result<jiff::Timestamp, _> = context.timestamp().parse();
    if let (Ok(ago), Ok(now)) = (text.parse::<Nanoseconds>(), now) {
        let seconds = i64::try_from(ago.ns() / 1_000_000_000).unwrap_or(i64::MAX);
        if let Ok(then) = now.checked_sub(jiff::SignedDuration::from_secs(seconds)) {
            return Ok(then.strftime("%Y-%m-%dT%H:%M:%S").to_string());
        }
    }
    moment(text).ok_or_else(|| {
        Failure::usage(
            format!("`{text}` is not a valid time"),
            "give a day (2026-11-20), a time in UTC (2026-11-20T08:00), or an age: 24h, 90m",
        )
    })
}

/// A day or a time in UTC in the form of [`since`]; `None` if it is neither.
pub fn moment(text: &str) -> Option<String> {
    let time = text.trim().trim_end_matches('Z').replace(' ', "T");
    let is_day = time.parse::<jiff::civil::Date>().is_ok() && !time.contains('T');
    let is_time = time.contains('T') && time.parse::<jiff::civil::DateTime>().is_ok();
    (is_day || is_time).then_some(time)
}

/// The list as `--json` prints it.
#[derive(Serialize, schemars::JsonSchema)]
pub struct HistoryDocument<'a> {
    schema_version: u32,
    history: Vec<ListedRun<'a>>,
    /// Profiles, fills and verifications, which have no runs.
    measurements: &'a [Measurement],
}

#[derive(Serialize, schemars::JsonSchema)]
struct ListedRun<'a> {
    id: &'a str,
    started_at: &'a str,
    status: Status,
    label: Option<&'a str>,
    series: Option<&'a str>,
    series_part: Option<&'a str>,
    host: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    warnings: u64,
    /// What became of `--require`, of a series as a whole: `met`, `missed` or `undecided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    jobs: Vec<ListedJob<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct ListedJob<'a> {
    name: &'a str,
    target: &'a str,
    // Null if an imported result does not give it.
    pattern: Option<&'a str>,
    read_percent: Option<u8>,
    #[serde(skip_serializing_if = "is_zero")]
    discard_percent: u8,
    block_size_bytes: Option<u64>,
    threads: Option<u32>,
    outstanding: Option<u32>,
    iops: Option<f64>,
    mib_per_s: Option<f64>,
    errors: Option<u64>,
}

fn is_zero(percent: &u8) -> bool {
    *percent == 0
}

fn listed<'a>(
    runs: &'a [(RunSummary, KnownJobs)],
    verdicts: &[Option<&'static str>],
    measurements: &'a [Measurement],
) -> HistoryDocument<'a> {
    let history = runs
        .iter()
        .zip(verdicts)
        .map(|((run, job_fields), verdict)| ListedRun {
            id: &run.id,
            started_at: &run.started_at,
            status: run.status,
            label: run.label.as_deref(),
            series: run.series.as_deref(),
            series_part: run.series_part.as_deref(),
            host: &run.host,
            tool: run.tool.as_deref(),
            warnings: run.warnings,
            verdict: *verdict,
            jobs: run
                .jobs
                .iter()
                .zip(job_fields)
                .map(|(job, job_fields)| ListedJob {
                    name: &job.name,
                    target: &job.target,
                    pattern: job_fields.pattern.as_deref(),
                    read_percent: job_fields.read_percent,
                    discard_percent: job_fields.discard_percent,
                    block_size_bytes: job_fields.block_size_bytes,
                    threads: job_fields.threads,
                    outstanding: job_fields.outstanding,
                    iops: job_fields.iops,
                    mib_per_s: job_fields.mib_per_s,
                    errors: job_fields.errors,
                })
                .collect(),
        })
        .collect();
    HistoryDocument {
        schema_version: SCHEMA_VERSION,
        history,
        measurements,
    }
}

/// The stored document of a profile, fill or verification; `None` if `name` is
/// neither one of their ids nor a `last` that refers to one.
///
/// # Errors
/// If the store cannot be read, or has fewer results than `last~N` counts.
pub fn measurement(context: &Context, name: &str) -> Outcome<Option<StoredMeasurement>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    let found = measured::document(&store, &measured::full_name(&store, name)?)?;
    if let Some((kind, document)) = found {
        let json = document.json;
        return Ok(Some(StoredMeasurement { kind, json }));
    }
    // The runs of a headroom are listed as a series, and its answer is shown; the same
    // goes for limits.
    for kind in [headroom::KIND, limits::KIND] {
        if let Some(json) = json_of_series(&store, kind, name)? {
            return Ok(Some(StoredMeasurement { kind, json }));
        }
    }
    Ok(None)
}

/// How a stored result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAs {
    /// As a row of a table of runs.
    Run,
    /// As rows of a table of benches.
    Bench,
    /// As a table of its own: a grid, repetitions, an experiment, a check.
    Table,
    /// As an answer with a document of its own.
    Answer,
}

/// How the result of this name is shown.
///
/// # Errors
/// If it is not in the store, or cannot be read.
pub fn shown_as(context: &Context, name: &str) -> Outcome<ShownAs> {
    if measurement(context, name)?.is_some() || qualification(context, name)?.is_some() {
        return Ok(ShownAs::Answer);
    }
    if check(context, name)?.is_some() {
        return Ok(ShownAs::Table);
    }
    let runs = load(context, &context.open_store_to_read()?, name)?;
    Ok(match runs.as_slice() {
        [_] => ShownAs::Run,
        runs if runs.iter().any(|run| run.latency_limit.is_some()) => ShownAs::Bench,
        _ => ShownAs::Table,
    })
}

/// A stored profile, fill or verification.
#[derive(Debug)]
pub struct StoredMeasurement {
    kind: &'static str,
    json: String,
}

impl StoredMeasurement {
    /// Its document, as its command printed it with `--json`.
    pub fn document(&self) -> Outcome<serde_json::Value> {
        let value = match self.kind {
            headroom::KIND => serde_json::to_value(StoredHeadroom::of_stored(&self.json)?.document),
            limits::KIND => serde_json::to_value(StoredLimits::of_stored(&self.json)?.document),
            _ => serde_json::from_str(&self.json),
        };
        value.map_err(|error| Failure::of(Exit::Store, error))
    }

    /// Its text, as its command printed it: the sheet, and the line of `-q`.
    pub fn answer(&self) -> Outcome<(Sheet, String)> {
        if self.kind == headroom::KIND {
            let found = StoredHeadroom::of_stored(&self.json)?;
            return Ok((found.sheet(), found.line()));
        }
        if self.kind == limits::KIND {
            let found = StoredLimits::of_stored(&self.json)?;
            return Ok((found.sheet(), found.line()));
        }
        if self.kind == measured::OBSERVATION {
            let observed = ObservationDocument::of_stored(&self.json)?;
            return Ok((observed.sheet(), observed.line()));
        }
        if let Some(surface) = MeasuredSurface::of_stored(self.kind, &self.json)? {
            return Ok((surface.sheet(), surface.line()));
        }
        let verified = of_stored(&self.json)?;
        Ok((sheet(&verified), verdict(&verified)))
    }
}

/// Runs, and those of series, as one document.
///
/// # Errors
/// If one of these names is not in the store.
pub fn show(context: &Context, names: &[String]) -> Outcome<Document> {
    let store = context.open_store_to_read()?;
    let mut records = Vec::new();
    for name in names {
        records.extend(load(context, &store, name)?);
    }
    let mut document = document(records);
    judge_as_requested(Some(&store), &mut document);
    Ok(document)
}

/// A run, or all runs of a series in chronological order.
fn load(context: &Context, store: &Store, name: &str) -> Outcome<Vec<RunRecord>> {
    let name = &measured::full_name(store, name)?;
    let of_series = series_ids(context, store, name)?;
    if of_series.is_empty() {
        if let Some(refused) = measured::no_run(store, name)? {
            return Err(refused);
        }
        return Ok(vec![store.load(name)?]);
    }
    of_series
        .iter()
        .map(|id| store.load(id).map_err(Failure::from))
        .collect()
}

/// Ids of the runs of a series, oldest first; empty if there is no such series.
fn series_ids(context: &Context, store: &Store, series: &str) -> Outcome<Vec<String>> {
    let filter = Filter {
        series: Some(series.to_owned()),
        ..Filter::default()
    };
    let mut ids: Vec<String> = context
        .stored_runs(store, &filter)?
        .into_iter()
        .map(|run| run.id)
        .collect();
    ids.reverse();
    Ok(ids)
}

/// The document about deleted results.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct DeletedDocument {
    schema_version: u32,
    /// Ids of the runs.
    pub deleted: Vec<String>,
    /// Ids of the experiments that went with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<String>,
    /// Ids of profiles, fills and verifications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measurements: Vec<String>,
}

/// The data recovered from a damaged store.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct SalvagedDocument {
    schema_version: u32,
    /// The new store.
    pub store: String,
    /// Runs in it.
    pub runs: usize,
    /// Tables that could not be read to their end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut_short: Vec<String>,
}

/// Copies the readable part of the store into a new one.
///
/// # Errors
/// If there is no store, the new file exists, or nothing can be read.
pub fn salvage(context: &Context, to: &Path) -> Outcome<SalvagedDocument> {
    if to.symlink_metadata().is_ok() {
        return Err(Failure::usage(
            format!("{} is there already", to.as_text()),
            "name a file that is not there: the new store",
        ));
    }
    let owner = Owner::of_this_process(&context.host().name);
    let from = context.store_path()?;
    let done = Store::salvage(&from, to, owner)?;
    Ok(SalvagedDocument {
        schema_version: SCHEMA_VERSION,
        store: to.as_text(),
        runs: done.runs,
        cut_short: done.cut_short,
    })
}

fn has_runs(store: &Store, series: &str) -> Outcome<bool> {
    let filter = Filter {
        series: Some(series.to_owned()),
        limit: Some(1),
        ..Filter::default()
    };
    let listed = store.list_readable(&filter)?;
    Ok(!(listed.runs.is_empty() && listed.unreadable.is_empty()))
}

/// Deletes runs, series and experiments.
///
/// # Errors
/// If one of these names is not in the store, or its meaning changes over time; then
/// nothing is deleted.
pub fn delete(context: &Context, names: &[String]) -> Outcome<DeletedDocument> {
    let mut store = context.open_store_there()?;
    let mut ids = Vec::new();
    let mut kinds = Vec::new();
    // The meaning of `last` changes; that of an id's suffix, as in printed commands, does not.
    let whole = |name: &String| match name.starts_with("last") {
        true => Ok(name.clone()),
        false => measured::full_name(&store, name),
    };
    let names = &names.iter().map(whole).collect::<Outcome<Vec<String>>>()?;
    for name in names {
        if let Some(kind) = measured::kind_of(&store, name)? {
            kinds.push((kind, name));
            continue;
        }
        let of_series = series_ids(context, &store, name)?;
        if of_series.is_empty()
            && (StoredExperiment::is_known(&store, name)? || !answers_of(&store, name)?.is_empty())
        {
            // Its runs were deleted one by one; the rest is deleted below.
            continue;
        }
        if of_series.is_empty() {
            if name.starts_with("last") {
                return Err(Failure::usage(
                    format!("`{name}` means something else each time"),
                    "delete by the id that `stripewise history` lists",
                ));
            }
            ids.push(store.resolve(name)?);
        } else {
            ids.extend(of_series);
        }
    }
    ids.dedup();
    let mut with_runs = names.to_vec();
    for (kind, _) in ANSWERS {
        for name in store.document_names(kind)? {
            if has_runs(&store, &name)? {
                with_runs.push(name);
            }
        }
    }
    store.delete(&ids)?;
    for &(kind, name) in &kinds {
        store.forget_document(kind, name)?;
    }
    for series in with_runs {
        if !has_runs(&store, &series)? {
            for (kind, _) in answers_of(&store, &series)? {
                store.forget_document(kind, &series)?;
            }
        }
    }
    let experiments = StoredExperiment::forget_those_without_runs(&mut store, names)?;
    Ok(DeletedDocument {
        schema_version: SCHEMA_VERSION,
        deleted: ids,
        experiments,
        measurements: kinds.into_iter().map(|(_, name)| name.clone()).collect(),
    })
}
