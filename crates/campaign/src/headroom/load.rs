//! The load at factor 1: a recording, or a profile.

use super::HeadroomRequest;
use crate::steps::measured::{OBSERVATION, json_of};
use crate::steps::observation::ObservationDocument;
use crate::steps::recording::FileRecording;
use std::path::Path;
use std::rc::Rc;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::profiles::{ProfileRow, profile, profiles};
use stripewise_stats::ExceedanceDesign;
use stripewise_studies::PlacedJob;
use stripewise_studies::headroom::{HeadroomLoad, LoadFacts, LoadTimeline, allowed_share};
use stripewise_trace::closedness::{INSENSITIVE, LOST_SHARE_MAX};
use stripewise_trace::replay::{Recording, run_length};
use stripewise_units::{
    Kind, counted, format_bytes, format_count, format_duration, format_iops, nearest,
};
use stripewise_workload::{Arrivals, Rate, Workload};

/// Maximum length used of a recording: its busiest part.
const BUSIEST_NS: u64 = 3_600_000_000_000;

/// Length of a profile's runs, whose rate does not vary.
const RUN_NS: u64 = 10_000_000_000;

/// If it is undecided whether the load waits, the maximum elasticity for an answer.
const ELASTICITY_MAX: f64 = 0.5;

/// Of a picture of the recording over time.
const TIMELINE_BINS: u64 = 240;

/// Operations in flight of each job with a rate.
const OUTSTANDING: u32 = 256;

/// The load, as input for the study.
pub(super) struct LoadInput {
    /// The load itself.
    pub(super) load: HeadroomLoad,
    /// Known facts about it.
    pub(super) facts: LoadFacts,
    /// The recording, if it is one.
    pub(super) file: Option<Rc<FileRecording>>,
    /// Required length of its runs.
    pub(super) run_ns: u64,
    /// Its line in the plan.
    pub(super) plan: String,
}

/// The named load: a file, else a profile, else the recording of an observation.
pub(super) fn load_input(context: &Context, requested: &HeadroomRequest) -> Outcome<LoadInput> {
    if Path::new(&requested.load).exists() {
        return of_file(context, requested);
    }
    if profiles().iter().any(|(name, _)| *name == requested.load) {
        if requested.columns.is_some() {
            return Err(Failure::usage(
                format!(
                    "--columns describes a trace, and {} is a profile",
                    requested.load
                ),
                "leave out --columns, or name the file of a trace",
            ));
        }
        return of_profile(context, requested);
    }
    match json_of(context, OBSERVATION, &requested.load)? {
        Some(json) => of_observation(context, requested, &json),
        None => Err(unknown(&requested.load)),
    }
}

/// The name is neither a file nor a profile nor an observation.
fn unknown(load: &str) -> Failure {
    let near = nearest(load, profiles().into_iter().map(|(name, _)| name));
    let hint = match near {
        Some(near) => format!("did you mean the profile `{near}`?"),
        None => "name a trace, a model (.swmodel), a profile (`stripewise run --help` lists them), or an observation \
                 of `stripewise history`"
            .to_owned(),
    };
    Failure::usage(
        format!("{load} is neither a file nor a profile nor an observation"),
        hint,
    )
}

/// The file that an observation was read from, or to which it wrote its operations.
fn of_observation(
    context: &Context,
    requested: &HeadroomRequest,
    json: &str,
) -> Outcome<LoadInput> {
    let observation = ObservationDocument::of_stored(json)?;
    let recorded = observation.source.recorded.ok_or_else(|| {
        Failure::usage(
            format!("observation {} kept no operations", observation.id),
            "observe again with --keep-trace FILE or --model FILE, and name that observation or file",
        )
    })?;
    of_file(
        context,
        &HeadroomRequest {
            load: recorded.path,
            columns: requested.columns.clone().or(recorded.columns),
            ..requested.clone()
        },
    )
}

