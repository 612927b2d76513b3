//! A sheet as Markdown: the answer, the findings, then its tables.

use crate::markdown_table::{ROWS_MAX, left_out, safe, table};
use crate::sheet::{Caution, Cell, Sheet, SheetTable};
use std::fmt::Write;

/// The content of the page, for issues and pull requests.
pub fn sheet_markdown(sheet: &Sheet) -> String {
    let mut text = format!("## {}\n\n", safe(&sheet.title));
    let mut paragraph = |words: &str| {
        if !words.is_empty() {
            let _ = write!(text, "{words}\n\n");
        }
    };
    paragraph(&safe(&sheet.subtitle));
    let answer = safe(&sheet.answer);
    paragraph(&match &sheet.verdict {
        Some((_, word)) if answer.is_empty() => format!("**{}**", safe(word)),
        Some((_, word)) => format!("**{}:** {answer}", safe(word)),
        None => answer,
    });
    listed(&mut text, &sheet.details);
    let findings = sheet.findings.iter();
    let findings = findings.map(|(name, value)| vec![name.as_str(), value]);
    let columns = ["found", "value"];
    let findings = SheetTable::new("", columns, findings.collect());
    if !findings.rows.is_empty() {
        sheet_table(&mut text, &findings);
    }
    for one in sheet.tables.iter().filter(|table| !table.rows.is_empty()) {
        if !one.title.is_empty() {
            let _ = writeln!(text, "### {}\n", safe(&one.title));
        }
        sheet_table(&mut text, one);
    }
    if !sheet.cautions.is_empty() {
        text.push_str("### Read with care\n\n");
    }
    let cautions: Vec<String> = sheet.cautions.iter().map(Caution::line).collect();
    listed(&mut text, &cautions);
    listed(&mut text, &sheet.notes);
    let _ = writeln!(text, "{}", safe(&sheet.foot));
    text
}

fn listed(text: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(text, "- {}", safe(line));
    }
    if !lines.is_empty() {
        text.push('\n');
    }
}

/// One table; empty columns are left out.
pub(crate) fn sheet_table(text: &mut String, one: &SheetTable) {
    let shown = &one.rows[..one.rows.len().min(ROWS_MAX)];
    let used = one.used_columns();
    let heading = |&index: &usize| {
        let column = one.columns.get(index);
        column.map_or_else(String::new, |column| column.heading.clone())
    };
    let headings: Vec<String> = used.iter().map(heading).collect();
    let numbers: Vec<bool> = used.iter().map(|&index| one.is_number(index)).collect();
    let row = |row: &Vec<Cell>| {
        let cells = used.iter().map(|&index| row.get(index));
        cells
            .map(|cell| cell.map_or_else(String::new, |cell| cell.text.clone()))
            .collect()
    };
    let rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    table(text, &headings, &numbers, &rows);
    if !one.note.is_empty() {
        let _ = writeln!(text, "{}\n", safe(&one.note));
    }
    left_out(text, one.rows.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Judgement;

    #[test]
    fn names_stay_text_and_long_tables_are_cut() {
        let row = |number: usize| vec![number.to_string(), "x|y".to_owned()];
        let sheet = Sheet {
            title: "a|b <i>".to_owned(),
            verdict: Some((Judgement::Bad, "Faults".to_owned())),
            answer: "answer".to_owned(),
            details: vec!["a|fault".to_owned()],
            findings: vec![("fastest".to_owned(), "1 MiB/s".to_owned())],
            tables: vec![SheetTable::new(
                "Rates",
                ["byte", "rate"],
                (0..ROWS_MAX + 2).map(row).collect(),
            )],
            ..Sheet::default()
        };
        let text = sheet_markdown(&sheet);
        assert!(text.starts_with("## a\\|b &lt;i>\n"), "{text}");
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
