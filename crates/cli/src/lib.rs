//! What a user of the terminal meets: the switches, a small file for each command that
//! asks `campaign` for work, and the rendering of what comes back.
#![forbid(unsafe_code)]

mod commands;
mod complaint;
mod exit_codes;
mod failure;
mod interrupt;
mod output;
mod request;
pub mod schema;
mod show;
mod switches;
mod together;

use exit_codes::Exit;
use failure::{Failure, Outcome};
use show::context::Context;
use std::ffi::OsString;
use std::process::ExitCode;
use std::rc::Rc;
use stripewise_campaign::live::Serve;
use stripewise_units::Hint;
use switches::{Cli, Command};

pub use show::context::{VERSION, host_name, system_clock};
pub use together::{HostDocument, Together};

/// Reads the command line of this process, does what it says, and returns the code to
/// end with. `commit` is what the program was built from, for `--version --json`.
pub fn main(commit: Option<&str>, serve: Serve) -> ExitCode {
    let start = Start {
        words: std::env::args_os().collect(),
        serve,
        together: None,
    };
    exit_codes::exit_code(main_of(start, commit))
}

/// The same for one of several hosts that do it together, which returns the number to end
/// with. Hosts that do not lead print nothing: what fails on them is reported by the one
/// that does.
pub fn main_together(words: Vec<OsString>, commit: Option<&str>, together: Rc<dyn Together>) -> u8 {
    let start = Start {
        words,
        serve: |_, _| Err(no_pages()),
        together: Some(together),
    };
    main_of(start, commit).code()
}

/// Says why nothing can be done, and returns the number to end with.
pub fn refuse(text: &str, hint: &str) -> u8 {
    let failure = Failure::usage(text, Hint::plain(hint));
    show::failures::print(&failure);
    failure.exit.code()
}

fn no_pages() -> Failure {
    Failure::usage("there are no pages here", "run `stripewise serve`")
}

/// How a process was started.
struct Start {
    words: Vec<OsString>,
    serve: Serve,
    together: Option<Rc<dyn Together>>,
}

fn main_of(start: Start, commit: Option<&str>) -> Exit {
    let together = start.together.clone();
    let is_shown = together.as_ref().is_none_or(|one| one.leads());
    interrupt::outlive_file_size_limit();
    let ended = match switches::parsed(start.words.clone()) {
        Ok(cli) => dispatch(cli, start),
        Err(_) if !is_shown => Ok(Exit::Usage),
        Err(error) => complaint::complain(&error, commit),
    };
    let ended = match show::terminal::unwritten() {
        // What the measurement came to is not hidden behind it.
        Some(unwritten) if matches!(ended, Ok(exit) if exit != Exit::Done) => {
            show::failures::print(&unwritten);
            ended
        }
        Some(unwritten) => ended.and(Err(unwritten)),
        None => ended,
    };
    let exit = ended.unwrap_or_else(|failure| {
        if let Some(together) = &together {
            together.failed(&failure);
        }
        if is_shown {
            show::failures::print(&failure);
        }
        failure.exit
    });
    show::terminal::farewell();
    exit
}

fn dispatch(mut cli: Cli, start: Start) -> Outcome {
    if cli.global.events {
        show::document::expect_events();
        cli.global.json = true;
    }
    if cli.global.json || cli.command.prints_a_document() {
        show::terminal::expect_document();
    }
    if start.together.is_some() {
        commands::hosts::refuse_alone(&cli.command)?;
    }
    let context = Context::new(cli.global, start.together).map_err(|error| {
        Failure::new(
            Exit::Target,
            format!("cannot listen for Ctrl-C: {error}"),
            "the system is out of a resource (threads, descriptors); see its log, `dmesg` on Linux",
        )
    })?;
    let done = match &cli.command {
        Command::Bench(arguments) => commands::bench::bench(&context, arguments),
        Command::Run(arguments) => commands::run::run(&context, arguments),
        Command::Prepare(arguments) => commands::prepare::prepare(&context, arguments),
        Command::Compare(arguments) => commands::compare::compare(&context, arguments),
        Command::Verify(arguments) => commands::verify::verify(&context, arguments),
        Command::Witness(arguments) => commands::witness::witness(&context, arguments),
        Command::Advise(arguments) => commands::advise::advise(&context, arguments),
        Command::Align(arguments) => commands::align::align(&context, arguments),
        Command::Lab(arguments) => commands::lab::lab(&context, arguments),
        Command::Profile(arguments) => commands::profile::profile(&context, arguments),
        Command::Probe(arguments) => commands::probe::probe(&context, arguments),
        Command::Baseline(arguments) => commands::baseline::baseline(&context, arguments),
        Command::Check(arguments) => commands::check::check(&context, arguments),
        Command::Disks(arguments) => commands::disks::disks(&context, arguments),
        Command::Partition(arguments) => commands::partition::partition(&context, arguments),
        Command::Format(arguments) => commands::format::format(&context, arguments),
        Command::Report(arguments) => commands::report::report(&context, arguments),
        Command::Import(arguments) => commands::import::import(&context, arguments),
        Command::Export(arguments) => commands::export::export(&context, arguments),
        Command::Convert(arguments) => commands::convert::convert(&context, arguments),
        Command::Merge(arguments) => commands::merge::merge(&context, arguments),
        Command::Sqlio(arguments) => commands::sqlio::sqlio(&context, arguments),
        Command::History(arguments) => commands::history::history(&context, arguments),
        Command::Watch(arguments) => commands::watch::watch(&context, arguments),
        Command::Serve(arguments) => commands::serve::serve(&context, arguments, start.serve),
        Command::Sim(arguments) => commands::sim::sim(&context, arguments),
        Command::Doctor(arguments) => commands::doctor::doctor(&context, arguments),
        Command::Completions(arguments) => commands::manual::completions(&context, arguments),
        Command::Man(arguments) => commands::manual::man(&context, arguments),
    };
    if context.has_measured() {
        show::terminal::expect_no_loss();
    }
    done.map(|exit| context.exit_with_damage(exit))
}
