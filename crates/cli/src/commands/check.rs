//! `check`: runs the baseline again and tells change; holds runs to requirements.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::page::{refuse_existing, say_written, write_material};
use crate::show::runs::all_kept_line;
use crate::show::terminal::{say, say_part};
use crate::switches::check::Check;
use crate::switches::hints::{of_a_baseline, word_warnings};
use stripewise_campaign::check::{Answer, CheckLoad, CheckOptions, check as run_check, line};
use stripewise_report::{
    comparison_text, errors_text, requirement_text, warnings_brief, warnings_text, wrapped,
};
use stripewise_units::{ByteSize, Nanoseconds, counted, plural};

pub fn check(context: &Context, arguments: &Check) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    let permissions = arguments.safety.permissions();
    let answer = run_check(context, &options(arguments), &permissions)?;
    let exit = answer.exit();
    if let Some(why) = answer.why_inconclusive {
        return broken_off(context, &answer, why);
    }
    if context.global.json {
        context.output.print_json(&answer.document())?;
    } else if context.global.quiet {
        // A check that found nothing says nothing: for jobs that mail what they print.
        context.output.print_text(&line(&answer, exit));
    } else {
        context.output.print_text(&text(context, &answer));
    }
    if let Some(path) = &arguments.report {
        write_material(context, &answer.material(context), path)?;
        say_written(context, path);
    }
    Ok(exit)
}

fn options(arguments: &Check) -> CheckOptions {
    let load = &arguments.load;
    CheckOptions {
        target: arguments.target.clone(),
        baseline: arguments.baseline.clone(),
        run: arguments.run.clone(),
        require: arguments.require.clone(),
        metric: arguments.metric.clone(),
        repeat: arguments.repeat,
        tolerate: arguments.tolerate,
        gentle: arguments.gentle,
        changed: arguments.changed.clone(),
        load: CheckLoad {
            block_size_bytes: load.block.map(ByteSize::bytes),
            threads: load.threads,
            outstanding: load.outstanding,
            duration_ns: load.duration.map(Nanoseconds::ns),
            size_bytes: load.size.map(ByteSize::bytes),
        },
    }
}

/// What was measured before the end is kept; nothing is concluded from it.
fn broken_off(context: &Context, answer: &Answer, why: &str) -> Outcome {
    let records = &answer.records;
    say!(
        context.output,
        "note: {why}; {} kept in the history, and nothing is concluded from {}",
        counted(records.len(), "run is", "runs are"),
        plural(records.len(), "it", "them"),
    );
    say_part!(context.output, "{}", errors_text(records));
    if context.global.json {
        context.output.print_json(&answer.document())?;
    }
    Ok(answer.exit())
}

fn text(context: &Context, answer: &Answer) -> String {
    let mut text = String::new();
    for comparison in &answer.comparisons {
        text.push_str(&comparison_text(comparison));
        text.push('\n');
    }
    for outcome in &answer.requirements {
        text.push_str(&requirement_text(outcome));
    }
    for sentence in &answer.said {
        text.push_str(&wrapped(sentence, "  "));
    }
    let mut told = answer.records.clone();
    let words = context.output.words();
    let of_baseline = answer.made && answer.baseline.is_some();
    word_warnings(&mut told, |hint| match of_baseline {
        true => of_a_baseline(&words, hint),
        false => words.hint(hint),
    });
    text.push_str(&match context.global.explain {
        true => warnings_text(&told),
        false => warnings_brief(&told),
    });
    text.push_str(&errors_text(&answer.records));
    if answer.made {
        text.push_str(&all_kept_line(&answer.records));
    }
    text
}
