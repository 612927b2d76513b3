//! Runs what records did again, in the same conditions: same workloads, same
//! sizes, same engine, on the same targets or on another one.
//!
//! Repetitions go in rounds: each round has every workload once, in an order of
//! its own, so that what drifts while they run is spread over all of them. Seeds
//! are derived as `run --repeat` derives them.

use crate::aim::{Aimed, Need, aim, aim_at_nothing};
use crate::cli::run::Safety;
use crate::cli::{Cli, Command};
use crate::context::{Context, store_failure};
use crate::failure::{Failure, Outcome};
use crate::keep::Place;
use crate::measure::{How, JobWish, in_turn_ns, length_ns, measure, workload_failure};
use crate::parallel::{SimulatedCell, simulate_cells};
use crate::show::progress::Progress;
use crate::show::terminal::say;
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use stripewise_io_engine::EngineName;
use stripewise_results::{JobRecord, RunRecord, TargetFacts, TargetKind};
use stripewise_stats::Random;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{ByteSize, format_duration, name_of, path_of};
use stripewise_workload::{Workload, derived_seed, validate};

/// Operations that a run on a simulated array has at least, as with `run`.
const SIMULATED_OPERATIONS_MIN: u64 = 30_000;

/// A target that steps use.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTarget {
    /// As the user named it.
    pub name: String,
    /// Test files are made as large as they were.
    pub size: Size,
    /// A test file, which has to be written before it is read.
    pub is_made: bool,
    /// Jobs that run at once have test files of their own: which one this is.
    pub number: usize,
}

/// What is run in one run: one or more jobs at once.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name of its part in a series.
    pub part: String,
    /// Targets are indices into the targets of all steps.
    pub jobs: Vec<JobWish>,
    /// On simulated arrays: it goes on until so many operations.
    pub operations_min: u64,
}

/// All that is to be done.
#[derive(Clone, Debug, Default)]
pub struct Work {
    pub targets: Vec<StepTarget>,
    pub steps: Vec<Step>,
    pub engine: Option<EngineName>,
    /// Processors to run on; empty: any.
    pub cpus: Vec<u32>,
    /// What was asked for besides.
    pub asked: Asked,
}

/// Switches of a run that its records do not carry. A command that runs it again
/// keeps them beside the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// `--interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    /// `--cache-size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_size_bytes: Option<u64>,
}

impl Asked {
    /// As the command line of the first run says it that was one of `run`.
    pub fn of_records(runs: &[RunRecord]) -> Asked {
        let of = |run: &RunRecord| match Cli::try_parse_from(
            run.command.iter().map(|word| name_of(word)),
        )
        .ok()?
        .command
        {
            Command::Run(run) => Some(Asked {
                interval_ns: Some(run.how.interval.ns()),
                cache_size_bytes: run.how.cache_size.map(ByteSize::bytes),
            }),
            _ => None,
        };
        runs.iter().find_map(of).unwrap_or_default()
    }
}

impl Work {
    /// What these runs did, each distinct workload once, in their order; on
    /// `elsewhere` instead of where they ran, if that is given.
    pub fn of_records(runs: &[RunRecord], elsewhere: Option<&str>) -> Outcome<Work> {
        let mut work = Work {
            asked: Asked::of_records(runs),
            ..Work::default()
        };
        let mut seen: HashSet<String> = HashSet::new();
        for run in runs {
            if let Some(imported) = &run.imported {
                return Err(Failure::usage(
                    format!(
                        "{} is a result of {}: it does not say enough to be run again",
                        run.id, imported.tool
                    ),
                    "run the workload once with `stripewise run`, and take that as baseline",
                ));
            }
            let engine = run
                .jobs
                .iter()
                .find_map(|job| job.engine.asked.parse().ok());
            work.engine = work.engine.or(engine);
            if work.cpus.is_empty() {
                let cpus = run.jobs.iter().map(|job| &job.engine.cpus);
                work.cpus = cpus
                    .max_by_key(|cpus| cpus.len())
                    .cloned()
                    .unwrap_or_default();
            }
            if !seen.insert(signature(run)) {
                continue;
            }
            let mut made = 0;
            let jobs: Vec<JobWish> = run
                .jobs
                .iter()
                .map(|job| work.wish(job, elsewhere, &mut made))
                .collect();
            // On simulated arrays: where it went on after its time for want of
            // operations, it does so again.
            let went_on = |job: &&JobRecord| job.outcome.duration_ns > job.workload.duration_ns;
            let operations = run.jobs.iter().filter(went_on);
            let operations = operations.map(|job| job.outcome.operations).min();
            work.steps.push(Step {
                part: run
                    .series_part
                    .clone()
                    .unwrap_or_else(|| "check".to_owned()),
                jobs,
                operations_min: operations.unwrap_or(0).min(SIMULATED_OPERATIONS_MIN),
            });
        }
        Ok(work)
    }

