//! Runs and jobs.

use crate::faults::Verification;
use crate::replay::FidelityRecord;
use crate::{
    ComparisonRecord, EngineFacts, HostFacts, Imported, JobOutcome, KindOutcome, MergedRecord,
    ProcessorUse, RequirementRecord, SeriesRecord, StartRecord, SustainedRecord, TargetFacts,
    Warning,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};
use stripewise_workload::{Request, Workload};

/// Version of the JSON document and of the records in the store. Increased when a field changes its
/// meaning or is removed; new optional fields do not increase it.
pub const SCHEMA_VERSION: u32 = 1;

/// What `--json` prints for runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// In the order they ran.
    pub runs: Vec<RunRecord>,
    /// Summaries of the series that these runs belong to, if complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesRecord>,
    /// Results of comparing these runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<ComparisonRecord>,
    /// Requirements for these runs, and whether they were met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementRecord>,
}

/// Suffix of a series' name: its runs at a required rate.
pub const AT_RATE: &str = "-at-rate";
/// Suffix of a series' name: the pilot of its load.
pub const PILOT: &str = "-pilot";

stripewise_units::named! {
    /// How a run ended.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// In progress, or its process died before it could finish.
        Running = "running",
        /// Ran as requested.
        #[default]
        Complete = "complete",
        /// Interrupted, killed or failed; what was measured until then is kept.
        Partial = "partial",
    }
}

/// Position of a run in an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentPlace {
    /// Id of the experiment.
    pub experiment: String,
    /// Block, from 0: runs of one block are compared with each other.
    pub block: u32,
    /// Position in the order of the block's runs, from 0.
    pub position: u32,
    /// The level of the factor under test, as in its column heading: `31.5K`.
    pub level: String,
    /// The workload cell, from 0, in the order of the plan.
    pub cell: u32,
}

/// One or more concurrent jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct RunRecord {
    /// Unique, sorts by time, safe in a shell: `20261121-201530-k3f9`.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// How it ended.
    pub status: Status,
    /// Why it is partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_because: Option<String>,
    /// The user's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The command line that made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The request: running it again repeats the measurement. Absent in records of earlier versions
    /// and of other tools; see [`RunRecord::asked`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<Request>>,
    /// The program's version.
    pub version: String,
    /// Id of the series (ladder, grid, bench) that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Name of its part in the series: `random-read`, `log`...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series_part: Option<String>,
    /// The random block it belongs to, from 0, if it was run after the climb of its series, for the
    /// answer. Absent for the steps of the climb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_block: Option<u32>,
    /// Its position in an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentPlace>,
    /// What an earlier pilot of its load found about caches. Absent if there was none: for loads
    /// that read, single runs, and records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Box<SustainedRecord>>,
    /// For another tool's result: its source and what it lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The latency limit that its series answers, as typed: `p99<5ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_limit: Option<String>,
    /// When it began to measure, on its host's clock. Absent in records of earlier versions, of
    /// other tools, and of simulated arrays without an agreed start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Box<StartRecord>>,
    /// Present if it was merged from the records of several hosts: its jobs are their sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Box<MergedRecord>>,
    /// The machine.
    pub host: HostFacts,
    /// Activity of each of the host's processors from the opening of the targets to the end of the
    /// run, for all processes. Empty if the system does not report it, for simulated arrays, and in
    /// records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<ProcessorUse>,
    /// Result of verifying its data, if run with `--verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<Verification>>,
    /// For a replay: its similarity to the recording, as in `outcome.replay` of its job. Absent if
    /// that was not judged, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Box<FidelityRecord>>,
    /// Its jobs.
    pub jobs: Vec<JobRecord>,
    /// Warnings about the run as a whole.
    pub warnings: Vec<Warning>,
}

/// One workload on one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobRecord {
    /// Unique in its run.
    pub name: String,
    /// The target.
    pub target: TargetFacts,
    /// The others, where the job works on several at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_targets: Vec<TargetFacts>,
    /// The requested workload.
    pub workload: Workload,
    /// The engine used.
    pub engine: EngineFacts,
    /// Its results.
    pub outcome: JobOutcome,
    /// Warnings about this job.
    pub warnings: Vec<Warning>,
}

impl RunRecord {
    /// Whether it is an open-loop run at a rate required of its series: it decides that
    /// requirement, and is not used for anything else.
    pub fn is_at_required_rate(&self) -> bool {
        let part = self.series_part.as_deref();
        part.is_some_and(|part| part.ends_with(AT_RATE))
    }

    /// Whether it only prepared a target for the following series, by overwriting it: its rate and
    /// latencies are not results.
    pub fn is_precondition(&self) -> bool {
        self.series_part.as_deref() == Some("precondition")
    }

