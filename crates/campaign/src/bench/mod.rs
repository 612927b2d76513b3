//! `bench`: the main job. Five series, a table and a sentence each.

mod expect;
mod precondition;
mod required;

pub use expect::{expectations, expected};
pub use precondition::Precondition;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::observer::Progress;
use crate::permissions::Permissions;
use crate::steps::keep::RunPlace;
use crate::steps::measure::{PlacedJob, RunOptions, check_before};
use crate::steps::targets::{
    OpenTarget, TargetRequirements, judge_requirements, lacks_permission_to_write, open_nothing,
    warn_of_one_pass,
};
use crate::steps::together::{Leading, Leads, measure_with, open_nothing_with, open_with};
use std::rc::Rc;
use stripewise_disk_inspect::System;
use stripewise_io_engine::EngineName;
use stripewise_lab::compare::Requirement;
use stripewise_lab::{
    BenchPlan, BenchWish, Ended, IN_FLIGHT_MAX, QUICK_TIME_NS, SeriesKind, SeriesPlan, StepRunner,
    measure_series, plan_bench,
};
use stripewise_results::RunRecord;
use stripewise_stats::LatencyStatistic;
pub use stripewise_stats::Slo;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{ByteSize, Nanoseconds, counted, format_duration};
use stripewise_workload::{
    CacheMode, DataPattern, Request, SIMULATED_OPERATIONS_MIN, TIME_NS_MAX, Workload,
};

const SECOND_NS: u64 = 1_000_000_000;
/// Filling the test file of a quick bench takes at most this.
const QUICK_FILL_NS: u64 = 20 * SECOND_NS;
/// Size of the test file with `--qualify`, where no cache size asks for more.
const QUALIFY_SIZE_BYTES: u64 = 100 << 30;
/// One of many simulated runs for an answer needs fewer operations than a step: a p99 of
/// 10,000 rests on a hundred.
const SIMULATED_ANSWER_OPERATIONS_MIN: u64 = 10_000;
/// What is asked of a bench.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// As typed.
    pub target: String,
    /// Long steps on a large, preconditioned file.
    pub qualify: bool,
    /// How it is preconditioned then.
    pub precondition: Precondition,
    /// The series to run; empty: all.
    pub series: Vec<SeriesKind>,
    /// No series that writes.
    pub read_only: bool,
    /// Length of a step.
    pub step_ns: Option<u64>,
    /// Time for everything.
    pub time_ns: Option<u64>,
    /// Block size of the random series.
    pub block_size_bytes: Option<u64>,
    /// The latency limit that each series answers.
    pub slo: Slo,
    /// Seed of all streams.
    pub seed: u64,
    /// Bytes of the target in use, or of the test file.
    pub size_bytes: Option<u64>,
    /// Which engine.
    pub engine: EngineName,
    /// The user's words about it.
    pub label: Option<String>,
    /// Size of the device's or controller's cache, where the user says it.
    pub cache_size_bytes: Option<u64>,
    /// What is required: a rate and a latency of one series are judged by runs at that rate.
    pub require: Vec<Requirement>,
    /// Other hosts that make the same runs: the array's limit is sought, not this host's.
    pub group: Option<Rc<dyn Leads>>,
}

impl BenchOptions {
    /// A quick bench of a target with the limit `p99<5ms`, nothing else asked.
    #[must_use]
    pub fn of(target: impl Into<String>) -> BenchOptions {
        BenchOptions {
            target: target.into(),
            qualify: false,
            precondition: Precondition::default(),
            series: Vec::new(),
            read_only: false,
            step_ns: None,
            time_ns: None,
            block_size_bytes: None,
            slo: Slo {
                percentile: LatencyStatistic::P99,
                limit_ns: 5_000_000,
                inclusive: false,
            },
            seed: 1,
            size_bytes: None,
            engine: EngineName::Auto,
            label: None,
            cache_size_bytes: None,
            require: Vec::new(),
            group: None,
        }
    }
}

/// What a bench came to.
pub struct Benched {
    /// What was measured, in order.
    pub records: Vec<RunRecord>,
    /// The failure that ended it, if one did; what was measured before is shown first.
    pub ended: Outcome<()>,
}