fn of_file(context: &Context, requested: &HeadroomRequest) -> Outcome<LoadInput> {
    if requested.rate.is_some() {
        return Err(Failure::usage(
            "--rate applies to a profile, and a recording has arrivals of its own",
            "leave out --rate",
        ));
    }
    let (path, columns) = (Path::new(&requested.load), requested.columns.as_deref());
    let mut file = FileRecording::read(context, path, columns, requested.base.seed)?;
    let failed = |error: stripewise_trace::replay::RecordingError| {
        Failure::usage(error.to_string(), error.hint())
    };
    let whole_ns = file.recording.duration_ns();
    let mut timeline = timeline(&file.recording);
    let from_ns = file.recording.keep_busiest(BUSIEST_NS).map_err(failed)?;
    if file.recording.facts.lost_share > LOST_SHARE_MAX {
        return Err(Failure::usage(
            format!("{} lost more than 0.1 % of its events", file.name),
            "record again with larger buffers",
        ));
    }
    let recording = &file.recording;
    let (closedness, waiting_users) = closedness(&file)?;
    let length = run_length(recording);
    let operations = recording.requests.len() as u64;
    let iops = operations as f64 * 1e9 / recording.duration_ns() as f64;
    let mut plan = format!(
        "Load: {} ({}), {} operations in {}, {} IOPS, {} written",
        file.name,
        file.format,
        format_count(operations),
        format_duration(recording.duration_ns()),
        format_iops(iops),
        format_bytes(recording.of_kind(Kind::Write).1),
    );
    if whole_ns > recording.duration_ns() {
        timeline.busiest_ns = Some([from_ns, from_ns + recording.duration_ns()]);
        plan += &format!(
            ": the busiest hour of {}, from {} on",
            format_duration(whole_ns),
            format_duration(from_ns)
        );
    }
    if let Some(missed) = missed_in_recording(&file, requested) {
        context.note(missed);
    }
    let workload = file.workload(file.unchanged(false), &requested.base, 512);
    Ok(LoadInput {
        facts: LoadFacts {
            name: file.name.clone(),
            operations: Some(operations),
            duration_ns: Some(recording.duration_ns()),
            iops: Some(iops),
            waits: waiting_users.is_some() || file.recording.waited,
            waiting_users,
            closedness,
            design: match length.varies_slowly {
                true => ExceedanceDesign::Blocks,
                false => ExceedanceDesign::Independent,
            },
            timeline: Some(timeline),
            cap: None,
        },
        load: HeadroomLoad::Recorded(Box::new(workload)),
        run_ns: length.run_ns,
        file: Some(Rc::new(file)),
        plan,
    })
}

/// IOPS over the time of a recording.
fn timeline(recording: &Recording) -> LoadTimeline {
    let bin_ns = recording.duration_ns().div_ceil(TIMELINE_BINS).max(1);
    let bins = recording.duration_ns().div_ceil(bin_ns) as usize;
    let mut counts = vec![0u64; bins];
    for one in &recording.requests {
        if let Some(count) = counts.get_mut((one.request.at_ns / bin_ns) as usize) {
            *count += 1;
        }
    }
    let rate = |count: u64| count as f64 * 1e9 / bin_ns as f64;
    LoadTimeline {
        bin_ns,
        iops: counts.into_iter().map(rate).collect(),
        busiest_ns: None,
    }
}

/// The recorded load already missed the limit: `observe` can explain that.
fn missed_in_recording(file: &FileRecording, requested: &HeadroomRequest) -> Option<String> {
    let allowed = allowed_share(&requested.slo)?;
    let lasted = file
        .recording
        .requests
        .iter()
        .filter_map(|one| one.lasted_ns);
    let (all, over) = lasted.fold((0u64, 0u64), |(all, over), ns| {
        (all + 1, over + u64::from(ns > requested.slo.limit_ns))
    });
    let share = over as f64 / all.max(1) as f64;
    (all > 0 && share > allowed).then(|| {
        format!(
            "{} was missed in the recording itself: {:.1} % of its operations took longer",
            requested.slo,
            100.0 * share
        )
    })
}

