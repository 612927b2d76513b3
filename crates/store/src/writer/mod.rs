//! A thread that writes a run while it is in progress.
//!
//! A measurement must not wait for a disk: the store's disk is often the one being measured, and a
//! commit there takes as long as the load permits. The caller only puts intervals into a queue; the
//! thread takes all of them and writes them to the store.
//!
//! The queue is bounded. If time is real and it is full, each new interval merges two waiting
//! neighbours, the shortest first, into one of twice the length: the store loses resolution in
//! time, but no operations. In simulated time the caller waits instead.

use crate::blob;
use crate::error::{Error, ErrorKind, Result};
use crate::open::Store;
use crate::packed::join;
use crate::pending::{ID_TRIES, PendingInterval, RunHandle};
use crate::types::{IntervalHistograms, StoredHistograms, StoredInterval};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use stripewise_results::{Interval, RunRecord};

/// Most waiting intervals: over two hours of one job at one per second.
const QUEUE_MAX: usize = 8_192;

/// How long to wait for the store of a run that never started.
const GIVE_BACK: Duration = Duration::from_secs(8);

/// What happens when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Adjacent intervals are merged: no waiting.
    Join,
    /// Wait for the store: in simulated time, waiting changes nothing.
    Wait,
}

/// The beginning of a run.
#[derive(Debug)]
pub(crate) struct First {
    skeleton: RunRecord,
    /// Time remaining after it, if known.
    left_after_ns: Option<u64>,
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Last {
    record: RunRecord,
    /// For a run that could not be begun because its id was taken.
    free_ids: Vec<String>,
}

/// Where the thread writes.
pub(crate) trait Sink: Send + 'static {
    /// Begins the run.
    fn begin(&mut self, first: &First) -> Result<()>;
    /// Appends more of the run, in order.
    fn append(&mut self, intervals: Vec<PendingInterval>) -> Result<()>;
    /// Stores everything now.
    fn flush(&mut self) -> Result<()>;
    /// Ends the run; returns the id under which it is stored.
    fn finish(&mut self, last: Last) -> Result<String>;
    /// Intervals that were merged because too many waited.
    fn joined(&self) -> u64;
}

/// A run being written to a store.
#[derive(Debug)]
struct StoreSink {
    store: Store,
    /// `None` if the run could not be begun.
    run: Option<RunHandle>,
}

impl Sink for StoreSink {
    fn begin(&mut self, first: &First) -> Result<()> {
        let begun = (self.store).begin_run_of_several(&first.skeleton, first.left_after_ns);
        self.run = Some(begun?);
        Ok(())
    }

    fn append(&mut self, intervals: Vec<PendingInterval>) -> Result<()> {
        match &mut self.run {
            Some(run) => self.store.append_pending(run, intervals),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.run {
            Some(run) => self.store.flush(run),
            None => Ok(()),
        }
    }

    fn finish(&mut self, last: Last) -> Result<String> {
        let Last {
            mut record,
            free_ids,
        } = last;
        match self.run.take() {
            Some(run) => self.store.finish_run(run, &record)?,
            None => {
                let mut free_ids = free_ids.into_iter();
                self.store
                    .save_new_run(&mut record, || free_ids.next().unwrap_or_default())?;
            }
        }
        Ok(record.id)
    }

    fn joined(&self) -> u64 {
        self.run.as_ref().map_or(0, |run| run.joined)
    }
}

/// Writes one run from its own thread, which owns the store meanwhile. Dropped without
/// [`RunWriter::finish_with_free_id`], it leaves the run as running.
#[derive(Debug)]
pub struct RunWriter<'store> {
    lender: &'store mut Store,
    /// `None` once it has ended.
    writer: Option<Writer<StoreSink>>,
}

