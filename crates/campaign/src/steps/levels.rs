//! Compares the levels of one subject: of an experiment by its own analysis, of
//! a published table with the printed differences. Used by `compare` and by
//! every report on such a subject.

use crate::steps::answer::Answer;
use crate::steps::stored_experiment::StoredExperiment;
use crate::steps::subject::{Subject, SubjectKind};
use std::collections::BTreeSet;
use stripewise_compat::dataset::Dataset;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::{
    CompareOptions, NothingToCompare, Question, Side, compare_all, levels_of,
};
use stripewise_lab::experiment::{Experiment, ExperimentPlan, Metric, blocks_of};
use stripewise_results::{ComparisonRecord, ComparisonRow};
use stripewise_units::with_raid_words;

/// Parameters of a comparison of levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelOptions {
    /// The metric; `None`: IOPS.
    pub metric: Option<Metric>,
    /// The level that the others are compared with; `None`: the first.
    pub baseline: Option<String>,
}

/// The comparison in a report on a subject with levels: like `compare A` alone. Empty
/// if it has none, or they cannot be compared.
pub fn levels_compared(context: &Context, a: &Subject) -> Vec<ComparisonRecord> {
    // Beside those of an experiment that writes are runs without a level, which looked for caches.
    let places = a.runs.iter().filter_map(|run| run.experiment.as_ref());
    let levels = match a.kind {
        SubjectKind::Experiment => places
            .map(|place| &place.level)
            .collect::<BTreeSet<_>>()
            .len(),
        _ => levels_of(&a.runs).len(),
    };
    if levels < 2 {
        return Vec::new();
    }
    // By the experiment's metric, which may be a latency.
    let stored = experiment_of(context, a).ok().flatten();
    let metric = stored.map_or(Metric::default(), |stored| stored.plan.metric);
    let level_options = LevelOptions {
        metric: Some(metric),
        baseline: None,
    };
    alone(context, a, &level_options).unwrap_or_default()
}

/// The experiment of a subject, if its plan is stored.
fn experiment_of(context: &Context, a: &Subject) -> Outcome<Option<StoredExperiment>> {
    if let Some(carried) = &a.experiment {
        return Ok(Some(StoredExperiment::clone(carried)));
    }
    if a.kind != SubjectKind::Experiment {
        return Ok(None);
    }
    let store = context.open_store_to_read()?;
    if !StoredExperiment::is_known(&store, &a.name)? {
        return Ok(None);
    }
    StoredExperiment::load(&store, &a.name).map(Some)
}

/// A metric as typed: `latency_p99` and `p99` are `latency_ns_p99`.
///
/// # Errors
/// If there is no such metric.
pub fn metric(text: &str) -> Outcome<Metric> {
    let short = text.strip_prefix("latency_").unwrap_or(text);
    let short = short
        .strip_prefix("ns_")
        .unwrap_or(short)
        .replace("p99.9", "p999");
    text.parse()
        .or_else(|_| format!("latency_ns_{short}").parse())
        .map_err(|_| {
            Failure::usage(
                format!("`{text}` is not a metric"),
                "use iops, mib_per_s, or latency_ with mean, p50, p90, p95, p99, p999 or max: latency_p99",
            )
        })
}

/// The failure if sides have nothing to compare.
pub fn nothing(reason: &NothingToCompare) -> Failure {
    Failure::usage(reason.to_string(), reason.hint())
}

/// Compares the levels of one subject with its baseline.
///
/// # Errors
/// If it has no levels, or not the requested one.
pub fn alone(
    context: &Context,
    a: &Subject,
    level_options: &LevelOptions,
) -> Outcome<Vec<ComparisonRecord>> {
    let options = CompareOptions {
        metric: level_options.metric.unwrap_or_default(),
        ..CompareOptions::default()
    };
    if a.kind == SubjectKind::Experiment && level_options.baseline.is_none() {
        let tables = analysed(context, a, options.metric)?;
        if tables.iter().any(|table| !table.rows.is_empty()) {
            return Ok(tables);
        }
    }
    let levels = levels_of(&a.runs);
    if levels.len() < 2 {
        a.notes.iter().for_each(|text| context.note(text));
        return Err(Failure::usage(
            format!("{} has no levels to compare with each other", a.name),
            "name what to compare it with: `stripewise compare A B`; an experiment, and a published table of several columns, can stand alone",
        ));
    }
    let baseline = baseline_of(&levels, level_options.baseline.as_deref(), &a.name)?;
    let sides: Vec<Side> = levels
        .into_iter()
        .map(|(name, runs)| Side {
            name: with_raid_words(&name),
            runs,
        })
        .collect();
    let metrics = metrics_of(a, level_options.metric);
    let mut judged_alone = Vec::new();
    let mut questions = Vec::new();
    for (other, side) in sides.iter().enumerate() {
        for &metric in metrics.iter().filter(|_| other != baseline) {
            judged_alone.push(other);
            questions.push(Question {
                a: &sides[baseline],
                b: side,
                options: CompareOptions {
                    metric,
                    of_levels: true,
                    ..options
                },
            });
        }
    }
    let mut records = Vec::new();
    for (answer, other) in compare_all(&questions).into_iter().zip(judged_alone) {
        let mut record = answer.map_err(|reason| nothing(&reason))?;
        if let Some(table) = &a.dataset {
            with_published(table, &mut record, baseline == 0 && other == 1);
        }
        record.title = title(a, &record);
        record.notes.extend(a.notes.iter().cloned());
        records.push(record);
    }
    Ok(records)
}

