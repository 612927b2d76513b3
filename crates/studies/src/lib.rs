//! Studies: which run comes next, and what the runs together say.
//!
//! A study is a pure value: no clock, no file, no target. The conductor asks it for the next
//! step, makes that, and passes the record back. Its serialised state is what is stored, and
//! what a study is resumed from; it keeps the ids of runs and sums over them, no records.
#![forbid(unsafe_code)]

pub mod commit;
pub mod headroom;
mod latencies;
pub mod limits;
mod pilot;
pub mod product;
pub mod qualify;
mod run;

pub use pilot::LoadPilot;
pub use run::{FileState, NextStep, PlacedJob, Run, RunId, StudyFile, StudyTime};

use stripewise_report::Sheet;
use stripewise_results::RunRecord;

/// What a document says of how it came to be: on what, where and when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The name under which it is stored.
    pub id: &'a str,
    /// The target, as typed.
    pub target: &'a str,
    /// RFC 3339, UTC: when it began.
    pub started_at: &'a str,
    /// Name of the machine that measured.
    pub host: &'a str,
}

/// A part of a stored document that an earlier version wrote otherwise is none.
///
/// # Errors
/// Where it is not even JSON.
pub fn if_readable<'de, T: serde::de::DeserializeOwned, D: serde::Deserializer<'de>>(
    stored: D,
) -> Result<Option<T>, D::Error> {
    let value = <serde_json::Value as serde::Deserialize>::deserialize(stored)?;
    Ok(serde_json::from_value(value).ok())
}

/// Decides which run comes next.
pub trait Study {
    /// One of each load that may come, at its largest: blocks, requests in flight, span. The
    /// target is opened for these, so that what cannot be done is refused before anything is
    /// measured.
    fn loads(&self) -> Vec<PlacedJob>;

    /// The files that the jobs use, by their index: one, used as it is, unless a study says
    /// otherwise.
    fn files(&self) -> Vec<StudyFile> {
        vec![StudyFile::default()]
    }

    /// The next step. Asked again without a [`Study::completed`] in between, as after a
    /// resume, it is the same one.
    fn next(&self) -> NextStep;

    /// The run of this id is over. A record that is not whole was interrupted: nothing more
    /// is asked of this study until it is resumed.
    fn completed(&mut self, run: RunId, record: &RunRecord);

    /// A rest that [`Study::next`] asked for is over.
    fn rested(&mut self);

    /// Time spent and left, for the progress line and the budget.
    fn time(&self) -> StudyTime;

    /// What is known so far.
    fn sheet(&self) -> Sheet;
}
