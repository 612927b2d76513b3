//! Markdown for issues and pull requests: the answer, a table, warnings, how to
//! repeat it. Text of users cannot break out of its cell or become a link, an
//! image or HTML.

use crate::hosts::{hosts_rows, hosts_sentences};
use crate::identity::{NamedSeries, named_series};
use crate::material::Material;
use crate::number::{count, metric_value, size};
use crate::plain::plain;
use crate::quantity_text::classic;
use crate::rows::{Room, rows_table};
use crate::sqlio_histogram::{CAPTION, histograms};
use crate::warnings::{collected, of_runs, severity_word};
use crate::words::{Said, requirement_words};
use std::fmt::Write;
use stripewise_results::{ComparisonRecord, JobRow};
use stripewise_units::{acts, format_count, shown_instead};

/// Rows that somebody may scroll past.
pub(crate) const ROWS_MAX: usize = 100;

/// A report as Markdown (GitHub's, with tables).
#[must_use]
pub fn markdown(material: &Material) -> String {
    let document = &material.document;
    let mut text = format!("## {}\n\n", safe(&material.title));
    for caution in crate::caution::cautions(&material.document) {
        let _ = writeln!(text, "**{}**\n", safe(&caution));
    }
    let mut said = Said::default();
    for comparison in &document.comparisons {
        of_comparison(&mut text, comparison, &mut said);
    }
    let ladders = named_series(document);
    for named in &ladders {
        let instead = crate::answers::instead(named.series);
        let _ = writeln!(text, "- {}{}", safe(&named.sentence()), safe(&instead));
    }
    for requirement in &document.requirements {
        let word = match (requirement.met, requirement.undecided) {
            (true, _) => "met",
            (false, true) => "**undecided**",
            (false, false) => "**missed**",
        };
        let _ = writeln!(text, "- {word}: {}", safe(&requirement_words(requirement)));
    }
    for note in said.new_of(&material.notes) {
        let _ = writeln!(text, "- note: {}", safe(note));
    }
    text.push('\n');
    for named in &ladders {
        of_series(&mut text, named);
    }
    if document.series.is_empty() && document.comparisons.is_empty() {
        of_rows(&mut text, &material.rows().collect::<Vec<_>>());
    }
    of_hosts(&mut text, material);
    of_warnings(&mut text, material);
    let mut commands: Vec<String> = Vec::new();
    for run in &document.runs {
        let command = crate::page::command_of(run);
        if !command.is_empty() && !commands.contains(&command) && commands.len() < 10 {
            commands.push(command);
        }
    }
    if !commands.is_empty() {
        // Four blanks make code in which nothing can end the code.
        text.push_str("Reproduce:\n\n");
        for command in commands {
            let _ = writeln!(
                text,
                "    {}",
                plain(&command.replace(['\n', '\r', '\t'], " "))
            );
        }
    }
    text
}

/// `numbers` tells of each column whether it holds numbers.
pub(crate) fn table(
    text: &mut String,
    headings: &[String],
    numbers: &[bool],
    rows: &[Vec<String>],
) {
    // Columns in which nothing stands are left out.
    let used: Vec<usize> = (0..headings.len())
        .filter(|&index| rows.iter().any(|row| !row[index].is_empty()))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(
        used.iter().map(|&index| safe(&headings[index])).collect(),
    ));
    let rule = |&index: &usize| if numbers[index] { "---:" } else { "---" };
    text.push_str(&line(
        used.iter().map(|index| rule(index).to_owned()).collect(),
    ));
    for row in rows {
        text.push_str(&line(used.iter().map(|&index| safe(&row[index])).collect()));
    }
    text.push('\n');
}

pub(crate) fn left_out(text: &mut String, rows: usize) {
    if rows > ROWS_MAX {
        let _ = writeln!(
            text,
            "{} further rows are left out.\n",
            format_count((rows - ROWS_MAX) as u64)
        );
    }
}

