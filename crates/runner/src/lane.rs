//! One lane of a worker: the operations of one thread on one file.
//!
//! A lane knows how many operations it may have in flight, when the next one is due (open loop),
//! and when a sync is owed. Slots and latencies belong to the worker.

use crate::pauses::Gap;
use crate::plan::JobPlan;
use crate::recorder::{NO_COMMIT, UNMEASURED};
use stripewise_io_engine::Kind;
use stripewise_workload::{ArrivalSchedule, DataSource, Stream, Streams, derived_seed};

/// The next step of a lane.
pub(crate) enum NextOperation {
    /// An operation; `intended_ns` is its due time in an open loop.
    Operation {
        kind: Kind,
        offset_bytes: u64,
        length_bytes: u32,
        intended_ns: Option<u64>,
    },
    /// A sync, and when the commit that it ends began, marked as in a slot; or [`NO_COMMIT`].
    Sync { commit_ns: u64 },
    /// As many in flight as requested.
    Full,
    /// Nothing is due before this time.
    NotBefore(u64),
}

/// The open loop's schedule.
pub(crate) struct Arrivals {
    schedule: ArrivalSchedule,
    /// Start of the run; the schedule counts from it.
    origin_ns: u64,
    /// The next intended start, on the run's clock.
    next_ns: u64,
}

impl Arrivals {
    fn take(&mut self) -> u64 {
        let due_ns = self.next_ns;
        self.next_ns = self.origin_ns.saturating_add(self.schedule.next());
        due_ns
    }

    /// Drops all arrivals due before `at_ns` from the schedule; returns their number.
    fn skip_to(&mut self, at_ns: u64) -> u64 {
        if self.next_ns >= at_ns {
            return 0;
        }
        let later = self.schedule.skip_to(at_ns.saturating_sub(self.origin_ns));
        self.take();
        1 + later
    }
}

/// The arrivals of one thread on one file: every lane of the job has an equal share of its rate.
/// Fixed-interval ones interleave with equal gaps, over the whole job and on each of its files.
fn arrivals(job: &JobPlan, file: usize, thread: u32) -> Option<ArrivalSchedule> {
    let rate = job.workload.rate?;
    let files = job.spans.len() as u32;
    let lanes = job.workload.threads * files;
    let lane = thread * files + file as u32;
    let seed = derived_seed(job.workload.seed, file as u64);
    Some(ArrivalSchedule::new(rate, lanes, lane, seed))
}

/// A sync after every N writes. Completed writes are counted, so each sync makes at least N of them
/// durable.
struct Syncs {
    every: u32,
    /// Writes completed since the last sync fell due.
    writes: u32,
    /// Due and not issued yet.
    owed: u32,
    /// Writes and the sync that follows them are a commit.
    has_commits: bool,
    /// The commit in progress: writes completed since the last sync was issued.
    commit: Option<OpenCommit>,
}

/// A commit whose sync is not issued yet.
#[derive(Clone, Copy)]
pub(crate) struct OpenCommit {
    /// When its first write began, [`UNMEASURED`] as in a slot.
    pub(crate) began_ns: u64,
    /// When the latest of its writes completed.
    pub(crate) written_ns: u64,
}

impl Syncs {
    /// A write that began at `start_ns` is complete.
    fn wrote(&mut self, start_ns: u64, at_ns: u64) {
        self.writes += 1;
        if self.writes == self.every {
            self.writes = 0;
            self.owed += 1;
        }
        if self.has_commits {
            let before_ns = self.commit.map_or(start_ns, |commit| commit.began_ns);
            let mark = (before_ns | start_ns) & UNMEASURED;
            let first_ns = (before_ns & !UNMEASURED).min(start_ns & !UNMEASURED);
            self.commit = Some(OpenCommit {
                began_ns: first_ns | mark,
                written_ns: at_ns,
            });
        }
    }
}

/// The operations of one thread on one file.
pub(crate) struct Lane {
    pub(crate) stream: Stream,
    pub(crate) data: DataSource,
    limit: u32,
    in_flight: u32,
    arrivals: Option<Arrivals>,
    syncs: Option<Syncs>,
}

impl Lane {
    /// The lane of `thread` on file number `file` of a job; `streams` is the job's for that file,
    /// shared by all threads.
    pub(crate) fn new(job: &JobPlan, streams: &Streams, file: usize, thread: u32) -> Self {
        Lane {
            stream: streams.stream(thread),
            data: streams.data(thread, job.data_salt),
            limit: job.workload.outstanding,
            in_flight: 0,
            arrivals: arrivals(job, file, thread).map(|schedule| Arrivals {
                schedule,
                origin_ns: 0,
                next_ns: 0,
            }),
            syncs: job.workload.sync.map(|policy| Syncs {
                every: policy.every.max(1),
                writes: 0,
                owed: 0,
                has_commits: job.workload.has_commits(),
                commit: None,
            }),
        }
    }

