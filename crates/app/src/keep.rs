//! Keeps a run while it goes on: streams intervals to the store, stores the
//! record before the drain, and shows progress.

use crate::context::{Context, store_failure};
use crate::failure::{Failure, Outcome};
use crate::show::progress::Progress;
use std::sync::atomic::{AtomicU8, Ordering};
use stripewise_io_engine::Kind;
use stripewise_results::{Interval, RunRecord, Status};
use stripewise_runner::session::Listener;
use stripewise_runner::{IntervalSummary, JobCounts};
use stripewise_store::{IntervalHistograms, RunHandle, Store};
use stripewise_units::format_iops;

/// Listens to one run.
pub struct Keeper<'a> {
    context: &'a Context,
    store: &'a mut Store,
    handle: Option<RunHandle>,
    stop: &'a AtomicU8,
    progress: &'a Progress,
    /// What the progress line begins with.
    title: String,
    /// Time that everything before this run took, on the progress' scale.
    before_ns: u64,
    /// Time still to come after this run, at most.
    after_ns: u64,
    /// Expected length of this run.
    expected_ns: u64,
    last: String,
    failure: Option<Failure>,
}

/// Where a run stands among others, for the ETA.
pub struct Place<'a> {
    pub title: &'a str,
    pub before_ns: u64,
    pub expected_ns: u64,
    pub after_ns: u64,
}

impl<'a> Keeper<'a> {
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        stop: &'a AtomicU8,
        progress: &'a Progress,
        place: &Place<'_>,
    ) -> Self {
        Keeper {
            context,
            store,
            handle: None,
            stop,
            progress,
            title: place.title.to_owned(),
            before_ns: place.before_ns,
            after_ns: place.after_ns,
            expected_ns: place.expected_ns,
            last: String::new(),
            failure: None,
        }
    }

    /// Stores the final record. The first failure of the store on the way is
    /// told here: measuring went on without it.
    pub fn finish(mut self, record: &RunRecord) -> Outcome<()> {
        // Also where an interval could not be kept: the record is worth more.
        let kept = match self.handle.take() {
            Some(handle) => self.store.finish_run(handle, record),
            None => self.store.save_run(record),
        };
        match (kept, self.failure.take()) {
            (Err(error), _) => Err(store_failure(error)),
            (Ok(()), Some(failure)) => Err(failure),
            (Ok(()), None) => Ok(()),
        }
    }

    fn note_failure(&mut self, result: Result<(), stripewise_store::Error>) {
        if let Err(error) = result
            && self.failure.is_none()
        {
            let failure = store_failure(error);
            self.progress
                .line(&format!("warning: {}; measuring goes on", failure.error));
            self.failure = Some(failure);
        }
    }
}

impl Listener for Keeper<'_> {
    fn begin(&mut self, skeleton: &RunRecord) {
        match self.store.begin_run(skeleton) {
            Ok(handle) => self.handle = Some(handle),
            Err(error) => self.note_failure(Err(error)),
        }
    }

    fn interval(&mut self, summary: &IntervalSummary, intervals: &[Interval]) {
        let operations: u64 = summary.jobs.iter().map(JobCounts::operations).sum();
        let iops = operations as f64 * 1e9 / summary.duration_ns.max(1) as f64;
        self.last = format!(", {} IOPS", format_iops(iops));
        let Some(mut handle) = self.handle.take() else {
            return;
        };
        for (index, (counts, interval)) in summary.jobs.iter().zip(intervals).enumerate() {
            let histograms = IntervalHistograms {
                read: Some(&counts.kind(Kind::Read).latency_ns),
                write: Some(&counts.kind(Kind::Write).latency_ns),
                sync: Some(&counts.kind(Kind::Sync).latency_ns),
            };
            let kept = self
                .store
                .append_interval(&mut handle, index, interval, histograms);
            self.note_failure(kept);
        }
        self.handle = Some(handle);
    }

    fn measured(&mut self, _record: &RunRecord) {
        // All intervals are safe before anything is waited for: a run that is
        // killed in its drain is rebuilt from them.
        if let Some(mut handle) = self.handle.take() {
            let kept = self.store.flush(&mut handle);
            self.note_failure(kept);
            self.handle = Some(handle);
        }
    }

    fn tick(&mut self, now_ns: u64) {
        if self.context.interrupt.signal().is_some() {
            self.stop.store(1, Ordering::Relaxed);
        }
        let left_ns = self.expected_ns.saturating_sub(now_ns) + self.after_ns;
        let position = self.before_ns + now_ns.min(self.expected_ns);
        self.progress.update(
            position,
            &format!("{}{}", self.title, self.last),
            Some(left_ns),
        );
    }
}

/// Whether a record is whole.
pub fn is_whole(record: &RunRecord) -> bool {
    record.status == Status::Complete
}
