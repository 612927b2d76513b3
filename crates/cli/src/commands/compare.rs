//! `compare`: tables of differences between stored, imported or published results.

use crate::failure::Failure;
use crate::failure::Outcome;
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::line::print_answer;
use crate::show::page::{
    format_of_answer, name_the_rest, refuse_existing, say_written, write_material,
};
use crate::switches::compare::Compare;
use serde::Serialize;
use stripewise_campaign::Exit;
use stripewise_campaign::compare::{
    AnswerComparison, CompareQuestion, OwnTable, compare as compare_subjects, compare_own_table,
};
use stripewise_campaign::profile::{comparison_line, comparison_text};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_report::{compared_line, comparison_sheet, one_line};

pub fn compare(context: &Context, arguments: &Compare) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    let question = CompareQuestion {
        a: arguments.a.clone(),
        others: arguments.others.clone(),
        metrics: arguments.metric.clone(),
        baseline: arguments.baseline.clone(),
    };
    if let Some(found) = compare_own_table(context, &question)? {
        return own_table(context, arguments, &found);
    }
    let compared = compare_subjects(context, &question)?;
    if context.global.json {
        context.output.print_json(&compared.document())?;
    } else {
        let sheet = comparison_sheet(&compared.records, &[], context.global.explain);
        print_answer(
            context,
            || context.sheet_text(&sheet),
            || compared_line(&compared.records),
        );
    }
    let exit = compared.exit();
    if let Some(path) = &arguments.report {
        write_material(context, compared.material(), path)?;
        say_written(context, path);
    }
    Ok(exit)
}

/// Two results of a kind that has a table of its own.
fn own_table(context: &Context, arguments: &Compare, found: &OwnTable) -> Outcome {
    match found {
        OwnTable::Profiles(compared) => {
            let texts = [comparison_text(compared), comparison_line(compared)];
            plain(context, arguments, "profiles", (compared, texts))?;
            Ok(compared.exit())
        }
        OwnTable::Observations(compared) => {
            let texts = [compared.text(), compared.line()];
            plain(context, arguments, "observations", (compared, texts))
        }
        OwnTable::Headrooms(compared) => {
            let text = compared.text();
            let line = in_line(&text);
            plain(context, arguments, "headrooms", (compared, [text, line]))
        }
        OwnTable::Answers(compared) => answers(context, arguments, compared),
    }
}

/// Two answers of `limits` or of `qualify`.
fn answers(context: &Context, arguments: &Compare, compared: &AnswerComparison) -> Outcome {
    let report = arguments.report.as_deref();
    let report: Option<Outcome<_>> = report.map(|path| Ok((path, format_of_answer(path)?)));
    let report = report.transpose()?;
    if context.global.json {
        context.output.print_json(compared)?;
    } else {
        let whole = || context.sheet_text(&compared.sheet());
        print_answer(context, whole, || compared.line());
    }
    if let Some((path, format)) = report {
        let rendered = compared.rendered(format, &PictureLook::default())?;
        name_the_rest(context, &rendered);
        write_new(path, &rendered.bytes)?;
        say_written(context, path);
    }
    Ok(Exit::Done)
}

/// A result without runs and report: as a document, as text, or as a line.
fn plain(
    context: &Context,
    arguments: &Compare,
    what: &str,
    (document, [text, line]): (&impl Serialize, [String; 2]),
) -> Outcome {
    if arguments.report.is_some() {
        return Err(Failure::usage(
            format!("a comparison of {what} has no report"),
            "leave --report out; --json prints all of it",
        ));
    }
    if context.global.json {
        context.output.print_json(document)?;
    } else {
        print_answer(context, || context.output.shown(&text), || line);
    }
    Ok(Exit::Done)
}

/// All of a short text: which side is A and which B, and what was found.
fn in_line(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(one_line).collect();
    lines.join("; ")
}
