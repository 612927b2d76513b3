//! One series as a state machine: decides which run comes next until the ladder ends, the
//! time is spent, or a run was stopped; then the runs for the answer.
//!
//! Pure: the caller passes the time and each record. The state holds sums, not records, and
//! can be serialised between two runs.

use crate::answer::{
    AnswerGoal, AnswerPlan, BLOCK_RUNS, CROSSING_RUNS_MIN, JudgedRun, LEVEL_RUNS_MIN, Order,
    goal_of, least_in_flight, where_to_move,
};
use crate::ladder::{Limits, Load, NextStep, Step, Stop, next_step};
use crate::series::SeriesKind;
use crate::step::{counts, judged_run, rates_of, step_of};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use stripewise_results::{RunRecord, Status};
use stripewise_stats::{LadderStep, Slo, bracketed};
use stripewise_workload::{Workload, derived_seed};

/// One series to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPlan {
    /// Its kind.
    pub kind: SeriesKind,
    /// Its load with one thread and one outstanding.
    pub workload: Workload,
    /// Where the ladder stops.
    pub limits: Limits,
    /// Time of the pilot before it; 0: none.
    pub pilot_ns: u64,
    /// Runs for the answer.
    pub answer: AnswerPlan,
    /// Its deadline, on the clock passed to [`Series::next`]; `None`: none.
    pub deadline_ns: Option<u64>,
    /// Deadline for the minimum number of runs that give an interval: a climb that took the
    /// series' whole time must not leave it without one, as long as the bench has time.
    pub answer_deadline_ns: Option<u64>,
}

/// How a series ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// The ladder's rules ended it.
    Ladder(Stop),
    /// It consists of a single step.
    SingleStep,
    /// The time for it was spent.
    TimeSpent,
    /// Interrupted, or operations failed.
    Partial,
    /// Only some steps are available, and the first of the ladder is not among them.
    Fragment,
}

impl Ended {
    /// As text for records.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Ladder(Stop::KneeBracketed) => "throughput no longer rises with more in flight",
            Ended::Ladder(Stop::LatencyLimit) => "latency grew too long",
            Ended::Ladder(Stop::InFlightLimit) => {
                "stopped at the highest queue depth that is tried"
            }
            Ended::Ladder(Stop::NothingCompleted) => "no operation completed",
            Ended::SingleStep => "a single step",
            Ended::TimeSpent => "the time was up",
            Ended::Partial => "stopped before its end",
            Ended::Fragment => "only some of its steps are present",
        }
    }
}

/// Maximum number of steps of a ladder.
pub fn steps_max(kind: SeriesKind, limits: &Limits) -> u32 {
    if kind.climbs() {
        limits.in_flight_max.max(1).ilog2() + 1
    } else {
        1
    }
}

impl SeriesPlan {
    /// Usual number of runs for the answer: around a crossing for random I/O, at one load
    /// otherwise.
    fn answer_runs(&self) -> u32 {
        match self.kind {
            SeriesKind::RandomRead | SeriesKind::RandomWrite => {
                self.answer.blocks.saturating_mul(BLOCK_RUNS)
            }
            // The step itself was not selected from several, and counts.
            SeriesKind::Log => self.answer.level_runs.saturating_sub(1),
            SeriesKind::SequentialRead | SeriesKind::SequentialWrite => self.answer.level_runs,
        }
    }

    /// Runs of a ladder that goes to its end, plus those for its answer.
    pub fn runs(&self) -> u32 {
        steps_max(self.kind, &self.limits).saturating_add(self.answer_runs())
    }
}

/// Time that a series takes if its ladder goes to its end. A second search for a crossing
/// takes longer, if time is not limited.
pub fn longest_ns(plan: &SeriesPlan) -> u64 {
    u64::from(plan.runs())
        .saturating_mul(plan.workload.length_ns())
        .saturating_add(plan.pilot_ns)
}

