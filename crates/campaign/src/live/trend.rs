//! How a target changed: the same load on the same target over time, with the steps in it.

use super::history::{Entry, EntryJob, Query, history};
use super::{View, store};
use crate::context::store_failure;
use crate::failure::Outcome;
use serde::Serialize;
use stripewise_lab::SeriesKind;
use stripewise_stats::{ChangePointRule, change_points};
use stripewise_store::KeptDocument;

/// Runs that are looked at.
const RUNS_MAX: u32 = 20_000;
/// Trends that are shown, those of most results first.
const TRENDS_MAX: usize = 60;
/// Fewer results are no trend.
const POINTS_MIN: usize = 2;
/// Steps that are smaller are not worth a word.
const STEP_MIN: f64 = 0.05;

/// Trends and what is kept as baselines.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Trends {
    /// Those of most results first.
    pub trends: Vec<Trend>,
    /// Baselines, the newest first.
    pub baselines: Vec<KeptBaseline>,
}

/// The same load on the same target over time.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Trend {
    /// As the user named it.
    pub target: String,
    /// The machine.
    pub host: String,
    /// `random-read` of benches, or the load in words.
    pub load: String,
    /// Results in order of time.
    pub points: Vec<TrendPoint>,
    /// Where the rate changed.
    pub changes: Vec<ChangeOf>,
}

/// A result.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TrendPoint {
    /// The run, or of a bench its series.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Operations a second; of a ladder the highest.
    pub iops: f64,
    /// p99 there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<u64>,
    /// Warnings of the runs.
    pub warnings: u64,
}

/// A step.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ChangeOf {
    /// Index of the first point behind it.
    pub index: usize,
    /// Mean rate before.
    pub before: f64,
    /// Mean rate after.
    pub after: f64,
    /// Chance of such a step where nothing changed; not corrected for having looked for it.
    pub p_value: f64,
}

/// A baseline.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct KeptBaseline {
    /// Its name.
    pub name: String,
    /// RFC 3339, UTC.
    pub set_at: String,
}

/// All trends of the targets whose name contains `target`.
///
/// # Errors
/// Where the store cannot be read.
pub fn trends(view: &View, target: &str) -> Outcome<Trends> {
    let query = Query {
        target: (!target.is_empty()).then(|| target.to_owned()),
        limit: Some(RUNS_MAX),
        ..Query::default()
    };
    let mut runs = history(view, &query)?;
    runs.reverse();
    let mut trends: Vec<Trend> = Vec::new();
    for run in runs
        .iter()
        .filter(|run| run.is_finished() && run.tool.is_none() && !differs_on_purpose(run))
    {
        if let [job] = &run.jobs[..] {
            add(&mut trends, run, job);
        }
    }
    trends.retain(|trend| trend.points.len() >= POINTS_MIN);
    trends.sort_by_key(|trend| std::cmp::Reverse(trend.points.len()));
    trends.truncate(TRENDS_MAX);
    for trend in &mut trends {
        let rates: Vec<f64> = trend.points.iter().map(|point| point.iops).collect();
        trend.changes = changes(&rates);
    }
    let baselines = match store(view)? {
        Some(store) => store.documents("baseline").map_err(store_failure)?,
        None => Vec::new(),
    };
    Ok(Trends {
        trends,
        baselines: baselines.into_iter().map(kept).collect(),
    })
}

fn kept(document: KeptDocument) -> KeptBaseline {
    KeptBaseline {
        name: document.name,
        set_at: document.kept_at,
    }
}

/// A run of its own is a result; of a ladder the run of the highest rate is.
fn add(trends: &mut Vec<Trend>, run: &Entry, job: &EntryJob) {
    let point = TrendPoint {
        id: run.series.clone().unwrap_or_else(|| run.id.clone()),
        started_at: run.started_at.clone(),
        label: run.label.clone(),
        iops: job.iops,
        // Of a mix the slowest kind: no value is that of all.
        latency_ns_p99: (job.latencies_ns_p99().into_iter())
            .filter_map(|(_, ns)| ns)
            .max(),
        warnings: run.warnings,
    };
    let load = load(run, job);
    let same = |trend: &&mut Trend| {
        trend.target == job.target && trend.host == run.host && trend.load == load
    };
    let Some(trend) = trends.iter_mut().find(same) else {
        trends.push(Trend {
            target: job.target.clone(),
            host: run.host.clone(),
            load,
            points: vec![point],
            changes: Vec::new(),
        });
        return;
    };
    let of_ladder = ladder_part(run).is_some();
    match trend.points.last_mut() {
        Some(last) if of_ladder && last.id == point.id => {
            let warnings = last.warnings + point.warnings;
            if point.iops > last.iops {
                *last = point;
            }
            last.warnings = warnings;
        }
        _ => trend.points.push(point),
    }
}

/// Of an experiment: where one target has several layouts or offsets, no two of its
/// runs are the same load again.
fn differs_on_purpose(run: &Entry) -> bool {
    let part = run.series_part.as_deref();
    part.is_some_and(|part| ["align", "advise", "lab", "precondition"].contains(&part))
}

/// The part of a bench, whose load is a ladder. Other series have runs of several loads,
/// which are known by those.
fn ladder_part(run: &Entry) -> Option<&str> {
    let part = run.series_part.as_deref()?;
    SeriesKind::from_name(part).map(|_| part)
}

fn load(run: &Entry, job: &EntryJob) -> String {
    let block = stripewise_units::ByteSize(job.block_size_bytes);
    if let Some(part) = ladder_part(run) {
        return format!("{part}, {block}");
    }
    let kind = match (job.read_percent, job.discard_percent) {
        (100, _) => "read".to_owned(),
        (0, 0) => "write".to_owned(),
        (_, 100) => "discard".to_owned(),
        (percent, 0) => format!("{percent} % read"),
        (percent, discards) => format!("{percent} % read, {discards} % discard"),
    };
    format!(
        "{} {kind}, {block}, {} x {}",
        job.pattern, job.threads, job.outstanding
    )
}

fn changes(rates: &[f64]) -> Vec<ChangeOf> {
    let rule = ChangePointRule {
        magnitude_min: STEP_MIN,
        ..ChangePointRule::default()
    };
    let found = change_points(rates, &rule);
    let each = found.into_iter().map(|step| ChangeOf {
        index: step.index,
        before: step.mean_before,
        after: step.mean_after,
        p_value: step.p_value,
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_a_history_is_found_and_noise_is_none() {
        let noise = |at: usize| ((at * 7919) % 13) as f64;
        let even: Vec<f64> = (0..24).map(|at| 1_000.0 + noise(at)).collect();
        assert!(changes(&even).is_empty());
        let halved: Vec<f64> = even
            .iter()
            .enumerate()
            .map(|(at, rate)| if at < 12 { *rate } else { rate / 2.0 })
            .collect();
        let found = changes(&halved);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].index, 12);
    }
}
