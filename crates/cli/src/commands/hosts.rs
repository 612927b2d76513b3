//! What is particular to a command that several hosts do at once.

use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::switches::Command;
use crate::together::Together;
use stripewise_campaign::merge::merge_parts;
use stripewise_campaign::run::Ran;
use stripewise_lab::hosts::HostPart;
use stripewise_results::Status;
use stripewise_store::Store;

/// Refuses commands that are not done on several hosts at once.
pub fn refuse_alone(command: &Command) -> Outcome<()> {
    let (name, hint) = match command {
        Command::Run(run) if run.start_at.is_some() => {
            return Err(Failure::usage(
                "--start-at is for hosts that do not know of each other: these agree on the start",
                "leave it out",
            ));
        }
        Command::Run(_) => return Ok(()),
        Command::Bench(_) => (
            "bench",
            "run the ladder as a grid: `stripewise-mpi run TARGET --outstanding 1,2,4,8,16,32`",
        ),
        Command::Verify(_) => (
            "verify",
            "run `stripewise verify` on each host: what it finds is found there, whatever others do",
        ),
        Command::Align(_) | Command::Lab(_) | Command::Advise(_) => (
            "an experiment",
            "give the levels as a grid: `stripewise-mpi run TARGET --base-offset 0,31.5K --repeat 5`",
        ),
        _ => (
            "this command",
            "run it with `stripewise`; on several hosts at once there is `stripewise-mpi run`",
        ),
    };
    Err(Failure::usage(
        format!("{name} is not done on several hosts at once"),
        hint,
    ))
}

/// What all hosts measured, as one. Their own records are in their own stores.
///
/// # Errors
/// Where nothing was measured, or at no time on all of them.
pub fn as_one(
    context: &Context,
    together: &dyn Together,
    store: &mut Store,
    ran: Ran,
) -> Outcome<Ran> {
    let mut runs = together.collected();
    runs.retain(|parts| !parts.is_empty());
    if runs.is_empty() {
        return Ok(Ran {
            records: Vec::new(),
            ended: ran.ended,
        });
    }
    let is_partial = |part: &HostPart| part.run.status != Status::Complete;
    let is_partial = !together.losses().is_empty() || runs.iter().flatten().any(is_partial);
    let records = merge_parts(context, store, runs, is_partial, None)?;
    Ok(Ran {
        records,
        ended: ran.ended,
    })
}
