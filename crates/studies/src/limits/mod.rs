//! `limits`: which limit a volume has, what set it, and how long a burst lasts.
//!
//! Rounds over a grid of cells that read, in random order, then the runs that write, as
//! [`LimitRates::round`] plans them; with a burst to be measured, then pieces at the cap until
//! the rate steps down, a rest, and pieces again. What is not known after the last run is said
//! so.

mod burst;
mod chart;
mod document;
mod judge;
mod names;
mod show;
mod text;
mod volume;

#[cfg(test)]
mod tests;

pub use chart::roofline;
pub use document::{
    AppliesTo, BucketUnit, BurstFound, BurstResult, BurstSearch, CapFound, CapKind, CellFound,
    ControlGroupLimit, Limit, LimitsDocument, LimitsFacts, LoadApplies, LoadKind, VolumeFound,
    VolumeThrottled,
};
pub use names::VolumeTable;
pub use show::sheet;
pub use text::cap as cap_text;

use crate::{NextStep, PlacedJob, Run, RunId, Study, StudyTime};
use burst::{Burst, BurstNext};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_report::Sheet;
use stripewise_results::{JobRecord, RunRecord, Severity, Status};
use stripewise_stats::{
    BindingRates, BurstUse, Drift, LimitCell, LimitRates, REPETITIONS_MAX, REPETITIONS_MIN, Random,
    STEP_SECONDS,
};
use stripewise_workload::Workload;
use volume::VolumeObservation;

/// Version of the stored state.
const STATE_VERSION: u32 = 1;
/// A thread that is busy for this share of the time does not wait for the target.
const BUSY_SHARE_MIN: f64 = 0.9;
/// Operations larger than this count several times on some volumes (Amazon EBS).
const UNIT_BYTES: u64 = 256 << 10;
/// A rate that fell by this share within the grid is found as the end of a burst.
const FALL_SHARE_MIN: f64 = 0.2;
/// What a run takes on a real target beside its own time: files are opened, the machine is looked
/// at before and after, and the record is stored.
const BETWEEN_RUNS_NS: u64 = 250_000_000;
/// Depth from which a cell has several threads.
const THREADS_DEPTH_MIN: u32 = 16;

/// Parameters of the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitsOptions {
    /// Writes are included.
    pub writes: bool,
    /// Measured time of a run of the grid.
    pub run_ns: u64,
    /// Ramp before it.
    pub ramp_ns: u64,
    /// Minimum number of operations of a run on a simulated array.
    pub simulated_operations_min: u64,
    /// Threads of deep cells.
    pub threads: u32,
    /// Bytes of the target in use; `None`: all.
    pub size_bytes: Option<u64>,
    /// Block size and depth of the user's own load, whose limit is to be found.
    pub load: Option<(u64, u32)>,
    /// Maximum time to drive the burst until it ends; `None`: do not.
    pub burst_ns_max: Option<u64>,
    /// Seed of positions, data and order.
    pub seed: u64,
}

/// A cell of the grid, or a neighbour of the user's own load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Planned {
    Grid(LimitCell),
    Load,
    Larger,
    Smaller,
    Deeper,
}

/// Something in the way of an answer, and how often it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Obstacle {
    runs: u32,
    message: String,
}

/// What a run of the grid took from a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct GridUse {
    operations_per_s: f64,
    /// The same in units of [`UNIT_BYTES`], as some volumes count.
    units_per_s: f64,
    bytes_per_s: f64,
    seconds: f64,
}

impl GridUse {
    fn of(&self, unit: BucketUnit) -> BurstUse {
        let (per_s, per_s_high) = match unit {
            BucketUnit::Operations => (self.operations_per_s, self.units_per_s),
            BucketUnit::Bytes => (self.bytes_per_s, self.bytes_per_s),
        };
        BurstUse {
            per_s,
            per_s_high,
            seconds: self.seconds,
        }
    }
}

