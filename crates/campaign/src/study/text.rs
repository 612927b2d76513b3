//! A published study beside what was printed, for people.

use super::document::{StudyDocument, StudyRow, StudyTable};
use std::fmt::Write;
use stripewise_report::wrapped;
use stripewise_units::format_iops;

/// Columns of levels that fit beside each other; more go below each other.
const LEVELS_BESIDE: usize = 2;

/// The tables, then what is not explained.
#[must_use]
pub fn study_text(document: &StudyDocument) -> String {
    let mut text = format!(
        "{} on {}: {}\n",
        document.study, document.target, document.about
    );
    if document.status == "partial" {
        text.push_str("partial: interrupted before its end\n");
    }
    for table in &document.tables {
        text.push('\n');
        if !table.factor.is_empty() {
            // Levels of two factors have a comma of their own.
            let joint = match table.levels.iter().any(|level| level.contains(',')) {
                true => "; ",
                false => ", ",
            };
            let _ = writeln!(text, "{}: {}", table.factor, table.levels.join(joint));
        }
        text.push_str(&table_text(table));
        if let Some(percent) = table.mean_difference_percent {
            let _ = writeln!(
                text,
                "Own rates differ from the published ones by {percent:.1} % on average."
            );
        }
    }
    if !document.unexplained.is_empty() {
        text.push_str("\nWhat the model does not explain:\n");
    }
    for sentence in &document.unexplained {
        text.push_str(&wrapped(sentence, "  "));
    }
    for note in &document.notes {
        text.push_str(&wrapped(note, "  "));
    }
    let _ = writeln!(
        text,
        "\nKept as series {}; `stripewise history` lists its runs.",
        document.id
    );
    text
}

/// How far it is from what was printed, table by table, in one line.
#[must_use]
pub fn study_line(document: &StudyDocument) -> String {
    let means = document.tables.iter().map(|table| {
        let about = match table.factor.as_str() {
            "" => String::new(),
            factor => format!("{factor}: "),
        };
        let percent = table.mean_difference_percent;
        percent.map_or_else(
            || format!("{about}no published rate to compare with"),
            |percent| format!("{about}{percent:.1} % from the published rates on average"),
        )
    });
    let partial = match document.status {
        "partial" => "partial: ",
        _ => "",
    };
    let means = means.collect::<Vec<_>>().join("; ");
    let line = format!(
        "{partial}{} on {}: {means}",
        document.study, document.target
    );
    format!("{line} [{}]", document.id)
}

fn table_text(table: &StudyTable) -> String {
    match table.levels.len() {
        0..=LEVELS_BESIDE => beside(table),
        _ => below(table),
    }
}

fn rate(iops: Option<f64>) -> String {
    iops.map_or_else(|| "-".to_owned(), format_iops)
}

fn signed(percent: Option<f64>) -> String {
    // What rounds to nothing has no sign: adding 0 makes -0 plain.
    let rounded = |percent: f64| (10.0 * percent).round() / 10.0 + 0.0;
    percent.map_or_else(
        || "-".to_owned(),
        |percent| format!("{:+.1} %", rounded(percent)),
    )
}

fn width(table: &StudyTable) -> usize {
    let cells = table.rows.iter().map(|row| row.cell.chars().count());
    cells.max().unwrap_or(0)
}

/// Few levels: a line for each row.
fn beside(table: &StudyTable) -> String {
    let width = width(table);
    let mut text = format!("{:width$}", "");
    for level in &table.levels {
        let _ = write!(text, "  {:>9} {:>9} {:>8}", level, "own", "diff");
    }
    if table.levels.len() > 1 {
        let _ = write!(text, "  {:>9} {:>9}", "gain", "own gain");
    }
    text.push('\n');
    for row in &table.rows {
        let _ = write!(text, "{:width$}", row.cell);
        for one in &row.rates {
            let _ = write!(
                text,
                "  {:>9} {:>9} {:>8}",
                rate(one.published_iops),
                rate(one.own_iops),
                signed(one.difference_percent)
            );
        }
        if table.levels.len() > 1 {
            let _ = write!(
                text,
                "  {:>9} {:>9}",
                signed(row.published_gain_percent),
                signed(row.own_gain_percent)
            );
        }
        text.push('\n');
    }
    text
}

/// Many levels: a line for each level under its row.
fn below(table: &StudyTable) -> String {
    let mut text = String::new();
    for row in &table.rows {
        let _ = writeln!(text, "{}", row.cell);
        text.push_str(&lines(table, row));
    }
    text
}

fn lines(table: &StudyTable, row: &StudyRow) -> String {
    let levels = table.levels.iter().map(|level| level.chars().count());
    let width = levels.max().unwrap_or(0);
    let first = row.rates.first().and_then(|one| one.own_iops);
    let mut text = String::new();
    for (level, one) in table.levels.iter().zip(&row.rates) {
        let over_first = one
            .own_iops
            .zip(first.filter(|first| *first > 0.0))
            .map(|(own, first)| 100.0 * (own / first - 1.0));
        let _ = writeln!(
            text,
            "  {level:width$}  published {:>9}  own {:>9}  diff {:>8}  over the first {:>8}",
            rate(one.published_iops),
            rate(one.own_iops),
            signed(one.difference_percent),
            signed(over_first)
        );
    }
    text
}
