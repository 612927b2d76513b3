//! A measurement that has no runs as Markdown: what was found, then its tables.

use crate::markdown::{ROWS_MAX, left_out, safe, table};
use crate::sheet::Sheet;
use std::fmt::Write;

/// The same as the page has it, for issues and pull requests.
#[must_use]
pub fn sheet_markdown(sheet: &Sheet) -> String {
    let verdict = match &sheet.verdict {
        Some((_, word)) => format!("**{}:** ", safe(word)),
        None => String::new(),
    };
    let mut text = format!(
        "## {}\n\n{}\n\n{verdict}{}\n\n",
        safe(&sheet.title),
        safe(&sheet.subtitle),
        safe(&sheet.answer)
    );
    for detail in &sheet.details {
        let _ = writeln!(text, "- {}", safe(detail));
    }
    if !sheet.details.is_empty() {
        text.push('\n');
    }
    let findings = sheet.findings.iter();
    let found: Vec<Vec<String>> = findings
        .map(|(name, value)| vec![name.clone(), value.clone()])
        .collect();
    let heads = ["found".to_owned(), "value".to_owned()];
    table(&mut text, &heads, &[false, false], &found);
    for one in sheet.tables.iter().filter(|table| !table.rows.is_empty()) {
        let _ = writeln!(text, "### {}\n", safe(&one.title));
        let shown = &one.rows[..one.rows.len().min(ROWS_MAX)];
        // Tables without heads have columns all the same.
        let columns = shown.iter().map(Vec::len).max().unwrap_or(0);
        let mut heads = one.head.clone();
        heads.resize(columns, String::new());
        table(&mut text, &heads, &vec![false; columns], shown);
        left_out(&mut text, one.rows.len());
    }
    let _ = writeln!(text, "{}", safe(&sheet.foot));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Judged, SheetTable};

    #[test]
    fn names_stay_text_and_long_tables_are_cut() {
        let row = |number: usize| vec![number.to_string(), "x|y".to_owned()];
        let sheet = Sheet {
            title: "a|b <i>".to_owned(),
            verdict: Some((Judged::Bad, "Faults".to_owned())),
            answer: "answer".to_owned(),
            details: vec!["a|fault".to_owned()],
            findings: vec![("fastest".to_owned(), "1 MiB/s".to_owned())],
            tables: vec![SheetTable::new(
                "Rates",
                &["byte", "rate"],
                (0..ROWS_MAX + 2).map(row).collect(),
            )],
            ..Sheet::default()
        };
        let text = sheet_markdown(&sheet);
        assert!(text.starts_with("## a\\|b &lt;i&gt;\n"), "{text}");
        assert!(
            text.contains("**Faults:** answer\n\n- a\\|fault\n"),
            "{text}"
        );
        assert!(text.contains("| fastest | 1 MiB/s |\n"), "{text}");
        assert!(text.contains("| 0 | x\\|y |\n"), "{text}");
        assert!(text.contains("2 further rows are left out."), "{text}");
        assert!(!text.contains(&format!("| {ROWS_MAX} |")), "{text}");
    }
}
