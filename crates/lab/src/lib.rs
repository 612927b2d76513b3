//! Series and experiments: ladders to saturation and the answers derived from them.
//!
//! Other crates make the runs; this crate decides which comes next ([`Series`]) and interprets
//! the results.
#![forbid(unsafe_code)]

mod answer;
mod budget;
mod climb;
pub mod compare;
pub mod experiment;
pub mod hosts;
pub mod ladder;
pub mod layouts;
pub mod offsets;
pub mod plan_file;
pub mod profiles;
mod sentence;
mod series;
mod step;
mod summary;

pub use answer::{AnswerPlan, BLOCK_RUNS};
pub use budget::{BenchPlan, IN_FLIGHT_MAX, LadderOptions, QUICK_TIME_NS, plan_bench};
pub use climb::{Ended, Series, SeriesPlan, SeriesRun, longest_ns, most_ns};
pub use series::{SeriesKind, StepTime};
pub use step::latency_of;
pub use summary::{series_of, summarise};
