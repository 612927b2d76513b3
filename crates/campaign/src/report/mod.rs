//! `report`: stored or imported results in various formats.

use crate::steps::compared_benches::leading_comparison;
use crate::steps::documents::{check_names, exit, judge, judge_as_requested, names_of};
use crate::steps::headroom::StoredHeadroom;
use crate::steps::layouts::stored_layouts::StoredLayouts;
use crate::steps::limits::StoredLimits;
use crate::steps::measured;
use crate::steps::observation::ObservationDocument;
use crate::steps::pages::{
    EVERYTHING, PictureLook, RUNS_IN_FULL_MAX, Rendered, ReportFormat, document_of, material,
    rendered, title_of,
};
use crate::steps::qualification::answered;
use crate::steps::stored_check::StoredCheck;
use crate::steps::study::{is_study, rendered_study};
use crate::steps::subject::{Subject, SubjectKind, subject};
use crate::steps::surface::MeasuredSurface;
use crate::steps::verification::DOCUMENT_KIND as VERIFICATION;
use crate::steps::verification_page as page;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::Requirement;
use stripewise_lab::{SeriesKind, series_of};
use stripewise_report::HintWords;
use stripewise_results::{Document, RunRecord, SeriesRecord};
use stripewise_store::{Filter, RunSummary, Store};
use stripewise_units::{counted, plural};

/// The content of a report, and its format.
#[derive(Clone, Debug)]
pub struct ReportQuestion {
    /// Runs, series, experiments, published tables, files; empty: every stored run.
    pub subjects: Vec<String>,
    /// Filter of stored runs, if no subjects are named.
    pub only: Filter,
    /// The format.
    pub format: ReportFormat,
    /// Requirements to judge.
    pub require: Vec<Requirement>,
    /// The picture to draw, and its look.
    pub picture: PictureLook,
    /// Words the hints of warnings.
    pub hint: HintWords,
}

/// A report, and the exit of the command.
#[derive(Debug)]
pub struct Reported {
    /// The report.
    pub rendered: Rendered,
    /// A missed requirement is a finding.
    pub exit: Exit,
}

/// Makes a report; writes nothing.
///
/// # Errors
/// If a subject cannot be read, or there is nothing to report on.
pub fn report(context: &Context, question: &ReportQuestion) -> Outcome<Reported> {
    let store = context.open_store_to_read();
    let kinds = [
        of_measurement,
        of_layouts,
        of_qualification,
        of_study,
        of_check,
    ];
    let known = store.as_ref().ok();
    if let Some((store, name)) = known.and_then(|store| only_subject(store, question)) {
        for of_kind in kinds {
            if let Some(rendered) = of_kind(context, store, &name, question)? {
                let exit = Exit::Done;
                return Ok(Reported { rendered, exit });
            }
        }
    }
    if let Some(store) = known {
        refuse_answers_among_others(store, question)?;
    }
    let subjects = if question.subjects.is_empty() {
        let store = store.as_ref().map_err(again)?;
        vec![light(context, store, &question.only, question.format)?]
    } else {
        let store = store.as_ref().ok();
        let named = question.subjects.iter();
        let named = named.map(|name| one(context, store, name, question.format));
        named.collect::<Outcome<Vec<Subject>>>()?
    };
    // By id, since the meaning of `last` changes.
    let names: Vec<String> = subjects.iter().map(|one| one.name.clone()).collect();
    let mut comparisons = leading_comparison(&subjects);
    let (mut document, mut notes) = document_of(context, subjects);
    comparisons.append(&mut document.comparisons);
    document.comparisons = comparisons;
    notes.extend(note_on_other_runs(&document));
    if document.runs.is_empty() {
        return Err(Failure::usage(
            "there is nothing to report on",
            "`stripewise history` lists what is stored",
        ));
    }
    match question.require.is_empty() {
        true => judge_as_requested(store.as_ref().ok(), &mut document),
        false => {
            check_names(&question.require, names_of(&document.runs))?;
            judge(&question.require, &mut document);
        }
    }
    let title = title_of(&document);
    let mut material = material(store.as_ref().ok(), document, title, &names);
    material.notes = notes;
    material.hint = question.hint;
    if let Some(title) = &question.picture.title {
        material.title.clone_from(title);
    }
    Ok(Reported {
        rendered: rendered(&material, question.format, &question.picture)?,
        // Only requirements given now can be a finding now.
        exit: match question.require.is_empty() {
            true => Exit::Done,
            false => exit(&material.document, Exit::Done),
        },
    })
}

