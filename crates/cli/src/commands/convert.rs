//! `convert`: another tool's workload as a plan.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::terminal::say;
use crate::switches::convert::Convert;
use stripewise_campaign::convert::convert as to_plan;
use stripewise_units::NameText;

pub fn convert(context: &Context, arguments: &Convert) -> Outcome {
    let drives = context.drives(&arguments.drive)?;
    let converted = to_plan(context, arguments.from, &arguments.file, &drives)?;
    converted
        .notes
        .iter()
        .for_each(|note| context.output.note(note));
    if let Some(output) = &arguments.output {
        write_new(output, converted.plan.as_bytes())?;
        say!(
            context.output,
            "Wrote {}; `stripewise run --plan {}` runs it.",
            output.as_text(),
            output.as_text()
        );
    }
    if context.global.json {
        context.output.print_json(&converted)?;
    } else if arguments.output.is_none() {
        context.output.print_lines(&converted.plan);
    }
    Ok(Exit::Done)
}
