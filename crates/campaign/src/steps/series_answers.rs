//! Answers of series that are stored as documents.

use super::{headroom, limits, qualification, stored_check};
use stripewise_conductor::failure::Outcome;
use stripewise_store::Store;

/// Kinds of documents with the answer of a series, stored under the series' id: without
/// these, its runs would be meaningless.
pub const ANSWERS: [(&str, &str); 4] = [
    (headroom::KIND, "a headroom"),
    (limits::KIND, "an answer of limits"),
    (qualification::KIND, "a qualification"),
    (stored_check::KIND, "a check"),
];

/// The existing kinds for a series, each with a description.
pub fn answers_of(store: &Store, series: &str) -> Outcome<Vec<(&'static str, &'static str)>> {
    let mut found = Vec::new();
    for answer in ANSWERS {
        let is_there = store.has_document(answer.0, series);
        found.extend(is_there?.then_some(answer));
    }
    Ok(found)
}