impl<'store> RunWriter<'store> {
    /// Starts the thread, which owns the store until the run is finished or given up.
    ///
    /// # Errors
    /// The system's error if no thread can be created.
    pub fn start(lender: &'store mut Store, when_full: WhenFull) -> std::io::Result<Self> {
        let store = lender.lend().map_err(std::io::Error::other)?;
        let sink = StoreSink { store, run: None };
        match Writer::start(sink, when_full, QUEUE_MAX) {
            Ok(writer) => Ok(RunWriter {
                lender,
                writer: Some(writer),
            }),
            Err((sink, error)) => {
                *lender = sink.store;
                Err(error)
            }
        }
    }

    /// Inserts the run, as [`Store::begin_run_of_several`] does, without waiting for it.
    pub fn begin(&self, skeleton: &RunRecord, left_after_ns: Option<u64>) {
        self.writer().begin(First {
            skeleton: skeleton.clone(),
            left_after_ns,
        });
    }

    /// Adds the next interval of a job, see [`Store::append_interval`].
    pub fn append(&self, job_index: usize, interval: &Interval, latencies: IntervalHistograms<'_>) {
        self.writer().append(job_index, interval, latencies);
    }

    /// Waits until everything appended is stored, or has failed, but at most `limit`: the disk may
    /// hang. `false` if it is still waiting; the thread continues. Call it when measuring ends,
    /// before waiting for operations in flight.
    pub fn flush(&self, limit: Duration) -> bool {
        self.writer().flush(limit)
    }

    /// The first failure of the store, once. Measuring may continue without it.
    pub fn failure(&self) -> Option<Error> {
        self.writer().failure()
    }

    /// Intervals merged with a neighbour so far because the store took too long. Their counts are
    /// stored.
    pub fn joined(&self) -> u64 {
        self.writer().joined()
    }

    /// Stores the final record and ends the thread: [`Store::finish_run`], or
    /// [`Store::save_new_run`] if the run could not be begun; if another run has its id, the record
    /// gets one from `new_id` instead of being lost. It is stored then, whatever failed before.
    /// `waits` is called if the store takes longer than `patience`. After another `limit` it is
    /// given up: the thread keeps waiting, and all later calls on the store fail.
    ///
    /// # Errors
    /// The failure of the store: the record is not stored. [`ErrorKind::NoAnswer`] after `limit`.
    pub fn finish_with_free_id(
        mut self,
        record: &mut RunRecord,
        new_id: impl FnMut() -> String,
        [patience, limit]: [Duration; 2],
        waits: impl FnOnce(),
    ) -> Result<()> {
        let last = Last {
            record: record.clone(),
            free_ids: std::iter::repeat_with(new_id).take(ID_TRIES).collect(),
        };
        self.writer().end(Some(last));
        if !self.writer().has_ended(patience) {
            waits();
        }
        match self.take_back(limit) {
            Some(done) => {
                record.id = done?;
                Ok(())
            }
            None => Err(self.lender.error("finish a run", ErrorKind::NoAnswer)),
        }
    }

    fn writer(&self) -> &Writer<StoreSink> {
        self.writer.as_ref().expect("there until it is finished")
    }

    /// Returns the store, if the thread ends in time.
    fn take_back(&mut self, limit: Duration) -> Option<Result<String>> {
        let (sink, done) = self.writer.take()?.close(limit)?;
        *self.lender = sink.store;
        done
    }
}

impl Drop for RunWriter<'_> {
    fn drop(&mut self) {
        if let Some(writer) = &self.writer {
            writer.end(None);
            self.take_back(GIVE_BACK);
        }
    }
}

/// State shared by caller and thread.
#[derive(Debug, Default)]
struct State {
    first: Option<First>,
    queue: Queue,
    /// Taken by the thread and not yet written.
    is_writing: bool,
    flush_asked: bool,
    closing: bool,
    last: Option<Last>,
    /// The final result, and whether the thread is done.
    finished: Option<Result<String>>,
    has_ended: bool,
    failure: Option<Error>,
    has_failed: bool,
    /// Merged by the sink.
    joined: u64,
}

