//! Page one: what was asked, answered; then warnings and conditions.

use super::{conditions, tables};
use crate::answers::{
    amount, answer_amount, at_other_limits, judged_of_answer, limit_words, load_of, place_of,
    runs_of,
};
use crate::escape::escaped;
use crate::identity::{NamedSeries, named_series};
use crate::material::Material;
use crate::warnings::{collected, of_runs};
use crate::words::{Said, requirement_words, series_title};
use std::fmt::Write;
use stripewise_results::{
    ComparisonRecord, JobRow, RequirementRecord, SeriesAnswer, SeriesRecord, Severity, Status,
    Verdict,
};
use stripewise_units::format_duration;

/// Runs in the table of page one.
const ROWS_MAX: usize = 12;

/// The answer, with the card of a bench below it.
pub(super) fn section(material: &Material, card: &str) -> String {
    let document = &material.document;
    let mut html = "<section id=\"answer\" aria-labelledby=\"answer-title\"><h2 id=\"answer-title\">Answer</h2>\n".to_owned();
    html.push_str(&super::cautions(&crate::caution::cautions(
        &material.document,
    )));
    let mut said = Said::default();
    let mut leads: Vec<String> = Vec::new();
    for comparison in &document.comparisons {
        let lead = verdict_line(comparison);
        // Tables that say the same say it once.
        if !leads.contains(&lead) {
            let _ = writeln!(html, "<p class=\"lead\">{lead}</p>");
            leads.push(lead);
        }
        for sentence in said.new_of(&comparison.sentences) {
            let _ = writeln!(html, "<p>{}</p>", escaped(sentence));
        }
    }
    // These stand below their tables.
    for comparison in &document.comparisons {
        said.new_of(&comparison.notes);
    }
    html.push_str(&requirements(&document.requirements));
    if !document.series.is_empty() {
        html.push_str(&ladders(&named_series(document)));
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
    for note in said.new_of(&material.notes) {
        let _ = writeln!(html, "<p>{}</p>", escaped(note));
    }
    html.push_str(card);
    html.push_str(&warnings(material));
    html.push_str("<h3>Conditions</h3>\n");
    html.push_str(&conditions::list(material));
    html.push_str("</section>\n");
    html
}

/// What is compared, the verdict, and by how much the sides differ: a reader who sees
/// only this line has the answer.
fn verdict_line(comparison: &ComparisonRecord) -> String {
    let (class, word) = match comparison.verdict {
        Verdict::Better => ("met", "Better"),
        Verdict::Worse => ("missed", "Worse"),
        Verdict::Mixed => ("open", "Mixed"),
        Verdict::NoDifference => ("open", "No difference found"),
        Verdict::Undecided => ("open", "Undecided"),
    };
    let sides = escaped(&crate::choose::sides_of(comparison));
    let difference = crate::difference::in_words(comparison)
        .map(|words| format!(": {}", escaped(&words)))
        .unwrap_or_default();
    format!("<span class=\"{class}\">{word}:</span> {sides}{difference}")
}

/// A line for each series: what it gives within the limit, else at its knee.
fn ladders(all: &[NamedSeries<'_>]) -> String {
    let mut headings: Vec<&str> = Vec::new();
    for named in all.iter().filter(|named| !named.what.is_empty()) {
        if !headings.contains(&named.heading.as_str()) {
            headings.push(&named.heading);
        }
    }
    let several = !headings.is_empty();
    let what = match &headings[..] {
        [] => String::new(),
        [one] => format!("<th scope=\"col\">{}</th>", escaped(one)),
        _ => "<th scope=\"col\">Of</th>".to_owned(),
    };
    let mut html = format!(
        "<table class=\"answers\"><thead><tr><th scope=\"col\">Series</th>{what}\
         <th scope=\"col\">Throughput</th><th scope=\"col\">At</th>\
         <th scope=\"col\">Ceiling</th><th scope=\"col\">Verdict</th></tr></thead><tbody>\n"
    );
    for named in all {
        html.push_str(&ladder(named, several));
    }
    html.push_str("</tbody></table>\n");
    html
}

/// A ladder without an answer: no number, no tick, and why.
fn unanswered(named: &NamedSeries<'_>, several: bool, reason: &str) -> String {
    let what = if several {
        format!("<td class=\"what\">{}</td>", escaped(&named.what))
    } else {
        String::new()
    };
    let word = match named.series.void_codes().is_empty() {
        true => "no answer",
        false => "VOID",
    };
    format!(
        "<tr><th scope=\"row\">{}</th>{what}<td class=\"big\">\u{2013}</td><td>{}</td>\
         <td data-of=\"Ceiling\"></td><td><span class=\"missed\">{word}</span></td></tr>\n",
        escaped(&series_title(&named.series.name)),
        escaped(reason),
    )
}

fn ladder(named: &NamedSeries<'_>, several: bool) -> String {
    let series = named.series;
    if let Some(reason) = &series.no_answer {
        return unanswered(named, several, reason);
    }
    let limit = limit_words(series);
    let found = series.answered();
    let big = match &found {
        Some(found) if found.record.runs == 1 => {
            format!("{} (one run)", answer_amount(series, &found.record))
        }
        Some(found) => answer_amount(series, &found.record),
        None => "nothing measured".to_owned(),
    };
    let place = found.map_or_else(String::new, |found| place(series, &found));
    let ceiling = series
        .ceiling_above()
        .map(|step| format!("{} at {}", amount(series, step), step.in_flight()))
        .unwrap_or_default();
    let stopped = match series.partial {
        true => " <span class=\"open\">stopped before its end</span>",
        false => "",
    };
    let verdict = if found.is_some_and(|found| found.is_within) {
        format!(
            "<span class=\"met\">\u{2713} {}</span>{stopped}",
            escaped(&limit)
        )
    } else {
        format!(
            "<span class=\"missed\">\u{2717} not {}</span>{stopped}",
            escaped(&limit)
        )
    };
    let what = if several {
        format!("<td class=\"what\">{}</td>", escaped(&named.what))
    } else {
        String::new()
    };
    format!(
        "<tr><th scope=\"row\">{}</th>{what}<td class=\"big\">{}</td><td>{place}</td><td data-of=\"Ceiling\">{}</td><td>{verdict}</td></tr>\n",
        escaped(&series_title(&series.name)),
        escaped(&big),
        escaped(&ceiling),
    )
}

/// Where a series gives its answer, as HTML: the load, and the latency that the
/// limit judges. Of the log, how long a commit waits.
fn place(series: &SeriesRecord, found: &SeriesAnswer) -> String {
    let record = &found.record;
    let many = load_of(record);
    let load = match place_of(found) {
        Some(place) => format!("{many} in flight ({})", place.trim_start_matches("at ")),
        None => format!("{many} in flight"),
    };
    let durable = record.latency.filter(|_| series.name == "log");
    let durable = durable.map(|latency| {
        let median = format_duration(latency.p50);
        format!("a durable write takes {median} (p50)")
    });
    let judged = judged_of_answer(series, record).map(|(name, value)| format!("{name} {value}"));
    let runs = (record.runs > 1).then(|| runs_of(record));
    let words: Vec<String> = std::iter::once(load)
        .chain(durable)
        .chain(judged)
        .chain(runs)
        .collect();
    let mut html = escaped(&words.join(", "));
    let others = at_other_limits(series);
    if place_of(found).is_some() && !others.is_empty() {
        let _ = write!(html, "<span class=\"others\">{}</span>", escaped(&others));
    }
    html
}

/// What was required, missed ones first: they are the news.
fn requirements(all: &[RequirementRecord]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let missed = all.iter().filter(|requirement| !requirement.met).count();
    let (class, words) = match missed {
        0 => ("met", "Pass: all requirements are met".to_owned()),
        _ => (
            "missed",
            format!("Fail: {missed} of {} requirements not met", all.len()),
        ),
    };
    let mut html = format!(
        "<h3>Requirements</h3>\n<p class=\"lead\"><span class=\"{class}\">{words}</span></p>\n<ul class=\"plain\">\n"
    );
    let mut sorted: Vec<&RequirementRecord> = all.iter().collect();
    sorted.sort_by_key(|requirement| requirement.met);
    for requirement in sorted {
        let (class, word) = match (requirement.met, requirement.undecided) {
            (true, _) => ("met", "\u{2713} met"),
            (false, true) => ("open", "undecided"),
            (false, false) => ("missed", "\u{2717} missed"),
        };
        let _ = writeln!(
            html,
            "<li><span class=\"{class}\">{word}</span> {}</li>",
            escaped(&requirement_words(requirement))
        );
    }
    html.push_str("</ul>\n");
    html
}

/// Words in which `this` is code.
fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let each = parts.map(|(index, part)| match index % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
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
        let (class, word) = match warning.severity {
            Severity::Note => ("note", "Note"),
            Severity::Warning => ("warning", "Warning"),
            Severity::Void => ("void", "Void"),
        };
        let of = escaped(&of_runs(warning, count, runs));
        let _ = writeln!(
            html,
            "<li class=\"{class}\"><details><summary><b>{word}:</b> {}{of} <code>{}</code></summary>\
             <span class=\"hint\">{}</span></details></li>",
            escaped(&warning.message),
            escaped(&warning.code),
            with_code(&warning.hint)
        );
    }
    html.push_str("</ul>\n");
    html
}
