//! The pilot of a load that writes: it writes in runs of growing length until it is known
//! how much a cache absorbs, and the sustained rate.

use crate::run::PlacedJob;
use serde::{Deserialize, Serialize};
use stripewise_results::{Interval, RunRecord, Status, SustainedRecord};
use stripewise_stats::{LoadInterval, Pilot, PilotPlan};
use stripewise_workload::{Pattern, Workload, derived_seed};

const SECOND_NS: f64 = 1e9;
/// Shortest run: a rounding remainder of a span is not run by itself.
const PIECE_NS_MIN: u64 = 250_000_000;
/// Seed of a pilot's streams; no other run uses it.
const SEED: u64 = 1 << 33;

/// A pilot as consecutive runs without rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPilot {
    job: PlacedJob,
    pilot: Pilot,
    /// Size of the target in bytes.
    size_bytes: u64,
    /// Maximum total time.
    time_ns_max: Option<u64>,
    pieces: u64,
    written_bytes: u64,
    spent_ns: u64,
    /// A run was stopped, or completed nothing.
    is_broken: bool,
}

impl LoadPilot {
    /// A pilot of a job on a target of this size; times and seed of its workload are not used.
    pub fn new(
        job: PlacedJob,
        plan: PilotPlan,
        size_bytes: u64,
        time_ns_max: Option<u64>,
    ) -> LoadPilot {
        LoadPilot {
            job,
            pilot: Pilot::new(plan),
            size_bytes,
            time_ns_max,
            pieces: 0,
            written_bytes: 0,
            spent_ns: 0,
            is_broken: false,
        }
    }

    /// The next run; `None` if nothing remains to be learned, or the time is up.
    pub fn next(&self) -> Option<PlacedJob> {
        let left_ns = self
            .time_ns_max
            .map_or(u64::MAX, |max| max.saturating_sub(self.spent_ns));
        if self.is_broken || self.pilot.is_done() || left_ns < PIECE_NS_MIN {
            return None;
        }
        let wanted_s = self.pilot.until_s() - self.pilot.fed_s();
        // A float-to-integer cast saturates.
        let wanted_ns = (wanted_s * SECOND_NS).ceil() as u64;
        Some(PlacedJob {
            workload: Workload {
                ramp_ns: 0,
                duration_ns: wanted_ns.clamp(PIECE_NS_MIN, left_ns),
                seed: derived_seed(self.job.workload.seed, SEED + self.pieces),
                ..self.going_on()
            },
            ..self.job.clone()
        })
    }

    /// A sequential load continues where the previous run ended: what it wrote at the
    /// beginning may still be in the cache. At least half of the span remains for it.
    fn going_on(&self) -> Workload {
        let load = &self.job.workload;
        let whole_bytes = self.size_bytes.saturating_sub(load.base_offset_bytes);
        let span_bytes = load.size_bytes.unwrap_or(whole_bytes);
        let block_bytes = load.block_size_bytes.max(1);
        let blocks = span_bytes / 2 / block_bytes;
        if matches!(load.pattern, Pattern::Random { .. }) || blocks == 0 {
            return load.clone();
        }
        let moved_bytes = self.written_bytes / block_bytes % blocks * block_bytes;
        Workload {
            base_offset_bytes: load.base_offset_bytes + moved_bytes,
            size_bytes: Some(span_bytes - moved_bytes),
            ..load.clone()
        }
    }

    /// That run is over.
    pub fn completed(&mut self, record: &RunRecord) {
        let Some(job) = record.jobs.first() else {
            self.is_broken = true;
            return;
        };
        self.pieces += 1;
        self.spent_ns = self.spent_ns.saturating_add(job.outcome.duration_ns);
        let share = written_share(&job.workload);
        let intervals = &job.outcome.intervals;
        for interval in intervals {
            self.written_bytes = self.written_bytes.saturating_add(interval.bytes);
            self.pilot.feed(load_interval(interval, share));
        }
        self.is_broken = record.status != Status::Complete || intervals.is_empty();
    }

    /// It was stopped, or cannot go on: what it found is not a sustained rate.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Nanoseconds that its runs took.
    pub fn spent_ns(&self) -> u64 {
        self.spent_ns
    }

    /// The result so far.
    pub fn found(&self) -> SustainedRecord {
        SustainedRecord::of(&self.pilot.outcome())
    }
}

/// The share of a mixed load's bytes that a cache absorbs.
fn written_share(workload: &Workload) -> f64 {
    match workload.read_percent {
        100 => 1.0,
        percent => 1.0 - f64::from(percent) / 100.0,
    }
}

