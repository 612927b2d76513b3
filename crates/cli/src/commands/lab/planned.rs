//! `lab plan`: what a plan would do, and nothing else.

use super::run::{named, plan_of, read};
use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::document::{print_json, print_text};
use crate::switches::align::ExperimentArguments;
use crate::switches::lab::LabPlanned;
use serde::Serialize;
use std::fmt::Write;
use stripewise_campaign::experiment::start::plan_failure;
use stripewise_campaign::lab::{LabForecast, forecast};
use stripewise_lab::experiment::needs;
use stripewise_lab::plan_file::{LabFile, LabPlan, OFFSET_FACTOR};
use stripewise_report::wrapped;
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::{format_bytes, format_duration};

/// What a plan with one factor would do.
#[derive(Serialize)]
struct OneFactor {
    schema_version: u32,
    target: String,
    factor: String,
    levels: Vec<String>,
    cells: Vec<String>,
    /// Nanoseconds until a verdict is possible.
    verdict_ns: u64,
    sentences: Vec<String>,
}

pub fn planned(context: &Context, arguments: &LabPlanned) -> Outcome {
    match read(context, &arguments.plan)? {
        LabFile::Several(file) => {
            let store = context.open_store()?;
            let forecast = forecast(context, &store, &file)?;
            match context.global.json {
                true => print_json(&forecast)?,
                false => print_text(&text(&forecast)),
            }
        }
        LabFile::One(file) => one(context, &file)?,
    }
    Ok(Exit::Done)
}

fn one(context: &Context, file: &LabPlan) -> Outcome<()> {
    let mut plan = plan_of(&ExperimentArguments::default(), file);
    if file.factor == OFFSET_FACTOR {
        plan.levels = named(&file.offsets_bytes);
    } else {
        plan.check().map_err(plan_failure)?;
    }
    let needs = needs(&plan, 0);
    let planned = OneFactor {
        schema_version: SCHEMA_VERSION,
        target: file.target.clone(),
        factor: plan.factor.clone(),
        levels: plan.levels.iter().map(|level| level.name.clone()).collect(),
        cells: plan.cells.iter().map(|cell| cell.name.clone()).collect(),
        verdict_ns: needs.verdict_ns,
        sentences: needs.sentences,
    };
    if context.global.json {
        return print_json(&planned);
    }
    let mut text = format!(
        "{} on {}: {}\n",
        planned.factor,
        planned.target,
        planned.levels.join(", ")
    );
    for sentence in &planned.sentences {
        text.push_str(&wrapped(sentence, "  "));
    }
    text.push_str("Nothing was measured; `stripewise lab run` does it.\n");
    print_text(&text);
    Ok(())
}

fn text(forecast: &LabForecast) -> String {
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
    let destroyed = match forecast.destroys.is_empty() {
        true => "nothing".to_owned(),
        false => forecast.destroys.join(", "),
    };
    let _ = writeln!(text, "Destroyed: {destroyed}.");
    for note in &forecast.notes {
        text.push_str(&wrapped(note, "  "));
    }
    text.push_str("Nothing was measured; `stripewise lab run` does it.\n");
    text
}
