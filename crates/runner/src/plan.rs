//! Input of the drivers.

use std::sync::Arc;
use stripewise_results::Counting;
use stripewise_workload::{RecordedLoad, Span, Workload};

/// One job: a workload over spans of one or more files.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPlan {
    /// Its workload. Ramp and duration of the run are those of [`RunPlan`].
    pub workload: Workload,
    /// The bytes used, one span per file. Every thread keeps `workload.outstanding` operations in
    /// flight on each of them; a rate is shared evenly.
    pub spans: Vec<Span>,
    /// Makes the data written by this run different from that of other runs.
    pub data_salt: u64,
    /// What is counted per second, see [`crate::DueCounts`].
    pub counting: Counting,
    /// The operations of a recorded workload: one thread, one file.
    pub recorded: Option<Arc<RecordedLoad>>,
}

impl JobPlan {
    /// A job on one file.
    pub fn new(workload: Workload, span: Span, data_salt: u64) -> Self {
        JobPlan {
            workload,
            spans: vec![span],
            data_salt,
            counting: Counting::default(),
            recorded: None,
        }
    }

    /// Whether it needs only positions and latencies: no think time, no counts per second.
    pub(crate) fn is_short(&self) -> bool {
        self.workload.think_time.is_none() && self.counting.thresholds_ns.is_empty()
    }

    /// Bytes of every operation; 0 if they have several sizes, which are then counted individually.
    pub(crate) fn block_bytes_of_each(&self) -> u64 {
        match self.workload.block_sizes.is_empty() && self.recorded.is_none() {
            true => self.workload.block_size_bytes,
            false => 0,
        }
    }
}

/// One run of one or more concurrent jobs, which share its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Length of an interval, 1 ms to 10 s.
    pub interval_ns: u64,
    /// Time before measuring; `u64::MAX`: until the policy decides.
    pub ramp_ns: u64,
    /// Measured time; `u64::MAX`: until the policy decides.
    pub duration_ns: u64,
    /// How long to wait for operations in flight after the stop.
    pub drain_limit_ns: u64,
    /// Most operations that each thread issues.
    pub operations_max_per_thread: Option<u64>,
    /// Consecutive failed operations of one thread that stop the run; 0: never.
    pub errors_max_in_a_row: u32,
    /// Watch for pauses of the program and cut them out. Not where a quota may hold back all
    /// threads for as long: that is a cost of running there, and stays in.
    pub watches_for_pauses: bool,
    /// In real time the coordinator wakes at least this often and asks whether to stop: 100 µs to
    /// 50 ms.
    pub look_ns: u64,
}

impl Default for RunPlan {
    /// Intervals of 1 s, no ramp, 10 s measured, 30 s for the drain, a stop after
    /// 1,000 failures in a row, and pauses cut out.
    fn default() -> Self {
        RunPlan {
            interval_ns: 1_000_000_000,
            ramp_ns: 0,
            duration_ns: 10_000_000_000,
            drain_limit_ns: 30_000_000_000,
            operations_max_per_thread: None,
            errors_max_in_a_row: 1_000,
            watches_for_pauses: true,
            look_ns: 50_000_000,
        }
    }
}
