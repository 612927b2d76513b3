//! Several hosts make the runs of one command that decides from result to result.
//!
//! One host leads: it decides, sends each run to the others, and decides on the combined
//! results. The others ([`follow`]) open their own target and make the runs they receive; they
//! need no knowledge of ladders and experiments. Each host first stores what it measures in its
//! own store, under a series of its own; the leader stores the combined runs under the
//! command's series.

use crate::context::Context;
use crate::failure::Outcome;
use crate::keep::RunPlace;
use crate::measure::{Measured, PlacedJob, RunOptions, length_ns, measure};
use crate::needs::Needs;
use crate::observer::Progress;
use crate::parts::store_run;
use crate::permissions::Permissions;
use crate::start::{Companion, places};
use crate::targets::{OpenTarget, judge_requirements, open_nothing, open_target};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use stripewise_lab::hosts::HostPart;
use stripewise_store::Store;
use stripewise_workload::{Request, Workload};

/// The group behind a command that decides from result to result.
pub trait HostGroup: Companion {
    /// On the leader, before anything is opened: sends what all hosts are to open.
    fn aim(&self, aim: &TargetUse);

    /// On the others: waits for that. The target is named as on this host.
    ///
    /// # Errors
    /// If the group gives up.
    fn opened(&self, context: &Context) -> Outcome<(String, TargetUse)>;

    /// On the leader: sends the run that is made now.
    fn tell(&self, step: &Step);

    /// On the others: waits for the next run; `None` when there are no more.
    ///
    /// # Errors
    /// If the group gives up.
    fn next(&self, context: &Context) -> Outcome<Option<Step>>;

    /// On the leader: what all hosts measured in the last run, one part per host.
    fn measured(&self) -> Vec<HostPart>;

    /// Number of hosts.
    fn hosts(&self) -> u64;

    /// The same group as the companion of single runs.
    fn companion(self: Rc<Self>) -> Rc<dyn Companion>;
}

/// What a command does to its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetUse {
    /// What the target must offer.
    pub need: Needs,
    /// Nothing is opened: the null engine needs no target.
    pub is_null: bool,
}

/// One run, as every host makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its jobs.
    pub jobs: Vec<(String, Workload)>,
    /// Engine, interval, label and so on.
    pub request: Request,
    /// Its part of the series.
    pub part: String,
    /// The random block if the run is made for the answer of its series.
    pub answer_block: Option<u32>,
    /// The latency limit that the series is to answer, as typed.
    pub latency_limit: Option<String>,
    /// A short run on a fresh file: caches and bursts are possible.
    pub quick: bool,
}

impl Step {
    fn of(placed_jobs: &[PlacedJob], how: &RunOptions) -> Step {
        let jobs = placed_jobs.iter();
        let part = how.series.as_ref().map(|(_, part)| part.clone());
        Step {
            jobs: jobs
                .map(|options| (options.name.clone(), options.workload.clone()))
                .collect(),
            request: how.request.clone(),
            part: part.unwrap_or_default(),
            answer_block: how.answer_block,
            latency_limit: how.latency_limit.clone(),
            quick: how.quick,
        }
    }
}

/// The runs of a command that leads a group.
#[derive(Clone, Debug)]
pub struct GroupRuns {
    /// The other hosts.
    pub group: Rc<dyn HostGroup>,
    /// The series of this host's own runs.
    pub own_series: String,
}

impl GroupRuns {
    /// `None` if this command leads no other hosts.
    pub fn of(
        context: &Context,
        store: &Store,
        group: Option<&Rc<dyn HostGroup>>,
    ) -> Outcome<Option<GroupRuns>> {
        let Some(group) = group else { return Ok(None) };
        Ok(Some(GroupRuns {
            group: Rc::clone(group),
            own_series: context.free_id(store, &context.timestamp())?,
        }))
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        self.group.hosts()
    }
}

