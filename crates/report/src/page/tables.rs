//! Tables in HTML: behind charts, of series, of runs, of comparisons.

use super::escaped;
use crate::chart::Chart;
use crate::material::Material;
use crate::number::{latency_cells, rate};
use crate::quantity_text::classic;
use crate::words::series_title;
use std::fmt::Write;
use stripewise_results::{ComparisonRecord, ComparisonRow, JobRow, SeriesRecord, Verdict};
use stripewise_units::{ByteSize, format_duration};

/// Rows of a table on a page; the records have the others.
pub(super) const ROWS_MAX: usize = 400;

/// Series that have tables of their own.
const SERIES_MAX: usize = 50;

/// A table with a heading row. Columns from `numbers_from` on are numbers.
pub(super) fn table(
    caption: &str,
    headings: &[String],
    rows: &[Vec<String>],
    numbers_from: usize,
) -> String {
    let class = |index: usize| {
        if index >= numbers_from {
            " class=\"n\""
        } else {
            ""
        }
    };
    let caption = escaped(caption);
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table><thead><tr>"
    );
    for (index, heading) in headings.iter().enumerate() {
        let _ = write!(
            html,
            "<th scope=\"col\"{}>{}</th>",
            class(index),
            escaped(heading)
        );
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let _ = write!(html, "<td{}>{}</td>", class(index), escaped(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

/// The values of a chart.
pub(super) fn behind(chart: &Chart) -> String {
    let values = chart.table();
    table(
        &format!("Values: {}", chart.title),
        &values.headings,
        &values.rows,
        1,
    )
}

fn headings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

pub(super) fn section(material: &Material) -> String {
    let document = &material.document;
    let mut html = "<section id=\"tables\" aria-labelledby=\"tables-title\"><h2 id=\"tables-title\">Tables</h2>\n".to_owned();
    for comparison in &document.comparisons {
        html.push_str(&of_comparison(comparison));
    }
    for series in document.series.iter().take(SERIES_MAX) {
        html.push_str(&of_series(series));
    }
    let in_ladder: std::collections::BTreeSet<&str> = document
        .series
        .iter()
        .flat_map(|series| series.steps.iter().map(|step| step.run.as_str()))
        .collect();
    let rows: Vec<JobRow<'_>> = material
        .rows()
        .filter(|row| !in_ladder.contains(row.run.id.as_str()))
        .collect();
    if !rows.is_empty() {
        html.push_str("<h3>Runs</h3>\n");
        html.push_str(&of_rows(&rows, ROWS_MAX));
    }
    html.push_str("</section>\n");
    html
}

fn of_series(series: &SeriesRecord) -> String {
    let mut rows = Vec::new();
    for (index, step) in series.steps.iter().enumerate() {
        let mut row = vec![
            step.threads.to_string(),
            step.outstanding.to_string(),
            rate(step.iops),
            rate(step.mib_per_s),
        ];
        row.extend(latency_cells(step.latency_ns.as_ref()));
        row.push(crate::bench::marks(series, index));
        rows.push(row);
    }
    let words = headings(&[
        "Threads",
        "Outstanding",
        "IOPS",
        "MiB/s",
        "Mean",
        "p50",
        "p99",
        "p99.9",
        "Max",
        "",
    ]);
    let title = series_title(&series.name);
    format!(
        "<h3>{}</h3>\n<p>{} The ladder ended because {}.</p>\n{}",
        escaped(&title),
        escaped(&series.sentence),
        escaped(&series.stopped),
        table(&title, &words, &rows, 0)
    )
}

/// A row for each job; what a source does not say stays empty.
pub(super) fn of_rows(rows: &[JobRow<'_>], limit: usize) -> String {
    let shown: Vec<Vec<String>> = rows.iter().take(limit).map(cells).collect();
    let words = [
        "Run",
        "Job",
        "Workload",
        "Block",
        "Offset",
        "Threads",
        "Outstanding",
        "IOPS",
        "MiB/s",
        "Mean",
        "p50",
        "p99",
        "p99.9",
        "Max",
        "Label",
    ];
    // Columns in which nothing stands are left out.
    let used: Vec<usize> = (0..words.len())
        .filter(|&index| shown.iter().any(|row| !row[index].is_empty()))
        .collect();
    let headings: Vec<String> = used.iter().map(|&index| words[index].to_owned()).collect();
    let cells: Vec<Vec<String>> = shown
        .iter()
        .map(|row| used.iter().map(|&index| row[index].clone()).collect())
        .collect();
    let texts = used.iter().filter(|&&index| index < 3).count();
    let mut html = table("Runs", &headings, &cells, texts);
    if rows.len() > limit {
        let _ = writeln!(
            html,
            "<p>{} further rows are in the records.</p>",
            rows.len() - limit
        );
    }
    html
}

fn cells(row: &JobRow<'_>) -> Vec<String> {
    let latency = |name: &str| {
        let value = row.latency(name);
        value
            .map(|ns| format_duration(ns.round() as u64))
            .unwrap_or_default()
    };
    let workload = [row.pattern().map(str::to_owned), row.operation()];
    let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let offset = row.job.workload.base_offset_bytes;
    let label = match (&row.run.label, &row.run.experiment, &row.run.imported) {
        (_, Some(place), _) => format!("{}, block {}", place.level, place.block + 1),
        (Some(label), _, _) => label.clone(),
        (None, _, Some(_)) => row.run.series_part.clone().unwrap_or_default(),
        _ => String::new(),
    };
    vec![
        row.run.id.clone(),
        row.job.name.clone(),
        workload.into_iter().flatten().collect::<Vec<_>>().join(" "),
        row.block_size_bytes()
            .map(|bytes| ByteSize(bytes).to_string())
            .unwrap_or_default(),
        if offset == 0 {
            String::new()
        } else {
            ByteSize(offset).to_string()
        },
        number(row.threads()),
        number(row.outstanding()),
        row.iops().map(rate).unwrap_or_default(),
        row.mib_per_s().map(rate).unwrap_or_default(),
        latency("mean"),
        latency("p50"),
        latency("p99"),
        latency("p999"),
        latency("max"),
        label,
    ]
}

fn of_comparison(comparison: &ComparisonRecord) -> String {
    let words = headings(&[
        "I/O",
        "Metric",
        "Verdict",
        "Block",
        "Threads",
        "Outstanding",
        &comparison.a.name,
        &comparison.b.name,
        "diff %",
        "Estimate",
        "Interval",
    ]);
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .take(ROWS_MAX)
        .map(comparison_cells)
        .collect();
    let mut html = format!(
        "<h3>{}: {} against {}</h3>\n{}",
        escaped(&comparison.title),
        escaped(&comparison.b.name),
        escaped(&comparison.a.name),
        table(&comparison.title, &words, &rows, 3)
    );
    let groups: Vec<Vec<String>> = comparison
        .groups
        .iter()
        .map(|group| {
            let metric = crate::choose::metric_words(&group.metric);
            vec![
                group.name.clone(),
                metric,
                group.rows.to_string(),
                classic(group.difference_percent_mean),
            ]
        })
        .collect();
    if !groups.is_empty() {
        let words = headings(&["I/O", "Metric", "Rows", "Mean of diff %"]);
        html.push_str(&table("Means by kind of I/O", &words, &groups, 2));
    }
    for note in &comparison.notes {
        let _ = writeln!(html, "<p>{}</p>", escaped(note));
    }
    html
}

fn comparison_cells(row: &ComparisonRow) -> Vec<String> {
    let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let value = |value: f64| {
        if row.metric.starts_with("latency_ns") {
            format_duration(value.round().max(0.0) as u64)
        } else {
            rate(value)
        }
    };
    vec![
        format!("{} {}", row.pattern, row.operation),
        crate::choose::metric_words(&row.metric),
        verdict(row.verdict).to_owned(),
        row.block_size_bytes
            .map(|bytes| ByteSize(bytes).to_string())
            .unwrap_or_default(),
        number(row.threads),
        number(row.outstanding),
        value(row.a),
        value(row.b),
        classic(row.difference_percent),
        row.estimate_percent.map(classic).unwrap_or_default(),
        row.interval_percent
            .map(|[low, high]| format!("{} to {}", classic(low), classic(high)))
            .unwrap_or_default(),
    ]
}

/// A verdict in a word or two.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Mixed => "mixed",
        Verdict::NoDifference => "no difference found",
        Verdict::Undecided => "undecided",
    }
}
