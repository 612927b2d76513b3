//! fio 2 and 3: their JSON, and the common options of its job files.

mod documents;
mod json;
mod load;
mod options;
mod outcome;
mod read;
mod snapshots;
mod sound;

pub(crate) use documents::import_text;
pub(crate) use options::{Options, cache, names, size};
