//! `headroom` on loads with a known crossing: recordings of processes, issued on simulated arrays
//! through the same session and study as any other. The truth comes from long runs around the
//! crossing, of the same process; for a load whose rate varies slowly, of the same recording.
//!
//! Operations take the time: one disk whose seeks cross half of it reaches its limit at a fraction of
//! the rate of four with short seeks, and is as hard to judge.

use super::arrays::array;
use super::observed::{exponential, lognormal};
use super::parallel::trials;
use super::simulated::measure_recorded;
use super::size::{Size, seed_of};
use super::table::{Bound as Limit, Table};
use anyhow::{Context, Result};
use stripewise_array_sim::ArraySpec;
use stripewise_results::DueSecondRecord;
use stripewise_stats::{ExceedanceDesign, ExceedanceRun, Random, Slo, exceedance_line};
use stripewise_studies::headroom::{
    Bound, Growth, Headroom, HeadroomAnswer, HeadroomLoad, HeadroomOptions, LoadFacts,
};
use stripewise_studies::{NextStep, Study};
use stripewise_trace::replay::{Recording, Scale, run_length};
use stripewise_trace::{Operation, TaskId};
use stripewise_units::Kind;
use stripewise_workload::{
    AFTER_NONE, LASTED_UNKNOWN, Recorded, RecordedLoad, RecordedOperation, Workload,
};

const SECOND: u64 = 1_000_000_000;
const BLOCK: u64 = 8_192;
/// Half of the disk.
const BLOCKS: usize = 1 << 24;
/// A disk, and the latency limit of its loads.
const DISK: &str = "raid10-10k?level=single&disks=1";
const SLO: &str = "p99<30ms";
const LIMIT_NS: u64 = 30_000_000;
/// A cap with a credit that lasts longer than ten seconds but less than two minutes.
const CAPPED: &str = "raid10-10k?level=single&disks=1&limit.iops=80&limit.burst_operations=360";
/// Fast, but stalls for 1.25 % of the time: it carries no load at all.
const STALLING: &str = "sata-ssd?faults.stall=1s&faults.stall_interval=80s";
/// Operations a second of a recording.
const RATE: f64 = 60.0;
/// Halvings of the range of factors, to a width of 3 %, and the seconds of each.
const HALVINGS: u32 = 7;
const HALVING_S: u64 = 200;
/// Long runs this far around what they find, on the log scale.
const TRUTH_RUNS: usize = 16;
const TRUTH_WIDTH: f64 = 0.08;
/// Seconds of each, of a process and of one recording.
const TRUTH_S: u64 = 4_000;
const OWN_TRUTH_S: u64 = 1_000;
/// Seconds of the recording that stands for a process.
const PROCESS_S: u64 = 16_000;
const USERS: usize = 8;
/// Of each, on average.
const THINK_S: f64 = 0.2;

/// Arrival process.
#[derive(Clone, Copy)]
enum Process {
    Poisson,
    /// Two rates, each lasting a second or less.
    Switched,
    /// Rates that vary at 0.1, 1 and 10 s.
    Cascade,
    /// Users who wait for the disk, and think in between.
    Waiting,
}

/// Times in seconds.
fn instants(process: Process, length_s: f64, random: &mut Random) -> Vec<f64> {
    let mut all = Vec::new();
    let mut at = 0.0;
    match process {
        Process::Poisson | Process::Waiting => {
            while at < length_s {
                at += exponential(random, 1.0 / RATE);
                all.push(at);
            }
        }
        Process::Switched => {
            let mut is_fast = random.uniform() < 0.23;
            while at < length_s {
                let (rate, mean_s) = if is_fast {
                    (2.0 * RATE, 0.3)
                } else {
                    (0.6 * RATE, 1.0)
                };
                let until = at + exponential(random, mean_s);
                let mut next = at + exponential(random, 1.0 / rate);
                while next < until {
                    all.push(next);
                    next += exponential(random, 1.0 / rate);
                }
                at = until;
                is_fast = !is_fast;
            }
        }
        Process::Cascade => {
            let mut slow = [1.0; 2];
            for bin in 0..(length_s * 10.0) as usize {
                for (factor, (bins, variation)) in slow.iter_mut().zip([(100, 0.25), (10, 0.3)]) {
                    if bin % bins == 0 {
                        *factor = lognormal(random, 1.0, variation);
                    }
                }
                let rate = RATE * slow[0] * slow[1] * lognormal(random, 1.0, 0.3);
                let mut next = exponential(random, 1.0 / rate);
                while next < 0.1 {
                    all.push(bin as f64 / 10.0 + next);
                    next += exponential(random, 1.0 / rate);
                }
            }
        }
    }
    all.retain(|at| *at < length_s);
    all
}

