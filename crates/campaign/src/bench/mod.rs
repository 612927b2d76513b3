//! `bench`: the main command. Five series, with a table and a sentence each.

mod expect;
mod pilot;
mod precondition;
mod required;

pub use expect::expected;
pub use precondition::Precondition;

use std::rc::Rc;
use stripewise_conductor::conduct::ConductResult;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::host_group::{
    GroupRuns, HostGroup, measure_with, open_nothing_with, open_with,
};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions, check_before, measure_on};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::pilot::{announced, longest_ns};
use stripewise_conductor::simulated::Simulated;
use stripewise_conductor::targets::{
    OpenTarget, judge_requirements, open_nothing, reads_instead, warn_of_one_pass,
};
use stripewise_disk_inspect::System;
use stripewise_io_engine::EngineName;
use stripewise_lab::compare::Requirement;
use stripewise_lab::{
    BenchPlan, Ended, IN_FLIGHT_MAX, LadderOptions, QUICK_TIME_NS, Series, SeriesKind, SeriesPlan,
    plan_bench,
};
use stripewise_results::RunRecord;
use stripewise_runner::LivingArrays;
pub use stripewise_stats::Slo;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{ByteSize, Nanoseconds, counted, format_duration, is_sim_target};
use stripewise_workload::{
    Request, SIMULATED_OPERATIONS_MIN, Steady, TIME_NS_MAX, Workload, derived_seed,
};

const SECOND_NS: u64 = 1_000_000_000;
/// Time limit for filling the test file of a quick bench.
const QUICK_FILL_NS: u64 = 20 * SECOND_NS;
/// Size of the test file with `--thorough`, unless a cache size requires more.
const QUALIFY_SIZE_BYTES: u64 = 100 << 30;
/// One of many simulated runs for an answer needs fewer operations than a step: a p99 of
/// 10,000 is based on a hundred.
const SIMULATED_ANSWER_OPERATIONS_MIN: u64 = 10_000;
/// Seed of steps that differ from each other; no other run uses it.
const SEED_OF_STEPS: u64 = 1 << 34;

/// Parameters of a bench.
#[derive(Clone, Debug, Default)]
pub struct BenchOptions {
    /// As typed.
    pub target: String,
    /// Long steps on a large, preconditioned file.
    pub qualify: bool,
    /// How to precondition it then.
    pub precondition: Precondition,
    /// The series to run; empty: all.
    pub series: Vec<SeriesKind>,
    /// Skip series that write.
    pub read_only: bool,
    /// Length of a step.
    pub step_ns: Option<u64>,
    /// Time limit for everything.
    pub time_ns: Option<u64>,
    /// Block size of the random series.
    pub block_size_bytes: Option<u64>,
    /// The latency limit that each series is to answer.
    pub slo: Slo,
    /// Seed of all streams.
    pub seed: u64,
    /// Bytes of the target in use, or of the test file.
    pub size_bytes: Option<u64>,
    /// I/O engine.
    pub engine: EngineName,
    /// The user's label.
    pub label: Option<String>,
    /// Size of the device's or controller's cache, if given.
    pub cache_size_bytes: Option<u64>,
    /// Requirements: a rate and a latency of one series are judged by runs at that rate.
    pub require: Vec<Requirement>,
    /// Id of the stored bench of the array that this one is held to.
    pub expected_bench: Option<String>,
    /// Other hosts that make the same runs: the array's limit is of interest, not this host's.
    pub group: Option<Rc<dyn HostGroup>>,
}

impl BenchOptions {
    /// A quick bench of a target with defaults.
    pub fn of(target: impl Into<String>) -> BenchOptions {
        BenchOptions {
            target: target.into(),
            seed: 1,
            ..BenchOptions::default()
        }
    }
}

/// The series and steps for these options, known before a
/// store or a file is made.
///
/// # Errors
/// If no series remains to run, or the time is too short.
pub fn planned(options: &BenchOptions) -> Outcome<BenchPlan> {
    let plan = plan_bench(&spec(options));
    if plan.series.is_empty() {
        return Err(Failure::usage(
            "no series is left to run: those named write, and --read-only forbids it",
            "leave out --read-only, or name random-read or sequential-read",
        ));
    }
    refuse_long(options)?;
    precondition::refuse_shared(options)?;
    for series in &plan.series {
        check_before(&series.workload, options.size_bytes)?;
    }
    refuse_short(options, &plan)?;
    required::together(options, &plan)?;
    Ok(plan)
}

