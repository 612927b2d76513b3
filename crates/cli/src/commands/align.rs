//! `align`: does the partition offset matter on this storage?

use crate::commands::hosts::{followed, led};
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::experiment::conclude;
use crate::show::page::{refuse_existing, write_report_on};
use crate::switches::align::Align;
use stripewise_campaign::align::{align as measure, check};

pub fn align(context: &Context, arguments: &Align) -> Outcome {
    if let Some(done) = followed(context, &arguments.safety) {
        return done;
    }
    refuse_existing(arguments.report.as_deref())?;
    let mut options = arguments.options();
    check(&options)?;
    (options.target, options.measuring.group) = led(context, &options.target)?;
    let mut store = context.open_store()?;
    let permissions = arguments.safety.permissions();
    let session = measure(context, &mut store, &options, &permissions)?;
    let answer = session.answer.as_ref();
    let id = answer.map(|answer| answer.stored.id.clone());
    let exit = conclude(context, session)?;
    if let Some((path, id)) = arguments.report.as_ref().zip(id) {
        write_report_on(context, &store, &id, path)?;
    }
    Ok(exit)
}
