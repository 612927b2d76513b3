//! Runs as requested by studies.

use serde::{Deserialize, Serialize};
use stripewise_results::Counting;
use stripewise_workload::Workload;

/// One job of a run: its name, its load, and the open targets it uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlacedJob {
    /// Its name.
    pub name: String,
    /// Its load.
    pub workload: Workload,
    /// Indices of its targets.
    pub targets: Vec<usize>,
}

impl PlacedJob {
    /// A job on the only target.
    pub fn new(name: impl Into<String>, workload: Workload) -> PlacedJob {
        PlacedJob {
            name: name.into(),
            workload,
            targets: vec![0],
        }
    }
}

/// Content of a test file before each run. Other targets are used as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// All of it was written before: writes overwrite.
    #[default]
    Written,
    /// Its space is reserved but was never written, like that of a log made with
    /// `fallocate`.
    Preallocated,
    /// No space is allocated yet: each write allocates more, as in a growing file.
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
    /// Its content before each run.
    pub state: FileState,
}

/// Which run of a study, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub u32);

/// A run: one or more concurrent jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Unique within its study.
    pub id: RunId,
    /// Prefix of the progress line.
    pub title: String,
    /// Its jobs; all begin and end together.
    pub jobs: Vec<PlacedJob>,
    /// Its part of the study, as the record's `series_part` has it.
    pub part: String,
    /// What is counted by the second, for each job in order; jobs past its end count nothing.
    pub counting: Vec<Counting>,
    /// For each job in order, whether its file grows: without a file system, as on a simulated
    /// array, its journal is simulated. No file of jobs past its end does.
    pub growing: Vec<bool>,
    /// Minimum number of operations of a simulated run; 0: limited by time only.
    pub simulated_operations_min: u64,
}

impl Run {
    /// A run of one job, with defaults otherwise.
    pub fn of(id: RunId, title: impl Into<String>, job: PlacedJob) -> Run {
        Run {
            id,
            title: title.into(),
            part: job.name.clone(),
            jobs: vec![job],
            counting: Vec::new(),
            growing: Vec::new(),
            simulated_operations_min: 0,
        }
    }

    /// Length in nanoseconds, ramps included.
    pub fn length_ns(&self) -> u64 {
        let lengths = self.jobs.iter().map(|job| job.workload.length_ns());
        lengths.max().unwrap_or(0)
    }
}

/// The next step of a study.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Make this run.
    Run(Box<Run>),
    /// Rest for this long: a bucket refills, or the next run has a random place in time.
    Rest {
        /// Nanoseconds.
        length_ns: u64,
        /// The reason, for the progress line.
        title: String,
    },
    /// The study is over.
    Done,
}

/// Progress of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudyTime {
    /// Nanoseconds of completed runs and rests.
    pub spent_ns: u64,
    /// Upper bound on the remaining nanoseconds.
    pub left_ns: u64,
}
