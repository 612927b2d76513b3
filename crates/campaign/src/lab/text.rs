//! Plans and stored experiments as text.

use super::{Forecast, LabForecast, OneFactorForecast, PlansDocument};
use crate::steps::experiment::stored_experiment::StoredExperiment;
use crate::steps::layouts::stored_layouts::StoredLayouts;
use std::fmt::Write;
use stripewise_lab::experiment::Ended;
use stripewise_lab::layouts::PassesEnded;
use stripewise_report::{HistoryRow, Sheet, history_table};
use stripewise_units::{counted, format_bytes, format_duration};

/// The prediction of a plan.
pub fn forecast_text(forecast: &Forecast) -> String {
    let mut text = match forecast {
        Forecast::OneFactor(forecast) => one_factor_text(forecast),
        Forecast::Layouts(forecast) => layouts_text(forecast),
    };
    text.push_str("Nothing was measured; `stripewise lab run` does it.\n");
    text
}

fn one_factor_text(forecast: &OneFactorForecast) -> String {
    let mut text = format!(
        "{} on {}: {}\n",
        forecast.factor,
        forecast.target,
        forecast.levels.join(", ")
    );
    for sentence in &forecast.sentences {
        let _ = writeln!(text, "{sentence}");
    }
    text
}

fn layouts_text(forecast: &LabForecast) -> String {
    let mut text = format!(
        "{} layouts on {}:\n",
        forecast.layouts.len(),
        forecast.target
    );
    let words = |layout: &stripewise_results::LayoutLevels| {
        let each = layout
            .iter()
            .map(|(name, level)| format!("{} {level}", name.replace('-', " ")));
        each.collect::<Vec<_>>().join(", ")
    };
    for layout in &forecast.layouts {
        let _ = writeln!(text, "  {}", words(layout));
    }
    for left in &forecast.left_out {
        let _ = writeln!(text, "  left out: {}: {}", words(&left.layout), left.why);
    }
    text.push_str("Cells:\n");
    for cell in &forecast.cells {
        let _ = writeln!(text, "  {cell}");
    }
    let _ = writeln!(
        text,
        "A pass takes {}; {} passes at least, {} at most: {} to a verdict.",
        format_duration(forecast.pass_ns),
        forecast.passes_min,
        forecast.passes_max,
        format_duration(forecast.verdict_ns)
    );
    let _ = writeln!(
        text,
        "Bytes written to disks: {}.",
        format_bytes(forecast.bytes_written)
    );
    if forecast.destroys.is_empty() {
        text.push_str("Destroyed: nothing.\n");
    } else {
        text.push_str("Destroyed, all data on:\n");
    }
    for line in &forecast.destroys {
        let _ = writeln!(text, "  {line}");
    }
    for note in &forecast.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

/// The stored experiments.
pub fn plans_sheet(stored: &PlansDocument) -> Sheet {
    let mut rows: Vec<HistoryRow> = stored.experiments.iter().map(row).collect();
    rows.extend(stored.layouts.iter().map(row_of_layouts));
    // Ids begin with the time: the most recently begun first.
    rows.sort_by(|a, b| b.id.cmp(&a.id));
    let answer = match rows.is_empty() {
        true => {
            "No experiment is kept yet; `stripewise align TARGET` or `stripewise lab run PLAN.toml` makes one."
        }
        false => "",
    };
    Sheet {
        answer: answer.to_owned(),
        tables: vec![history_table(&rows)],
        ..Sheet::default()
    }
}

fn row(stored: &StoredExperiment) -> HistoryRow {
    let levels: Vec<&str> = stored
        .plan
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .collect();
    let status = match stored.ended {
        Some(ended) if ended.finished() => "",
        Some(Ended::Interrupted) => "interrupted",
        Some(_) => "broke off",
        None => "unfinished",
    };
    HistoryRow {
        id: stored.id.clone(),
        series: stored.kind.word().to_owned(),
        target: stored.target.clone(),
        what: format!(
            "{} {}, {}",
            stored.plan.factor,
            levels.join("/"),
            counted(stored.blocks as usize, "block", "blocks")
        ),
        iops: None,
        status: status.to_owned(),
        label: stored.label.clone().unwrap_or_default(),
        date: stored.started_at.get(..10).unwrap_or_default().to_owned(),
        ..HistoryRow::default()
    }
}

fn row_of_layouts(stored: &StoredLayouts) -> HistoryRow {
    let factors: Vec<&str> = (stored.plan.set.factors.iter())
        .map(|factor| factor.name.as_str())
        .collect();
    let status = match stored.ended {
        Some(PassesEnded::Interrupted) => "interrupted",
        Some(_) => "",
        None => "unfinished",
    };
    HistoryRow {
        id: stored.id.clone(),
        series: stored.part.clone(),
        target: stored.target.clone(),
        what: format!(
            "{}: {} layouts, {} passes",
            factors.join(" x "),
            stored.plan.set.len(),
            stored.measured.passes.len()
        ),
        iops: None,
        status: status.to_owned(),
        label: stored.label.clone().unwrap_or_default(),
        date: stored.started_at.get(..10).unwrap_or_default().to_owned(),
        ..HistoryRow::default()
    }
}
