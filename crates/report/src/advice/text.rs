//! The answer on one screen, and as Markdown.

use super::layout_words;
use crate::number::rate;
use crate::table::{draw, number, words};
use crate::warnings::wrapped;
use std::fmt::Write;
use stripewise_results::{AdviceRecord, LayoutRecord};
use stripewise_units::{counted, format_duration};

/// Layouts that a screen has room for.
const LAYOUTS_SHOWN: usize = 12;

/// The answer: the ranking, what matters (`effects`, in sentences), the choice, what makes
/// it, and what was not tried.
#[must_use]
pub fn advice_text(record: &AdviceRecord, effects: &[String]) -> String {
    let mut text = match (record.layouts.is_empty(), &record.recommendation) {
        (true, Some(_)) => format!("{} (by arithmetic, not measured)\n\n", record.title),
        (true, None) => format!("{}: no answer yet\n\n", record.title),
        (false, _) => ranked(record),
    };
    if !effects.is_empty() {
        text.push_str("What matters:\n");
        for sentence in effects {
            text.push_str(&indented(sentence));
        }
        text.push('\n');
    }
    for sentence in &record.sentences {
        text.push_str(&wrapped(sentence, "  "));
    }
    if !record.commands.is_empty() {
        let unnamed = record
            .commands
            .iter()
            .any(|command| command.line.contains("DISK"));
        let names = if unnamed {
            "; DISK stands for their names"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "\nTo make it (everything on the disks is lost{names}):"
        );
        for command in &record.commands {
            let _ = writeln!(text, "  {:<10} {}", command.place, command.line);
        }
    }
    text.push('\n');
    let shares = shares(record);
    if !shares.is_empty() {
        text.push_str(&wrapped(&shares, "  "));
    }
    for note in &record.notes {
        text.push_str(&wrapped(note, "  "));
    }
    if !record.not_tried.is_empty() {
        text.push_str(&wrapped(
            &format!("Not tried: {}.", record.not_tried.join("; ")),
            "  ",
        ));
    }
    text
}

/// Title and ranking.
fn ranked(record: &AdviceRecord) -> String {
    let mut text = format!(
        "{} ({}, {:.0} % confidence)\n\n",
        record.title,
        counted(record.passes as usize, "pass", "passes"),
        100.0 * record.level
    );
    text.push_str(&ranking(record, LAYOUTS_SHOWN));
    let more = record.layouts.len().saturating_sub(LAYOUTS_SHOWN);
    if more > 0 {
        let _ = writeln!(
            text,
            "  and {} behind them",
            counted(more, "layout", "layouts")
        );
    }
    text.push_str("* among the best, which cannot be told apart; > the present layout\n\n");
    text
}

fn indented(sentence: &str) -> String {
    let lines = wrapped(sentence, "  ");
    lines.lines().map(|line| format!("  {line}\n")).collect()
}

/// The layouts as a table.
fn ranking(record: &AdviceRecord, most: usize) -> String {
    let columns = [
        words(""),
        words("Layout"),
        number("Mix IOPS"),
        number("Interval"),
        number("To the best other"),
        words(""),
    ];
    let row = |layout: &LayoutRecord| {
        let mark = match (layout.among_best, layout.is_present) {
            (true, true) => "*>",
            (true, false) => "*",
            (false, true) => " >",
            (false, false) => "",
        };
        vec![
            mark.to_owned(),
            layout_words(record, &layout.layout),
            rate(layout.score),
            format!("{}-{}", rate(layout.low), rate(layout.high)),
            format!("{:+.1} %", layout.ahead_percent),
            remark(layout),
        ]
    };
    let mut shown: Vec<&LayoutRecord> = record.layouts.iter().take(most).collect();
    // What is there now is always shown.
    let hidden = record
        .layouts
        .iter()
        .skip(most)
        .find(|layout| layout.is_present);
    shown.extend(hidden);
    draw(&columns, &shown.into_iter().map(row).collect::<Vec<_>>())
}

fn remark(layout: &LayoutRecord) -> String {
    match (&layout.breaks, layout.dropped_after) {
        (Some(limit), _) => format!("breaks {limit}"),
        (None, Some(passes)) => format!("dropped after {passes} passes"),
        (None, None) => String::new(),
    }
}

/// What the mix is made of.
fn shares(record: &AdviceRecord) -> String {
    let scored = record.cells.iter().filter(|cell| cell.share_percent > 0.0);
    let each: Vec<String> = scored
        .map(|cell| {
            let assumed = if cell.assumed { ", assumed" } else { "" };
            format!(
                "{} {:.0} % ({}{assumed})",
                cell.name, cell.share_percent, cell.what
            )
        })
        .collect();
    match each.is_empty() {
        true => String::new(),
        false => format!("The mix: {}.", each.join("; ")),
    }
}

/// The same as Markdown, with all layouts and cells.
#[must_use]
pub fn advice_markdown(record: &AdviceRecord, effects: &[String]) -> String {
    let mut text = format!("# {}\n\n", record.title);
    for sentence in &record.sentences {
        let _ = writeln!(text, "{sentence}\n");
    }
    if !record.layouts.is_empty() {
        text.push_str(
            "| Layout | Mix IOPS | Low | High | To the best other | Among the best | |\n",
        );
        text.push_str("|---|--:|--:|--:|--:|---|---|\n");
    }
    for layout in &record.layouts {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:+.1} % | {} | {} |",
            layout_words(record, &layout.layout),
            rate(layout.score),
            rate(layout.low),
            rate(layout.high),
            layout.ahead_percent,
            if layout.among_best { "yes" } else { "no" },
            remark(layout)
        );
    }
    if !effects.is_empty() {
        text.push_str("\n## What matters\n\n");
        for sentence in effects {
            let _ = writeln!(text, "- {sentence}");
        }
    }
    if !record.commands.is_empty() {
        text.push_str("\n## To make it\n\n");
        for command in &record.commands {
            let _ = writeln!(text, "- {}: `{}`", command.place, command.line);
        }
    }
    text.push_str("\n## Cells\n\n| Cell | What | Share | Limit on p99 |\n|---|---|--:|--:|\n");
    for cell in &record.cells {
        let limit = record.limits.iter().find(|limit| limit.cell == cell.name);
        let assumed = if cell.assumed { " (assumed)" } else { "" };
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} %{assumed} | {} |",
            cell.name,
            cell.what,
            cell.share_percent,
            limit.map_or(String::new(), |limit| format_duration(limit.p99_ns))
        );
    }
    text.push_str("\n## Notes\n\n");
    for note in record.notes.iter().chain(&record.not_tried) {
        let _ = writeln!(text, "- {note}");
    }
    text
}
