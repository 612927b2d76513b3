//! `run`: one run, or a grid, or the jobs of a plan.

use crate::commands::hosts::as_one;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::multi_host::MultiHost;
use crate::request::{replay_of, request_of};
use crate::show::context::Context;
use crate::show::runs;
use crate::switches::run::Run;
use std::path::Path;
use std::rc::Rc;
use stripewise_campaign::run::{
    RunExtras, RunResult, replay, requirements as required, run as run_request,
};
use stripewise_campaign::steps::documents;
use stripewise_conductor::measure::exit_of;
use stripewise_conductor::start::ScheduledStart;
use stripewise_lab::compare::Requirement;
use stripewise_store::Store;

pub fn run(context: &Context, arguments: &Run) -> Outcome {
    if let Some(trace) = &arguments.replay.trace {
        return replayed(context, arguments, trace);
    }
    let multi_host = context.multi_host.as_deref();
    let is_leader = multi_host.is_none_or(MultiHost::is_leader);
    let read = is_leader
        .then(|| request_of(context, arguments))
        .transpose()?;
    if arguments.show_request {
        if let Some(request) = read {
            context
                .output
                .print_lines(&format!("{}\n", request.to_json()));
        }
        return Ok(Exit::Done);
    }
    let request = match (multi_host, read) {
        (Some(multi_host), read) => multi_host.request(context, read)?,
        (None, read) => read.unwrap_or_default(),
    };
    let start = arguments.start_at.as_ref();
    let start = start.map(|at| at.relative_to(context.wall())).transpose()?;
    let required = required(&request)?;
    let permissions = arguments.safety.permissions();
    let targets = request.jobs.iter().flat_map(|job| &job.targets);
    permissions.refuse_idle(&targets.map(String::as_str).collect::<Vec<_>>())?;
    let mut store = context.open_store()?;
    let extras = RunExtras {
        faults: arguments.how.inject.clone(),
        companion: match multi_host {
            Some(multi_host) => Some(multi_host.companion()),
            None => start.map(|first| Rc::new(ScheduledStart::new(first)) as Rc<_>),
        },
    };
    let ran = run_request(context, &mut store, request, &permissions, extras)?;
    let ran = match multi_host {
        Some(multi_host) if !multi_host.is_leader() => return ran.ended.map(|()| Exit::Done),
        Some(multi_host) => as_one(context, multi_host, &mut store, ran)?,
        None => ran,
    };
    show(context, &store, arguments, &required, ran)
}

/// `run --trace`.
fn replayed(context: &Context, arguments: &Run, trace: &Path) -> Outcome {
    let options = replay_of(arguments, trace)?;
    let required = required(&options.request)?;
    let permissions = arguments.safety.permissions();
    permissions.refuse_idle(&[options.target.as_str()])?;
    let mut store = context.open_store()?;
    let ran = replay(context, &mut store, &options, &permissions)?;
    show(context, &store, arguments, &required, ran)
}

/// Shows what was measured, then what ended it.
fn show(
    context: &Context,
    store: &Store,
    arguments: &Run,
    required: &[Requirement],
    ran: RunResult,
) -> Outcome {
    let exit = exit_of(context, &ran.records);
    if ran.records.is_empty() {
        return ran.ended.map(|()| exit);
    }
    let mut document = documents::document(ran.records);
    documents::judge(required, &mut document);
    document.fill_percentiles(&arguments.how.percentiles);
    let exit = documents::exit(&document, exit);
    if context.global.json {
        context.output.print_exact(&document.to_json());
    } else {
        let look = context.runs_look(false, &arguments.how.percentiles);
        runs::print_made(context, store, &document, &look);
    }
    // Show what was measured before a failure, then report the failure.
    ran.ended.map(|()| exit)
}
