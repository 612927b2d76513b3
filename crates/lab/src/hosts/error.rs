//! Why the records of several hosts cannot be merged.

use thiserror::Error;

/// Records that cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Fewer than two runs.
    #[error("only one run is given: {run}, of host {host}")]
    Alone {
        /// Its id.
        run: String,
        /// Its host.
        host: String,
    },
    /// No runs at all.
    #[error("no run is given")]
    Nothing,
    /// A run's record does not contain the time at which it measured.
    #[error("run {run} of host {host} does not say when it began to measure")]
    NoStart {
        /// Its id.
        run: String,
        /// Its host.
        host: String,
    },
    /// Intervals, or their latencies, are missing.
    #[error("run {run} of host {host} comes without {what}")]
    Bare {
        /// Its id.
        run: String,
        /// Its host.
        host: String,
        /// `intervals`, `histograms`.
        what: &'static str,
    },
    /// Stored latencies are damaged.
    #[error("the histograms of run {run} of host {host} are damaged: {why}")]
    Damaged {
        /// Its id.
        run: String,
        /// Its host.
        host: String,
        /// Why.
        why: String,
    },
    /// Different programs, or plans that do not measure the same thing.
    #[error("the hosts did not run the same: {what}")]
    Different {
        /// How they differ, with the hosts' names.
        what: String,
    },
    /// A run that did not end as planned.
    #[error("run {run} of host {host} is partial: {because}")]
    Partial {
        /// Its id.
        run: String,
        /// Its host.
        host: String,
        /// Why.
        because: String,
    },
    /// Hosts of the group are missing.
    #[error("there is no record of {hosts}, which measured together with the others")]
    MissingHosts {
        /// Their names.
        hosts: String,
    },
    /// Runs of different groups.
    #[error("the runs are of different groups: {a} and {b}")]
    Groups {
        /// A run and its group.
        a: String,
        /// Another one.
        b: String,
    },
    /// There was no time at which all were measuring.
    #[error("at no time were all hosts measuring: {times}")]
    NoOverlap {
        /// When each was measuring.
        times: String,
    },
}

impl MergeError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            MergeError::Nothing | MergeError::Alone { .. } => {
                "name the stores or exported files of two hosts or more"
            }
            MergeError::NoStart { .. } => {
                "measure again with this version, `stripewise run ... --start-at TIME` on each host"
            }
            MergeError::Bare { .. } => {
                "name the host's store, or a file that `stripewise export --histograms` made of it"
            }
            MergeError::Damaged { .. } => "export it again from the host's store",
            MergeError::Different { .. } => {
                "run the same version with the same plan on all hosts; only load, sizes and seeds may differ"
            }
            MergeError::Partial { .. } => {
                "add --partial to merge what all hosts have measured anyway"
            }
            MergeError::MissingHosts { .. } => {
                "name their stores too, or add --partial to merge without them"
            }
            MergeError::Groups { .. } => "name runs that were made together: STORE#ID",
            MergeError::NoOverlap { .. } => {
                "start the hosts together: `stripewise run ... --start-at TIME` on each of them"
            }
        }
    }
}
