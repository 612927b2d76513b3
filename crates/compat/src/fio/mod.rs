//! fio 2 and 3: their JSON, their normal and terse output, and the common options of
//! job files.

mod documents;
mod header;
mod job_text;
mod json;
mod load;
pub(crate) mod normal;
mod options;
mod outcome;
mod printed;
mod read;
mod snapshots;
mod sound;
pub(crate) mod terse;

pub(crate) use documents::import_text;
pub(crate) use options::{Options, cache, names, size};
