//! Repeats the runs of records under the same conditions: same workloads, same
//! sizes, same engine, on the same targets or on another one.
//!
//! Repetitions are made in rounds: each round has every workload once, in an order of
//! its own, so that drift affects all of them. Seeds
//! are derived as in `run --repeat`.

use std::collections::{HashMap, HashSet};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{
    PlacedJob, RunOptions, engine_of, in_turn_ns, length_ns, measure,
};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::parallel::simulate_all;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::pilot::announced;
use stripewise_conductor::targets::{OpenTarget, open_or_nothing};
use stripewise_io_engine::EngineName;
use stripewise_results::{JobRecord, RunRecord, SustainedRecord, TargetFacts, TargetKind};
use stripewise_stats::Random;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{format_duration, path_of};
use stripewise_workload::{Request, RequestJob, Steady, Workload, derived_seed, validate};

/// A target used by steps.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTarget {
    /// As the user named it.
    pub name: String,
    /// Test files get the same size again.
    pub size: Size,
    /// A test file, which must be written before it is read.
    pub is_made: bool,
    /// Concurrent jobs have test files of their own: its number.
    pub number: usize,
}

/// One run: one or more concurrent jobs.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name of its part in a series.
    pub part: String,
    /// Targets are indices into the targets of all steps.
    pub jobs: Vec<PlacedJob>,
    /// The request; `jobs` replace its own.
    pub request: Request,
}

/// All the work to do.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The targets of the steps.
    pub targets: Vec<StepTarget>,
    /// In the order of a round.
    pub steps: Vec<Step>,
}

/// Refuses an invalid request: a record may have been edited or damaged.
fn check_request(run: &RunRecord, request: &Request) -> Outcome<()> {
    // Names of jobs and targets do not matter here, and those of earlier versions may
    // be longer than a request allows.
    let jobs = request
        .jobs
        .iter()
        .enumerate()
        .map(|(number, job)| RequestJob {
            name: number.to_string(),
            targets: vec!["target".to_owned()],
            workload: job.workload.clone(),
        });
    let problem = match request.of_run(jobs.collect()).check() {
        Err(error) => error.to_string(),
        Ok(()) if request.jobs.len() != run.jobs.len() => format!(
            "it has {} jobs, the run has {}",
            request.jobs.len(),
            run.jobs.len()
        ),
        Ok(()) => return Ok(()),
    };
    Err(Failure::new(
        Exit::Store,
        format!(
            "the request that run {} keeps cannot be run: {problem}",
            run.id
        ),
        "measure once more with `stripewise run`, and compare with that",
    ))
}

impl Work {
    /// The distinct workloads of these runs, in order; on
    /// `other_target` instead of their own targets, if given.
    pub fn of_records(runs: &[RunRecord], other_target: Option<&str>) -> Outcome<Work> {
        let mut work = Work::default();
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
            if let Some(merged) = &run.merged {
                return Err(Failure::usage(
                    format!(
                        "{} was merged from the runs of {} hosts: one host alone cannot run it again",
                        run.id,
                        merged.hosts.len()
                    ),
                    "measure on all hosts again, merge that, and judge it with `stripewise check --run ID`",
                ));
            }
            // Preconditioning overwrites a device once: it measures nothing comparable.
            // A run that decided about a requirement is not part of the comparison,
            // either.
            if run.is_preparation() || run.is_at_required_rate() || !seen.insert(signature(run)) {
                continue;
            }
            let request = run.request();
            check_request(run, &request)?;
            if request.verify {
                return Err(Failure::usage(
                    format!(
                        "{} was made with its data verified, which costs processor time: a run without it is not the same",
                        run.id
                    ),
                    "take a run that was made without --verify as baseline",
                ));
            }
            let mut made = 0;
            let jobs: Vec<PlacedJob> = run
                .jobs
                .iter()
                .zip(&request.jobs)
                .map(|(job, requested)| work.options(job, requested, other_target, &mut made))
                .collect();
            let part = run.series_part.as_deref().unwrap_or("check");
            work.steps.push(Step {
                part: part.to_owned(),
                jobs,
                request,
            });
        }
        Ok(work)
    }

    /// The request, on the targets that the record names in full.
    fn options(
        &mut self,
        job: &JobRecord,
        requested: &RequestJob,
        other_target: Option<&str>,
        made: &mut usize,
    ) -> PlacedJob {
        let facts = std::iter::once(&job.target).chain(&job.further_targets);
        let targets = facts
            .map(|facts| self.target(facts, other_target, made))
            .collect();
        PlacedJob {
            name: job.name.clone(),
            workload: requested.workload.clone(),
            targets,
        }
    }

    /// The index of a target. Each test file of one run is its own target, and the
    /// next run uses the same ones; any other target is shared. A new file gets the
    /// size that it had, or that of the file it replaces.
    fn target(
        &mut self,
        facts: &TargetFacts,
        other_target: Option<&str>,
        made: &mut usize,
    ) -> usize {
        let is_made = match other_target {
            Some(path) => path_of(path).is_dir(),
            None => facts.kind == TargetKind::TestFile,
        };
        *made += usize::from(is_made);
        self.add(StepTarget {
            name: other_target.unwrap_or(facts.full_name()).to_owned(),
            size: if is_made {
                Size::Exactly(facts.size_bytes)
            } else {
                Size::Auto
            },
            is_made,
            number: if is_made { *made } else { 0 },
        })
    }

    /// Adds a target if it is not in the list.
    pub fn add(&mut self, target: StepTarget) -> usize {
        match self.targets.iter().position(|known| *known == target) {
            Some(index) => index,
            None => {
                self.targets.push(target);
                self.targets.len() - 1
            }
        }
    }

    /// The engine of all steps, which decides what can be opened.
    fn engine(&self) -> Outcome<EngineName> {
        let first = self.steps.first();
        first.map_or(Ok(EngineName::Auto), |step| engine_of(&step.request))
    }

    /// Total duration, ramps included.
    pub fn length_ns(&self, repeat: u32) -> u64 {
        let once = in_turn_ns(self.steps.iter().map(|step| length_ns(&step.jobs)));
        once.saturating_mul(u64::from(repeat))
    }
}

