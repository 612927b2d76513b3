//! Markdown for issues and pull requests: the answer, a table, warnings, how to
//! repeat it. Text of users cannot break out of its cell or become a link, an
//! image or HTML.

use crate::material::Material;
use crate::number::{latency_cells, rate};
use crate::quantity_text::classic;
use crate::warnings::collected;
use crate::words::series_title;
use std::fmt::Write;
use stripewise_results::{ComparisonRecord, JobRow, SeriesRecord, Severity};
use stripewise_units::{ByteSize, format_duration};

/// Rows that somebody may scroll past.
const ROWS_MAX: usize = 100;

/// A report as Markdown (GitHub's, with tables).
#[must_use]
pub fn markdown(material: &Material) -> String {
    let document = &material.document;
    let mut text = format!("## {}\n\n", safe(&material.title));
    for comparison in &document.comparisons {
        of_comparison(&mut text, comparison);
    }
    for series in &document.series {
        let _ = writeln!(text, "- {}", safe(&series.sentence));
    }
    for requirement in &material.requirements {
        let word = match requirement.met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "not judged",
        };
        let _ = writeln!(
            text,
            "- {word}: {} (measured: {})",
            safe(&requirement.text),
            safe(&requirement.measured)
        );
    }
    text.push('\n');
    for series in &document.series {
        of_series(&mut text, series);
    }
    if document.series.is_empty() {
        of_rows(&mut text, &material.rows().collect::<Vec<_>>());
    }
    of_warnings(&mut text, material);
    let mut commands: Vec<String> = Vec::new();
    for run in &document.runs {
        let command = run
            .command
            .iter()
            .map(|word| crate::page::quoted(word))
            .collect::<Vec<_>>()
            .join(" ");
        if !command.is_empty() && !commands.contains(&command) && commands.len() < 10 {
            commands.push(command);
        }
    }
    if !commands.is_empty() {
        // Four blanks make code in which nothing can end the code.
        text.push_str("To repeat it:\n\n");
        for command in commands {
            let _ = writeln!(text, "    {}", command.replace(['\n', '\r'], " "));
        }
    }
    text
}

fn table(text: &mut String, headings: &[&str], rows: &[Vec<String>]) {
    // Columns in which nothing stands are left out.
    let used: Vec<usize> = (0..headings.len())
        .filter(|&index| rows.iter().any(|row| !row[index].is_empty()))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(
        used.iter()
            .map(|&index| headings[index].to_owned())
            .collect(),
    ));
    let rule = |index: &usize| {
        if headings[*index].is_empty() || is_words(headings[*index]) {
            "---"
        } else {
            "---:"
        }
    };
    text.push_str(&line(
        used.iter().map(|index| rule(index).to_owned()).collect(),
    ));
    for row in rows.iter().take(ROWS_MAX) {
        text.push_str(&line(used.iter().map(|&index| safe(&row[index])).collect()));
    }
    if rows.len() > ROWS_MAX {
        let _ = writeln!(
            text,
            "\n{} further rows are left out.",
            rows.len() - ROWS_MAX
        );
    }
    text.push('\n');
}

fn is_words(heading: &str) -> bool {
    matches!(
        heading,
        "Job" | "Workload" | "I/O" | "Metric" | "Verdict" | "Interval" | "Label"
    )
}

fn of_series(text: &mut String, series: &SeriesRecord) {
    let rows: Vec<Vec<String>> = (0..series.steps.len())
        .map(|index| {
            let step = &series.steps[index];
            let mut row = vec![
                step.threads.to_string(),
                step.outstanding.to_string(),
                rate(step.iops),
                rate(step.mib_per_s),
            ];
            row.extend(latency_cells(step.latency_ns.as_ref()));
            row.push(crate::bench::marks(series, index));
            row
        })
        .collect();
    let _ = writeln!(text, "### {}\n", safe(&series_title(&series.name)));
    let headings = [
        "Thr", "Out", "IOPS", "MiB/s", "Mean", "p50", "p99", "p99.9", "Max", "",
    ];
    table(text, &headings, &rows);
}

fn of_rows(text: &mut String, rows: &[JobRow<'_>]) {
    if rows.is_empty() {
        return;
    }
    let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let cells = rows.iter().map(|row| {
        let latency = |name: &str| {
            let value = row.latency(name);
            value
                .map(|ns| format_duration(ns.round() as u64))
                .unwrap_or_default()
        };
        let workload = [row.pattern().map(str::to_owned), row.operation()];
        let offset = row.job.workload.base_offset_bytes;
        vec![
            if rows.iter().any(|other| other.job.name != row.job.name) {
                row.job.name.clone()
            } else {
                String::new()
            },
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
            latency("p50"),
            latency("p99"),
            latency("max"),
            row.run
                .label
                .clone()
                .or_else(|| row.run.series_part.clone())
                .unwrap_or_default(),
        ]
    });
    let headings = [
        "Job", "Workload", "Block", "Offset", "Thr", "Out", "IOPS", "MiB/s", "p50", "p99", "Max",
        "Label",
    ];
    let cells: Vec<Vec<String>> = cells.take(ROWS_MAX + 1).collect();
    table(text, &headings, &cells[..cells.len().min(ROWS_MAX)]);
    if rows.len() > ROWS_MAX {
        let _ = writeln!(
            text,
            "{} further rows are left out.\n",
            rows.len() - ROWS_MAX
        );
    }
}

fn of_comparison(text: &mut String, comparison: &ComparisonRecord) {
    for sentence in &comparison.sentences {
        let _ = writeln!(text, "- {}", safe(sentence));
    }
    text.push('\n');
    let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .map(|row| {
            let value = |value: f64| {
                if row.metric.starts_with("latency_ns") {
                    format_duration(value.round().max(0.0) as u64)
                } else {
                    rate(value)
                }
            };
            let interval = row
                .interval_percent
                .map(|[low, high]| format!("{} to {}", classic(low), classic(high)));
            vec![
                format!("{} {}", row.pattern, row.operation),
                crate::choose::metric_words(&row.metric),
                number(row.threads),
                number(row.outstanding),
                value(row.a),
                value(row.b),
                classic(row.difference_percent),
                interval.unwrap_or_default(),
            ]
        })
        .collect();
    let (a, b) = (safe(&comparison.a.name), safe(&comparison.b.name));
    let headings = [
        "I/O",
        "Metric",
        "Thr",
        "Out",
        a.as_str(),
        b.as_str(),
        "diff %",
        "Interval",
    ];
    table(text, &headings, &rows);
}

fn of_warnings(text: &mut String, material: &Material) {
    let runs = material.document.runs.len();
    for (warning, count) in collected(&material.document.runs) {
        let word = match warning.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Void => "VOID",
        };
        let of = if runs > 1 && count < runs {
            format!(" (in {count} of {runs} runs)")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "- {word}[{}]: {}{of}. {}",
            safe(&warning.code),
            safe(&warning.message),
            safe(&warning.hint)
        );
    }
    text.push('\n');
}

/// Text that stays text: on one line, without the letters that Markdown and HTML
/// take for marks.
fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' | '\t' => safe.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '@' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}