/// Headings of words and of numbers.
fn headings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn of_series(text: &mut String, named: &NamedSeries<'_>) {
    let steps = 0..named.series.steps.len();
    let rows: Vec<Vec<String>> = steps
        .map(|index| crate::bench::step_row(named.series, index))
        .collect();
    let _ = writeln!(text, "### {}\n", safe(&named.title()));
    let words = headings(&[
        "Thr", "Out", "IOPS", "MiB/s", "Mean", "p50", "p99", "p99.9", "Max", "",
    ]);
    let numbers: Vec<bool> = words.iter().map(|word| !word.is_empty()).collect();
    table(text, &words, &numbers, &rows);
    if let Some(answer) = crate::bench::answer_line(named.series) {
        let _ = writeln!(text, "{}\n", safe(&answer));
    }
}

/// A row for each host of merged runs, and what they come to together.
fn of_hosts(text: &mut String, material: &Material) {
    for run in &material.document.runs {
        let Some(merged) = &run.merged else { continue };
        for sentence in hosts_sentences(run, merged) {
            let _ = writeln!(text, "- {}", safe(&sentence));
        }
        let (headings, numbers, rows) = hosts_rows(merged);
        text.push('\n');
        table(text, &headings, &numbers, &rows);
        text.push('\n');
    }
}

fn of_rows(text: &mut String, rows: &[JobRow<'_>]) {
    if rows.is_empty() {
        return;
    }
    let of = rows_table(rows, ROWS_MAX, Room::Narrow);
    table(text, &headings(&of.headings), &of.numbers, &of.cells);
    left_out(text, rows.len());
    if let Some((words, cells)) = histograms(rows, ROWS_MAX) {
        let _ = writeln!(text, "{CAPTION}:\n");
        let numbers: Vec<bool> = (0..words.len()).map(|at| at > 0).collect();
        table(text, &words, &numbers, &cells);
    }
}

fn of_comparison<'a>(text: &mut String, comparison: &'a ComparisonRecord, said: &mut Said<'a>) {
    for sentence in said.new_of(&comparison.sentences) {
        let _ = writeln!(text, "- {}", safe(sentence));
    }
    text.push('\n');
    let several_blocks = comparison
        .rows
        .iter()
        .any(|row| row.block_size_bytes != comparison.rows[0].block_size_bytes);
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .take(ROWS_MAX)
        .map(|row| {
            let interval = row
                .interval_percent
                .map(|[low, high]| format!("{} to {}", classic(low), classic(high)));
            vec![
                format!("{} {}", row.pattern, row.operation),
                crate::choose::metric_words(&row.metric),
                size(row.block_size_bytes.filter(|_| several_blocks)),
                count(row.threads),
                count(row.outstanding),
                metric_value(&row.metric, row.a),
                metric_value(&row.metric, row.b),
                classic(row.difference_percent),
                interval.unwrap_or_default(),
                crate::page::verdict_words(row),
            ]
        })
        .collect();
    let words = headings(&[
        "I/O",
        "Metric",
        "Block",
        "Thr",
        "Out",
        &comparison.a.name,
        &comparison.b.name,
        "diff %",
        "Interval",
        "Verdict",
    ]);
    let numbers: Vec<bool> = (0..words.len())
        .map(|index| (2..9).contains(&index))
        .collect();
    table(text, &words, &numbers, &rows);
    left_out(text, comparison.rows.len());
    for note in said.new_of(&comparison.notes) {
        let _ = writeln!(text, "- note: {}", safe(note));
    }
}

fn of_warnings(text: &mut String, material: &Material) {
    let runs = &material.document.runs;
    for (warning, count) in collected(runs) {
        let word = severity_word(warning.severity);
        let of = safe(&of_runs(warning, count, runs));
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
pub(crate) fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.replace(['\n', '\r', '\t'], " ").chars() {
        match letter {
            letter if acts(letter) => safe.push_str(&shown_instead(letter)),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '@' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}
