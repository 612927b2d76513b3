//! Commands that run on several hosts at once.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::multi_host::MultiHost;
use crate::show::context::Context;
use crate::switches::Command;
use crate::switches::lab::LabAction;
use crate::switches::run::Safety;
use std::rc::Rc;
use stripewise_campaign::merge::merge_parts;
use stripewise_campaign::run::RunResult;
use stripewise_conductor::host_group::{HostGroup, follow};
use stripewise_lab::hosts::HostPart;
use stripewise_results::Status;
use stripewise_store::Store;
use stripewise_units::{Hint, NameText};

/// Refuses commands that do not run on several hosts at once.
pub fn refuse_alone(command: &Command) -> Outcome<()> {
    let refused = |name: &str, hint: &str| {
        Err(Failure::usage(
            format!("{name} does not run on several hosts at once"),
            Hint::plain(hint),
        ))
    };
    match command {
        Command::Run(run) if run.start_at.is_some() => Err(Failure::usage(
            "--start-at is for hosts without MPI; here the hosts agree on the start",
            "leave it out",
        )),
        Command::Run(_) | Command::Align(_) => Ok(()),
        Command::Bench(bench) if bench.like.is_some() => refused(
            "--like",
            "leave it out: the bench finds what the array does for all hosts",
        ),
        Command::Bench(_) => Ok(()),
        Command::Lab(lab) => match &lab.action {
            LabAction::Run(run) if !run.plan.as_text().starts_with("study:") => Ok(()),
            _ => refused(
                "this part of `lab`",
                "use `stripewise lab`; on several hosts at once there is `stripewise-mpi lab run PLAN.toml`",
            ),
        },
        Command::Verify(verify)
            if verify.power_cut || verify.after_cut.is_some() || verify.image =>
        {
            refused("this verification", "run it with `stripewise` on each host")
        }
        Command::Verify(_) => Ok(()),
        _ => refused(
            "this command",
            "use `stripewise`; on several hosts at once there are run, bench, align, lab run and verify",
        ),
    }
}

/// On a host that does not lead: makes the runs that the leader requests. `None` if
/// this host decides by itself.
pub fn followed(context: &Context, safety: &Safety) -> Option<Outcome> {
    let multi_host = context
        .multi_host
        .as_deref()
        .filter(|one| !one.is_leader())?;
    let follow = || {
        let mut store = context.open_store()?;
        follow(
            context,
            &mut store,
            &safety.permissions(),
            &multi_host.group(),
        )?;
        Ok(Exit::Done)
    };
    Some(follow())
}

/// The group behind a command that decides from result to result, and its target by this
/// host's name for it.
///
/// # Errors
/// If the other hosts do not answer, or there are several targets.
pub fn led(context: &Context, target: &str) -> Outcome<(String, Option<Rc<dyn HostGroup>>)> {
    let Some(multi_host) = context.multi_host.as_deref() else {
        return Ok((target.to_owned(), None));
    };
    let named = multi_host.targets(context, Some(&[target.to_owned()]))?;
    match <[String; 1]>::try_from(named) {
        Ok([target]) => Ok((target, Some(multi_host.group()))),
        Err(_) => Err(Failure::usage(
            "the map names several targets for a host, and this command takes one",
            "give each host one target, or use `stripewise-mpi run`",
        )),
    }
}

/// Merges what all hosts measured. Each host also stores its own records.
///
/// # Errors
/// If nothing was measured, or there was no time at which all were measuring.
pub fn as_one(
    context: &Context,
    multi_host: &dyn MultiHost,
    store: &mut Store,
    ran: RunResult,
) -> Outcome<RunResult> {
    let mut runs = multi_host.collected();
    runs.retain(|parts| !parts.is_empty());
    if runs.is_empty() {
        return Ok(ran);
    }
    let is_partial = |part: &HostPart| part.run.status != Status::Complete;
    let is_partial = !multi_host.losses().is_empty() || runs.iter().flatten().any(is_partial);
    let merged = merge_parts(context, store, runs, is_partial, None)?;
    Ok(RunResult {
        records: merged.records,
        ended: ran.ended.and(merged.ended),
    })
}
