//! Metrics for Prometheus: the run in progress, and the last results of each kind of load.

use crate::answer::{answer, words};
use crate::api::blocking;
use crate::state::App;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use std::collections::BTreeSet;
use std::fmt::Write;
use stripewise_campaign::live::{Cursor, Entry, Now, Query, last_runs, now};

/// Maximum number of stored runs searched for last results.
const RUNS_MAX: u32 = 200;

pub(crate) async fn metrics(State(shared): App) -> Response<Body> {
    let view = shared.view.clone();
    let read = blocking(move || {
        let query = Query {
            limit: Some(RUNS_MAX),
            ..Query::default()
        };
        Ok((now(&view, &Cursor::default())?, last_runs(&view, &query)?))
    });
    match read.await {
        Ok((now, runs)) => answer(
            StatusCode::OK,
            "text/plain; version=0.0.4; charset=utf-8",
            text(&now, &runs),
        ),
        Err(failure) => words(StatusCode::SERVICE_UNAVAILABLE, failure.chain()),
    }
}

/// The name of a metric, its description, and its samples: labels and value.
type Metric = (&'static str, &'static str, Vec<(String, f64)>);

fn text(now: &Now, runs: &[Entry]) -> String {
    let mut all: Vec<Metric> = vec![(
        "stripewise_runs_going_on",
        "Runs in progress",
        vec![(
            String::new(),
            now.runs.iter().filter(|run| !run.is_between).count() as f64,
        )],
    )];
    all.extend(going_on(now));
    all.extend(last_results(runs));
    let mut text = String::new();
    for (name, help, samples) in all {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    text
}

fn going_on(now: &Now) -> [Metric; 4] {
    let (mut rate, mut bytes, mut latency, mut in_flight) = (vec![], vec![], vec![], vec![]);
    for run in now.runs.iter().filter(|run| !run.is_between) {
        for job in &run.jobs {
            let Some(last) = job.intervals.last() else {
                continue;
            };
            let part = run.series_part.as_deref().unwrap_or_default();
            let of = [
                ("run", run.id.as_str()),
                ("job", &job.name),
                ("target", &job.target),
                ("part", part),
            ];
            rate.push((labels(&of), last.iops));
            bytes.push((labels(&of), last.mib_per_s * 1_048_576.0));
            in_flight.push((labels(&of), last.outstanding_mean));
            for (kind, latencies) in last.kinds() {
                let Some(latencies) = latencies else { continue };
                for (quantile, ns) in [
                    ("0.5", Some(latencies.latency_ns_p50)),
                    ("0.99", Some(latencies.latency_ns_p99)),
                    ("0.999", latencies.latency_ns_p999),
                    ("1", Some(latencies.latency_ns_max)),
                ] {
                    let of = [&of[..], &[("kind", kind), ("quantile", quantile)]].concat();
                    latency.extend(ns.map(|ns| (labels(&of), ns as f64 / 1e9)));
                }
            }
        }
    }
    [
        (
            "stripewise_operations_per_second",
            "Rate of the last interval",
            rate,
        ),
        ("stripewise_bytes_per_second", "The same in bytes", bytes),
        (
            "stripewise_latency_seconds",
            "Latencies of the last interval",
            latency,
        ),
        (
            "stripewise_operations_in_flight",
            "Operations in flight, on average",
            in_flight,
        ),
    ]
}

/// Results of the newest finished run for each target and load.
fn last_results(runs: &[Entry]) -> [Metric; 3] {
    let mut seen = BTreeSet::new();
    let (mut rate, mut latency, mut warnings) = (vec![], vec![], vec![]);
    for run in runs
        .iter()
        .filter(|run| run.tool.is_none() && run.is_finished())
    {
        for job in &run.jobs {
            let numbers = [
                job.block_size_bytes,
                u64::from(job.threads),
                u64::from(job.outstanding),
            ];
            let [block, threads, outstanding] = numbers.map(|number| number.to_string());
            let reads = job.read_percent.to_string();
            let discards = job.discard_percent.to_string();
            let of = [
                ("target", job.target.as_str()),
                ("part", run.series_part.as_deref().unwrap_or_default()),
                ("pattern", &job.pattern),
                ("read_percent", &reads),
                ("discard_percent", &discards),
                ("block_size_bytes", &block),
                ("threads", &threads),
                ("outstanding", &outstanding),
            ];
            if !seen.insert(labels(&of)) {
                continue;
            }
            rate.push((labels(&of), job.iops));
            warnings.push((labels(&of), run.warnings as f64));
            for (kind, ns) in job.latencies_ns_p99() {
                let of = [&of[..], &[("kind", kind)]].concat();
                latency.extend(ns.map(|ns| (labels(&of), ns as f64 / 1e9)));
            }
        }
    }
    [
        (
            "stripewise_last_operations_per_second",
            "Rate of the last finished run",
            rate,
        ),
        ("stripewise_last_latency_p99_seconds", "Its p99", latency),
        ("stripewise_last_warnings", "Its warnings", warnings),
    ]
}

/// `{target="/data",part="log"}`.
fn labels(all: &[(&str, &str)]) -> String {
    let each = all.iter().map(|(name, value)| {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace(['\n', '\r'], " ");
        format!("{name}=\"{value}\"")
    });
    format!("{{{}}}", each.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_targets_stay_inside_their_quotes() {
        let of = labels(&[("target", "a\"} 1\nx{y=\"\\")]);
        assert_eq!(of, "{target=\"a\\\"} 1 x{y=\\\"\\\\\"}");
    }
}