/// Runs the series of a plan from [`planned`], and stores their runs.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn bench(
    context: &Context,
    store: &mut Store,
    options: &BenchOptions,
    plan: BenchPlan,
    permissions: &Permissions,
) -> Outcome<ConductResult> {
    let plan = possible(context, store, options, plan, permissions)?;
    announce(context, options, &plan);
    let opened = aim_bench(context, store, options, &plan, permissions)?;
    let series = context.free_id(store, &context.timestamp())?;
    let leading = GroupRuns::of(context, store, options.group.as_ref())?;
    let mut steps = Steps {
        leading,
        how: how(context, options, &plan, &opened, series),
        progress: Progress::begin(
            context.observer(),
            is_simulated(&opened),
            plan.budget_ns,
            "Measuring",
        ),
        context,
        store,
        arrays: None,
        opened: std::slice::from_ref(&opened),
        series_left_ns: 0,
        end_ns: None,
        runs_left: 0,
        virtual_ns: 0,
        started_ns: context.now_ns(),
        records: Vec::new(),
    };
    let ended = run_series(options, &plan, &mut steps);
    let records = std::mem::take(&mut steps.records);
    drop(steps);
    opened.finish_or_report(context);
    Ok(ConductResult { records, ended })
}

fn spec(options: &BenchOptions) -> LadderOptions {
    LadderOptions {
        qualify: options.qualify,
        series: options.series.clone(),
        read_only: options.read_only,
        step_ns: options.step_ns,
        time_ns: options.time_ns,
        block_size_bytes: options.block_size_bytes,
        slo: options.slo,
        cores: System::live().host().cpu.count_usable,
        pilot_ns: pilot::expected_ns(options),
        seed: options.seed,
    }
}

/// A step of more than a year is a typing error; its sums would mean nothing.
fn refuse_long(options: &BenchOptions) -> Outcome<()> {
    match options.step_ns.filter(|step_ns| *step_ns > TIME_NS_MAX) {
        Some(step_ns) => Err(Failure::usage(
            format!("--step {} is longer than a year", Nanoseconds(step_ns)),
            "give a time such as 1.5s or 5m",
        )),
        None => Ok(()),
    }
}

/// Refuses less time than a step of each series: some of the requested answers would be
/// missing, which is better known before than after.
fn refuse_short(options: &BenchOptions, plan: &BenchPlan) -> Outcome<()> {
    let Some(time_ns) = options
        .time_ns
        .filter(|time_ns| *time_ns < plan.shortest_ns)
    else {
        return Ok(());
    };
    let time = Nanoseconds(time_ns);
    let series = counted(plan.series.len(), "series takes", "series take");
    Err(Failure::usage(
        format!(
            "--time {time} is too short: {series} {} with one step each",
            format_duration(plan.shortest_ns)
        ),
        format!(
            "give --time {} or more, a shorter --step, or fewer --series",
            Nanoseconds(plan.shortest_ns.next_multiple_of(SECOND_NS))
        ),
    ))
}

/// Prints the expected duration before anything is done.
fn announce(context: &Context, options: &BenchOptions, plan: &BenchPlan) {
    let is_simulated = is_sim_target(&options.target);
    let limit_ns = match is_simulated {
        true => options.time_ns,
        false => limit_ns(options),
    };
    let required = required::announced(options, plan, limit_ns);
    if is_simulated {
        // The ladders of a simulated array take seconds; these runs may take minutes.
        if !required.is_empty() {
            required.into_iter().for_each(|words| context.plan(words));
            context.plan(crate::steps::TIMES_ARE_SIMULATED);
        }
        return;
    }
    let names: Vec<&str> = plan
        .series
        .iter()
        .map(|series| series.kind.name())
        .collect();
    let filling = if options.qualify {
        ", filling and preconditioning come on top"
    } else {
        ""
    };
    context.plan(format!("Series: {}", names.join(", ")));
    if let Some(condition) = options
        .precondition
        .condition()
        .filter(|_| plan_writes(plan))
    {
        context.plan(condition);
    }
    if plan_writes(plan) && options.engine != EngineName::Null {
        context.plan(announced(!options.qualify, limit_ns));
    }
    for words in required {
        context.plan(words);
    }
    context.plan(format!(
        "Time: at most {} of measuring{filling}; {}",
        format_duration(most_ns(options, plan)),
        if options.qualify {
            "for a server that is not in use yet"
        } else {
            "quick run: results may include caches and burst credit"
        },
    ));
}