/// The most that a series takes where time is not limited, with a pilot of this length: a
/// crossing is looked for at two places, and the runs that something disturbed are made again.
pub fn most_ns(plan: &SeriesPlan, pilot_ns: u64) -> u64 {
    let more = match plan.kind {
        SeriesKind::RandomRead | SeriesKind::RandomWrite => plan
            .answer
            .blocks
            .saturating_add(1)
            .saturating_mul(BLOCK_RUNS),
        _ => 0,
    };
    u64::from(plan.runs().saturating_add(more))
        .saturating_mul(plan.workload.length_ns())
        .saturating_add(pilot_ns)
}

/// A run that a series asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesRun {
    /// Its workload.
    pub workload: Workload,
    /// The random block if it is made for the answer; `None` for a step of the climb.
    pub answer_block: Option<u32>,
    /// Runs remaining in this series, this one included: an upper bound for the climb, the
    /// usual number for the answer.
    pub runs_left: u32,
}

/// A step of the climb, which decides about the next one and about where to look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClimbStep {
    step: Step,
    rates: LadderStep,
    /// It ran to completion, and no warning voids it.
    counts: bool,
}

impl ClimbStep {
    /// `None` for a run without a job.
    pub(crate) fn of(run: &RunRecord, slo: Slo) -> Option<ClimbStep> {
        let job = run.jobs.first()?;
        Some(ClimbStep {
            step: step_of(job, slo),
            rates: rates_of(job),
            counts: counts(run),
        })
    }
}

/// Derives from the valid steps of a climb where to look.
pub(crate) fn goal_of_climb(
    kind: SeriesKind,
    slo: Slo,
    climbed: &[ClimbStep],
) -> Option<AnswerGoal> {
    goal_of(kind, slo, &steps_of(climbed))
}

/// The valid steps of a climb, by work in flight.
fn steps_of(climbed: &[ClimbStep]) -> Vec<Step> {
    let counting = climbed.iter().filter(|one| one.counts);
    let mut steps: Vec<Step> = counting.map(|one| one.step).collect();
    steps.sort_by_key(|step| step.load.in_flight());
    steps
}

/// What follows the planned runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Climb,
    /// Blocks around a crossing; `before` was tried first.
    Around {
        in_flight: f64,
        before: Option<f64>,
    },
    /// Those blocks are done; disturbed runs may be repeated.
    Looked {
        in_flight: f64,
        before: Option<f64>,
    },
    /// Nothing more.
    Done,
}

/// A run for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Planned {
    load: Load,
    block: u32,
    runs_left: u32,
}

/// Runs in blocks, numbered from `first`.
fn planned(blocks: Vec<Vec<Load>>, first: u32) -> VecDeque<Planned> {
    let mut left = blocks.iter().map(|loads| loads.len() as u32).sum::<u32>();
    let mut runs = VecDeque::new();
    for (block, loads) in (first..).zip(blocks) {
        for load in loads {
            runs.push_back(Planned {
                load,
                block,
                runs_left: left,
            });
            left -= 1;
        }
    }
    runs
}

/// A series while it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    plan: SeriesPlan,
    climbed: Vec<ClimbStep>,
    judged: Vec<JudgedRun>,
    stage: Stage,
    /// Remaining runs of the stage, the next one first.
    planned: VecDeque<Planned>,
    /// How the climb ended; `None` while it goes on.
    ended: Option<Ended>,
    /// The last requested run is for the answer.
    is_for_answer: bool,
}

impl Series {
    /// The series before its first run.
    pub fn new(plan: SeriesPlan) -> Series {
        Series {
            plan,
            climbed: Vec::new(),
            judged: Vec::new(),
            stage: Stage::Climb,
            planned: VecDeque::new(),
            ended: None,
            is_for_answer: false,
        }
    }

    /// How it ended; partial while it is still going on.
    #[must_use]
    pub fn ended(&self) -> Ended {
        self.ended.unwrap_or(Ended::Partial)
    }

    /// The next run, given the time since the bench began (virtual on simulated targets);
    /// `None` when the series is over.
    pub fn next(&mut self, elapsed_ns: u64) -> Option<SeriesRun> {
        if self.stage == Stage::Climb {
            match self.next_step(elapsed_ns) {
                Ok(load) => return Some(self.step(load)),
                Err(ended) => self.climb_ended(ended),
            }
        }
        if self.planned.is_empty() {
            self.plan_more();
        }
        let next = *self.planned.front()?;
        if self.is_late(elapsed_ns) {
            self.stop();
            return None;
        }
        self.is_for_answer = true;
        Some(SeriesRun {
            workload: self.at_load(next.load, 1 + self.judged.len() as u64),
            answer_block: Some(next.block),
            runs_left: next.runs_left,
        })
    }

