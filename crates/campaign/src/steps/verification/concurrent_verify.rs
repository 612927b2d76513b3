//! Verification during a run: its jobs' writes carry stamps, their reads are
//! compared, and after each run all known data is read once more.

use super::worker_pool::{Drive, WorkerPool, WorkerSlot};
use super::{check_memory, counts_of, refuse_what_holds_no_data, run_number, words};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::{PlacedJob, RunVerification};
use stripewise_conductor::observer::{Progress, left_at_rate};
use stripewise_conductor::planned::PlannedRuns;
use stripewise_conductor::targets::{OpenTarget, interrupted};
use stripewise_io_engine::{Clock, EngineName};
use stripewise_results::faults::{Fault, Verification};
use stripewise_results::{RunRecord, TargetKind};
use stripewise_runner::Checks;
use stripewise_runner::trust::wrong_data;
use stripewise_targets::{Access, Target, TargetName};
use stripewise_units::format_bytes;
use stripewise_verify::{
    Ledger, Phase, Region, Role, TargetLayout, VerifyTargets, Worker, WorkerIdentity,
};
use stripewise_workload::{CacheMode, DataPattern, Pattern, Workload, alignment_bytes};

/// The largest block with a generation of its own.
const BLOCK_BYTES_MAX: u64 = 64 << 10;
/// Size of an operation before and after a run, and how many are in flight.
const PASS_BYTES: u32 = 1 << 20;
const PASS_OUTSTANDING: u32 = 4;

/// Verifies the runs of one command.
#[derive(Debug)]
pub struct RunVerifier {
    verify_targets: Arc<VerifyTargets>,
    /// By target: the worker that writes it before the runs, and reads it after each.
    worker_set: Vec<WorkerIdentity>,
    drive: Drive,
    rounds: Cell<u16>,
    /// Bytes and operations of the pass before the first run, which are in its record.
    filled: Cell<u64>,
}

/// The result of a pass.
#[derive(Default)]
struct Pass {
    whole: bool,
    verified_bytes: u64,
    operations: u64,
    errors: Vec<String>,
    faults: Vec<Fault>,
}

/// Refuses what cannot be verified, before anything is made or filled.
///
/// # Errors
/// If there is no data to compare, or two jobs would make it ambiguous.
pub fn check(planned: &PlannedRuns, engine: EngineName) -> Outcome<()> {
    for text in &planned.targets {
        let name: TargetName = text.parse()?;
        refuse_what_holds_no_data(&name, text)?;
    }
    if engine == EngineName::Null {
        return Err(Failure::usage(
            "the null engine moves no data, so there is nothing to verify",
            "choose --engine auto, uring or threads",
        ));
    }
    let jobs = planned.runs.iter().flatten();
    if jobs.clone().any(|job| job.workload.discards()) {
        return Err(Failure::usage(
            "what was discarded may read as anything, so there is nothing to verify it against",
            "leave the discards out, or --verify",
        ));
    }
    if jobs
        .clone()
        .any(|job| job.workload.data != DataPattern::default())
    {
        return Err(Failure::usage(
            "data that is verified consists of stamps and their streams: it cannot be compressible or repeat",
            "leave --compressible and --dedupable out, or --verify",
        ));
    }
    for run in &planned.runs {
        for (number, text) in planned.targets.iter().enumerate() {
            let caches = run.iter().filter(|job| job.targets.contains(&number));
            let direct = caches.map(|job| job.workload.cache.is_direct());
            let direct: Vec<bool> = direct.collect();
            if direct.contains(&true) && direct.contains(&false) {
                return Err(Failure::usage(
                    format!(
                        "jobs go to {text} directly and through the page cache at once: what is there is unclear then, for verification and for any program"
                    ),
                    "give jobs that run at once on one target one --cache, direct or buffered",
                ));
            }
        }
    }
    Ok(())
}

/// Whether runs write to this target.
fn is_written(planned: &PlannedRuns, target: usize) -> bool {
    let mut jobs = planned.runs.iter().flatten();
    jobs.any(|job| job.targets.contains(&target) && job.workload.read_percent < 100)
}

/// The unit of generations on a target: all operations consist of whole ones.
fn block_bytes(target: &Target, jobs: &[&Workload]) -> Outcome<u32> {
    let mut lowest = alignment_bytes(target.size_bytes()).min(BLOCK_BYTES_MAX);
    let mut take = |bytes: u64| {
        if bytes > 0 {
            lowest = lowest.min(alignment_bytes(bytes));
        }
    };
    for job in jobs {
        take(job.base_offset_bytes);
        take(job.block_size_bytes);
        job.block_sizes
            .shares()
            .iter()
            .for_each(|share| take(share.size_bytes));
        if let Pattern::Stride { stride_bytes, .. } = job.pattern {
            take(stride_bytes);
        }
    }
    let sector = target.logical_sector_bytes();
    if lowest < u64::from(sector) {
        return Err(Failure::usage(
            format!(
                "operations on {} are not whole sectors of {}, and each sector is verified by itself",
                target.facts().name,
                format_bytes(u64::from(sector))
            ),
            "give block sizes and offsets that are multiples of the sector",
        ));
    }
    Ok(lowest as u32)
}

