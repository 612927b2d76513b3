//! `lab`: predicts or carries out experiments of plan files: one factor in
//! randomised blocks, or several in passes over layouts, on simulated arrays or made on
//! real devices.

mod devices;
mod layouts;
mod one_factor;
mod text;

pub use layouts::LabForecast;
pub use one_factor::OneFactorForecast;
pub use text::{forecast_text, plans_sheet};

use crate::steps::experiment::start::ExperimentOptions;
use crate::steps::experiment::stored_experiment::StoredExperiment;
use crate::steps::layouts::stored_layouts::StoredLayouts;
use crate::steps::sessions::LabSession;
use serde::Serialize;
use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{PLAN_BYTES_MAX, read_text};
use stripewise_conductor::permissions::Permissions;
use stripewise_lab::plan_file::LabFile;
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::NameText;

/// What a plan would do.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Forecast {
    /// Of one factor.
    OneFactor(OneFactorForecast),
    /// Of several.
    Layouts(Box<LabForecast>),
}

/// The plan of a file.
///
/// # Errors
/// If it cannot be read, or is not a plan.
pub fn read(context: &Context, path: &Path) -> Outcome<LabFile> {
    let hint = "`stripewise lab init FILE.toml` writes one to start from";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    text.parse()
        .map_err(|error: stripewise_workload::PlanError| {
            Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
        })
}

/// Predicts what the plan would do; measures nothing except, on simulated arrays, how long runs
/// must be.
pub fn forecast(context: &Context, file: &LabFile) -> Outcome<Forecast> {
    match file {
        LabFile::One(file) => one_factor::forecast(file).map(Forecast::OneFactor),
        LabFile::Several(file) => {
            let store = context.open_store()?;
            let forecast = layouts::forecast(context, &store, file)?;
            Ok(Forecast::Layouts(Box::new(forecast)))
        }
    }
}

/// Carries out the plan; `options` override it.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn run(
    context: &Context,
    file: LabFile,
    options: &ExperimentOptions,
    permissions: &Permissions,
) -> Outcome<LabSession> {
    match file {
        LabFile::One(file) => {
            one_factor::run(context, &file, options, permissions).map(LabSession::from)
        }
        LabFile::Several(file) => {
            layouts::run(context, *file, options, permissions).map(LabSession::from)
        }
    }
}

/// The stored experiments.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PlansDocument {
    /// Version of the document.
    pub schema_version: u32,
    /// Those with one factor.
    pub experiments: Vec<StoredExperiment>,
    /// Those over layouts.
    pub layouts: Vec<StoredLayouts>,
}

/// All of them, most recently used first.
pub fn plans(context: &Context) -> Outcome<PlansDocument> {
    let store = context.open_store_if_any()?;
    let (experiments, layouts) = match &store {
        Some(store) => (StoredExperiment::all(store)?, StoredLayouts::all(store)?),
        None => (Vec::new(), Vec::new()),
    };
    Ok(PlansDocument {
        schema_version: SCHEMA_VERSION,
        experiments,
        layouts,
    })
}
