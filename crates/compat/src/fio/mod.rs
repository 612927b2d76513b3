//! fio 2 and 3: their JSON, and the common options of its job files.

mod json;
mod load;
mod options;
mod outcome;
mod read;

pub(crate) use options::{Options, cache, names, size};
pub(crate) use read::import_text;