/// The open target of a verified run.
fn real(opened: &OpenTarget) -> Outcome<&Target> {
    opened.real().ok_or_else(|| {
        Failure::usage(
            "only files and devices can be verified",
            "name a directory, a file or a block device",
        )
    })
}

impl RunVerifier {
    /// Maps for all targets; test files are written once.
    ///
    /// # Errors
    /// If nothing would be compared, memory does not suffice, or a pass cannot begin.
    pub fn begin(
        context: &Context,
        opened: &mut [OpenTarget],
        planned: &PlannedRuns,
        id: &str,
        engine: EngineName,
    ) -> Outcome<RunVerifier> {
        let mut layouts = Vec::new();
        let mut worker_set = Vec::new();
        let mut fills = Vec::new();
        for (number, opened) in opened.iter().enumerate() {
            let target = real(opened)?;
            let jobs = planned.runs.iter().flatten();
            let jobs = jobs.filter(|job| job.targets.contains(&number));
            let jobs: Vec<&Workload> = jobs.map(|job| &job.workload).collect();
            let block_bytes = block_bytes(target, &jobs)?;
            let owner = u16::try_from(number).unwrap_or(u16::MAX);
            let blocks = target.size_bytes() / u64::from(block_bytes);
            layouts.push(TargetLayout {
                sector_bytes: target.logical_sector_bytes(),
                regions: vec![Region::new(0, block_bytes, blocks, &[owner])],
            });
            worker_set.push(WorkerIdentity {
                id: owner,
                target: owner,
                region: 0,
                role: Role::Log,
                slots: PASS_OUTSTANDING,
                slot_bytes: PASS_BYTES,
                seed: 0,
            });
            if target.facts().kind == TargetKind::TestFile && target.writes() {
                fills.push(number);
            }
        }
        if fills.is_empty() && !(0..opened.len()).any(|target| is_written(planned, target)) {
            return Err(Failure::usage(
                "nothing of this run would be compared: it only reads, and what it reads was there before",
                "add writes (--read below 100), name a directory, or read what an earlier run left with `verify --image`",
            ));
        }
        let buffers = u64::from(PASS_BYTES * PASS_OUTSTANDING) * worker_set.len() as u64;
        let map_bytes: u64 = (layouts.iter().flat_map(|layout| &layout.regions))
            .map(|region| region.map.blocks() * 2)
            .sum();
        check_memory(
            map_bytes + buffers,
            "give a smaller --size or larger blocks",
        )?;
        let owners = worker_set.len() as u16;
        let epoch_ns = words::unix_ns(&context.timestamp());
        let targets = VerifyTargets::new(run_number(id), layouts, epoch_ns, owners);
        // Data written by commands that bypass the block layer is read through it: another
        // path shows what is really there.
        let choice = match engine {
            EngineName::Nvme => EngineName::Auto.choose(),
            engine => engine.choose(),
        };
        let verifier = RunVerifier {
            verify_targets: Arc::new(targets),
            worker_set,
            drive: Drive {
                engine: choice.engine,
                faults: None,
                clock: Clock::start(),
            },
            rounds: Cell::new(0),
            filled: Cell::new(0),
        };
        context.plan(format!(
            "Verification: what is written carries stamps, what is read is compared, and all of it is read once more after each run\n\
             Memory: {} for what each block must hold",
            format_bytes(verifier.verify_targets.map_bytes())
        ));
        verifier.fill(context, opened, &fills)?;
        Ok(verifier)
    }

    fn fill(&self, context: &Context, opened: &mut [OpenTarget], fills: &[usize]) -> Outcome<()> {
        if fills.is_empty() {
            return Ok(());
        }
        let pass = self.pass(context, opened, fills, Phase::Fill)?;
        if !pass.whole {
            return Err(interrupted(context));
        }
        if let Some(error) = pass.errors.first() {
            return Err(Failure::of(
                Exit::InputOutput,
                format!("the test file could not be written: {error}"),
            ));
        }
        self.filled.set(pass.operations);
        for number in fills {
            if let OpenTarget::Real { target } = &mut opened[*number] {
                settle(context, target);
                target.inspect_data();
            }
        }
        Ok(())
    }

