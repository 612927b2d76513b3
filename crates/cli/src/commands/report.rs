//! `report`: writes results as pages, pictures, tables or records.

use super::history::filter;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::page::name_the_rest;
use crate::switches::hints::stored_hint;
use crate::switches::report::Report;
use serde::Serialize;
use std::path::{Path, PathBuf};
use stripewise_campaign::report::{ReportQuestion, report as make};
use stripewise_campaign::steps::pages::ReportFormat;
use stripewise_results::SCHEMA_VERSION;
use stripewise_store::Filter;
use stripewise_units::{NameText, format_bytes};

pub fn report(context: &Context, arguments: &Report) -> Outcome {
    check_name(arguments)?;
    let only = filter(context, &arguments.only)?;
    if !arguments.all && only != Filter::default() {
        return Err(Failure::usage(
            "--target, --since, --label, --tool and --series choose among all stored runs",
            "add --all, or name the runs without these switches",
        ));
    }
    let format = format(context, arguments);
    let is_picture = matches!(format, ReportFormat::Png | ReportFormat::Svg);
    if arguments.picture.chart.is_some() && !is_picture {
        return Err(Failure::usage(
            format!("--chart draws a picture, and {} is none", format.name()),
            "use --format png or svg, or name a file that ends in .png or .svg",
        ));
    }
    let reported = make(
        context,
        &ReportQuestion {
            subjects: arguments.subjects.clone(),
            only,
            format,
            require: arguments.require.clone(),
            picture: arguments.picture.wanted(),
            hint: stored_hint,
        },
    )?;
    name_the_rest(context, &reported.rendered);
    deliver(context, arguments, format, &reported.rendered.bytes)?;
    Ok(reported.exit)
}

/// Refuses an output file whose extension belongs to an unavailable format.
fn check_name(arguments: &Report) -> Outcome<()> {
    let unknown = arguments
        .output
        .as_deref()
        .filter(|path| path.extension().is_some() && ReportFormat::of_file(path).is_none());
    match unknown {
        Some(path) if arguments.format.is_none() => Err(Failure::usage(
            format!(
                "cannot tell the format from the file name {}",
                path.as_text()
            ),
            "end it in .html, .png, .svg, .csv, .md or .json, or say which with --format",
        )),
        _ => Ok(()),
    }
}

/// The format from the switch, else from the file's extension, else HTML; `--json` alone
/// selects the records, and `--chart` a picture.
fn format(context: &Context, arguments: &Report) -> ReportFormat {
    let by_name = || arguments.output.as_deref().and_then(ReportFormat::of_file);
    let default = if context.global.json && arguments.output.is_none() {
        ReportFormat::Json
    } else if arguments.picture.chart.is_some() {
        ReportFormat::Png
    } else {
        ReportFormat::Html
    };
    arguments.format.or_else(by_name).unwrap_or(default)
}

/// Writes to the file, to stdout, or to a file named after the subject.
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
        if format == ReportFormat::Png && context.output.stdout_is_terminal() {
            return Err(Failure::usage(
                "a PNG is not printed on a terminal",
                "name a file with -o FILE",
            ));
        }
        context.output.print(bytes);
        return Ok(());
    };
    write_new(&path, bytes)?;
    if context.global.json {
        context.output.print_json(&Written {
            schema_version: SCHEMA_VERSION,
            report: WrittenReport {
                path: &path,
                format: format.name(),
                bytes: bytes.len(),
            },
        })?;
    } else {
        let size = format_bytes(bytes.len() as u64);
        context
            .output
            .print_text(&format!("{} ({size})\n", path.as_text()));
    }
    Ok(())
}

/// The `--json` document about a written file.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Written<'a> {
    schema_version: u32,
    report: WrittenReport<'a>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct WrittenReport<'a> {
    path: &'a Path,
    format: &'a str,
    bytes: usize,
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
