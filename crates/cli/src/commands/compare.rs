//! `compare`: tables of differences between what is stored, imported or published.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::comparisons::{print_comparisons, print_json_of};
use crate::show::document::note;
use crate::show::page::{material_of, refuse_existing, say_written, write_material};
use crate::subject::{Subject, SubjectKind, subject};
use crate::switches::compare::Compare;
use stripewise_campaign::experiment::answer::Answer;
use stripewise_campaign::experiment::kept::Kept;
use stripewise_campaign::experiment::start::plan_failure;
use stripewise_compat::dataset::Dataset;
use stripewise_lab::compare::{
    CompareOptions, NothingToCompare, Question, Side, compare_all, found, levels_of,
};
use stripewise_lab::experiment::{Experiment, ExperimentPlan, Metric, blocks_of};
use stripewise_results::{ComparisonRecord, ComparisonRow, Document};

pub fn compare(context: &Context, arguments: &Compare) -> Outcome {
    let options = CompareOptions {
        metric: metric(&arguments.metric)?,
        ..CompareOptions::default()
    };
    refuse_existing(arguments.report.as_deref())?;
    let mut a = one_subject(context, &arguments.a)?;
    let mut runs = Vec::new();
    let mut title = None;
    let records = match &arguments.b {
        Some(b) => {
            let mut b = one_subject(context, b)?;
            name_by_labels(&mut a, &mut b);
            title = Some(format!("{} against {}", b.name, a.name));
            let records = two(&a, &b, options)?;
            runs = b.runs;
            records
        }
        None => alone(context, &a, arguments, options)?,
    };
    if context.global.json {
        print_json_of(&records)?;
    } else {
        print_comparisons(context, &records);
    }
    if let Some(path) = &arguments.report {
        runs.splice(0..0, a.runs);
        let document = Document {
            comparisons: records.clone(),
            ..Document::new(runs)
        };
        let mut material = material_of(None, document);
        if let Some(title) = title {
            material.title = title;
        }
        write_material(&material, path)?;
        say_written(context, path);
    }
    Ok(if records.iter().any(found) {
        Exit::Finding
    } else {
        Exit::Done
    })
}

/// Sides are called by their labels, which say more than ids, unless both have the same.
fn name_by_labels(a: &mut Subject, b: &mut Subject) {
    let labels = [&*a, &*b].map(|side| side.label().map(str::to_owned));
    if labels[0] == labels[1] {
        return;
    }
    for (side, label) in [a, b].into_iter().zip(labels) {
        side.name = label.unwrap_or_else(|| std::mem::take(&mut side.name));
    }
}

/// What a report says of a subject that has levels: as `compare A` alone. Empty
/// where it has none, or they cannot be compared.
pub fn levels_compared(context: &Context, a: &Subject) -> Vec<ComparisonRecord> {
    if levels_of(&a.runs).len() < 2 {
        return Vec::new();
    }
    // By what the experiment was asked about, which may be a latency.
    let kept = experiment_of(context, a).ok().flatten();
    let metric = kept.map_or(Metric::default(), |kept| kept.plan.metric);
    let arguments = Compare {
        a: a.name.clone(),
        b: None,
        metric: metric.name().to_owned(),
        baseline: None,
        report: None,
    };
    let options = CompareOptions {
        metric,
        ..CompareOptions::default()
    };
    alone(context, a, &arguments, options).unwrap_or_default()
}

/// The experiment that a subject is, where its plan is kept.
fn experiment_of(context: &Context, a: &Subject) -> Outcome<Option<Kept>> {
    if let Some(carried) = &a.experiment {
        return Ok(Some(Kept::clone(carried)));
    }
    if a.kind != SubjectKind::Experiment {
        return Ok(None);
    }
    let store = context.open_store_to_read()?;
    if !Kept::is_known(&store, &a.name)? {
        return Ok(None);
    }
    Kept::load(&store, &a.name).map(Some)
}

/// A metric as people type it: `latency_p99` and `p99` are `latency_ns_p99`.
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
                format!("`{text}` is no metric"),
                "there are iops, mib_per_s, and latency_ with mean, p50, p90, p99, p999 or max: latency_p99",
            )
        })
}

/// A subject; `dataset:NAME:COLUMN` is one column of a table, and the files of
/// a run are those of its document.
fn one_subject(context: &Context, text: &str) -> Outcome<Subject> {
    let column = text
        .strip_prefix("dataset:")
        .and_then(|rest| rest.split_once(':'));
    let Some((name, column)) = column else {
        return subject(context, text);
    };
    let mut one = subject(context, &format!("dataset:{name}"))?;
    let levels = one
        .dataset
        .as_ref()
        .map(|table| table.levels.clone())
        .unwrap_or_default();
    if !levels.iter().any(|level| level == column) {
        let known = match levels.as_slice() {
            [] => "it has only one".to_owned(),
            _ => format!("it has {}", levels.join(", ")),
        };
        return Err(Failure::usage(
            format!("the published table {name} has no column `{column}`"),
            known,
        ));
    }
    one.runs
        .retain(|run| run.series_part.as_deref() == Some(column));
    one.name = text.to_owned();
    Ok(one)
}

