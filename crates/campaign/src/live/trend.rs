//! How a target changed: the same load on the same target over time, with the steps in it.

use super::history::{Entry, EntryJob, Query, history};
use super::{View, store};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use stripewise_conductor::failure::Outcome;
use stripewise_lab::SeriesKind;
use stripewise_results::{Load, LoadKey, RequestedJob};
use stripewise_stats::{ChangePointRule, change_points};
use stripewise_store::{Store, StoredDocument};
use stripewise_units::ByteSize;
use stripewise_workload::operation_name;

/// Maximum number of runs used.
const RUNS_MAX: u32 = 20_000;
/// Maximum number of trends shown, those with the most results first.
const TRENDS_MAX: usize = 60;
/// Fewer results are not a trend.
const POINTS_MIN: usize = 2;
/// Smaller steps are not mentioned.
const STEP_MIN: f64 = 0.05;

/// Trends and stored baselines.
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
    /// The load in words: `random read, 8K, 4 x 8`, of benches `random-read, 8K`, and what of
    /// it is not as usual. Trends of one target and machine are of different words.
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
pub fn trends(view: &View, target: &str) -> Outcome<Trends> {
    let query = Query {
        target: (!target.is_empty()).then(|| target.to_owned()),
        limit: Some(RUNS_MAX),
        ..Query::default()
    };
    let mut runs = history(view, &query)?;
    runs.reverse();
    let Some(store) = store(view)? else {
        return Ok(Trends {
            trends: Vec::new(),
            baselines: Vec::new(),
        });
    };
    let mut gathered = gathered(&store, &runs);
    gathered.retain(|one| one.trend.points.len() >= POINTS_MIN);
    gathered.sort_by_key(|one| std::cmp::Reverse(one.trend.points.len()));
    gathered.truncate(TRENDS_MAX);
    distinguish(&mut gathered);
    let mut trends: Vec<Trend> = gathered.into_iter().map(|one| one.trend).collect();
    for trend in &mut trends {
        let rates: Vec<f64> = trend.points.iter().map(|point| point.iops).collect();
        trend.changes = changes(&rates);
    }
    let mut baselines = Vec::new();
    let mut see = |document| baselines.push(stored(document));
    // As of runs, those that can be read are shown.
    store.each_readable_document("baseline", &mut see)?;
    Ok(Trends { trends, baselines })
}

fn stored(document: StoredDocument) -> KeptBaseline {
    KeptBaseline {
        name: document.name,
        set_at: document.stored_at,
    }
}

/// A trend, and the details of its load beyond its name.
struct LoadTrend {
    trend: Trend,
    engine: String,
    starts_at: String,
}

/// Each distinct load, with its results in chronological order.
fn gathered(store: &Store, runs: &[Entry]) -> Vec<LoadTrend> {
    let candidates: Vec<(&Entry, &EntryJob)> = runs
        .iter()
        .filter(|run| run.is_finished() && run.tool.is_none() && !differs_on_purpose(run))
        .filter_map(|run| match &run.jobs[..] {
            [job] => Some((run, job)),
            _ => None,
        })
        .collect();
    // For loads measured once, the list's fields suffice: their records are not read.
    let mut sessions: HashMap<(&str, &str, String), BTreeSet<&str>> = HashMap::new();
    for (run, job) in &candidates {
        let key = (
            job.target.as_str(),
            run.host.as_str(),
            load_in_list(run, job),
        );
        sessions.entry(key).or_default().insert(session_of(run));
    }
    let mut legacy = RequestLookup::new(store);
    let mut places: HashMap<LoadKey, usize> = HashMap::new();
    let mut all: Vec<LoadTrend> = Vec::new();
    for (run, job) in candidates {
        let key = (
            job.target.as_str(),
            run.host.as_str(),
            load_in_list(run, job),
        );
        if sessions[&key].len() < POINTS_MIN {
            continue;
        }
        let Some(of_run) = legacy.of(run) else {
            continue;
        };
        let load = Load::of_request((&run.host, ladder_part(run)), &of_run);
        let index = *places.entry(load.key()).or_insert(all.len());
        if index == all.len() {
            all.push(LoadTrend {
                trend: Trend {
                    target: load.target.full_name().to_owned(),
                    host: run.host.clone(),
                    load: in_words(key.2, &load),
                    points: Vec::new(),
                    changes: Vec::new(),
                },
                engine: load.engine.to_owned(),
                starts_at: load.starts_at(),
            });
        }
        add(&mut all[index].trend, run, job);
    }
    all
}