    /// Whether it only determined what a cache absorbs, before the runs of its series.
    pub fn is_pilot(&self) -> bool {
        let part = self.series_part.as_deref();
        part.is_some_and(|part| part.ends_with(PILOT))
    }

    /// Whether its rate and latencies are not results: it prepared a target, or tested for a cache.
    pub fn is_preparation(&self) -> bool {
        self.is_precondition() || self.is_pilot()
    }

    /// The record without the intervals of its jobs, which are most of its size.
    #[must_use]
    pub fn without_intervals(mut self) -> RunRecord {
        for job in &mut self.jobs {
            job.outcome.intervals = Vec::new();
        }
        self
    }

    /// The record without its histograms; what was derived from them stays.
    #[must_use]
    pub fn without_histograms(mut self) -> RunRecord {
        for job in &mut self.jobs {
            let outcome = &mut job.outcome;
            outcome.read.histogram = None;
            outcome.write.histogram = None;
            let others = [&mut outcome.sync, &mut outcome.discard, &mut outcome.commit];
            let others = others.into_iter().flatten();
            others.for_each(|kind| kind.histogram = None);
        }
        self
    }

    /// An empty record: for importers, which then fill in what their source gives.
    pub fn empty() -> RunRecord {
        RunRecord::default()
    }
}

impl RunRecord {
    /// Equal for copies of one result only. Runs measured here have their own ids; for another
    /// tool's result, its content counts.
    pub fn identity(&self) -> u128 {
        let imported = self.imported.as_ref();
        if let Some(known) = imported.and_then(|imported| imported.identity) {
            return known;
        }
        let mut digest = Digest::default();
        // Writing to a digest cannot fail.
        let _ = match imported.filter(|from| from.tool != "dataset") {
            Some(imported) => {
                let stated = (&imported.tool, &imported.details, &self.started_at);
                serde_json::to_writer(&mut digest, &(stated, &self.jobs))
            }
            None => {
                let rates: Vec<f64> = self.jobs.iter().map(|job| job.outcome.iops).collect();
                serde_json::to_writer(&mut digest, &(&self.id, &self.series_part, rates))
            }
        };
        digest.value()
    }

    /// Without values of another tool's result that records have no field for: little of it is
    /// shown for many results. Its identity stays.
    #[must_use]
    pub fn without_details(mut self) -> RunRecord {
        let identity = self.identity();
        if let Some(imported) = &mut self.imported {
            imported.details = None;
            imported.identity = Some(identity);
        }
        self
    }
}

/// A 128-bit digest of the data written to it: different data has different digests, unless
/// constructed otherwise on purpose.
#[derive(Default)]
struct Digest([DefaultHasher; 2]);

impl Digest {
    fn value(mut self) -> u128 {
        self.0[1].write_u8(1);
        let [high, low] = self.0.map(|half| half.finish());
        u128::from(high) << 64 | u128::from(low)
    }
}

impl std::io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.iter_mut().for_each(|half| half.write(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl JobRecord {
    /// The targets as one text: the first, and the second or how many more there are.
    pub fn target_names(&self) -> String {
        self.names_by(|facts| &facts.name)
    }

    /// The kind whose latency represents the job: writes if it reads nothing, discards if it does
    /// nothing else, otherwise reads.
    pub fn leading(&self) -> &KindOutcome {
        let (outcome, workload) = (&self.outcome, &self.workload);
        match (&outcome.discard, workload.read_percent) {
            (Some(discard), 0) if workload.discard_percent == 100 => discard,
            (_, 0) => &outcome.write,
            _ => &outcome.read,
        }
    }

    /// The same with names that mean the same from any directory: distinguishes two runs.
    pub fn full_target_names(&self) -> String {
        self.names_by(TargetFacts::full_name)
    }

    fn names_by(&self, name: impl Fn(&TargetFacts) -> &str) -> String {
        let first = name(&self.target);
        match self.further_targets.as_slice() {
            [] => first.to_owned(),
            [second] => format!("{first} and {}", name(second)),
            more => format!("{first} and {} more", more.len()),
        }
    }

    /// `random`, `sequential` or `stride`: the workload's `pattern` in JSON.
    pub fn pattern_name(&self) -> &'static str {
        match self.workload.recorded {
            Some(_) => "replayed",
            None => self.workload.pattern.name(),
        }
    }

    /// `random read`, `sequential write`, `random 70 % read`.
    pub fn load_name(&self) -> String {
        format!("{} {}", self.pattern_name(), self.workload.operation_name())
    }
}