/// The study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitsStudy {
    state_version: u32,
    options: LimitsOptions,
    rates: LimitRates,
    binding: BindingRates,
    /// Remaining runs of this round, in reverse.
    round: Vec<Planned>,
    round_number: usize,
    runs: u32,
    spent_ns: u64,
    /// What the grid took from a bucket, by time.
    used: Vec<GridUse>,
    /// Warnings that void rates, by code.
    obstacles: BTreeMap<String, Obstacle>,
    /// The cells of runs that this host's processor held back.
    processor: Vec<Planned>,
    /// The same for a control group.
    control_group: Vec<Planned>,
    burst: Option<Burst>,
    /// What the volume reported about itself.
    volume: Option<VolumeObservation>,
    interrupted: bool,
}

impl LimitsStudy {
    /// The study at its beginning.
    pub fn new(options: LimitsOptions) -> LimitsStudy {
        let mut study = LimitsStudy {
            state_version: STATE_VERSION,
            options,
            rates: LimitRates::default(),
            binding: BindingRates::default(),
            round: Vec::new(),
            round_number: 0,
            runs: 0,
            spent_ns: 0,
            used: Vec::new(),
            obstacles: BTreeMap::new(),
            processor: Vec::new(),
            control_group: Vec::new(),
            burst: None,
            volume: None,
            interrupted: false,
        };
        study.plan_round();
        study
    }

    /// Whether writes are included.
    pub fn writes(&self) -> bool {
        self.options.writes
    }

    /// Plans the runs of the next round; none if the grid is done.
    fn plan_round(&mut self) {
        let number = self.round_number;
        let Some(cells) = self.rates.round(number, self.options.writes) else {
            return;
        };
        // Those of the user's own load come in the same rounds as the grid.
        let with_load = cells.contains(&LimitCell::Large);
        let writes = cells.iter().any(|cell| cell.writes());
        let mut planned: Vec<Planned> = cells.into_iter().map(Planned::Grid).collect();
        if let Some((bytes, _)) = self.options.load.filter(|_| with_load) {
            planned.extend([Planned::Load, Planned::Larger, Planned::Deeper]);
            planned.extend((bytes / 2 >= 4096).then_some(Planned::Smaller));
        }
        match writes {
            true => planned.reverse(),
            false => {
                let mut random = Random::new(self.options.seed ^ ((number as u64 + 1) << 32));
                random.shuffle(&mut planned);
            }
        }
        self.round = planned;
        self.round_number += 1;
    }

    /// Block size and depth of a planned cell.
    fn load_of(&self, planned: Planned) -> Option<(u64, u32)> {
        let (bytes, depth) = match planned {
            Planned::Grid(cell) => {
                return self
                    .rates
                    .block_size_bytes(cell)
                    .zip(self.rates.outstanding(cell));
            }
            _ => self.options.load?,
        };
        Some(match planned {
            Planned::Larger => (bytes * 2, depth),
            Planned::Smaller => (bytes / 2, depth),
            Planned::Deeper => (bytes, depth * 2),
            _ => (bytes, depth),
        })
    }

    fn workload(&self, bytes: u64, depth: u32, read_percent: u8) -> Workload {
        let threads = self.options.threads.max(1);
        let several = depth >= THREADS_DEPTH_MIN && depth.is_multiple_of(threads);
        let threads = if several { threads } else { 1 };
        Workload {
            read_percent,
            block_size_bytes: bytes,
            threads,
            outstanding: depth / threads,
            duration_ns: self.options.run_ns,
            ramp_ns: self.options.ramp_ns,
            size_bytes: self.options.size_bytes,
            seed: self.options.seed.wrapping_add(u64::from(self.runs)),
            ..Workload::default()
        }
    }

    fn job_of(&self, planned: Planned) -> Option<PlacedJob> {
        let (bytes, depth) = self.load_of(planned)?;
        let (name, reads) = match planned {
            Planned::Grid(cell) => (text::cell_name(cell), cell.read_percent()),
            _ => ("own load", 100),
        };
        Some(PlacedJob::new(name, self.workload(bytes, depth, reads)))
    }

