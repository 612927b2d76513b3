//! `bench`: the main command. Five series, with a table and a sentence each.

use crate::commands::hosts::{followed, led};
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::page::{refuse_existing, write_next_to_store, write_report};
use crate::show::runs;
use crate::show::terminal::say;
use crate::switches::bench::{Bench, Like};
use std::path::PathBuf;
use stripewise_campaign::bench::{BenchOptions, bench as run_bench, expected, planned};
use stripewise_campaign::run::{LikeOptions, RunResult, run_like_crystaldiskmark};
use stripewise_campaign::steps::documents;
use stripewise_campaign::steps::expectations::expectations;
use stripewise_conductor::measure::exit_of;
use stripewise_lab::SeriesKind;
use stripewise_report::runs_sheet;
use stripewise_results::{Document, RequirementRecord, SeriesRecord};
use stripewise_store::Store;
use stripewise_units::{ByteSize, NameText, Nanoseconds};

pub fn bench(context: &Context, arguments: &Bench) -> Outcome {
    if let Some(done) = followed(context, &arguments.safety) {
        return done;
    }
    refuse_existing(arguments.report.as_deref())?;
    if arguments.like == Some(Like::Crystaldiskmark) {
        return crystaldiskmark_report(context, arguments);
    }
    let options = options(arguments);
    let plan = planned(&options)?;
    check_requirements(arguments)?;
    let permissions = arguments.safety.permissions();
    permissions.refuse_idle(&[&options.target])?;
    let (target, group) = led(context, &options.target)?;
    let options = BenchOptions {
        target,
        group,
        ..options
    };
    let mut store = context.open_store()?;
    let expect = arguments.expect.as_deref();
    let expected = expect.map(|name| expected(context, &mut store, name, &options, &permissions));
    let expected = expected.transpose()?;
    let of_array = expected.as_ref().and_then(|array| array.runs.first());
    let options = BenchOptions {
        expected_bench: of_array.and_then(|run| run.series.clone()),
        ..options
    };
    let benched = run_bench(context, &mut store, &options, plan, &permissions)?;
    let of_expected = |series: &[SeriesRecord]| match (expect, &expected) {
        (Some(name), Some(expected)) => expectations(name, &expected.series, series),
        _ => Vec::new(),
    };
    conclude(context, arguments, &store, benched, of_expected)
}

/// Shows and stores what was measured; `judged` gives requirements beside those given one by one.
fn conclude(
    context: &Context,
    arguments: &Bench,
    store: &Store,
    ran: RunResult,
    judged: impl FnOnce(&[SeriesRecord]) -> Vec<RequirementRecord>,
) -> Outcome {
    let exit = exit_of(context, &ran.records);
    if ran.records.is_empty() {
        return ran.ended.map(|()| exit);
    }
    let mut document = documents::document(ran.records);
    documents::judge(&arguments.require, &mut document);
    let judged = judged(&document.series);
    document.requirements.extend(judged);
    let exit = documents::exit(&document, exit);
    let reported = show(context, arguments, store, &document);
    // Show and store what was measured before a failure, then report the failure.
    ran.ended?;
    reported?;
    Ok(exit)
}

/// Refuses a requirement on a series that is not measured as a usage error
/// before the measurement.
fn check_requirements(arguments: &Bench) -> Outcome<()> {
    let chosen = |kind: &SeriesKind| {
        (arguments.series.is_empty() || arguments.series.contains(kind))
            && !(arguments.read_only && kind.writes())
    };
    let measured = SeriesKind::ALL.into_iter().filter(chosen);
    documents::check_names(&arguments.require, measured.map(SeriesKind::name))
}

/// The four lines of CrystalDiskMark in one table.
fn crystaldiskmark_report(context: &Context, arguments: &Bench) -> Outcome {
    let options = LikeOptions {
        target: arguments.target.clone(),
        read_only: arguments.read_only,
        size_bytes: arguments.size.map(ByteSize::bytes),
        duration_ns: None,
        engine: arguments.engine.to_string(),
        seed: arguments.seed,
        label: arguments.label.clone(),
        require: arguments.require.clone(),
    };
    let mut store = context.open_store()?;
    let permissions = arguments.safety.permissions();
    let ran = run_like_crystaldiskmark(context, &mut store, &options, &permissions)?;
    conclude(context, arguments, &store, ran, |_| Vec::new())
}

fn options(arguments: &Bench) -> BenchOptions {
    BenchOptions {
        target: arguments.target.clone(),
        qualify: arguments.thorough,
        precondition: arguments.precondition.unwrap_or_default(),
        series: arguments.series.clone(),
        read_only: arguments.read_only,
        step_ns: arguments.step.map(Nanoseconds::ns),
        time_ns: arguments.time.map(Nanoseconds::ns),
        block_size_bytes: arguments.block.map(ByteSize::bytes),
        slo: arguments.slo,
        seed: arguments.seed,
        size_bytes: arguments.size.map(ByteSize::bytes),
        engine: arguments.engine,
        label: arguments.label.clone(),
        cache_size_bytes: arguments.cache_size.map(ByteSize::bytes),
        require: arguments.require.clone(),
        expected_bench: None,
        group: None,
    }
}

/// Prints the results, and writes the report, whose path is printed with them.
fn show(context: &Context, arguments: &Bench, store: &Store, document: &Document) -> Outcome<()> {
    if context.global.json {
        context.output.print_exact(&document.to_json());
    }
    let reported = report(context, arguments, store, document);
    let path = reported.as_ref().ok().and_then(Option::as_ref);
    if context.global.json {
        let path = path.map(|path| path.as_text());
        if let Some(path) = path.filter(|_| !context.global.quiet) {
            say!(context.output, "Report: {path}");
        }
    } else {
        let look = context.runs_look(arguments.ladders, &[]);
        let sheet = runs_sheet(document, &look);
        let path = path.map(PathBuf::as_path);
        runs::print_sheet(context, store, document, sheet, &look, path);
    }
    reported.map(|_| ())
}

/// Writes the report to the requested file, else beside the store. Only a requested
/// report can fail; the default one is best effort.
fn report(
    context: &Context,
    arguments: &Bench,
    store: &Store,
    document: &Document,
) -> Outcome<Option<PathBuf>> {
    if arguments.no_report {
        return Ok(None);
    }
    let document = document.clone();
    if let Some(path) = &arguments.report {
        write_report(context, Some(store), document, path)?;
        return Ok(Some(path.clone()));
    }
    let written = write_next_to_store(context, store, document);
    if let Err(failure) = &written {
        let error = &failure.error;
        say!(context.output, "warning: no report was written: {error}");
    }
    Ok(written.ok())
}
