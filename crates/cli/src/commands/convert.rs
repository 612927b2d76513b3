//! `convert`: another tool's workload as a plan.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::output::write_new;
use crate::show::context::{Context, drives};
use crate::show::document::{note, print_json, print_text};
use crate::show::terminal::say;
use crate::switches::convert::Convert;
use stripewise_campaign::convert::convert as to_plan;
use stripewise_units::NameText;

pub fn convert(context: &Context, arguments: &Convert) -> Outcome {
    let drives = drives(&arguments.drive)?;
    let converted = to_plan(context, arguments.from, &arguments.file, &drives)?;
    converted.notes.iter().for_each(note);
    if let Some(output) = &arguments.output {
        write_new(output, converted.plan.as_bytes())?;
        say!(
            "Wrote {}; `stripewise run --plan {}` runs it.",
            output.as_text(),
            output.as_text()
        );
    }
    if context.global.json {
        print_json(&converted)?;
    } else if arguments.output.is_none() {
        print_text(&converted.plan);
    }
    Ok(Exit::Done)
}
