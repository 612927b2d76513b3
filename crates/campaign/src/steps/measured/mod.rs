//! Measurements without runs, which are stored as documents: `history` lists them, and
//! `last` may refer to one.

mod list;

#[cfg(test)]
pub(crate) use list::of;
pub use list::{Measurement, measurements};

use crate::steps::verification::DOCUMENT_KIND as VERIFY;
use std::fs::File;
use std::io::Read;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_store::{Store, StoredDocument};

/// A profile of a surface.
pub const PROFILE: &str = "profile";
/// A fill: where a fast cache ends.
pub const FILL: &str = "fill";
/// An observation of what a server does to its disks.
pub const OBSERVATION: &str = "observe";
/// Maximum size of a document in a file.
const BYTES_MAX: u64 = 64 << 20;
/// The name of experiments in [`by_id`], and the command that lists their ids.
pub const EXPERIMENTS: (&str, &str) = (
    "experiments",
    "give more of the id; `stripewise lab plans` lists them",
);
/// All kinds.
pub const KINDS: [&str; 4] = [PROFILE, FILL, VERIFY, OBSERVATION];

/// Resolves `last` and `last~1`: [`Store::full_name_among`] all results.
///
/// # Errors
/// If there are fewer results, or the store cannot be read.
pub fn full_name(store: &Store, name: &str) -> Outcome<String> {
    store.full_name_among(name, &KINDS).map_err(Failure::from)
}

/// The document of this kind and id, or of a unique id beginning with it. `None` if there is
/// none.
///
/// # Errors
/// If the store cannot be read, or several ids begin with it; then `hint` says what to do.
pub fn by_id(
    store: &Store,
    kind: &str,
    id: &str,
    (several, hint): (&str, &str),
) -> Outcome<Option<StoredDocument>> {
    // Printed commands contain the suffix of an id.
    let whole = store.full_name(id).unwrap_or_else(|_| id.to_owned());
    if let Some(exact) = store.document(kind, &whole)? {
        return Ok(Some(exact));
    }
    let mut alike = store.documents(kind)?;
    alike.retain(|document| !id.is_empty() && document.name.starts_with(id));
    match alike.len() {
        0 | 1 => Ok(alike.pop()),
        count => Err(Failure::usage(
            format!("{count} {several} begin with {id}"),
            hint,
        )),
    }
}

/// The measurement of this id, with its kind.
pub fn document(store: &Store, id: &str) -> Outcome<Option<(&'static str, StoredDocument)>> {
    for kind in KINDS {
        if let Some(document) = store.document(kind, id)? {
            return Ok(Some((kind, document)));
        }
    }
    Ok(None)
}

/// The kind of the measurement of this id, which may be damaged.
pub fn kind_of(store: &Store, id: &str) -> Outcome<Option<&'static str>> {
    for kind in KINDS {
        if store.has_document(kind, id)? {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// The JSON of a measurement of this kind, by its id in the store or as a file; the file
/// may contain something else. `None` if there is neither.
pub fn json_of(context: &Context, kind: &str, name: &str) -> Outcome<Option<String>> {
    // Files can be compared without a store; an unreadable one is reported by the code
    // that needs it.
    let store = context
        .store_is_there()?
        .then(|| context.open_store_to_read());
    if let Some(Ok(store)) = store {
        // A name unknown to the store may be a file's.
        let id = full_name(&store, name).unwrap_or_else(|_| name.to_owned());
        let document = store.document(kind, &id)?;
        if let Some(document) = document {
            return Ok(Some(document.json));
        }
    }
    Ok(json_of_file(name))
}

/// The text of a file that may be a document; `None` if it is not a file, not text, or larger than
/// any document.
pub fn json_of_file(name: &str) -> Option<String> {
    let path = stripewise_units::path_of(name);
    let file = path.is_file().then(|| File::open(&path).ok()).flatten()?;
    let mut text = String::new();
    let read = file.take(BYTES_MAX + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= BYTES_MAX).then_some(text)
}

/// Refuses a measurement where a run is required; `None` if `id` is not one.
pub fn no_run(store: &Store, id: &str) -> Outcome<Option<Failure>> {
    let found = document(store, id)?;
    Ok(found.map(|(kind, _)| {
        Failure::usage(
            format!("{id} is a result of `{}`, not a run", command(kind)),
            format!("`stripewise history show {id}` prints it; `last-run` is the last single run"),
        )
    }))
}

/// The command that makes such measurements.
fn command(kind: &str) -> &str {
    match kind {
        FILL => "profile --fill",
        kind => kind,
    }
}