/// Among others, an answer with a report of its own would be hundreds of its runs.
fn refuse_answers_among_others(store: &Store, question: &ReportQuestion) -> Outcome<()> {
    let is_of_runs = matches!(question.format, ReportFormat::Csv | ReportFormat::Json);
    if question.subjects.len() < 2 || is_of_runs || !question.require.is_empty() {
        return Ok(());
    }
    for name in &question.subjects {
        // Another name may be a file's.
        let Ok(id) = measured::full_name(store, name) else {
            continue;
        };
        let has_answer = StoredHeadroom::find(store, &id)?.is_some()
            || StoredLimits::find(store, &id)?.is_some()
            || StoredLayouts::named(store, &id)?.is_some()
            || answered(store, &id).ok().flatten().is_some();
        if has_answer {
            return Err(Failure::usage(
                format!("{name} has a report of its own"),
                "report each by itself; --format csv and json take the runs of all",
            ));
        }
    }
    Ok(())
}

/// A note that names the runs of no bench, which the table of benches leaves out.
fn note_on_other_runs(document: &Document) -> Option<String> {
    let is_of_bench = |run: &RunRecord| {
        let mut series = document.series.iter();
        series.any(|one| run.series.as_deref() == Some(one.id.as_str()))
    };
    let others = document.runs.iter().filter(|run| !is_of_bench(run)).count();
    (others > 0 && !document.series.is_empty()).then(|| {
        format!(
            "{} of no bench and so not in the table of answers; a report without the benches has {}.",
            counted(others, "run is", "runs are"),
            plural(others, "it", "them")
        )
    })
}

/// The full name of the subject, if there is one and the store knows it:
/// another name may be a file's.
fn only_subject<'a>(store: &'a Store, question: &ReportQuestion) -> Option<(&'a Store, String)> {
    let [name] = question.subjects.as_slice() else {
        return None;
    };
    Some((store, measured::full_name(store, name).ok()?))
}

/// A profile, a fill or a verification, if it is the only subject: it has no runs.
fn of_measurement(
    _: &Context,
    store: &Store,
    name: &str,
    question: &ReportQuestion,
) -> Outcome<Option<Rendered>> {
    let Some((kind, stored)) = measured::document(store, name)? else {
        // A page of all its runs is not wanted, but its answer.
        let found = StoredHeadroom::find(store, name)?;
        let found = found.filter(|_| question.require.is_empty());
        if let Some(found) = found {
            return found.rendered(question.format, &question.picture).map(Some);
        }
        let found = StoredLimits::find(store, name)?;
        // Its table is one of runs.
        let is_answer = question.require.is_empty() && question.format != ReportFormat::Csv;
        return found
            .filter(|_| is_answer)
            .map(|found| found.rendered(question.format, &question.picture))
            .transpose();
    };
    if !question.require.is_empty() {
        let what = match kind {
            VERIFICATION => "verification",
            measured::OBSERVATION => "observation",
            kind => kind,
        };
        return Err(Failure::usage(
            format!("{name} is a {what}: there is no run in it that a requirement is about"),
            "leave --require out; runs and benches can be held to one",
        ));
    }
    let (format, wanted) = (question.format, &question.picture);
    if kind == VERIFICATION {
        return page::rendered(&page::of_stored(&stored.json)?, format, wanted).map(Some);
    }
    if kind == measured::OBSERVATION {
        return ObservationDocument::of_stored(&stored.json)?
            .rendered(format, wanted)
            .map(Some);
    }
    let surface = MeasuredSurface::of_stored(kind, &stored.json)?;
    surface
        .map(|surface| surface.rendered(format, wanted))
        .transpose()
}

/// The answer of an experiment over layouts, if it is the only subject: a comparison of two of
/// its many layouts would not be an answer.
fn of_layouts(
    _: &Context,
    store: &Store,
    name: &str,
    question: &ReportQuestion,
) -> Outcome<Option<Rendered>> {
    let Some(stored) = StoredLayouts::named(store, name)? else {
        return Ok(None);
    };
    if matches!(question.format, ReportFormat::Csv | ReportFormat::Json) {
        return Ok(None);
    }
    if !question.require.is_empty() {
        return Err(Failure::usage(
            format!(
                "{name} compares layouts: it has no single run that a requirement could apply to"
            ),
            "measure the layout that you choose, and give that run's id with --require",
        ));
    }
    stored.page(&stored.found().record, question.format, &question.picture)
}

/// A published study, if it is the only subject: its runs alone would not show the printed
/// figures.
fn of_study(
    context: &Context,
    store: &Store,
    name: &str,
    question: &ReportQuestion,
) -> Outcome<Option<Rendered>> {
    if !question.require.is_empty() {
        return Ok(None);
    }
    let filter = Filter::of_series(name);
    let listed = context.stored_runs(store, &filter)?;
    let mut runs = Vec::new();
    for run in listed.iter().rev() {
        let Some(run) = context.unless_damaged(store.load(&run.id))? else {
            continue;
        };
        // One run identifies all of them.
        if !is_study(&run) {
            return Ok(None);
        }
        runs.push(run.without_intervals());
    }
    rendered_study(&runs, question.format, &question.picture)
}

