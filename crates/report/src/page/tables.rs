//! Tables in HTML: behind charts, of series, of runs, of comparisons.

use super::{fold, sheet};
use crate::chart::Chart;
use crate::escape::{escaped, sentence};
use crate::hosts::{hosts_sentences, hosts_table};
use crate::identity::{NamedSeries, named_series};
use crate::material::Material;
use crate::rows::{RowsTable, TableRoom, rows_table};
use crate::sheets::{comparison_tables, ladder_table};
use crate::sqlio_histogram::{CAPTION, histograms};
use crate::warning_summary::Marks;
use crate::words::PrintedLines;
use std::fmt::Write;
use stripewise_results::{ComparisonRecord, JobRow};
use stripewise_units::format_count;

/// Maximum number of rows of a table on paper.
const PRINTED_ROWS_MAX: usize = 16;
/// Maximum number of rows of a table on a page; the records have the others.
pub(super) const ROWS_MAX: usize = 400;

/// Maximum number of series with tables of their own.
const SERIES_MAX: usize = 50;

/// A row and a small curve for each host of merged runs, and their combined results.
pub(super) fn hosts(material: &Material) -> String {
    let mut section = String::new();
    for run in &material.document.runs {
        let Some(merged) = &run.merged else { continue };
        for words in hosts_sentences(run, merged) {
            let _ = writeln!(section, "<p>{}</p>", sentence(&words));
        }
        let mut hosts = hosts_table(merged);
        hosts.title = format!("Hosts of {}", run.id);
        sheet::table(&mut section, &hosts);
    }
    match section.is_empty() {
        true => section,
        false => format!("<section id=\"hosts\"><h2>Hosts</h2>\n{section}</section>\n"),
    }
}

/// A table with a heading row. Columns from `numbers_from` on are numeric.
pub(super) fn table(
    caption: &str,
    headings: &[String],
    rows: &[Vec<String>],
    numbers_from: usize,
) -> String {
    table_of(caption, headings, rows, numbers_from, false)
}

/// The same; with `cards`, in a narrow window each row becomes a paragraph with column names
/// before the values.
fn table_of(
    caption: &str,
    headings: &[String],
    rows: &[Vec<String>],
    numbers_from: usize,
    cards: bool,
) -> String {
    let name = |index: usize| {
        if cards && !headings[index].is_empty() {
            format!(" data-of=\"{}\"", escaped(&headings[index]))
        } else {
            String::new()
        }
    };
    let class = |index: usize| {
        if index >= numbers_from {
            " class=\"n\""
        } else {
            ""
        }
    };
    let caption = escaped(caption);
    let mut html = format!(
        "<div class=\"scroll{}\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table><thead><tr>",
        if cards { " cards" } else { "" }
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
            let (class, name) = (class(index), name(index));
            let _ = write!(html, "<td{class}{name}>{}</td>", escaped(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

/// The values of a chart. A page has thousands of cells: they have no class and
/// no end tag, which HTML allows.
pub(super) fn behind(chart: &Chart) -> String {
    let values = chart.table();
    let caption = escaped(&format!("Values: {}", chart.title));
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table class=\"values\"><thead><tr>"
    );
    for heading in &values.headings {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(heading));
    }
    html.push_str("</tr></thead><tbody>");
    for row in &values.rows {
        html.push_str("<tr>");
        for cell in row {
            let _ = write!(html, "<td>{}", escaped(cell));
        }
    }
    html.push_str("</tbody></table></div>\n");
    html
}

fn headings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// All tables. Those of a bench are not printed: its card and answers are.
pub(super) fn section(material: &Material, has_card: bool) -> String {
    let document = &material.document;
    let printed = if has_card { " class=\"noprint\"" } else { "" };
    let mut html = "<section id=\"tables\" aria-labelledby=\"tables-title\"><h2 id=\"tables-title\">Tables</h2>\n".replacen("<section", &format!("<section{printed}"), 1);
    let mut already_printed = PrintedLines::default();
    of_comparisons(&mut html, &document.comparisons, true);
    for comparison in &document.comparisons {
        for note in already_printed.new_of(&comparison.notes) {
            let _ = writeln!(html, "<p>{}</p>", sentence(note));
        }
    }
    for named in named_series(document).iter().take(SERIES_MAX) {
        html.push_str(&of_series(named, !has_card));
    }
    let rows = material.rows_outside_ladders();
    if !rows.is_empty() {
        let class = if rows.len() > PRINTED_ROWS_MAX {
            " noprint"
        } else {
            ""
        };
        html.push_str(&fold("Runs", !has_card, class, &of_rows(&rows, ROWS_MAX)));
    }
    if let Some((words, cells)) = histograms(&rows, ROWS_MAX) {
        let _ = writeln!(html, "<h3>{}</h3>", escaped(CAPTION));
        html.push_str(&table(CAPTION, &words, &cells, 1));
    }
    html.push_str("</section>\n");
    html
}

/// Short tables are placed with the answer.
pub(super) fn are_in_answer(comparisons: &[ComparisonRecord]) -> bool {
    let rows: usize = comparisons.iter().map(|one| one.rows.len()).sum();
    rows <= PRINTED_ROWS_MAX
}

/// Tables of comparisons: short ones with intervals go with the answer, the others
/// further down.
pub(super) fn of_comparisons(html: &mut String, all: &[ComparisonRecord], is_below: bool) {
    let are_all_below = !are_in_answer(all);
    for one in comparison_tables(all) {
        if are_all_below || one.is_detail == is_below {
            let mut table = String::new();
            let _ = writeln!(table, "<h3>{}</h3>", escaped(&one.title));
            sheet::table_of_cards(&mut table, &one);
            html.push_str(&on_paper(table, one.rows.len()));
        }
    }
}

/// A long table is for the screen: on paper there are its charts and sentences.
fn on_paper(html: String, rows: usize) -> String {
    match rows > PRINTED_ROWS_MAX {
        true => format!("<div class=\"noprint\">{html}</div>\n"),
        false => html,
    }
}

fn of_series(named: &NamedSeries<'_>, is_open: bool) -> String {
    let series = named.series;
    let title = named.title();
    let mut inside = format!(
        "<p>{} How the ladder ended: {}.</p>\n",
        sentence(&series.sentence),
        escaped(&series.stopped),
    );
    sheet::table(
        &mut inside,
        &ladder_table(&title, series, &[], &Marks::NONE),
    );
    fold(&title, is_open, "", &inside)
}

/// A row for each job; values that a source lacks stay empty.
pub(super) fn of_rows(rows: &[JobRow<'_>], limit: usize) -> String {
    let of = rows_table(rows, limit, TableRoom::Wide);
    written(&of, rows.len(), limit, ("in the records", false))
}

/// The same for page one: without ids, which are further down.
pub(super) fn of_answers(rows: &[JobRow<'_>], limit: usize) -> String {
    let of = rows_table(rows, limit, TableRoom::Page);
    written(&of, rows.len(), limit, ("under Tables", true))
}

fn written(of: &RowsTable, rows: usize, limit: usize, (place, cards): (&str, bool)) -> String {
    let words = of.numbers.iter().take_while(|is_number| !**is_number);
    let names = headings(&of.headings);
    let mut html = table_of("Runs", &names, &of.cells, words.count(), cards);
    if rows > limit {
        let _ = writeln!(
            html,
            "<p>{} further rows are {place}.</p>",
            format_count((rows - limit) as u64)
        );
    }
    html
}