/// Identifies repetitions: a run's jobs without their seeds.
fn signature(run: &RunRecord) -> String {
    let of = |job: &JobRecord| {
        let workload = Workload {
            seed: 0,
            ..job.workload.clone()
        };
        let json = serde_json::to_string(&workload).unwrap_or_default();
        format!("{} {} {json}", job.name, job.target.full_name())
    };
    run.jobs.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// Prepared targets.
pub struct Ready {
    /// The open targets.
    pub opened: Vec<OpenTarget>,
    /// They are simulated arrays.
    pub simulated: bool,
}

/// Checks and prepares all targets.
pub fn open_targets(
    context: &Context,
    store: &mut Store,
    work: &Work,
    permissions: &Permissions,
) -> Outcome<Ready> {
    let engine = work.engine()?;
    let mut opened = Vec::new();
    for (index, target) in work.targets.iter().enumerate() {
        let need = need_of(work, index, target.size, engine);
        opened.push(open_or_nothing(
            context,
            store,
            &target.name,
            &need,
            permissions,
        )?);
    }
    for options in work.steps.iter().flat_map(|step| &step.jobs) {
        for &index in &options.targets {
            validate(&options.workload, opened[index].limits())?;
        }
    }
    let simulated = opened.iter().any(|one| one.simulated().is_some());
    Ok(Ready { opened, simulated })
}

fn need_of(work: &Work, target: usize, size: Size, engine: EngineName) -> Needs {
    let of_runs = Needs::of(work.steps.iter().map(|step| step.jobs.as_slice()), target);
    Needs {
        size: match size {
            Size::Auto => of_runs.size,
            size => size,
        },
        // The user requested it once already.
        outstanding_by_number: true,
        cache_by_name: work.steps.iter().any(|step| step.request.cache_by_name),
        engine,
        ..of_runs
    }
}

/// The records that these steps would produce on these targets, as far as
/// conditions go: compared by `check` before anything is measured.
pub fn expected_records(work: &Work, ready: &Ready) -> Vec<RunRecord> {
    let facts = |index: usize| ready.opened[index].place(0).facts();
    let cache = |options: &PlacedJob| {
        let mut targets = options.targets.iter().map(|&index| &ready.opened[index]);
        let requested = options.workload.cache;
        let real = targets.find_map(OpenTarget::real);
        real.map_or(requested, |target| target.cache_in_effect(requested))
    };
    work.steps
        .iter()
        .map(|step| {
            let jobs = step.jobs.iter().map(|options| JobRecord {
                name: options.name.clone(),
                target: options
                    .targets
                    .first()
                    .map_or_else(TargetFacts::unknown, |&index| facts(index)),
                workload: Workload {
                    cache: cache(options),
                    ..options.workload.clone()
                },
                ..JobRecord::default()
            });
            RunRecord {
                jobs: jobs.collect(),
                ..RunRecord::empty()
            }
        })
        .collect()
}

/// Runs everything `repeat` times under one series id; on return, `records` has the
/// completed runs, even after an error. Where the store refuses a run, all are made; returns
/// its first failure.
pub fn rerun(
    context: &Context,
    store: &mut Store,
    work: &Work,
    ready: &Ready,
    how: Repetitions<'_>,
    records: &mut Vec<RunRecord>,
) -> Outcome<Option<Failure>> {
    let base = RunOptions::of(context, Request::default(), ready.simulated);
    let series = context.free_id(store, &context.timestamp())?;
    let rounds = rounds(work, how.repeat);
    let mut runs: Vec<(Vec<PlacedJob>, RunOptions)> = Vec::new();
    for (round, order) in rounds.iter().enumerate() {
        for &index in order {
            let step = &work.steps[index];
            runs.push((
                seeded(&step.jobs, round as u64),
                RunOptions {
                    series: Some((series.clone(), step.part.clone())),
                    request: Request {
                        label: how.label.clone(),
                        // The repeating command has requirements of its own.
                        requirements: Vec::new(),
                        expected_bench: None,
                        ..step.request.clone()
                    },
                    ..base.clone()
                },
            ));
        }
    }
    if ready.simulated {
        let runs = runs.iter().map(|(jobs, how)| (jobs.as_slice(), how));
        return simulate_all(context, store, &ready.opened, runs, records);
    }
    measure_all(context, store, ready, &runs, how.title, records)
}

/// Number of repetitions and their texts.
pub struct Repetitions<'a> {
    /// Number of repetitions.
    pub repeat: u32,
    /// Prefix of the progress line.
    pub title: &'a str,
    /// Label of the runs.
    pub label: Option<String>,
}

