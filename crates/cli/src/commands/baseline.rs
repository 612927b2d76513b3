//! `baseline`: stores runs as the reference for `check`.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::{print_answer, print_or};
use crate::show::terminal::say;
use crate::switches::baseline::{Baseline, BaselineAction, BaselineSet};
use stripewise_campaign::baseline::{
    BaselineDocument, BaselineOptions, RemovedDocument, SetBaseline, all, has_few_repetitions,
    line, remove as forget, set as keep,
};
use stripewise_campaign::steps::baselines::NAME_USUAL;

pub fn baseline(context: &Context, arguments: &Baseline) -> Outcome {
    match &arguments.action {
        None | Some(BaselineAction::List) => list(context),
        Some(BaselineAction::Set(wanted)) => set(context, wanted),
        Some(BaselineAction::Remove { name }) => remove(context, name),
    }
}

fn set(context: &Context, wanted: &BaselineSet) -> Outcome {
    let options = BaselineOptions {
        id: wanted.id.clone(),
        name: wanted.name.clone(),
        replace: wanted.replace,
        anyway: wanted.anyway,
        repeat: wanted.repeat,
    };
    let (stored, replaced) = match keep(context, &options, &wanted.safety.permissions())? {
        SetBaseline::Stored { stored, replaced } => (stored, replaced),
        SetBaseline::BrokenOff(exit) => {
            say!(
                context.output,
                "note: the baseline was not set: its repetitions did not end well; they are kept in the history"
            );
            return Ok(exit);
        }
    };
    if context.global.json {
        context
            .output
            .print_json(&BaselineDocument::of(std::slice::from_ref(&stored)))?;
    } else {
        let named = match stored.name == NAME_USUAL {
            true => "the",
            false => "a baseline named",
        };
        let saved = format!("Saved as {named} {}", line(&stored)?);
        let replaces = replaced.as_ref().map(|old| {
            let words = format!("It replaces {old}, whose runs stay in the history.");
            context.wrapped(&words)
        });
        print_answer(
            context,
            || context.wrapped(&saved) + &replaces.unwrap_or_default(),
            || saved.clone(),
        );
    }
    for caution in stored.cautions() {
        context.output.explain(&format!("warning: {caution}\n"));
    }
    if has_few_repetitions(&stored) {
        say!(
            context.output,
            "hint: add --repeat 6 (and --replace) to run it again as the baseline"
        );
    }
    Ok(Exit::Done)
}

fn remove(context: &Context, name: &str) -> Outcome {
    forget(context, name)?;
    print_or(context, &RemovedDocument::of(name), || {
        let text = format!("Removed the baseline {name}; its runs stay in the history.\n");
        context.output.print_text(&text);
    })?;
    Ok(Exit::Done)
}

fn list(context: &Context) -> Outcome {
    let all = all(context)?;
    if context.global.json {
        context.output.print_json(&BaselineDocument::of(&all))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for one in &all {
        text.push_str(&context.wrapped(&line(one)?));
        for change in &one.changes {
            let words = format!("  {} changed: {}", change.at, change.words);
            text.push_str(&context.wrapped(&words));
        }
    }
    if all.is_empty() {
        text.push_str("There is no baseline yet; `stripewise baseline set ID` keeps one.\n");
    }
    context.output.print_text(&text);
    Ok(Exit::Done)
}
