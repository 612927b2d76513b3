//! `lab clean`: what Stripewise made and kept, and nothing else. Without `--yes`
//! it only says what it would do.

use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::document::{print_json, print_text};
use crate::switches::lab::LabClean;
use serde::Serialize;
use stripewise_campaign::experiment::kept::Kept;
use stripewise_campaign::steps::layouts::kept::KeptLayouts;
use stripewise_campaign::steps::targets::target_failure;
use stripewise_results::SCHEMA_VERSION;
use stripewise_store::Store;
use stripewise_targets::{ErrorKind, Knowledge, MadeFile};
use stripewise_units::{format_bytes, path_of};

/// What was done, or would be.
#[derive(Default, Serialize)]
struct Cleaned {
    schema_version: u32,
    done: bool,
    files: Vec<CleanedFile>,
    experiments: Vec<CleanedExperiment>,
}

#[derive(Serialize)]
struct CleanedFile {
    path: String,
    size_bytes: u64,
    /// It was not there any more; only its entry in the store went.
    gone_before: bool,
    /// Why it is not removed; absent where nothing is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(Serialize)]
struct CleanedExperiment {
    id: String,
    runs: usize,
}

pub fn clean(context: &Context, arguments: &LabClean) -> Outcome {
    if arguments.ids.is_empty() && context.open_store_if_any()?.is_none() {
        let nothing = Cleaned {
            schema_version: SCHEMA_VERSION,
            done: arguments.yes,
            ..Cleaned::default()
        };
        return print(context, &nothing, arguments).map(|()| Exit::Done);
    }
    let mut store = context.open_store_there()?;
    let mut cleaned = Cleaned {
        schema_version: SCHEMA_VERSION,
        done: arguments.yes,
        ..Cleaned::default()
    };
    let outcome = if arguments.ids.is_empty() {
        files(context, &mut store, arguments.yes, &mut cleaned)
    } else {
        experiments(context, &mut store, arguments, &mut cleaned)
    };
    print(context, &cleaned, arguments)?;
    // What was removed before a failure is told; then the failure.
    outcome.map(|()| Exit::Done)
}

fn print(context: &Context, cleaned: &Cleaned, arguments: &LabClean) -> Outcome<()> {
    if context.global.json {
        return print_json(cleaned);
    }
    print_text(&text(cleaned, arguments));
    Ok(())
}

fn experiments(
    context: &Context,
    store: &mut Store,
    arguments: &LabClean,
    cleaned: &mut Cleaned,
) -> Outcome<()> {
    let mut kept: Vec<Kept> = Vec::new();
    let mut layouts: Vec<KeptLayouts> = Vec::new();
    for id in &arguments.ids {
        match KeptLayouts::load(store, id)? {
            Some(found) => layouts.push(found),
            None => kept.push(Kept::load(store, id)?),
        }
    }
    for experiment in layouts {
        let runs = experiment.run_ids(context, store)?;
        if arguments.yes {
            store.delete(&runs).map_err(store_failure)?;
            experiment.forget(store)?;
        }
        cleaned.experiments.push(CleanedExperiment {
            id: experiment.id,
            runs: runs.len(),
        });
    }
    for experiment in kept {
        let runs = experiment.run_ids(context, store)?;
        if arguments.yes {
            store.delete(&runs).map_err(store_failure)?;
            experiment.forget(store)?;
        }
        cleaned.experiments.push(CleanedExperiment {
            id: experiment.id,
            runs: runs.len(),
        });
    }
    Ok(())
}

/// Test files that were kept. The first that cannot be removed is told after the
/// others were.
fn files(context: &Context, store: &mut Store, yes: bool, cleaned: &mut Cleaned) -> Outcome<()> {
    let known = store.files().map_err(store_failure)?;
    let store_path = context.store_path()?;
    let mut first_failure: Option<Failure> = None;
    for file in &known {
        let is_known = |other: &MadeFile| {
            known
                .iter()
                .map(made)
                .any(|known| known.is_same_file(other))
        };
        let knowledge = Knowledge {
            is_known: &is_known,
            store: Some(&store_path),
        };
        let path = &*path_of(&file.path);
        let mut gone_before = stripewise_targets::kept_is_gone(path, file.device);
        let mut refused = None;
        if !gone_before {
            // The dry run judges as the real one does, and stops before removing.
            let judged = match yes {
                true => stripewise_targets::remove_kept(path, &knowledge),
                false => stripewise_targets::judge_kept(path, &knowledge),
            };
            match judged {
                Ok(()) => {}
                Err(error)
                    if error.kind == ErrorKind::NotFound
                        && stripewise_targets::kept_is_gone(path, file.device) =>
                {
                    gone_before = true;
                }
                Err(error) => {
                    refused = Some(error.to_string());
                    first_failure.get_or_insert(target_failure(error));
                }
            }
        }
        if yes && refused.is_none() {
            store.forget_file(&file.id).map_err(store_failure)?;
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

/// A file of the store as the rules of targets compare it.
fn made(file: &stripewise_store::MadeFile) -> MadeFile {
    MadeFile {
        device: file.device,
        inode: file.inode,
        birth_time_ns: file.birth_ns,
        id: file.id.clone(),
        size_bytes: file.size_bytes,
    }
}

fn text(cleaned: &Cleaned, arguments: &LabClean) -> String {
    let verb = match cleaned.done {
        true => "Removed",
        false => "Would remove",
    };
    let mut text = String::new();
    for file in &cleaned.files {
        text.push_str(&match (file.gone_before, &file.refused, cleaned.done) {
            (true, _, true) => format!("{} is gone already; forgotten.\n", file.path),
            (true, _, false) => format!("{} is gone already; would be forgotten.\n", file.path),
            (false, Some(_), true) => format!("{} stays.\n", file.path),
            (false, Some(_), false) => format!("{} would stay.\n", file.path),
            (false, None, _) => format!(
                "{verb} {} ({}).\n",
                file.path,
                format_bytes(file.size_bytes)
            ),
        });
    }
    for experiment in &cleaned.experiments {
        text.push_str(&format!(
            "{verb} experiment {} and its {} runs.\n",
            experiment.id, experiment.runs
        ));
    }
    if cleaned.files.is_empty() && arguments.ids.is_empty() {
        text.push_str("No test file is kept.\n");
    } else if !cleaned.done {
        text.push_str("Nothing was removed; --yes does it.\n");
    }
    text
}