/// The order of the steps in each round; seeded by the first workload's seed.
fn rounds(work: &Work, repeat: u32) -> Vec<Vec<usize>> {
    let seed = work.steps.first().and_then(|step| step.jobs.first());
    let mut random = Random::new(seed.map_or(1, |options| options.workload.seed));
    (0..repeat)
        .map(|_| {
            let mut order: Vec<usize> = (0..work.steps.len()).collect();
            random.shuffle(&mut order);
            order
        })
        .collect()
}

fn seeded(jobs: &[PlacedJob], round: u64) -> Vec<PlacedJob> {
    let mut jobs = jobs.to_vec();
    for options in &mut jobs {
        options.workload.seed = derived_seed(options.workload.seed, round);
    }
    jobs
}

fn measure_all(
    context: &Context,
    store: &mut Store,
    ready: &Ready,
    runs: &[(Vec<PlacedJob>, RunOptions)],
    title: &str,
    records: &mut Vec<RunRecord>,
) -> Outcome<Option<Failure>> {
    let total_ns = in_turn_ns(runs.iter().map(|(jobs, _)| length_ns(jobs)));
    context.plan(format!(
        "{title}: {} runs, {} in all",
        runs.len(),
        format_duration(total_ns)
    ));
    if runs
        .iter()
        .any(|(_, how)| how.request.steady == Steady::Quick)
    {
        context.plan(announced(true, None));
    }
    let progress = Progress::begin(context.observer(), false, total_ns, title);
    let (mut before_ns, mut refused) = (0, None);
    let mut found: HashMap<String, SustainedRecord> = HashMap::new();
    for (index, (jobs, how)) in runs.iter().enumerate() {
        let expected_ns = length_ns(jobs);
        let title = format!("Run {} of {}", index + 1, runs.len());
        let place = RunPlace {
            title: &title,
            before_ns,
            expected_ns,
            after_ns: Some(
                total_ns
                    .saturating_sub(before_ns)
                    .saturating_sub(expected_ns),
            ),
        };
        // The first run of a part has a pilot before it, if requested; the following
        // ones begin past it.
        let part = how.series.as_ref().map(|(_, part)| part.clone());
        let how = RunOptions {
            sustained: part.as_ref().and_then(|part| found.get(part).copied()),
            ..how.clone()
        };
        let measured = measure(context, store, &ready.opened, jobs, &how, &progress, &place)?;
        let sustained = measured.record.sustained.as_deref();
        found.extend(part.zip(sustained.copied()));
        records.push(measured.record);
        if let Err(failure) = measured.stored
            && refused.is_none()
        {
            let text = format!("{failure}; the runs that follow are made all the same");
            context.note_failure(&text, &failure);
            refused = Some(failure);
        }
        before_ns = before_ns.saturating_add(expected_ns);
        if context.signal().is_some() {
            break;
        }
    }
    Ok(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(part: &str) -> RunRecord {
        let job = JobRecord {
            name: "job".to_owned(),
            ..JobRecord::default()
        };
        RunRecord {
            id: "20261121-201530-k3f9".to_owned(),
            series_part: Some(part.to_owned()),
            jobs: vec![job],
            ..RunRecord::empty()
        }
    }

    #[test]
    fn preconditioning_is_not_run_again() {
        let work = Work::of_records(&[run("precondition"), run("random-read")], None);
        let steps = work.expect("work").steps;
        let parts: Vec<&str> = steps.iter().map(|step| step.part.as_str()).collect();
        assert_eq!(parts, ["random-read"]);
    }

    #[test]
    fn a_request_that_no_program_wrote_is_refused() {
        let mut edited = run("random-read");
        let mut request = edited.request();
        request.interval_ns = 0;
        edited.request = Some(Box::new(request.clone()));
        assert!(Work::of_records(&[edited.clone()], None).is_err());
        request.interval_ns = 1_000_000_000;
        edited.request = Some(Box::new(request.clone()));
        assert!(Work::of_records(&[edited.clone()], None).is_ok());
        request.jobs.clear();
        edited.request = Some(Box::new(request));
        assert!(Work::of_records(&[edited], None).is_err());
    }
}