/// Requested parameters of runs, which only their records contain. A damaged record gives
/// nothing.
struct RequestLookup<'a> {
    store: &'a Store,
    /// The most recently used ladder: its steps differ in threads and outstanding.
    ladder: Option<(String, Option<String>, Rc<RequestedJob>)>,
}

impl<'a> RequestLookup<'a> {
    fn new(store: &'a Store) -> Self {
        RequestLookup {
            store,
            ladder: None,
        }
    }

    fn of(&mut self, run: &Entry) -> Option<Rc<RequestedJob>> {
        let of_ladder = ladder_part(run).and(run.series.as_ref());
        if let (Some(series), Some((known, part, legacy))) = (of_ladder, &self.ladder)
            && (series, &run.series_part) == (known, part)
        {
            return Some(Rc::clone(legacy));
        }
        let jobs = self.store.load_requested(&run.id).ok()?;
        let legacy = Rc::new(jobs.into_iter().next()?);
        if let Some(series) = of_ladder {
            let part = run.series_part.clone();
            self.ladder = Some((series.clone(), part, Rc::clone(&legacy)));
        }
        Some(legacy)
    }
}

/// Appends unusual parameters to the name in the list.
fn in_words(in_list: String, load: &Load<'_>) -> String {
    let size = load.workload.size_bytes;
    let size = size.map(|bytes| format!("{} of it", ByteSize(bytes)));
    let more = load.particulars().into_iter().chain(size);
    std::iter::once(in_list)
        .chain(more)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Appends engine and start of the target to equal names, if
/// these differ.
fn distinguish(all: &mut [LoadTrend]) {
    let mut more = vec![String::new(); all.len()];
    for (one, words) in all.iter().zip(&mut more) {
        let name = |trend: &Trend| (trend.target.clone(), trend.host.clone(), trend.load.clone());
        let own = name(&one.trend);
        let same: Vec<&LoadTrend> = all.iter().filter(|two| name(&two.trend) == own).collect();
        for of in [
            |one: &LoadTrend| one.engine.clone(),
            |one: &LoadTrend| one.starts_at.clone(),
        ] {
            if same.iter().any(|two| of(two) != of(one)) && !of(one).is_empty() {
                words.push_str(", ");
                words.push_str(&of(one));
            }
        }
    }
    for (one, words) in all.iter_mut().zip(more) {
        one.trend.load.push_str(&words);
    }
}

/// The group of a result: a run of its own, or the ladder of a bench.
fn session_of(run: &Entry) -> &str {
    run.series.as_deref().unwrap_or(&run.id)
}

/// Adds a result: a run of its own, or the run with the highest rate of a ladder.
fn add(trend: &mut Trend, run: &Entry, job: &EntryJob) {
    let point = TrendPoint {
        id: session_of(run).to_owned(),
        started_at: run.started_at.clone(),
        label: run.label.clone(),
        iops: job.iops,
        // For a mix, the slowest kind, since no value applies to all.
        latency_ns_p99: (job.latencies_ns_p99().into_iter())
            .filter_map(|(_, ns)| ns)
            .max(),
        warnings: run.warnings,
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

/// Runs of an experiment: if one target has several layouts or offsets, no two of its
/// runs have the same load.
fn differs_on_purpose(run: &Entry) -> bool {
    let part = run.series_part.as_deref();
    part.is_some_and(|part| ["align", "advise", "lab", "precondition"].contains(&part))
}

/// The part of a bench, whose load is a ladder. Runs of other series have various loads,
/// which identify them.
fn ladder_part(run: &Entry) -> Option<&str> {
    let part = run.series_part.as_deref()?;
    SeriesKind::from_name(part).map(|_| part)
}

/// `random read, 8K, 4 x 8`; for a step of a bench `random-read, 8K`.
fn load_in_list(run: &Entry, job: &EntryJob) -> String {
    let block = ByteSize(job.block_size_bytes);
    if let Some(part) = ladder_part(run) {
        return format!("{part}, {block}");
    }
    let kind = operation_name(job.read_percent, job.discard_percent);
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