    /// A piece of the drive at the cap: reads only, so that a write cache
    /// is not mistaken for a bucket.
    fn piece(&self, burst: &Burst) -> PlacedJob {
        let (bytes, depth) = burst.load();
        let workload = Workload {
            duration_ns: burst.piece_ns(),
            ramp_ns: 0,
            ..self.workload(bytes, depth, 100)
        };
        PlacedJob::new("burst", workload)
    }

    /// Begins the burst when the grid is done, if requested and there is a cap.
    fn begin_burst(&mut self) {
        let Some(budget_ns) = self.options.burst_ns_max else {
            return;
        };
        let Some(caps) = self.rates.caps().filter(|_| self.obstacle().is_none()) else {
            return;
        };
        let fall = caps.drift.filter(|drift| drift.change_share < 0.0);
        let unit = match (fall, caps.iops, caps.bytes_per_s) {
            // Less is not found as a step, and the lower rate would pass for the burst.
            (Some(drift), ..) if drift.change_share > -FALL_SHARE_MIN => return,
            (Some(drift), ..) if drift.cell == LimitCell::Large => BucketUnit::Bytes,
            (None, None, Some(_)) => BucketUnit::Bytes,
            (None, None, None) => return,
            _ => BucketUnit::Operations,
        };
        let earlier = self.used.iter().map(|used| used.of(unit)).collect();
        let at_cap = Drift {
            change_share: -FALL_SHARE_MIN,
            after_rounds: None,
            cell: match unit {
                BucketUnit::Operations => LimitCell::Small,
                BucketUnit::Bytes => LimitCell::Large,
            },
        };
        let of_grid = self.before_fall(&fall.unwrap_or(at_cap), unit);
        let has_fallen = fall.is_some();
        self.burst = Some(Burst::new(unit, budget_ns, earlier, of_grid, has_fallen));
    }

    /// Rates by second at a cap that fell within the grid or after it, until then: of the runs that
    /// show it, for as long as any run reached it.
    fn before_fall(&self, drift: &Drift, unit: BucketUnit) -> Vec<f64> {
        let weight = match unit {
            BucketUnit::Operations => 1.0,
            BucketUnit::Bytes => self.rates.block_size_bytes(drift.cell).unwrap_or(1) as f64,
        };
        let runs = self.rates.of(drift.cell);
        let before = &runs[..drift.after_rounds.unwrap_or(runs.len()).min(runs.len())];
        let rates = before.iter().map(|rate| rate * weight);
        // The run within which it fell is not at the cap.
        let lowest = rates.clone().fold(0.0, f64::max) * (1.0 + drift.change_share).sqrt();
        let rates = rates.filter(|rate| *rate > lowest);
        let uses = self.used.iter().map(|used| used.of(unit));
        let at_cap = uses.filter(|used| used.per_s > lowest);
        let seconds: f64 = at_cap.map(|used| used.seconds).sum();
        let count = (seconds as usize).max(STEP_SECONDS);
        rates.cycle().take(count).collect()
    }

    /// It can go on after a pause. What was driven of a burst cannot: its bucket fills
    /// meanwhile.
    pub fn is_open(&self) -> bool {
        self.burst.is_none() && self.next() != NextStep::Done
    }

    /// It was stopped while a burst was being driven.
    pub fn is_stopped_burst(&self) -> bool {
        self.burst.is_some() && self.next() != NextStep::Done
    }

    /// Goes on after a pause of so many seconds, in which a bucket fills; `None`: with a target
    /// that begins anew. Runs that write are made again.
    pub fn resumed(&mut self, pause_s: Option<f64>) {
        if self.rates.reads_are_over() {
            self.rates.forget_writes();
            self.plan_round();
        }
        match pause_s {
            None => self.used.clear(),
            Some(seconds) => self.used.push(GridUse {
                operations_per_s: 0.0,
                units_per_s: 0.0,
                bytes_per_s: 0.0,
                seconds,
            }),
        }
    }

    /// What voids the rates, if anything does in a third of the runs or more.
    fn obstacle(&self) -> Option<&Obstacle> {
        let most = self.obstacles.values().max_by_key(|one| one.runs)?;
        (3 * most.runs >= self.runs.max(1)).then_some(most)
    }

