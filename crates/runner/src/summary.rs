//! Counts of one interval, one job, and the whole run.
//!
//! Invariant: the counts of a run are the sums of its measured intervals, so a run that was killed
//! can be rebuilt from the stored intervals. Everything is an integer; readers compute rates and
//! percentiles.

use crate::due::DueCounts;
use crate::errors::{ErrorCount, ErrorCounts};
use crate::pauses::Pause;
use crate::plan::JobPlan;
use crate::window::Phase;
use stripewise_io_engine::{Capabilities, Kind};
use stripewise_stats::Histogram;

/// Complete operations of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindCounts {
    /// Their number.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies in nanoseconds: from the intended start if the job has a rate, otherwise
    /// from issue. Syncs always from issue. Those in flight during a pause of the program have
    /// none.
    pub latency_ns: Histogram,
}

impl KindCounts {
    fn merge(&mut self, other: &KindCounts) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latency_ns.merge(&other.latency_ns);
    }
}

/// CPU time of a job's threads (not of an engine's helper threads).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In the program.
    pub user_ns: u64,
    /// In the kernel on its behalf.
    pub system_ns: u64,
    /// Runnable but waiting for a processor; 0 where the system does not report it.
    pub waited_ns: u64,
}

impl CpuTimes {
    /// The time since `earlier`.
    #[must_use]
    pub fn since(self, earlier: CpuTimes) -> CpuTimes {
        CpuTimes {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
        }
    }

    pub(crate) fn add(&mut self, other: CpuTimes) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.waited_ns += other.waited_ns;
    }
}

/// Counters of an open loop; all zero for a closed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenLoopCounts {
    /// Scheduled arrivals in the period. Those not issued are added to the last interval once the
    /// run has stopped.
    pub arrivals_due: u64,
    /// Of those, issued before the stop. The rest are censored latencies.
    pub arrivals_issued: u64,
    /// Largest delay from intended start to issue.
    pub schedule_lag_ns_max: u64,
}

impl OpenLoopCounts {
    pub(crate) fn merge(&mut self, other: &OpenLoopCounts) {
        self.arrivals_due += other.arrivals_due;
        self.arrivals_issued += other.arrivals_issued;
        self.schedule_lag_ns_max = self.schedule_lag_ns_max.max(other.schedule_lag_ns_max);
    }
}

/// Counts of one job in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// By kind, at [`Kind::index`].
    pub kinds: [KindCounts; 4],
    /// Writes with the sync after each, if a thread waits for both before it continues: from the
    /// start of the write to the end of the sync. Not additional operations.
    pub commits: KindCounts,
    /// Sum over reads, writes and discards, including failed ones, of completion minus issue (for
    /// writes: from when their data was made): divided by the duration it is the mean number in
    /// flight (Little's law), even where latency counts from an intended start.
    pub in_flight_ns_sum: u128,
    /// Failed operations.
    pub errors: ErrorCounts,
    /// Open loop only.
    pub open_loop: OpenLoopCounts,
    /// Processor time of the job's threads.
    pub cpu: CpuTimes,
}

impl JobCounts {
    /// Counts of one kind.
    pub fn kind(&self, kind: Kind) -> &KindCounts {
        &self.kinds[kind.index()]
    }

    /// Complete reads, writes and discards.
    pub fn operations(&self) -> u64 {
        let kinds = [Kind::Read, Kind::Write, Kind::Discard];
        kinds.map(|kind| self.kind(kind).operations).iter().sum()
    }

    /// Bytes of complete reads and writes: discards transfer none.
    pub fn bytes(&self) -> u64 {
        self.kind(Kind::Read).bytes + self.kind(Kind::Write).bytes
    }

    /// Latencies of reads, writes and discards combined.
    pub fn latency_ns(&self) -> Histogram {
        let mut all = self.kind(Kind::Read).latency_ns.clone();
        all.merge(&self.kind(Kind::Write).latency_ns);
        all.merge(&self.kind(Kind::Discard).latency_ns);
        all
    }

    /// Adds another period of the same job.
    pub fn merge(&mut self, other: &JobCounts) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
        self.commits.merge(&other.commits);
        self.in_flight_ns_sum += other.in_flight_ns_sum;
        self.errors.merge(&other.errors);
        self.open_loop.merge(&other.open_loop);
        self.cpu.add(other.cpu);
    }
}