    fn wish(&mut self, job: &JobRecord, elsewhere: Option<&str>, made: &mut usize) -> JobWish {
        let facts = std::iter::once(&job.target).chain(&job.further_targets);
        let targets = facts
            .map(|facts| self.target(facts, elsewhere, made))
            .collect();
        JobWish {
            name: job.name.clone(),
            workload: job.workload.clone(),
            targets,
        }
    }

    /// The index of a target. Each test file of one run is its own target, and the
    /// next run uses the same ones; anything else is shared. What is made has the
    /// size that it had, or that the file had in whose place it is.
    fn target(&mut self, facts: &TargetFacts, elsewhere: Option<&str>, made: &mut usize) -> usize {
        let is_made = match elsewhere {
            Some(path) => path_of(path).is_dir(),
            None => facts.kind == TargetKind::TestFile,
        };
        *made += usize::from(is_made);
        self.add(StepTarget {
            name: elsewhere.unwrap_or(facts.full_name()).to_owned(),
            size: if is_made {
                Size::Exactly(facts.size_bytes)
            } else {
                Size::Auto
            },
            is_made,
            number: if is_made { *made } else { 0 },
        })
    }

    /// Adds a target that is not there yet.
    pub fn add(&mut self, target: StepTarget) -> usize {
        match self.targets.iter().position(|known| *known == target) {
            Some(index) => index,
            None => {
                self.targets.push(target);
                self.targets.len() - 1
            }
        }
    }

    /// How long all of it takes, ramps included.
    pub fn length_ns(&self, repeat: u32) -> u64 {
        let once = in_turn_ns(self.steps.iter().map(|step| length_ns(&step.jobs)));
        once.saturating_mul(u64::from(repeat))
    }
}

/// What makes a run a repetition of another: its jobs without their seeds.
fn signature(run: &RunRecord) -> String {
    let of = |job: &JobRecord| {
        let workload = Workload {
            seed: 0,
            ..job.workload.clone()
        };
        let json = serde_json::to_string(&workload).unwrap_or_default();
        format!("{} {} {json}", job.name, job.target.name)
    };
    run.jobs.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// Targets that are ready, with their facts.
pub struct Ready {
    pub aimed: Vec<Aimed>,
    pub simulated: bool,
}

/// Judges and prepares all targets.
pub fn aim_all(
    context: &Context,
    store: &mut Store,
    work: &Work,
    safety: &Safety,
) -> Outcome<Ready> {
    let engine = work.engine.unwrap_or(EngineName::Auto);
    let mut aimed = Vec::new();
    for (index, target) in work.targets.iter().enumerate() {
        let need = need_of(work, index, target.size);
        aimed.push(
            if engine == EngineName::Null && !target.name.starts_with("sim:") {
                aim_at_nothing(&target.name, need.size)
            } else {
                aim(context, store, &target.name, &need, safety)?
            },
        );
    }
    for wish in work.steps.iter().flat_map(|step| &step.jobs) {
        for &index in &wish.targets {
            validate(&wish.workload, aimed[index].limits()).map_err(workload_failure)?;
        }
    }
    let simulated = aimed.iter().any(|one| one.simulated().is_some());
    Ok(Ready { aimed, simulated })
}

fn need_of(work: &Work, target: usize, size: Size) -> Need {
    let all = work.steps.iter().flat_map(|step| &step.jobs);
    let uses: Vec<&Workload> = all
        .filter(|wish| wish.targets.contains(&target))
        .map(|wish| &wish.workload)
        .collect();
    let first = uses.first();
    let span = uses
        .iter()
        .filter_map(|load| Some(load.size_bytes?.saturating_add(load.base_offset_bytes)))
        .max();
    let total = |step: &Step| -> u32 {
        let of = |wish: &JobWish| {
            let files = u32::try_from(wish.targets.len()).unwrap_or(u32::MAX);
            let each = wish
                .workload
                .threads
                .saturating_mul(wish.workload.outstanding);
            each.saturating_mul(files)
        };
        step.jobs.iter().map(of).fold(0, u32::saturating_add)
    };
    Need {
        reads: uses.iter().any(|load| load.read_percent > 0),
        writes: uses.iter().any(|load| load.read_percent < 100),
        size: match (size, span) {
            (Size::Auto, Some(bytes)) => Size::Exactly(bytes),
            (size, _) => size,
        },
        outstanding_total: work.steps.iter().map(total).max().unwrap_or(1),
        // Somebody asked for it once already.
        outstanding_by_number: true,
        cache: first
            .map(|load| load.cache)
            .unwrap_or(stripewise_workload::CacheMode::Direct),
        cache_by_name: true,
        data: first.map(|load| load.data).unwrap_or_default(),
        seed: first.map_or(1, |load| load.seed),
        fill_time_limit_ns: None,
    }
}

/// The records that these steps would have on these targets, as far as
/// conditions go: what `check` compares before anything is measured.
pub fn expected_records(work: &Work, ready: &Ready) -> Vec<RunRecord> {
    let facts = |index: usize| ready.aimed[index].place(0).facts();
    work.steps
        .iter()
        .map(|step| {
            let jobs = step.jobs.iter().map(|wish| JobRecord {
                name: wish.name.clone(),
                target: wish
                    .targets
                    .first()
                    .map_or_else(TargetFacts::unknown, |&index| facts(index)),
                further_targets: Vec::new(),
                workload: wish.workload.clone(),
                engine: stripewise_results::EngineFacts::default(),
                outcome: stripewise_results::Outcome::default(),
                warnings: Vec::new(),
            });
            RunRecord {
                jobs: jobs.collect(),
                ..RunRecord::empty()
            }
        })
        .collect()
}

/// Runs everything `repeat` times under one series id; `records` has what was
/// done when it returns, also with an error.
pub fn rerun(
    context: &Context,
    store: &mut Store,
    work: &Work,
    ready: &Ready,
    how: Repetitions<'_>,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    let base = base_of(context, work, ready, how.label);
    let series = context.free_id(store, &context.timestamp())?;
    let rounds = rounds(work, how.repeat);
    let mut runs: Vec<(Vec<JobWish>, How)> = Vec::new();
    for (round, order) in rounds.iter().enumerate() {
        for &index in order {
            let step = &work.steps[index];
            runs.push((
                seeded(&step.jobs, round as u64),
                How {
                    series: Some((series.clone(), step.part.clone())),
                    operations_min: if ready.simulated {
                        step.operations_min
                    } else {
                        0
                    },
                    ..base.clone()
                },
            ));
        }
    }
    if ready.simulated {
        return simulate(context, store, ready, &runs, records);
    }
    measure_all(context, store, ready, &runs, how.title, records)
}

/// How often, and under which words.
pub struct Repetitions<'a> {
    pub repeat: u32,
    /// The progress line begins with it.
    pub title: &'a str,
    /// Label of the runs.
    pub label: Option<String>,
}

