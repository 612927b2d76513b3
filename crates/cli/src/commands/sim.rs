//! `sim list` and `sim show`.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_or;
use crate::switches::small::{Sim, SimAction};
use stripewise_campaign::sim::{arrays_sheet, list, show};

pub fn sim(context: &Context, arguments: &Sim) -> Outcome {
    match &arguments.action {
        SimAction::List => {
            let arrays = list();
            print_or(context, &arrays, || {
                let sheet = arrays_sheet(&arrays.arrays);
                context.output.print_lines(&context.sheet_text(&sheet));
            })?;
        }
        SimAction::Show { name } => {
            let shown = show(context, name)?;
            let keys = shown.array.description.as_deref().unwrap_or_default();
            match (context.global.json, shown.file) {
                (true, _) => context.output.print_json(&shown)?,
                (false, Some(file)) => context.output.print_lines(&format!(
                    "{file}\n# All keys, with those left at their defaults:\n#\n{}",
                    commented(keys)
                )),
                (false, None) => context.output.print_lines(keys),
            }
        }
    }
    Ok(Exit::Done)
}

fn commented(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}
