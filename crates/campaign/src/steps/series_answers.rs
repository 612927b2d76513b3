//! What the runs of a series came to, where a document of the store says so.

use super::{headroom, limits, qualification, stored_check};
use stripewise_conductor::context::store_failure;
use stripewise_conductor::failure::Outcome;
use stripewise_store::Store;

/// Kinds of documents that say what the runs of a series came to, under the series' id: nothing
/// could be shown of them without these.
pub const ANSWERS: [(&str, &str); 4] = [
    (headroom::KIND, "a headroom"),
    (limits::KIND, "an answer of limits"),
    (qualification::KIND, "a qualification"),
    (stored_check::KIND, "a check"),
];

/// The kinds of those that there are of a series, each with what it is in words.
///
/// # Errors
/// If the store cannot be read.
pub fn answers_of(store: &Store, series: &str) -> Outcome<Vec<(&'static str, &'static str)>> {
    let mut found = Vec::new();
    for answer in ANSWERS {
        let document = store.document(answer.0, series).map_err(store_failure)?;
        found.extend(document.map(|_| answer));
    }
    Ok(found)
}
