//! The answer as a page: one file, no script, nothing loaded.

use super::{advice_charts, effect_levels, effect_name, layout_words};
use crate::draw::svg_on;
use crate::escape::escaped;
use crate::number::{latency, rate};
use crate::page::both_grounds;
use std::fmt::Write;
use stripewise_results::AdviceRecord;

const STYLE: &str = include_str!("../page/page.css");

/// The page. `effects` are sentences on what matters; `under` stands under the title.
#[must_use]
pub fn advice_html(record: &AdviceRecord, effects: &[String], under: &str) -> String {
    let title = escaped(&record.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1>\n<p class=\"under\">{}</p></header>\n<main>\n",
        escaped(under)
    );
    page.push_str("<section id=\"answer\"><h2>Answer</h2>\n");
    for sentence in &record.sentences {
        let _ = writeln!(page, "<p>{}</p>", escaped(sentence));
    }
    list(&mut page, "What matters", effects);
    commands(&mut page, record);
    page.push_str("</section>\n<section id=\"charts\"><h2>Charts</h2>\n");
    for chart in advice_charts(record) {
        let _ = writeln!(
            page,
            "<figure id=\"figure-{}\"><figcaption><h3>{}</h3><p>{}</p></figcaption>{}</figure>",
            escaped(&chart.name),
            escaped(&chart.title),
            escaped(&chart.summary),
            both_grounds(&chart.title, &|theme| svg_on(&chart, theme))
        );
    }
    page.push_str("</section>\n<section id=\"tables\"><h2>Tables</h2>\n");
    layouts(&mut page, record);
    effects_table(&mut page, record);
    cells(&mut page, record);
    page.push_str("</section>\n<section id=\"notes\">");
    list(&mut page, "Notes", &record.notes);
    list(&mut page, "Not tried", &record.not_tried);
    page.push_str("</section>\n</main>\n</body>\n</html>\n");
    page
}

/// What makes the layout, by the system that it is typed into.
fn commands(page: &mut String, record: &AdviceRecord) {
    if record.commands.is_empty() {
        return;
    }
    page.push_str("<h3>To make it (everything on the disks is lost)</h3><ul>\n");
    for command in &record.commands {
        let place = stripewise_units::capitalised(&command.place);
        let line = escaped(&command.line);
        // A controller has menus.
        let line = match command.place.as_str() {
            "controller" => line,
            _ => format!("<code>{line}</code>"),
        };
        let _ = writeln!(page, "<li>{}: {line}</li>", escaped(&place));
    }
    page.push_str("</ul>\n");
}

fn list(page: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(page, "<h3>{}</h3><ul>", escaped(title));
    for line in lines {
        let _ = writeln!(page, "<li>{}</li>", escaped(line));
    }
    page.push_str("</ul>\n");
}

fn table(page: &mut String, caption: &str, headings: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(
        page,
        "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table><caption>{0}</caption><thead><tr>",
        escaped(caption)
    );
    for heading in headings {
        let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(heading));
    }
    page.push_str("</tr></thead><tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for cell in row {
            let _ = write!(page, "<td>{}</td>", escaped(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

fn layouts(page: &mut String, record: &AdviceRecord) {
    let rows: Vec<Vec<String>> = (record.layouts.iter())
        .map(|layout| {
            vec![
                layout_words(record, &layout.layout),
                rate(layout.score),
                rate(layout.low),
                rate(layout.high),
                format!(
                    "{:+.1} % ({:+.1} to {:+.1})",
                    layout.ahead_percent, layout.ahead_percent_low, layout.ahead_percent_high
                ),
                match (layout.among_best, &layout.breaks) {
                    (true, _) => "yes".to_owned(),
                    (false, Some(limit)) => format!("breaks {limit}"),
                    (false, None) => "no".to_owned(),
                },
            ]
        })
        .collect();
    let headings = [
        "Layout",
        "Mix IOPS",
        "Low",
        "High",
        "To the best other",
        "Among the best",
    ];
    table(page, "Layouts, the best first", &headings, &rows);
}

fn effects_table(page: &mut String, record: &AdviceRecord) {
    let rows: Vec<Vec<String>> = (record.effects.iter())
        .map(|effect| {
            vec![
                effect_name(effect),
                effect_levels(effect),
                format!("{:.2} %", effect.percent),
                format!("{:.2} to {:.2}", effect.low, effect.high),
                match (effect.by_arithmetic, effect.found) {
                    (true, _) => "by arithmetic".to_owned(),
                    (false, true) => "yes".to_owned(),
                    (false, false) => "not shown".to_owned(),
                },
            ]
        })
        .collect();
    table(
        page,
        "Main effects and interactions",
        &["Factors", "Levels", "Effect", "Interval", "Found"],
        &rows,
    );
}

/// Rates and latencies of every cell on every layout.
fn cells(page: &mut String, record: &AdviceRecord) {
    let mut headings = vec!["Layout".to_owned()];
    for cell in &record.cells {
        headings.push(format!("{} IOPS", cell.name));
        headings.push(format!("{} p99", cell.name));
    }
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = (record.layouts.iter().enumerate())
        .map(|(index, layout)| {
            let mut row = vec![layout_words(record, &layout.layout)];
            for cell in &record.cells {
                let iops = cell.iops.get(index).copied().flatten();
                row.push(iops.map(rate).unwrap_or_default());
                let p99 = cell.latency_ns_p99.get(index).copied().flatten();
                row.push(latency(p99.map(|ns| ns.round() as u64)));
            }
            row
        })
        .collect();
    table(page, "Cells", &headings, &rows);
    let rows: Vec<Vec<String>> = (record.cells.iter())
        .map(|cell| {
            let share = match cell.share_percent > 0.0 {
                true => format!("{:.0} %", cell.share_percent),
                false => "a limit only".to_owned(),
            };
            let assumed = if cell.assumed {
                "assumed"
            } else {
                "stated by a source"
            };
            vec![
                cell.name.clone(),
                cell.what.clone(),
                share,
                assumed.to_owned(),
            ]
        })
        .collect();
    table(
        page,
        "The mix",
        &["Cell", "What", "Share", "Basis of the share"],
        &rows,
    );
}