/// One interval of a run, all jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalSummary {
    /// [`Phase::Ramp`] or [`Phase::Measuring`].
    pub phase: Phase,
    /// Number of the interval in its phase, from 0.
    pub index: u64,
    /// Since the start of the phase.
    pub start_ns: u64,
    /// Its length; the last one of a phase may be short.
    pub duration_ns: u64,
    /// What each job did, in the order of the jobs.
    pub jobs: Vec<JobCounts>,
    /// Workers that had not reported when the driver stopped waiting: they are blocked in the
    /// operating system. Their counts are added to the interval in which they report.
    pub workers_late: u32,
}

/// Operations that completed after the stop, and what is known only then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrainCounts {
    /// Completed, in full or not.
    pub operations: u64,
    /// Of those, failed.
    pub errors: u64,
    /// The first of them, with a count of 1.
    pub first_error: Option<ErrorCount>,
    /// The longest of their latencies, measured as in the run.
    pub latency_ns_max: u64,
    /// Still in flight when the drain limit passed.
    pub abandoned: u64,
    /// Operations per second, if they are judged.
    pub due: DueCounts,
}

impl DrainCounts {
    /// For a worker of this job, before anything has completed.
    pub(crate) fn of_job(plan: &JobPlan) -> DrainCounts {
        DrainCounts {
            due: DueCounts::new(&plan.counting, plan.workload.has_due_times()),
            ..DrainCounts::default()
        }
    }

    pub(crate) fn merge(&mut self, other: &DrainCounts) {
        self.operations += other.operations;
        self.errors += other.errors;
        let earlier =
            |mine: &ErrorCount, theirs: &ErrorCount| mine.first_at_ns <= theirs.first_at_ns;
        self.first_error = match (self.first_error, other.first_error) {
            (Some(mine), Some(theirs)) if !earlier(&mine, &theirs) => Some(theirs),
            (mine, theirs) => mine.or(theirs),
        };
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
        self.abandoned += other.abandoned;
        self.due.merge(&other.due);
    }
}

/// Counts of one thread of a job in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Complete reads and writes.
    pub operations: u64,
    /// Its processor time.
    pub cpu: CpuTimes,
}

/// The result of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTotals {
    /// Sum of the measured intervals.
    pub counts: JobCounts,
    /// The same for each of its threads, in order, as far as known separately.
    pub threads: Vec<ThreadCounts>,
    /// Operations completed later.
    pub drain: DrainCounts,
    /// Capabilities of its engine: those of its first thread, with the fallbacks of all threads
    /// (each sentence once).
    pub capabilities: Capabilities,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The planned duration had passed.
    Duration,
    /// The policy decided to stop.
    Policy,
    /// The interrupt flag was raised.
    Interrupted,
    /// All workers had done the number of operations that the plan allows.
    Operations,
    /// A thread of this job had too many consecutive failed operations.
    Errors {
        /// Index of the job.
        job: usize,
    },
    /// An engine failed; see [`RunTotals::failure`].
    EngineFailed {
        /// Index of the job.
        job: usize,
    },
}

/// The result of a run.
#[derive(Debug)]
pub struct RunTotals {
    /// Actual length of the ramp.
    pub ramp_ns: u64,
    /// Length of the measured window; 0 if the run ended in the ramp.
    pub measured_ns: u64,
    /// Pauses of the program, in order: cut out of the window, its intervals, latencies and
    /// arrivals. Those of the ramp are not listed.
    pub pauses: Vec<Pause>,
    /// The part of all pauses, including those of the ramp, in which the program was runnable but
    /// had no processor, nanoseconds; 0 where the system does not report it.
    pub starved_ns: u64,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// In the order of the jobs.
    pub jobs: Vec<JobTotals>,
    /// The failure of an engine, for [`StopReason::EngineFailed`]; also of one that failed during
    /// the drain.
    pub failure: Option<stripewise_io_engine::Error>,
    /// Minor problems, such as a thread that could not be pinned. One sentence each.
    pub notes: Vec<String>,
}
