//! Aggregates the workers' reports into intervals and totals, and calls the policy between them.
//! Used by both drivers; it reads no clock itself.
//!
//! Intervals are passed on strictly in order. One is complete when every worker has reported past
//! its end; a real-time driver stops waiting after a while, because a thread blocked in the
//! operating system cannot report. Its late counts go into the interval that is open then, so
//! nothing measured is lost or counted twice. After the last interval they go into the totals only:
//! this is the one case where intervals add up to less than the run, and the last one then names
//! its late workers.

#[cfg(test)]
mod tests;

use crate::pauses::Pause;
use crate::plan::RunPlan;
use crate::policy::{Decision, Observer, Policy};
use crate::recorder::Recorder;
use crate::summary::{
    DrainCounts, IntervalSummary, JobCounts, JobTotals, RunTotals, StopReason, ThreadCounts,
};
use crate::window::{Phase, Times, Window};
use crate::worker::Report;
use std::sync::Arc;
use stripewise_io_engine::Capabilities;

/// State of one worker.
struct WorkerState {
    job: usize,
    /// Its index among the threads of the job.
    thread: usize,
    /// Everything it completed before this time has been reported.
    until_ns: u64,
}

/// An interval that is not complete yet.
struct Pending {
    start_ns: u64,
    jobs: Vec<JobCounts>,
}

/// Timing behaviour of a driver.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// How far ahead a time must be set for all workers to see it in time.
    pub(crate) guard_ns: u64,
    /// How long to wait for late reports.
    pub(crate) lateness_max_ns: u64,
    /// How long to wait for reports of the last interval, which no later one can absorb.
    pub(crate) last_lateness_max_ns: u64,
}

pub(crate) struct Collector {
    window: Arc<Window>,
    duration_ns: u64,
    pace: Pace,
    workers: Vec<WorkerState>,
    block_sizes_bytes: Vec<u64>,
    totals: Vec<JobTotals>,
    pending: Vec<Pending>,
    /// Start of the next interval to pass on.
    cursor_ns: u64,
    /// The last interval was passed on.
    closed: bool,
    stop_reason: Option<StopReason>,
    /// Pauses cut out, on the run's clock.
    pauses: Vec<Pause>,
    notes: Vec<String>,
    failure: Option<stripewise_io_engine::Error>,
}

impl Collector {
    /// For jobs of these block sizes and workers of these jobs.
    pub(crate) fn new(
        window: Arc<Window>,
        plan: &RunPlan,
        pace: Pace,
        block_sizes_bytes: Vec<u64>,
        jobs_of_workers: &[usize],
    ) -> Self {
        let mut totals = vec![JobTotals::default(); block_sizes_bytes.len()];
        let worker = |&job: &usize| {
            let threads = &mut totals[job].threads;
            threads.push(ThreadCounts::default());
            WorkerState {
                job,
                thread: threads.len() - 1,
                until_ns: 0,
            }
        };
        let workers = jobs_of_workers.iter().map(worker).collect();
        Collector {
            window,
            duration_ns: plan.duration_ns,
            pace,
            workers,
            totals,
            block_sizes_bytes,
            pending: Vec::new(),
            cursor_ns: 0,
            closed: false,
            stop_reason: None,
            pauses: Vec::new(),
            notes: Vec::new(),
            failure: None,
        }
    }

    /// The workers start now; the window's times are set.
    pub(crate) fn begin(&mut self) {
        self.cursor_ns = self.window.times().start_ns;
    }

    /// Whether every measured interval was passed on.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Records the capabilities of a worker's engine.
    pub(crate) fn capabilities(&mut self, worker: usize, capabilities: Capabilities) {
        let mine = &mut self.totals[self.workers[worker].job].capabilities;
        if mine.name.is_empty() {
            *mine = capabilities;
            return;
        }
        // The weakest thread determines those of the job.
        mine.registered_buffers &= capabilities.registered_buffers;
        mine.registered_files &= capabilities.registered_files;
        mine.polled &= capabilities.polled;
        mine.deferred_task_running &= capabilities.deferred_task_running;
        mine.completion_hold_ns_max = mine
            .completion_hold_ns_max
            .max(capabilities.completion_hold_ns_max);
        for why in capabilities.fallbacks {
            if !mine.fallbacks.contains(&why) {
                mine.fallbacks.push(why);
            }
        }
    }

