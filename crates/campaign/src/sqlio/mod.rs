//! `sqlio`: what SQLIO's command line asks for, run like any run of ours, told as
//! SQLIO told it. Words and their meaning are in `compat`; the safety rules stand
//! above compatibility.

mod affinity;
mod files;
mod utilisation;

pub use files::Say;

use crate::context::{Context, store_failure};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::observer::Progress;
use crate::permissions::Permissions;
use crate::steps::drives::{Drives, NamedPlace};
use crate::steps::input::{PLAN_BYTES_MAX, read};
use crate::steps::keep::RunPlace;
use crate::steps::measure::{
    Measured, PlacedJob, RunOptions, exit_of, length_ns, measure, workload_failure,
};
use crate::steps::targets::{OpenTarget, TargetRequirements, open_target};
use stripewise_compat::sqlio::{
    Command, Counted, Report, Setup, head, initiation_us, mib_hundredths, param_file,
    rate_hundredths, report_of, setup, tail,
};
use stripewise_io_engine::EngineName;
use stripewise_results::RunRecord;
use stripewise_store::Store;
use stripewise_targets::{ErrorKind, Size};
use stripewise_units::{Hint, format_count};
use stripewise_workload::{Request, validate};
use utilisation::Watch;

/// Times are read in nanoseconds, whichever counter was asked for.
const COUNTS_PER_SECOND: u64 = 1_000_000_000;

/// What came of a command line of SQLIO.
#[derive(Debug)]
pub struct SqlioRun {
    /// The record.
    pub record: RunRecord,
    /// How the command ends.
    pub exit: Exit,
    /// The failure of the store, if it could not be kept.
    pub kept: Outcome<()>,
}

/// Understands a command line of SQLIO.
///
/// # Errors
/// Where it cannot be understood.
pub fn parse(words: &[String]) -> Outcome<Command> {
    if words.iter().any(|word| word.trim().is_empty()) {
        return Err(Failure::usage(
            "an argument is empty: a variable of the batch file may not be set",
            "`stripewise sqlio -?` lists the switches",
        ));
    }
    Command::parse(words).map_err(refused)
}

/// Runs it. `say` takes SQLIO's lines as they come; what is refused says nothing that a
/// script would take for a result's head.
///
/// # Errors
/// Where its files cannot be used as it asks, or its run cannot start.
pub fn run(
    context: &Context,
    command: &Command,
    drives: &Drives,
    label: Option<&str>,
    permissions: &Permissions,
    say: &mut Say<'_>,
) -> Outcome<SqlioRun> {
    let targets = match &command.parameter_file {
        None => None,
        Some(path) => Some(read_parameters(context, drives, path, command)?),
    };
    let setup = setup(command, targets.as_deref()).map_err(refused)?;
    let places = places(drives, &setup)?;
    let asked = Asked {
        command,
        setup: &setup,
        places: &places,
        label,
        permissions,
    };
    run_setup(context, &asked, say).map_err(name_the_flag)
}

/// A command line that is understood.
struct Asked<'a> {
    command: &'a Command,
    setup: &'a Setup,
    places: &'a [NamedPlace],
    label: Option<&'a str>,
    permissions: &'a Permissions,
}

/// A command line or parameter file that is not understood.
fn refused(error: stripewise_compat::Error) -> Failure {
    let hint = error.hint().to_owned();
    Failure::usage(error.to_string(), hint)
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

fn run_setup(context: &Context, asked: &Asked<'_>, say: &mut Say<'_>) -> Outcome<SqlioRun> {
    let Asked { command, setup, .. } = *asked;
    let mut report = setup.report(command, COUNTS_PER_SECOND);
    let mut store = context.open_store()?;
    let cpus = affinity::settle(context, command, setup)?;
    let aimed = open(context, &mut store, asked, &mut report, say)?;
    let wishes = wishes(setup);
    for wish in &wishes {
        for &target in &wish.targets {
            validate(&wish.workload, aimed[target].limits()).map_err(workload_failure)?;
        }
    }
    let watch = Watch::start();
    let mut how = how(context, asked.label, &aimed, cpus);
    how.time_hand_overs = command.latency.is_some_and(|latency| latency.initiation);
    let measured = measured(context, &mut store, &aimed, &wishes, &how)?;
    let utilisation = watch.finish();
    for target in aimed {
        target.finish()?;
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
        kept: measured.kept,
    })
}

