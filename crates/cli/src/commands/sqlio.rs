//! `sqlio`: what SQLIO's command line asks for, run like any run of ours, told as
//! SQLIO told it. Words and their meaning are in `compat`; the safety rules stand
//! above compatibility.

mod affinity;
pub mod drives;
mod files;
mod utilisation;

use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::document::{note, print_exact, print_text};
use crate::show::runs;
use crate::show::terminal::say_part;
use crate::switches::sqlio::Sqlio;
use drives::{Drives, Place};
use stripewise_campaign::Permissions;
use stripewise_campaign::observer::Progress;
use stripewise_campaign::steps::input::{PLAN_BYTES_MAX, read};
use stripewise_campaign::steps::keep::Place as RunPlace;
use stripewise_campaign::steps::measure::{
    Measured, PlacedJob, RunOptions, exit_of, length_ns, measure, workload_failure,
};
use stripewise_campaign::steps::targets::{OpenTarget, TargetRequirements, open_target};
use stripewise_compat::sqlio::{
    Command, Counted, Report, Setup, head, initiation_us, mib_hundredths, param_file,
    rate_hundredths, report_of, setup, tail,
};
use stripewise_report::warnings_text;
use stripewise_results::RunRecord;
use stripewise_runner::trust::Code;
use stripewise_store::Store;
use stripewise_targets::{ErrorKind, Size};
use stripewise_units::format_count;
use stripewise_workload::{Request, validate};
use utilisation::Watch;

/// Times are read in nanoseconds, whichever counter was asked for.
const COUNTS_PER_SECOND: u64 = 1_000_000_000;

pub fn sqlio(context: &Context, arguments: &Sqlio) -> Outcome {
    if let Some(name) = &arguments.show {
        return show(context, name);
    }
    if arguments.words.iter().any(|word| word.trim().is_empty()) {
        return Err(Failure::usage(
            "an argument is empty: a variable of the batch file may not be set",
            "`stripewise sqlio -?` lists the switches",
        ));
    }
    let command = Command::parse(&arguments.words).map_err(refused)?;
    if command.help || (arguments.words.is_empty() && arguments.help.is_none()) {
        print_text(stripewise_compat::sqlio::USAGE);
        return Ok(Exit::Done);
    }
    for text in &command.notes {
        note(text);
    }
    let targets = match &command.parameter_file {
        None => None,
        Some(path) => Some(read_parameters(context, arguments, path, &command)?),
    };
    let setup = setup(&command, targets.as_deref()).map_err(refused)?;
    let places = places(arguments, &setup)?;
    let result = run(context, arguments, &command, &setup, &places);
    result.map_err(name_the_flag)
}

/// A command line or parameter file that is not understood.
fn refused(error: stripewise_compat::Error) -> Failure {
    let hint = error.hint().to_owned();
    Failure::usage(error.to_string(), hint)
}

fn read_parameters(
    context: &Context,
    arguments: &Sqlio,
    path: &str,
    command: &Command,
) -> Outcome<Vec<param_file::Target>> {
    let hint = "check the name behind -F; it is looked for from the current directory, and on drives that --drive maps";
    let drives = Drives::parse(&arguments.drive)?;
    let bytes = read(
        context,
        &drives.text_file(path, |name| std::env::var(name).ok()),
        PLAN_BYTES_MAX,
        hint,
    )?;
    param_file::read(&bytes, path, command).map_err(refused)
}

fn places(arguments: &Sqlio, setup: &Setup) -> Outcome<Vec<Place>> {
    let drives = Drives::parse(&arguments.drive)?;
    let places: Vec<Place> = setup
        .files
        .iter()
        .map(|file| drives.place(&file.name, file.raw, |name| std::env::var(name).ok()))
        .collect::<Outcome<_>>()?;
    let simulated = |place: &Place| matches!(place, Place::Simulated(_));
    if places.iter().any(simulated) && !places.iter().all(simulated) {
        return Err(Failure::usage(
            "real and simulated drives cannot run at once: they have different clocks",
            "map all drives of the command to one or to the other",
        ));
    }
    Ok(places)
}

