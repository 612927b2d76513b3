//! `sqlio`: runs SQLIO's command line like any other run, and prints
//! SQLIO's output. Syntax and semantics are in `compat`; safety rules take precedence
//! over compatibility.

mod affinity;
mod files;
mod utilisation;

pub use files::LineSink;

use crate::steps::sqlio_drives::{Drives, NamedPlace};
use stripewise_compat::sqlio::{
    Command, Counted, Report, Setup, head, initiation_us, mib_hundredths, param_file,
    rate_hundredths, report_of, setup, tail,
};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{PLAN_BYTES_MAX, read};
use stripewise_conductor::measure::{PlacedJob, RunOptions, exit_of, measure_alone};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, open_target};
use stripewise_results::RunRecord;
use stripewise_store::Store;
use stripewise_targets::{ErrorKind, Size};
use stripewise_units::{Hint, format_count};
use stripewise_workload::{Request, validate};
use utilisation::Watch;

/// Times are read in nanoseconds, whichever counter was requested.
const COUNTS_PER_SECOND: u64 = 1_000_000_000;

/// The result of an SQLIO command line.
#[derive(Debug)]
pub struct SqlioRun {
    /// The record.
    pub record: RunRecord,
    /// The exit of the command.
    pub exit: Exit,
    /// The failure of the store, if it could not be stored.
    pub stored: Outcome<()>,
}

/// Parses an SQLIO command line.
pub fn parse(words: &[String]) -> Outcome<Command> {
    if words.iter().any(|word| word.trim().is_empty()) {
        return Err(Failure::usage(
            "an argument is empty: a variable of the batch file may not be set",
            "`stripewise sqlio -?` lists the switches",
        ));
    }
    Command::parse(words).map_err(refused)
}

/// Runs it. `say` receives SQLIO's output line by line; a refused command prints nothing that a
/// script could take for the start of a result.
///
/// # Errors
/// If its files cannot be used as requested, or its run cannot start.
pub fn run(
    context: &Context,
    command: &Command,
    drives: &Drives,
    label: Option<&str>,
    permissions: &Permissions,
    say: &mut LineSink<'_>,
) -> Outcome<SqlioRun> {
    let targets = match &command.parameter_file {
        None => None,
        Some(path) => Some(read_parameters(context, drives, path, command)?),
    };
    let setup = setup(command, targets.as_deref()).map_err(refused)?;
    let places = places(drives, &setup)?;
    let call = ParsedCall {
        command,
        setup: &setup,
        places: &places,
        label,
        permissions,
    };
    run_setup(context, &call, say).map_err(name_the_flag)
}

/// A parsed command line.
struct ParsedCall<'a> {
    command: &'a Command,
    setup: &'a Setup,
    places: &'a [NamedPlace],
    label: Option<&'a str>,
    permissions: &'a Permissions,
}

/// The failure for an invalid command line or parameter file.
fn refused(error: stripewise_compat::Error) -> Failure {
    Failure::usage(error.to_string(), error.hint())
}

fn read_parameters(
    context: &Context,
    drives: &Drives,
    path: &str,
    command: &Command,
) -> Outcome<Vec<param_file::Target>> {
    let hint = "check the file name given to -F; it is looked for from the current directory, and on drives that --drive maps";
    let bytes = read(context, &drives.text_file(path), PLAN_BYTES_MAX, hint)?;
    param_file::read(&bytes, path, command).map_err(refused)
}

fn places(drives: &Drives, setup: &Setup) -> Outcome<Vec<NamedPlace>> {
    let files = setup.files.iter();
    let places: Vec<NamedPlace> = files
        .map(|file| drives.place(&file.name, file.raw))
        .collect::<Outcome<_>>()?;
    let simulated = |place: &NamedPlace| matches!(place, NamedPlace::Simulated(_));
    if places.iter().any(simulated) && !places.iter().all(simulated) {
        return Err(Failure::usage(
            "real and simulated drives cannot run at once: they have different clocks",
            "map all drives of the command to one or to the other",
        ));
    }
    Ok(places)
}

fn run_setup(
    context: &Context,
    call: &ParsedCall<'_>,
    say: &mut LineSink<'_>,
) -> Outcome<SqlioRun> {
    let ParsedCall { command, setup, .. } = *call;
    let mut report = setup.report(command, COUNTS_PER_SECOND);
    let mut store = context.open_store()?;
    let cpus = affinity::settle(context, command, setup)?;
    let opened = open(context, &mut store, call, &mut report, say)?;
    let run_options = run_options(setup);
    for options in &run_options {
        for &target in &options.targets {
            validate(&options.workload, opened[target].limits())?;
        }
    }
    let watch = Watch::start();
    let mut how = how(context, call.label, &opened, cpus);
    how.time_hand_overs = command.latency.is_some_and(|latency| latency.initiation);
    let measured = measure_alone(
        context,
        &mut store,
        &opened,
        &run_options,
        &how,
        "Measuring",
    )?;
    let utilisation = watch.finish();
    for target in opened {
        target.finish_or_report(context);
    }
    let record = measured.record;
    let exit = exit_of(context, std::slice::from_ref(&record));
    fill(&mut report, command, &record);
    if let Some(per_processor) = command.utilisation {
        report.other_results = utilisation.lines(context, &record, per_processor);
    }
    say(&tail(&report));
    Ok(SqlioRun {
        record,
        exit,
        stored: measured.stored,
    })
}

