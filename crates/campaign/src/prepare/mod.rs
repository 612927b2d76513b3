//! `prepare`: makes a test file that is kept.

use serde::Serialize;
use std::path::PathBuf;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::targets;
use stripewise_results::SCHEMA_VERSION;
use stripewise_targets::{Intent, Size, TargetName};
use stripewise_units::NameText;
use stripewise_workload::DataPattern;

/// The requested file.
#[derive(Clone, Debug)]
pub struct PrepareOptions {
    /// Its path, which must not exist.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// Pattern of its data.
    pub data: DataPattern,
    /// Seed of that data.
    pub seed: u64,
    /// Allow a directory that looks like a live database.
    pub busy_ok: bool,
}

/// The file that was made.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct PrepareDocument {
    schema_version: u32,
    /// Where it is.
    pub path: String,
    /// How large it is.
    pub size_bytes: u64,
    /// The id in its mark; absent where the file system keeps none.
    pub id: Option<String>,
}

/// Makes a test file that is kept.
///
/// # Errors
/// If it cannot be made because of safety rules or lack of space.
pub fn prepare(context: &Context, options: &PrepareOptions) -> Outcome<PrepareDocument> {
    let only_files = || {
        Failure::usage(
            "only a file can be prepared",
            "name a path that does not exist yet",
        )
    };
    let name: TargetName = options.path.as_text().parse()?;
    if !matches!(name, TargetName::Path(_)) {
        return Err(only_files());
    }
    let intent = Intent {
        reads: false,
        writes: false,
        size: Size::Exactly(options.size_bytes),
        keep: true,
        create: true,
        busy_ok: options.busy_ok,
        data: options.data,
        seed: options.seed,
        ..Intent::default()
    };
    let mut store = context.open_store()?;
    let opened = targets::prepare(context, &mut store, &name, &intent)?;
    let Some(target) = opened.real() else {
        return Err(only_files());
    };
    let document = PrepareDocument {
        schema_version: SCHEMA_VERSION,
        path: options.path.as_text(),
        size_bytes: target.size_bytes(),
        id: target.made_file().map(|made| made.id.clone()),
    };
    opened.finish()?;
    Ok(document)
}
