//! `history`: what is stored: lists, shows, deletes.

mod measurements;
mod rows;

use crate::context::{Context, store_failure};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::documents::{document, judge_as_asked};
use crate::steps::kept::Kept;
use crate::steps::measured;
pub use crate::steps::measured::Measurement;
use crate::steps::surface::MeasuredSurface;
use crate::steps::verification::document::VerifyDocument;
use crate::steps::verification::text::verified_text;
use rows::{Said, rows, said};
use serde::Serialize;
use stripewise_report::HistoryRow;
use stripewise_results::{Document, RunRecord, SCHEMA_VERSION, Status};
use stripewise_store::{Filter, RunSummary, Store};
use stripewise_units::Nanoseconds;

/// Runs of a series are one row: of so many runs a row is looked for.
const RUNS_A_ROW: u32 = 64;

/// What was stored, newest first.
pub struct History {
    store: Option<Store>,
    runs: Vec<(RunSummary, Said)>,
    measurements: Vec<Measurement>,
    /// There is a store, and something of it was asked for by a filter.
    pub is_filtered: bool,
}

/// Lists what is stored. `since` of the filter is what people type, see [`since`].
///
/// # Errors
/// Where the store cannot be read.
pub fn list(context: &Context, filter: &Filter) -> Outcome<History> {
    let store = context.open_store_if_any()?;
    let mut runs = Vec::new();
    if let Some(store) = &store {
        for run in context.stored_runs(store, filter)? {
            if let Some(said) = said(context, store, &run)? {
                runs.push((run, said));
            }
        }
    }
    let all = Filter {
        limit: filter.limit,
        ..Filter::default()
    };
    let measurements = match &store {
        Some(store) => measured::measurements(store, filter)?,
        None => Vec::new(),
    };
    Ok(History {
        measurements,
        is_filtered: store.is_some() && *filter != all,
        store,
        runs,
    })
}

/// Runs to be looked at for so many rows of a table.
#[must_use]
pub fn runs_for_rows(limit: u32) -> u32 {
    limit.saturating_mul(RUNS_A_ROW)
}

impl History {
    /// Nothing is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.measurements.is_empty()
    }

    /// A row for each run, series, profile, fill or verification, at most so many.
    #[must_use]
    pub fn rows(&self, limit: usize) -> Vec<HistoryRow> {
        // Without a store there are no runs.
        let store = self.store.as_ref();
        let rows = store.map_or_else(Vec::new, |store| rows(store, &self.runs, limit));
        measurements::merged(rows, &self.measurements, limit)
    }

    /// As `--json` prints it.
    #[must_use]
    pub fn document(&self) -> HistoryDocument<'_> {
        listed(&self.runs, &self.measurements)
    }
}

/// The beginning of a time that people type: a day or time as it is, a duration
/// counted back from now. RFC 3339 in UTC, as far as it was given.
///
/// # Errors
/// Where it is neither.
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