/// The time for everything on a real disk, where it is limited.
fn limit_ns(options: &BenchOptions) -> Option<u64> {
    let quick = (!options.qualify).then_some(QUICK_TIME_NS);
    options.time_ns.or(quick)
}

/// How long a bench measures a real disk at most: ladders and answers, pilots, and the runs at
/// required rates, within the time for everything.
fn most_ns(options: &BenchOptions, plan: &BenchPlan) -> u64 {
    let series = plan.series.iter().map(|series| {
        let pilot_ns = match series.kind.writes() && options.engine != EngineName::Null {
            true => longest_ns(!options.qualify),
            false => 0,
        };
        stripewise_lab::most_ns(series, pilot_ns)
    });
    let required_ns = required::longest_of_all_ns(options, plan);
    let most_ns = series.fold(required_ns, u64::saturating_add);
    limit_ns(options).map_or(most_ns, |limit_ns| limit_ns.min(most_ns))
}

/// The plan, or its reading series where the target may not be written: that is
/// judged before the plan is announced, so that what is announced is what runs.
fn possible(
    context: &Context,
    store: &Store,
    options: &BenchOptions,
    plan: BenchPlan,
    permissions: &Permissions,
) -> Outcome<BenchPlan> {
    let writes = plan_writes(&plan);
    if options.engine == EngineName::Null || !writes {
        return Ok(plan);
    }
    let need = need(options, writes);
    match judge_requirements(context, store, &options.target, &need, permissions) {
        Err(failure) => {
            let reading = plan_bench(&LadderOptions {
                read_only: true,
                ..spec(options)
            });
            if reading.series.is_empty() {
                return Err(failure);
            }
            reads_instead(context, permissions, failure)?;
            Ok(reading)
        }
        Ok(()) => Ok(plan),
    }
}

fn plan_writes(plan: &BenchPlan) -> bool {
    plan.series.iter().any(|series| series.kind.writes())
}

/// Opens the target for the operations of the plan.
fn aim_bench(
    context: &Context,
    store: &mut Store,
    options: &BenchOptions,
    plan: &BenchPlan,
    permissions: &Permissions,
) -> Outcome<OpenTarget> {
    let need = need(options, plan_writes(plan));
    if options.engine == EngineName::Null {
        return match &options.group {
            Some(group) => open_nothing_with(context, &options.target, &need, group),
            None => Ok(open_nothing(&options.target, Size::Auto)),
        };
    }
    let group = options.group.as_ref();
    open_with(context, store, &options.target, &need, permissions, group)
}

fn need(options: &BenchOptions, writes: bool) -> Needs {
    let qualify = QUALIFY_SIZE_BYTES.max(
        options
            .cache_size_bytes
            .map_or(0, |cache_bytes| cache_bytes.saturating_mul(4)),
    );
    let size = match options.size_bytes {
        Some(size_bytes) => Size::Exactly(size_bytes),
        None if options.qualify => Size::AtMost(qualify),
        None => Size::Auto,
    };
    Needs {
        reads: true,
        writes,
        size,
        outstanding_total: in_flight_max(options),
        // A required rate is explicit, and requires as many in flight as it needs.
        outstanding_by_number: in_flight_max(options) > IN_FLIGHT_MAX,
        engine: options.engine,
        seed: options.seed,
        fill_time_limit_ns: (!options.qualify).then_some(QUICK_FILL_NS),
        ..Needs::of_loads([])
    }
}

/// Maximum operations in flight, of ladders and of runs at required rates.
fn in_flight_max(options: &BenchOptions) -> u32 {
    let plan = plan_bench(&spec(options));
    let together = required::together(options, &plan).unwrap_or_default();
    let wanted = together.iter().map(|both| {
        let mut series = plan.series.iter();
        let series = series.find(|series| series.kind == both.kind);
        series.map_or(0, |series| {
            both.in_flight_max(series.workload.block_size_bytes)
        })
    });
    wanted.fold(IN_FLIGHT_MAX, u32::max)
}

fn is_simulated(opened: &OpenTarget) -> bool {
    opened.simulated().is_some()
}

fn how(
    context: &Context,
    options: &BenchOptions,
    plan: &BenchPlan,
    opened: &OpenTarget,
    series: String,
) -> RunOptions {
    let request = Request {
        interval_ns: plan.interval_ns,
        simulated_operations_min: match options.step_ns {
            None => SIMULATED_OPERATIONS_MIN,
            Some(_) => 0,
        },
        engine: options.engine.to_string(),
        label: options.label.clone(),
        cache_size_bytes: options.cache_size_bytes,
        cache_by_name: false,
        load_by_number: false,
        requirements: options.require.iter().map(ToString::to_string).collect(),
        expected_bench: options.expected_bench.clone(),
        ..Request::default()
    };
    RunOptions {
        series: Some((series, String::new())),
        latency_limit: Some(options.slo.to_string()),
        quick: !options.qualify,
        ..RunOptions::of(context, request, is_simulated(opened))
    }
}

