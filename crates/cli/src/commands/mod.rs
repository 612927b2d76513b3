//! A file per subcommand.

pub mod advise;
pub mod align;
pub mod baseline;
pub mod bench;
pub mod check;
pub mod compare;
pub mod convert;
pub mod disks;
pub mod doctor;
pub mod export;
pub mod format;
pub mod headroom;
pub mod history;
pub mod hosts;
pub mod import;
pub mod lab;
pub mod limits;
pub mod manual;
pub mod merge;
pub mod observe;
pub mod partition;
pub mod prepare;
pub mod probe;
pub mod profile;
pub mod qualify;
pub mod report;
pub mod run;
pub mod serve;
pub mod sim;
pub mod sqlio;
pub mod verify;
pub mod watch;
pub mod witness;

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::switches::Command;
use std::io::Read;
use stripewise_campaign::live::Serve;

/// Executes the command that was typed.
pub fn execute(
    context: &Context,
    command: &Command,
    serve: Serve,
    stdin: Box<dyn Read + Send>,
) -> Outcome {
    match command {
        Command::Bench(arguments) => bench::bench(context, arguments),
        Command::Run(arguments) => run::run(context, arguments),
        Command::Qualify(arguments) => qualify::qualify(context, arguments),
        Command::Limits(arguments) => limits::limits(context, arguments),
        Command::Prepare(arguments) => prepare::prepare(context, arguments),
        Command::Observe(arguments) => observe::observe(context, arguments),
        Command::Compare(arguments) => compare::compare(context, arguments),
        Command::Verify(arguments) => verify::verify(context, arguments),
        Command::Witness(arguments) => witness::witness(context, arguments, stdin),
        Command::Advise(arguments) => advise::advise(context, arguments),
        Command::Align(arguments) => align::align(context, arguments),
        Command::Lab(arguments) => lab::lab(context, arguments),
        Command::Profile(arguments) => profile::profile(context, arguments),
        Command::Headroom(arguments) => headroom::headroom(context, arguments),
        Command::Probe(arguments) => probe::probe(context, arguments),
        Command::Baseline(arguments) => baseline::baseline(context, arguments),
        Command::Check(arguments) => check::check(context, arguments),
        Command::Disks(arguments) => disks::disks(context, arguments),
        Command::Partition(arguments) => partition::partition(context, arguments),
        Command::Format(arguments) => format::format(context, arguments),
        Command::Report(arguments) => report::report(context, arguments),
        Command::Import(arguments) => import::import(context, arguments),
        Command::Export(arguments) => export::export(context, arguments),
        Command::Convert(arguments) => convert::convert(context, arguments),
        Command::Merge(arguments) => merge::merge(context, arguments),
        Command::Sqlio(arguments) => sqlio::sqlio(context, arguments),
        Command::History(arguments) => history::history(context, arguments),
        Command::Watch(arguments) => watch::watch(context, arguments),
        Command::Serve(arguments) => serve::serve(context, arguments, serve),
        Command::Sim(arguments) => sim::sim(context, arguments),
        Command::Doctor(arguments) => doctor::doctor(context, arguments),
        Command::Completions(arguments) => manual::completions(context, arguments),
        Command::Man(arguments) => manual::man(context, arguments),
    }
}