fn recording(process: Process, length_s: u64, seed: u64) -> Result<Recording> {
    let mut random = Random::new(seed);
    let mut operation = |at_s: f64, task: usize, lasted_s: Option<f64>| {
        let offset = random.below(BLOCKS) as u64 * BLOCK;
        let at_ns = (at_s * 1e9) as u64;
        Operation {
            task: TaskId::from_index(task),
            completed_ns: lasted_s.map(|lasted_s| at_ns + (lasted_s * 1e9) as u64),
            ..Operation::at(at_ns, Kind::Read, offset, BLOCK)
        }
    };
    let mut all: Vec<Operation> = Vec::new();
    let mut drawn = Random::new(seed ^ 5);
    if matches!(process, Process::Waiting) {
        for user in 1..=USERS {
            let mut at_s = exponential(&mut drawn, THINK_S);
            while at_s < length_s as f64 {
                let lasted_s = 0.001 + exponential(&mut drawn, 0.004);
                all.push(operation(at_s, user, Some(lasted_s)));
                at_s += lasted_s + exponential(&mut drawn, THINK_S);
            }
        }
    } else {
        let instants = instants(process, length_s as f64, &mut drawn);
        all.extend(instants.into_iter().map(|at_s| operation(at_s, 1, None)));
    }
    Recording::of_operations(all, (None, 0.0)).context("a recording")
}

/// A run of a load: its record.
fn made(
    spec: &ArraySpec,
    recording: &Recording,
    workload: &Workload,
) -> Result<stripewise_results::RunRecord> {
    let recorded = workload.recorded.as_deref().context("a recorded load")?;
    let scale = Scale {
        copies: recorded.copies,
        speed: recorded.speed,
        from_ns: recorded.from_ns,
        length_ns: workload.length_ns(),
        seed: workload.seed,
    };
    let scaled = match recorded.closed {
        true => scale.closed(recording),
        false => scale.open(recording),
    };
    let operations = scaled.iter().map(|one| RecordedOperation {
        due_ns: one.request.at_ns,
        offset_bytes: one.request.offset_bytes,
        lasted_ns: one.lasted_ns.unwrap_or(LASTED_UNKNOWN),
        length_bytes: one.request.size_bytes as u32,
        after: one.after.unwrap_or(AFTER_NONE),
        copy: one.copy,
        kind: one.request.kind,
    });
    let load = RecordedLoad::new(operations.collect(), recorded.closed);
    measure_recorded(spec, workload, load, LIMIT_NS)
}

fn workload(seed: u64) -> Workload {
    Workload {
        block_size_bytes: BLOCK,
        outstanding: 256,
        recorded: Some(Box::new(Recorded {
            name: "truth".to_owned(),
            digest: String::new(),
            copies: 1.0,
            speed: 1.0,
            from_ns: 0,
            idle_ns_max: None,
            closed: false,
        })),
        seed,
        ..Workload::default()
    }
}

/// One load on one array.
struct Case {
    name: &'static str,
    process: Process,
    target: &'static str,
    length_s: u64,
}

impl Case {
    fn study(&self, recording: &Recording, seed: u64) -> Result<Headroom> {
        let length = run_length(recording);
        let slo: Slo = SLO.parse().ok().context("a limit")?;
        let operations = recording.requests.len() as f64;
        let options = HeadroomOptions {
            slo,
            load: HeadroomLoad::Recorded(Box::new(workload(seed))),
            facts: LoadFacts {
                name: self.name.to_owned(),
                operations: Some(operations as u64),
                duration_ns: Some(recording.duration_ns()),
                iops: Some(operations * 1e9 / recording.duration_ns() as f64),
                waits: matches!(self.process, Process::Waiting),
                waiting_users: matches!(self.process, Process::Waiting).then_some(USERS as u32),
                closedness: String::new(),
                design: match length.varies_slowly {
                    true => ExceedanceDesign::Blocks,
                    false => ExceedanceDesign::Independent,
                },
                timeline: None,
                cap: None,
            },
            run_ns: length.run_ns,
            confirm_ns: 120 * SECOND,
            seed,
        };
        Headroom::new(options).context("a percentile")
    }

    /// The whole study on a recording; its result for each way of growth.
    fn answered(&self, recording: &Recording, seed: u64) -> Result<Headroom> {
        let mut study = self.study(recording, seed)?;
        let mut number = 0;
        while let NextStep::Run(run) = study.next() {
            number += 1;
            let spec = array(self.target, seed.wrapping_add(number))?;
            let record = made(&spec, recording, &run.jobs[0].workload)?;
            study.completed(run.id, &record);
        }
        Ok(study)
    }

