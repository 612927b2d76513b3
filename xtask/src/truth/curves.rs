//! Devices with a formula for throughput and latency at every load, and the scatter of a bench's
//! runs around it.

use std::sync::atomic::{AtomicU64, Ordering};
use stripewise_lab::{Series, SeriesKind, SeriesPlan};
use stripewise_results::{
    EngineFacts, Interval, JobOutcome, JobRecord, LatencySummary, RunRecord, TargetFacts,
};
use stripewise_stats::{CurvePoint, Random, knee};
use stripewise_workload::Workload;

/// One run in this many is slowed down, to this share of its rate.
const SLOWED_SHARE: f64 = 0.05;
const SLOWED_TO: f64 = 0.6;
/// Run-to-run variation of the ratio of p99 to mean latency.
const TAIL_NOISE: f64 = 0.05;
/// Variation of the rate of a tenth of a second within its run.
const INTERVAL_NOISE: f64 = 0.03;
/// Most operations in flight, as in a bench.
const LOAD_MAX: f64 = 256.0;

/// X(N) = ceiling / (1 + (knee / N)^sharpness)^(1 / sharpness), and a p99 of `TAIL` times the mean
/// latency at the knee, times (N / knee)^`tail_slope` elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// Load at which proportional growth would reach the ceiling.
    pub knee: f64,
    /// Sharpness of the knee: 2 is a soft bend, 16 a corner; 0: flat from 1 on.
    pub sharpness: f64,
    pub tail_slope: f64,
    /// Throughput decline beyond the knee, per multiple of its load.
    pub decline: f64,
}

const CEILING: f64 = 20_000.0;
const TAIL: f64 = 2.5;

impl Curve {
    /// Operations per second with `load` in flight.
    pub fn rate(&self, load: f64) -> f64 {
        let share = if self.sharpness == 0.0 {
            1.0
        } else {
            let over = (self.knee / load).powf(self.sharpness);
            (1.0 + over).powf(-1.0 / self.sharpness)
        };
        CEILING * share / (1.0 + self.decline * (load / self.knee))
    }

    /// p99 in seconds.
    pub fn latency_s(&self, load: f64) -> f64 {
        TAIL * (load / self.knee).powf(self.tail_slope) * load / self.rate(load)
    }

    /// The load of the knee as the project defines it: the point of maximum curvature over log2 of
    /// the load, from 1 to the maximum in flight.
    pub fn knee_load(&self) -> f64 {
        // In hundredths, as loads of a curve are integers.
        let loads = (100..=25_600).step_by(5);
        let curve = loads.map(|load| CurvePoint {
            load,
            rate: self.rate(load as f64 / 100.0),
        });
        let found = knee(&curve.collect::<Vec<_>>()).and_then(|knee| knee.kneedle);
        found.map_or(self.knee, |load| load as f64 / 100.0)
    }

    /// The maximum over all loads up to `load`.
    pub fn most_up_to(&self, load: f64) -> f64 {
        let loads = (1..=LOAD_MAX as u32)
            .map(f64::from)
            .filter(|&one| one <= load);
        let most = loads.map(|load| self.rate(load)).fold(0.0, f64::max);
        most.max(self.rate(load.min(LOAD_MAX)))
    }
}

/// Generates runs of a curve.
pub struct Runs {
    pub curve: Curve,
    /// Standard deviation of ln of the rate between runs.
    pub noise: f64,
    pub random: Random,
    pub elapsed_ns: u64,
    pub limit: String,
}

/// Run ids are unique in the process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Runs {
    fn outcome(&mut self, workload: &Workload) -> JobOutcome {
        let load = f64::from(workload.threads * workload.outstanding);
        let slowed = self.random.uniform() < SLOWED_SHARE;
        let factor = if slowed { SLOWED_TO } else { 1.0 };
        let factor = factor * (self.noise * self.random.normal()).exp();
        let tail = (TAIL_NOISE * self.random.normal()).exp();
        let iops = self.curve.rate(load) * factor;
        let p99_s = self.curve.latency_s(load) / factor * tail;
        let intervals = (0..15).map(|number| {
            let rate = iops * (1.0 + INTERVAL_NOISE * self.random.normal());
            Interval {
                start_ns: number * 100_000_000,
                duration_ns: 100_000_000,
                read_operations: (rate.max(0.0) / 10.0).round() as u64,
                write_operations: 0,
                discard_operations: 0,
                bytes: 0,
                latency_ns_mean: 0.0,
                latency_ns_p99: None,
                latency_ns_p99_is_bound: false,
                latency_ns_max: 0,
                errors: 0,
            }
        });
        let mut outcome = JobOutcome {
            duration_ns: workload.duration_ns,
            operations: (iops * 1.5) as u64,
            iops,
            mib_per_s: iops * workload.block_size_bytes as f64 / 1_048_576.0,
            intervals: intervals.collect(),
            ..JobOutcome::default()
        };
        outcome.read.latency_ns = Some(LatencySummary {
            p99: (p99_s * 1e9).round() as u64,
            ..LatencySummary::default()
        });
        outcome
    }
}

impl Runs {
    /// Generates the runs of a series.
    pub fn series(&mut self, plan: &SeriesPlan) -> Vec<RunRecord> {
        let mut series = Series::new(plan.clone());
        let mut records = Vec::new();
        while let Some(run) = series.next(self.elapsed_ns) {
            let record = self.run(plan.kind, run.workload, run.answer_block);
            series.completed(&record);
            records.push(record);
        }
        records
    }

    fn run(
        &mut self,
        kind: SeriesKind,
        workload: Workload,
        answer_block: Option<u32>,
    ) -> RunRecord {
        self.elapsed_ns += workload.length_ns();
        let outcome = self.outcome(&workload);
        RunRecord {
            id: NUMBER.fetch_add(1, Ordering::Relaxed).to_string(),
            series: Some("truth".to_owned()),
            series_part: Some(kind.name().to_owned()),
            answer_block,
            latency_limit: Some(self.limit.clone()),
            jobs: vec![JobRecord {
                name: kind.name().to_owned(),
                target: TargetFacts::unknown(),
                further_targets: Vec::new(),
                workload,
                engine: EngineFacts::default(),
                outcome,
                warnings: Vec::new(),
            }],
            ..RunRecord::empty()
        }
    }
}