/// The series and steps that these options mean, where they mean any: known before a
/// store or a file is made.
///
/// # Errors
/// Where nothing is left to run, or the time does not do.
pub fn planned(options: &BenchOptions) -> Outcome<BenchPlan> {
    let plan = plan_bench(&wish(options));
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

/// Runs the series of a plan that [`planned`] made, and keeps their runs.
///
/// # Errors
/// Where it cannot begin: nothing was measured.
pub fn bench(
    context: &Context,
    store: &mut Store,
    options: &BenchOptions,
    plan: BenchPlan,
    permissions: &Permissions,
) -> Outcome<Benched> {
    let plan = possible(context, store, options, plan, permissions)?;
    announce(context, options, &plan);
    let aimed = aim_bench(context, store, options, &plan, permissions)?;
    let series = context.free_id(store, &context.timestamp())?;
    let leading = Leading::of(context, store, options.group.as_ref())?;
    let mut steps = Steps {
        leading,
        how: how(context, options, &plan, &aimed, series),
        progress: Progress::begin(
            context.observer(),
            is_simulated(&aimed),
            plan.budget_ns,
            "Measuring",
        ),
        context,
        store,
        aimed: std::slice::from_ref(&aimed),
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
    aimed.finish()?;
    Ok(Benched { records, ended })
}

fn wish(options: &BenchOptions) -> BenchWish {
    BenchWish {
        qualify: options.qualify,
        series: options.series.clone(),
        read_only: options.read_only,
        step_ns: options.step_ns,
        time_ns: options.time_ns,
        block_size_bytes: options.block_size_bytes,
        slo: options.slo,
        cores: System::live().host().cpu.count_usable,
        seed: options.seed,
    }
}

/// A step of more than a year is a slip of the pen; its sums would mean nothing.
fn refuse_long(options: &BenchOptions) -> Outcome<()> {
    match options.step_ns.filter(|step_ns| *step_ns > TIME_NS_MAX) {
        Some(step_ns) => Err(Failure::usage(
            format!("--step {} is longer than a year", Nanoseconds(step_ns)),
            "give a time such as 1.5s or 5m",
        )),
        None => Ok(()),
    }
}

/// Less time than a step of each series: some of the answers asked for would be
/// missing, and that is better known before than after.
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

/// How long it will take, before anything is done.
fn announce(context: &Context, options: &BenchOptions, plan: &BenchPlan) {
    if options.target.starts_with("sim:") {
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
    for words in required::announced(options, plan) {
        context.plan(words);
    }
    context.plan(format!(
        "Time: at most {} of measuring{filling}; {}",
        format_duration(plan.budget_ns),
        if options.qualify {
            "for a server that is not in use yet"
        } else {
            "a quick look: caches and bursts possible"
        },
    ));
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
        Err(failure) if may_be_read(permissions, &failure) => {
            let reading = plan_bench(&BenchWish {
                read_only: true,
                ..wish(options)
            });
            if reading.series.is_empty() {
                return Err(failure);
            }
            let text = format!("only reads are measured: {}", failure.error);
            context.note_failure(&text, &failure);
            Ok(reading)
        }
        other => other.map(|()| plan),
    }
}

fn plan_writes(plan: &BenchPlan) -> bool {
    plan.series.iter().any(|series| series.kind.writes())
}

/// Opens the target for what the plan does.
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

/// Writing was not allowed by a flag; nobody asked for it by one either.
fn may_be_read(permissions: &Permissions, failure: &Failure) -> bool {
    let asked = permissions.overwrite || !permissions.destroy.is_empty();
    !asked && lacks_permission_to_write(failure)
}

fn need(options: &BenchOptions, writes: bool) -> TargetRequirements {
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
    TargetRequirements {
        reads: true,
        writes,
        size,
        outstanding_total: in_flight_max(options),
        // A required rate is a number, and needs as many in flight as it needs.
        outstanding_by_number: in_flight_max(options) > IN_FLIGHT_MAX,
        cache: CacheMode::Direct,
        cache_by_name: false,
        engine: options.engine,
        loads: Vec::new(),
        data: DataPattern::default(),
        seed: options.seed,
        fill_time_limit_ns: (!options.qualify).then_some(QUICK_FILL_NS),
        filled_by_caller: false,
    }
}

/// Operations in flight at most: of ladders, and of runs at required rates.
fn in_flight_max(options: &BenchOptions) -> u32 {
    let plan = plan_bench(&wish(options));
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

fn is_simulated(aimed: &OpenTarget) -> bool {
    aimed.simulated().is_some()
}

fn how(
    context: &Context,
    options: &BenchOptions,
    plan: &BenchPlan,
    aimed: &OpenTarget,
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
        ..Request::default()
    };
    RunOptions {
        series: Some((series, String::new())),
        latency_limit: Some(options.slo.to_string()),
        quick: !options.qualify,
        ..RunOptions::of(context, request, is_simulated(aimed))
    }
}

/// Runs the series one after the other, each within its share of the time.
fn run_series(options: &BenchOptions, plan: &BenchPlan, steps: &mut Steps<'_>) -> Outcome<()> {
    let simulated = is_simulated(&steps.aimed[0]);
    let end_ns = if options.qualify || simulated {
        options.time_ns
    } else {
        // What filling took is gone from the time for everything.
        let budget_ns = options.time_ns.unwrap_or(QUICK_TIME_NS);
        Some(budget_ns.saturating_sub(steps.started_ns))
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
        series.deadline_ns =
            end_ns.map(|end_ns| plan.deadline_ns(index, steps.elapsed_ns(), end_ns));
        series.answer_deadline_ns = end_ns
            .zip(series.deadline_ns)
            .map(|(end_ns, deadline)| plan.answer_deadline_ns(index, deadline, end_ns));
        steps.series_left_ns = longest_of(&plan.series[index + 1..]);
        let (_, ended) = measure_series(&series, steps)?;
        if ended == Ended::Partial || steps.context.signal().is_some() {
            return Ok(());
        }
    }
    steps.at_required_rates(options, plan)
}

/// How long these series take one after the other, at most.
fn longest_of(series: &[SeriesPlan]) -> u64 {
    series.iter().map(stripewise_lab::longest_ns).sum()
}

/// Runs and keeps the steps of a bench.
struct Steps<'a> {
    context: &'a Context,
    store: &'a mut Store,
    aimed: &'a [OpenTarget],
    leading: Option<Leading>,
    how: RunOptions,
    progress: Progress<'a>,
    /// Of the series to come, at most.
    series_left_ns: u64,
    /// When all of it is to be over, where its time is limited.
    end_ns: Option<u64>,
    /// Of this one, the next included.
    runs_left: u32,
    /// Virtual time that simulated runs took.
    virtual_ns: u64,
    started_ns: u64,
    records: Vec<RunRecord>,
}

impl Steps<'_> {
    /// One pass over the whole target before the first series that
    /// writes, so that writes meet a device without fresh space. Its record is
    /// kept under the series' id, as a part of its own that has no ladder.
    fn precondition(&mut self, options: &BenchOptions, seed: u64) -> Outcome<()> {
        let size_bytes = self.aimed[0].limits().size_bytes;
        let (pass, operations) = options.precondition.pass(options, size_bytes, seed);
        warn_of_one_pass(self.context, &self.aimed[0], [&pass]);
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
        let wish = PlacedJob {
            name: "precondition".to_owned(),
            workload: pass,
            targets: vec![0],
        };
        let elapsed_ns = self.elapsed_ns();
        let place = RunPlace {
            title: "Preconditioning",
            before_ns: elapsed_ns,
            expected_ns: 0,
            after_ns: Some(self.series_left_ns),
        };
        let measured = measure_with(
            self.leading.as_ref(),
            self.context,
            self.store,
            self.aimed,
            &[wish],
            &how,
            (&self.progress, &place),
        )?;
        self.records.push(measured.record);
        measured.kept
    }

    fn step(
        &mut self,
        kind: SeriesKind,
        workload: Workload,
        answer_block: Option<u32>,
    ) -> Outcome<RunRecord> {
        let (step_ns, threads) = (workload.length_ns(), workload.threads);
        let elapsed_ns = self.elapsed_ns();
        let later_ns = u64::from(self.runs_left.saturating_sub(1))
            .saturating_mul(step_ns)
            .saturating_add(self.series_left_ns);
        // Ladders are cut where the time for everything is used up.
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
            self.leading.as_ref().map_or(1, Leading::hosts)
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
        let wish = PlacedJob {
            name: kind.name().to_owned(),
            workload,
            targets: vec![0],
        };
        if let Some(series) = &mut self.how.series {
            kind.name().clone_into(&mut series.1);
        }
        let least = self.how.request.simulated_operations_min;
        let how = RunOptions {
            answer_block,
            request: Request {
                simulated_operations_min: match answer_block {
                    Some(_) => least.min(SIMULATED_ANSWER_OPERATIONS_MIN),
                    None => least,
                },
                ..self.how.request.clone()
            },
            ..self.how.clone()
        };
        let measured = measure_with(
            self.leading.as_ref(),
            self.context,
            self.store,
            self.aimed,
            &[wish],
            &how,
            (&self.progress, &place),
        )?;
        self.took(&measured.record);
        self.records.push(measured.record.clone());
        measured.kept.map(|()| as_climbed(measured.record, threads))
    }
}

impl Steps<'_> {
    /// A simulated run takes virtual time.
    fn took(&mut self, record: &RunRecord) {
        if is_simulated(&self.aimed[0]) {
            let lengths = record.jobs.iter().map(|job| job.outcome.duration_ns);
            self.virtual_ns += lengths.max().unwrap_or(0);
        }
    }

    fn elapsed(&self) -> u64 {
        match is_simulated(&self.aimed[0]) {
            true => self.virtual_ns,
            false => self.context.now_ns() - self.started_ns,
        }
    }
}

/// The ladder climbs in what each host has in flight, and the records have the sum of all.
fn as_climbed(mut record: RunRecord, threads: u32) -> RunRecord {
    for job in &mut record.jobs {
        job.workload.threads = threads;
    }
    record
}

impl StepRunner for Steps<'_> {
    type Error = Failure;

    fn run_step(
        &mut self,
        kind: SeriesKind,
        workload: Workload,
        answer_block: Option<u32>,
    ) -> Outcome<RunRecord> {
        self.step(kind, workload, answer_block)
    }

    fn elapsed_ns(&self) -> u64 {
        self.elapsed()
    }

    fn expect(&mut self, _kind: SeriesKind, runs_left: u32) {
        self.runs_left = runs_left;
    }
}
