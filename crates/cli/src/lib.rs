//! The terminal's user interface: the switches, a small file for each command that
//! calls `campaign`, and the rendering of its results.
#![forbid(unsafe_code)]

mod commands;
mod exit_codes;
mod failure;
mod interrupt;
mod multi_host;
mod output;
mod request;
pub mod schema;
mod show;
mod surroundings;
mod switches;
mod usage_error;

use failure::{Failure, Outcome};
use show::context::Context;
use std::ffi::OsString;
use std::rc::Rc;
use stripewise_units::Hint;
use switches::Cli;

pub use exit_codes::Exit;
pub use multi_host::{HostDocument, MultiHost};
pub use show::context::{VERSION, host_name, system_clock};
pub use show::terminal::Output;
pub use stripewise_campaign::FileSystemSize;
pub use surroundings::{Surroundings, Variable};

/// Executes a command line. Its first word is the name of the program.
pub fn run(arguments: Vec<OsString>, surroundings: Surroundings, output: Output) -> Exit {
    let output = Rc::new(output);
    output.fit(&*surroundings.variable);
    let multi_host = surroundings.multi_host.clone();
    let is_shown = multi_host.as_ref().is_none_or(|one| one.is_leader());
    let ended = match switches::parsed(arguments.clone(), output.columns()) {
        Ok(line) => {
            output.reworded(line.words);
            let is_quiet = line.cli.global.quiet;
            let ended = dispatch(line.cli, arguments, surroundings, &output);
            let idle = line.without_effect.join(", ");
            if ended.is_ok() && is_shown && !is_quiet && !idle.is_empty() {
                output.note(format!("no effect on a simulated array: {idle}"));
            }
            ended
        }
        Err(_) if !is_shown => Ok(Exit::Usage),
        Err(error) => {
            let words = arguments.iter().skip(1);
            let words: Vec<String> = words
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            usage_error::complain(&output, &error, &words, surroundings.commit)
        }
    };
    let ended = match output.unwritten() {
        // It does not hide the result of the measurement.
        Some(unwritten) if matches!(ended, Ok(exit) if exit != Exit::Done) => {
            show::failures::print(&output, &unwritten);
            ended
        }
        Some(unwritten) => ended.and(Err(unwritten)),
        None => ended,
    };
    let exit = ended.unwrap_or_else(|failure| {
        if let Some(multi_host) = &multi_host {
            multi_host.failed(&failure);
        }
        if is_shown {
            show::failures::print(&output, &failure);
        }
        failure.exit
    });
    output.flush_and_report();
    exit
}

/// Reports why nothing can be done, and returns the exit.
pub fn refuse(output: &Output, text: &str, hint: &str) -> Exit {
    let failure = Failure::usage(text, Hint::plain(hint));
    show::failures::print(output, &failure);
    failure.exit
}

fn dispatch(
    mut cli: Cli,
    arguments: Vec<OsString>,
    mut surroundings: Surroundings,
    output: &Rc<Output>,
) -> Outcome {
    if cli.global.events {
        output.expect_events();
        cli.global.json = true;
    }
    if cli.global.json || cli.command.prints_a_document() {
        output.expect_document();
    }
    if surroundings.multi_host.is_some() {
        commands::hosts::refuse_alone(&cli.command)?;
    }
    let serve = surroundings.serve;
    let stdin = std::mem::replace(&mut surroundings.stdin, Box::new(std::io::empty()));
    let typed = surroundings.typed.take().unwrap_or(arguments);
    let context = Context::new(cli.global, surroundings, &typed, Rc::clone(output));
    let context = context.map_err(|error| {
        Failure::target(
            format!("cannot listen for Ctrl-C: {error}"),
            "the system is out of a resource (threads, descriptors); see its log, `dmesg` on Linux",
        )
    })?;
    if cli.command.ignore_broken_pipe() {
        context.end_at_once(true);
        if let Some(signal) = context.signal() {
            return Err(Failure::of(Exit::Interrupted(signal), "interrupted"));
        }
    }
    let done = commands::execute(&context, &cli.command, serve, stdin);
    if context.has_measured() {
        output.expect_no_loss();
    }
    done.map(|exit| context.exit_with_damage(exit))
}
