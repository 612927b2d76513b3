//! fio 2 and 3: their JSON, their normal and terse output, and the common options of
//! job files.

mod consistency;
mod defaults;
mod documents;
mod export;
mod header;
mod job;
mod job_text;
mod json;
mod load;
pub(crate) mod normal;
mod option_names;
mod options;
mod outcome;
mod printed;
mod read;
mod snapshots;
mod stopped;
pub(crate) mod terse;

pub(crate) use documents::read_json;
pub use export::FioExport;
pub(crate) use option_names::{Conversion, fate, is_neutral, meant, name_of};
pub(crate) use options::{Options, Rw, cache, gap, names, put, rate, size, think};