/// Runs the series one after the other, each within its share of the time.
fn run_series(options: &BenchOptions, plan: &BenchPlan, steps: &mut Steps<'_>) -> Outcome<()> {
    let simulated = is_simulated(&steps.opened[0]);
    let end_ns = if options.qualify || simulated {
        options.time_ns
    } else {
        // What filling took is gone from the time for everything.
        limit_ns(options).map(|limit_ns| limit_ns.saturating_sub(steps.started_ns))
    };
    steps.end_ns = end_ns;
    for (index, series) in plan.series.iter().enumerate() {
        let first_to_write = !plan.series[..index]
            .iter()
            .any(|earlier| earlier.kind.writes());
        if options.qualify && series.kind.writes() && first_to_write {
            steps.series_left_ns = longest_of(&plan.series[index..]);
            steps.precondition(options, series.workload.seed)?;
        }
        let mut series = series.clone();
        series.deadline_ns = end_ns.map(|end_ns| plan.deadline_ns(index, steps.elapsed(), end_ns));
        series.answer_deadline_ns = end_ns
            .zip(series.deadline_ns)
            .map(|(end_ns, deadline)| plan.answer_deadline_ns(index, deadline, end_ns));
        steps.series_left_ns = longest_of(&plan.series[index + 1..]);
        steps.pilot(options, &series)?;
        if steps.series(series)? == Ended::Partial || steps.context.signal().is_some() {
            return Ok(());
        }
    }
    steps.at_required_rates(options, plan)
}

/// Upper bound on the duration of these series.
fn longest_of(series: &[SeriesPlan]) -> u64 {
    series.iter().map(stripewise_lab::longest_ns).sum()
}

/// Runs the steps of a bench and stores them.
struct Steps<'a> {
    context: &'a Context,
    store: &'a mut Store,
    opened: &'a [OpenTarget],
    leading: Option<GroupRuns>,
    how: RunOptions,
    /// The simulated array after its caches have absorbed writes of the series, if they
    /// absorb any; all other runs use a new array.
    arrays: Option<LivingArrays>,
    progress: Progress<'a>,
    /// Upper bound for the remaining series.
    series_left_ns: u64,
    /// Deadline of the whole bench, if its time is limited.
    end_ns: Option<u64>,
    /// Remaining runs of this series, including the next.
    runs_left: u32,
    /// Virtual time of simulated runs so far.
    virtual_ns: u64,
    started_ns: u64,
    records: Vec<RunRecord>,
}

