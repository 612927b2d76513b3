//! The page of a result without runs: the answer, the picture, and everything behind it as
//! tables.

use super::policy::page_policy;
use super::{STYLE, both_backgrounds, severity_class};
use crate::draw::{Theme, svg_on};
use crate::escape::{escaped, sentence};
use crate::sheet::{Caution, Cell, Judgement, Sheet, SheetTable};
use std::fmt::Write;
use stripewise_units::{capitalised, counted, format_count};

/// Maximum number of rows shown of a table; the CSV has all of them.
const ROWS_MAX: usize = 2_000;
/// Longer tables are folded.
const OPEN_ROWS_MAX: usize = 12;

/// The page as one HTML file that loads nothing; `picture` draws its picture.
pub fn sheet_page(sheet: &Sheet, picture: &dyn Fn(Theme) -> String) -> String {
    let title = escaped(&sheet.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1>\n<p class=\"under\">{}</p></header>\n<main>\n\
         <section id=\"answer\"><h2>Answer</h2>\n{}",
        page_policy(),
        escaped(&sheet.subtitle),
        answer(sheet)
    );
    let findings = sheet.findings.iter();
    let findings = findings.map(|(name, value)| vec![name.as_str(), value]);
    let findings = SheetTable::without_headings("", findings.collect());
    table(&mut page, &findings);
    cautions(&mut page, &sheet.cautions);
    page.push_str("</section>\n<section id=\"charts\">");
    if !picture(Theme::Light).is_empty() {
        let picture = both_backgrounds("Picture", picture);
        let _ = writeln!(page, "<h2>Picture</h2>\n<figure>{picture}</figure>");
    }
    for chart in &sheet.charts {
        let _ = writeln!(
            page,
            "<figure id=\"figure-{}\">{}</figure>",
            escaped(&chart.name),
            both_backgrounds(&chart.title, &|theme| svg_on(chart, theme))
        );
    }
    page.push_str("</section>\n<section id=\"tables\">");
    for one in sheet.tables.iter().filter(|table| !table.rows.is_empty()) {
        let title = escaped(&one.title);
        // Fold a long table: the main results are above it.
        if one.is_detail || one.rows.len() > OPEN_ROWS_MAX {
            let _ = writeln!(
                page,
                "<details class=\"fold\"><summary><h2>{title}, {}</h2></summary>",
                counted(one.rows.len(), "row", "rows")
            );
            table(&mut page, one);
            page.push_str("</details>\n");
        } else {
            let _ = writeln!(page, "<h2>{title}</h2>");
            table(&mut page, one);
        }
    }
    page.push_str("</section>\n");
    notes(&mut page, &sheet.notes);
    let _ = write!(
        page,
        "</main>\n<footer><p>{}</p></footer>\n</body>\n</html>\n",
        escaped(&sheet.foot)
    );
    page
}

/// The sentence with its verdict, then cautions.
pub(super) fn answer(sheet: &Sheet) -> String {
    let mut text = match &sheet.verdict {
        Some((judged, word)) => {
            let class = judgement_class(*judged);
            let colon = if sheet.answer.is_empty() { "" } else { ":" };
            format!(
                "<p class=\"lead\"><span class=\"{class}\">{}{colon}</span> {}</p>\n",
                escaped(word),
                sentence(&sheet.answer)
            )
        }
        None if sheet.answer.is_empty() => String::new(),
        None => {
            let answer = capitalised(sheet.answer.trim_end_matches('.'));
            format!("<p class=\"lead\">{}.</p>\n", sentence(&answer))
        }
    };
    // With bad news these are faults, otherwise part of the answer.
    let is_bad = matches!(sheet.verdict, Some((Judgement::Bad, _)));
    if is_bad && !sheet.details.is_empty() {
        text.push_str("<ul class=\"warnings\">\n");
        for detail in &sheet.details {
            let _ = writeln!(text, "<li class=\"void\">{}</li>", sentence(detail));
        }
        text.push_str("</ul>\n");
    } else {
        for detail in &sheet.details {
            let _ = writeln!(text, "<p>{}</p>", sentence(detail));
        }
    }
    text
}

fn notes(page: &mut String, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    page.push_str("<section id=\"notes\"><h2>Notes</h2>\n<ul>\n");
    for note in notes {
        let _ = writeln!(page, "<li>{}</li>", sentence(note));
    }
    page.push_str("</ul>\n</section>\n");
}

fn judgement_class(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Good => "met",
        Judgement::Bad => "missed",
        Judgement::Open => "open",
    }
}

fn cautions(page: &mut String, cautions: &[Caution]) {
    if cautions.is_empty() {
        return;
    }
    page.push_str("<h3>Read with care</h3>\n<ul class=\"warnings\">\n");
    for caution in cautions {
        let _ = writeln!(
            page,
            "<li class=\"{}\">{}</li>",
            severity_class(caution.severity),
            sentence(&caution.line())
        );
    }
    page.push_str("</ul>\n");
}

/// The table as HTML; its title is its name for screen readers.
pub(super) fn table(page: &mut String, table: &SheetTable) {
    // A table without headings contains sentences, which must not be cut.
    let class = match table.columns.is_empty() {
        true => "scroll words",
        false => "scroll",
    };
    write_table(page, table, class);
}

