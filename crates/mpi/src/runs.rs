//! What rank 0 has received about the runs of all ranks.

use stripewise_conductor::start::{ClockOffset, StartAgreement};
use stripewise_io_engine::Kind;
use stripewise_lab::hosts::{GrowingJob, HostPart, Latencies, PartInterval};
use stripewise_results::{Interval, JobRecord, RunRecord, StartRecord, Status};
use stripewise_runner::IntervalSummary;
use stripewise_units::WallTime;

/// A rank's report of an interval: counts and latencies of each job.
pub fn parts_of(summary: &IntervalSummary, intervals: &[Interval]) -> Vec<PartInterval> {
    let jobs = summary.jobs.iter().zip(intervals);
    jobs.map(|(counts, interval)| {
        let of = |kind: Kind| Some(&counts.kind(kind).latency_ns);
        PartInterval {
            interval: *interval,
            latencies: Latencies::pack(
                of(Kind::Read),
                of(Kind::Write),
                of(Kind::Sync),
                of(Kind::Discard),
            ),
        }
    })
    .collect()
}

/// Intervals of all jobs of all ranks that are kept of one run: some 600 MiB with reads and writes.
const INTERVALS_OF_ALL_MAX: usize = 262_144;
/// Of one job of one rank: few enough for any number of hosts, enough to cut off a minute of an
/// hour at either end.
const INTERVALS_MIN: usize = 128;

/// All runs, in order.
#[derive(Debug, Default)]
pub struct Runs {
    size: usize,
    runs: Vec<Vec<RankState>>,
}

/// The state of one rank's run.
#[derive(Debug, Default)]
struct RankState {
    skeleton: Option<RunRecord>,
    jobs: Vec<GrowingJob>,
    record: Option<RunRecord>,
    /// IOPS in its last interval.
    iops: f64,
    /// Time since any of its operations completed.
    idle_ns: u64,
}

impl Runs {
    /// For this many ranks.
    pub fn new(size: usize) -> Runs {
        Runs {
            size,
            runs: Vec::new(),
        }
    }

    fn of(&mut self, run: u32, rank: usize) -> Option<&mut RankState> {
        // Runs follow each other: a number far ahead is invalid.
        let run = run as usize;
        if run > self.runs.len() || rank >= self.size {
            return None;
        }
        if run == self.runs.len() {
            self.runs
                .push((0..self.size).map(|_| RankState::default()).collect());
        }
        self.runs.get_mut(run)?.get_mut(rank)
    }

    fn at(&self, run: u32) -> &[RankState] {
        self.runs.get(run as usize).map_or(&[], Vec::as_slice)
    }

    /// A rank is ready for a run.
    pub fn begin(&mut self, run: u32, rank: usize, skeleton: RunRecord) {
        let jobs = skeleton.jobs.len();
        let most = (INTERVALS_OF_ALL_MAX / (self.size * jobs).max(1)).max(INTERVALS_MIN);
        if let Some(of) = self.of(run, rank) {
            of.jobs = vec![GrowingJob::new(most); jobs];
            of.skeleton = Some(skeleton);
        }
    }

    /// Sets when a rank is to start. The remnant of a lost rank begins then, since how late its
    /// workers were is never reported.
    pub fn agreed(&mut self, run: u32, rank: usize, agreed: &StartAgreement) {
        let skeleton = self.of(run, rank).and_then(|of| of.skeleton.as_mut());
        let (Some(skeleton), Some(at)) = (skeleton, agreed.at) else {
            return;
        };
        let ramps = skeleton.jobs.iter().map(|job| job.workload.ramp_ns);
        skeleton.start = Some(Box::new(StartRecord {
            measured_from: WallTime(at.ns().saturating_add(ramps.max().unwrap_or(0))),
            agreed: agreed.at,
            clock_offset_ns: agreed.clock.map(|clock| clock.offset_ns),
            clock_error_ns: agreed.clock.map(|clock| clock.error_ns),
            group: agreed.group.clone(),
            ..StartRecord::default()
        }));
    }

    /// An interval of all jobs of a rank.
    pub fn interval(&mut self, run: u32, rank: usize, jobs: Vec<PartInterval>) {
        let Some(of) = self.of(run, rank).filter(|of| of.jobs.len() == jobs.len()) else {
            return;
        };
        let operations: u64 = jobs.iter().map(|job| job.interval.operations()).sum();
        let duration_ns = jobs.first().map_or(0, |job| job.interval.duration_ns);
        of.iops = operations as f64 * 1e9 / duration_ns.max(1) as f64;
        match operations {
            0 => of.idle_ns = of.idle_ns.saturating_add(duration_ns),
            _ => of.idle_ns = 0,
        }
        for (job, interval) in of.jobs.iter_mut().zip(jobs) {
            job.push(interval);
        }
    }

    /// A rank's run is over.
    pub fn record(&mut self, run: u32, rank: usize, record: RunRecord) {
        if let Some(of) = self.of(run, rank) {
            of.iops = 0.0;
            of.record = Some(record);
        }
    }

    /// IOPS of all ranks in the last run.
    pub fn iops_now(&self) -> f64 {
        let last = self.runs.last().map_or(&[][..], Vec::as_slice);
        last.iter().map(|of| of.iops).sum()
    }

    /// A rank other than 0 whose run did not end as planned.
    pub fn stopped_early(&self, run: u32) -> Option<usize> {
        let ranks = self.at(run).iter().enumerate().skip(1);
        let mut early = ranks.filter(|(_, of)| {
            let record = of.record.as_ref();
            record.is_some_and(|record| record.status == Status::Partial)
        });
        early.next().map(|(rank, _)| rank)
    }

