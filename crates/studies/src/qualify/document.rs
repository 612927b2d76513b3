//! What `qualify --json` prints.

use super::{Qualify, Verdict};
use crate::commit::{AtomicWrites, CommitRecord, CommitStudy};
use crate::product::{Confidence, Relation};
use crate::{Origin, Study};
use serde::Serialize;

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
    /// `ms`, `IOPS`, `commits/s` or `MiB/s`.
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

impl QualifyDocument {
    /// The document of a study so far.
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
            resumable: study.is_open() && !study.is_being_measured,
            seconds: study.seconds(),
            requirements: requirements.collect(),
            commit: study.commits().map_or_else(Vec::new, CommitStudy::records),
            atomic_writes: study
                .commits()
                .and_then(|commits| commits.atomic_writes().cloned()),
            warnings: warnings(study),
        }
    }

    /// Of a comparison of commit methods by itself.
    pub fn of_commits(study: &CommitStudy, origin: &Origin<'_>) -> QualifyDocument {
        let cautions = study.sheet().cautions.into_iter();
        QualifyDocument {
            schema_version: QUALIFY_SCHEMA_VERSION,
            id: origin.id.to_owned(),
            target: origin.target.to_owned(),
            started_at: origin.started_at.to_owned(),
            host: origin.host.to_owned(),
            product: "commit".to_owned(),
            verdict: Verdict::NotJudged,
            resumable: !study.is_whole() && !study.is_being_measured(),
            seconds: study.seconds(),
            requirements: Vec::new(),
            commit: study.records(),
            atomic_writes: study.atomic_writes().cloned(),
            warnings: cautions.map(|one| one.text).collect(),
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