/// The verdict of a qualification with its sources, if it is the only subject. Its runs are
/// available under their own ids.
fn of_qualification(
    _: &Context,
    store: &Store,
    name: &str,
    question: &ReportQuestion,
) -> Outcome<Option<Rendered>> {
    let is_of_runs = matches!(question.format, ReportFormat::Csv | ReportFormat::Json);
    if is_of_runs || !question.require.is_empty() {
        return Ok(None);
    }
    // If it cannot be read, show its runs like others.
    let Ok(Some(found)) = answered(store, name) else {
        return Ok(None);
    };
    let rendered = found.rendered(question.format, &question.picture);
    rendered.map(Some)
}

/// The result of a check, if it is the only subject: its runs are only the new ones.
fn of_check(
    context: &Context,
    store: &Store,
    name: &str,
    question: &ReportQuestion,
) -> Outcome<Option<Rendered>> {
    if !question.require.is_empty() {
        return Ok(None);
    }
    let Some(found) = StoredCheck::find(store, name)? else {
        return Ok(None);
    };
    let mut material = found.material(Some(store), subject(context, name)?.runs);
    material.hint = question.hint;
    if let Some(title) = &question.picture.title {
        material.title.clone_from(title);
    }
    rendered(&material, question.format, &question.picture).map(Some)
}

fn again(failure: &Failure) -> Failure {
    Failure {
        hint: failure.hint.clone(),
        option: failure.option,
        ..Failure::of(failure.exit, failure.error.to_string())
    }
}

/// A subject. The runs of a large series or experiment are stripped while being read,
/// so that they are never all in memory in full.
fn one(
    context: &Context,
    store: Option<&Store>,
    name: &str,
    format: ReportFormat,
) -> Outcome<Subject> {
    if let Some(store) = store {
        let name = &measured::full_name(store, name)?;
        let filter = Filter::of_series(name);
        let listed = context.stored_runs(store, &filter)?;
        if listed.len() > RUNS_IN_FULL_MAX {
            let mut many = light(context, store, &filter, format)?;
            many.name = name.to_owned();
            let of_experiment = many.runs.iter().any(|run| run.experiment.is_some());
            many.kind = if of_experiment {
                SubjectKind::Experiment
            } else {
                SubjectKind::Series
            };
            return Ok(many);
        }
    }
    subject(context, name)
}

/// Stored runs, oldest first; if there are many, without data that a report on many runs does
/// not show.
fn light(
    context: &Context,
    store: &Store,
    filter: &Filter,
    format: ReportFormat,
) -> Outcome<Subject> {
    let listed = context.stored_runs(store, filter)?;
    let many = listed.len() > RUNS_IN_FULL_MAX;
    // An answer needs the latencies of its runs, which are dropped from many runs.
    let series = match many {
        true => series_in_full(context, store, &listed)?,
        false => Vec::new(),
    };
    let ids: Vec<String> = listed.into_iter().rev().map(|run| run.id).collect();
    let mut runs = Vec::with_capacity(ids.len());
    let mut absent = Arc::default();
    let is_brief = many && format != ReportFormat::Json;
    for id in &ids {
        let read = match is_brief {
            true => store.load_brief(id),
            false => store.load(id),
        };
        let Some(mut run) = context.unless_damaged(read)? else {
            continue;
        };
        if many {
            run = run.without_histograms();
            share_absent(&mut run, &mut absent);
            if is_brief {
                run = run.without_intervals();
                // A page shows the runs made.
                run.request = None;
                // SQLIO's histograms are drawn for the first few.
                if runs.len() >= RUNS_IN_FULL_MAX {
                    run = run.without_details();
                }
            }
        }
        runs.push(run);
    }
    Ok(Subject {
        series,
        ..Subject::new(EVERYTHING, SubjectKind::Series, runs)
    })
}

/// Results imported together lack the same fields: they share one set of names.
fn share_absent(run: &mut RunRecord, last: &mut Arc<BTreeSet<String>>) {
    if let Some(imported) = &mut run.imported {
        if imported.absent != *last {
            *last = Arc::clone(&imported.absent);
        }
        imported.absent = Arc::clone(last);
    }
}

/// The ladders of these runs, bench by bench.
fn series_in_full(
    context: &Context,
    store: &Store,
    listed: &[RunSummary],
) -> Outcome<Vec<SeriesRecord>> {
    let mut by_series: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for run in listed.iter().rev() {
        let part = run.series_part.as_deref().and_then(SeriesKind::from_name);
        if let (Some(series), Some(_)) = (run.series.as_deref(), part) {
            by_series.entry(series).or_default().push(&run.id);
        }
    }
    let mut all = Vec::new();
    for ids in by_series.values() {
        let mut runs = Vec::with_capacity(ids.len());
        for id in ids {
            runs.extend(context.unless_damaged(store.load(id))?);
        }
        all.extend(series_of(&runs));
    }
    Ok(all)
}
