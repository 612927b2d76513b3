//! The page of what has no runs: the answer, the picture, and everything behind it as
//! tables.

use super::policy::page_policy;
use super::{STYLE, both_grounds};
use crate::draw::Theme;
use crate::escape::escaped;
use crate::sheet::{Judged, Sheet, SheetTable};
use std::fmt::Write;
use stripewise_units::{capitalised, format_count};

/// Rows of a table that are shown; the CSV has all of them.
const ROWS_MAX: usize = 2_000;
/// Longer tables are folded.
const OPEN_ROWS_MAX: usize = 12;

/// The page as one HTML file that loads nothing; `picture` draws its picture.
#[must_use]
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
    let found = SheetTable {
        rows: sheet
            .findings
            .iter()
            .map(|(name, value)| vec![name.clone(), value.clone()])
            .collect(),
        ..SheetTable::default()
    };
    table(&mut page, &found);
    let _ = write!(
        page,
        "</section>\n<section id=\"charts\"><h2>Picture</h2>\n<figure>{}</figure></section>\n\
         <section id=\"tables\">",
        both_grounds(&sheet.title, picture)
    );
    for one in sheet.tables.iter().filter(|table| !table.rows.is_empty()) {
        let title = escaped(&one.title);
        // A long table behind its title: what one came for is above it.
        if one.rows.len() > OPEN_ROWS_MAX {
            let _ = writeln!(
                page,
                "<details class=\"fold\"><summary><h2>{title}, {} rows</h2></summary>",
                format_count(one.rows.len() as u64)
            );
            table(&mut page, one);
            page.push_str("</details>\n");
        } else {
            let _ = writeln!(page, "<h2>{title}</h2>");
            table(&mut page, one);
        }
    }
    let _ = write!(
        page,
        "</section>\n</main>\n<footer><p>{}</p></footer>\n</body>\n</html>\n",
        escaped(&sheet.foot)
    );
    page
}

/// The sentence behind its verdict, then what must be read with it.
fn answer(sheet: &Sheet) -> String {
    let mut text = match &sheet.verdict {
        Some((judged, word)) => {
            let class = match judged {
                Judged::Good => "met",
                Judged::Bad => "missed",
                Judged::Open => "open",
            };
            format!(
                "<p class=\"lead\"><span class=\"{class}\">{}:</span> {}</p>\n",
                escaped(word),
                escaped(&sheet.answer)
            )
        }
        None => format!("<p>{}.</p>\n", escaped(&capitalised(&sheet.answer))),
    };
    if !sheet.details.is_empty() {
        text.push_str("<ul class=\"warnings\">\n");
        for detail in &sheet.details {
            let _ = writeln!(text, "<li class=\"void\">{}</li>", escaped(detail));
        }
        text.push_str("</ul>\n");
    }
    text
}

fn table(page: &mut String, table: &SheetTable) {
    let name = match table.title.as_str() {
        "" => "Findings",
        title => title,
    };
    // Without heads there are sentences in it, which are not to be cut.
    let class = match table.head.is_empty() {
        true => "scroll words",
        false => "scroll",
    };
    let _ = writeln!(
        page,
        "<div class=\"{class}\" role=\"region\" aria-label=\"{}\" tabindex=\"0\"><table>",
        escaped(name)
    );
    // Columns in which nothing stands are left out.
    let is_used = |index: &usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(*index));
        cells.any(|cell| !cell.is_empty())
    };
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let used: Vec<usize> = (0..columns).filter(is_used).collect();
    if !table.head.is_empty() {
        page.push_str("<thead><tr>");
        for name in used.iter().filter_map(|index| table.head.get(*index)) {
            let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(name));
        }
        page.push_str("</tr></thead>\n");
    }
    page.push_str("<tbody>\n");
    for row in table.rows.iter().take(ROWS_MAX) {
        page.push_str("<tr>");
        for value in used.iter().filter_map(|index| row.get(*index)) {
            let _ = write!(page, "<td>{}</td>", escaped(value));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
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
                &["file"],
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
    fn columns_without_a_value_are_left_out() {
        let sheet = Sheet {
            tables: vec![SheetTable::new(
                "Targets",
                &["name", "kept at", "size"],
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
            verdict: Some((Judged::Bad, "Faults".to_owned())),
            answer: "1 torn".to_owned(),
            ..Sheet::default()
        };
        let page = sheet_page(&sheet, &|_| String::new());
        let expected = "<span class=\"missed\">Faults:</span> 1 torn</p>";
        assert!(page.contains(expected), "{page}");
    }
}
