//! What an experiment found, for people and as JSON: the articles' table for each level,
//! sentences, the warnings of all runs once.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::{marked, print_answer};
use crate::switches::hints::word_warnings;
use stripewise_campaign::steps::experiment::answer::Answer;
use stripewise_campaign::steps::experiment::sitting::Sitting;
use stripewise_lab::experiment::Ended;
use stripewise_report::{
    comparison_heading, comparison_table, comparison_words, experiment_line, warnings_brief,
    warnings_text, wrapped,
};
use stripewise_results::{ComparisonRecord, RunRecord};
use stripewise_units::format_duration;

/// Notes on how well percentiles of one run are known; they stay in the records
/// and in JSON.
const OF_PERCENTILES: [&str; 2] = ["few-operations", "few-for-p999"];

/// Shows what a sitting found before a failure; then the failure.
pub fn conclude(context: &Context, sitting: Sitting) -> Outcome {
    let exit = match &sitting.answer {
        Some(answer) => print(context, answer)?,
        None => Exit::Done,
    };
    sitting.ended.map(|()| exit)
}

/// Prints it, and says what the process returns.
fn print(context: &Context, answer: &Answer) -> Outcome {
    if context.global.json {
        context.output.print_json(&answer.document())?;
    } else {
        print_answer(context, || text(context, answer), || line(answer));
    }
    Ok(answer.exit(context))
}

fn line(answer: &Answer) -> String {
    let found = experiment_line(&answer.comparisons);
    let partial = match answer.kept.ended {
        Some(ended) if ended.finished() => "",
        _ => "partial: ",
    };
    match answer.is_kept {
        true => marked(&format!("{partial}{found}"), &answer.kept.id),
        false => format!("{partial}{found}"),
    }
}

fn text(context: &Context, answer: &Answer) -> String {
    let mut text = String::new();
    for comparison in &answer.comparisons {
        let heading = comparison_heading(comparison);
        text.push_str(&context.style.heading(heading.trim_end()));
        text.push_str("\n\n");
        text.push_str(&comparison_table(comparison));
        text.push('\n');
        // What is said of this level stands under its table; notes, which
        // are about all of them, at the end.
        let without_notes = ComparisonRecord {
            notes: Vec::new(),
            ..comparison.clone()
        };
        text.push_str(&comparison_words(&[&without_notes]));
        text.push('\n');
    }
    let only_notes: Vec<ComparisonRecord> = answer
        .comparisons
        .iter()
        .map(|comparison| ComparisonRecord {
            groups: Vec::new(),
            sentences: Vec::new(),
            ..comparison.clone()
        })
        .collect();
    text.push_str(&comparison_words(&only_notes.iter().collect::<Vec<_>>()));
    let told = worth_showing(context, answer);
    text.push_str(&match context.global.explain {
        true => warnings_text(&told),
        false => warnings_brief(&told),
    });
    if answer.is_kept {
        text.push_str(&kept_line(answer));
    }
    text
}

/// The runs with what matters here: how well percentiles of single runs
/// are known is nobody's business unless latencies are compared.
fn worth_showing(context: &Context, answer: &Answer) -> Vec<RunRecord> {
    let throughput = answer.kept.plan.metric.more_is_better();
    let mut records = answer.records.clone();
    for record in &mut records {
        for job in &mut record.jobs {
            job.warnings
                .retain(|warning| !(throughput && OF_PERCENTILES.contains(&warning.code.as_str())));
        }
    }
    let words = context.output.words();
    word_warnings(&mut records, |hint| words.hint(hint));
    records
}

fn kept_line(answer: &Answer) -> String {
    let id = &answer.kept.id;
    let how = format!(
        "{} blocks, {} runs, {}",
        answer.blocks.len(),
        answer.records.len(),
        format_duration(answer.kept.elapsed_ns)
    );
    let finished = answer.kept.ended.is_some_and(Ended::finished);
    let resume = match (answer.hosts(), finished) {
        (None, true) => format!(
            "`stripewise lab resume {id}` shows it again, and continues with --time, --blocks or a smaller --precision."
        ),
        (None, false) => format!("`stripewise lab resume {id}` continues it."),
        // One host alone cannot continue what several made.
        (Some(_), true) => format!("`stripewise lab resume {id}` shows it again."),
        (Some(_), false) => format!("`stripewise history show {id}` shows what was measured."),
    };
    let partial = match (finished, answer.kept.ended) {
        (true, _) => String::new(),
        (false, Some(ended)) => format!("partial: {}. ", ended.words()),
        (false, None) => "partial: it did not end as planned. ".to_owned(),
    };
    let line = format!("{partial}Kept as experiment {id} ({how}); {resume}");
    wrapped(&line, "  ")
}