/// A published table with IOPS and MB/s shows both, like the article.
fn metrics_of(a: &Subject, wanted: Option<Metric>) -> Vec<Metric> {
    let has_both = a.dataset.as_ref().is_some_and(|table| {
        let published = |metric| table.differences.iter().any(|d| d.metric == metric);
        published("iops") && published("mib_per_s")
    });
    match wanted {
        None | Some(Metric::Iops) if has_both => vec![Metric::Iops, Metric::MibPerS],
        wanted => vec![wanted.unwrap_or_default()],
    }
}

fn title(a: &Subject, record: &ComparisonRecord) -> String {
    let of = match &a.dataset {
        Some(table) => format!("{} ({})", a.name, table.about),
        None => a.name.clone(),
    };
    let factor = a.dataset.as_ref().map_or("level", |table| table.factor);
    format!("{of}: {factor} {} against {}", record.b.name, record.a.name)
}

fn baseline_of(
    levels: &[(String, Vec<stripewise_results::RunRecord>)],
    wanted: Option<&str>,
    name: &str,
) -> Outcome<usize> {
    let Some(wanted) = wanted else { return Ok(0) };
    levels
        .iter()
        .position(|(level, _)| level == wanted || with_raid_words(level) == wanted)
        .ok_or_else(|| {
            let known: Vec<&str> = levels.iter().map(|(level, _)| level.as_str()).collect();
            Failure::usage(
                format!("{name} has no level `{wanted}`"),
                format!("its levels are {}", known.join(", ")),
            )
        })
}

/// The tables of an experiment by its own analysis, which corrects for its stopping
/// rule; empty if its plan is not stored.
fn analysed(context: &Context, a: &Subject, metric: Metric) -> Outcome<Vec<ComparisonRecord>> {
    let Some(stored) = experiment_of(context, a)? else {
        return Ok(Vec::new());
    };
    // A file may name levels and cells that it lacks.
    stored.plan.check()?;
    let plan = ExperimentPlan {
        metric,
        ..stored.plan.clone()
    };
    let (blocks, _) = blocks_of(&plan, &a.runs);
    let experiment = Experiment {
        id: stored.id.clone(),
        plan: plan.clone(),
        blocks,
        ended: stored.ended,
        elapsed_ns: stored.elapsed_ns,
    };
    let stored = StoredExperiment { plan, ..stored };
    Ok(Answer::of(&experiment, stored, a.runs.clone()).comparisons)
}

/// Adds the printed differences, and notes whether they agree with the computed ones.
fn with_published(table: &Dataset, record: &mut ComparisonRecord, as_printed: bool) {
    if !as_printed || table.differences.is_empty() {
        return;
    }
    let printed_of = |row: &ComparisonRow| {
        let found = table.differences.iter().find(|published| {
            published.operation == row.operation
                && published.pattern == row.pattern
                && Some(published.threads) == row.threads
                && published.metric == row.metric
        });
        found.map(|published| published.percent)
    };
    let two_decimals = |percent: f64| format!("{percent:.2}");
    let (mut printed, mut same) = (0, 0);
    for row in &mut record.rows {
        row.published_difference_percent = printed_of(row);
        if let Some(percent) = row.published_difference_percent {
            printed += 1;
            same += u32::from(two_decimals(percent) == two_decimals(row.difference_percent));
        }
    }
    let metric = if record.rows.iter().any(|row| row.metric == "iops") {
        "IOPS"
    } else {
        "MB/s"
    };
    record.notes.push(if same == printed {
        format!("all {printed} printed differences of {metric} come out as printed, to two decimals.")
    } else {
        format!("{same} of {printed} printed differences of {metric} come out as printed; the others are shown beside those computed here.")
    });
}
