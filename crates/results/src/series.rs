//! A series: the steps of a ladder and the answers read off them.

use crate::LatencySummary;
use serde::{Deserialize, Serialize};

/// One ladder, summarised. Everything here follows from the runs it names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesRecord {
    /// Id that its runs carry.
    pub id: String,
    /// `random-read`, `random-write`, `sequential-read`, `sequential-write`, `log`.
    pub name: String,
    /// The latency limit in force, as typed: `p99<5ms`.
    pub slo: String,
    /// In order of work in flight.
    pub steps: Vec<StepRecord>,
    /// Where throughput stops growing; absent where the ladder is too short to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<KneeRecord>,
    /// Not all steps that were due ran to their end: interrupted, killed or failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Why it has no answer, in words: every step is void, or none ran to its end.
    /// Absent where it has one; `within_limit`, `ceiling` and `knee` are absent
    /// where this is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<String>,
    /// Index into `steps` of the highest throughput within the latency limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_limit: Option<usize>,
    /// Index into `steps` of the highest throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<usize>,
    /// Why the ladder ended, in words.
    pub stopped: String,
    /// The answer in plain words.
    pub sentence: String,
}

/// One step of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Id of its run.
    pub run: String,
    /// Threads.
    pub threads: u32,
    /// Outstanding per thread.
    pub outstanding: u32,
    /// Operations a second.
    pub iops: f64,
    /// MiB a second.
    pub mib_per_s: f64,
    /// Latency of its reads or writes; absent where none completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencySummary>,
    /// Found by bisection between two doublings.
    pub bisection: bool,
    /// Stopped before its end: no answer rests on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Codes of the warnings that void its numbers: no answer rests on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub void: Vec<String>,
}

impl StepRecord {
    /// An answer may rest on it: it ran to its end and no warning voids it.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.partial && self.void.is_empty()
    }
}

impl SeriesRecord {
    /// Codes of the warnings that void steps, each once.
    #[must_use]
    pub fn void_codes(&self) -> Vec<&str> {
        let mut codes: Vec<&str> = Vec::new();
        for code in self.steps.iter().flat_map(|step| &step.void) {
            if !codes.contains(&code.as_str()) {
                codes.push(code);
            }
        }
        codes
    }
}

/// The knee of a ladder, in operations in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KneeRecord {
    /// By Kneedle: where the curve bends most.
    pub kneedle_in_flight: u32,
    /// 90 % bracket of it, by bootstrap.
    pub kneedle_bracket: [u32; 2],
    /// The smallest load that reaches 97 % of the highest throughput.
    pub plateau_in_flight: u32,
    /// 90 % bracket of it, by bootstrap.
    pub plateau_bracket: [u32; 2],
}