/// A against B. Where one of them has levels, each level gets a table; where
/// both have the same ones, level stands against level.
fn two(a: &Subject, b: &Subject, options: CompareOptions) -> Outcome<Vec<ComparisonRecord>> {
    let (sides_a, sides_b) = (sides(a), sides(b));
    let both_have_levels = sides_a.len() > 1 && sides_b.len() > 1;
    let pairs = sides_a
        .iter()
        .flat_map(|side_a| sides_b.iter().map(move |side_b| (side_a, side_b)));
    let questions: Vec<Question<'_>> = pairs
        .filter(|(side_a, side_b)| !both_have_levels || side_a.0 == side_b.0)
        .map(|((_, a), (_, b))| Question { a, b, options })
        .collect();
    let mut records = Vec::new();
    let mut refused = None;
    for answer in compare_all(&questions) {
        match answer {
            Ok(mut record) => {
                record.notes.extend(subject_notes(a, b));
                records.push(record);
            }
            Err(reason) => refused = Some(reason),
        }
    }
    match refused {
        Some(reason) if records.is_empty() => Err(nothing(&reason)),
        None if records.is_empty() => Err(Failure::usage(
            format!("{} and {} have no level in common", a.name, b.name),
            "name one level: dataset:NAME:COLUMN, or compare single runs",
        )),
        _ => Ok(records),
    }
}

/// The levels of a subject with their sides; all of it where it has none, or one.
fn sides(subject: &Subject) -> Vec<(String, Side)> {
    let levels = levels_of(&subject.runs);
    if levels.len() < 2 {
        return vec![(
            String::new(),
            Side {
                name: subject.name.clone(),
                runs: subject.runs.clone(),
            },
        )];
    }
    levels
        .into_iter()
        .map(|(level, runs)| {
            let name = format!("{} {level}", subject.name);
            (level, Side { name, runs })
        })
        .collect()
}

fn subject_notes(a: &Subject, b: &Subject) -> Vec<String> {
    let of = |subject: &Subject| -> Vec<String> {
        let note = |note: &String| format!("{}: {note}", subject.name);
        subject.notes.iter().map(note).collect()
    };
    let mut notes = of(a);
    notes.extend(of(b));
    notes
}

fn nothing(reason: &NothingToCompare) -> Failure {
    Failure::usage(reason.to_string(), reason.hint())
}

/// The levels of one subject against its baseline.
fn alone(
    context: &Context,
    a: &Subject,
    arguments: &Compare,
    options: CompareOptions,
) -> Outcome<Vec<ComparisonRecord>> {
    if a.kind == SubjectKind::Experiment && arguments.baseline.is_none() {
        let tables = analysed(context, a, options.metric)?;
        if tables.iter().any(|table| !table.rows.is_empty()) {
            return Ok(tables);
        }
    }
    let levels = levels_of(&a.runs);
    if levels.len() < 2 {
        for text in &a.notes {
            note(text);
        }
        return Err(Failure::usage(
            format!("{} has no levels to compare with each other", a.name),
            "name what to compare it with: `stripewise compare A B`; an experiment, and a published table of several columns, can stand alone",
        ));
    }
    let baseline = baseline_of(&levels, arguments.baseline.as_deref(), &a.name)?;
    let sides: Vec<Side> = levels
        .into_iter()
        .map(|(name, runs)| Side { name, runs })
        .collect();
    let metrics = metrics_of(a, arguments, options);
    let mut asked = Vec::new();
    let mut questions = Vec::new();
    for (other, side) in sides.iter().enumerate() {
        for &metric in metrics.iter().filter(|_| other != baseline) {
            asked.push(other);
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
    for (answer, other) in compare_all(&questions).into_iter().zip(asked) {
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

/// A published table that has IOPS and MB/s shows both, as the article does.
fn metrics_of(a: &Subject, arguments: &Compare, options: CompareOptions) -> Vec<Metric> {
    let has_both = a.dataset.as_ref().is_some_and(|table| {
        let published = |metric| table.differences.iter().any(|d| d.metric == metric);
        published("iops") && published("mib_per_s")
    });
    if has_both && arguments.metric == "iops" {
        vec![Metric::Iops, Metric::MibPerS]
    } else {
        vec![options.metric]
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
        .position(|(level, _)| level == wanted)
        .ok_or_else(|| {
            let known: Vec<&str> = levels.iter().map(|(level, _)| level.as_str()).collect();
            Failure::usage(
                format!("{name} has no level `{wanted}`"),
                format!("its levels are {}", known.join(", ")),
            )
        })
}

/// The tables of an experiment by its own analysis, which makes up for stopping
/// by itself; empty where its plan is not kept.
fn analysed(context: &Context, a: &Subject, metric: Metric) -> Outcome<Vec<ComparisonRecord>> {
    let Some(kept) = experiment_of(context, a)? else {
        return Ok(Vec::new());
    };
    // A file may name levels and cells that it does not have.
    kept.plan.check().map_err(plan_failure)?;
    let plan = ExperimentPlan {
        metric,
        ..kept.plan.clone()
    };
    let (blocks, _) = blocks_of(&plan, &a.runs);
    let experiment = Experiment {
        id: kept.id.clone(),
        plan: plan.clone(),
        blocks,
        ended: kept.ended,
        elapsed_ns: kept.elapsed_ns,
    };
    let kept = Kept { plan, ..kept };
    Ok(Answer::of(&experiment, kept, a.runs.clone()).comparisons)
}

/// Puts the printed differences beside ours, and tells whether they agree.
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
        format!("{same} of {printed} printed differences of {metric} come out as printed; the others are shown beside ours.")
    });
}
