//! Shared by several use cases: opening targets, running jobs and storing the record, repeating
//! stored requests, reading files.

pub mod absorbed;
pub mod answer;
pub mod array_facts;
pub mod baselines;
pub mod compared_answers;
pub mod compared_benches;
pub mod documents;
pub mod expectations;
pub mod experiment;
pub mod foreign;
pub mod headroom;
pub mod layouts;
pub mod levels;
pub mod limit_watch;
pub mod limits;
pub mod measured;
pub mod medium;
pub mod observation;
pub mod owners;
pub mod pages;
pub mod probe_device;
pub mod provision;
pub mod qualification;
pub mod reading;
pub mod recording;
pub mod render_sheet;
pub mod rerun;
pub mod resumable_answer;
pub mod resuming;
pub mod series_answers;
pub mod sessions;
pub mod sqlio_drives;
pub mod stored_check;
pub mod stored_experiment;
pub mod study;
pub mod subject;
pub mod surface;
pub mod token;
pub mod trace_parts;
pub mod typed_target;
pub mod verification;
pub mod verification_page;

/// The plan's remark on times if the target is a simulated array.
pub const TIMES_ARE_SIMULATED: &str =
    "All times are simulated: they pass as fast as this machine computes them, usually in seconds.";