    /// The capabilities of each job.
    pub(crate) fn all_capabilities(&self) -> Vec<Capabilities> {
        let of_job = |job: &JobTotals| job.capabilities.clone();
        self.totals.iter().map(of_job).collect()
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds a worker's report; returns its recorder, emptied.
    pub(crate) fn accept(&mut self, worker: usize, mut report: Report) -> Recorder {
        let state = &mut self.workers[worker];
        state.until_ns = state.until_ns.max(report.until_ns);
        let (job, thread) = (state.job, state.thread);
        let measured = report.phase == Phase::Measuring;
        let block_size_bytes = self.block_sizes_bytes[job];
        let mut scratch = JobCounts::default();
        let into = self.place(&report, job).unwrap_or(&mut scratch);
        into.cpu.add(report.cpu);
        let before = into.operations();
        report.recorder.drain_into(into, block_size_bytes);
        let operations = into.operations() - before;
        if measured {
            let counts = &mut self.totals[job].threads[thread];
            counts.operations += operations;
            counts.cpu.add(report.cpu);
        }
        report.recorder
    }

    /// The interval of a report; `None` for one of a ramp that has ended.
    fn place(&mut self, report: &Report, job: usize) -> Option<&mut JobCounts> {
        let measured = report.phase == Phase::Measuring;
        let span = (self.window.times()).interval_at(report.start_ns.max(self.cursor_ns));
        if self.closed || span.phase == Phase::Draining {
            return measured.then_some(&mut self.totals[job].counts);
        }
        if span.phase != report.phase {
            return None;
        }
        let position = self
            .pending
            .iter()
            .position(|pending| pending.start_ns == span.start_ns);
        let position = position.unwrap_or_else(|| {
            self.pending.push(Pending {
                start_ns: span.start_ns,
                jobs: vec![JobCounts::default(); self.totals.len()],
            });
            self.pending.len() - 1
        });
        Some(&mut self.pending[position].jobs[job])
    }

    /// A worker has ended and will not report again.
    pub(crate) fn done(&mut self, worker: usize, drain: DrainCounts) {
        self.workers[worker].until_ns = u64::MAX;
        self.totals[self.workers[worker].job].drain.merge(&drain);
    }

    /// The program was paused at `at_ns` for `duration_ns`; the pause has been cut out.
    pub(crate) fn paused(&mut self, at_ns: u64, duration_ns: u64) {
        self.pauses.push(Pause { at_ns, duration_ns });
    }

    /// An engine failed.
    pub(crate) fn failed(
        &mut self,
        worker: usize,
        failure: stripewise_io_engine::Error,
        now_ns: u64,
    ) {
        let job = self.workers[worker].job;
        self.stop(now_ns, StopReason::EngineFailed { job });
        self.failure.get_or_insert(failure);
    }

    /// Stops the run as soon as all workers can see it, unless it has already stopped.
    pub(crate) fn stop(&mut self, now_ns: u64, reason: StopReason) {
        let at_ns = now_ns.saturating_add(self.pace.guard_ns);
        if at_ns < self.window.times().stop_at_ns {
            self.window.stop(at_ns);
            self.stop_reason = Some(reason);
        }
    }

    /// Passes on every interval that is complete at `now_ns`.
    pub(crate) fn emit(
        &mut self,
        now_ns: u64,
        policy: &mut dyn Policy,
        observer: &mut dyn Observer,
    ) {
        while !self.closed {
            let times = self.window.times();
            let span = times.interval_at(self.cursor_ns);
            if span.phase == Phase::Draining {
                self.close(&times, observer);
                return;
            }
            let reported = |worker: &&WorkerState| worker.until_ns < span.end_ns;
            let late = self.workers.iter().filter(reported).count();
            let lateness_max_ns = match span.end_ns < times.stop_at_ns {
                true => self.pace.lateness_max_ns,
                false => self.pace.last_lateness_max_ns,
            };
            let patience_ns = span.end_ns.saturating_add(lateness_max_ns);
            if now_ns < span.end_ns || (late > 0 && now_ns < patience_ns) {
                return;
            }
            let origin_ns = match span.phase {
                Phase::Measuring => times.measure_from_ns,
                Phase::Ramp | Phase::Draining => times.start_ns,
            };
            let summary = IntervalSummary {
                phase: span.phase,
                index: span.index,
                start_ns: span.start_ns - origin_ns,
                duration_ns: span.end_ns - span.start_ns,
                jobs: self.take_pending(span.start_ns),
                workers_late: late as u32,
            };
            self.cursor_ns = span.end_ns;
            if span.phase == Phase::Measuring {
                for (total, counts) in self.totals.iter_mut().zip(&summary.jobs) {
                    total.counts.merge(counts);
                }
            }
            observer.interval(&summary);
            let decision = policy.interval(&summary);
            self.apply(decision, span.phase, now_ns);
        }
    }

    fn take_pending(&mut self, start_ns: u64) -> Vec<JobCounts> {
        // Ramp reports that arrived after the ramp's last interval remain with an earlier start,
        // and are dropped here.
        self.pending.retain(|pending| pending.start_ns >= start_ns);
        let found = self
            .pending
            .iter()
            .position(|pending| pending.start_ns == start_ns);
        match found {
            Some(position) => self.pending.swap_remove(position).jobs,
            None => vec![JobCounts::default(); self.totals.len()],
        }
    }

    fn close(&mut self, times: &Times, observer: &mut dyn Observer) {
        self.closed = true;
        let counts: Vec<JobCounts> = (self.totals.iter())
            .map(|total| total.counts.clone())
            .collect();
        observer.measured(&counts, measured_ns(times));
    }

    fn apply(&mut self, decision: Decision, phase: Phase, now_ns: u64) {
        let times = self.window.times();
        let soonest_ns = now_ns.saturating_add(self.pace.guard_ns);
        match decision {
            Decision::StartMeasuring
                if phase == Phase::Ramp && soonest_ns < times.measure_from_ns =>
            {
                self.window.measure(soonest_ns, self.duration_ns);
            }
            Decision::StopAfter(duration_ns) if phase == Phase::Measuring => {
                // Workers that have seen the stop will not start again.
                if soonest_ns < times.stop_at_ns {
                    let at_ns = times.measure_from_ns.saturating_add(duration_ns);
                    self.window.move_stop(at_ns.max(soonest_ns));
                    self.stop_reason = Some(StopReason::Policy);
                }
            }
            Decision::Stop => self.stop(now_ns, StopReason::Policy),
            Decision::Continue | Decision::StartMeasuring | Decision::StopAfter(_) => {}
        }
    }

    /// The result.
    pub(crate) fn into_totals(self) -> RunTotals {
        let times = self.window.times();
        let gave_up = self.window.gave_up().map(|job| StopReason::Errors { job });
        let ramp_end_ns = times.measure_from_ns.min(times.stop_at_ns);
        // Pauses in the ramp are not recorded.
        let since = |pause: &Pause| {
            Some(Pause {
                at_ns: pause.at_ns.checked_sub(times.measure_from_ns)?,
                ..*pause
            })
        };
        RunTotals {
            pauses: self.pauses.iter().filter_map(since).collect(),
            starved_ns: self.window.pauses.starved_ns(),
            ramp_ns: ramp_end_ns.saturating_sub(times.start_ns),
            measured_ns: measured_ns(&times),
            stop_reason: gave_up.or(self.stop_reason).unwrap_or(StopReason::Duration),
            jobs: self.totals,
            failure: self.failure,
            notes: self.notes,
        }
    }
}

fn measured_ns(times: &Times) -> u64 {
    times.stop_at_ns.saturating_sub(times.measure_from_ns)
}