    /// That run is over. A stopped run ends the series.
    pub fn completed(&mut self, record: &RunRecord) {
        let slo = self.plan.limits.slo;
        if self.is_for_answer {
            self.planned.pop_front();
            self.judged.extend(judged_run(record, slo));
        } else {
            self.climbed.extend(ClimbStep::of(record, slo));
        }
        if record.status != Status::Complete || record.jobs.is_empty() {
            self.stop();
            self.ended = Some(Ended::Partial);
        }
    }

    fn stop(&mut self) {
        self.stage = Stage::Done;
        self.planned.clear();
    }

    /// The load of the next step of the climb, or why there is none.
    fn next_step(&self, elapsed_ns: u64) -> Result<Load, Ended> {
        let steps: Vec<Step> = self.climbed.iter().map(|one| one.step).collect();
        let rates = self.climbed.iter().map(|one| one.rates.clone());
        let rates: Vec<LadderStep> = rates.collect();
        let load = match (self.plan.kind.climbs(), steps.is_empty()) {
            (true, _) => match next_step(&steps, bracketed(&rates), &self.plan.limits) {
                NextStep::Climb(load) => load,
                NextStep::Done(stop) => return Err(Ended::Ladder(stop)),
            },
            (false, true) => Load {
                threads: 1,
                outstanding: 1,
            },
            (false, false) => return Err(Ended::SingleStep),
        };
        // The first step always runs: a series without a value answers nothing.
        match !steps.is_empty() && self.is_later(elapsed_ns, self.plan.deadline_ns) {
            true => Err(Ended::TimeSpent),
            false => Ok(load),
        }
    }

    fn step(&self, load: Load) -> SeriesRun {
        let done = u32::try_from(self.climbed.len()).unwrap_or(u32::MAX);
        SeriesRun {
            workload: self.at_load(load, 0),
            answer_block: None,
            runs_left: self.plan.runs().saturating_sub(done),
        }
    }

    /// Plans the runs that the answer is based on.
    fn climb_ended(&mut self, ended: Ended) {
        self.ended = Some(ended);
        self.stage = Stage::Done;
        let Some(goal) = goal_of_climb(self.plan.kind, self.plan.limits.slo, &self.climbed) else {
            return;
        };
        match goal {
            AnswerGoal::Level { load, .. } => {
                let count = match self.plan.kind.climbs() {
                    true => self.plan.answer.level_runs,
                    false => self.plan.answer.level_runs.saturating_sub(1),
                };
                let runs = (0..count).map(|block| Planned {
                    load,
                    block,
                    runs_left: count - block,
                });
                self.planned = runs.collect();
            }
            AnswerGoal::Plateau { loads } => {
                let mut loads = loads.to_vec();
                loads.dedup();
                let mut order = self.order();
                let blocks = (0..LEVEL_RUNS_MIN).map(|_| order.shuffled(loads.clone()));
                self.planned = planned(blocks.collect(), 0);
            }
            AnswerGoal::Crossing { in_flight } => {
                self.stage = Stage::Around {
                    in_flight,
                    before: None,
                };
            }
        }
    }

    /// Blocks around a crossing; if the new runs show it elsewhere, one more set there,
    /// and all of them count. Disturbed runs are repeated once.
    fn plan_more(&mut self) {
        let slo = self.plan.limits.slo;
        loop {
            match self.stage {
                Stage::Climb | Stage::Done => return,
                Stage::Around { in_flight, before } => {
                    self.planned = self.around(in_flight, before);
                    self.stage = Stage::Looked { in_flight, before };
                    if !self.planned.is_empty() {
                        return;
                    }
                }
                Stage::Looked { in_flight, before } => {
                    let moved =
                        where_to_move(in_flight, &self.judged, slo).filter(|_| before.is_none());
                    if let Some(load) = moved {
                        self.stage = Stage::Around {
                            in_flight: load.clamp(in_flight / 4.0, in_flight * 4.0),
                            before: Some(in_flight),
                        };
                        continue;
                    }
                    let blocks = 1 + u32::from(before.is_some());
                    self.planned = self.again(blocks * self.plan.answer.blocks);
                    self.stage = Stage::Done;
                    return;
                }
            }
        }
    }

