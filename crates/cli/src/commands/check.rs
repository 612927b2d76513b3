//! `check`: repeats the baseline and reports changes; judges runs by requirements.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::page::{refuse_existing, say_written, write_material};
use crate::show::terminal::say;
use crate::switches::check::Check;
use crate::switches::hints::{of_a_baseline, replace_hints};
use stripewise_campaign::check::{Answer, CheckLoad, CheckOptions, check as run_check};
use stripewise_report::{Sheet, again, failed_lines};
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
        // A check without findings prints nothing, for jobs that mail their output.
        context.output.print_lines(&answer.line());
    } else {
        context
            .output
            .print_lines(&context.sheet_text(&sheet(context, &answer)));
    }
    if let Some(path) = &arguments.report {
        write_material(context, answer.material(context), path)?;
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
            cache_size_bytes: load.cache_size.map(ByteSize::bytes),
        },
    }
}

/// Results before the interruption are stored if possible, but no conclusion is drawn from them.
fn broken_off(context: &Context, answer: &Answer, why: &str) -> Outcome {
    let records = &answer.records;
    let stored = match answer.is_stored {
        true => format!(
            "{} kept in the history",
            counted(records.len(), "run is", "runs are")
        ),
        false => "not every run is kept in the history".to_owned(),
    };
    say!(
        context.output,
        "note: {why}; {stored}, and nothing is concluded from {}",
        plural(records.len(), "it", "them"),
    );
    for line in failed_lines(records) {
        context.output.explain(&format!("{line}\n"));
    }
    if context.global.json {
        context.output.print_json(&answer.document())?;
    }
    Ok(answer.exit())
}

fn sheet(context: &Context, answer: &Answer) -> Sheet {
    let mut records_to_print = answer.records.clone();
    let words = context.output.words();
    let of_baseline = answer.made && answer.baseline.is_some();
    replace_hints(&mut records_to_print, |hint| match of_baseline {
        true => of_a_baseline(&words, hint),
        false => words.hint(hint),
    });
    let mut sheet = answer
        .stored()
        .sheet(&records_to_print, context.global.explain);
    if let Some(first) = answer
        .records
        .first()
        .filter(|_| answer.made && answer.is_stored)
    {
        let id = first.series.as_ref().unwrap_or(&first.id);
        sheet.pointers.push(again(&context.short_name(id)));
    }
    sheet
}