impl State {
    fn is_idle(&self) -> bool {
        self.first.is_none() && self.queue.waiting.is_empty() && !self.flush_asked
    }
}

#[derive(Debug)]
struct Shared<S> {
    state: Mutex<State>,
    /// The state has changed.
    changed: Condvar,
    /// Before the thread begins, and when it has ended.
    sink: Mutex<Option<S>>,
}

impl<S> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn sink(&self) -> MutexGuard<'_, Option<S>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread is detached: if it hangs, it blocks no one.
#[derive(Debug)]
struct Writer<S> {
    shared: Arc<Shared<S>>,
    when_full: WhenFull,
    queue_max: usize,
}

impl<S: Sink> Writer<S> {
    /// Returns the sink if no thread can be created.
    fn start(
        sink: S,
        when_full: WhenFull,
        queue_max: usize,
    ) -> std::result::Result<Self, (S, std::io::Error)> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            sink: Mutex::new(Some(sink)),
        });
        let theirs = Arc::clone(&shared);
        let started = Builder::new().name("store".to_owned()).spawn(move || {
            let ended = Ended(&theirs);
            let taken = theirs.sink().take();
            if let Some(mut sink) = taken {
                write_all(&theirs, &mut sink);
                *theirs.sink() = Some(sink);
            }
            drop(ended);
        });
        if let Err(error) = started {
            let sink = shared.sink().take().expect("nobody took it");
            return Err((sink, error));
        }
        Ok(Writer {
            shared,
            when_full,
            queue_max,
        })
    }

    fn begin(&self, first: First) {
        self.shared.lock().first = Some(first);
        self.shared.changed.notify_all();
    }

    fn append(&self, job_index: usize, interval: &Interval, latencies: IntervalHistograms<'_>) {
        let waiting = PendingInterval::new(job_index, interval, latencies);
        let mut state = self.shared.lock();
        while self.when_full == WhenFull::Wait && state.queue.waiting.len() >= self.queue_max {
            state = self.shared.wait(state);
        }
        state.queue.push(waiting, self.queue_max);
        self.shared.changed.notify_all();
    }

    fn flush(&self, limit: Duration) -> bool {
        let mut state = self.shared.lock();
        state.flush_asked = true;
        self.shared.changed.notify_all();
        let waits = |state: &mut State| !state.is_idle() || state.is_writing;
        let waited = self.shared.changed.wait_timeout_while(state, limit, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !waits(&mut state)
    }

    fn failure(&self) -> Option<Error> {
        self.shared.lock().failure.take()
    }

    fn joined(&self) -> u64 {
        let state = self.shared.lock();
        state.joined + state.queue.joined
    }

    /// Tells the thread to end, with the end of the run if there is one.
    fn end(&self, last: Option<Last>) {
        let mut state = self.shared.lock();
        state.last = last;
        state.closing = true;
        self.shared.changed.notify_all();
    }

    /// Waits for the thread to end, at most `limit`.
    fn has_ended(&self, limit: Duration) -> bool {
        let state = self.shared.lock();
        let goes_on = |state: &mut State| !state.has_ended;
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, limit, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.has_ended
    }

    /// Result of a thread that was told to end. `None` if it does not within `limit`: it keeps the
    /// sink then.
    fn close(self, limit: Duration) -> Option<(S, Option<Result<String>>)> {
        if !self.has_ended(limit) {
            return None;
        }
        let finished = self.shared.lock().finished.take();
        let sink = self.shared.sink().take()?;
        Some((sink, finished))
    }
}

/// A run that could not start never reaches [`Writer::close`], but its thread must end.
impl<S> Drop for Writer<S> {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
    }
}

/// Signals that the thread has ended, however it does.
struct Ended<'a, S>(&'a Shared<S>);

impl<S> Drop for Ended<'_, S> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}