/// Checks all files, makes or grows those that need it, and opens them.
fn open(
    context: &Context,
    store: &mut Store,
    call: &ParsedCall<'_>,
    report: &mut Report,
    say: &mut LineSink<'_>,
) -> Outcome<Vec<OpenTarget>> {
    let permissions = call.permissions;
    let needs = needs(call.setup, call.places);
    check_in_flight(&needs)?;
    let files = || call.setup.files.iter().zip(call.places);
    for ((options, place), need) in files().zip(&needs) {
        files::judge(context, store, options, place, need, permissions)?;
    }
    say(&head(report));
    for (options, place) in files() {
        let prepared = files::ready(context, store, options, place, permissions, say)?;
        report.prepared.push(prepared);
    }
    let places = call.places.iter().zip(&needs);
    places
        .map(|(place, need)| open_target(context, store, &place.text(), need, permissions))
        .collect()
}

fn run_options(setup: &Setup) -> Vec<PlacedJob> {
    let run_options = setup.jobs.iter().map(|job| PlacedJob {
        name: job.name.clone(),
        workload: job.workload.clone(),
        targets: job.files.clone(),
    });
    run_options.collect()
}

/// The requirements on each file.
fn needs(setup: &Setup, places: &[NamedPlace]) -> Vec<Needs> {
    let jobs = setup.jobs.iter().map(|job| PlacedJob {
        name: String::new(),
        workload: job.workload.clone(),
        targets: job.files.clone(),
    });
    let run: Vec<PlacedJob> = jobs.collect();
    let load = &setup.jobs[0].workload;
    let files = setup.files.iter().zip(places).enumerate();
    let of_file = files.map(|(index, (options, place))| Needs {
        size: match (options.specified_bytes, place) {
            (_, NamedPlace::Simulated(_)) => Size::Auto,
            (Some(bytes), _) => Size::Exactly(bytes),
            (None, _) if load.size_bytes.is_some() => Size::Exactly(options.needed_bytes),
            (None, _) => Size::Auto,
        },
        // SQLIO always gets threads and outstanding explicitly.
        outstanding_by_number: true,
        ..Needs::of([run.as_slice()], index)
    });
    of_file.collect()
}

/// A number too large to count is a typing error.
fn check_in_flight(needs: &[Needs]) -> Outcome<()> {
    match needs.iter().any(|need| need.outstanding_total == u32::MAX) {
        true => Err(Failure::usage(
            format!(
                "the command asks for {} operations in flight or more",
                format_count(u64::from(u32::MAX))
            ),
            "give a smaller -o, fewer threads (-t) or fewer files",
        )),
        false => Ok(()),
    }
}

fn how(
    context: &Context,
    label: Option<&str>,
    opened: &[OpenTarget],
    cpus: Vec<u32>,
) -> RunOptions {
    let real = opened.iter().any(|target| target.real().is_some());
    let request = Request {
        cpus,
        label: label.map(str::to_owned),
        cache_by_name: false,
        ..Request::default()
    };
    RunOptions::of(context, request, !real)
}

/// Fills in the results.
fn fill(report: &mut Report, command: &Command, record: &RunRecord) {
    let counted = Counted::of(record);
    report.iops_hundredths = rate_hundredths(counted.operations, counted.duration_ns);
    report.mib_hundredths = mib_hundredths(report.iops_hundredths, report.block_kib);
    if command.latency.is_some_and(|latency| latency.initiation) {
        report.initiation_us = initiation_us(record);
    }
    if command.latency.is_some() {
        report.latency_ms = Some(counted.latency_ms());
        report.histogram_percent = Some(counted.histogram_percent());
    }
}

/// Names the flag that permits what a safety rule refused, as it is added to
/// a batch file.
fn name_the_flag(failure: Failure) -> Failure {
    let kind = failure
        .error
        .downcast_ref::<stripewise_targets::Error>()
        .map(|error| error.kind);
    let flag = match kind {
        Some(ErrorKind::NeedsOverwrite) => "--overwrite",
        Some(ErrorKind::NeedsDestroy) => "--destroy NAME (the device's name)",
        Some(ErrorKind::NeedsBusyOk) => "--busy-ok",
        _ => return failure,
    };
    let hint = failure.hint.as_deref().unwrap_or_default();
    let added = format!("add {flag} to this line of the batch file if that is meant. {hint}");
    failure.hinted(Hint::plain(added))
}

/// A stored result of SQLIO, in SQLIO's format.
///
/// # Errors
/// If there is no such run, or it is not a result of SQLIO.
pub fn show(context: &Context, name: &str) -> Outcome<String> {
    let store = context.open_store_to_read()?;
    let record = store.load(name)?;
    let Some(report) = report_of(&record) else {
        return Err(Failure::usage(
            format!("{} was not imported from SQLIO", record.id),
            format!("`stripewise history show {}` shows it", record.id),
        ));
    };
    Ok(report.to_string())
}
