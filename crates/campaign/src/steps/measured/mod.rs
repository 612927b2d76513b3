//! Measurements without runs, which the store keeps as documents: `history` lists them, and
//! `last` is one of them where that was done last.

mod list;

#[cfg(test)]
pub(crate) use list::of;
pub use list::{Measurement, measurements};

use crate::context::store_failure;
use crate::failure::{Failure, Outcome};
use crate::steps::verification::DOCUMENT_KIND as VERIFY;
use stripewise_store::{KeptDocument, Store};

/// A profile of a surface.
pub const PROFILE: &str = "profile";
/// A fill: where a fast cache ends.
pub const FILL: &str = "fill";
/// All kinds.
pub const KINDS: [&str; 3] = [PROFILE, FILL, VERIFY];

/// What `last` and `last~1` stand for: [`Store::full_name_among`] all that is done here.
///
/// # Errors
/// Where less was done here, or the store cannot be read.
pub fn full_name(store: &Store, name: &str) -> Outcome<String> {
    store.full_name_among(name, &KINDS).map_err(store_failure)
}

/// The measurement of this id, with its kind.
///
/// # Errors
/// Where the store cannot be read.
pub fn document(store: &Store, id: &str) -> Outcome<Option<(&'static str, KeptDocument)>> {
    for kind in KINDS {
        if let Some(document) = store.document(kind, id).map_err(store_failure)? {
            return Ok(Some((kind, document)));
        }
    }
    Ok(None)
}

/// Refuses a measurement where a run was asked for; none where `id` is none.
///
/// # Errors
/// Where the store cannot be read.
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
