//! Runs a recorded load: a trace, or a model of one.

use super::{RunResult, check_buffers, check_cpus};
use crate::steps::recording::FileRecording;
use std::path::PathBuf;
use std::rc::Rc;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::{
    PlacedJob, Recordings, RunOptions, check_before, engine_of, measure_alone,
};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::planned::PlannedRuns;
use stripewise_conductor::targets::{OpenTarget, open_or_nothing};
use stripewise_io_engine::EngineName;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{Kind, format_bytes, format_count, format_duration, path_of};
use stripewise_workload::{Recorded, Request, Workload, check};

/// Allowed range of copies and speed.
const FACTORS: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;

/// Dependencies between operations in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loop {
    /// Closed if the recording shows that its tasks wait for the disk, else open.
    #[default]
    Auto,
    /// Operations are issued at their recorded times, whatever the disk does.
    Open,
    /// Each waits for the completion that it waited for in the recording.
    Closed,
}

/// The recording to replay, and how.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// As typed.
    pub target: String,
    /// A trace or a model.
    pub trace: PathBuf,
    /// The columns of a trace in rows, if its format is unknown.
    pub columns: Option<String>,
    /// Speed-up factor.
    pub speed: f64,
    /// Number of concurrent copies.
    pub copies: f64,
    /// Longer pauses are cut to this.
    pub idle_ns_max: Option<u64>,
    /// Open or closed.
    pub closed_loop: Loop,
    /// Duration; `None`: as long as the recording.
    pub duration_ns: Option<u64>,
    /// Cache mode, data, seed, size of the test file, operations in flight (1: as many as
    /// needed).
    pub base: Workload,
    /// Engine, interval, label: everything except the jobs.
    pub request: Request,
}

/// Replays the recording.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn replay(
    context: &Context,
    store: &mut Store,
    options: &ReplayOptions,
    permissions: &Permissions,
) -> Outcome<RunResult> {
    let (file, recorded, base) = prepared(context, options)?;
    let engine = engine_of(&options.request)?;
    // The target's sector size is known once it is open.
    let load = file.workload(recorded.clone(), &base, 512);
    check_before(&load, None)?;
    let planned = PlannedRuns {
        targets: vec![options.target.clone()],
        runs: vec![vec![PlacedJob::new("replay", load.clone())]],
    };
    check_cpus(&options.request.cpus)?;
    check_buffers(&planned, engine)?;
    let needs = Needs {
        size: match options.base.size_bytes {
            Some(bytes) => Size::Exactly(bytes),
            None if path_of(&options.target).is_dir() => Size::Exactly(file.file_bytes()),
            None if engine == EngineName::Null => Size::Exactly(file.file_bytes()),
            None => Size::Auto,
        },
        outstanding_by_number: options.request.load_by_number,
        cache_by_name: options.request.cache_by_name,
        engine,
        ..Needs::of_loads([&load])
    };
    context.plan(plan(&file, &recorded, &load));
    let target = open_or_nothing(context, store, &options.target, &needs, permissions)?;
    let sector_bytes = u64::from(target.limits().logical_sector_bytes);
    let load = file.workload(recorded, &base, sector_bytes);
    let collisions = file.mapping(&target)?.collision_share;
    if collisions > 0.0 {
        let percent = 100.0 * collisions;
        context.note(format!(
            "{percent:.1} % of the operations share a place with others that were elsewhere"
        ));
    }
    let ran = run_once(
        context,
        store,
        &target,
        PlacedJob::new("replay", load),
        file,
        options,
    );
    target.finish_or_report(context);
    ran
}