fn base_of(context: &Context, work: &Work, ready: &Ready, label: Option<String>) -> How {
    How {
        interval_ns: work.asked.interval_ns.unwrap_or(1_000_000_000),
        engine: work.engine.unwrap_or(EngineName::Auto),
        cpus: work.cpus.clone(),
        label,
        cache_size_bytes: work.asked.cache_size_bytes,
        ..How::plain(context, ready.simulated)
    }
}

/// Orders of the steps, a round each; seeded by the first workload's seed.
fn rounds(work: &Work, repeat: u32) -> Vec<Vec<usize>> {
    let seed = work.steps.first().and_then(|step| step.jobs.first());
    let mut random = Random::new(seed.map_or(1, |wish| wish.workload.seed));
    (0..repeat)
        .map(|_| {
            let mut order: Vec<usize> = (0..work.steps.len()).collect();
            random.shuffle(&mut order);
            order
        })
        .collect()
}

fn seeded(jobs: &[JobWish], round: u64) -> Vec<JobWish> {
    let mut jobs = jobs.to_vec();
    for wish in &mut jobs {
        wish.workload.seed = derived_seed(wish.workload.seed, round);
    }
    jobs
}

fn simulate(
    context: &Context,
    store: &mut Store,
    ready: &Ready,
    runs: &[(Vec<JobWish>, How)],
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    let cells = runs
        .iter()
        .map(|(jobs, how)| SimulatedCell::prepare(context, &ready.aimed, jobs, how))
        .collect::<Outcome<Vec<_>>>()?;
    simulate_cells(context, &cells, &mut |record| {
        let kept = store.save_run(&record).map_err(store_failure);
        records.push(record);
        kept
    })
}

fn measure_all(
    context: &Context,
    store: &mut Store,
    ready: &Ready,
    runs: &[(Vec<JobWish>, How)],
    title: &str,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    let total_ns = in_turn_ns(runs.iter().map(|(jobs, _)| length_ns(jobs)));
    if !context.global.quiet {
        say!(
            "{title}: {} runs, {} in all",
            runs.len(),
            format_duration(total_ns)
        );
    }
    let progress = Progress::start(context.global.quiet, total_ns, title);
    let mut before_ns = 0;
    for (index, (jobs, how)) in runs.iter().enumerate() {
        let expected_ns = length_ns(jobs);
        let title = format!("Run {} of {}", index + 1, runs.len());
        let place = Place {
            title: &title,
            before_ns,
            expected_ns,
            after_ns: total_ns
                .saturating_sub(before_ns)
                .saturating_sub(expected_ns),
        };
        let measured = measure(context, store, &ready.aimed, jobs, how, &progress, &place)?;
        records.push(measured.record);
        measured.kept?;
        before_ns = before_ns.saturating_add(expected_ns);
        if context.interrupt.signal().is_some() {
            break;
        }
    }
    Ok(())
}
