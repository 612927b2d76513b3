//! `history`: list, show, delete, salvage.

use super::qualify;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::show::experiment::worth_showing;
use crate::show::line::{marked, print_answer};
use crate::show::runs;
use crate::switches::hints::{Words, replace_hints, replace_stored_hints};
use crate::switches::small::{History, HistoryAction, HistoryFilter};
use std::path::{Component, Path};
use stripewise_campaign::history::{
    ShownAs, being_measured, check, delete as forget, experiment, layouts, list as list_stored,
    measurement, qualification, runs_for_rows, salvage as save_readable, show as load, shown_as,
    since,
};
use stripewise_campaign::qualify::QualifyResult;
use stripewise_report::{RunsLook, Sheet, again, comparison_sheet, history_table, runs_origin};
use stripewise_results::Document;
use stripewise_store::Filter;
use stripewise_units::{NameText, counted};

pub fn history(context: &Context, arguments: &History) -> Outcome {
    match &arguments.action {
        None => list(context, arguments),
        Some(HistoryAction::Show {
            ids,
            percentiles,
            ladders,
        }) => show(context, ids, &context.runs_look(*ladders, percentiles)),
        Some(HistoryAction::Delete { ids }) => delete(context, ids),
        Some(HistoryAction::Salvage { to }) => salvage(context, to),
    }
}

fn list(context: &Context, arguments: &History) -> Outcome {
    let limit = arguments.limit;
    let mut filter = Filter {
        limit: Some(match context.global.json {
            true => limit,
            false => runs_for_rows(limit),
        }),
        ..filter(context, &arguments.only)?
    };
    let mut history = list_stored(context, &filter)?;
    if context.global.json {
        context.output.print_json(&history.document())?;
        return Ok(Exit::Done);
    }
    let mut rows = history.rows(limit as usize);
    // One row may represent hundreds of runs.
    while history.is_cut && rows.len() < limit as usize {
        filter.limit = filter.limit.map(|runs| runs.saturating_mul(4));
        history = list_stored(context, &filter)?;
        rows = history.rows(limit as usize);
    }
    if !history.is_empty() {
        let sheet = Sheet {
            tables: vec![history_table(&rows)],
            ..Sheet::default()
        };
        context.output.print_lines(&context.sheet_text(&sheet));
        return Ok(Exit::Done);
    }
    context.output.print_text(&match history.is_filtered {
        true => "No stored run matches; `stripewise history` without switches lists all of them.\n"
            .to_owned(),
        false => format!(
            "Nothing is stored yet in {}.\n",
            context.store_path()?.as_text()
        ),
    });
    Ok(Exit::Done)
}

/// Makes a relative path absolute, since the store has absolute ones.
fn whole_path(typed: &str) -> String {
    let first = Path::new(typed).components().next();
    let is_relative = matches!(first, Some(Component::CurDir | Component::ParentDir));
    let whole = is_relative.then(|| stripewise_campaign::whole_path(typed));
    whole.flatten().unwrap_or_else(|| typed.to_owned())
}

/// The store filter for these switches.
pub(super) fn filter(context: &Context, only: &HistoryFilter) -> Outcome<Filter> {
    let since = only.since.as_deref().map(|text| since(context, text));
    Ok(Filter {
        label: only.label.clone(),
        series: only.series.clone(),
        target: only.target.as_deref().map(whole_path),
        tool: only.tool.clone(),
        since: since.transpose()?,
        ..Filter::default()
    })
}

/// Runs, or benches, are rows of one table; results of other kinds, and lines of `-q`, follow each
/// other.
fn show(context: &Context, names: &[String], look: &RunsLook<'_>) -> Outcome {
    if names.iter().any(|name| name.starts_with("last"))
        && let Ok(Some(id)) = being_measured(context)
    {
        context.output.note(format!(
            "{id} is still being measured: `stripewise history show {id}` prints what it has so far"
        ));
    }
    if names.len() < 2 {
        return show_together(context, names, look);
    }
    let kinds = names.iter().map(|name| shown_as(context, name));
    let kinds: Vec<ShownAs> = kinds.collect::<Outcome<_>>()?;
    if context.global.json {
        let mut all = names.iter().zip(&kinds);
        return match all.find(|(_, kind)| **kind == ShownAs::Answer) {
            Some((name, _)) => Err(Failure::usage(
                format!("{name} has a document of its own, and --json prints one document"),
                "show each by itself",
            )),
            None => show_together(context, names, look),
        };
    }
    let is_row = matches!(kinds[0], ShownAs::Run | ShownAs::Bench);
    if is_row && kinds.iter().all(|kind| *kind == kinds[0]) && !context.global.quiet {
        return show_together(context, names, look);
    }
    for (at, name) in names.iter().enumerate() {
        if at > 0 && !context.global.quiet {
            context.output.print_text("\n");
        }
        show_together(context, std::slice::from_ref(name), look)?;
    }
    Ok(Exit::Done)
}

