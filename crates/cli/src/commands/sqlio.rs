//! `sqlio`: runs SQLIO's command line and prints SQLIO's output.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::runs;
use crate::show::terminal::{say, say_part};
use crate::switches::sqlio::Sqlio;
use stripewise_campaign::sqlio::{parse, run, show};
use stripewise_campaign::steps::documents::document;
use stripewise_report::{partial_lines, warnings_text};
use stripewise_results::RunRecord;
use stripewise_runner::trust::Code;

pub fn sqlio(context: &Context, arguments: &Sqlio) -> Outcome {
    if let Some(name) = &arguments.show {
        context.output.print_lines(&show(context, name)?);
        return Ok(Exit::Done);
    }
    let command = parse(&arguments.words)?;
    if command.help || (arguments.words.is_empty() && arguments.help.is_none()) {
        context.output.print_text(stripewise_compat::sqlio::USAGE);
        return Ok(Exit::Done);
    }
    command
        .notes
        .iter()
        .for_each(|note| context.output.note(note));
    let permissions = arguments.safety.permissions();
    let json = context.global.json;
    let mut say = |text: &str| {
        if !json {
            context.output.print_lines(text);
        }
    };
    let label = arguments.label.as_deref();
    let drives = context.drives(&arguments.drive)?;
    let ran = run(context, &command, &drives, label, &permissions, &mut say)?;
    tell(context, ran.record, ran.stored.is_ok());
    ran.stored?;
    Ok(ran.exit)
}

/// Stripewise's own output on stderr, or the document on stdout.
fn tell(context: &Context, record: RunRecord, is_stored: bool) {
    let document = document(vec![record]);
    if context.global.json {
        context.output.print_exact(&document.to_json());
        return;
    }
    for line in partial_lines(&document.runs) {
        say!(context.output, "{line}");
    }
    let records_to_print = without_percentiles(&document.runs);
    context.output.explain(&warnings_text(&records_to_print));
    say_part!(context.output, "{}", options_here(&records_to_print));
    if is_stored && !context.global.quiet {
        say_part!(context.output, "{}", runs::all_kept_line(&document.runs));
    }
}

/// Without the note on a percentile, since SQLIO shows none.
fn without_percentiles(runs: &[RunRecord]) -> Vec<RunRecord> {
    let mut runs = runs.to_vec();
    for job in runs.iter_mut().flat_map(|run| &mut run.jobs) {
        job.warnings
            .retain(|warning| warning.code != Code::FewForP999.as_str());
    }
    runs
}

/// Hints of warnings name options of `run`: what replaces them here.
fn options_here(runs: &[RunRecord]) -> String {
    let known = [
        ("size", "the size in a parameter file (-F)"),
        ("duration", "-s"),
        ("ramp", "not there: SQLIO measures from the first operation"),
        ("cache", "-B"),
        ("threads", "-t"),
        ("outstanding", "-o"),
        ("sync", "not there"),
        ("engine", "not there"),
    ];
    let of_jobs = runs.iter().flat_map(|run| &run.jobs);
    let warnings = runs.iter().flat_map(|run| &run.warnings);
    let warnings = warnings.chain(of_jobs.flat_map(|job| &job.warnings));
    let options: Vec<&str> = warnings.flat_map(|one| one.hint.options()).collect();
    let named: Vec<String> = known
        .iter()
        .filter(|(option, _)| options.contains(option))
        .map(|(option, here)| format!("--{option} is {here}"))
        .collect();
    match named.as_slice() {
        [] => String::new(),
        named => format!("note: in sqlio, {}\n", named.join("; ")),
    }
}
