//! `observe`: what a server does to its disks.

use crate::failure::{Failure, Outcome};
use crate::output::{check_new, hint_of, write_new, write_new_with};
use crate::show::context::Context;
use crate::show::line::{print_or, print_result};
use crate::show::page::{check_outputs, format_of, write_rendered};
use crate::switches::observe::Observe;
use std::path::Path;
use stripewise_campaign::Exit;
use stripewise_campaign::observe::{
    BUFFER_BYTES, ObserveOptions, ObserveResult, Observed, clean_up, observe as look,
};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_units::{ByteSize, NameText};

/// Default duration.
const DURATION_NS: u64 = 60_000_000_000;
/// Size of the seed that maps groups of places to new locations in an anonymous model.
const ANONYMOUS_SEED_BYTES: usize = 8;

pub fn observe(context: &Context, arguments: &Observe) -> Outcome {
    if arguments.clean {
        let cleaned = clean_up()?;
        print_or(context, &cleaned, || {
            context.output.print_text(&cleaned.text())
        })?;
        return Ok(Exit::Done);
    }
    check_outputs(&arguments.output, format_of)?;
    for path in arguments.model.iter().chain(&arguments.keep_trace) {
        check_new(path)?;
    }
    let options = ObserveOptions {
        target: arguments.target.clone(),
        from: arguments.from.clone(),
        columns: arguments.columns.clone(),
        pid: arguments.pid,
        buffer_bytes: arguments.buffer.map_or(BUFFER_BYTES, ByteSize::bytes),
        duration_ns: arguments.duration.map_or(DURATION_NS, |time| time.0),
        slow_ns: arguments.slow.map(|slow| slow.0),
        keeps_trace: arguments.keep_trace.is_some(),
        written_to: (arguments.keep_trace.clone()).or_else(|| arguments.model.clone()),
        wants_model: arguments.model.is_some(),
        is_anonymous: arguments.anonymous,
    };
    let ObserveResult {
        mut observed,
        exit,
        not_stored,
    } = look(context, &options)?;
    let document = &observed.document;
    print_result(context, document, || document.sheet(), || document.line())?;
    // The recording is only here: it comes first, and whatever fails, the others are written.
    let mut written = match (&arguments.keep_trace, observed.trace()) {
        (Some(path), Some(trace)) => write_new(path, &trace),
        _ => Ok(()),
    };
    if let Some(path) = &arguments.model {
        written = written.and(write_model(context, &mut observed, &options, path));
    }
    for path in &arguments.output {
        written = written.and(write_report(context, &observed, path));
    }
    written?;
    not_stored.map_or(Ok(exit), Err)
}

fn write_report(context: &Context, observed: &Observed, path: &Path) -> Outcome<()> {
    let rendered = (observed.document).rendered(format_of(path)?, &PictureLook::default())?;
    write_rendered(context, &rendered, path)
}

fn write_model(
    context: &Context,
    observed: &mut Observed,
    options: &ObserveOptions,
    path: &Path,
) -> Outcome<()> {
    let mut seed = [0; ANONYMOUS_SEED_BYTES];
    seed.copy_from_slice(&context.random_seed()[..ANONYMOUS_SEED_BYTES]);
    let Some(model) = observed.model(options, u64::from_le_bytes(seed))? else {
        return Ok(());
    };
    write_new_with(path, |out| {
        model.write(out).map_err(|error| {
            let hint = hint_of(&error, "make room there, or name a file elsewhere");
            Failure::target(format!("cannot write {}: {error}", path.as_text()), hint)
        })
    })
}