    /// A run of this part of a recording: operations due, and those beyond the limit.
    fn run(
        &self,
        recording: &Recording,
        (growth, factor): (Growth, f64),
        (from_ns, seconds): (u64, u64),
        seed: u64,
    ) -> Result<ExceedanceRun> {
        let mut long = workload(seed);
        long.duration_ns = seconds * SECOND;
        long.ramp_ns = SECOND;
        if let Some(recorded) = &mut long.recorded {
            match growth {
                Growth::Faster => recorded.speed = factor,
                _ => recorded.copies = factor,
            }
            recorded.closed = growth == Growth::WaitingUsers;
            recorded.from_ns = from_ns;
        }
        let record = made(&array(self.target, seed)?, recording, &long)?;
        let due = record.jobs[0].outcome.due.as_ref().context("counts")?;
        let of = |one: fn(&DueSecondRecord) -> u64| due.seconds.iter().map(one).sum::<u64>();
        Ok(ExceedanceRun {
            factor,
            operations: of(|second| second.due),
            beyond: of(|second| second.beyond.first().copied().unwrap_or(0)),
            seconds: seconds as f64,
            block: 0,
        })
    }

    /// The factor at which 1 % are beyond the limit: about where by short runs, then by a line
    /// through long ones around that, whose parts cover the recording evenly.
    fn truth(&self, recording: &Recording, growth: Growth, seconds: u64, seed: u64) -> Result<f64> {
        let (mut low, mut high) = (0.2_f64, 8.0_f64);
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            let run = self.run(recording, (growth, middle), (0, HALVING_S), seed)?;
            match run.beyond * 100 > run.operations {
                true => high = middle,
                false => low = middle,
            }
        }
        let centre = (low * high).sqrt();
        let runs = trials(TRUTH_RUNS, |number| {
            let [level, place] = [number, number * 5 % TRUTH_RUNS]
                .map(|number| (number as f64 + 0.5) / TRUTH_RUNS as f64);
            let factor = centre * ((2.0 * level - 1.0) * TRUTH_WIDTH).exp();
            let factor = match growth {
                Growth::WaitingUsers => (factor * USERS as f64).round() / USERS as f64,
                Growth::MoreUsers | Growth::Faster => factor,
            };
            let from_ns = (place * recording.duration_ns() as f64) as u64;
            let seed = seed_of(seed, 140, number);
            self.run(recording, (growth, factor), (from_ns, seconds), seed)
        })?;
        let line = exceedance_line(&runs).context("one load only")?;
        Ok(line.factor_at(0.01))
    }
}

fn found(study: &Headroom, growth: Growth) -> Option<HeadroomAnswer> {
    let question = study.questions().iter().find(|one| one.growth == growth)?;
    question.search.found().copied()
}

/// Accuracy of the truth.
const TRUTH_ERROR: f64 = 1.004;

fn covers(found: Option<HeadroomAnswer>, truth: f64) -> bool {
    found.is_some_and(|found| {
        found.low.is_none_or(|low| low <= truth * TRUTH_ERROR)
            && found.high.is_none_or(|high| high >= truth / TRUTH_ERROR)
    })
}

fn percent(of: &[bool]) -> f64 {
    100.0 * of.iter().filter(|one| **one).count() as f64 / of.len().max(1) as f64
}

/// All claims.
pub fn headroom(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    short_bursts(seed, size, table)?;
    slow_variation(seed, size, table)?;
    bucket(seed, size, table)?;
    rare_stalls(seed, size, table)?;
    waiting(seed, size, table)
}

/// Loads whose bursts are shorter than a run.
fn short_bursts(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let cases = [
        ("headroom, Poisson reads", Process::Poisson, 1),
        ("headroom, two rates", Process::Switched, 2),
    ];
    for (name, process, number) in cases {
        let case = Case {
            name,
            process,
            target: DISK,
            length_s: if matches!(process, Process::Poisson) {
                600
            } else {
                1_200
            },
        };
        let long = recording(process, PROCESS_S, seed_of(seed, 90 + number, 0))?;
        let growths = [Growth::MoreUsers, Growth::Faster];
        let truths = growths.map(|growth| case.truth(&long, growth, TRUTH_S, seed));
        let [users, faster] = truths;
        let truths = [users?, faster?];
        let all = trials(size.observed, |trial| {
            let seed = seed_of(seed, 100 + number, trial);
            let own = recording(process, case.length_s, seed)?;
            let study = case.answered(&own, seed)?;
            let of = |index: usize| covers(found(&study, growths[index]), truths[index]);
            Ok([of(0), of(1)])
        })?;
        for (index, growth) in growths.into_iter().enumerate() {
            let claim = format!("{name}, {growth:?}: true factor");
            table.state(&claim, truths[index], 3, Limit::None);
            let covered: Vec<bool> = all.iter().map(|trial| trial[index]).collect();
            let claim = format!("{name}, {growth:?}: covered, %");
            table.state(&claim, percent(&covered), 1, Limit::AtLeast(93.0));
        }
    }
    Ok(())
}

