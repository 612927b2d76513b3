//! A profile or a fill as Markdown: what was found, then its tables.

use crate::draw::SurfacePicture;
use crate::markdown::{ROWS_MAX, left_out, safe, table};
use crate::page::SurfaceTable;
use std::fmt::Write;

/// The same as the page has it, for issues and pull requests. `answer` is the result in a
/// sentence.
#[must_use]
pub fn surface_markdown(picture: &SurfacePicture, answer: &str, tables: &[SurfaceTable]) -> String {
    let mut text = format!(
        "## {}\n\n{}\n\n{}\n\n",
        safe(&picture.title),
        safe(&picture.subtitle),
        safe(answer)
    );
    let findings = picture.findings.iter();
    let found: Vec<Vec<String>> = findings
        .map(|(name, value)| vec![name.clone(), value.clone()])
        .collect();
    let heads = ["found".to_owned(), "value".to_owned()];
    table(&mut text, &heads, &[false, false], &found);
    for one in tables.iter().filter(|table| !table.rows.is_empty()) {
        let _ = writeln!(text, "### {}\n", safe(&one.title));
        let shown = &one.rows[..one.rows.len().min(ROWS_MAX)];
        // Tables without heads have columns all the same.
        let columns = shown.iter().map(Vec::len).max().unwrap_or(0);
        let mut heads = one.head.clone();
        heads.resize(columns, String::new());
        table(&mut text, &heads, &vec![false; columns], shown);
        left_out(&mut text, one.rows.len());
    }
    let _ = writeln!(text, "{}", safe(&picture.foot));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text_and_long_tables_are_cut() {
        let picture = SurfacePicture {
            title: "a|b <i>".to_owned(),
            findings: vec![("fastest".to_owned(), "1 MiB/s".to_owned())],
            ..SurfacePicture::default()
        };
        let row = |number: usize| vec![number.to_string(), "x|y".to_owned()];
        let tables = [SurfaceTable {
            title: "Rates".to_owned(),
            head: vec!["byte".to_owned(), "rate".to_owned()],
            rows: (0..ROWS_MAX + 2).map(row).collect(),
        }];
        let text = surface_markdown(&picture, "answer", &tables);
        assert!(text.starts_with("## a\\|b &lt;i&gt;\n"), "{text}");
        assert!(text.contains("| fastest | 1 MiB/s |\n"), "{text}");
        assert!(text.contains("| 0 | x\\|y |\n"), "{text}");
        assert!(text.contains("2 further rows are left out."), "{text}");
        assert!(!text.contains(&format!("| {ROWS_MAX} |")), "{text}");
    }
}