/// Makes a run, on all hosts if the command leads a group; the result then covers all of them.
///
/// # Errors
/// If it cannot be made. Each host stores the part that was measured.
pub fn measure_with(
    leading: Option<&GroupRuns>,
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    placed_jobs: &[PlacedJob],
    how: &RunOptions,
    (progress, place): (&Progress<'_>, &RunPlace<'_>),
) -> Outcome<Measured> {
    let Some(GroupRuns { group, own_series }) = leading else {
        return measure(context, store, opened, placed_jobs, how, progress, place);
    };
    let step = Step::of(placed_jobs, how);
    group.tell(&step);
    let own = RunOptions {
        series: Some((own_series.clone(), step.part)),
        experiment: None,
        companion: Some(Rc::clone(group).companion()),
        ..how.clone()
    };
    let measured = measure(context, store, opened, placed_jobs, &own, progress, place)?;
    match store_run(context, store, group.measured(), how) {
        Ok(merged) => Ok(Measured {
            record: merged.record,
            stored: measured.stored.and(merged.stored),
        }),
        Err(failure) => measured.stored.and(Err(failure)),
    }
}

/// Opens a target. If the command leads a group, first waits until every host can open its own:
/// nothing is made or written anywhere before.
///
/// # Errors
/// If this or another host cannot open its target.
pub fn open_with(
    context: &Context,
    store: &mut Store,
    text: &str,
    need: &Needs,
    permissions: &Permissions,
    group: Option<&Rc<dyn HostGroup>>,
) -> Outcome<OpenTarget> {
    if let Some(group) = group {
        judge_requirements(context, store, text, need, permissions)?;
        group.aim(&TargetUse {
            need: need.clone(),
            is_null: false,
        });
        group.checked(context, &places(&[text.to_owned()]), "")?;
    }
    open_target(context, store, text, need, permissions)
}

/// The same for the null engine, which opens nothing.
///
/// # Errors
/// If another host does not take part.
pub fn open_nothing_with(
    context: &Context,
    text: &str,
    need: &Needs,
    group: &Rc<dyn HostGroup>,
) -> Outcome<OpenTarget> {
    group.aim(&TargetUse {
        need: need.clone(),
        is_null: true,
    });
    group.checked(context, &[], "")?;
    Ok(open_nothing(text, need.size))
}

/// Makes the runs that the leader requests, until there are no more.
///
/// # Errors
/// If a run cannot be made here, or the group gives up.
pub fn follow(
    context: &Context,
    store: &mut Store,
    permissions: &Permissions,
    group: &Rc<dyn HostGroup>,
) -> Outcome<()> {
    let (text, aim) = group.opened(context)?;
    if !aim.is_null {
        judge_requirements(context, store, &text, &aim.need, permissions)?;
    }
    group.checked(context, &places(std::slice::from_ref(&text)), "")?;
    let opened = match aim.is_null {
        true => open_nothing(&text, aim.need.size),
        false => open_target(context, store, &text, &aim.need, permissions)?,
    };
    let targets = [opened];
    let ended = make_runs(context, store, &targets, group);
    for target in targets {
        target.finish()?;
    }
    ended
}

fn make_runs(
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    group: &Rc<dyn HostGroup>,
) -> Outcome<()> {
    let simulated = opened.iter().any(|opened| opened.simulated().is_some());
    let series = context.free_id(store, &context.timestamp())?;
    let whole = RunOptions {
        companion: Some(Rc::clone(group).companion()),
        ..RunOptions::of(context, Request::default(), simulated)
    };
    while let Some(step) = group.next(context)? {
        let placed_jobs = step.jobs.iter().map(|(name, workload)| PlacedJob {
            name: name.clone(),
            workload: workload.clone(),
            targets: vec![0],
        });
        let placed_jobs: Vec<PlacedJob> = placed_jobs.collect();
        let how = RunOptions {
            request: step.request,
            series: Some((series.clone(), step.part)),
            answer_block: step.answer_block,
            latency_limit: step.latency_limit,
            quick: step.quick,
            ..whole.clone()
        };
        let progress = Progress::begin(context.observer(), simulated, 0, "Measuring");
        let place = RunPlace {
            title: "Measuring",
            before_ns: 0,
            expected_ns: length_ns(&placed_jobs),
            after_ns: None,
        };
        let measured = measure(
            context,
            store,
            opened,
            &placed_jobs,
            &how,
            &progress,
            &place,
        )?;
        measured.stored?;
        if context.signal().is_some() {
            break;
        }
    }
    Ok(())
}
