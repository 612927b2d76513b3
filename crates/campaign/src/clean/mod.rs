//! `lab clean`: removes what Stripewise made and kept, and nothing else. By default, it only
//! reports what it would do.

mod text;

pub use text::cleaned_text;

use crate::steps::experiment::stored_experiment::{self, StoredExperiment};
use crate::steps::layouts::real::clean::{LeftLayout, clean_layouts};
use crate::steps::layouts::real::devices::MayDestroy;
use crate::steps::layouts::stored_layouts::{self, StoredLayouts};
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_results::SCHEMA_VERSION;
use stripewise_store::Store;
use stripewise_targets::{ErrorKind, MadeFile, PlanContext};
use stripewise_units::path_of;

/// What was removed, or would be.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Cleaned {
    /// Version of the document.
    pub schema_version: u32,
    /// It was done.
    pub done: bool,
    /// Test files that were kept.
    pub files: Vec<CleanedFile>,
    /// Layouts that a killed process or a power cut left on devices.
    pub layouts: Vec<LeftLayout>,
    /// Experiments that were named.
    pub experiments: Vec<CleanedExperiment>,
    /// The first failure: everything else was done nevertheless.
    #[serde(skip)]
    pub failure: Option<Failure>,
}

/// A test file.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct CleanedFile {
    /// Where it is.
    pub path: String,
    /// Its bytes.
    pub size_bytes: u64,
    /// It was not there any more; only its entry in the store went.
    pub gone_before: bool,
    /// Why it is not removed; absent where nothing is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// An experiment with its runs.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct CleanedExperiment {
    /// Its id.
    pub id: String,
    /// Its runs.
    pub runs: usize,
}

/// Removes the experiments of these ids with their runs; without ids, the test
/// files that were kept, and layouts left on devices, which require permission.
/// Without `yes`, nothing is removed.
///
/// # Errors
/// If there is no store, or an id is not known.
pub fn clean(
    context: &Context,
    ids: &[String],
    yes: bool,
    permissions: &Permissions,
) -> Outcome<Cleaned> {
    let mut cleaned = Cleaned {
        schema_version: SCHEMA_VERSION,
        done: yes,
        ..Cleaned::default()
    };
    if ids.is_empty() && context.open_store_if_any()?.is_none() {
        return Ok(cleaned);
    }
    let mut store = context.open_store_there()?;
    let outcome = match ids {
        [] => {
            let files = files(context, &mut store, yes, &mut cleaned);
            let may = yes.then(|| MayDestroy::of(permissions));
            // Try each, even if the other fails.
            let layouts = layouts(context, &mut store, may.as_ref(), &mut cleaned);
            files.and(layouts)
        }
        ids => experiments(context, &mut store, ids, yes, &mut cleaned),
    };
    // Report what was removed before a failure, then the failure.
    cleaned.failure = outcome.err();
    Ok(cleaned)
}

/// Layouts left on devices.
fn layouts(
    context: &Context,
    store: &mut Store,
    may: Option<&MayDestroy>,
    cleaned: &mut Cleaned,
) -> Outcome<()> {
    let (left, failure) = clean_layouts(context, store, may)?;
    cleaned.layouts = left;
    failure.map_or(Ok(()), Err)
}

fn experiments(
    context: &Context,
    store: &mut Store,
    ids: &[String],
    yes: bool,
    cleaned: &mut Cleaned,
) -> Outcome<()> {
    let mut stored: Vec<StoredExperiment> = Vec::new();
    let mut layouts: Vec<StoredLayouts> = Vec::new();
    for id in ids {
        match StoredLayouts::load(store, id)? {
            Some(found) => layouts.push(found),
            None => stored.push(StoredExperiment::load(store, id)?),
        }
    }
    let layouts = layouts
        .into_iter()
        .map(|one| (stored_layouts::KIND, one.id));
    let stored = stored
        .into_iter()
        .map(|one| (stored_experiment::KIND, one.id));
    for (kind, id) in layouts.chain(stored) {
        let runs = context.series_run_ids(store, &id)?;
        if yes {
            store.delete(&runs)?;
            store.forget_document(kind, &id)?;
        }
        cleaned.experiments.push(CleanedExperiment {
            id,
            runs: runs.len(),
        });
    }
    Ok(())
}

/// Test files that were kept. The first failure to remove one is reported after the
/// others were tried.
fn files(context: &Context, store: &mut Store, yes: bool, cleaned: &mut Cleaned) -> Outcome<()> {
    let known = store.files()?;
    let store_path = context.store_path()?;
    let mut first_failure: Option<Failure> = None;
    for file in &known {
        let is_known = |other: &MadeFile| {
            known
                .iter()
                .map(made)
                .any(|known| known.is_same_file(other))
        };
        let knowledge = PlanContext {
            is_known: &is_known,
            store: Some(&store_path),
            ..PlanContext::none()
        };
        let path = &*path_of(&file.path);
        let mut gone_before = stripewise_targets::kept_file_is_gone(path, file.device);
        let mut refused = None;
        if !gone_before {
            // The dry run checks like the real one, and stops before removing.
            let judged = match yes {
                true => stripewise_targets::remove_kept_file(path, &knowledge),
                false => stripewise_targets::judge_kept_file(path, &knowledge),
            };
            match judged {
                Ok(()) => {}
                Err(error)
                    if error.kind == ErrorKind::NotFound
                        && stripewise_targets::kept_file_is_gone(path, file.device) =>
                {
                    gone_before = true;
                }
                Err(error) => {
                    refused = Some(error.to_string());
                    first_failure.get_or_insert(Failure::from(error));
                }
            }
        }
        if yes && refused.is_none() {
            store.forget_file(&file.id)?;
        }
        cleaned.files.push(CleanedFile {
            path: file.path.clone(),
            size_bytes: file.size_bytes,
            gone_before,
            refused,
        });
    }
    first_failure.map_or(Ok(()), Err)
}

/// A file of the store in the type that the rules of targets compare.
fn made(file: &stripewise_store::MadeFile) -> MadeFile {
    MadeFile {
        device: file.device,
        inode: file.inode,
        birth_time_ns: file.birth_ns,
        id: file.id.clone(),
        size_bytes: file.size_bytes,
    }
}