    /// Why that rank's run did not.
    pub fn because(&self, run: u32, rank: usize) -> String {
        let record = self.at(run).get(rank).and_then(|of| of.record.as_ref());
        let because = record.and_then(|record| record.partial_because.clone());
        because.unwrap_or_else(|| "its run did not end as planned".to_owned())
    }

    /// A rank without a completed operation for `ns`, although its load should have
    /// some.
    pub fn stalled(&self, run: u32, ns: u64) -> Option<usize> {
        let is_stalled = |of: &RankState| {
            let pause_ns = of.skeleton.as_ref().and_then(pause_ns);
            let is_idle = |pause_ns: u64| of.idle_ns >= ns.saturating_add(pause_ns);
            of.record.is_none() && pause_ns.is_some_and(is_idle)
        };
        self.at(run).iter().position(is_stalled)
    }

    /// A remaining rank without a record of this run.
    pub fn without_record(&self, run: u32, gone: &[bool]) -> Option<usize> {
        let mut ranks = self.at(run).iter().zip(gone);
        ranks.position(|(of, is_gone)| of.record.is_none() && !is_gone)
    }

    /// Records the clocks' drift over a run, from the offsets before and after it; `None` for
    /// ranks that did not answer afterwards.
    pub fn drifted(&mut self, run: u32, before: &[ClockOffset], after: &[Option<ClockOffset>]) {
        for (rank, (before, after)) in before.iter().zip(after).enumerate() {
            let Some(after) = after else { continue };
            let drift_ns = after.offset_ns.saturating_sub(before.offset_ns);
            let of = self.of(run, rank);
            let record = of.and_then(|of| of.record.as_mut());
            if let Some(start) = record.and_then(|record| record.start.as_mut()) {
                start.clock_drift_ns = Some(drift_ns);
            }
        }
    }

    /// Removes and returns the parts of all ranks of one run.
    pub fn take(&mut self, run: u32) -> Vec<HostPart> {
        let ranks = self.runs.get_mut(run as usize).map(std::mem::take);
        parts(ranks.unwrap_or_default())
    }

    /// Removes and returns a part for each rank, run by run. A rank that was lost counts as far as
    /// it got, as a partial run. Runs that no rank has begun to measure are left out.
    pub fn take_all(&mut self) -> Vec<Vec<HostPart>> {
        let runs = self.runs.iter_mut().map(std::mem::take).map(parts);
        runs.filter(|parts| !parts.is_empty()).collect()
    }
}

/// How long a run may be idle because of requested pauses between operations;
/// `None`: without limit.
fn pause_ns(skeleton: &RunRecord) -> Option<u64> {
    let of_job = |job: &JobRecord| match (&job.workload.rate, &job.workload.think_time) {
        (_, Some(_)) => None,
        (None, None) => Some(0),
        // Ten arrivals: random ones may be far apart.
        (Some(rate), None) => Some((10e9 / rate.iops) as u64),
    };
    let pauses: Option<Vec<u64>> = skeleton.jobs.iter().map(of_job).collect();
    pauses?.into_iter().min()
}

fn parts(ranks: Vec<RankState>) -> Vec<HostPart> {
    ranks.into_iter().filter_map(part).collect()
}

fn part(of: RankState) -> Option<HostPart> {
    let record = match (of.record, of.skeleton) {
        (Some(record), _) => record,
        (None, Some(skeleton)) => RunRecord {
            status: Status::Partial,
            partial_because: Some(
                "nothing more was heard of it: it was killed or disconnected".to_owned(),
            ),
            ..skeleton
        },
        (None, None) => return None,
    };
    let has_measured = of.jobs.iter().all(|job| !job.is_empty());
    let jobs = of.jobs.into_iter().map(GrowingJob::into_job);
    has_measured.then(|| HostPart::new(record, jobs.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn an_hour_of_a_thousand_hosts_is_joined_as_it_comes() {
        let ranks = 1_000;
        let mut runs = Runs::new(ranks);
        let skeleton = RunRecord {
            jobs: vec![JobRecord::default()],
            ..RunRecord::empty()
        };
        for rank in 0..2 {
            runs.begin(0, rank, skeleton.clone());
            for second in 0..3_600 {
                let interval = Interval {
                    start_ns: second * S,
                    duration_ns: S,
                    read_operations: 100,
                    ..Interval::default()
                };
                let of_job = PartInterval {
                    interval,
                    ..PartInterval::default()
                };
                runs.interval(0, rank, vec![of_job]);
            }
        }
        let parts = runs.take_all().remove(0);
        for part in &parts {
            let intervals = &part.jobs[0].intervals;
            assert!(intervals.len() * ranks <= INTERVALS_OF_ALL_MAX);
            // 3,600 is 225 times 16.
            let lengths = intervals.iter().map(|part| part.interval.duration_ns);
            assert!(lengths.eq(std::iter::repeat_n(16 * S, 225)));
            let operations: u64 = (intervals.iter())
                .map(|part| part.interval.read_operations)
                .sum();
            let ns: u64 = intervals.iter().map(|part| part.interval.duration_ns).sum();
            assert_eq!((operations, ns), (360_000, 3_600 * S));
        }
        assert_eq!(parts[0].jobs, parts[1].jobs);
        assert!(runs.take_all().is_empty());
    }
}
