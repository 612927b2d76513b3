//! Runs as studies ask for them.

use serde::{Deserialize, Serialize};
use stripewise_results::Counting;
use stripewise_workload::Workload;

/// One job of a run: its name, its load, and which of the open targets it uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlacedJob {
    /// Its name.
    pub name: String,
    /// What it does.
    pub workload: Workload,
    /// What it uses, by index.
    pub targets: Vec<usize>,
}

impl PlacedJob {
    /// On the only target.
    #[must_use]
    pub fn new(name: impl Into<String>, workload: Workload) -> PlacedJob {
        PlacedJob {
            name: name.into(),
            workload,
            targets: vec![0],
        }
    }
}

/// What is in a test file before each run. Other targets are used as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// All of it was written before: writes overwrite.
    #[default]
    Written,
    /// Its space is reserved and was never written, as a log's is that was made with
    /// `fallocate`.
    Preallocated,
    /// None of its space is allocated yet: each write takes more, as of a file that grows.
    Growing,
}

impl FileState {
    /// A warning of this code says only that the file is in this state, which the study made.
    pub(crate) fn is_warned_of_by(self, code: &str) -> bool {
        self != FileState::Written && matches!(code, "sparse-file" | "never-written")
    }
}

/// A file that a study uses. In a directory each is a test file of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudyFile {
    /// What is in it before each run.
    pub state: FileState,
}

/// Which run of a study, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub u32);

/// A run: one or more jobs at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Unique within its study.
    pub id: RunId,
    /// What the progress line begins with.
    pub title: String,
    /// Its jobs; all begin and end together.
    pub jobs: Vec<PlacedJob>,
    /// Its part of the study, as the record's `series_part` has it.
    pub part: String,
    /// What is counted by the second, of each job in order; of those beyond its end nothing.
    pub counting: Vec<Counting>,
    /// A simulated run goes on until so many operations completed; 0: for its time only.
    pub simulated_operations_min: u64,
}

impl Run {
    /// One job, nothing else asked for.
    #[must_use]
    pub fn of(id: RunId, title: impl Into<String>, job: PlacedJob) -> Run {
        Run {
            id,
            title: title.into(),
            part: job.name.clone(),
            jobs: vec![job],
            counting: Vec::new(),
            simulated_operations_min: 0,
        }
    }

    /// Nanoseconds that it takes, ramps included.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        let lengths = self.jobs.iter().map(|job| job.workload.length_ns());
        lengths.max().unwrap_or(0)
    }
}

/// What a study wants next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// This run.
    Run(Box<Run>),
    /// Nothing for so long: a bucket refills, or the next run has a random place in time.
    Rest {
        /// Nanoseconds.
        length_ns: u64,
        /// What is waited for: the progress line.
        title: String,
    },
    /// Nothing more.
    Done,
}

/// How far a study is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudyTime {
    /// Nanoseconds of runs and rests that are over.
    pub spent_ns: u64,
    /// Nanoseconds still to come, at most.
    pub left_ns: u64,
}
