//! Stores a run while it is in progress: streams intervals to the store, stores the
//! record before the drain, and shows progress.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::observer::{Event, JobInterval, Progress};
use crate::start::{Companion, Started, WaitContext};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use stripewise_io_engine::Kind;
use stripewise_results::{Interval, JobRecord, RunRecord, Status};
use stripewise_runner::session::Listener;
use stripewise_runner::trust::store_behind;
use stripewise_runner::{IntervalSummary, JobCounts};
use stripewise_store::{IntervalHistograms, RunWriter};
use stripewise_units::{NameText, format_duration, format_iops};

/// How long an unresponsive store may block the program before a message says so: longer
/// than other processes hold a lock.
const PATIENCE: Duration = Duration::from_secs(8);

/// How long the store may take to store a finished run: as long as Linux lets a task
/// wait for a disk before it reports it as hung.
const LAST_WAIT: Duration = Duration::from_secs(120);

/// Listens to one run. All store access happens on a separate thread, so that
/// nothing here waits for a disk before the measurement is over.
pub struct Keeper<'a, 'store> {
    context: &'a Context,
    writer: RunWriter<'store>,
    /// The store failed during the run.
    has_failed: bool,
    stop: &'a AtomicU8,
    progress: &'a Progress<'a>,
    /// Prefix of the progress line.
    title: String,
    /// Time taken by everything before this run, on the progress scale.
    before_ns: u64,
    /// Upper bound on the time remaining after this run, if known.
    after_ns: Option<u64>,
    /// Expected length of this run.
    expected_ns: u64,
    last: String,
    /// Id of the run.
    run: String,
    /// Names of its jobs.
    names: Vec<String>,
    /// The companion of the run, if any.
    companion: Option<&'a dyn Companion>,
    is_virtual: bool,
    /// When the workers started.
    started: Option<Started>,
    /// The run was not allowed to start: ignore its events.
    refused: Option<Failure>,
}

/// Position of a run among others, for the ETA.
pub struct RunPlace<'a> {
    /// Prefix of the progress line.
    pub title: &'a str,
    /// Time taken by everything before this run.
    pub before_ns: u64,
    /// Expected length of this run.
    pub expected_ns: u64,
    /// Time remaining after it: an upper bound, or for layouts an estimate from the pace so far.
    /// `None` if unknown.
    pub after_ns: Option<u64>,
}

impl<'a, 'store> Keeper<'a, 'store> {
    /// A keeper, before the run starts.
    pub fn new(
        context: &'a Context,
        writer: RunWriter<'store>,
        stop: &'a AtomicU8,
        progress: &'a Progress<'a>,
        place: &RunPlace<'_>,
    ) -> Self {
        Keeper {
            context,
            writer,
            has_failed: false,
            stop,
            progress,
            title: place.title.to_owned(),
            before_ns: place.before_ns,
            after_ns: place.after_ns,
            expected_ns: place.expected_ns,
            last: String::new(),
            run: String::new(),
            names: Vec::new(),
            companion: None,
            is_virtual: false,
            started: None,
            refused: None,
        }
    }

    /// Sets the companion, and whether the run is in virtual time.
    #[must_use]
    pub fn with_companion(
        mut self,
        companion: Option<&'a dyn Companion>,
        is_virtual: bool,
    ) -> Self {
        (self.companion, self.is_virtual) = (companion, is_virtual);
        self
    }

    /// Reports why the run was not allowed to start, if so: then there is nothing to store.
    pub fn allowed(&mut self) -> Outcome<()> {
        self.refused.take().map_or(Ok(()), Err)
    }

    /// Stores the final record, with a warning if the store fell behind. Earlier failures of
    /// the store no longer matter once that succeeds.
    pub fn finish(mut self, record: &mut RunRecord) -> Outcome<()> {
        let flushed = self.writer.flush(PATIENCE);
        // Even if the store fails, the results are on the screen.
        let waits = format!(
            "{} still does not answer. What was measured:\n{}\nWaiting for the store for \
             another {}; Ctrl-C, given twice, ends without keeping the run",
            self.store(),
            in_short(record),
            format_duration(LAST_WAIT.as_nanos() as u64)
        );
        if !flushed {
            self.warn(&waits);
        }
        self.note_failure();
        record.warnings.extend(store_behind(self.writer.joined()));
        if let Some(started) = &self.started {
            record.start = started.record().map(Box::new);
            record.warnings.extend(started.warning());
        }
        let (context, started_at) = (self.context, record.started_at.clone());
        let new_id = || context.new_id(&started_at);
        let say = || {
            if flushed {
                warn(context, &waits);
            }
        };
        let stored = self
            .writer
            .finish_with_free_id(record, new_id, [PATIENCE, LAST_WAIT], say)
            .map_err(Failure::from);
        match &stored {
            Ok(()) => {
                if self.has_failed {
                    let text = format!("the run has been kept after all: {}", record.id);
                    self.context.note(text);
                }
                finished(context, record);
            }
            // What the command shows is the total of all hosts.
            Err(_) if self.companion.is_some() => show_unstored(context, record),
            Err(_) => {}
        }
        // The other hosts wait for it and include it in their total.
        if let Some(companion) = self.companion {
            companion.finished(context, record);
        }
        stored
    }

    fn store(&self) -> String {
        let path = self.context.store_path().unwrap_or_default();
        format!("the store {}", path.as_text())
    }

    fn warn(&self, text: &str) {
        warn(self.context, text);
    }

    fn note_failure(&mut self) {
        if let Some(error) = self.writer.failure() {
            self.has_failed = true;
            self.warn(&format!("{error}; the measurement continues"));
        }
    }
}

