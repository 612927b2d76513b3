//! A bench as people read it: a table per series, then the answers.

use crate::number::{latency_cells, rate};
use crate::table::{draw, number, words};
use crate::warnings::wrapped;
use stripewise_results::SeriesRecord;

/// The steps of one series, with the knee, the limit and the ceiling marked.
#[must_use]
pub fn series_table(series: &SeriesRecord) -> String {
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
        .map(|index| step_row(series, index))
        .collect();
    draw(&columns, &rows)
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
    if series.ceiling == Some(index) && series.steps.len() > 1 {
        marks.push("ceiling");
    }
    let step = &series.steps[index];
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
