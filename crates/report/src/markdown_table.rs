//! Tables and safe text in Markdown.

use std::fmt::Write;
use stripewise_units::{acts, format_count, shown_instead};

/// Rows that somebody may scroll past.
pub(crate) const ROWS_MAX: usize = 100;

/// `numbers` tells of each column whether it holds numbers.
pub(crate) fn table(
    text: &mut String,
    headings: &[String],
    numbers: &[bool],
    rows: &[Vec<String>],
) {
    // Columns in which nothing stands are left out.
    let used: Vec<usize> = (0..headings.len())
        .filter(|&index| rows.iter().any(|row| !row[index].is_empty()))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(
        used.iter().map(|&index| safe(&headings[index])).collect(),
    ));
    let rule = |&index: &usize| if numbers[index] { "---:" } else { "---" };
    text.push_str(&line(
        used.iter().map(|index| rule(index).to_owned()).collect(),
    ));
    for row in rows {
        text.push_str(&line(used.iter().map(|&index| safe(&row[index])).collect()));
    }
    text.push('\n');
}

pub(crate) fn left_out(text: &mut String, rows: usize) {
    if rows > ROWS_MAX {
        let _ = writeln!(
            text,
            "{} further rows are left out.\n",
            format_count((rows - ROWS_MAX) as u64)
        );
    }
}

/// Text that stays text: on one line, without the letters that Markdown and HTML
/// take for marks.
pub(crate) fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.replace(['\n', '\r', '\t'], " ").chars() {
        match letter {
            letter if acts(letter) => safe.push_str(&shown_instead(letter)),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '@' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}