impl Steps<'_> {
    /// Makes one pass over the whole target before the first series that
    /// writes, so that writes find a device without fresh space. Its record is
    /// stored under the series' id, as a part of its own without a ladder.
    fn precondition(&mut self, options: &BenchOptions, seed: u64) -> Outcome<()> {
        let size_bytes = self.opened[0].limits().size_bytes;
        let (pass, operations) = options.precondition.pass(options, size_bytes, seed);
        warn_of_one_pass(self.context, &self.opened[0], [&pass]);
        let how = RunOptions {
            series: self
                .how
                .series
                .clone()
                .map(|(id, _)| (id, "precondition".to_owned())),
            request: Request {
                simulated_operations_min: 0,
                operations_max_per_thread: Some(operations),
                ..self.how.request.clone()
            },
            ..self.how.clone()
        };
        let spec = PlacedJob {
            name: "precondition".to_owned(),
            workload: pass,
            targets: vec![0],
        };
        let elapsed_ns = self.elapsed();
        let place = RunPlace {
            title: "Preconditioning",
            before_ns: elapsed_ns,
            expected_ns: 0,
            after_ns: Some(self.series_left_ns),
        };
        self.measured(spec, &how, &place).map(drop)
    }

    /// Makes the runs of a series until it ends.
    fn series(&mut self, plan: SeriesPlan) -> Outcome<Ended> {
        let kind = plan.kind;
        let mut series = Series::new(plan);
        while let Some(run) = series.next(self.elapsed()) {
            self.runs_left = run.runs_left;
            let record = self.step(kind, run.workload, run.answer_block)?;
            series.completed(&record);
        }
        Ok(series.ended())
    }

    fn step(
        &mut self,
        kind: SeriesKind,
        workload: Workload,
        answer_block: Option<u32>,
    ) -> Outcome<RunRecord> {
        let (step_ns, threads) = (workload.length_ns(), workload.threads);
        let elapsed_ns = self.elapsed();
        let later_ns = u64::from(self.runs_left.saturating_sub(1))
            .saturating_mul(step_ns)
            .saturating_add(self.series_left_ns);
        // Ladders are cut short when the total time is used up.
        let later_ns = match self.end_ns {
            Some(end_ns) => later_ns.min(end_ns.saturating_sub(elapsed_ns.saturating_add(step_ns))),
            None => later_ns,
        };
        let from_here_ns = step_ns.saturating_add(later_ns);
        self.progress
            .set_total(elapsed_ns.saturating_add(from_here_ns));
        let title = format!(
            "{} {} with {} in flight{}",
            kind.title(),
            ByteSize(workload.block_size_bytes),
            self.leading.as_ref().map_or(1, GroupRuns::hosts)
                * u64::from(workload.threads)
                * u64::from(workload.outstanding),
            match answer_block {
                Some(_) => ", for the interval",
                None => "",
            }
        );
        let place = RunPlace {
            title: &title,
            before_ns: elapsed_ns,
            expected_ns: step_ns,
            after_ns: Some(later_ns),
        };
        let spec = PlacedJob {
            name: kind.name().to_owned(),
            workload: self.unlike_earlier(workload, answer_block),
            targets: vec![0],
        };
        if let Some(series) = &mut self.how.series {
            kind.name().clone_into(&mut series.1);
        }
        let least = self.how.request.simulated_operations_min;
        let how = RunOptions {
            answer_block,
            request: Request {
                steady: match (self.how.sustained, self.how.quick) {
                    (None, _) => Steady::No,
                    (Some(_), true) => Steady::Quick,
                    (Some(_), false) => Steady::Thorough,
                },
                simulated_operations_min: match answer_block {
                    Some(_) => least.min(SIMULATED_ANSWER_OPERATIONS_MIN),
                    None => least,
                },
                ..self.how.request.clone()
            },
            ..self.how.clone()
        };
        let record = self.measured(spec, &how, &place)?;
        Ok(as_climbed(record, threads))
    }

    /// With a full cache, a step must not write where the previous one did: dirty data in the
    /// cache would be overwritten there. On a simulated array that stalls, it must not begin when
    /// the previous one did: a stall would be in all steps or in none. Runs for the answer never do.
    fn unlike_earlier(&self, workload: Workload, answer_block: Option<u32>) -> Workload {
        let stalls = self.opened[0].simulated().is_some_and(Simulated::stalls);
        if (self.how.sustained.is_none() && !stalls) || answer_block.is_some() {
            return workload;
        }
        let number = SEED_OF_STEPS + self.records.len() as u64;
        Workload {
            seed: derived_seed(workload.seed, number),
            ..workload
        }
    }

    /// Makes a run, on all hosts if there are several, and stores it.
    fn measured(
        &mut self,
        job: PlacedJob,
        options: &RunOptions,
        place: &RunPlace<'_>,
    ) -> Outcome<RunRecord> {
        let progress = (&self.progress, place);
        let (context, jobs) = (self.context, [job]);
        let measured = match &mut self.arrays {
            Some(arrays) if self.leading.is_none() => measure_on(
                context,
                self.store,
                self.opened,
                arrays,
                &jobs,
                options,
                progress,
            ),
            _ => measure_with(
                self.leading.as_ref(),
                context,
                self.store,
                self.opened,
                &jobs,
                options,
                progress,
            ),
        }?;
        self.took(&measured.record);
        self.records.push(measured.record.clone());
        measured.stored.map(|()| measured.record)
    }
}

impl Steps<'_> {
    /// Adds the virtual time of a simulated run.
    fn took(&mut self, record: &RunRecord) {
        if is_simulated(&self.opened[0]) {
            let lengths = record.jobs.iter().map(|job| job.outcome.duration_ns);
            self.virtual_ns += lengths.max().unwrap_or(0);
        }
    }

    fn elapsed(&self) -> u64 {
        match is_simulated(&self.opened[0]) {
            true => self.virtual_ns,
            false => self.context.now_ns() - self.started_ns,
        }
    }
}

/// The ladder climbs in operations in flight per host, while records have the sum over all.
fn as_climbed(mut record: RunRecord, threads: u32) -> RunRecord {
    for job in &mut record.jobs {
        job.workload.threads = threads;
    }
    record
}
