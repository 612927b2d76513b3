//! Studies: decide which run comes next, and evaluate the runs together.
//!
//! A study is a pure value: no clock, no file, no target. The conductor asks it for the next
//! step, carries it out, and passes the record back. Its serialised state is what is stored and
//! resumed; it keeps the ids of runs and sums over them, but no records.
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
use stripewise_units::format_bytes;

/// The origin of a document: target, host and time.
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

/// Reads a part of a stored document; `None` if an earlier version wrote it in another form.
pub fn if_readable<'de, T: serde::de::DeserializeOwned, D: serde::Deserializer<'de>>(
    stored: D,
) -> Result<Option<T>, D::Error> {
    let value = <serde_json::Value as serde::Deserialize>::deserialize(stored)?;
    Ok(serde_json::from_value(value).ok())
}

/// What a load without a rate writes in this time, for its plan: that is up to the target.
pub fn unbounded_writes(seconds: u64) -> String {
    let bytes = seconds.saturating_mul(100 << 20);
    format!(
        "as fast as the target allows ({} at 100 MiB/s)",
        format_bytes(bytes)
    )
}

/// Decides which run comes next.
pub trait Study {
    /// One of each load that may come, at its largest: blocks, requests in flight, span. The
    /// target is opened for these, so that anything impossible is refused before the first
    /// measurement.
    fn loads(&self) -> Vec<PlacedJob>;

    /// The files that the jobs use, by index. The default is one, used as it is.
    fn files(&self) -> Vec<StudyFile> {
        vec![StudyFile::default()]
    }

    /// The next step. Without a [`Study::completed`] in between, as after a
    /// resume, it is the same one.
    fn next(&self) -> NextStep;

    /// The run of this id is over. A partial record means that it was interrupted: the study
    /// is not used again until it is resumed.
    fn completed(&mut self, run: RunId, record: &RunRecord);

    /// A rest that [`Study::next`] requested is over.
    fn rested(&mut self);

    /// Time spent and left, for the progress line and the budget.
    fn time(&self) -> StudyTime;

    /// Results so far.
    fn sheet(&self) -> Sheet;
}
