//! The results of an experiment, for people and as JSON: the articles' table for each level,
//! sentences, and the warnings of all runs once.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::{marked_to_go_on, print_answer, print_or};
use crate::switches::hints::replace_hints;
use stripewise_campaign::steps::experiment::answer::Answer;
use stripewise_campaign::steps::experiment::session::ExperimentSession;
use stripewise_lab::experiment::Ended;
use stripewise_report::{again, again_by, comparison_sheet, go_on_by};
use stripewise_results::RunRecord;
use stripewise_units::{counted, format_duration};

/// Notes on the precision of percentiles of one run; they stay in the records
/// and in JSON.
const OF_PERCENTILES: [&str; 2] = ["few-operations", "few-for-p999"];

/// Shows the results of a session before a failure, then the failure.
pub fn conclude(context: &Context, session: ExperimentSession) -> Outcome {
    let exit = match &session.answer {
        Some(answer) => print(context, answer)?,
        None => Exit::Done,
    };
    session.ended.map(|()| exit)
}

/// Prints it, and returns the exit.
fn print(context: &Context, answer: &Answer) -> Outcome {
    print_or(context, &answer.document(), || {
        print_answer(context, || text(context, answer), || line(context, answer));
    })?;
    Ok(answer.exit(context))
}

fn line(context: &Context, answer: &Answer) -> String {
    let line = answer.stored.line(&answer.comparisons);
    match answer.is_stored {
        true => marked_to_go_on(&line, &answer.stored.id, &pointers(context, answer)),
        false => line,
    }
}

fn text(context: &Context, answer: &Answer) -> String {
    let is_throughput = answer.stored.plan.metric.more_is_better();
    let mut runs = worth_showing(&answer.records, is_throughput);
    let words = context.output.words();
    replace_hints(&mut runs, |hint| words.hint(hint));
    let mut sheet = comparison_sheet(&answer.comparisons, &runs, context.global.explain);
    if answer.is_stored {
        sheet.pointers = pointers(context, answer);
    }
    context.sheet_text(&sheet)
}

/// The runs without irrelevant notes: the precision of percentiles of single runs
/// matters only if latencies are compared.
pub fn worth_showing(records: &[RunRecord], is_throughput: bool) -> Vec<RunRecord> {
    let mut records = records.to_vec();
    for record in &mut records {
        for job in &mut record.jobs {
            job.warnings.retain(|warning| {
                !(is_throughput && OF_PERCENTILES.contains(&warning.code.as_str()))
            });
        }
    }
    records
}

/// How much was measured, and the commands that show it again or continue it.
fn pointers(context: &Context, answer: &Answer) -> Vec<(String, String)> {
    let id = context.short_name(&answer.stored.id);
    let how = format!(
        "{}, {} in {}",
        counted(answer.blocks.len(), "block", "blocks"),
        counted(answer.records.len(), "run", "runs"),
        format_duration(answer.stored.elapsed_ns)
    );
    let finished = answer.stored.ended.is_some_and(Ended::finished);
    let resume = format!("stripewise lab resume {id}");
    let further = match (answer.hosts(), finished) {
        (None, true) => again_by(resume + "  (continues with --time, --blocks or --precision)"),
        (None, false) => go_on_by(resume),
        // One host alone cannot continue an experiment of several.
        (Some(_), true) => again_by(resume),
        (Some(_), false) => again(&id),
    };
    let saved = match (finished, answer.stored.ended) {
        (true, _) => how,
        (false, Some(ended)) => format!("partial: {how}; {}", ended.words()),
        (false, None) => format!("partial: {how}; it did not end as planned"),
    };
    vec![("Saved".to_owned(), saved), further]
}
