//! The page of a profile or a fill: the picture, and everything behind it as tables.

use super::policy::page_policy;
use super::{STYLE, both_grounds};
use crate::draw::{SurfacePicture, surface_svg};
use crate::escape::escaped;
use std::fmt::Write;

/// A table of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceTable {
    /// What it is about.
    pub title: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// A row each.
    pub rows: Vec<Vec<String>>,
}

/// Rows of a table that are shown; the CSV has all of them.
const ROWS_MAX: usize = 2_000;
/// Longer tables are folded.
const OPEN_ROWS_MAX: usize = 12;

/// The page as one HTML file that loads nothing. `answer` is the result in a sentence.
#[must_use]
pub fn surface_page(picture: &SurfacePicture, answer: &str, tables: &[SurfaceTable]) -> String {
    let title = escaped(&picture.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1>\n<p class=\"under\">{}</p></header>\n<main>\n\
         <section id=\"answer\"><h2>Answer</h2>\n<p>{}</p>\n",
        page_policy(),
        escaped(&picture.subtitle),
        escaped(answer)
    );
    let found = SurfaceTable {
        title: String::new(),
        head: Vec::new(),
        rows: picture
            .findings
            .iter()
            .map(|(name, value)| vec![name.clone(), value.clone()])
            .collect(),
    };
    table(&mut page, &found);
    let _ = write!(
        page,
        "</section>\n<section id=\"charts\"><h2>Picture</h2>\n<figure>{}</figure></section>\n\
         <section id=\"tables\">",
        both_grounds(&picture.title, &|theme| surface_svg(picture, theme))
    );
    for one in tables.iter().filter(|table| !table.rows.is_empty()) {
        let title = escaped(&one.title);
        // A long table behind its title: what one came for is above it.
        if one.rows.len() > OPEN_ROWS_MAX {
            let _ = writeln!(
                page,
                "<details class=\"fold\"><summary><h2>{title}, {} rows</h2></summary>",
                one.rows.len()
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
        escaped(&picture.foot)
    );
    page
}

fn table(page: &mut String, table: &SurfaceTable) {
    let name = match table.title.as_str() {
        "" => "Findings",
        title => title,
    };
    let _ = writeln!(
        page,
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\"><table>",
        escaped(name)
    );
    if !table.head.is_empty() {
        page.push_str("<thead><tr>");
        for name in &table.head {
            let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(name));
        }
        page.push_str("</tr></thead>\n");
    }
    page.push_str("<tbody>\n");
    for row in table.rows.iter().take(ROWS_MAX) {
        page.push_str("<tr>");
        for value in row {
            let _ = write!(page, "<td>{}</td>", escaped(value));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    if table.rows.len() > ROWS_MAX {
        let _ = writeln!(
            page,
            "<p>{ROWS_MAX} of {} rows; the CSV and the JSON have all.</p>",
            table.rows.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_cannot_become_elements() {
        let picture = SurfacePicture {
            title: "<script>alert(1)</script>".to_owned(),
            findings: vec![("fastest".to_owned(), "1 & 2".to_owned())],
            ..SurfacePicture::default()
        };
        let tables = [SurfaceTable {
            title: "Spots".to_owned(),
            head: vec!["file".to_owned()],
            rows: vec![vec!["a<b>".to_owned()]],
        }];
        let page = surface_page(&picture, "an <answer>", &tables);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
        assert!(page.contains("<td>a&lt;b&gt;</td>") && page.contains("an &lt;answer&gt;"));
        assert!(
            page.contains("<svg") && !page.contains("src=") && !page.contains("href="),
            "nothing is loaded"
        );
    }
}
