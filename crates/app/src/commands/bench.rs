//! `bench`: the main job. Five series, a table and a sentence each.

use crate::aim::{Aimed, Need, aim, aim_at_nothing, judge_need, only_leave_is_missing};
use crate::cli::bench::Bench;
use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::keep::Place;
use crate::measure::{How, JobWish, check_before, exit_of, measure};
use crate::show::document::{note, print_exact};
use crate::show::page::{refuse_existing, say_written, write_beside_store, write_report};
use crate::show::progress::Progress;
use crate::show::terminal::say;
use crate::show::{requirements, runs};
use stripewise_disk_inspect::System;
use stripewise_io_engine::EngineName;
use stripewise_lab::{
    BenchPlan, BenchWish, Ended, IN_FLIGHT_MAX, QUICK_TIME_NS, SeriesKind, StepRunner, StepTime,
    measure_series, plan_bench,
};
use stripewise_results::{Document, RunRecord};
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
/// Block size of the preconditioning pass, as SNIA's test has it.
const PRECONDITION_BLOCK_BYTES: u64 = 128 << 10;
/// It ends with the target; this only keeps a stalled device from holding it for ever.
const PRECONDITION_TIME_MAX_NS: u64 = 7 * 24 * 3600 * SECOND_NS;

pub fn bench(context: &Context, arguments: &Bench) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    let plan = plan_bench(&wish(arguments));
    if plan.series.is_empty() {
        return Err(Failure::usage(
            "no series is left to run: those named write, and --read-only forbids it",
            "leave out --read-only, or name random-read or sequential-read",
        ));
    }
    refuse_long(arguments)?;
    for series in &plan.series {
        check_before(&series.workload, arguments.size.map(ByteSize::bytes))?;
    }
    refuse_short(arguments, &plan)?;
    let mut store = context.open_store()?;
    let plan = possible(context, &store, arguments, plan)?;
    announce(context, arguments, &plan);
    let aimed = aim_bench(context, &mut store, arguments, &plan)?;
    let started_at = context.timestamp();
    let mut steps = Steps {
        how: how(
            context,
            arguments,
            &plan,
            &aimed,
            context.free_id(&store, &started_at)?,
        ),
        progress: Progress::start(
            context.global.quiet || is_simulated(&aimed),
            plan.budget_ns,
            "Measuring",
        ),
        context,
        store: &mut store,
        aimed: std::slice::from_ref(&aimed),
        series_left_ns: 0,
        runs_left: 0,
        virtual_ns: 0,
        started_ns: context.now_ns(),
        records: Vec::new(),
    };
    let outcome = run_series(arguments, &plan, &mut steps);
    let records = std::mem::take(&mut steps.records);
    drop(steps);
    aimed.finish()?;
    if records.is_empty() {
        outcome?;
        return Ok(exit_of(context, &records));
    }
    let mut document = runs::document(records);
    requirements::judge(&arguments.require, &mut document);
    let exit = unanswered(&document, exit_of(context, &document.runs));
    let exit = requirements::exit(&document, exit);
    if context.global.json {
        print_exact(&document.to_json());
    } else {
        runs::print_made(context, &store, &document);
    }
    let reported = report(context, arguments, &store, document);
    // What was measured before a failure is shown and kept; then the failure.
    outcome?;
    reported?;
    Ok(exit)
}

/// Writes the report: where it was asked for, else beside the store. Only a
/// report that was asked for can fail; the other is a gift.
fn report(context: &Context, arguments: &Bench, store: &Store, document: Document) -> Outcome<()> {
    if arguments.no_report {
        return Ok(());
    }
    let path = match &arguments.report {
        Some(path) => {
            write_report(Some(store), document, path)?;
            path.clone()
        }
        None => match write_beside_store(store, document) {
            Ok(path) => path,
            Err(failure) => {
                say!("warning: no report was written: {}", failure.error);
                return Ok(());
            }
        },
    };
    say_written(context, &path);
    Ok(())
}

/// What ended well ends as a finding where no series has an answer: a script that
/// only looks at the code must not take void numbers for the disk's.
fn unanswered(document: &Document, exit: Exit) -> Exit {
    let mut series = document.series.iter();
    let none = !document.series.is_empty() && series.all(|series| series.no_answer.is_some());
    match exit {
        Exit::Done if none => Exit::Finding,
        other => other,
    }
}

fn wish(arguments: &Bench) -> BenchWish {
    BenchWish {
        qualify: arguments.qualify,
        series: arguments.series.iter().map(|name| name.kind()).collect(),
        read_only: arguments.read_only,
        step_ns: arguments.step.map(|step| step.ns()),
        time_ns: arguments.time.map(|time| time.ns()),
        block_size_bytes: arguments.block.map(ByteSize::bytes),
        slo: arguments.slo,
        cores: System::live().host().cpu.count_usable,
        seed: arguments.seed,
    }
}

