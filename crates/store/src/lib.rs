//! The SQLite file that stores every result, and its migrations.
//!
//! One file holds runs, their jobs, intervals and histograms, and entries of kept test files.
//! Intervals are appended during a run, so that a killed run is not lost: the next open of the
//! store rebuilds it from them and marks it partial.
//!
//! Invariants: a record is returned byte for byte as it was printed; a foreign, newer or damaged
//! file is never written to, replaced or deleted, nor are adjacent files that SQLite would take for
//! leftovers of a missing store. This crate reads no clock: times come with records.
#![forbid(unsafe_code)]

mod blob;
mod checksum;
mod columns;
mod documents;
mod error;
mod files;
mod last;
mod live;
mod location;
mod open;
mod open_here;
mod owner;
mod packed;
mod pending;
mod private;
mod read;
mod recover;
mod rows;
mod salvage;
mod schema;
mod sidecars;
mod types;
mod write;
mod writer;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;

#[cfg(not(unix))]
mod permissions_other;
#[cfg(not(unix))]
use permissions_other as system;

pub use documents::StoredDocument;
pub use error::{Error, ErrorKind, Result};
pub use live::UnfinishedRun;
pub use location::default_path;
pub use open::Store;
pub use owner::Owner;
pub use pending::RunHandle;
pub use private::{create_directories, create_new, keep_secret, remove_made};
pub use salvage::Salvaged;
pub use schema::{APPLICATION_ID, USER_VERSION};
pub use types::{
    Filter, IntervalHistograms, JobSummary, Listing, MadeFile, RunSummary, StoredHistograms,
    StoredInterval, Unreadable,
};
pub use write::{Saving, save_each_in_new};
pub use writer::{RunWriter, WhenFull};
