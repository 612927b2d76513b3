//! Plans and reports of `partition` and `format` as text.

use std::path::Path;
use stripewise_disk_inspect::storage::Use;
use stripewise_disk_inspect::verdict::{CheckOutcome, Judgement, LayoutVerdict};
use stripewise_disk_provision::{
    DeviceFacts, FormatPlan, FormatReport, Present, PresentPartition, TablePlan, TableReport,
};
use stripewise_report::Heading;
use stripewise_units::{ByteSize, NameText, format_bytes, format_count};

/// Width of the labels in front of lines, where wrapped lines continue.
pub const HANGING: usize = 14;

/// A line with a label in front, not wrapped.
fn line(word: &str, text: &str) -> String {
    match word.len() < HANGING - 2 {
        true => format!("  {word:<12}{text}\n"),
        false => format!("  {word} {text}\n"),
    }
}

/// A number of bytes, exact and rounded.
fn exact(bytes: u64) -> String {
    format!("{} bytes ({})", format_count(bytes), format_bytes(bytes))
}

/// What would be done. With `at_once`, the verdict follows only after reading back.
pub fn table_plan(plan: &TablePlan, save: &Path, at_once: bool, heading: Heading<'_>) -> String {
    let mut text = head(
        &plan.device,
        &plan.present,
        &plan.uses,
        plan.in_the_way.as_deref(),
        plan.unseen.as_deref(),
        heading,
    );
    match (&plan.layout, &plan.restored_from) {
        (Some(layout), _) => {
            let sector = u64::from(plan.device.logical_sector_bytes);
            text.push_str(&line(
                "would be",
                &format!("{} with one partition:", layout.table.name()),
            ));
            text.push_str(&line(
                "offset",
                &format!(
                    "{}, sector {}",
                    exact(layout.start_bytes),
                    format_count(layout.start_bytes / sector)
                ),
            ));
            text.push_str(&line("size", &exact(layout.size_bytes)));
        }
        (None, from) => {
            let name = from.as_ref().map_or("", |from| from.name.as_str());
            text.push_str(&line(
                "would be",
                &format!("the table that was saved from {name}:"),
            ));
            if plan.partitions.is_empty() {
                text.push_str(&line("", "no partitions"));
            }
            for one in &plan.partitions {
                text.push_str(&line("", &partition(one)));
            }
        }
    }
    if let Some(judgement) = plan.judgement.as_ref().filter(|_| !at_once) {
        text.push_str(&verdict(judgement));
    }
    for note in &plan.notes {
        text.push_str(&line("note", note));
    }
    text.push_str(&line(
        "first",
        &format!("what is written over is saved to {}", save.as_text()),
    ));
    for (index, write) in plan.writes.iter().enumerate() {
        let word = if index == 0 { "then" } else { "" };
        text.push_str(&line(
            word,
            &format!(
                "{} at byte {}, {}",
                write.what,
                format_count(write.offset_bytes),
                format_bytes(write.length_bytes)
            ),
        ));
    }
    text
}

/// The result, as read back.
pub fn table_report(plan: &TablePlan, report: &TableReport) -> String {
    let mut text = String::new();
    match plan.layout {
        Some(layout) => text.push_str(&format!(
            "New {} on {}, read back after writing; {}.\n",
            layout.table.name(),
            report.device.path.as_text(),
            report.shown
        )),
        None => text.push_str(&format!(
            "Restored the saved table of {} and read it back; {}.\n",
            report.device.path.as_text(),
            report.shown
        )),
    }
    for one in &report.partitions {
        text.push_str(&line(
            &one.name,
            &format!(
                "offset {}, size {}",
                exact(one.start_bytes),
                exact(one.size_bytes)
            ),
        ));
    }
    if let Some(judgement) = &report.judgement {
        text.push_str(&verdict(judgement));
    }
    if let Some(saved) = &report.saved {
        text.push_str(&line("old table", &format!("saved to {}", saved.as_text())));
    }
    text
}

/// The command that restores the old table, for copying.
pub fn undo_hint(report: &TableReport) -> Option<String> {
    let saved = report.saved.as_ref()?.as_text();
    let (path, name) = (report.device.path.as_text(), &report.device.name);
    Some(format!(
        "To go back: stripewise partition {path} --restore {saved} --yes --destroy {name}\n"
    ))
}

/// The same for a file system.
pub fn format_plan(plan: &FormatPlan, at_once: bool, heading: Heading<'_>) -> String {
    let mut text = head(
        &plan.device,
        &plan.present,
        &plan.uses,
        plan.in_the_way.as_deref(),
        plan.unseen.as_deref(),
        heading,
    );
    text.push_str(&line("would be", &file_system(plan)));
    text.push_str(&line(
        "offset",
        &format!("{} on {}", exact(plan.offset_bytes), plan.offset_disk),
    ));
    if !at_once {
        text.push_str(&verdict(&plan.judgement));
    }
    for note in &plan.notes {
        text.push_str(&line("note", note));
    }
    text.push_str(&line("command", &plan.command_line()));
    text
}

