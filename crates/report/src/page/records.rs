//! The records inside the page, to be downloaded: as much of them as a mail
//! attachment should weigh.

use super::escaped;
use crate::material::Material;
use stripewise_results::{Document, Interval, RunRecord};

/// Bytes of records in a page.
const BYTES_MAX: usize = 192 << 10;
/// More runs than this do not fit, whatever is left out of each.
const RUNS_MAX: usize = 1_000;
/// Intervals of a job that are tried in turn: all, fewer, none.
const INTERVALS: [usize; 3] = [usize::MAX, 12, 0];

/// Records as JSON, and what was left out of them.
pub(super) struct Embedded {
    pub(super) json: Option<String>,
    pub(super) left_out: &'static str,
}

pub(super) fn embedded(material: &Material) -> Embedded {
    let document = &material.document;
    if document.runs.len() <= RUNS_MAX {
        for limit in INTERVALS {
            // Not even tried where the intervals alone would not fit.
            let intervals: usize = document
                .runs
                .iter()
                .flat_map(|run| &run.jobs)
                .map(|job| job.outcome.intervals.len().min(limit))
                .sum();
            if intervals > BYTES_MAX / 100 {
                continue;
            }
            let json = serde_json::to_string(&with_intervals(document, limit)).ok();
            if let Some(json) = json.filter(|json| json.len() <= BYTES_MAX) {
                let left_out = match limit {
                    usize::MAX => "",
                    0 => "The records in this page are without their intervals. ",
                    _ => "Neighbouring intervals are joined in the records of this page. ",
                };
                return Embedded {
                    json: Some(json),
                    left_out,
                };
            }
        }
    }
    Embedded {
        json: None,
        left_out: "The records are too many for this page. ",
    }
}

fn with_intervals(document: &Document, limit: usize) -> Document {
    let run = |run: &RunRecord| {
        // Field by field, so that what is left out is not copied first.
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
    }
}

/// At most `limit` intervals.
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
    if records.json.is_some() {
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
