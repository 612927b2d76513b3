//! One session of an experiment: from an open target and finished blocks to the
//! answer and the exit.

use super::answer::{Answer, part};
use super::runner::{Runner, StopReason};
use super::stored_experiment::StoredExperiment;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::host_group::GroupRuns;
use stripewise_conductor::measure::RunOptions;
use stripewise_conductor::targets::OpenTarget;
use stripewise_lab::experiment::{Block, Ended, ExperimentPlan, conduct, needs};
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_store::Store;
use stripewise_units::{counted, format_duration};
use stripewise_workload::Request;

/// Overhead of a run on a real target in addition to ramp and duration: opening,
/// snapshots of the machine, the store.
const OVERHEAD_NS: u64 = 60_000_000;
const MINUTE_NS: u64 = 60_000_000_000;
/// Default time of an experiment on a real target.
const TIME_UNASKED_NS: u64 = 10 * MINUTE_NS;

/// Options of an experiment's runs.
pub fn how(context: &Context, opened: &OpenTarget, stored: &StoredExperiment) -> RunOptions {
    let request = Request {
        interval_ns: 100_000_000,
        engine: stored.engine.clone(),
        label: stored.label.clone(),
        load_by_number: stored.load_given,
        ..Request::default()
    };
    RunOptions {
        series: Some((stored.id.clone(), part(stored.kind))),
        ..RunOptions::of(context, request, opened.simulated().is_some())
    }
}

/// Default time for an experiment on a real target: ten minutes, or
/// what its rows need for a verdict plus a tenth.
pub fn default_time_ns(plan: &ExperimentPlan) -> u64 {
    let verdict_ns = needs(plan, OVERHEAD_NS).verdict_ns;
    let minutes = (verdict_ns + verdict_ns / 10).div_ceil(MINUTE_NS);
    TIME_UNASKED_NS.max(minutes * MINUTE_NS)
}

/// Prints what will be done, and how long it may take.
pub fn announce(context: &Context, stored: &StoredExperiment, simulated: bool) {
    let overhead_ns = if simulated { 0 } else { OVERHEAD_NS };
    for sentence in needs(&stored.plan, overhead_ns).sentences {
        context.plan(sentence);
    }
    if simulated {
        context.plan(crate::steps::TIMES_ARE_SIMULATED);
    }
    if stored.blocks > 0 {
        context.plan(format!(
            "{} finished ({}) and not repeated.",
            counted(stored.blocks as usize, "block is", "blocks are"),
            format_duration(stored.elapsed_ns)
        ));
    }
}

/// The result of one session.
pub struct ExperimentSession {
    /// The answer; `None` if no block was finished.
    pub answer: Option<Answer>,
    /// The failure that ended it, if any; results before it are shown first.
    pub ended: Outcome<()>,
}

/// Results of earlier sessions.
#[derive(Default)]
pub struct EarlierSessions {
    /// Complete blocks.
    pub finished: Vec<Block>,
    /// Their runs, without details.
    pub records: Vec<RunRecord>,
}

/// Makes the remaining runs of the experiment. Releases the target in any case.
///
/// # Errors
/// If the experiment could not be stored, or its target not be released.
pub fn run_session(
    context: &Context,
    store: &mut Store,
    opened: OpenTarget,
    how: RunOptions,
    stored: StoredExperiment,
    earlier: EarlierSessions,
    leading: Option<GroupRuns>,
) -> Outcome<ExperimentSession> {
    let EarlierSessions { finished, records } = earlier;
    stored.keep(context, store)?;
    let (plan, id) = (stored.plan.clone(), stored.id.clone());
    let targets = [opened];
    let several_hosts = leading.is_some();
    let mut runner =
        Runner::new(context, store, &targets, how, stored, records).with_group(leading);
    let conducted = conduct(&plan, &id, finished, &mut runner);
    let (mut experiment, failure) = match conducted {
        Ok(experiment) => (experiment, None),
        Err(broken) => {
            let (experiment, stop_reason) = *broken;
            match stop_reason {
                StopReason::Interrupted => (experiment, None),
                StopReason::Failed(failure) => (experiment, Some(failure)),
            }
        }
    };
    let (mut stored, records, refused) = runner.into_parts();
    if !experiment.ended.is_some_and(Ended::finished) {
        if context.signal().is_some() {
            experiment.ended = Some(Ended::Interrupted);
        } else if refused.is_some() {
            experiment.ended = Some(Ended::Failed);
        }
    }
    stored.blocks = u32::try_from(experiment.blocks.len()).unwrap_or(u32::MAX);
    stored.ended = experiment.ended;
    stored.elapsed_ns = experiment.elapsed_ns;
    let kept_at_end = stored.keep(context, store);
    for target in targets {
        target.finish_or_report(context);
    }
    let is_stored = kept_at_end.is_ok() && refused.is_none();
    let refused = refused.map(|failure| match kept_at_end.is_err() || several_hosts {
        true => failure,
        false => failure.hinted(format!(
            "`stripewise lab resume {}` continues it once the store can be written",
            stored.id
        )),
    });
    let failure = refused.or(failure);
    if experiment.blocks.is_empty() {
        return Ok(ExperimentSession {
            answer: None,
            ended: Err(nothing_finished(context, &stored, several_hosts, failure)),
        });
    }
    let mut answer = Answer::of(&experiment, stored, records);
    answer.is_stored = is_stored;
    Ok(ExperimentSession {
        answer: Some(answer),
        ended: failure.map_or(kept_at_end, Err),
    })
}

/// No block was finished: there is nothing to show, but a way to continue.
fn nothing_finished(
    context: &Context,
    stored: &StoredExperiment,
    several_hosts: bool,
    failure: Option<Failure>,
) -> Failure {
    if let Some(failure) = failure {
        return failure;
    }
    let resume = match several_hosts {
        true => "start it again with stripewise-mpi".to_owned(),
        false => format!("`stripewise lab resume {}` continues it", stored.id),
    };
    match context.signal() {
        Some(signal) => Failure::new(
            stripewise_conductor::exit::Exit::Interrupted(signal),
            "interrupted before the first block was finished",
            resume,
        ),
        None => Failure::new(
            stripewise_conductor::exit::Exit::InputOutput,
            "a run stopped before the first block was finished",
            format!("`stripewise history show {}` says why; {resume}", stored.id),
        ),
    }
}

/// A document for a new experiment; the caller completes it.
pub fn new_document(
    context: &Context,
    store: &Store,
    kind: super::stored_experiment::ExperimentKind,
    target: &str,
    plan: ExperimentPlan,
) -> Outcome<StoredExperiment> {
    let started_at = context.timestamp();
    Ok(StoredExperiment {
        schema_version: SCHEMA_VERSION,
        id: context.free_id(store, &started_at)?,
        kind,
        target: target.to_owned(),
        started_at,
        command: context.command().to_vec(),
        version: context.version().to_owned(),
        label: None,
        size_bytes: None,
        engine: Request::default().engine,
        load_given: false,
        place: None,
        layout: stripewise_lab::experiment::LayoutFacts::default(),
        plan,
        sustained: Vec::new(),
        blocks: 0,
        ended: None,
        elapsed_ns: 0,
    })
}