    /// Whether it is a closed loop without syncs, with operations of one size: limited only by free
    /// slots.
    pub(crate) fn is_simple(&self) -> bool {
        self.arrivals.is_none() && self.syncs.is_none() && !self.stream.is_mixed()
    }

    /// Operations it may have in flight.
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// The run starts at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.origin_ns = start_ns;
            arrivals.take();
        }
    }

    /// The program was paused, as is known at `at_ns`: due times are moved by as much, and a
    /// commit in progress has no latency.
    pub(crate) fn cut_out(&mut self, gap: Gap, at_ns: u64) {
        if let Some(arrivals) = &mut self.arrivals {
            let by_ns = gap.length_ns();
            arrivals.origin_ns = arrivals.origin_ns.saturating_add(by_ns);
            arrivals.next_ns = arrivals.next_ns.saturating_add(by_ns);
        }
        let commit = self.syncs.as_mut().and_then(|syncs| syncs.commit.as_mut());
        if let Some(commit) = commit {
            let began_ns = commit.began_ns & !UNMEASURED;
            if began_ns < gap.to_ns {
                commit.began_ns = gap.moved(began_ns, at_ns) | UNMEASURED;
            }
            commit.written_ns = gap.moved(commit.written_ns, at_ns);
        }
    }

    /// Whether its writes and the sync that follows them are a commit.
    pub(crate) fn has_commits(&self) -> bool {
        self.syncs.as_ref().is_some_and(|syncs| syncs.has_commits)
    }

    /// The commit whose sync is not issued yet.
    pub(crate) fn open_commit(&self) -> Option<OpenCommit> {
        self.syncs.as_ref()?.commit
    }

    /// Whether a sync is due but not issued.
    pub(crate) fn owes_sync(&self) -> bool {
        self.syncs.as_ref().is_some_and(|syncs| syncs.owed > 0)
    }

    /// What to issue at `now_ns`; an operation counts as in flight from here on.
    pub(crate) fn offer(&mut self, now_ns: u64, only_syncs: bool) -> NextOperation {
        if self.in_flight >= self.limit {
            return NextOperation::Full;
        }
        if let Some(syncs) = &mut self.syncs
            && syncs.owed > 0
        {
            syncs.owed -= 1;
            self.in_flight += 1;
            let commit = syncs.commit.take();
            return NextOperation::Sync {
                commit_ns: commit.map_or(NO_COMMIT, |commit| commit.began_ns),
            };
        }
        if only_syncs {
            return NextOperation::Full;
        }
        let mut intended_ns = None;
        if let Some(arrivals) = &mut self.arrivals {
            if arrivals.next_ns > now_ns {
                return NextOperation::NotBefore(arrivals.next_ns);
            }
            intended_ns = Some(arrivals.take());
        }
        self.in_flight += 1;
        let (kind, offset_bytes, length_bytes) = self.stream.next_sized();
        NextOperation::Operation {
            kind,
            offset_bytes,
            // At most 64 MiB.
            length_bytes: length_bytes as u32,
            intended_ns,
        }
    }

    /// An operation of this lane, begun at `start_ns` (marked as in a slot), ended at `at_ns`.
    pub(crate) fn completed(&mut self, kind: Kind, whole: bool, start_ns: u64, at_ns: u64) {
        self.in_flight -= 1;
        if let Some(syncs) = &mut self.syncs
            && whole
            && kind == Kind::Write
        {
            syncs.wrote(start_ns, at_ns);
        }
    }

    /// Drops all arrivals due before `until_ns` and counts those due from `from_ns` on: they will
    /// never be issued. Not one by one: at a high rate there are billions.
    pub(crate) fn give_up_arrivals(&mut self, from_ns: u64, until_ns: u64) -> u64 {
        let Some(arrivals) = &mut self.arrivals else {
            return 0;
        };
        arrivals.skip_to(from_ns.min(until_ns));
        arrivals.skip_to(until_ns)
    }

    /// The same one by one: passes on the due time of each.
    pub(crate) fn give_up_each_arrival(&mut self, until_ns: u64, mut given_up: impl FnMut(u64)) {
        let Some(arrivals) = &mut self.arrivals else {
            return;
        };
        while arrivals.next_ns < until_ns {
            given_up(arrivals.take());
        }
    }
}