fn load_interval(interval: &Interval, written_share: f64) -> LoadInterval {
    let operations = interval.operations();
    LoadInterval {
        seconds: interval.duration_ns as f64 / SECOND_NS,
        operations,
        // A float-to-integer cast saturates.
        bytes: (interval.bytes as f64 * written_share) as u64,
        latency_s: (operations > 0).then_some(interval.latency_ns_mean / SECOND_NS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{JobOutcome, JobRecord, SustainedClaim};

    const BLOCK: u64 = 8_192;

    /// The record of a run on a device that takes 10,000 writes a second until 160 MiB are
    /// written, and 1,000 after that.
    fn run(job: &PlacedJob, written: &mut u64) -> RunRecord {
        let mut intervals = Vec::new();
        let tenths = job.workload.duration_ns.div_ceil(100_000_000);
        for tenth in 0..tenths {
            let operations = if *written < 160 << 20 { 1_000 } else { 100 };
            *written += operations * BLOCK;
            intervals.push(Interval {
                start_ns: tenth * 100_000_000,
                duration_ns: 100_000_000,
                write_operations: operations,
                bytes: operations * BLOCK,
                latency_ns_mean: 1e6,
                ..Interval::default()
            });
        }
        RunRecord {
            jobs: vec![JobRecord {
                name: job.name.clone(),
                workload: job.workload.clone(),
                outcome: JobOutcome {
                    duration_ns: tenths * 100_000_000,
                    intervals,
                    ..JobOutcome::default()
                },
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        }
    }

    fn job() -> PlacedJob {
        PlacedJob::new(
            "random-write",
            Workload {
                read_percent: 0,
                ..Workload::default()
            },
        )
    }

    #[test]
    fn it_writes_on_behind_the_step_and_resumes_from_its_state() {
        let mut pilot = LoadPilot::new(job(), PilotPlan::new(false), 1 << 40, None);
        let mut written = 0;
        let mut seeds = Vec::new();
        while let Some(piece) = pilot.next() {
            seeds.push(piece.workload.seed);
            pilot.completed(&run(&piece, &mut written));
            let stored = serde_json::to_string(&pilot).expect("JSON");
            pilot = serde_json::from_str(&stored).expect("the same pilot");
        }
        let found = pilot.found();
        assert_eq!(found.claim, SustainedClaim::Sustained);
        let absorbed = found.absorbed_bytes.expect("a step") as f64;
        assert!(
            (absorbed / f64::from(160 << 20) - 1.0).abs() < 0.06,
            "{absorbed}"
        );
        assert!((found.iops.expect("a rate") - 1_000.0).abs() < 1.0);
        seeds.dedup();
        assert!(seeds.len() > 5);
    }

    #[test]
    fn a_pilot_whose_time_is_up_has_no_rate_that_lasts() {
        let limit_ns = 2_000_000_000;
        let mut pilot = LoadPilot::new(job(), PilotPlan::new(true), 1 << 40, Some(limit_ns));
        let mut written = 0;
        while let Some(piece) = pilot.next() {
            pilot.completed(&run(&piece, &mut written));
        }
        assert_eq!(pilot.spent_ns(), limit_ns);
        assert_eq!(pilot.found().claim, SustainedClaim::TooShort);
    }

    #[test]
    fn a_stream_goes_on_where_it_was() {
        let sequential = PlacedJob::new(
            "log",
            Workload {
                read_percent: 0,
                pattern: Pattern::Sequential {
                    cursor: stripewise_workload::CursorKind::Own,
                },
                ..Workload::default()
            },
        );
        let mut pilot = LoadPilot::new(sequential, PilotPlan::new(false), 1 << 30, None);
        let mut written = 0;
        pilot.completed(&run(&pilot.next().expect("a run"), &mut written));
        let second = pilot.next().expect("a run").workload;
        assert_eq!(second.base_offset_bytes, written);
        assert_eq!(second.size_bytes, Some((1 << 30) - written));
    }

    #[test]
    fn a_run_that_was_stopped_ends_it() {
        let mut pilot = LoadPilot::new(job(), PilotPlan::new(true), 1 << 40, None);
        let stopped = RunRecord {
            status: Status::Partial,
            ..run(&pilot.next().expect("a run"), &mut 0)
        };
        pilot.completed(&stopped);
        assert!(pilot.is_broken() && pilot.next().is_none());
    }
}
