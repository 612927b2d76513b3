//! `convert`: another tool's workload as a plan.

use crate::steps::sqlio_drives::Drives;
use serde::Serialize;
use std::path::Path;
use stripewise_compat::convert::{Surroundings, Tool, convert as to_plan};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{PLAN_BYTES_MAX, read};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::NameText;

const UNREADABLE: &str = "check the name, and the permission to read it";

/// A converted workload.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ConvertDocument {
    schema_version: u32,
    from: String,
    source: String,
    /// The text of the plan.
    pub plan: String,
    /// What it cannot carry.
    pub notes: Vec<String>,
}

/// Reads a workload of another tool; `drives` maps its drive letters to targets.
///
/// # Errors
/// If it cannot be read, or is not in that tool's format.
pub fn convert(
    context: &Context,
    from: Tool,
    path: &Path,
    drives: &Drives,
) -> Outcome<ConvertDocument> {
    let bytes = read(context, path, PLAN_BYTES_MAX, UNREADABLE)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let parameter_file = |name: &str| {
        let of = |path: &Path| read(context, path, PLAN_BYTES_MAX, UNREADABLE);
        of(&folder.join(name.replace('\\', "/")))
            .or_else(|_| of(&drives.text_file(name)))
            .ok()
    };
    let target = |name: &str| {
        let name = match name.strip_prefix('#') {
            Some(number) => format!("{number}:"),
            None => name.to_owned(),
        };
        let raw = name.ends_with(':');
        drives.named(&name, raw).ok().map(|place| place.text())
    };
    let surroundings = Surroundings {
        parameter_file: &parameter_file,
        target: &target,
    };
    let source = path.as_text();
    let converted = to_plan(from, &bytes, &source, &surroundings)
        .map_err(|error| Failure::usage(error.to_string(), error.hint()))?;
    Ok(ConvertDocument {
        schema_version: SCHEMA_VERSION,
        from: from.to_string(),
        source,
        notes: converted.notes.iter().map(ToString::to_string).collect(),
        plan: converted.plan,
    })
}
