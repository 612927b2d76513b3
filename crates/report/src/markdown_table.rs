//! Tables and escaped text in Markdown.

use std::fmt::Write;
use stripewise_units::{acts, format_count, shown_instead};

/// Maximum number of rows that readers may scroll past.
pub(crate) const ROWS_MAX: usize = 100;

/// `numbers` marks the numeric columns.
pub(crate) fn table(
    text: &mut String,
    headings: &[String],
    numbers: &[bool],
    rows: &[Vec<String>],
) {
    // Leave out empty columns.
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

/// Escapes text to one line, without characters that Markdown and HTML
/// interpret. Characters without a meaning at their position stay legible in a mail: `p99 < 5 ms`.
pub(crate) fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let text = text.replace(['\n', '\r', '\t'], " ");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek();
        let opens = next.is_none_or(|next| !" =.0123456789".contains(*next));
        match letter {
            letter if acts(letter) => safe.push_str(&shown_instead(letter)),
            '<' if opens => safe.push_str("&lt;"),
            '>' if safe.trim_start().is_empty() => safe.push_str("&gt;"),
            '&' if opens => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '@' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn only_what_markdown_takes_for_a_mark_is_changed() {
        for (text, expected) in [
            ("p99 < 5 ms, n<10,000, iops>=20000, a -> b", ""),
            ("<0.1 % of vda; reads & writes", ""),
            ("<b>, </b>, <!--, <?", "&lt;b>, &lt;/b>, &lt;!--, &lt;?"),
            ("&lt;b>", "&amp;lt;b>"),
            ("> quoted", "&gt; quoted"),
            ("`top` [x](y) a|b", "\\`top\\` \\[x\\](y) a\\|b"),
        ] {
            let expected = if expected.is_empty() { text } else { expected };
            assert_eq!(safe(text), expected);
        }
    }
}
