//! The document of an experiment: everything needed to continue or
//! analyse it again without its command line. Permission to write is not
//! included; it is given again each time.

use super::absorbed::CellSustained;
use super::measured::{EXPERIMENTS, by_id};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::experiment::{Ended, ExperimentPlan, LayoutFacts};
use stripewise_report::experiment_line;
use stripewise_results::{ComparisonRecord, RunRecord, SCHEMA_VERSION};
use stripewise_store::{Filter, Store, StoredDocument};

/// Kind of these documents in the store.
pub const KIND: &str = "experiment";

/// Which command made it; also the `series_part` of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentKind {
    /// `align`.
    Align,
    /// `lab run`.
    Lab,
}

impl ExperimentKind {
    /// `align` or `lab`.
    pub fn word(self) -> &'static str {
        match self {
            ExperimentKind::Align => "align",
            ExperimentKind::Lab => "lab",
        }
    }
}

/// Where byte 0 of the target lies, in words and as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LevelPlaces {
    /// Where the partition (or whole device) starts; absent where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
    /// The disk that this is counted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// The levels, as offsets from the start of that disk.
    pub offsets_bytes: Vec<u64>,
    /// All levels lie this far behind their names.
    pub moved_bytes: u64,
    /// What must be known to read the tables rightly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An experiment as the store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StoredExperiment {
    /// Version of the document.
    pub schema_version: u32,
    /// Unique; also the series of its runs.
    pub id: String,
    /// Which command made it.
    pub kind: ExperimentKind,
    /// As typed.
    pub target: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The command line that made it.
    pub command: Vec<String>,
    /// The program's version.
    pub version: String,
    /// The user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// As asked for: how much of the target, or the size of the test file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The engine by its name.
    pub engine: String,
    /// Somebody asked for so many in flight by number.
    pub load_given: bool,
    /// Where the levels are offsets of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<LevelPlaces>,
    /// What is known of the layout.
    pub layout: LayoutFacts,
    /// What is done.
    pub plan: ExperimentPlan,
    /// What caches absorb of its cells that write, and what lasts; empty where nothing was
    /// looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sustained: Vec<CellSustained>,
    /// Finished so far.
    pub blocks: u32,
    /// Absent while it runs, and where its process was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// In all sittings; virtual on simulated arrays.
    pub elapsed_ns: u64,
}

impl StoredExperiment {
    /// Stores it, replacing the previous state.
    pub fn keep(&self, context: &Context, store: &mut Store) -> Outcome<()> {
        store_document(context, store, KIND, &self.id, self)
    }

    /// What was found, in a line.
    pub fn line(&self, found: &[ComparisonRecord]) -> String {
        let partial = match self.ended {
            Some(ended) if ended.finished() => "",
            _ => "partial: ",
        };
        format!("{}: {partial}{}", self.target, experiment_line(found))
    }

    /// The experiment of this id, or of a unique id beginning with it.
    pub fn load(store: &Store, id: &str) -> Outcome<StoredExperiment> {
        let found = by_id(store, KIND, id, EXPERIMENTS)?;
        let found = found.ok_or_else(|| {
            Failure::usage(
                format!("there is no experiment {id}"),
                "`stripewise lab plans` lists them",
            )
        })?;
        read(&found)
    }

    /// All of them, most recently used first.
    pub fn all(store: &Store) -> Outcome<Vec<StoredExperiment>> {
        let documents = store.documents(KIND)?;
        documents.iter().map(read).collect()
    }

    /// Its runs in chronological order, without data that no table needs.
    pub fn runs(&self, context: &Context, store: &Store) -> Outcome<Vec<RunRecord>> {
        let mut runs = Vec::new();
        for id in context.series_run_ids(store, &self.id)? {
            let record = context.unless_damaged(store.load(&id))?;
            let record = record.filter(|record| !record.is_pilot());
            // Hundreds are in memory at once, and the details are not used here.
            runs.extend(record.map(|record| record.without_histograms().without_intervals()));
        }
        Ok(runs)
    }

    /// It has runs, or there are unreadable ones that may be its own.
    fn may_have_runs(&self, store: &Store) -> Outcome<bool> {
        let filter = Filter::of_series(&self.id);
        let listed = store.list_readable(&filter)?;
        Ok(!(listed.runs.is_empty() && listed.unreadable.is_empty()))
    }

    /// Whether there is an experiment of this full id.
    pub fn is_known(store: &Store, id: &str) -> Outcome<bool> {
        store.has_document(KIND, id).map_err(Failure::from)
    }

    /// Deletes the experiments whose runs were all deleted: nothing could be shown
    /// of them. Those without a finished block keep their plan, unless they
    /// were named. Returns their ids.
    pub fn forget_those_without_runs(store: &mut Store, named: &[String]) -> Outcome<Vec<String>> {
        let mut gone = Vec::new();
        for stored in StoredExperiment::all(store)? {
            if (stored.blocks > 0 || named.contains(&stored.id)) && !stored.may_have_runs(store)? {
                stored.forget(store)?;
                gone.push(stored.id);
            }
        }
        Ok(gone)
    }

    /// Deletes the document; its runs are deleted separately.
    fn forget(&self, store: &mut Store) -> Outcome<()> {
        store
            .forget_document(KIND, &self.id)
            .map(drop)
            .map_err(Failure::from)
    }
}

fn read(document: &StoredDocument) -> Outcome<StoredExperiment> {
    let what = format!("experiment {}", document.name);
    read_document(document, &what, |stored: &StoredExperiment| {
        stored.schema_version
    })
}

/// The content of a document that carries its version; `what` names it in failures.
///
/// # Errors
/// If it is damaged, or of another version.
pub fn read_document<T: DeserializeOwned>(
    document: &StoredDocument,
    what: &str,
    version: fn(&T) -> u32,
) -> Outcome<T> {
    let refused = |why: &str| {
        let hint = "use the version of Stripewise that made it";
        Failure::new(Exit::Store, format!("{what} {why}"), hint)
    };
    let stored: T = serde_json::from_str(&document.json)
        .map_err(|error| refused(&format!("cannot be read: {error}")))?;
    match version(&stored) {
        SCHEMA_VERSION => Ok(stored),
        other => Err(refused(&format!(
            "has schema version {other}, and this program reads {SCHEMA_VERSION}"
        ))),
    }
}