    /// Writes or reads these targets once, past the page cache.
    fn pass(
        &self,
        context: &Context,
        opened: &[OpenTarget],
        which: &[usize],
        phase: Phase,
    ) -> Outcome<Pass> {
        let mut slots = Vec::new();
        let mut total_bytes = 0;
        let (access, title) = match phase {
            Phase::Fill => (Access::ReadWrite, "Writing everything once"),
            _ => (Access::Read, "Reading everything once more"),
        };
        for number in which {
            let target = real(&opened[*number])?;
            total_bytes += target.size_bytes();
            let file = target.open_storage(CacheMode::Direct, access)?;
            let worker = Worker::new(Arc::clone(&self.verify_targets), self.worker_set[*number]);
            slots.push((WorkerSlot::new(worker, *number), vec![Arc::new(file)]));
        }
        let progress = Progress::begin(context.observer(), false, total_bytes, title);
        let started_ns = self.drive.clock.now_ns();
        let mut pool = WorkerPool::start(slots, phase, &self.drive)?;
        let mut stopped_ns = None;
        while !pool.wait() {
            let now_ns = self.drive.clock.now_ns();
            if context.signal().is_some() {
                pool.stop();
                if now_ns - *stopped_ns.get_or_insert(now_ns) > WorkerPool::patience_ns() {
                    break;
                }
            }
            let bytes = pool.signals.bytes.load(Ordering::Relaxed).min(total_bytes);
            let left_ns = left_at_rate(now_ns - started_ns, bytes, total_bytes);
            progress.update(bytes, &format!("{title}: {}", format_bytes(bytes)), left_ns);
        }
        drop(progress);
        let (slots, lost) = pool.finish()?;
        let mut pass = Pass {
            whole: lost == 0 && stopped_ns.is_none() && context.signal().is_none(),
            ..Pass::default()
        };
        for mut slot in slots {
            let counts = slot.worker.counts();
            pass.verified_bytes += counts.verified_bytes;
            pass.operations += counts.operations;
            pass.errors.extend(slot.failed());
            pass.faults.extend(slot.worker.take_faults());
        }
        Ok(pass)
    }
}

impl RunVerification for RunVerifier {
    fn checks(&self, context: &Context, jobs: &[PlacedJob]) -> Checks {
        let number = |target: &usize| u16::try_from(*target).unwrap_or(u16::MAX);
        let targets = jobs
            .iter()
            .map(|job| job.targets.iter().map(number).collect());
        let round = self.rounds.get() + 1;
        self.rounds.set(round);
        let epoch_ns = words::unix_ns(&context.timestamp());
        Checks::new(
            Arc::clone(&self.verify_targets),
            targets.collect(),
            round,
            epoch_ns,
        )
    }

    fn finish(
        &self,
        context: &Context,
        opened: &[OpenTarget],
        checks: &Checks,
        record: &mut RunRecord,
    ) -> Outcome<()> {
        for target in opened.iter().filter_map(OpenTarget::real) {
            settle(context, target);
        }
        let all: Vec<usize> = (0..opened.len()).collect();
        // A disk that is gone by now: the run is kept, and why it was not read again.
        let pass = self
            .pass(context, opened, &all, Phase::Check)
            .unwrap_or_else(|failure| Pass {
                errors: vec![failure.chain()],
                ..Pass::default()
            });
        let mut ledger = Ledger::default();
        ledger.take(pass.faults);
        let now_ns = words::unix_ns(&context.timestamp());
        let faults = ledger.settled().into_iter().map(|fault| {
            let target = opened
                .get(usize::from(fault.target))
                .and_then(OpenTarget::real);
            let name = target.map_or("?", |target| target.facts().name.as_str());
            words::record_of(fault, name, target, now_ns)
        });
        let faults: Vec<_> = faults.collect();
        let faults_by_class = counts_of(&faults);
        record.warnings.extend(wrong_data(&faults_by_class));
        record.verification = Some(Box::new(Verification {
            verified_bytes: checks.verified_bytes() + pass.verified_bytes,
            operations: checks.operations() + pass.operations + self.filled.take(),
            read_at_end: pass.whole && pass.errors.is_empty(),
            map_bytes: self.verify_targets.map_bytes(),
            errors: pass.errors,
            faults,
            faults_by_class,
        }));
        Ok(())
    }
}

/// Makes written data durable and drops cached data.
fn settle(context: &Context, target: &Target) {
    if target.writes() {
        let flushed = (target.open_storage(CacheMode::Buffered, Access::ReadWrite))
            .map_err(|error| error.to_string())
            .and_then(|file| file.sync_all().map_err(|error| error.to_string()));
        if let Err(error) = flushed {
            context.note(format!(
                "{}: the flush failed: {error}",
                target.facts().name
            ));
        }
    }
    target.drop_cache();
}