    fn order(&self) -> Order {
        let limits = self.plan.limits;
        Order::new(self.plan.workload.seed, limits.cores, limits.in_flight_max)
            .with_least(least_in_flight(&steps_of(&self.climbed)))
    }

    /// The blocks around a crossing, in an order that continues that of the place
    /// before it.
    fn around(&self, in_flight: f64, before: Option<f64>) -> VecDeque<Planned> {
        let mut order = self.order();
        let blocks = self.plan.answer.blocks;
        let first = match before {
            Some(before) => {
                (0..blocks).for_each(|_| drop(order.block(before)));
                blocks
            }
            None => 0,
        };
        let blocks = (0..blocks).map(|_| order.block(in_flight)).collect();
        planned(blocks, first)
    }

    /// Repeats of disturbed runs.
    fn again(&self, block: u32) -> VecDeque<Planned> {
        let disturbed = self.judged.iter().filter(|run| run.disturbed && run.counts);
        let loads = disturbed.map(|run| run.step.load);
        let loads: Vec<Load> = loads.take(BLOCK_RUNS as usize).collect();
        let left = u32::try_from(loads.len()).unwrap_or(0);
        let runs = loads.into_iter().zip(0..).map(|(load, done)| Planned {
            load,
            block,
            runs_left: left.saturating_sub(done),
        });
        runs.collect()
    }

    /// The next run of the answer would end after its deadline.
    fn is_late(&self, elapsed_ns: u64) -> bool {
        let due = match self.judged.len() < CROSSING_RUNS_MIN {
            true => self.plan.answer_deadline_ns.max(self.plan.deadline_ns),
            false => self.plan.deadline_ns,
        };
        self.is_later(elapsed_ns, due)
    }

    fn is_later(&self, elapsed_ns: u64, deadline_ns: Option<u64>) -> bool {
        let end_ns = elapsed_ns.saturating_add(self.plan.workload.length_ns());
        deadline_ns.is_some_and(|deadline| end_ns > deadline)
    }

