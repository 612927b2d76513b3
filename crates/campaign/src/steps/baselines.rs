//! Stored baselines: `baseline` sets them, `check` repeats them.
//!
//! A baseline contains its runs in full (without their intervals), so that it
//! survives deletions from the history. It is a document of the store, kind `baseline`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::{Sensitivity, doubts, sensitivity, void_codes};
use stripewise_lab::experiment::Metric;
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_store::{Store, StoredDocument};
use stripewise_units::counted;
use stripewise_workload::Request;

/// Kind of its documents in the store.
pub const KIND: &str = "baseline";

/// The name of a baseline that was given none.
pub const NAME_USUAL: &str = "baseline";

/// Default repetitions of each load in a check.
pub const REPETITIONS: u32 = 6;

/// A stored baseline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredBaseline {
    /// Version of the document.
    pub schema_version: u32,
    /// Its name.
    pub name: String,
    /// The subject named when it was set.
    pub from: String,
    /// RFC 3339, UTC.
    pub set_at: String,
    /// The runs that later ones are compared with.
    pub runs: Vec<RunRecord>,
    /// What earlier versions stored for runs without a request.
    #[serde(default, skip_serializing, rename = "asked")]
    pub(crate) legacy: LegacyOptions,
    /// Warnings that void its values, if the user accepted it anyway
    /// (`--anyway`).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub void_accepted: BTreeSet<String>,
    /// Runs at a low rate, which `check --gentle` compares with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gentle_runs: Vec<RunRecord>,
    /// Deliberate changes since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// Two switches of `run`, as baselines of earlier versions have them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct LegacyOptions {
    #[serde(default)]
    interval_ns: Option<u64>,
    #[serde(default)]
    cache_size_bytes: Option<u64>,
}

/// A change that `check --changed` recorded.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Change {
    /// RFC 3339, UTC.
    pub at: String,
    /// The user's words.
    pub words: String,
    /// Series of the runs that were made after it.
    pub series: String,
}

impl StoredBaseline {
    /// Its history in a line: `the one of RUN (6 runs), set 2026-11-22, with 1
    /// recorded change`.
    pub fn words(&self) -> String {
        let day = self.set_at.get(..10).unwrap_or(&self.set_at);
        let mut words = format!(
            "the one of {} ({}), set {day}",
            self.from,
            counted(self.runs.len(), "run", "runs")
        );
        let more = [
            (self.gentle_runs.len(), "gentle run", "gentle runs"),
            (self.changes.len(), "recorded change", "recorded changes"),
        ];
        for (count, one, several) in more.into_iter().filter(|(count, ..)| *count > 0) {
            words.push_str(&format!(", with {}", counted(count, one, several)));
        }
        words
    }

    /// The default metric of a check: IOPS, unless every load has a fixed rate, since
    /// then only latency can change.
    pub fn metric(&self) -> Metric {
        let mut jobs = self.runs.iter().flat_map(|run| &run.jobs);
        match jobs.all(|job| job.workload.rate.is_some()) {
            true => Metric::LatencyMean,
            false => Metric::Iops,
        }
    }

    /// The sensitivity of a check with this many repetitions; `None` if a load has only one run.
    pub fn sensitivity(&self) -> Option<Sensitivity> {
        sensitivity(&self.runs, self.metric(), REPETITIONS)
    }

