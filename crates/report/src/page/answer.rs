//! Page one: the question and its answer; then warnings and conditions.

use super::{conditions, tables};
use crate::crystaldiskmark::{are_like_runs, like_table};
use crate::escape::{escaped, sentence};
use crate::identity::named_series;
use crate::material::Material;
use crate::required::for_bench;
use crate::sheet::Judgement;
use crate::sheets::comparison_sheet;
use crate::warnings::{collected, of_runs};
use crate::words::{PrintedLines, gravest_first, requirement_words, verdict_on};
use std::fmt::Write;
use stripewise_results::{Document, JobRow, RequirementVerdict, Status};
use stripewise_units::capitalised;

/// Runs in the table of page one.
const ROWS_MAX: usize = 12;

/// The answer, with the card of a bench below it.
pub(super) fn section(material: &Material, card: &str) -> String {
    let document = &material.document;
    let mut html = "<section id=\"answer\" aria-labelledby=\"answer-title\"><h2 id=\"answer-title\">Answer</h2>\n".to_owned();
    html.push_str(&super::cautions(&crate::validity::cautions(document)));
    if let Some(caution) = crate::sheets::single_runs(&document.series) {
        html.push_str(&super::cautions(&[capitalised(&caution.line()) + "."]));
    }
    let mut already_printed = PrintedLines::default();
    let comparisons = &document.comparisons;
    if !comparisons.is_empty() {
        let sheet = comparison_sheet(comparisons, &[], false);
        html.push_str(&super::sheet::answer(&sheet));
        if tables::are_in_answer(comparisons) {
            tables::of_comparisons(&mut html, comparisons, false);
        }
    }
    for comparison in comparisons {
        already_printed.new_of(&comparison.sentences);
    }
    // These are placed below their tables.
    for comparison in &document.comparisons {
        already_printed.new_of(&comparison.notes);
    }
    html.push_str(&requirements(document));
    if !document.series.is_empty() {
        super::sheet::table_of_cards(&mut html, &crate::sheets::answers_table(document));
        for named in named_series(document) {
            let instead = crate::answers::instead(named.series);
            if !instead.is_empty() {
                let title = escaped(&named.title());
                let _ = writeln!(html, "<p>{title}:{}</p>", sentence(&instead));
            }
        }
    } else if are_like_runs(&document.runs) {
        super::sheet::table(&mut html, &like_table(&document.runs));
    } else if document.comparisons.is_empty() {
        let rows: Vec<JobRow<'_>> = material.rows().collect();
        html.push_str(&tables::of_answers(&rows, ROWS_MAX));
    }
    for run in document
        .runs
        .iter()
        .filter(|run| run.status == Status::Partial)
        .take(ROWS_MAX)
    {
        let because = run
            .partial_because
            .as_deref()
            .unwrap_or("it did not end as planned");
        let _ = writeln!(
            html,
            "<p><span class=\"missed\">Partial:</span> run {} ({})</p>",
            escaped(&run.id),
            escaped(because)
        );
    }
    for note in already_printed.new_of(&material.notes) {
        let _ = writeln!(html, "<p>{}</p>", sentence(note));
    }
    html.push_str(card);
    html.push_str(&warnings(material));
    html.push_str("<h3>Conditions</h3>\n");
    html.push_str(&conditions::list(material));
    html.push_str("</section>\n");
    html
}

/// The requirements, missed ones first.
fn requirements(document: &Document) -> String {
    let all = &document.requirements;
    let Some((judgement, words)) = verdict_on(all) else {
        return String::new();
    };
    let class = match judgement {
        Judgement::Good => "met",
        Judgement::Open => "open",
        _ => "missed",
    };
    let mut html = format!(
        "<h3>Requirements</h3>\n<p class=\"lead\"><span class=\"{class}\">{words}</span></p>\n<ul class=\"plain\">\n"
    );
    for requirement in gravest_first(all) {
        let verdict = requirement.verdict();
        let (class, sign) = match verdict {
            RequirementVerdict::Met => ("met", "\u{2713} "),
            RequirementVerdict::Undecided => ("open", ""),
            RequirementVerdict::Missed => ("missed", "\u{2717} "),
        };
        let word = verdict.word();
        let bench = match for_bench(requirement, document) {
            bench if bench.is_empty() => bench,
            bench => escaped(&format!("{bench}:")),
        };
        let _ = writeln!(
            html,
            "<li><span class=\"{class}\">{sign}{word}</span>{bench} {}</li>",
            sentence(&requirement_words(requirement))
        );
    }
    html.push_str("</ul>\n");
    html
}

/// Text in which `this` is code.
fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let each = parts.map(|(index, part)| match index % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => sentence(part),
    });
    each.collect()
}

fn warnings(material: &Material) -> String {
    let runs = &material.document.runs;
    let all = collected(runs);
    if all.is_empty() {
        return String::new();
    }
    let mut html = "<h3>Warnings</h3>\n<ul class=\"warnings\">\n".to_owned();
    for (warning, count) in all {
        let class = super::severity_class(warning.severity);
        let word = capitalised(class);
        let of = escaped(&of_runs(warning, count, runs));
        let _ = writeln!(
            html,
            "<li class=\"{class}\"><details><summary><b>{word}:</b> {}{of} <code>{}</code></summary>\
             <span class=\"hint\">{}</span></details></li>",
            sentence(&warning.message),
            escaped(&warning.code),
            with_code(&material.hint_of(warning))
        );
    }
    html.push_str("</ul>\n");
    html
}
