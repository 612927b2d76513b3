//! The records inside the page for download, up to a size suitable for a mail
//! attachment. They are compressed (gzip in base64): JSON shrinks to an
//! eighth, and the browser decompresses it on download.

use crate::escape::escaped;
use crate::material::Material;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use stripewise_results::{Document, Interval, RunRecord};

/// Maximum bytes of compressed records in a page.
const BYTES_MAX: usize = 128 << 10;
/// Maximum bytes of records before compression: compressing more takes long, and
/// only repetitive records would fit.
const PLAIN_BYTES_MAX: usize = 4 << 20;
/// More runs than this do not fit, whatever is left out of each.
const RUNS_MAX: usize = 400;
/// Numbers of intervals per job to try in turn: all, fewer, none.
const INTERVALS: [usize; 4] = [usize::MAX, 60, 12, 0];
/// Minimum bytes of an interval as JSON.
const INTERVAL_BYTES_MIN: usize = 200;

/// Compressed JSON records, and what was left out of them.
pub(super) struct Embedded {
    /// Gzip in base64.
    pub(super) packed: Option<String>,
    pub(super) left_out: &'static str,
}

pub(super) fn embedded(material: &Material) -> Embedded {
    let document = &material.document;
    let limits = INTERVALS
        .into_iter()
        .filter(|_| document.runs.len() <= RUNS_MAX);
    let mut tried = None;
    for limit in limits {
        // Not even tried if the intervals alone do not fit.
        let jobs = document.runs.iter().flat_map(|run| &run.jobs);
        let intervals: usize = jobs.map(|job| job.outcome.intervals.len().min(limit)).sum();
        let too_many = intervals > PLAIN_BYTES_MAX / INTERVAL_BYTES_MIN;
        // The same number has the same size.
        if too_many || tried.replace(intervals) == Some(intervals) {
            continue;
        }
        let json = serde_json::to_string(&with_intervals(document, limit)).ok();
        let packed = json
            .filter(|json| json.len() <= PLAIN_BYTES_MAX)
            .and_then(|json| packed(&json))
            .filter(|packed| packed.len() <= BYTES_MAX);
        if packed.is_some() {
            let left_out = match limit {
                usize::MAX => "",
                0 => "The records in this page are without their intervals. ",
                _ => "Neighbouring intervals are joined in the records of this page. ",
            };
            return Embedded { packed, left_out };
        }
    }
    left_out()
}

/// No records.
pub(super) fn left_out() -> Embedded {
    Embedded {
        packed: None,
        left_out: "The records are too many for this page. ",
    }
}

/// Deterministic: contains neither time nor name.
fn packed(json: &str) -> Option<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json.as_bytes()).ok()?;
    Some(STANDARD.encode(encoder.finish().ok()?))
}

fn with_intervals(document: &Document, limit: usize) -> Document {
    let run = |run: &RunRecord| {
        // Field by field, so that omitted fields are not copied first.
        let mut light = RunRecord {
            jobs: Vec::with_capacity(run.jobs.len()),
            ..run.clone()
        };
        for job in &run.jobs {
            let mut job = job.clone();
            job.outcome.intervals = joined(&job.outcome.intervals, limit);
            light.jobs.push(job);
        }
        light
    };
    Document {
        runs: document.runs.iter().map(run).collect(),
        schema_version: document.schema_version,
        series: document.series.clone(),
        comparisons: document.comparisons.clone(),
        requirements: document.requirements.clone(),
    }
}

/// Joins them to at most `limit` intervals.
fn joined(intervals: &[Interval], limit: usize) -> Vec<Interval> {
    if limit == 0 {
        return Vec::new();
    }
    let together = intervals.len().div_ceil(limit).max(1);
    let join = |group: &[Interval]| {
        group[1..]
            .iter()
            .fold(group[0], |joined, next| joined.joined_with(next, None))
    };
    intervals.chunks(together).map(join).collect()
}

pub(super) fn section(material: &Material, records: &Embedded) -> String {
    let name = material
        .document
        .runs
        .first()
        .map_or("stripewise", |run| run.series.as_deref().unwrap_or(&run.id));
    let mut html =
        "<section id=\"data\" aria-labelledby=\"data-title\"><h2 id=\"data-title\">Data</h2>\n"
            .to_owned();
    if records.packed.is_some() {
        html.push_str(&format!(
            "<p class=\"noprint\"><button type=\"button\" id=\"download\" data-name=\"{}.json\">Download the records as JSON</button></p>\n",
            escaped(&name.replace([':', '/', '\\'], "-"))
        ));
    }
    if !records.left_out.is_empty() || !material.again.is_empty() {
        html.push_str(&format!("<p>{}", escaped(records.left_out)));
        if !material.again.is_empty() {
            html.push_str(&format!(
                "In full: <code>{}</code>",
                escaped(&material.again)
            ));
        }
        html.push_str("</p>\n");
    }
    html.push_str("</section>\n");
    html
}
