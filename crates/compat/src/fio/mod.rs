//! fio 3: its JSON, and the common options of its job files.

mod options;
mod read;

pub(crate) use options::{Options, cache, size};
pub(crate) use read::import_text;
