//! `import`: stores other tools' results, all or none of them unless the user asks
//! for the complete ones only.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::switches::import::Import;
use stripewise_campaign::import::{ImportDocument, ImportOptions, import as keep};
use stripewise_report::{Sheet, imported_table, one_line};
use stripewise_units::counted;

/// Maximum rows of the table; no one reads more, and all are in the store.
const ROWS_MAX: usize = 1_000;

pub fn import(context: &Context, arguments: &Import) -> Outcome {
    let options = ImportOptions {
        whole: arguments.whole_results,
        label: arguments.label.as_deref(),
        runs_max: match context.global.json {
            true => usize::MAX,
            false => ROWS_MAX,
        },
    };
    let done = keep(context, &arguments.files, options)?;
    // Files that were meant and gave nothing are news for a script.
    let exit = match done.skipped.is_empty() {
        true => Exit::Done,
        false => Exit::Finding,
    };
    if context.global.json {
        context.output.print_json(&done)?;
        return Ok(exit);
    }
    let lines = done.outcomes.iter().cloned().chain([summary(&done)]);
    if context.global.quiet {
        let lines: String = lines.map(|line| one_line(&line) + "\n").collect();
        context.output.print_lines(&lines);
        return Ok(exit);
    }
    let all = done.imported.len() + done.already_there.len();
    let more = all.saturating_sub(done.runs.len());
    let more = (more > 0).then(|| {
        let shown = counted(done.runs.len(), "result", "results");
        format!("The table has the first {shown}; `stripewise history` lists all.")
    });
    let sheet = Sheet {
        tables: vec![imported_table(&done.runs)],
        notes: more.into_iter().chain(lines).collect(),
        ..Sheet::default()
    };
    for file in &done.files {
        for text in &file.notes {
            context.output.note(format!("{}: {text}", file.source));
        }
    }
    if done.copies > 0 {
        context.output.note(format!(
            "{} a copy of another one of these files",
            counted(done.copies, "result is", "results are")
        ));
    }
    context.output.print_lines(&context.sheet_text(&sheet));
    Ok(exit)
}

fn summary(done: &ImportDocument) -> String {
    let new = &done.imported[..];
    let there = match done.already_there.len() {
        0 => String::new(),
        count => format!("; {} already there", counted(count, "was", "were")),
    };
    let shown = match new {
        [] => String::new(),
        [one] => format!("; `stripewise history show {one}` shows it"),
        [first, ..] => format!("; `stripewise history show {first}` shows the first"),
    };
    let skipped = match done.skipped.len() {
        0 => String::new(),
        files => format!("; {} skipped", counted(files, "file was", "files were")),
    };
    format!(
        "{} saved{there}{skipped}{shown}.",
        counted(new.len(), "result", "results")
    )
}
