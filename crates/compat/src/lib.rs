//! Other tools' languages, in and out: results and workloads of SQLIO, DiskSpd
//! and fio are read, SQLIO's output is printed. Runs no I/O.
//!
//! [`import`] is the door for results: bytes of any of these tools in, records
//! of ours out. What a source does not say is left out of its records, see
//! [`stripewise_results::Imported::absent`]; nothing is invented. A source is
//! read whole or not at all.
#![forbid(unsafe_code)]

mod absent;
pub mod convert;
mod diskspd;
mod elsewhere;
mod error;
mod fio;
#[doc(hidden)]
pub mod fuzz;
mod import;
mod imported_id;
pub mod sqlio;
mod text;
mod time;

pub use error::{Error, LineProblem};
pub use import::{Format, ImportedFile, Note, import, recognise};

pub mod dataset;
