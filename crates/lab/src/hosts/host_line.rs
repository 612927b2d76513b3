//! A part as a line of JSON: written by `export --histograms`, read by `merge`.
//!
//! The line is the exported record with an added field `histograms`: a list
//! with an object for each job, whose `intervals` have the fields of an interval and,
//! in base 64, its latencies as HdrHistogram V2 (`read`, `write`, `sync`, `discard`). A merged
//! record also has the lines of its hosts in a list `parts`: later merges
//! need them.

use super::host_part::{HostPart, Latencies, PartInterval, PartJob};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use stripewise_results::{Interval, RunRecord};
use stripewise_stats::Histogram;
use thiserror::Error;

/// Why a line is not a part.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LineError {
    /// Invalid JSON, or not a record.
    #[error("not a record: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A record without histograms.
    #[error("run {run} comes without its histograms")]
    Bare {
        /// Its id.
        run: String,
    },
    /// A merged record without the parts it was made from.
    #[error("run {run} was merged, and comes without the runs of its hosts")]
    Merged {
        /// Its id.
        run: String,
    },
    /// Histograms of other jobs than the record's.
    #[error("run {run} has {jobs} jobs, and histograms of {found}")]
    Jobs {
        /// Its id.
        run: String,
        /// Jobs of the record.
        jobs: usize,
        /// Jobs with histograms.
        found: usize,
    },
}

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct JobLine {
    #[schemars(with = "Vec<IntervalLine>")]
    intervals: Vec<PartInterval>,
}

/// An interval as written.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct IntervalLine {
    #[serde(flatten)]
    interval: Interval,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    read: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    write: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    sync: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    discard: String,
}

impl Serialize for PartInterval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = IntervalLine {
            interval: self.interval,
            read: STANDARD.encode(&self.latencies.read),
            write: STANDARD.encode(&self.latencies.write),
            sync: STANDARD.encode(&self.latencies.sync),
            discard: STANDARD.encode(&self.latencies.discard),
        };
        line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PartInterval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = IntervalLine::deserialize(deserializer)?;
        let start_ns = line.interval.start_ns;
        interval_of(&line).ok_or_else(|| {
            D::Error::custom(format!(
                "the histograms of the interval at {start_ns} ns are damaged"
            ))
        })
    }
}

/// A record with the intervals of its jobs and, if it was merged, the parts that it was
/// made from; on one line without a line break.
pub fn to_line(
    run: &RunRecord,
    jobs: &[PartJob],
    parts: &[HostPart],
) -> Result<String, serde_json::Error> {
    let mut value = value_of(run, jobs)?;
    if let Some(object) = value.as_object_mut().filter(|_| !parts.is_empty()) {
        let parts = parts.iter().map(|part| value_of(&part.run, &part.jobs));
        object.insert("parts".to_owned(), parts.collect::<Result<Value, _>>()?);
    }
    serde_json::to_string(&value)
}

fn value_of(run: &RunRecord, jobs: &[PartJob]) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(run)?;
    let jobs = jobs.iter().map(|job| JobLine {
        intervals: job.intervals.clone(),
    });
    let jobs: Vec<JobLine> = jobs.collect();
    if let Some(object) = value.as_object_mut() {
        object.insert("histograms".to_owned(), serde_json::to_value(jobs)?);
    }
    Ok(value)
}

/// Reads what [`to_line`] wrote: the part, or those that a merged record was made from.
pub fn from_line(line: &str) -> Result<Vec<HostPart>, LineError> {
    let mut value: Value = serde_json::from_str(line)?;
    match value.get_mut("parts").map(Value::take) {
        Some(Value::Array(parts)) => parts.into_iter().map(part_of).collect(),
        _ => Ok(vec![part_of(value)?]),
    }
}

fn part_of(mut value: Value) -> Result<HostPart, LineError> {
    let histograms = value.get_mut("histograms").map(Value::take);
    let run: RunRecord = serde_json::from_value(value)?;
    let Some(histograms) = histograms else {
        return Err(LineError::Bare { run: run.id });
    };
    if run.merged.is_some() {
        return Err(LineError::Merged { run: run.id });
    }
    let lines: Vec<JobLine> = serde_json::from_value(histograms)?;
    if lines.len() != run.jobs.len() {
        return Err(LineError::Jobs {
            jobs: run.jobs.len(),
            found: lines.len(),
            run: run.id,
        });
    }
    let jobs = lines.into_iter().map(|line| PartJob {
        intervals: line.intervals,
    });
    let jobs = jobs.collect();
    Ok(HostPart::new(run, jobs))
}

fn interval_of(line: &IntervalLine) -> Option<PartInterval> {
    let bytes = |text: &str| {
        let bytes = STANDARD.decode(text).ok()?;
        let is_whole = bytes.is_empty() || Histogram::from_v2(&bytes).is_ok();
        is_whole.then_some(bytes)
    };
    Some(PartInterval {
        interval: line.interval,
        latencies: Latencies {
            read: bytes(&line.read)?,
            write: bytes(&line.write)?,
            sync: bytes(&line.sync)?,
            discard: bytes(&line.discard)?,
        },
    })
}
