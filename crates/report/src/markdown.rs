//! Markdown for issues and pull requests: the answer, a table, warnings, how to
//! repeat it. User text cannot break out of its cell or become a link, an
//! image or HTML.

use crate::attribution::Attribution;
use crate::hosts::{hosts_sentences, hosts_table};
use crate::identity::{NamedSeries, named_series};
use crate::markdown_table::{ROWS_MAX, left_out, safe, table};
use crate::material::Material;
use crate::plain::plain;
use crate::required::for_bench;
use crate::rows::{TableRoom, rows_table};
use crate::sheet_markdown::sheet_table;
use crate::sheets::{answers_table, comparison_sheet, comparison_tables, ladder_table};
use crate::sqlio_histogram::{CAPTION, histograms};
use crate::warning_summary::Marks;
use crate::warnings::{collected, of_runs, severity_word};
use crate::words::{PrintedLines, requirement_words};
use std::fmt::Write;
use stripewise_results::{Document, JobRow, RequirementVerdict};

/// A report as Markdown (GitHub's, with tables).
pub fn markdown(material: &Material) -> String {
    let document = &material.document;
    let mut text = format!("## {}\n\n", safe(&material.title));
    for caution in crate::validity::cautions(&material.document) {
        let _ = writeln!(text, "**{}**\n", safe(&caution));
    }
    of_verdict(&mut text, document);
    let mut already_printed = PrintedLines::default();
    for comparison in &document.comparisons {
        for sentence in already_printed.new_of(&comparison.sentences) {
            let _ = writeln!(text, "- {}", safe(sentence));
        }
    }
    text.push('\n');
    for table in comparison_tables(&document.comparisons) {
        let _ = writeln!(text, "### {}\n", safe(&table.title));
        sheet_table(&mut text, &table);
    }
    for comparison in &document.comparisons {
        for note in already_printed.new_of(&comparison.notes) {
            let _ = writeln!(text, "- note: {}", safe(note));
        }
    }
    let ladders = named_series(document);
    if !ladders.is_empty() {
        sheet_table(&mut text, &answers_table(document));
    }
    for named in &ladders {
        let instead = crate::answers::instead(named.series);
        let _ = writeln!(text, "- {}{}", safe(&named.sentence()), safe(&instead));
    }
    of_requirements(&mut text, document);
    for note in already_printed.new_of(&material.notes) {
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
    let foot = Attribution::of(material).foot().join(" \u{b7} ");
    if !foot.is_empty() {
        let _ = writeln!(text, "{}\n", safe(&foot));
    }
    let mut commands: Vec<String> = Vec::new();
    for run in &document.runs {
        let command = crate::attribution::command_of(run);
        if !command.is_empty() && !commands.contains(&command) && commands.len() < 10 {
            commands.push(command);
        }
    }
    if !commands.is_empty() {
        // Indentation by four blanks makes code that its content cannot end.
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

/// What a comparison found, as the terminal and the page begin with it.
fn of_verdict(text: &mut String, document: &Document) {
    let sheet = comparison_sheet(&document.comparisons, &[], false);
    let Some((_, word)) = &sheet.verdict else {
        return;
    };
    let colon = if sheet.answer.is_empty() { "" } else { ": " };
    let answer = safe(&format!("{colon}{}", sheet.answer));
    let _ = writeln!(text, "**{}**{answer}\n", safe(word));
}

fn of_requirements(text: &mut String, document: &Document) {
    for requirement in &document.requirements {
        let word = match requirement.verdict() {
            RequirementVerdict::Met => "met".to_owned(),
            other => format!("**{}**", other.word()),
        };
        let bench = safe(&for_bench(requirement, document));
        let words = safe(&requirement_words(requirement));
        let _ = writeln!(text, "- {word}{bench}: {words}");
    }
}

fn of_series(text: &mut String, named: &NamedSeries<'_>) {
    let table = ladder_table(&named.title(), named.series, &[], &Marks::NONE);
    let _ = writeln!(text, "### {}\n", safe(&table.title));
    sheet_table(text, &table);
}

/// A row for each host of merged runs, and their combined results.
fn of_hosts(text: &mut String, material: &Material) {
    for run in &material.document.runs {
        let Some(merged) = &run.merged else { continue };
        for sentence in hosts_sentences(run, merged) {
            let _ = writeln!(text, "- {}", safe(&sentence));
        }
        text.push('\n');
        sheet_table(text, &hosts_table(merged));
    }
}

fn of_rows(text: &mut String, rows: &[JobRow<'_>]) {
    if rows.is_empty() {
        return;
    }
    let of = rows_table(rows, ROWS_MAX, TableRoom::Narrow);
    let headings: Vec<String> = of.headings.iter().map(|&word| word.to_owned()).collect();
    table(text, &headings, &of.numbers, &of.cells);
    left_out(text, rows.len());
    if let Some((words, cells)) = histograms(rows, ROWS_MAX) {
        let _ = writeln!(text, "{CAPTION}:\n");
        let numbers: Vec<bool> = (0..words.len()).map(|at| at > 0).collect();
        table(text, &words, &numbers, &cells);
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
            safe(&material.hint_of(warning))
        );
    }
    text.push('\n');
}
