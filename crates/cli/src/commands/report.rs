//! `report`.

use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::document::print_json;
use crate::show::page::{
    EVERYTHING, RUNS_IN_FULL_MAX, document_of, format_of, material, rendered, title_of,
};
use crate::show::requirements;
use crate::show::terminal;
use crate::subject::{Subject, SubjectKind, subject};
use crate::switches::report::{Report, ReportFormat};
use serde::Serialize;
use std::path::{Path, PathBuf};
use stripewise_results::SCHEMA_VERSION;
use stripewise_store::{Filter, Store};
use stripewise_units::NameText;

pub fn report(context: &Context, arguments: &Report) -> Outcome {
    check_name(arguments)?;
    let format = format(context, arguments);
    let store = context.open_store_to_read();
    let subjects = if arguments.all {
        vec![light(
            context,
            store.as_ref().map_err(again)?,
            &Filter::default(),
            format,
        )?]
    } else {
        let store = store.as_ref().ok();
        let named = arguments.subjects.iter();
        let named = named.map(|name| one(context, store, name, format));
        named.collect::<Outcome<Vec<Subject>>>()?
    };
    // By their ids: `last` is another one tomorrow.
    let names: Vec<String> = subjects.iter().map(|one| one.name.clone()).collect();
    let (mut document, notes) = document_of(context, subjects);
    if document.runs.is_empty() {
        return Err(Failure::usage(
            "there is nothing to report on",
            "`stripewise history` lists what is stored",
        ));
    }
    requirements::judge(&arguments.require, &mut document);
    let title = title_of(&document);
    let mut material = material(store.as_ref().ok(), document, title, &names);
    material.notes = notes;
    if let Some(title) = &arguments.picture.title {
        material.title.clone_from(title);
    }
    let bytes = rendered(&material, format, &arguments.picture.wanted())?;
    deliver(context, arguments, format, &bytes)?;
    Ok(requirements::exit(&material.document, Exit::Done))
}

/// A name that asks for a format which is not there would hold another one.
fn check_name(arguments: &Report) -> Outcome<()> {
    let unknown = arguments
        .output
        .as_deref()
        .filter(|path| path.extension().is_some() && format_of(path).is_none());
    match unknown {
        Some(path) if arguments.format.is_none() => Err(Failure::usage(
            format!("no format goes by the name of {}", path.as_text()),
            "end it in .html, .png, .svg, .csv, .md or .json, or say which with --format",
        )),
        _ => Ok(()),
    }
}

fn again(failure: &Failure) -> Failure {
    Failure {
        hint: failure.hint.clone(),
        option: failure.option,
        ..Failure::of(failure.exit, failure.error.to_string())
    }
}

/// By the switch, else by the file's name, else HTML; `--json` alone asks for the
/// records.
fn format(context: &Context, arguments: &Report) -> ReportFormat {
    let by_name = || arguments.output.as_deref().and_then(format_of);
    let default = if context.global.json && arguments.output.is_none() {
        ReportFormat::Json
    } else {
        ReportFormat::Html
    };
    arguments.format.or_else(by_name).unwrap_or(default)
}

/// A subject. A series or experiment of many runs is lightened while it is read,
/// so that its runs are never all in memory in full.
fn one(
    context: &Context,
    store: Option<&Store>,
    name: &str,
    format: ReportFormat,
) -> Outcome<Subject> {
    if let Some(store) = store {
        let name = &store.full_name(name).map_err(store_failure)?;
        let filter = Filter {
            series: Some(name.to_owned()),
            ..Filter::default()
        };
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

/// Stored runs, the oldest first; without what a report on many runs does not
/// show where there are many.
fn light(
    context: &Context,
    store: &Store,
    filter: &Filter,
    format: ReportFormat,
) -> Outcome<Subject> {
    let listed = context.stored_runs(store, filter)?;
    let many = listed.len() > RUNS_IN_FULL_MAX;
    let ids: Vec<String> = listed.into_iter().rev().map(|run| run.id).collect();
    let mut runs = Vec::with_capacity(ids.len());
    for id in &ids {
        let Some(mut run) = context.unless_damaged(store.load(id))? else {
            continue;
        };
        if many {
            run = run.without_histograms();
            if format != ReportFormat::Json {
                run = run.without_intervals();
                // A page shows what ran.
                run.request = None;
            }
        }
        runs.push(run);
    }
    Ok(Subject {
        name: EVERYTHING.to_owned(),
        kind: SubjectKind::Series,
        runs,
        dataset: None,
        comparisons: Vec::new(),
        experiment: None,
        notes: Vec::new(),
    })
}

/// To the file, to stdout, or to a file of a name that follows from the subject.
fn deliver(
    context: &Context,
    arguments: &Report,
    format: ReportFormat,
    bytes: &[u8],
) -> Outcome<()> {
    let stdout = Path::new("-");
    let binary = matches!(format, ReportFormat::Html | ReportFormat::Png);
    let path = match &arguments.output {
        Some(path) if path == stdout => None,
        Some(path) => Some(path.clone()),
        None if binary && (!arguments.subjects.is_empty() || arguments.all) => {
            Some(default_path(arguments, format))
        }
        None => None,
    };
    let Some(path) = path else {
        if format == ReportFormat::Png && terminal::stdout_is_terminal() {
            return Err(Failure::usage(
                "a picture on a terminal is noise",
                "name a file with -o FILE",
            ));
        }
        terminal::print(bytes);
        return Ok(());
    };
    write_new(&path, bytes)?;
    if context.global.json {
        #[derive(Serialize)]
        struct Written<'a> {
            schema_version: u32,
            report: Report<'a>,
        }
        #[derive(Serialize)]
        struct Report<'a> {
            path: &'a Path,
            format: &'a str,
            bytes: usize,
        }
        print_json(&Written {
            schema_version: SCHEMA_VERSION,
            report: Report {
                path: &path,
                format: format.name(),
                bytes: bytes.len(),
            },
        })?;
    } else {
        let size = stripewise_units::format_bytes(bytes.len() as u64);
        crate::show::document::print_text(&format!("{} ({size})\n", path.as_text()));
    }
    Ok(())
}

fn default_path(arguments: &Report, format: ReportFormat) -> PathBuf {
    let name = match &arguments.subjects[..] {
        [] => "all".to_owned(),
        [first, ..] => first
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || letter == '.' {
                    letter
                } else {
                    '-'
                }
            })
            .collect(),
    };
    PathBuf::from(format!(
        "stripewise-{}.{}",
        name.trim_matches('-'),
        format.name()
    ))
}