fn show_together(context: &Context, names: &[String], look: &RunsLook<'_>) -> Outcome {
    if let [name] = names
        && let Some(stored) = measurement(context, name)?
    {
        if context.global.json {
            context.output.print_json(&stored.document()?)?;
            return Ok(Exit::Done);
        }
        let (sheet, line) = stored.answer()?;
        let whole = || context.sheet_text(&with_origin(context, names, sheet, false));
        print_answer(context, whole, || line);
        return Ok(Exit::Done);
    }
    let verdict = match names {
        [name] => qualification(context, name)?,
        _ => None,
    };
    let is_verdict = verdict.is_some();
    if let Some(found) = verdict {
        if context.global.json {
            context.output.print_json(&found.document)?;
            return Ok(Exit::Done);
        }
        // A comparison of commit methods has hundreds of runs, all of which are in its table.
        let is_commit = found.is_commit_alone();
        let is_all = is_commit || is_brief(look);
        let line = qualify::line(&found);
        let whole = || match is_all {
            true => context.sheet_text(&with_origin(context, names, found.sheet, !is_commit)),
            false => context.sheet_text(&without_again(found.sheet)),
        };
        print_answer(context, whole, || line);
        if is_all || context.global.quiet {
            return Ok(Exit::Done);
        }
        context.output.print_text("\n");
    }
    let mut document = load(context, names)?;
    if is_verdict {
        document
            .runs
            .retain(|run| !QualifyResult::is_of_commits(run));
        let words = Words::of(&["qualify"]);
        replace_hints(&mut document.runs, |hint| words.own_hint(hint));
    }
    document.fill_percentiles(look.percentiles);
    if context.global.json {
        context.output.print_exact(&document.to_json());
    } else {
        replace_stored_hints(&mut document.runs);
        let is_all = match names {
            [name] => print_conclusion(context, name, &document, look)?,
            _ => false,
        };
        if !is_all {
            runs::print_stored(context, &document, look);
        }
    }
    Ok(Exit::Done)
}

/// What was concluded of the runs that follow: of a check its findings, of layouts the choice, of
/// an experiment its comparison. True if it is all that is printed: with `-q`, and of layouts and
/// experiments with neither --explain nor --percentiles.
fn print_conclusion(
    context: &Context,
    name: &str,
    document: &Document,
    look: &RunsLook<'_>,
) -> Outcome<bool> {
    let stored_check = check(context, name)?.map(|found| {
        let sheet = found.sheet(&document.runs, look.explain);
        (sheet, found.line(&document.runs))
    });
    let is_check = stored_check.is_some();
    let is_brief = !is_check && is_brief(look);
    let stored = match stored_check {
        None => layouts(context, name, look.explain)?,
        found => found,
    };
    let (mut sheet, line) = match stored {
        Some(stored) => stored,
        None => {
            let Some((found, line)) = experiment(context, name)? else {
                return Ok(false);
            };
            let mut rows = found.iter().flat_map(|table| &table.rows);
            let is_throughput = !rows.any(|row| row.metric.starts_with("latency"));
            // Below the runs are their warnings.
            let runs = match is_brief {
                true => worth_showing(&document.runs, is_throughput),
                false => Vec::new(),
            };
            let sheet = comparison_sheet(&found, &runs, look.explain);
            (sheet, line)
        }
    };
    if context.global.quiet {
        let run = document.runs.first();
        let id = run.map_or(name, |run| run.series.as_deref().unwrap_or(&run.id));
        print_answer(context, String::new, || marked(&line, id));
        return Ok(true);
    }
    if is_brief {
        sheet.pointers = runs_origin(document);
        sheet.pointers.push(unlisted(document));
    }
    context.output.print_lines(&context.sheet_text(&sheet));
    if !is_brief {
        context.output.print_text("\n");
    }
    Ok(is_brief)
}

/// Whether an answer is shown without its runs: hundreds of them, or one a minute, would push it
/// off the screen.
fn is_brief(look: &RunsLook<'_>) -> bool {
    !look.explain && look.percentiles.is_empty()
}

/// The number of runs that are not listed, without those of commit methods, which never are.
fn unlisted(document: &Document) -> (String, String) {
    let runs = document.runs.iter();
    let count = runs
        .filter(|run| !QualifyResult::is_of_commits(run))
        .count();
    (
        "Runs".to_owned(),
        format!("{count}  (--explain lists them)"),
    )
}

/// Replaces the command that shows the result again by the origin of its runs, with their number
/// where --explain lists them.
fn with_origin(
    context: &Context,
    names: &[String],
    mut sheet: Sheet,
    explain_lists: bool,
) -> Sheet {
    // Measurements such as a profile have no runs.
    if let Ok(document) = load(context, names) {
        let mut origin = runs_origin(&document);
        origin.extend(explain_lists.then(|| unlisted(&document)));
        sheet = without_again(sheet);
        sheet.pointers.splice(0..0, origin);
    }
    sheet
}

/// Without the command that shows the result again: it is what runs.
fn without_again(mut sheet: Sheet) -> Sheet {
    let name = again("").0;
    sheet.pointers.retain(|(pointer, _)| *pointer != name);
    sheet
}

fn delete(context: &Context, names: &[String]) -> Outcome {
    let done = forget(context, names)?;
    if context.global.json {
        context.output.print_json(&done)?;
        return Ok(Exit::Done);
    }
    let with = match done.experiments.as_slice() {
        [] => String::new(),
        gone => format!(", and with them experiment {}", gone.join(", ")),
    };
    let runs = counted(done.deleted.len(), "run", "runs");
    let what = match done.measurements.as_slice() {
        [] => runs,
        gone if done.deleted.is_empty() => gone.join(", "),
        gone => format!("{runs} and {}", gone.join(", ")),
    };
    context
        .output
        .print_text(&format!("Deleted {what}{with}.\n"));
    Ok(Exit::Done)
}

fn salvage(context: &Context, to: &Path) -> Outcome {
    let done = save_readable(context, to)?;
    if context.global.json {
        context.output.print_json(&done)?;
        return Ok(Exit::Done);
    }
    let rest = match done.cut_short.as_slice() {
        [] => String::new(),
        tables => format!("; not all could be read of {}", tables.join(", ")),
    };
    context.output.print_text(&format!(
        "{} saved as {}{rest}.\n",
        counted(done.runs, "run", "runs"),
        done.store
    ));
    Ok(Exit::Done)
}
