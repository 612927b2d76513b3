//! What `qualify --json` prints.

use super::{Qualify, Verdict};
use crate::Origin;
use crate::product::{Confidence, Relation};
use serde::{Deserialize, Serialize};
use stripewise_results::{AtomicWriteFacts, TargetFacts};

/// Version of the document.
pub const QUALIFY_SCHEMA_VERSION: u32 = 1;

/// A qualification as a document.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct QualifyDocument {
    /// Incremented when a field is removed or changes its meaning.
    pub schema_version: u32,
    /// The name under which it is stored, and resumed.
    pub id: String,
    /// As typed.
    pub target: String,
    /// RFC 3339, UTC: when it began.
    pub started_at: String,
    /// Name of the machine that measured; empty where an earlier version began it.
    pub host: String,
    /// The product.
    #[serde(rename = "for")]
    pub product: String,
    /// The worst of the verdicts.
    pub verdict: Verdict,
    /// It can be resumed.
    pub resumable: bool,
    /// Seconds measured.
    pub seconds: u64,
    /// What is required, and measured.
    pub requirements: Vec<RequirementRecord>,
    /// Commit methods, where they were compared.
    pub commit: Vec<CommitRecord>,
    /// Writes that a loss of power does not tear, where commit methods were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomic_writes: Option<AtomicWrites>,
    /// What must be read with it: the assumptions too.
    pub warnings: Vec<String>,
}

/// A requirement with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RequirementRecord {
    /// Its name in the product's file.
    pub name: String,
    /// `p99`, `mean`, `iops`...
    pub metric: String,
    /// In `unit`; null where no number is published.
    pub threshold: Option<f64>,
    /// On which side of the threshold it must be; null where there is none.
    pub relation: Option<Relation>,
    /// `ms`, `IOPS` or `MiB/s`.
    pub unit: String,
    /// In short.
    pub source: String,
    /// Where it is; absent where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_url: String,
    /// When it was written or read.
    pub source_date: String,
    /// What it says; absent where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub quotation: String,
    /// How much it weighs; null where it is the reader's own.
    pub confidence: Option<Confidence>,
    /// In `unit`.
    pub measured: Option<f64>,
    /// Its interval at 95 %; of a percentile the nearest thresholds that are certain.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// What came of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// A commit method.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CommitRecord {
    /// `fdatasync`, `O_DSYNC`...
    pub method: String,
    /// `preallocated`, `growing` or `overwritten`.
    pub file: String,
    /// How many commit at once.
    pub committers: u32,
    /// One write and sync make the commits of all durable; else each syncs for itself.
    pub group_commit: bool,
    /// Commits a second.
    pub commits_per_s: f64,
    /// Its interval at 95 %.
    pub commits_per_s_low: Option<f64>,
    /// See `commits_per_s_low`.
    pub commits_per_s_high: Option<f64>,
    /// Of one commit; null of fewer than a thousand.
    pub latency_ns_p99: Option<u64>,
    /// Its interval at 95 %, over the runs.
    pub latency_ns_p99_low: Option<u64>,
    /// See `latency_ns_p99_low`.
    pub latency_ns_p99_high: Option<u64>,
}

/// What the kernel says of writes that a loss of power does not tear; null where it does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AtomicWrites {
    /// Name of the device.
    pub device_name: Option<String>,
    /// Of the device (its queue in sysfs).
    pub device: Option<AtomicWriteFacts>,
    /// Kind of the file system.
    pub file_system_name: Option<String>,
    /// Of a file on it (`statx`).
    pub file_system: Option<AtomicWriteFacts>,
}

impl AtomicWrites {
    /// Those of a real target; `None` for a simulated one.
    #[must_use]
    pub fn of(target: &TargetFacts) -> Option<AtomicWrites> {
        let (device, file_system) = (target.device.as_ref(), target.file_system.as_ref());
        (device.is_some() || file_system.is_some()).then(|| AtomicWrites {
            device_name: device.map(|device| device.name.clone()),
            device: device.and_then(|device| device.atomic_writes),
            file_system_name: file_system.map(|one| one.kind.clone()),
            file_system: file_system.and_then(|one| one.atomic_writes),
        })
    }

    /// The largest write that is never torn along the whole path; 0 if there is none, `None`
    /// if that is unknown.
    #[must_use]
    pub fn unit_max_bytes(&self) -> Option<u64> {
        let device = self.device?.unit_max_bytes;
        match &self.file_system_name {
            None => Some(device),
            // The kernel reports nothing for a file that has none.
            Some(_) => Some(device.min(self.file_system.map_or(0, |one| one.unit_max_bytes))),
        }
    }
}

impl QualifyDocument {
    /// The document of a study so far.
    #[must_use]
    pub fn of(study: &Qualify, origin: &Origin<'_>) -> QualifyDocument {
        let all = study.product().requirements.iter().zip(study.judgements());
        let requirements = all.map(|(one, judged)| RequirementRecord {
            name: one.name.clone(),
            metric: one.metric.name().to_owned(),
            threshold: one.limit.map(|_| study.limit_value(one)),
            relation: one.limit.map(|limit| limit.relation),
            unit: one.metric.unit().to_owned(),
            source: one.source.name.clone(),
            source_url: one.source.url.clone(),
            source_date: one.source.date.clone(),
            quotation: one.source.quotation.clone(),
            confidence: one.source.confidence,
            measured: judged.measured,
            low: judged.low,
            high: judged.high,
            verdict: judged.verdict,
            reason: judged.reason.clone(),
        });
        QualifyDocument {
            schema_version: QUALIFY_SCHEMA_VERSION,
            id: origin.id.to_owned(),
            target: origin.target.to_owned(),
            started_at: origin.started_at.to_owned(),
            host: origin.host.to_owned(),
            product: study.product().name.clone(),
            verdict: study.verdict(),
            resumable: study.is_open(),
            seconds: study.seconds(),
            requirements: requirements.collect(),
            commit: Vec::new(),
            atomic_writes: None,
            warnings: warnings(study),
        }
    }
}

fn warnings(study: &Qualify) -> Vec<String> {
    let cautions = super::sheet::cautions(study).into_iter();
    let cautions = cautions.map(|one| match one.of.is_empty() {
        true => one.text,
        false => format!("{} ({})", one.text, one.of),
    });
    study
        .stopped()
        .into_iter()
        .chain(cautions)
        .chain(study.product().notes.iter().cloned())
        .collect()
}
