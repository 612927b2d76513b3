//! Other tools' formats, in and out: reads results of SQLIO, DiskSpd, fio, Iometer, vdbench,
//! elbencho, CrystalDiskMark and KDiskMark and workloads of the first three, and prints SQLIO's
//! output. Runs no I/O.
//!
//! [`import`] is the entry point for results: bytes from any of these tools in, records out. What a
//! source does not contain is left out of its records, see
//! [`stripewise_results::Imported::absent`]; nothing is invented. A source is read whole or not at
//! all, except with [`Import::whole_results`].
#![forbid(unsafe_code)]

mod absent;
pub mod convert;
mod crystal;
mod diskspd;
mod elbencho;
mod error;
mod fio;
mod foreign_result;
mod format_detection;
mod import;
mod imported_id;
mod iometer;
mod jobs_read;
mod json_text;
mod log_prefix;
mod out;
mod quantity;
pub mod sqlio;
mod text;
mod time;
mod unsupported_formats;
mod vdbench;
mod work;

pub use error::{Error, LineProblem};
pub use fio::FioExport;
pub use import::{Format, Import, ImportedFile, Note, ReadFile, Receiver, import};
pub use work::{Progress, Watch};

pub mod dataset;
