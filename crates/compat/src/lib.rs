//! Other tools' languages, in and out: results of SQLIO, DiskSpd, fio, Iometer, vdbench,
//! elbencho, CrystalDiskMark and KDiskMark and workloads of the first three are read,
//! SQLIO's output is printed. Runs no I/O.
//!
//! [`import`] is the door for results: bytes of any of these tools in, records
//! of ours out. What a source does not say is left out of its records, see
//! [`stripewise_results::Imported::absent`]; nothing is invented. A source is
//! read whole or not at all, unless [`import_whole_results`] is asked.
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
mod json_text;
mod out;
pub mod sqlio;
mod text;
mod time;
mod unsupported_formats;
mod vdbench;
mod work;

pub use error::{Error, LineProblem};
pub use fio::FioExport;
pub use import::{
    Format, Import, ImportedFile, Note, ReadFile, import, import_whole_results, recognise,
};
pub use work::{Progress, Watch};

pub mod dataset;