/// The recording, its changes, and the other parameters of the workload.
fn prepared(
    context: &Context,
    options: &ReplayOptions,
) -> Outcome<(Rc<FileRecording>, Recorded, Workload)> {
    for (name, factor) in [("--speed", options.speed), ("--copies", options.copies)] {
        if !FACTORS.contains(&factor) {
            let hint = "give a number from 0.001 to 1000; 1 is as recorded";
            return Err(Failure::usage(
                format!("{name} {factor} is out of range"),
                hint,
            ));
        }
    }
    let columns = options.columns.as_deref();
    let mut file = FileRecording::read(context, &options.trace, columns, options.base.seed)?;
    if let Some(idle_ns_max) = options.idle_ns_max {
        file.recording.cut_idle(idle_ns_max);
    }
    let closed = match options.closed_loop {
        Loop::Auto => file.is_closed() && options.speed == 1.0,
        Loop::Open => false,
        Loop::Closed => true,
    };
    if closed && options.speed != 1.0 {
        return Err(Failure::usage(
            "--speed changes instants, and a closed load has none of its own",
            "use --loop open, or more users with --copies",
        ));
    }
    if closed && file.recording.closedness.is_none() {
        return Err(Failure::usage(
            format!("{} does not say when operations completed", file.name),
            "use --loop open",
        ));
    }
    let recorded = Recorded {
        copies: options.copies,
        speed: options.speed,
        idle_ns_max: options.idle_ns_max,
        ..file.unchanged(closed)
    };
    let as_recorded = (file.recording.duration_ns() as f64 / options.speed) as u64;
    let base = Workload {
        duration_ns: options.duration_ns.unwrap_or(as_recorded).max(1),
        ..options.base.clone()
    };
    check(&file.workload(recorded.clone(), &base, 512))?;
    Ok((Rc::new(file), recorded, base))
}

/// What will be read and written.
fn plan(file: &FileRecording, recorded: &Recorded, load: &Workload) -> String {
    let recording = &file.recording;
    let [reads, writes, discards, syncs] =
        [Kind::Read, Kind::Write, Kind::Discard, Kind::Sync].map(|kind| recording.of_kind(kind));
    let rounds = recorded.copies * recorded.speed * load.duration_ns as f64
        / recording.duration_ns().max(1) as f64;
    let scaled = |count: u64| (count as f64 * rounds).round() as u64;
    let mut text = format!(
        "Replay of {} ({}): {} operations in {}: reads {}, writes {}",
        file.name,
        file.format,
        format_count(scaled(recording.requests.len() as u64)),
        format_duration(load.duration_ns),
        format_bytes(scaled(reads.1)),
        format_bytes(scaled(writes.1)),
    );
    for ((count, _), what) in [(discards, "discards"), (syncs, "flushes")] {
        if count > 0 {
            text += &format!(", {} {what}", format_count(scaled(count)));
        }
    }
    text += &match recorded.closed {
        true => {
            "; closed loop: each operation waits for the one it waited for, and for its think time"
                .to_owned()
        }
        false => "; open loop: at the recorded instants".to_owned(),
    };
    if recorded.copies != 1.0 {
        text += &format!(", {} copies", recorded.copies);
    }
    if recorded.speed != 1.0 {
        text += &format!(", {} times as fast", recorded.speed);
    }
    text += &format!("; its places need {}", format_bytes(file.file_bytes()));
    if recording.idle_cut_ns > 0 {
        text += &format!(
            "; {} of idle time cut out",
            format_duration(recording.idle_cut_ns)
        );
    }
    if recording.left_out > 0 {
        text += &format!(
            "; {} operations of other devices left out",
            format_count(recording.left_out)
        );
    }
    text
}

fn run_once(
    context: &Context,
    store: &mut Store,
    target: &OpenTarget,
    job: PlacedJob,
    file: Rc<FileRecording>,
    options: &ReplayOptions,
) -> Outcome<RunResult> {
    let simulated = target.simulated().is_some();
    let how = RunOptions {
        recordings: Some(file as Rc<dyn Recordings>),
        ..RunOptions::of(context, options.request.clone(), simulated)
    };
    let targets = std::slice::from_ref(target);
    let measured = measure_alone(context, store, targets, &[job], &how, "Replaying")?;
    Ok(RunResult {
        records: vec![measured.record],
        ended: measured.stored,
    })
}