/// A step of more than a year is a slip of the pen; its sums would mean nothing.
fn refuse_long(arguments: &Bench) -> Outcome<()> {
    match arguments.step.filter(|step| step.ns() > TIME_NS_MAX) {
        Some(step) => Err(Failure::usage(
            format!("--step {step} is longer than a year"),
            "give a time such as 1.5s or 5m",
        )),
        None => Ok(()),
    }
}

/// Less time than a step of each series: some of the answers asked for would be
/// missing, and that is better known before than after.
fn refuse_short(arguments: &Bench, plan: &BenchPlan) -> Outcome<()> {
    let Some(time) = arguments.time.filter(|time| time.ns() < plan.shortest_ns) else {
        return Ok(());
    };
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
fn announce(context: &Context, arguments: &Bench, plan: &BenchPlan) {
    if context.global.quiet || arguments.target.starts_with("sim:") {
        return;
    }
    let names: Vec<&str> = plan
        .series
        .iter()
        .map(|series| series.kind.name())
        .collect();
    let filling = if arguments.qualify {
        ", filling and preconditioning come on top"
    } else {
        ""
    };
    say!("Series: {}", names.join(", "));
    say!(
        "Time: at most {} of measuring{filling}; {}",
        format_duration(plan.budget_ns),
        if arguments.qualify {
            "for a server that is not in use yet"
        } else {
            "a quick look: caches and bursts possible"
        },
    );
}

/// The plan, or its reading series where the target may not be written: that is
/// judged before the plan is announced, so that what is announced is what runs.
fn possible(
    context: &Context,
    store: &Store,
    arguments: &Bench,
    plan: BenchPlan,
) -> Outcome<BenchPlan> {
    let writes = plan_writes(&plan);
    if arguments.engine == EngineName::Null || !writes {
        return Ok(plan);
    }
    let need = need(arguments, writes);
    match judge_need(context, store, &arguments.target, &need, &arguments.safety) {
        Err(failure) if may_be_read(arguments, &failure) => {
            let reading = plan_bench(&BenchWish {
                read_only: true,
                ..wish(arguments)
            });
            if reading.series.is_empty() {
                return Err(failure);
            }
            note(format!("only reads are measured: {}", failure.error));
            if let Some(hint) = &failure.hint {
                say!("hint: {hint}");
            }
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
    arguments: &Bench,
    plan: &BenchPlan,
) -> Outcome<Aimed> {
    if arguments.engine == EngineName::Null {
        return Ok(aim_at_nothing(&arguments.target, Size::Auto));
    }
    let need = need(arguments, plan_writes(plan));
    aim(context, store, &arguments.target, &need, &arguments.safety)
}

/// Writing was not allowed by a flag; nobody asked for it by one either.
fn may_be_read(arguments: &Bench, failure: &Failure) -> bool {
    let asked = arguments.safety.overwrite || arguments.safety.destroy.is_some();
    !asked && only_leave_is_missing(failure)
}

fn need(arguments: &Bench, writes: bool) -> Need {
    let qualify = QUALIFY_SIZE_BYTES.max(
        arguments
            .cache_size
            .map_or(0, |cache| cache.bytes().saturating_mul(4)),
    );
    let size = match arguments.size {
        Some(size) => Size::Exactly(size.bytes()),
        None if arguments.qualify => Size::AtMost(qualify),
        None => Size::Auto,
    };
    Need {
        reads: true,
        writes,
        size,
        outstanding_total: IN_FLIGHT_MAX,
        outstanding_by_number: false,
        cache: CacheMode::Direct,
        cache_by_name: false,
        data: DataPattern::default(),
        seed: arguments.seed,
        fill_time_limit_ns: (!arguments.qualify).then_some(QUICK_FILL_NS),
    }
}

fn is_simulated(aimed: &Aimed) -> bool {
    aimed.simulated().is_some()
}

fn how(
    context: &Context,
    arguments: &Bench,
    plan: &BenchPlan,
    aimed: &Aimed,
    series: String,
) -> How {
    let request = Request {
        interval_ns: plan.interval_ns,
        simulated_operations_min: match arguments.step {
            None => SIMULATED_OPERATIONS_MIN,
            Some(_) => 0,
        },
        engine: arguments.engine.to_string(),
        label: arguments.label.clone(),
        cache_size_bytes: arguments.cache_size.map(ByteSize::bytes),
        cache_by_name: false,
        load_by_number: false,
        ..Request::default()
    };
    How {
        series: Some((series, String::new())),
        latency_limit: Some(arguments.slo.to_string()),
        quick: !arguments.qualify,
        ..How::of(context, request, is_simulated(aimed))
    }
}

/// Runs the series one after the other, each within its share of the time.
fn run_series(arguments: &Bench, plan: &BenchPlan, steps: &mut Steps<'_>) -> Outcome<()> {
    let simulated = is_simulated(&steps.aimed[0]);
    let end_ns = if arguments.qualify || simulated {
        arguments.time.map(|time| time.ns())
    } else {
        // What filling took is gone from the time for everything.
        let budget_ns = arguments.time.map_or(QUICK_TIME_NS, |time| time.ns());
        Some(budget_ns.saturating_sub(steps.started_ns))
    };
    for (index, series) in plan.series.iter().enumerate() {
        let first_to_write = !plan.series[..index]
            .iter()
            .any(|earlier| earlier.kind.writes());
        if arguments.qualify && series.kind.writes() && first_to_write {
            steps.precondition(series.workload.seed)?;
        }
        let mut series = series.clone();
        series.deadline_ns =
            end_ns.map(|end_ns| plan.deadline_ns(index, steps.elapsed_ns(), end_ns));
        series.answer_deadline_ns = end_ns
            .zip(series.deadline_ns)
            .map(|(end_ns, deadline)| plan.answer_deadline_ns(index, deadline, end_ns));
        steps.series_left_ns = plan.series[index + 1..]
            .iter()
            .map(stripewise_lab::longest_ns)
            .sum();
        let (_, ended) = measure_series(&series, steps)?;
        if ended == Ended::Partial || steps.context.interrupt.signal().is_some() {
            break;
        }
    }
    Ok(())
}

/// Runs and keeps the steps of a bench.
struct Steps<'a> {
    context: &'a Context,
    store: &'a mut Store,
    aimed: &'a [Aimed],
    how: How,
    progress: Progress,
    /// Of the series to come, at most.
    series_left_ns: u64,
    /// Of this one, the next included.
    runs_left: u32,
    /// Virtual time that simulated runs took.
    virtual_ns: u64,
    started_ns: u64,
    records: Vec<RunRecord>,
}

impl Steps<'_> {
    /// One sequential pass over the whole target before the first series that
    /// writes, so that writes meet a device without fresh space. Its record is
    /// kept under the series' id, as a part of its own that has no ladder.
    fn precondition(&mut self, seed: u64) -> Outcome<()> {
        let time = StepTime {
            ramp_ns: 0,
            duration_ns: PRECONDITION_TIME_MAX_NS,
        };
        let pass = Workload {
            outstanding: 32,
            ..SeriesKind::SequentialWrite.workload(PRECONDITION_BLOCK_BYTES, time, seed)
        };
        let operations = self.aimed[0].limits().size_bytes / PRECONDITION_BLOCK_BYTES;
        let how = How {
            series: self
                .how
                .series
                .clone()
                .map(|(id, _)| (id, "precondition".to_owned())),
            operations_max_per_thread: Some(operations.max(1)),
            request: Request {
                simulated_operations_min: 0,
                ..self.how.request.clone()
            },
            ..self.how.clone()
        };
        let wish = JobWish {
            name: "precondition".to_owned(),
            workload: pass,
            targets: vec![0],
        };
        let elapsed_ns = self.elapsed_ns();
        let place = Place {
            title: "Preconditioning",
            before_ns: elapsed_ns,
            expected_ns: 0,
            after_ns: self.series_left_ns,
        };
        let measured = measure(
            self.context,
            self.store,
            self.aimed,
            &[wish],
            &how,
            &self.progress,
            &place,
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
        let step_ns = workload.length_ns();
        let elapsed_ns = self.elapsed_ns();
        let later_ns = u64::from(self.runs_left.saturating_sub(1))
            .saturating_mul(step_ns)
            .saturating_add(self.series_left_ns);
        let from_here_ns = step_ns.saturating_add(later_ns);
        self.progress
            .set_total(elapsed_ns.saturating_add(from_here_ns));
        let title = format!(
            "{} {} with {} in flight{}",
            kind.title(),
            ByteSize(workload.block_size_bytes),
            u64::from(workload.threads) * u64::from(workload.outstanding),
            match answer_block {
                Some(_) => ", for the interval",
                None => "",
            }
        );
        let place = Place {
            title: &title,
            before_ns: elapsed_ns,
            expected_ns: step_ns,
            after_ns: later_ns,
        };
        let wish = JobWish {
            name: kind.name().to_owned(),
            workload,
            targets: vec![0],
        };
        if let Some(series) = &mut self.how.series {
            kind.name().clone_into(&mut series.1);
        }
        let least = self.how.request.simulated_operations_min;
        let how = How {
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
        let measured = measure(
            self.context,
            self.store,
            self.aimed,
            &[wish],
            &how,
            &self.progress,
            &place,
        )?;
        if is_simulated(&self.aimed[0]) {
            self.virtual_ns += measured
                .record
                .jobs
                .iter()
                .map(|job| job.outcome.duration_ns)
                .max()
                .unwrap_or(0);
        }
        self.records.push(measured.record.clone());
        measured.kept.map(|()| measured.record)
    }
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
        if is_simulated(&self.aimed[0]) {
            self.virtual_ns
        } else {
            self.context.now_ns() - self.started_ns
        }
    }

    fn expect(&mut self, _kind: SeriesKind, runs_left: u32) {
        self.runs_left = runs_left;
    }
}
