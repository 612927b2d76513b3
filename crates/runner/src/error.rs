//! Errors that prevent a run from starting. Failed operations are data, not errors.

use stripewise_units::{Hint, advice};

/// A run that could not start.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine of a worker could not be opened; nothing was issued.
    #[error("job {job}, thread {thread}: {source}")]
    Open {
        /// Index of the job.
        job: usize,
        /// The job's thread.
        thread: u32,
        /// The engine's error.
        #[source]
        source: stripewise_io_engine::Error,
    },
    /// The system could not create another thread.
    #[error("cannot start worker thread {thread} of job {job}: {source}")]
    Thread {
        /// Index of the job.
        job: usize,
        /// The job's thread.
        thread: u32,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A target could not be opened for the run.
    #[error("job {job}: {source}")]
    Target {
        /// Name of the job.
        job: String,
        /// The target's error.
        #[source]
        source: Box<stripewise_targets::Error>,
    },
    /// The buffers would not fit in memory.
    #[error("the buffers need {needed}, and {available} of memory are available")]
    Memory {
        /// For all threads.
        needed: String,
        /// On this machine, or within its control group's limit.
        available: String,
    },
    /// The plan is inconsistent.
    #[error("{0}")]
    Plan(String),
    /// Virtual time does not advance: operations take no time and no limit is set.
    #[error("virtual time makes no progress at {at_ns} ns after {operations} operations")]
    TimeStandsStill {
        /// Virtual time.
        at_ns: u64,
        /// Operations completed at this instant.
        operations: u64,
    },
}

impl Error {
    /// How to resolve it.
    pub fn hint(&self) -> Option<Hint> {
        let hint = match self {
            Error::Open { source, .. } if !source.hint.is_empty() => Some(source.hint),
            Error::Open { .. } => {
                Some("try another engine with <--engine>, or fewer threads or outstanding")
            }
            Error::Thread { .. } => Some(advice(
                "use fewer threads, or raise the limits of processes and memory (`ulimit -u`, `ulimit -v`)",
                "use fewer threads, or end programs that take memory",
            )),
            Error::Memory { .. } => {
                Some("use a smaller <--block>, fewer <--threads> or a smaller <--outstanding>")
            }
            Error::Plan(_) => Some("change the switch or plan key that it names"),
            Error::Target { .. } => None,
            Error::TimeStandsStill { .. } => {
                Some("give the simulated array a service time above 0, or limit the operations")
            }
        };
        hint.map(Hint::from)
    }
}