/// A day or a time in UTC as [`since`] returns it; `None` where it is neither.
#[must_use]
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
    jobs: Vec<ListedJob<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct ListedJob<'a> {
    name: &'a str,
    target: &'a str,
    // Null where an imported result does not say it.
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
    runs: &'a [(RunSummary, Said)],
    measurements: &'a [Measurement],
) -> HistoryDocument<'a> {
    let history = runs
        .iter()
        .map(|(run, said)| ListedRun {
            id: &run.id,
            started_at: &run.started_at,
            status: run.status,
            label: run.label.as_deref(),
            series: run.series.as_deref(),
            series_part: run.series_part.as_deref(),
            host: &run.host,
            tool: run.tool.as_deref(),
            warnings: run.warnings,
            jobs: run
                .jobs
                .iter()
                .zip(said)
                .map(|(job, said)| ListedJob {
                    name: &job.name,
                    target: &job.target,
                    pattern: said.pattern.as_deref(),
                    read_percent: said.read_percent,
                    discard_percent: said.discard_percent,
                    block_size_bytes: said.block_size_bytes,
                    threads: said.threads,
                    outstanding: said.outstanding,
                    iops: said.iops,
                    mib_per_s: said.mib_per_s,
                    errors: said.errors,
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

/// The document of a profile, fill or verification, as it was kept; none where `name` is
/// none of their ids and no `last` that stands for one.
///
/// # Errors
/// Where the store cannot be read, or less was done here than `last~N` counts.
pub fn measurement(context: &Context, name: &str) -> Outcome<Option<KeptMeasurement>> {
    let Some(store) = context.open_store_if_any()? else {
        return Ok(None);
    };
    let found = measured::document(&store, &measured::full_name(&store, name)?)?;
    Ok(found.map(|(kind, document)| KeptMeasurement {
        kind,
        json: document.json,
    }))
}

/// A profile, fill or verification as it was kept.
#[derive(Debug)]
pub struct KeptMeasurement {
    kind: &'static str,
    json: String,
}

impl KeptMeasurement {
    /// As the command that made it printed it with `--json`.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn document(&self) -> Outcome<serde_json::Value> {
        serde_json::from_str(&self.json).map_err(|error| Failure::of(Exit::Store, error))
    }

    /// As that command printed it.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn text(&self) -> Outcome<String> {
        if let Some(surface) = MeasuredSurface::of_kept(self.kind, &self.json)? {
            return Ok(surface.text());
        }
        let verified: VerifyDocument =
            serde_json::from_str(&self.json).map_err(|error| Failure::of(Exit::Store, error))?;
        Ok(verified_text(&verified))
    }
}

/// Runs, and those of series, as one document.
///
/// # Errors
/// Where one of these names is none of the store's.
pub fn show(context: &Context, names: &[String]) -> Outcome<Document> {
    let store = context.open_store_to_read()?;
    let mut records = Vec::new();
    for name in names {
        records.extend(load(context, &store, name)?);
    }
    let mut document = document(records);
    judge_as_asked(&mut document);
    Ok(document)
}

/// A run, or all runs of a series in the order in which they ran.
fn load(context: &Context, store: &Store, name: &str) -> Outcome<Vec<RunRecord>> {
    let name = &measured::full_name(store, name)?;
    let of_series = series_ids(context, store, name)?;
    if of_series.is_empty() {
        if let Some(refused) = measured::no_run(store, name)? {
            return Err(refused);
        }
        return Ok(vec![store.load(name).map_err(store_failure)?]);
    }
    of_series
        .iter()
        .map(|id| store.load(id).map_err(store_failure))
        .collect()
}

/// Ids of the runs of a series, oldest first; empty where there is no such series.
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

/// What was deleted, as a document.
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

/// Deletes runs, series and experiments.
///
/// # Errors
/// Where one of these names is none of the store's, or says something else each time; then
/// nothing is deleted.
pub fn delete(context: &Context, names: &[String]) -> Outcome<DeletedDocument> {
    let mut store = context.open_store_there()?;
    let mut ids = Vec::new();
    let mut kinds = Vec::new();
    for name in names {
        if let Some((kind, _)) = measured::document(&store, name)? {
            kinds.push((kind, name));
            continue;
        }
        let of_series = series_ids(context, &store, name)?;
        if of_series.is_empty() && Kept::is_known(&store, name)? {
            // Its runs went one by one; what is left goes below.
            continue;
        }
        if of_series.is_empty() {
            if name.starts_with("last") {
                return Err(Failure::usage(
                    format!("`{name}` means something else each time"),
                    "delete by the id that `stripewise history` lists",
                ));
            }
            ids.push(store.resolve(name).map_err(store_failure)?);
        } else {
            ids.extend(of_series);
        }
    }
    ids.dedup();
    store.delete(&ids).map_err(store_failure)?;
    for &(kind, name) in &kinds {
        store.forget_document(kind, name).map_err(store_failure)?;
    }
    let experiments = Kept::forget_those_without_runs(&mut store, names)?;
    Ok(DeletedDocument {
        schema_version: SCHEMA_VERSION,
        deleted: ids,
        experiments,
        measurements: kinds.into_iter().map(|(_, name)| name.clone()).collect(),
    })
}
