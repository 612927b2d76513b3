//! Events as data: each front end renders them in its own way.

use serde::Serialize;
use stripewise_results::RunRecord;
use stripewise_units::Hint;

/// Something that happened. As JSON, `event` names it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// What will be read, written and made, or how long it will take, before anything is
    /// done. Several lines or a sentence.
    Plan {
        /// For people.
        text: &'a str,
    },
    /// What is being done or was done.
    Status {
        /// For people.
        text: &'a str,
    },
    /// A part of the work with a known length begins.
    Begin {
        /// Its title, for people.
        title: &'a str,
        /// Nanoseconds or bytes.
        total: u64,
    },
    /// Progress of that part.
    Progress {
        /// The current activity, for people.
        title: &'a str,
        /// In the units of `total`.
        position: u64,
        /// Nanoseconds remaining for the whole, if known.
        left_ns: Option<u64>,
    },
    /// A more precise length of that part.
    Total {
        /// In the same units.
        total: u64,
    },
    /// That part is over.
    End,
    /// An interval of a run.
    Interval {
        /// Id of the run.
        run: &'a str,
        /// Length of the interval.
        duration_ns: u64,
        /// Its jobs.
        jobs: &'a [JobInterval],
    },
    /// A run is finished and stored; its record, without intervals and
    /// histograms.
    Run {
        /// The record.
        run: &'a RunRecord,
    },
    /// Something that spoils a result, or a failure the program recovered from.
    Warning {
        /// Code of the warning, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'a str>,
        /// What it is.
        text: &'a str,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a Hint>,
    },
    /// Something failed, and the rest continues without it.
    Failure {
        /// What failed, and why.
        text: &'a str,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a Hint>,
    },
    /// Something the user must know.
    Note {
        /// What it is.
        text: &'a str,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a Hint>,
    },
    /// Something good to know.
    Remark {
        /// What it is.
        text: &'a str,
    },
}

/// One job in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct JobInterval {
    /// Name of the job.
    pub job: String,
    /// Reads and writes that completed.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations a second.
    pub iops: f64,
    /// Mean latency of reads and writes together; 0 if there were none.
    pub latency_ns_mean: f64,
}

/// Receives events. Called on the thread that started the use case, also while
/// operations are in flight: it must not block.
pub trait Observer {
    /// Something happened.
    fn on_event(&self, event: &Event<'_>);
}

/// Ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    fn on_event(&self, _event: &Event<'_>) {}
}

/// The time that the rest of the work may take, at the rate so far; `None` before anything was
/// done.
pub fn left_at_rate(passed_ns: u64, done: u64, total: u64) -> Option<u64> {
    let left = u128::from(passed_ns) * u128::from(total.saturating_sub(done));
    let left_ns = left.checked_div(u128::from(done))?;
    Some(u64::try_from(left_ns).unwrap_or(u64::MAX))
}

/// A part of the work with a known length in nanoseconds or bytes; ends when dropped.
pub struct Progress<'a> {
    observer: Option<&'a dyn Observer>,
}

impl<'a> Progress<'a> {
    /// Begins it. The caller, who words the title, defines the unit. A part that
    /// is `hidden` ends too soon for anyone to see.
    pub fn begin(observer: &'a dyn Observer, hidden: bool, total: u64, title: &str) -> Self {
        if hidden {
            return Progress { observer: None };
        }
        observer.on_event(&Event::Begin { title, total });
        Progress {
            observer: Some(observer),
        }
    }

    /// Reports the position, and the time that may remain.
    pub fn update(&self, position: u64, title: &str, left_ns: Option<u64>) {
        self.on_event(&Event::Progress {
            title,
            position,
            left_ns,
        });
    }

    /// Corrects its length.
    pub fn set_total(&self, total: u64) {
        self.on_event(&Event::Total { total });
    }

    fn on_event(&self, event: &Event<'_>) {
        if let Some(observer) = self.observer {
            observer.on_event(event);
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.on_event(&Event::End);
    }
}