/// The same; in a narrow window each row becomes a paragraph with column names before the
/// values.
pub(super) fn table_of_cards(page: &mut String, table: &SheetTable) {
    write_table(page, table, "scroll cards");
}

/// The content of a cell: a bar, a word with its judgement, the address of a source as a link, or
/// plain text.
fn cell_text(cell: &Cell) -> String {
    let text = escaped(&cell.text);
    match cell.judgement {
        _ if cell.is_bar() => {
            let width = 8 * cell.text.len();
            format!(
                "<svg class=\"bar\" width=\"{width}\" height=\"10\" aria-hidden=\"true\"><rect width=\"{width}\" height=\"10\"/></svg>"
            )
        }
        Some(judgement) => {
            format!(
                "<span class=\"{}\">{text}</span>",
                judgement_class(judgement)
            )
        }
        // Followed by a click alone: the page still loads nothing.
        None if text.starts_with("https://") && !text.contains(char::is_whitespace) => {
            format!("<a href=\"{text}\" rel=\"noreferrer\">{text}</a>")
        }
        None => text,
    }
}

fn write_table(page: &mut String, table: &SheetTable, class: &str) {
    let name = match table.title.as_str() {
        "" => "Findings",
        title => title,
    };
    let _ = writeln!(
        page,
        "<div class=\"{class}\" role=\"region\" aria-label=\"{}\" tabindex=\"0\"><table>",
        escaped(name)
    );
    let used = table.used_columns();
    let number = |index: usize| match table.is_number(index) {
        true => " class=\"n\"",
        false => "",
    };
    let name = |index: usize| match table.columns.get(index) {
        Some(column) if class.ends_with("cards") && !column.heading.is_empty() => {
            format!(" data-of=\"{}\"", escaped(&column.heading))
        }
        _ => String::new(),
    };
    if !table.columns.is_empty() {
        page.push_str("<thead><tr>");
        for &index in &used {
            let heading = table.columns.get(index);
            let _ = write!(
                page,
                "<th scope=\"col\"{}>{}</th>",
                number(index),
                escaped(heading.map_or("", |column| &column.heading))
            );
        }
        page.push_str("</tr></thead>\n");
    }
    page.push_str("<tbody>\n");
    for row in table.rows.iter().take(ROWS_MAX) {
        page.push_str("<tr>");
        for (index, cell) in used
            .iter()
            .filter_map(|&index| Some((index, row.get(index)?)))
        {
            let text = cell_text(cell);
            let _ = write!(page, "<td{}{}>{text}</td>", number(index), name(index));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    if !table.note.is_empty() {
        let _ = writeln!(page, "<p>{}</p>", sentence(&table.note));
    }
    if table.rows.len() > ROWS_MAX {
        let _ = writeln!(
            page,
            "<p>{} of {} rows; the CSV and the JSON have all.</p>",
            format_count(ROWS_MAX as u64),
            format_count(table.rows.len() as u64)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_cannot_become_elements() {
        let sheet = Sheet {
            title: "<script>alert(1)</script>".to_owned(),
            answer: "an <answer>".to_owned(),
            details: vec!["a <fault>".to_owned()],
            findings: vec![("fastest".to_owned(), "1 & 2".to_owned())],
            tables: vec![SheetTable::new(
                "Spots",
                ["file"],
                vec![vec!["a<b>".to_owned()]],
            )],
            ..Sheet::default()
        };
        let page = sheet_page(&sheet, &|_| "<svg></svg>".to_owned());
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
        assert!(page.contains("<td>a&lt;b&gt;</td>") && page.contains("An &lt;answer&gt;"));
        assert!(page.contains("a &lt;fault&gt;"));
        assert!(
            page.contains("<svg") && !page.contains("src=") && !page.contains("href="),
            "nothing is loaded"
        );
    }

    #[test]
    fn the_address_of_a_source_is_a_link_and_no_other_text_is() {
        let row = [
            "https://a.example/?x=\"1\"",
            "javascript:alert(1)",
            "https://b is",
        ];
        let sheet = Sheet {
            tables: vec![SheetTable::without_headings(
                "Sources",
                vec![row.map(str::to_owned).to_vec()],
            )],
            ..Sheet::default()
        };
        let page = sheet_page(&sheet, &|_| String::new());
        let link = "<a href=\"https://a.example/?x=&quot;1&quot;\" rel=\"noreferrer\">";
        assert!(page.contains(link), "{page}");
        assert_eq!(page.matches("href=").count(), 1, "{page}");
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let sheet = Sheet {
            tables: vec![SheetTable::new(
                "Targets",
                ["name", "kept at", "size"],
                vec![vec!["a".to_owned(), String::new(), "1 GiB".to_owned()]],
            )],
            ..Sheet::default()
        };
        let page = sheet_page(&sheet, &|_| String::new());
        assert!(page.contains("<td>a</td><td>1 GiB</td>"), "{page}");
        assert!(page.contains(">size</th>") && !page.contains("kept at"));
    }

    #[test]
    fn a_verdict_stands_before_its_sentence() {
        let sheet = Sheet {
            verdict: Some((Judgement::Bad, "Faults".to_owned())),
            answer: "1 torn".to_owned(),
            ..Sheet::default()
        };
        let page = sheet_page(&sheet, &|_| String::new());
        let expected = "<span class=\"missed\">Faults:</span> 1 torn</p>";
        assert!(page.contains(expected), "{page}");
    }
}
