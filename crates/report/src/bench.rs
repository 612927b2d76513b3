//! Steps of a ladder, and its answer in a line.

use crate::answers::{answer_amount, judged_of_answer, limit_words, load_of, place_of};
use crate::number::{latency_cells, rate};
use stripewise_results::{SeriesRecord, StepRecord};
use stripewise_units::capitalised;

/// `Answer: 57,400 IOPS (54,900-59,800) with 12 in flight, p99 5 ms; 20 runs at 8 to 19 in
/// flight`; for a series that misses its limit, `No answer within p99 < 5 ms. At the knee:
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
        record.runs_words(),
    ))
}

/// Threads, outstanding, in flight, IOPS, MiB/s, latencies, marks.
pub(crate) fn step_row(series: &SeriesRecord, index: usize) -> Vec<String> {
    let step = &series.steps[index];
    let mut cells = vec![
        step.threads.to_string(),
        step.outstanding.to_string(),
        step.in_flight().to_string(),
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