    /// The series' workload at a load; runs of an answer have seeds of their own, so that
    /// none repeats the positions of another.
    fn at_load(&self, load: Load, number: u64) -> Workload {
        let workload = &self.plan.workload;
        Workload {
            threads: load.threads,
            outstanding: load.outstanding,
            seed: derived_seed(workload.seed, number),
            ..workload.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{LadderOptions, plan_bench};
    use stripewise_results::{Interval, JobOutcome, JobRecord, LatencySummary, Severity, Warning};

    const STEP_NS: u64 = 1_600_000_000;

    fn plan(kind: SeriesKind, limit: &str) -> SeriesPlan {
        let options = LadderOptions {
            qualify: false,
            series: vec![kind],
            read_only: false,
            step_ns: None,
            time_ns: None,
            block_size_bytes: None,
            slo: limit.parse().expect("a limit"),
            cores: 4,
            pilot_ns: 0,
            seed: 1,
        };
        plan_bench(&options).series.remove(0)
    }

    /// The record of a run on a device with 16 servers of 10 ms each.
    fn record(run: &SeriesRun) -> RunRecord {
        let in_flight = run.workload.threads * run.workload.outstanding;
        let iops = 100.0 * f64::from(in_flight.min(16));
        let latency_ns = (f64::from(in_flight) / iops * 1e9) as u64;
        let interval = |number: u64| Interval {
            start_ns: number * 100_000_000,
            duration_ns: 100_000_000,
            read_operations: (iops / 10.0) as u64,
            ..Interval::default()
        };
        let mut outcome = JobOutcome {
            iops,
            operations: iops as u64,
            intervals: (0..15).map(interval).collect(),
            ..JobOutcome::default()
        };
        outcome.read.latency_ns = Some(LatencySummary {
            p99: latency_ns,
            ..LatencySummary::default()
        });
        RunRecord {
            answer_block: run.answer_block,
            jobs: vec![JobRecord {
                name: "job".to_owned(),
                workload: run.workload.clone(),
                outcome,
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        }
    }

    /// All runs, with the state serialised and restored between any two.
    fn runs(plan: SeriesPlan) -> (Vec<SeriesRun>, Ended) {
        let mut series = Series::new(plan);
        let mut runs = Vec::new();
        while let Some(run) = series.next(runs.len() as u64 * STEP_NS) {
            assert_eq!(
                series.next(runs.len() as u64 * STEP_NS).as_ref(),
                Some(&run)
            );
            series.completed(&record(&run));
            let stored = serde_json::to_string(&series).expect("JSON");
            series = serde_json::from_str(&stored).expect("the same series");
            runs.push(run);
        }
        (runs, series.ended())
    }

    #[test]
    fn a_series_climbs_and_then_measures_around_its_crossing() {
        let (all, ended) = runs(plan(SeriesKind::RandomRead, "p99<20ms"));
        assert_eq!(ended, Ended::Ladder(Stop::KneeBracketed));
        let climb = all.iter().take_while(|run| run.answer_block.is_none());
        let loads = climb.map(|run| run.workload.threads * run.workload.outstanding);
        assert_eq!(loads.collect::<Vec<_>>()[..5], [1, 2, 4, 8, 16]);
        let answer: Vec<&SeriesRun> = all
            .iter()
            .filter(|run| run.answer_block.is_some())
            .collect();
        assert_eq!(answer.len() % BLOCK_RUNS as usize, 0);
        assert_eq!((answer[0].runs_left, answer[0].answer_block), (20, Some(0)));
        let mut seeds: Vec<u64> = answer.iter().map(|run| run.workload.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), answer.len());
    }

    #[test]
    fn a_log_is_one_load_and_a_stopped_run_ends_a_series() {
        let (all, ended) = runs(plan(SeriesKind::Log, "p99<5ms"));
        assert_eq!((all.len(), ended), (8, Ended::SingleStep));
        let mut series = Series::new(plan(SeriesKind::RandomRead, "p99<5ms"));
        let first = series.next(0).expect("a step");
        series.completed(&RunRecord {
            status: Status::Partial,
            ..record(&first)
        });
        assert_eq!((series.next(0), series.ended()), (None, Ended::Partial));
    }

    #[test]
    fn no_series_makes_more_runs_than_the_most() {
        let series = plan(SeriesKind::RandomRead, "p99<20ms");
        let most = most_ns(&series, 7) - 7;
        // Every answer lies far beyond where it was looked for, and all of it was disturbed.
        let mut series = Series::new(series);
        let mut taken_ns = 0;
        while let Some(run) = series.next(0) {
            let mut made = record(&run);
            if run.answer_block.is_some() {
                let latency = made.jobs[0].outcome.read.latency_ns.as_mut();
                latency.expect("reads").p99 /= 64;
                made.warnings.push(Warning {
                    code: "paused".to_owned(),
                    severity: Severity::Warning,
                    message: "the process was stopped".to_owned(),
                    short: String::new(),
                    hint: "".into(),
                });
            }
            series.completed(&made);
            taken_ns += run.workload.length_ns();
        }
        assert!(taken_ns <= most, "{taken_ns} of {most}");
        assert!(taken_ns > longest_ns(&plan(SeriesKind::RandomRead, "p99<20ms")) / 2);
    }

    #[test]
    fn the_time_ends_the_climb_and_then_the_answer() {
        let limited = SeriesPlan {
            deadline_ns: Some(3 * STEP_NS),
            answer_deadline_ns: Some(13 * STEP_NS),
            ..plan(SeriesKind::RandomRead, "p99<15ms")
        };
        let (all, ended) = runs(limited);
        assert_eq!(ended, Ended::TimeSpent);
        let climb = all.iter().filter(|run| run.answer_block.is_none()).count();
        assert_eq!(climb, 3);
        assert!(all.len() <= 13, "{}", all.len());
    }
}
