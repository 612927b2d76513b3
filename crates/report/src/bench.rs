//! A bench as people read it: a table per series, then the answers.

use crate::answers::{answer_amount, judged_of_answer, limit_words, load_of, place_of, runs_of};
use crate::brief::Marks;
use crate::number::{latency_cells, rate};
use crate::table::{draw, number, words};
use crate::warnings::wrapped;
use stripewise_results::{RunRecord, SeriesRecord, StepRecord};
use stripewise_units::capitalised;

/// The steps of one series, with the knee, the limit and the ceiling marked, and the answer
/// of the runs made after them.
#[must_use]
pub fn series_table(series: &SeriesRecord) -> String {
    series_table_marked(series, &[], &Marks::NONE)
}

/// Likewise, with the numbers of the warnings that concern some of `runs` only.
pub(crate) fn series_table_marked(
    series: &SeriesRecord,
    runs: &[RunRecord],
    marks: &Marks<'_>,
) -> String {
    let columns = [
        number("Thr"),
        number("Out"),
        number("IOPS"),
        number("MiB/s"),
        number("Mean"),
        number("p50"),
        number("p99"),
        number("p99.9"),
        number("Max"),
        words(""),
    ];
    let rows: Vec<Vec<String>> = (0..series.steps.len())
        .map(|index| {
            let mut row = step_row(series, index);
            let run = runs.iter().find(|run| run.id == series.steps[index].run);
            let warned = run.map_or_else(String::new, |run| marks.of_run(run));
            if let Some(last) = row.last_mut().filter(|_| !warned.is_empty()) {
                *last = format!("{last} {warned}").trim_start().to_owned();
            }
            row
        })
        .collect();
    let mut text = draw(&columns, &rows);
    if let Some(answer) = answer_line(series) {
        text.push_str(&wrapped(&answer, "  "));
    }
    text
}

/// `Answer: 57,400 IOPS (54,900-59,800) with 12 in flight, p99 5 ms; 20 runs at 8 to 19 in
/// flight`; of a series that misses its limit, `No answer within p99 < 5 ms. At the knee:
/// 875 IOPS ...`.
pub(crate) fn answer_line(series: &SeriesRecord) -> Option<String> {
    series.answer?;
    let answer = series.answered()?;
    let record = &answer.record;
    let loads = series.answer_runs.iter().map(StepRecord::in_flight);
    let (low, high) = (loads.clone().min(), loads.max());
    let at = match low.zip(high) {
        Some((low, high)) if low < high => format!(" at {low} to {high} in flight"),
        _ => String::new(),
    };
    let judged = judged_of_answer(series, record).map(|(name, value)| format!(", {name} {value}"));
    let left_out = match record.runs_left_out {
        0 => String::new(),
        left_out => format!(", {left_out} left out"),
    };
    let limit = limit_words(series);
    let head = match place_of(&answer) {
        Some(place) => format!("No answer within {limit}. {}:", capitalised(place)),
        None if answer.is_within => "Answer:".to_owned(),
        None => format!("Not within {limit}:"),
    };
    Some(format!(
        "{head} {} with {} in flight{}; {}{at}{left_out}",
        answer_amount(series, record),
        load_of(record),
        judged.unwrap_or_default(),
        runs_of(record),
    ))
}

/// Threads, outstanding, IOPS, MiB/s, latencies, marks.
pub(crate) fn step_row(series: &SeriesRecord, index: usize) -> Vec<String> {
    let step = &series.steps[index];
    let mut cells = vec![
        step.threads.to_string(),
        step.outstanding.to_string(),
        rate(step.iops),
        rate(step.mib_per_s),
    ];
    cells.extend(latency_cells(step.latency_ns.as_ref()));
    cells.push(marks(series, index));
    cells
}

fn marks(series: &SeriesRecord, index: usize) -> String {
    let in_flight = series.steps[index]
        .threads
        .saturating_mul(series.steps[index].outstanding);
    let mut marks = Vec::new();
    if series
        .knee
        .is_some_and(|knee| knee.kneedle_in_flight == in_flight)
    {
        marks.push("knee");
    }
    if series.within_limit == Some(index) && series.steps.len() > 1 {
        marks.push("limit");
    }
    let step = &series.steps[index];
    if series
        .ceiling_above()
        .is_some_and(|above| above.run == step.run)
    {
        marks.push("ceiling");
    }
    if !step.void.is_empty() {
        marks.push("VOID");
    }
    if step.partial {
        marks.push("partial");
    }
    marks.join(", ")
}

/// One line a series, in plain words.
#[must_use]
pub fn bench_sentences(all: &[SeriesRecord]) -> String {
    all.iter()
        .map(|series| wrapped(&series.sentence, "  "))
        .collect()
}