/// Judges all files, makes or grows those that need it, and opens them.
fn open(
    context: &Context,
    store: &mut Store,
    asked: &Asked<'_>,
    report: &mut Report,
    say: &mut Say<'_>,
) -> Outcome<Vec<OpenTarget>> {
    let permissions = asked.permissions;
    let needs = needs(asked.setup, asked.places)?;
    let files = || asked.setup.files.iter().zip(asked.places);
    for ((wish, place), need) in files().zip(&needs) {
        files::judge(context, store, wish, place, need, permissions)?;
    }
    say(&head(report));
    for (wish, place) in files() {
        let prepared = files::ready(context, store, wish, place, permissions, say)?;
        report.prepared.push(prepared);
    }
    let places = asked.places.iter().zip(&needs);
    places
        .map(|(place, need)| open_target(context, store, &place.text(), need, permissions))
        .collect()
}

fn wishes(setup: &Setup) -> Vec<PlacedJob> {
    let wishes = setup.jobs.iter().map(|job| PlacedJob {
        name: job.name.clone(),
        workload: job.workload.clone(),
        targets: job.files.clone(),
    });
    wishes.collect()
}

/// What the run needs of each of its files.
fn needs(setup: &Setup, places: &[NamedPlace]) -> Outcome<Vec<TargetRequirements>> {
    let in_flight = |job: &stripewise_compat::sqlio::SetupJob| {
        let files = if job.workload.in_turn {
            1
        } else {
            job.files.len() as u64
        };
        let each = u64::from(job.workload.threads) * u64::from(job.workload.outstanding);
        each.saturating_mul(files)
    };
    let total = setup
        .jobs
        .iter()
        .map(in_flight)
        .fold(0, u64::saturating_add);
    let total = u32::try_from(total).map_err(|_| {
        Failure::usage(
            format!(
                "the command asks for {} operations in flight",
                format_count(total)
            ),
            "give a smaller -o, fewer threads (-t) or fewer files",
        )
    })?;
    let load = &setup.jobs[0].workload;
    let files = setup.files.iter().zip(places);
    Ok(files
        .map(|(wish, place)| TargetRequirements {
            reads: load.read_percent > 0,
            writes: load.read_percent == 0,
            size: match (wish.specified_bytes, place) {
                (_, NamedPlace::Simulated(_)) => Size::Auto,
                (Some(bytes), _) => Size::Exactly(bytes),
                (None, _) if load.size_bytes.is_some() => Size::Exactly(wish.needed_bytes),
                (None, _) => Size::Auto,
            },
            outstanding_total: total,
            // SQLIO's user always says threads and outstanding by number.
            outstanding_by_number: true,
            cache: load.cache,
            cache_by_name: false,
            engine: EngineName::Auto,
            loads: Vec::new(),
            data: load.data,
            seed: load.seed,
            fill_time_limit_ns: None,
            filled_by_caller: false,
        })
        .collect())
}

fn how(context: &Context, label: Option<&str>, aimed: &[OpenTarget], cpus: Vec<u32>) -> RunOptions {
    let real = aimed.iter().any(|target| target.real().is_some());
    let request = Request {
        cpus,
        label: label.map(str::to_owned),
        cache_by_name: false,
        ..Request::default()
    };
    RunOptions::of(context, request, !real)
}

fn measured(
    context: &Context,
    store: &mut Store,
    aimed: &[OpenTarget],
    wishes: &[PlacedJob],
    how: &RunOptions,
) -> Outcome<Measured> {
    let length_ns = length_ns(wishes);
    let real = aimed.iter().any(|target| target.real().is_some());
    let progress = Progress::begin(context.observer(), !real, length_ns, "Measuring");
    let place = RunPlace {
        title: "Measuring",
        before_ns: 0,
        expected_ns: length_ns,
        after_ns: Some(0),
    };
    measure(context, store, aimed, wishes, how, &progress, &place)
}

/// Enters what came of it.
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

/// What a safety rule refuses, one flag may allow: it is named as it is added to
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

/// A kept result of SQLIO, as SQLIO printed it.
///
/// # Errors
/// Where there is no such run, or it is not a result of SQLIO.
pub fn show(context: &Context, name: &str) -> Outcome<String> {
    let store = context.open_store_to_read()?;
    let record = store.load(name).map_err(store_failure)?;
    let Some(report) = report_of(&record) else {
        return Err(Failure::usage(
            format!("{} was not imported from SQLIO", record.id),
            format!("`stripewise history show {}` shows it", record.id),
        ));
    };
    Ok(report.to_string())
}