/// The same for a file system.
pub fn format_report(report: &FormatReport) -> String {
    let unit = report
        .allocation_unit_bytes
        .map_or_else(|| "unknown".to_owned(), exact);
    let mut text = format!(
        "Made {} on {} and read its superblock back.\n",
        report.file_system.name(),
        report.device.path.as_text()
    );
    text.push_str(&line("unit", &unit));
    if let (Some(stripe), Some(width)) = (report.stripe_unit_bytes, report.stripe_width_bytes) {
        text.push_str(&line(
            "stripe",
            &format!(
                "unit {}, width {}",
                format_bytes(stripe),
                format_bytes(width)
            ),
        ));
    }
    text.push_str(&line(
        "offset",
        &format!("{} on {}", exact(report.offset_bytes), report.offset_disk),
    ));
    if let Some(uuid) = &report.uuid {
        text.push_str(&line("uuid", uuid));
    }
    text.push_str(&verdict(&report.judgement));
    text
}

/// The beginning of every plan: the device, its present content, its users, and obstacles
/// to writing to it.
fn head(
    device: &DeviceFacts,
    present: &Present,
    uses: &[Use],
    in_the_way: Option<&str>,
    unseen: Option<&str>,
    heading: Heading<'_>,
) -> String {
    let mut text = device_line(device, heading);
    text.push_str(&now(present));
    for one in uses {
        text.push_str(&line("in use", &one.to_string()));
    }
    for (word, reason) in [("in the way", in_the_way), ("unseen", unseen)] {
        if let Some(reason) = reason {
            text.push_str(&line(word, reason));
        }
    }
    text
}

fn device_line(device: &DeviceFacts, heading: Heading<'_>) -> String {
    let mut facts = vec![format!("Plan for {}", device.path.as_text())];
    facts.extend(device.model.clone());
    facts.extend(
        device
            .serial
            .as_ref()
            .map(|serial| format!("serial {serial}")),
    );
    facts.push(exact(device.size_bytes));
    facts.push(format!(
        "sectors {}/{}",
        device.logical_sector_bytes, device.physical_sector_bytes
    ));
    format!("{}\n", heading(&facts.join(", ")))
}

/// The present content.
fn now(present: &Present) -> String {
    let mut text = String::new();
    if present.is_empty() {
        text.push_str(&line("now", "nothing known: no table, no file system"));
    }
    if let Some(table) = &present.table {
        let id = present.table_id.as_ref().map(|id| format!(", id {id}"));
        text.push_str(&line(
            "now",
            &format!("partition table {table}{}", id.unwrap_or_default()),
        ));
    }
    for one in &present.partitions {
        text.push_str(&line("lost", &partition(one)));
    }
    for what in &present.holds {
        text.push_str(&line("lost", &format!("{what} on the whole of it")));
    }
    for problem in &present.problems {
        text.push_str(&line("odd", problem));
    }
    text
}

fn partition(one: &PresentPartition) -> String {
    let holds = one.holds.as_ref().map(|what| format!(", {what}"));
    format!(
        "partition {} ({}) at byte {}, {}{}",
        one.number,
        one.type_name,
        format_count(one.start_bytes),
        format_bytes(one.size_bytes),
        holds.unwrap_or_default()
    )
}

fn file_system(plan: &FormatPlan) -> String {
    let stripe = plan.stripe.map(|stripe| {
        format!(
            ", made for stripe units of {} on {} data disks",
            format_bytes(stripe.unit_bytes),
            stripe.data_disks
        )
    });
    format!(
        "{} with an allocation unit of {}{}",
        plan.file_system.name(),
        exact(plan.allocation_unit_bytes),
        stripe.unwrap_or_default()
    )
}

/// The verdict, its basis, and its cost.
fn verdict(judgement: &Judgement) -> String {
    let words = match judgement.verdict {
        LayoutVerdict::SectorSplit => "sector-split: starts inside a physical sector".to_owned(),
        LayoutVerdict::SplitsAbove(above) => {
            format!(
                "splits above {}: larger operations cross stripe units",
                ByteSize(above)
            )
        }
        LayoutVerdict::Aligned => "aligned".to_owned(),
        LayoutVerdict::NotStriped => "not striped".to_owned(),
        LayoutVerdict::Suspect(suits) => format!(
            "suspect: the layers below are not known, and only units up to {} suit this offset",
            ByteSize(suits)
        ),
        LayoutVerdict::UnknownStripeUnit(Some(suits)) => {
            format!("unknown stripe unit: any up to {} suits", ByteSize(suits))
        }
        LayoutVerdict::UnknownStripeUnit(None) => "unknown stripe unit".to_owned(),
    };
    let mut text = line("verdict", &words);
    for check in &judgement.checks {
        let mark = match check.result {
            CheckOutcome::Finding | CheckOutcome::Warning => "! ",
            CheckOutcome::Good | CheckOutcome::Information => "",
        };
        text.push_str(&line("", &format!("{mark}{}", check.text)));
    }
    for cost in &judgement.costs {
        text.push_str(&line("", &cost.words()));
    }
    text
}
