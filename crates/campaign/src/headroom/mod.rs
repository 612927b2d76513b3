//! `headroom`: how much more of a load a target carries before it exceeds its latency limit.

mod cap;
mod load;

use crate::steps::TIMES_ARE_SIMULATED;
use crate::steps::headroom::KIND;
pub use crate::steps::headroom::{
    HeadroomComparison, HeadroomRequest, StoredHeadroom, compare_headrooms,
};
use crate::steps::recording::FileRecording;
use crate::steps::resumable_answer::id_time_and_host;
use cap::known_cap;
use load::{LoadInput, load_input};
use std::rc::Rc;
use stripewise_conductor::conduct::{Setup, conduct, open, refuse_unusable};
use stripewise_conductor::context::{Context, store_measured};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::{Recordings, exit_of};
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::OpenTarget;
use stripewise_stats::ExceedanceDesign;
pub use stripewise_stats::Slo;
use stripewise_studies::Origin;
use stripewise_studies::headroom::{
    Headroom, HeadroomDocument, HeadroomLoad, HeadroomOptions, allowed_share,
};
use stripewise_targets::Size;
use stripewise_units::{format_duration, is_sim_target, path_of};
use stripewise_workload::Request;

/// Minimum length of a recording, in runs.
const RUNS_OF_RECORDING_MIN: u64 = 20;

/// Shortest run: operations are counted by the second.
const RUN_NS_MIN: u64 = 1_000_000_000;

/// The result.
pub struct HeadroomResult {
    /// The stored result.
    pub found: StoredHeadroom,
    /// The exit of the command.
    pub exit: Exit,
    /// The failure that ended it early, if any.
    pub ended: Option<Failure>,
}

/// Measures the headroom.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn headroom(
    context: &Context,
    requested: &HeadroomRequest,
    permissions: &Permissions,
) -> Outcome<HeadroomResult> {
    refuse_other_limits(&requested.slo)?;
    let mut given = load_input(context, requested)?;
    let mut store = context.open_store()?;
    let begun = (requested.resume.as_deref())
        .map(|name| StoredHeadroom::begun(&store, name))
        .transpose()?;
    given.facts.cap = match &begun {
        Some((_, begun, _)) => begun.options().facts.cap.clone(),
        None => known_cap(&store, &requested.target, given.file.as_deref())?,
    };
    let stored = begun.as_ref().map(|(document, ..)| document);
    let [id, started_at, host] = id_time_and_host(context, &store, stored)?;
    let origin = Origin {
        id: &id,
        target: &requested.target,
        started_at: &started_at,
        host: &host,
    };
    let mut study = Headroom::new(options(requested, &given)?).ok_or_else(|| {
        Failure::usage("the limit is no percentile", "give one such as 'p99<5ms'")
    })?;
    if let Some((stored, begun, _)) = &begun {
        refuse_another(&stored.id, begun.options(), study.options())?;
    }
    let request = Request {
        engine: requested.engine.clone(),
        label: requested.label.clone(),
        ..Request::default()
    };
    let setup = Setup {
        id: &id,
        target: &requested.target,
        size: size(requested, &given),
        request: &request,
        permissions,
        recordings: (given.file.clone()).map(|file| file as Rc<dyn Recordings>),
    };
    refuse_unusable(context, &store, &study, &setup)?;
    let plan = plan(requested, &given, &study).into_iter();
    plan.for_each(|line| context.plan(line));
    let targets = open(context, &mut store, &study, &setup)?;
    if let Some(file) = &given.file {
        study = fitted_to(study, file, &targets[0])?;
    }
    if let Some((stored, begun, _)) = begun {
        study = going_on((stored, begun), &study)?;
    }
    let found = |study: &Headroom| {
        let document = HeadroomDocument::of(study, &origin);
        StoredHeadroom::of(study, document, requested, context.timestamp())
    };
    // An interruption before its first run ends can be gone on from, too.
    store_measured(context, &mut store, KIND, &id, &found(&study))?;
    let mut changed =
        |store: &mut _, study: &Headroom| store_measured(context, store, KIND, &id, &found(study));
    let conducted = conduct(
        context,
        &mut store,
        &mut study,
        targets,
        &setup,
        &mut changed,
    );
    Ok(HeadroomResult {
        found: found(&study),
        exit: with_finding(exit_of(context, &conducted.records), &study),
        ended: conducted.ended.err(),
    })
}

/// A finding where there is no answer, or it does not say that the target carries the load as it is.
fn with_finding(exit: Exit, study: &Headroom) -> Exit {
    let is_carried = study.refused().is_none() && study.is_carried() == Some(true);
    match exit {
        Exit::Done if !is_carried => Exit::Finding,
        exit => exit,
    }
}

fn refuse_other_limits(slo: &Slo) -> Outcome<()> {
    if allowed_share(slo).is_some() {
        return Ok(());
    }
    Err(Failure::usage(
        format!("--slo {slo}: a headroom is found by the share of operations beyond a limit"),
        "give a percentile, such as 'p99<5ms'",
    ))
}

/// The stored study, if it has the same parameters.
fn going_on(
    (stored, begun): (HeadroomDocument, Headroom),
    requested: &Headroom,
) -> Outcome<Headroom> {
    match begun.options() == requested.options() {
        true => Ok(begun),
        false => Err(another(&stored.id)),
    }
}