/// The thread: writes everything that waits to the sink at once, until nothing does and the writer
/// is closed.
fn write_all<S: Sink>(shared: &Shared<S>, sink: &mut S) {
    loop {
        let mut state = shared.lock();
        while state.is_idle() && !state.closing {
            state = shared.wait(state);
        }
        if state.is_idle() {
            let last = state.last.take();
            drop(state);
            let finished = last.map(|last| sink.finish(last));
            shared.lock().finished = finished;
            return;
        }
        let first = state.first.take();
        let intervals = state.queue.take();
        let flush = std::mem::take(&mut state.flush_asked);
        state.is_writing = true;
        // Wake callers waiting for space.
        shared.changed.notify_all();
        drop(state);

        let mut done = first.map_or(Ok(()), |first| sink.begin(&first));
        let appended = sink.append(intervals);
        done = done.and(appended);
        if flush {
            done = done.and(sink.flush());
        }

        let mut state = shared.lock();
        state.is_writing = false;
        state.joined = sink.joined();
        if let Err(error) = done
            && !state.has_failed
        {
            state.has_failed = true;
            state.failure = Some(error);
        }
        shared.changed.notify_all();
    }
}

/// Waiting intervals, and how many of them were merged.
#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<PendingInterval>,
    joined: u64,
}

impl Queue {
    /// Adds one; if `most` are waiting, merges two others first.
    fn push(&mut self, interval: PendingInterval, most: usize) {
        if self.waiting.len() >= most && join_shortest(&mut self.waiting) {
            self.joined += 1;
        }
        self.waiting.push(interval);
    }

    fn take(&mut self) -> Vec<PendingInterval> {
        std::mem::take(&mut self.waiting)
    }
}

/// Merges the two adjacent intervals of one job that are shortest together, the oldest of equals:
/// all grow evenly. `false` if no job has two.
pub(crate) fn join_shortest(waiting: &mut Vec<PendingInterval>) -> bool {
    // By job: the following interval.
    let mut behind: Vec<Option<usize>> = Vec::new();
    let mut shortest: Option<(u64, usize, usize)> = None;
    for (index, one) in waiting.iter().enumerate().rev() {
        if behind.len() <= one.job_index {
            behind.resize(one.job_index + 1, None);
        }
        if let Some(next) = behind[one.job_index].replace(index) {
            let length_ns = one.interval.duration_ns + waiting[next].interval.duration_ns;
            if shortest.is_none_or(|(shortest_ns, ..)| length_ns <= shortest_ns) {
                shortest = Some((length_ns, index, next));
            }
        }
    }
    let Some((_, first, second)) = shortest else {
        return false;
    };
    let second = waiting.remove(second);
    waiting[first].join(&second);
    true
}

impl PendingInterval {
    pub(crate) fn new(
        job_index: usize,
        interval: &Interval,
        latencies: IntervalHistograms<'_>,
    ) -> Self {
        PendingInterval {
            job_index,
            interval_index: 0,
            interval: *interval,
            blobs: [
                latencies.read,
                latencies.write,
                latencies.sync,
                latencies.discard,
            ]
            .map(blob::encode),
        }
    }

    /// Merges the next interval of the same job into this one.
    fn join(&mut self, next: &PendingInterval) {
        let joined = join(&mut vec![self.stored(), next.stored()]);
        let latencies = &joined.histograms;
        self.interval = joined.interval;
        self.blobs = [
            &latencies.read,
            &latencies.write,
            &latencies.sync,
            &latencies.discard,
        ]
        .map(|histogram| blob::encode(histogram.as_ref()));
    }

    /// As it will be read from the store.
    fn stored(&self) -> StoredInterval {
        let [read, write, sync, discard] = self
            .blobs
            .each_ref()
            .map(|blob| blob::decode(blob.as_deref()).ok().flatten());
        StoredInterval {
            interval: self.interval,
            histograms: StoredHistograms {
                read,
                write,
                sync,
                discard,
            },
        }
    }
}

#[cfg(test)]
mod tests;