    /// Cautions for each check: void values, few repetitions, temporary
    /// conditions of its measurement. Whole sentences.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let void = void_codes(&self.runs);
        if !void.is_empty() {
            let codes: Vec<&str> = void.iter().map(String::as_str).collect();
            cautions.push(format!(
                "VOID ({}): its numbers are not the disk's{}.",
                codes.join(", "),
                match self.void_accepted.is_empty() {
                    true => "; set a new one: `stripewise baseline set ID --replace`",
                    false => ", and it was accepted with --anyway",
                }
            ));
        }
        cautions.extend(doubts(&self.runs));
        let name = &self.name;
        let named = cautions.into_iter();
        named
            .map(|caution| format!("The baseline `{name}`: {caution}"))
            .collect()
    }

    /// Stores it, replacing one of the same name.
    pub fn keep(&self, context: &Context, store: &mut Store) -> Outcome<()> {
        store_document(context, store, KIND, &self.name, self)
    }

    fn of_json(document: &StoredDocument) -> Outcome<StoredBaseline> {
        let unreadable = |why: String| {
            Failure::new(
                Exit::Store,
                format!("the baseline {} cannot be read: {why}", document.name),
                format!(
                    "use the version of Stripewise that set it, or remove it with `stripewise baseline remove {}` and set it again",
                    document.name
                ),
            )
        };
        let mut stored: StoredBaseline =
            serde_json::from_str(&document.json).map_err(|error| unreadable(error.to_string()))?;
        if stored.schema_version != SCHEMA_VERSION {
            return Err(unreadable(format!(
                "it has schema version {}, and this program reads {SCHEMA_VERSION}",
                stored.schema_version
            )));
        }
        stored.bring_up_to_date();
        Ok(stored)
    }

    /// Adds the request to runs of earlier versions.
    fn bring_up_to_date(&mut self) {
        let legacy = std::mem::take(&mut self.legacy);
        for run in self.runs.iter_mut().filter(|run| run.request.is_none()) {
            let derived = run.request();
            run.request = Some(Box::new(Request {
                interval_ns: legacy.interval_ns.unwrap_or(derived.interval_ns),
                cache_size_bytes: legacy.cache_size_bytes.or(derived.cache_size_bytes),
                ..derived
            }));
        }
    }

    /// All of them, newest first.
    ///
    /// # Errors
    /// If the store, or one of them, cannot be read.
    pub fn all(store: &Store) -> Outcome<Vec<StoredBaseline>> {
        let documents = store.documents(KIND)?;
        documents.iter().map(StoredBaseline::of_json).collect()
    }

    /// The one of this name; without a name, the only one, or the one called
    /// `baseline`; `None` if there is none at all.
    ///
    /// # Errors
    /// If there is none of that name, or there are several and none was named.
    pub fn find(store: &Store, name: Option<&str>) -> Outcome<Option<StoredBaseline>> {
        let mut all = StoredBaseline::all(store)?;
        let names = all
            .iter()
            .map(|one| one.name.clone())
            .collect::<Vec<_>>()
            .join(", ");
        let wanted = match name {
            Some(name) => name,
            None if all.len() <= 1 => return Ok(all.pop()),
            None => NAME_USUAL,
        };
        match all.into_iter().find(|one| one.name == wanted) {
            Some(one) => Ok(Some(one)),
            None if name.is_none() => Err(Failure::usage(
                "there are several baselines",
                format!("name one with --baseline: {names}"),
            )),
            None => Err(Failure::usage(
                format!("there is no baseline `{wanted}`"),
                if names.is_empty() {
                    "`stripewise baseline set ID` makes one".to_owned()
                } else {
                    format!("the baselines are called: {names}")
                },
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_of_another_schema_is_refused_by_name() {
        let of_version = |version: u32| {
            StoredBaseline::of_json(&StoredDocument {
                name: "nightly".to_owned(),
                stored_at: String::new(),
                json: format!(
                    r#"{{"schema_version": {version}, "name": "nightly", "from": "x", "set_at": "", "runs": []}}"#
                ),
            })
        };
        assert!(of_version(SCHEMA_VERSION).is_ok());
        let failure = of_version(SCHEMA_VERSION + 1).unwrap_err();
        assert_eq!(failure.exit, Exit::Store);
        let text = failure.error.to_string();
        assert!(
            text.contains("nightly") && text.contains("schema version"),
            "{text}"
        );
    }

    #[test]
    fn what_an_earlier_version_stored_of_its_runs_is_read() {
        let json = r#"{"schema_version": 1, "name": "n", "from": "x", "set_at": "", "runs": [],
            "asked": {"interval_ns": 50000000, "cache_size_bytes": 1073741824}}"#;
        let baseline: StoredBaseline = serde_json::from_str(json).expect("a baseline");
        assert_eq!(baseline.legacy.interval_ns, Some(50_000_000));
        assert_eq!(baseline.legacy.cache_size_bytes, Some(1 << 30));
    }
}