impl Listener for Keeper<'_, '_> {
    fn begin(&mut self, skeleton: &RunRecord) {
        self.run.clone_from(&skeleton.id);
        self.names = skeleton.jobs.iter().map(|job| job.name.clone()).collect();
        let mut skeleton = skeleton.clone();
        let waiting = WaitContext {
            context: self.context,
            progress: self.progress,
            position: self.before_ns,
            skeleton: &skeleton,
            is_virtual: self.is_virtual,
        };
        let companion = self.companion;
        let agreed = match companion.map(|other| other.ready(&waiting)).transpose() {
            Ok(agreed) => agreed.unwrap_or_default(),
            Err(failure) => {
                self.refused = Some(failure);
                self.stop.store(1, Ordering::Relaxed);
                return;
            }
        };
        // This host may be stopped while it waits for the others.
        if self.context.signal().is_some() {
            self.stop.store(1, Ordering::Relaxed);
        }
        let started = Started::now(&waiting, agreed);
        skeleton.start = started.record().map(Box::new);
        self.started = Some(started);
        // On a simulated array, the remaining virtual time is not time the user waits.
        let left_ns = self.after_ns.filter(|_| !self.is_virtual);
        self.writer.begin(&skeleton, left_ns);
    }

    fn interval(&mut self, summary: &IntervalSummary, intervals: &[Interval]) {
        if self.refused.is_some() {
            return;
        }
        let operations: u64 = summary.jobs.iter().map(JobCounts::operations).sum();
        let iops = operations as f64 * 1e9 / summary.duration_ns.max(1) as f64;
        self.last = format!(", {} IOPS", format_iops(iops));
        for (index, (counts, interval)) in summary.jobs.iter().zip(intervals).enumerate() {
            let histograms = IntervalHistograms {
                read: Some(&counts.kind(Kind::Read).latency_ns),
                write: Some(&counts.kind(Kind::Write).latency_ns),
                sync: Some(&counts.kind(Kind::Sync).latency_ns),
                discard: Some(&counts.kind(Kind::Discard).latency_ns),
            };
            self.writer.append(index, interval, histograms);
        }
        let jobs: Vec<JobInterval> = (self.names.iter().zip(intervals))
            .map(|(name, interval)| job_interval(name, interval))
            .collect();
        self.context.observer().on_event(&Event::Interval {
            run: &self.run,
            duration_ns: summary.duration_ns,
            jobs: &jobs,
        });
        if let Some(companion) = self.companion {
            companion.interval(summary, intervals);
        }
        self.note_failure();
    }

    fn measured(&mut self, _record: &RunRecord) {
        if self.refused.is_some() {
            return;
        }
        // All intervals are safe before the drain begins: a run that is
        // killed while draining is rebuilt from them.
        if !self.writer.flush(PATIENCE) {
            self.warn(&format!(
                "{} does not answer, and the last seconds of the run are not yet in it; \
                 operations in flight are waited for meanwhile",
                self.store()
            ));
        }
        self.note_failure();
    }

    fn tick(&mut self, now_ns: u64) {
        if let Some(started) = &mut self.started {
            started.look(self.context.now_ns(), now_ns);
        }
        let companion = self.companion.filter(|_| self.refused.is_none());
        let is_to_stop = companion.is_some_and(|other| other.stops(self.context));
        if is_to_stop || self.context.signal().is_some() {
            self.stop.store(1, Ordering::Relaxed);
        }
        let left_ns = self
            .expected_ns
            .saturating_sub(now_ns)
            .saturating_add(self.after_ns.unwrap_or(0));
        if let Some(iops) = self.companion.and_then(Companion::iops_now) {
            self.last = format!(", {} IOPS on all hosts", format_iops(iops));
        }
        let position = self.before_ns + now_ns.min(self.expected_ns);
        self.progress.update(
            position,
            &format!("{}{}", self.title, self.last),
            Some(left_ns),
        );
    }
}

fn warn(context: &Context, text: &str) {
    context.observer().on_event(&Event::Warning {
        code: None,
        text,
        hint: None,
    });
}

/// Shows a run that the store refused and that is part of no answer: nothing else will.
pub fn show_unstored(context: &Context, record: &RunRecord) {
    let text = format!("a run that could not be stored:\n{}", in_short(record));
    warn(context, &text);
}

/// The rates of each job, one line each.
fn in_short(record: &RunRecord) -> String {
    let line = |job: &JobRecord| {
        let (outcome, name) = (&job.outcome, &job.name);
        let (iops, mib_per_s) = (format_iops(outcome.iops), outcome.mib_per_s);
        format!(
            "  {name} on {}: {iops} IOPS, {mib_per_s:.1} MiB/s",
            job.target.name
        )
    };
    let lines: Vec<String> = record.jobs.iter().map(line).collect();
    lines.join("\n")
}

/// A job in an interval, as observers receive it.
fn job_interval(name: &str, interval: &Interval) -> JobInterval {
    JobInterval {
        job: name.to_owned(),
        operations: interval.operations(),
        bytes: interval.bytes,
        iops: interval.operations() as f64 * 1e9 / interval.duration_ns.max(1) as f64,
        latency_ns_mean: interval.latency_ns_mean,
    }
}

/// Reports that a run is over and stored.
pub fn finished(context: &Context, record: &RunRecord) {
    context.note_measured();
    let light = record.clone().without_intervals().without_histograms();
    context.observer().on_event(&Event::Run { run: &light });
}

/// Whether a record is complete, not partial.
pub fn is_whole(record: &RunRecord) -> bool {
    record.status == Status::Complete
}