/// Refuses differing parameters, as far as they show before the target is opened. A recording is
/// adapted to the target's sectors only after that.
fn refuse_another(id: &str, begun: &HeadroomOptions, requested: &HeadroomOptions) -> Outcome<()> {
    let is_same_load = match (&begun.load, &requested.load) {
        (HeadroomLoad::Recorded(begun), HeadroomLoad::Recorded(requested)) => {
            (begun.cache, &begun.data) == (requested.cache, &requested.data)
        }
        (begun, requested) => begun == requested,
    };
    let with_its_load = HeadroomOptions {
        load: begun.load.clone(),
        ..requested.clone()
    };
    match is_same_load && with_its_load == *begun {
        true => Ok(()),
        false => Err(another(id)),
    }
}

fn another(id: &str) -> Failure {
    Failure::usage(
        format!("{id} asked something else: its load has changed since"),
        "measure again, or give it the load that it had",
    )
}

fn size(requested: &HeadroomRequest, given: &LoadInput) -> Size {
    match (requested.size_bytes, &given.file) {
        (Some(bytes), _) => Size::Exactly(bytes),
        (None, Some(file)) if path_of(&requested.target).is_dir() => {
            Size::Exactly(file.file_bytes())
        }
        _ => Size::Auto,
    }
}

/// Lengths of runs, and obstacles to an answer that are known before the measurement.
fn options(requested: &HeadroomRequest, given: &LoadInput) -> Outcome<HeadroomOptions> {
    let run_ns = requested.run_ns.unwrap_or(given.run_ns);
    if run_ns < RUN_NS_MIN {
        return Err(Failure::usage(
            format!(
                "--run: {} is shorter than a second",
                format_duration(run_ns)
            ),
            "leave it out: runs are then as long as the bursts of the load need",
        ));
    }
    if let Some(duration_ns) = given.facts.duration_ns
        && duration_ns < RUNS_OF_RECORDING_MIN * run_ns
    {
        let needed = format_duration(RUNS_OF_RECORDING_MIN * run_ns);
        return Err(Failure::usage(
            format!(
                "{} has {}, and its bursts need runs of {}: an answer would be one for these bursts alone",
                given.facts.name,
                format_duration(duration_ns),
                format_duration(run_ns)
            ),
            format!("record at least {needed}: 20 runs"),
        ));
    }
    Ok(HeadroomOptions {
        slo: requested.slo,
        load: given.load.clone(),
        facts: given.facts.clone(),
        run_ns,
        confirm_ns: requested.confirm_ns.max(run_ns),
        seed: requested.base.seed,
    })
}

/// The study with its load adapted to the target's sectors; refused if it does not fit
/// the target.
fn fitted_to(study: Headroom, file: &FileRecording, target: &OpenTarget) -> Outcome<Headroom> {
    file.mapping(target)?;
    let sector_bytes = u64::from(target.limits().logical_sector_bytes);
    let options = study.options().clone();
    let HeadroomLoad::Recorded(workload) = &options.load else {
        return Ok(study);
    };
    let recorded = workload.recorded.as_deref().cloned();
    let Some(recorded) = recorded else {
        return Ok(study);
    };
    let load = file.workload(recorded, workload, sector_bytes);
    let again = Headroom::new(HeadroomOptions {
        load: HeadroomLoad::Recorded(Box::new(load)),
        ..options
    });
    Ok(again.unwrap_or(study))
}

fn plan(requested: &HeadroomRequest, given: &LoadInput, study: &Headroom) -> Vec<String> {
    let options = study.options();
    let time = stripewise_studies::Study::time(study);
    let is_simulated = is_sim_target(&requested.target);
    let mut lines = vec![
        given.plan.clone(),
        format!(
            "Runs of {} around the load at which {} is reached, then one of {}: about {} in all",
            format_duration(options.run_ns),
            requested.slo,
            format_duration(options.confirm_ns),
            format_duration(time.left_ns)
        ),
    ];
    if options.facts.design == ExceedanceDesign::Blocks {
        lines.push(
            "The load's rate varies slowly: blocks of runs use the same parts of it".to_owned(),
        );
    }
    lines.push(match is_simulated {
        true => TIMES_ARE_SIMULATED.to_owned(),
        false => format!(
            "More than the load as it is will be issued on {}: use an idle volume of the same type, not \
             one that serves users",
            requested.target
        ),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_studies::PlacedJob;
    use stripewise_studies::headroom::LoadFacts;
    use stripewise_workload::Workload;

    #[test]
    fn another_question_is_refused_before_the_target_is_opened() {
        let options = |load: HeadroomLoad, slo: &str| HeadroomOptions {
            slo: slo.parse().expect("a limit"),
            load,
            facts: LoadFacts {
                name: "load".to_owned(),
                operations: None,
                duration_ns: None,
                iops: Some(250.0),
                waiting_users: None,
                waits: false,
                closedness: "no".to_owned(),
                design: ExceedanceDesign::Independent,
                timeline: None,
                cap: None,
            },
            run_ns: 1,
            confirm_ns: 2,
            seed: 1,
        };
        let recorded = |block_size_bytes| {
            HeadroomLoad::Recorded(Box::new(Workload {
                block_size_bytes,
                ..Workload::default()
            }))
        };
        let begun = options(recorded(512), "p99<5ms");
        let refused =
            |requested: HeadroomOptions| refuse_another("id", &begun, &requested).is_err();
        // The target's sectors are not known yet.
        assert!(!refused(options(recorded(4096), "p99<5ms")));
        assert!(refused(options(recorded(512), "p99<6ms")));
        let profile = HeadroomLoad::Jobs(vec![PlacedJob::new("one", Workload::default())]);
        assert!(refused(options(profile, "p99<5ms")));
    }
}
