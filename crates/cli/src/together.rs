//! What a program that does the same on many hosts puts in: `stripewise-mpi`.

use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::switches::Command;
use std::rc::Rc;
use stripewise_campaign::merge::merge_parts;
use stripewise_campaign::run::Ran;
use stripewise_campaign::steps::start::Companion;
use stripewise_lab::hosts::HostPart;
use stripewise_results::Status;
use stripewise_store::Store;
use stripewise_workload::Request;

/// One of several hosts that do the same.
pub trait Together {
    /// It is the one that people look at.
    fn leads(&self) -> bool;

    /// What goes along with its runs.
    fn companion(&self) -> Rc<dyn Companion>;

    /// The request that all of them run, with what is this host's own. Only the one that
    /// leads has read one.
    ///
    /// # Errors
    /// Where the others do not answer, or it cannot be this host's.
    fn request(
        &self,
        context: &stripewise_campaign::Context,
        read: Option<Request>,
    ) -> Outcome<Request>;

    /// Something happens here: time for a look at what the others say.
    fn look(&self);

    /// What was measured, run by run, a part for each host.
    fn collected(&self) -> Vec<Vec<HostPart>>;

    /// Hosts that were lost on the way, each with why.
    fn losses(&self) -> Vec<String>;

    /// This host cannot go on.
    fn failed(&self, failure: &Failure);
}

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