/// A rate that varies over the length of a run: covered, or one end is open.
fn slow_variation(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let case = Case {
        name: "headroom, cascade",
        process: Process::Cascade,
        target: DISK,
        length_s: 1_200,
    };
    let all = trials(size.observed.div_ceil(20), |trial| {
        let seed = seed_of(seed, 110, trial);
        let own = recording(case.process, case.length_s, seed)?;
        let truth = case.truth(&own, Growth::MoreUsers, OWN_TRUTH_S, seed)?;
        Ok(covers(
            found(&case.answered(&own, seed)?, Growth::MoreUsers),
            truth,
        ))
    })?;
    table.state(
        "headroom, cascade: covered, %",
        percent(&all),
        1,
        Limit::AtLeast(90.0),
    );
    Ok(())
}

/// In how many of so many trials of a study the answer for more users is like this, in per cent.
fn share_of_answers(
    case: &Case,
    (count, study, seed): (usize, u64, u64),
    is_so: impl Fn(HeadroomAnswer) -> bool + Sync,
) -> Result<f64> {
    let all = trials(count, |trial| {
        let seed = seed_of(seed, study, trial);
        let own = recording(case.process, case.length_s, seed)?;
        let answered = case.answered(&own, seed)?;
        Ok(found(&answered, Growth::MoreUsers).is_some_and(&is_so))
    })?;
    Ok(percent(&all))
}

/// The long run detects a credit that short runs do not use up.
fn bucket(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let case = Case {
        name: "headroom, token bucket",
        process: Process::Poisson,
        target: CAPPED,
        length_s: 600,
    };
    let of = (size.observed.div_ceil(2), 120, seed);
    let share = share_of_answers(&case, of, |found| {
        found.is_short_lived && found.bound == Bound::AtMost
    })?;
    let claim = "headroom, token bucket: found, %";
    table.state(claim, share, 1, Limit::AtLeast(97.0));
    Ok(())
}

/// Stalls that most short runs miss, and some long ones: no load is called carried.
fn rare_stalls(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let case = Case {
        name: "headroom, rare stalls",
        process: Process::Poisson,
        target: STALLING,
        length_s: 600,
    };
    let of = (size.observed.div_ceil(20), 125, seed);
    let share = share_of_answers(&case, of, |found| found.low.is_some())?;
    let claim = "headroom, rare stalls: called carried, %";
    table.state(claim, share, 1, Limit::AtMost(5.0));
    Ok(())
}

/// Users who wait: the rate of open replay is a lower bound, and users are covered.
fn waiting(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let case = Case {
        name: "headroom, waiting users",
        process: Process::Waiting,
        target: DISK,
        length_s: 600,
    };
    let long = recording(case.process, TRUTH_S, seed_of(seed, 130, 0))?;
    let growth = Growth::WaitingUsers;
    let users = case.truth(&long, growth, OWN_TRUTH_S, seed)?;
    let run = case.run(&long, (growth, users), (0, OWN_TRUTH_S), seed)?;
    let rate = run.operations as f64 / run.seconds;
    table.state(
        "headroom, waiting users: true factor",
        users,
        3,
        Limit::None,
    );
    let unit = 1.0 / USERS as f64;
    let all = trials(size.observed.div_ceil(10), |trial| {
        let seed = seed_of(seed, 131, trial);
        let own = recording(case.process, case.length_s, seed)?;
        let study = case.answered(&own, seed)?;
        let iops = study.options().facts.iops.unwrap_or(0.0);
        let open = found(&study, Growth::MoreUsers).and_then(|found| found.low);
        let is_lower = open.is_none_or(|low| low * iops <= rate * TRUTH_ERROR);
        let closed = found(&study, Growth::WaitingUsers);
        // Integer users: the truth is between two of them.
        let is_covered = closed.is_some_and(|found| {
            found.low.is_none_or(|low| low <= users + unit)
                && found.high.is_none_or(|high| high >= users - unit)
        });
        Ok((is_lower, is_covered))
    })?;
    let (lower, covered): (Vec<bool>, Vec<bool>) = all.into_iter().unzip();
    let claim = "headroom, waiting users: rate is a lower bound, %";
    table.state(claim, percent(&lower), 1, Limit::AtLeast(97.0));
    let claim = "headroom, waiting users: covered, %";
    table.state(claim, percent(&covered), 1, Limit::AtLeast(93.0));
    Ok(())
}