    fn note_warnings(&mut self, planned: Planned, job: &JobRecord) {
        if busy_share(job) >= BUSY_SHARE_MIN {
            self.processor.push(planned);
        }
        for warning in &job.warnings {
            match (warning.code.as_str(), warning.severity) {
                ("cpu-quota" | "cpu-steal", severity) if severity >= Severity::Warning => {
                    self.processor.push(planned);
                }
                ("io-throttled", Severity::Void) => {
                    self.control_group.push(planned);
                }
                (code, Severity::Void) => {
                    let obstacle = self.obstacles.entry(code.to_owned());
                    let obstacle = obstacle.or_insert_with(|| Obstacle {
                        runs: 0,
                        message: warning.message.clone(),
                    });
                    obstacle.runs += 1;
                }
                _ => {}
            }
        }
    }

    fn complete_planned(&mut self, planned: Planned, job: &JobRecord) {
        let rate = job.outcome.iops;
        self.note_warnings(planned, job);
        if job.outcome.volume.is_some() {
            let seen = self.volume.get_or_insert_with(VolumeObservation::default);
            seen.add(planned, &job.outcome);
        }
        match planned {
            Planned::Grid(cell) => self.rates.add(cell, rate),
            Planned::Load => self.binding.load.push(rate),
            Planned::Larger => self.binding.larger.push(rate),
            Planned::Smaller => self.binding.smaller.push(rate),
            Planned::Deeper => self.binding.deeper.push(rate),
        }
        let seconds = (job.outcome.duration_ns + job.workload.ramp_ns) as f64 / 1e9;
        // Operations in flight at the stop were taken from the bucket as well.
        let drained = job.outcome.drain.operations as f64 / seconds.max(f64::MIN_POSITIVE);
        let rate = rate + drained;
        let bytes = rate * job.workload.block_size_bytes as f64;
        self.used.push(GridUse {
            operations_per_s: rate,
            units_per_s: rate * (job.workload.block_size_bytes.div_ceil(UNIT_BYTES) as f64),
            bytes_per_s: bytes,
            seconds,
        });
        if self.round.is_empty() {
            self.plan_round();
        }
        if self.round.is_empty() {
            self.begin_burst();
        }
    }

    /// Remaining runs of the grid until every load has this many; those behind slower writes are
    /// not among them.
    fn grid_runs_left(&self, repetitions: usize) -> u64 {
        if self.round.is_empty() || self.rates.reads_are_over() {
            return self.round.len() as u64;
        }
        let of_load = self.options.load.map_or(0, |_| 4);
        let reads = LimitCell::FIXED.iter().filter(|cell| !cell.writes());
        let reads = reads.count() + of_load;
        // Two, until they are chosen.
        let corners = match self.round_number > REPETITIONS_MIN {
            true => self.rates.corners.count(),
            false => 2,
        };
        let first = REPETITIONS_MIN.saturating_sub(self.round_number);
        let of_corners =
            (2 * REPETITIONS_MIN).saturating_sub(self.round_number.max(REPETITIONS_MIN));
        let so_far = match self.round_number <= 2 * REPETITIONS_MIN {
            true => REPETITIONS_MIN,
            false => self.rates.repetitions() + 1,
        };
        let further = repetitions.saturating_sub(so_far);
        let of_reads = first * reads + of_corners * (corners + 1) + further * (reads + corners);
        let of_writes = match self.options.writes {
            true => 2 * repetitions.max(so_far),
            false => 0,
        };
        (self.round.len() + of_reads + of_writes) as u64
    }

    /// How long the rest of the grid takes on a real target: at the scatter so far, and at most.
    pub fn grid_time_ns(&self) -> [u64; 2] {
        let expected = self.rates.repetitions_needed(self.options.writes);
        let behind_writes = match self.options.writes {
            true => REPETITIONS_MAX as u64,
            false => 0,
        };
        let most = self.grid_runs_left(REPETITIONS_MAX) + behind_writes;
        [self.grid_runs_left(expected), most]
            .map(|runs| runs.saturating_mul(self.run_ns().saturating_add(BETWEEN_RUNS_NS)))
    }

