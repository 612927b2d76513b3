//! `import`: other tools' results into the store, all or nothing unless the user asks
//! for what is whole.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::switches::import::Import;
use stripewise_campaign::import::import as keep;
use stripewise_report::imported_rows_table;
use stripewise_units::counted;

pub fn import(context: &Context, arguments: &Import) -> Outcome {
    let label = arguments.label.as_deref();
    let done = keep(context, &arguments.files, arguments.whole_results, label)?;
    if context.global.json {
        context.output.print_json(&done)?;
        return Ok(Exit::Done);
    }
    let mut text = imported_rows_table(&done.runs);
    for file in &done.files {
        text.push_str(&format!(
            "{}: {}, {}\n",
            file.source,
            file.format,
            counted(file.results, "result", "results")
        ));
    }
    for file in done.files.iter().filter(|_| !context.global.quiet) {
        for text in &file.notes {
            context.output.note(format!("{}: {text}", file.source));
        }
    }
    if done.copies > 0 && !context.global.quiet {
        context.output.note(format!(
            "{} a copy of another one of these files",
            counted(done.copies, "result is", "results are")
        ));
    }
    text.push_str(&summary(&done.imported, done.already_there.len()));
    context.output.print_text(&text);
    Ok(Exit::Done)
}

fn summary(new: &[String], already_there: usize) -> String {
    let there = match already_there {
        0 => String::new(),
        count => format!("; {} already there", counted(count, "was", "were")),
    };
    let shown = match new {
        [] => String::new(),
        [one] => format!("; `stripewise history show {one}` shows it"),
        [first, ..] => format!("; `stripewise history show {first}` shows the first"),
    };
    format!(
        "{} kept{there}{shown}.\n",
        counted(new.len(), "result", "results")
    )
}
