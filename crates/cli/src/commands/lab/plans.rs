//! `lab plans`: the experiments that are kept.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::document::{print_json, print_text};
use serde::Serialize;
use stripewise_campaign::experiment::kept::Kept;
use stripewise_campaign::steps::layouts::kept::KeptLayouts;
use stripewise_lab::experiment::Ended;
use stripewise_lab::layouts::PassesEnded;
use stripewise_report::{HistoryRow, history_table};
use stripewise_results::SCHEMA_VERSION;

#[derive(Serialize)]
struct Listed<'a> {
    schema_version: u32,
    experiments: &'a [Kept],
    /// Those over layouts.
    layouts: &'a [KeptLayouts],
}

pub fn plans(context: &Context) -> Outcome {
    let (all, layouts) = match context.open_store_if_any()? {
        Some(store) => (Kept::all(&store)?, KeptLayouts::all(&store)?),
        None => (Vec::new(), Vec::new()),
    };
    if context.global.json {
        print_json(&Listed {
            schema_version: SCHEMA_VERSION,
            experiments: &all,
            layouts: &layouts,
        })?;
    } else if all.is_empty() && layouts.is_empty() {
        print_text(
            "No experiment is kept yet; `stripewise align TARGET` or `stripewise lab run PLAN.toml` makes one.\n",
        );
    } else {
        let mut rows: Vec<HistoryRow> = all.iter().map(row).collect();
        rows.extend(layouts.iter().map(row_of_layouts));
        // Ids begin with the time: what was begun last first.
        rows.sort_by(|a, b| b.id.cmp(&a.id));
        print_text(&history_table(&rows));
    }
    Ok(Exit::Done)
}

fn row(kept: &Kept) -> HistoryRow {
    let levels: Vec<&str> = kept
        .plan
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .collect();
    let status = match kept.ended {
        Some(ended) if ended.finished() => "",
        Some(Ended::Interrupted) => "interrupted",
        Some(_) => "broke off",
        None => "unfinished",
    };
    HistoryRow {
        id: kept.id.clone(),
        series: kept.kind.word().to_owned(),
        target: kept.target.clone(),
        what: format!(
            "{} {}, {} blocks",
            kept.plan.factor,
            levels.join("/"),
            kept.blocks
        ),
        iops: None,
        status: status.to_owned(),
        label: kept.label.clone().unwrap_or_default(),
        date: kept.started_at.get(..10).unwrap_or_default().to_owned(),
        ..HistoryRow::default()
    }
}

fn row_of_layouts(kept: &KeptLayouts) -> HistoryRow {
    let factors: Vec<&str> = (kept.plan.set.factors.iter())
        .map(|factor| factor.name.as_str())
        .collect();
    let status = match kept.ended {
        Some(PassesEnded::Interrupted) => "interrupted",
        Some(_) => "",
        None => "unfinished",
    };
    HistoryRow {
        id: kept.id.clone(),
        series: kept.part.clone(),
        target: kept.target.clone(),
        what: format!(
            "{}: {} layouts, {} passes",
            factors.join(" x "),
            kept.plan.set.len(),
            kept.measured.passes.len()
        ),
        iops: None,
        status: status.to_owned(),
        label: kept.label.clone().unwrap_or_default(),
        date: kept.started_at.get(..10).unwrap_or_default().to_owned(),
        ..HistoryRow::default()
    }
}