/// Whether the recording waits for its disk, in words, and its number of users if that is
/// certain.
fn closedness(file: &FileRecording) -> Outcome<(String, Option<u32>)> {
    if file.recording.waited {
        let text = "yes, when it was recorded: a model keeps arrivals and not who waits for what, so its rate is a \
                    lower bound, and users cannot be counted";
        return Ok((text.to_owned(), None));
    }
    let Some(load) = &file.recording.closedness else {
        let text = "not known: completions were not recorded; if it does, the answers are lower bounds of its rate";
        return Ok((text.to_owned(), None));
    };
    let [low, high] = load.elasticity_interval;
    if load.waits() {
        let slots = load.tasks.iter().filter_map(|task| task.closedness.slots);
        let users = slots.sum::<f64>().round().max(1.0) as usize;
        let tasks = load.tasks.len();
        let mut ends = vec![format!("{low:.2}"), format!("{high:.2}")];
        ends.dedup();
        let text = format!(
            "yes: about {} of {} at a time, and the rate falls {} % for each % of latency",
            counted(users, "operation", "operations"),
            counted(tasks, "task", "tasks"),
            ends.join("-")
        );
        return Ok((text, Some(tasks.max(1) as u32)));
    }
    let Some(elasticity) = load.elasticity else {
        let text = "not known: too few operations of each task; if it does, the answers are lower bounds of its rate";
        return Ok((text.to_owned(), None));
    };
    if high < INSENSITIVE {
        return Ok((
            "hardly: its rate does not depend on latency".to_owned(),
            None,
        ));
    }
    let is_open = load
        .tasks
        .iter()
        .all(|task| task.closedness.structure.is_open());
    if is_open {
        return Ok(("no: it comes whatever the disk does".to_owned(), None));
    }
    if high > ELASTICITY_MAX {
        return Err(Failure::usage(
            format!(
                "whether {} waits for its disk is undecided (elasticity {low:.2}-{high:.2}): if it does not, open \
                 replay is right; if it does, that is a lower bound",
                file.name
            ),
            "record longer, with tasks and completions",
        ));
    }
    let text = format!("partly: elasticity {elasticity:.2} ({low:.2}-{high:.2})");
    Ok((text, None))
}

/// The cells of a profile: at a rate divided by their shares of the operations, or closed.
fn of_profile(context: &Context, requested: &HeadroomRequest) -> Outcome<LoadInput> {
    let cores = context.host().cpu.count.max(1);
    let profile = profile(&requested.load, cores)?;
    if let Some(rate) = requested.rate
        && !(rate > 0.0 && rate <= 1e9)
    {
        return Err(Failure::usage(
            format!("--rate {rate} is out of range"),
            "give operations a second above 0",
        ));
    }
    let rows: Vec<_> = profile
        .rows
        .iter()
        .filter(|row| row.share_percent > 0.0)
        .collect();
    let all: f64 = rows.iter().map(|row| row.share_percent).sum();
    let room = OUTSTANDING / rows.len().max(1) as u32;
    let jobs: Vec<PlacedJob> = (rows.iter())
        .map(|row| job_of(row, requested, row.share_percent / all, room))
        .collect();
    let in_flight: u32 = (jobs.iter())
        .map(|job| job.workload.threads * job.workload.outstanding)
        .sum();
    let (closedness, waiting_users, plan) = match requested.rate {
        Some(rate) => (
            "no: a rate is given".to_owned(),
            None,
            format!(
                "Load: profile {} at {} IOPS",
                profile.name,
                format_iops(rate)
            ),
        ),
        None => (
            "yes: a profile without --rate keeps its depth".to_owned(),
            Some(in_flight),
            format!(
                "Load: profile {} with its own {in_flight} operations in flight, closed: --rate N makes it open",
                profile.name
            ),
        ),
    };
    Ok(LoadInput {
        load: HeadroomLoad::Jobs(jobs),
        facts: LoadFacts {
            name: profile.name,
            operations: None,
            duration_ns: None,
            iops: requested.rate,
            waits: waiting_users.is_some(),
            waiting_users,
            closedness,
            design: ExceedanceDesign::Independent,
            timeline: None,
            cap: None,
        },
        file: None,
        run_ns: RUN_NS,
        plan,
    })
}

/// A cell of a profile: with its share of the rate and room for its arrivals, or at its own
/// depth.
fn job_of(row: &ProfileRow, requested: &HeadroomRequest, share: f64, room: u32) -> PlacedJob {
    let own = &row.workload;
    let (threads, outstanding) = match requested.rate {
        Some(_) => (1, room.max(1)),
        None => (own.threads, own.outstanding),
    };
    let workload = Workload {
        threads,
        outstanding,
        rate: requested.rate.map(|iops| Rate {
            iops: iops * share,
            arrivals: Arrivals::Poisson,
        }),
        think_time: None,
        data: requested.base.data,
        ..own.clone()
    };
    PlacedJob::new(row.name.clone(), workload)
}