    /// How long a burst takes, with its rest and the second drive, if one is to be driven.
    pub fn burst_time_ns(&self) -> Option<u64> {
        self.options.burst_ns_max.map(Burst::longest_ns)
    }

    fn run_ns(&self) -> u64 {
        self.options.run_ns.saturating_add(self.options.ramp_ns)
    }
}

/// Processor time of a job's threads relative to wall time. Excludes other work on the
/// machine: a cap holds whatever else is busy.
fn busy_share(job: &JobRecord) -> f64 {
    let outcome = &job.outcome;
    let each_ns = outcome.cpu_user_ns_per_operation + outcome.cpu_system_ns_per_operation;
    let had_ns = outcome.duration_ns as f64 * f64::from(job.workload.threads.max(1));
    match had_ns > 0.0 {
        true => each_ns * outcome.operations as f64 / had_ns,
        false => 0.0,
    }
}

impl Study for LimitsStudy {
    fn loads(&self) -> Vec<PlacedJob> {
        let fixed = LimitCell::FIXED.into_iter();
        let fixed = fixed.filter(|cell| self.options.writes || !cell.writes());
        let grid = fixed.filter_map(|cell| self.job_of(Planned::Grid(cell)));
        let own = [Planned::Load, Planned::Larger, Planned::Deeper];
        let own = own.into_iter().filter(|_| self.options.load.is_some());
        grid.chain(own.filter_map(|planned| self.job_of(planned)))
            .collect()
    }

    fn next(&self) -> NextStep {
        let id = RunId(self.runs);
        if let Some(job) = self.round.last().and_then(|planned| self.job_of(*planned)) {
            let title = format!("Round {}: {}", self.round_number, job.name);
            let mut run = Run::of(id, title, job);
            run.part = "grid".to_owned();
            run.simulated_operations_min = self.options.simulated_operations_min;
            return NextStep::Run(Box::new(run));
        }
        let Some(burst) = &self.burst else {
            return NextStep::Done;
        };
        match burst.next() {
            BurstNext::Piece(title) => {
                let run = Run::of(id, title, self.piece(burst));
                NextStep::Run(Box::new(run))
            }
            BurstNext::Rest(length_ns) => NextStep::Rest {
                length_ns,
                title: "Resting, so that the bucket fills".to_owned(),
            },
            BurstNext::Done => NextStep::Done,
        }
    }

    fn completed(&mut self, run: RunId, record: &RunRecord) {
        if run != RunId(self.runs) {
            return;
        }
        let Some(job) = record
            .jobs
            .first()
            .filter(|_| record.status == Status::Complete)
        else {
            self.interrupted = true;
            return;
        };
        self.interrupted = false;
        self.runs += 1;
        let length_ns = job.outcome.duration_ns.saturating_add(job.workload.ramp_ns);
        self.spent_ns = self.spent_ns.saturating_add(length_ns);
        match (self.round.pop(), &mut self.burst) {
            (Some(planned), _) => self.complete_planned(planned, job),
            (None, Some(burst)) => burst.completed(&job.outcome),
            (None, None) => {}
        }
    }

    fn rested(&mut self) {
        if let Some(burst) = &mut self.burst {
            self.spent_ns = self.spent_ns.saturating_add(burst.rested());
        }
    }

    fn time(&self) -> StudyTime {
        let expected = self.rates.repetitions_needed(self.options.writes);
        let grid_ns = self.grid_runs_left(expected).saturating_mul(self.run_ns());
        let burst_ns = match (&self.burst, self.options.burst_ns_max) {
            (Some(burst), _) => burst.left_ns(),
            (None, Some(budget_ns)) if !self.round.is_empty() => Burst::longest_ns(budget_ns),
            _ => 0,
        };
        StudyTime {
            spent_ns: self.spent_ns,
            left_ns: grid_ns.saturating_add(burst_ns),
        }
    }

    fn sheet(&self) -> Sheet {
        sheet(&self.document(&LimitsFacts::default()))
    }
}