fn run(
    context: &Context,
    arguments: &Sqlio,
    command: &Command,
    setup: &Setup,
    places: &[Place],
) -> Outcome {
    let mut report = setup.report(command, COUNTS_PER_SECOND);
    let mut store = context.open_store()?;
    let cpus = affinity::settle(command, setup)?;
    let permissions = Permissions {
        keep: false,
        overwrite: arguments.overwrite,
        destroy: arguments.destroy.clone(),
        busy_ok: arguments.busy_ok,
    };
    let needs = needs(setup, places)?;
    // What is refused prints nothing that a script would take for a result's head.
    for ((wish, place), need) in setup.files.iter().zip(places).zip(&needs) {
        files::judge(context, &store, wish, place, need, &permissions)?;
    }
    if !context.global.json {
        print_text(&head(&report));
    }
    for (wish, place) in setup.files.iter().zip(places) {
        let prepared = files::ready(context, &mut store, wish, place, &permissions)?;
        report.prepared.push(prepared);
    }
    let aimed: Vec<OpenTarget> = places
        .iter()
        .zip(&needs)
        .map(|(place, need)| open_target(context, &mut store, &place.text(), need, &permissions))
        .collect::<Outcome<_>>()?;
    let wishes = wishes(setup);
    for wish in &wishes {
        for &target in &wish.targets {
            validate(&wish.workload, aimed[target].limits()).map_err(workload_failure)?;
        }
    }
    let watch = Watch::start();
    let mut how = how(context, arguments, &aimed, cpus);
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
        report.other_results = utilisation.lines(&record, per_processor);
    }
    tell(context, &store, &report, record);
    measured.kept?;
    Ok(exit)
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
fn needs(setup: &Setup, places: &[Place]) -> Outcome<Vec<TargetRequirements>> {
    let in_flight = |job: &stripewise_compat::sqlio::JobWish| {
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
                (_, Place::Simulated(_)) => Size::Auto,
                (Some(bytes), _) => Size::Exactly(bytes),
                (None, _) if load.size_bytes.is_some() => Size::Exactly(wish.needed_bytes),
                (None, _) => Size::Auto,
            },
            outstanding_total: total,
            // SQLIO's user always says threads and outstanding by number.
            outstanding_by_number: true,
            cache: load.cache,
            cache_by_name: false,
            data: load.data,
            seed: load.seed,
            fill_time_limit_ns: None,
        })
        .collect())
}

fn how(context: &Context, arguments: &Sqlio, aimed: &[OpenTarget], cpus: Vec<u32>) -> RunOptions {
    let real = aimed.iter().any(|target| target.real().is_some());
    let request = Request {
        cpus,
        label: arguments.label.clone(),
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
        after_ns: 0,
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

/// SQLIO's lines on stdout; everything of ours on stderr.
fn tell(context: &Context, store: &Store, report: &Report, record: RunRecord) {
    let document = runs::document(vec![record]);
    if context.global.json {
        print_exact(&document.to_json());
        return;
    }
    print_text(&tail(report));
    say_part!("{}", runs::partial_lines(&document.runs));
    let warnings = warnings_text(&without_percentiles(&document.runs));
    say_part!("{warnings}{}", switches_here(&warnings));
    if !context.global.quiet {
        say_part!("{}", runs::kept_line(store, &document.runs));
    }
}

/// Without the note on a percentile that is not shown: SQLIO shows none.
fn without_percentiles(runs: &[RunRecord]) -> Vec<RunRecord> {
    let mut runs = runs.to_vec();
    for job in runs.iter_mut().flat_map(|run| &mut run.jobs) {
        job.warnings
            .retain(|warning| warning.code != Code::FewForP999.as_str());
    }
    runs
}

/// Hints of warnings name switches of `run`: what stands for them here.
fn switches_here(warnings: &str) -> String {
    let known = [
        ("--size", "the size in a parameter file (-F)"),
        ("--duration", "-s"),
        (
            "--ramp",
            "not there: SQLIO measures from the first operation",
        ),
        ("--cache", "-B"),
        ("--threads", "-t"),
        ("--outstanding", "-o"),
        ("--sync", "not there"),
        ("--engine", "not there"),
    ];
    let named: Vec<String> = known
        .iter()
        .filter(|(switch, _)| warnings.contains(switch))
        .map(|(switch, here)| format!("{switch} is {here}"))
        .collect();
    match named.as_slice() {
        [] => String::new(),
        named => format!("note: in sqlio, {}\n", named.join("; ")),
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
    let hint = failure.hint.unwrap_or_default();
    Failure {
        hint: Some(format!(
            "add {flag} to this line of the batch file if that is meant. {hint}"
        )),
        ..failure
    }
}

/// Prints a kept result of SQLIO again.
fn show(context: &Context, name: &str) -> Outcome {
    let store = context.open_store_to_read()?;
    let record = store.load(name).map_err(store_failure)?;
    let Some(report) = report_of(&record) else {
        return Err(Failure::usage(
            format!("{} was not imported from SQLIO", record.id),
            format!("`stripewise history show {}` shows it", record.id),
        ));
    };
    print_text(&report.to_string());
    Ok(Exit::Done)
}
