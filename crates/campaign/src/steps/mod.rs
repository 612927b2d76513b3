//! What several use cases need: open targets, run jobs and keep the record, run stored
//! requests again, read files.

pub mod answer;
pub mod asked;
pub mod baselines;
pub mod documents;
pub mod drives;
pub mod experiment;
pub mod input;
pub mod keep;
pub mod kept;
pub mod known;
pub mod layouts;
pub mod levels;
pub mod measure;
pub mod measured;
pub mod medium;
pub mod owners;
pub mod pages;
pub mod parallel;
pub mod parts;
pub mod pilot;
pub mod planned;
pub mod provision;
pub mod reading;
pub mod rerun;
pub mod secret;
pub mod simulated;
pub mod sittings;
pub mod start;
pub mod start_at;
pub mod subject;
pub mod surface;
pub mod targets;
pub mod together;
pub mod verification;
