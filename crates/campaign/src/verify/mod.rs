//! Does a disk keep the data it was given? The burn-in: everything is written once, then used
//! as SQL Server would, and read once more at the end.

mod capacity;
mod image;
mod stuck;
mod workers;

use crate::steps::medium::doubts;
use crate::steps::verification::document::{
    Mode, PhaseOutcome, SCHEMA_VERSION, VerifiedTarget, VerifyDocument, VerifyErrors, VerifyVerdict,
};
use crate::steps::verification::limits::DeviceLimits;
use crate::steps::verification::tally::{Measured, outcome};
use crate::steps::verification::worker_pool::{Drive, WorkerPool, WorkerSlot};
use crate::steps::verification::{
    DOCUMENT_KIND, counts_of, finish_all, judge_all, limits, open_all, outstanding_total,
    refuse_twice, refuse_unsuitable, run_number, verified, words,
};
use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stripewise_conductor::context::{Context, store_or_report};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::{Progress, left_at_rate};
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::start::{Companion, places};
use stripewise_conductor::targets::kept_as;
use stripewise_io_engine::{Clock, EngineName, FaultPlan};
use stripewise_results::Warning;
use stripewise_store::Store;
use stripewise_targets::{Access, Intent, Size, Target};
use stripewise_units::{counted, format_bytes, format_duration};
use stripewise_verify::{FinishedState, Ledger, Phase, VerifyTargets, run_text};
use stripewise_workload::CacheMode;
use stuck::Watch;
use workers::{Workers, build_workers};

pub use image::judge_image;
pub use stripewise_verify::Class;
pub use workers::{VerifyPlan, plan_of_size};

/// Default bytes of a device or a file to use.
const SIZE_BYTES_USUAL: u64 = 8 << 30;
/// Maximum number of failed operations listed; all are counted.
const FAILED_MAX: usize = 100;
/// Rounds of a mixed burn-in: direct and buffered alternate.
const ROUNDS_MIXED: u64 = 4;

/// The caches that a burn-in uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// Past the page cache.
    #[default]
    Direct,
    /// Through it.
    Buffered,
    /// Alternating: never both at once on one file.
    Mixed,
}

/// Default working time of a burn-in.
pub const DURATION_NS_USUAL: u64 = 300_000_000_000;

/// Parameters of a burn-in.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// Files, directories, devices.
    pub targets: Vec<String>,
    /// Working time, after everything was written once.
    pub duration_ns: u64,
    /// Bytes of each target to use.
    pub size_bytes: Option<u64>,
    /// The whole device once, and nothing else.
    pub capacity: bool,
    /// Which caches to use.
    pub caching: Caching,
    /// Threads for pages on each target.
    pub threads: u32,
    /// Operations that each of them has in flight.
    pub outstanding: u32,
    /// The load was given explicitly.
    pub load_by_number: bool,
    /// Name of a profile whose kinds of I/O replace SQL Server's.
    pub profile: Option<String>,
    /// Share of reads among its page operations.
    pub read_percent: u8,
    /// Seed of the choice of positions and operations.
    pub seed: u64,
    /// I/O engine.
    pub engine: EngineName,
    /// Stops after this many faults.
    pub stop_after: u64,
    /// Faults to inject between the program and the target, for tests.
    pub faults: Option<FaultPlan>,
    /// Other hosts that verify at the same time: none writes before all are ready.
    pub companion: Option<Rc<dyn Companion>>,
}

/// Runs a burn-in, and stores its document.
///
/// # Errors
/// If it cannot begin, or the engine fails. Faults are not errors: they are in the
/// document.
pub fn verify(
    context: &Context,
    store: &mut Store,
    options: &VerifyOptions,
    permissions: &Permissions,
) -> Outcome<VerifyDocument> {
    check(options)?;
    let started_at = context.timestamp();
    let id = context.free_id(store, &started_at)?;
    if let Some(companion) = &options.companion {
        let spec = |name: &str| spec(options, permissions, name);
        judge_all(context, store, &options.targets, permissions, spec)?;
        let number = options.targets.len().to_string();
        companion.checked(context, &places(&options.targets), &number)?;
    }
    let targets = open_all(context, store, &options.targets, permissions, |name| {
        spec(options, permissions, name)
    })?;
    let begun = match (options.capacity, targets.first()) {
        (true, Some(target)) => capacity::position(context, store, target)?,
        _ => None,
    };
    let id = begun.as_ref().map_or(id, |position| position.id.clone());
    let clock = Clock::start();
    // Stamps count from here: making a large test file took minutes before.
    let epoch_ns = words::unix_ns(&context.timestamp());
    let run = run_number(&id);
    let Workers {
        verify_targets,
        mut slots,
    } = build_workers(&targets, options, run, epoch_ns)?;
    let scattered = slots.iter().filter(|slot| slot.scatters).count();
    announce(context, options, &targets, &verify_targets, scattered);
    let of_target = |target: &Target| doubts(context, target.facts());
    let warnings = targets.iter().flat_map(of_target).collect();
    let mut ledger = Ledger::default();
    if let Some(position) = &begun {
        ledger.take(position.faults.clone());
        for (slot, block) in slots.iter_mut().zip(&position.blocks) {
            slot.worker.go_on_from(position.phase(), *block);
        }
    }
    let choice = options.engine.choose();
    let mut burn_in = BurnIn {
        context,
        options,
        targets: &targets,
        verify_targets: &verify_targets,
        slots,
        drive: Drive {
            engine: choice.engine,
            faults: options.faults.clone(),
            clock,
        },
        notes: choice.because.into_iter().collect(),
        warnings,
        phases: Vec::new(),
        ledger,
        watch: Watch::new(&targets),
        limits: limits::start(&targets),
        lost_threads: 0,
        flush_errors: Vec::new(),
        stored: (targets.iter())
            .map(|target| kept_as(store, target))
            .collect(),
    };
    let whole = burn_in.all_phases()?;
    if let (true, Some(target)) = (options.capacity, targets.first()) {
        let stopped = burn_in.stopped_at(&id).filter(|_| !whole);
        if let Err(failure) = capacity::remember(context, store, target, stopped.as_ref()) {
            context.note_late_failure(&failure);
        }
    }
    let document = burn_in.document(id, started_at, whole);
    finish_all(context, targets);
    store_or_report(context, store, DOCUMENT_KIND, &document.id, &document);
    Ok(document)
}

fn check(options: &VerifyOptions) -> Outcome<()> {
    if options.capacity {
        capacity::refuse_what_is_no_device(options)?;
    }
    let null = "the null engine moves no data, so there is nothing to verify";
    refuse_unsuitable(&options.targets, options.engine, null, "a burn-in")?;
    if !options.capacity {
        workers::check(options)?;
    }
    refuse_twice(&options.targets)
}

/// The intent for this target.
fn spec(options: &VerifyOptions, permissions: &Permissions, name: &str) -> Intent {
    let is_directory_or_file =
        std::fs::metadata(name).map_or(true, |found| found.is_dir() || found.is_file());
    Intent {
        reads: true,
        size: match options.size_bytes {
            Some(bytes) => Size::Exactly(bytes),
            None if is_directory_or_file || options.capacity => Size::Auto,
            None => Size::AtMost(SIZE_BYTES_USUAL),
        },
        keep: permissions.keep,
        outstanding_total: outstanding_total(
            options.threads,
            options.outstanding,
            options.targets.len(),
        ),
        outstanding_by_number: options.load_by_number,
        cache: match options.caching {
            Caching::Buffered => CacheMode::Buffered,
            _ => CacheMode::Direct,
        },
        seed: options.seed,
        ..Intent::default()
    }
}

/// Prints what will be done, before the first byte.
fn announce(
    context: &Context,
    options: &VerifyOptions,
    targets: &[Target],
    verify_targets: &VerifyTargets,
    scattered: usize,
) {
    let bytes: u64 = targets.iter().map(Target::size_bytes).sum();
    let passes = match options.capacity {
        true => format!(
            "Verification: {} are written once, and read once more",
            format_bytes(bytes)
        ),
        false => written_once(bytes, options.duration_ns),
    };
    let regions = verify_targets
        .layouts
        .iter()
        .flat_map(|layout| &layout.regions);
    let grows = regions.filter(|region| region.grows);
    let grows_bytes: u64 = (grows.map(|region| region.span()))
        .map(|span| span.end - span.start)
        .sum();
    let mut meanwhile = Vec::new();
    if grows_bytes > 0 {
        let bytes = format_bytes(grows_bytes);
        meanwhile.push(format!("the last {bytes} are cut off and grow again"));
    }
    if scattered > 0 {
        let threads = counted(scattered, "thread has", "threads have");
        meanwhile.push(format!("{threads} pages scattered in memory"));
    }
    let meanwhile = match &meanwhile[..] {
        [] => String::new(),
        all => format!("Meanwhile: {}\n", all.join("; ")),
    };
    context.plan(format!(
        "{passes}\n{meanwhile}Memory: {} for what each block must hold",
        format_bytes(verify_targets.map_bytes())
    ));
}

/// The first line of a burn-in's plan.
fn written_once(bytes: u64, duration_ns: u64) -> String {
    format!(
        "Verification: {} are written once, worked on for {}, and read once more",
        format_bytes(bytes),
        format_duration(duration_ns)
    )
}

/// A burn-in in progress.
struct BurnIn<'a> {
    context: &'a Context,
    options: &'a VerifyOptions,
    targets: &'a [Target],
    verify_targets: &'a Arc<VerifyTargets>,
    slots: Vec<WorkerSlot>,
    drive: Drive,
    notes: Vec<String>,
    warnings: Vec<Warning>,
    phases: Vec<PhaseOutcome>,
    ledger: Ledger,
    watch: Watch,
    limits: Vec<DeviceLimits>,
    /// Number of threads permanently blocked in the operating system.
    lost_threads: usize,
    flush_errors: Vec<String>,
    /// Paths of test files that are kept.
    stored: Vec<Option<String>>,
}

impl BurnIn<'_> {
    /// All phases; false if it was stopped before the end, or could not go on: where a device
    /// goes away between two phases, what the first one found is shown.
    fn all_phases(&mut self) -> Outcome<bool> {
        let ended = match self.options.capacity {
            true => self.capacity(),
            false => self.run(),
        };
        match ended {
            Err(failure) if !self.phases.is_empty() => {
                self.context.note_late_failure(&failure);
                Ok(false)
            }
            ended => ended,
        }
    }

    /// The phases of a burn-in; false if it was stopped before the end.
    fn run(&mut self) -> Outcome<bool> {
        let rounds: Vec<CacheMode> = match self.options.caching {
            Caching::Direct => vec![CacheMode::Direct],
            Caching::Buffered => vec![CacheMode::Buffered],
            Caching::Mixed => (0..ROUNDS_MIXED)
                .map(|round| match round % 2 {
                    0 => CacheMode::Direct,
                    _ => CacheMode::Buffered,
                })
                .collect(),
        };
        if !self.phase(Phase::Fill, rounds[0], None)? {
            return Ok(false);
        }
        let each_ns = self.options.duration_ns / rounds.len() as u64;
        for cache in rounds {
            self.settle();
            if !self.phase(Phase::Work, cache, Some(each_ns))? {
                return Ok(false);
            }
        }
        self.settle();
        // Past the page cache: compare the device's data.
        self.phase(Phase::Check, CacheMode::Direct, None)
    }

    /// The two passes over a whole device.
    fn capacity(&mut self) -> Outcome<bool> {
        if !self.phase(Phase::Fill, CacheMode::Direct, None)? {
            return Ok(false);
        }
        self.settle();
        self.phase(Phase::Check, CacheMode::Direct, None)
    }

    /// Where a pass over a whole device was stopped by the user; a pass that reached its fault
    /// limit is over.
    fn stopped_at(&self, id: &str) -> Option<capacity::Position> {
        self.context.signal()?;
        // Without its workers, a pass cannot go on from anywhere.
        self.slots.first()?;
        let reading = self.phases.last()?.name == Phase::Check.name();
        Some(capacity::Position {
            id: id.to_owned(),
            reading,
            blocks: (self.slots.iter())
                .map(|slot| slot.worker.reached())
                .collect(),
            faults: self.ledger.clone().settled(),
        })
    }

    /// How many bytes of the targets the last pass read, if it did so in order.
    fn read_to_bytes(&self) -> u64 {
        let reached = self.slots.iter().map(|slot| {
            let identity = slot.worker.identity();
            let region = &self.verify_targets.layouts[slot.target].regions[identity.region];
            (region.start_bytes, region.offset_of(slot.worker.reached()))
        });
        // The remainder after the last MiB is read with the first: it does not show progress.
        reached
            .filter(|(start, _)| *start == 0)
            .map(|(_, to)| to)
            .max()
            .unwrap_or(0)
    }

    /// Makes everything durable and drops caches.
    fn settle(&mut self) {
        for target in self.targets {
            let flushed = (target.open(CacheMode::Buffered, Access::ReadWrite))
                .map_err(|error| error.to_string())
                .and_then(|file| file.sync_all().map_err(|error| error.to_string()));
            if let Err(error) = flushed {
                let text = format!("{}: the flush failed: {error}", target.facts().name);
                self.context.note(&text);
                self.flush_errors.push(text);
            }
            target.drop_cache();
        }
    }

    /// One phase; false if it was stopped before its end.
    fn phase(&mut self, phase: Phase, cache: CacheMode, limit_ns: Option<u64>) -> Outcome<bool> {
        let files = self.slots.iter().map(|slot| self.files(slot.target, cache));
        let files = match files.collect::<Outcome<Vec<_>>>() {
            // Another program truncated it between two phases.
            Err(_) if self.watch.is_cut(self.context) => return Ok(false),
            files => files?,
        };
        let slots = std::mem::take(&mut self.slots).into_iter().zip(files);
        let slots = slots.collect();
        let title = title_of(phase);
        let total = limit_ns.unwrap_or_else(|| self.targets.iter().map(Target::size_bytes).sum());
        let progress = Progress::begin(self.context.observer(), false, total, title);
        let started_ns = self.drive.clock.now_ns();
        let mut pool = WorkerPool::start(slots, phase, &self.drive)?;
        let mut stopped_ns = None;
        let mut cut_short = false;
        while !pool.wait() {
            let now_ns = self.drive.clock.now_ns();
            let passed_ns = now_ns - started_ns;
            self.watch.look(self.context, &pool.gauges, now_ns);
            let enough = self.verify_targets.faults() >= self.options.stop_after;
            if self.context.signal().is_some() || enough || self.watch.is_cut(self.context) {
                cut_short = true;
                pool.stop();
            }
            if limit_ns.is_some_and(|limit| passed_ns >= limit) {
                pool.stop();
            }
            self.show(&progress, title, &pool, limit_ns, total, passed_ns);
            if pool.signals.stop.load(Ordering::Relaxed) {
                let since_ns = *stopped_ns.get_or_insert(now_ns);
                if now_ns - since_ns > WorkerPool::patience_ns() {
                    break;
                }
            }
        }
        drop(progress);
        let duration_ns = self.drive.clock.now_ns() - started_ns;
        // Short phases end before the first poll.
        let enough = self.verify_targets.faults() >= self.options.stop_after;
        cut_short |= self.context.signal().is_some() || enough;
        self.notes.append(&mut pool.fallbacks);
        self.notes.dedup();
        let (slots, lost) = pool.finish()?;
        self.slots = slots;
        self.lost_threads += lost;
        self.take_stock(phase, cache, (started_ns, duration_ns));
        Ok(!cut_short && lost == 0)
    }

    fn show(
        &self,
        progress: &Progress<'_>,
        title: &str,
        pool: &WorkerPool,
        limit_ns: Option<u64>,
        total: u64,
        passed_ns: u64,
    ) {
        let bytes = pool.signals.bytes.load(Ordering::Relaxed);
        let (position, left_ns) = match limit_ns {
            Some(limit) => (passed_ns.min(total), Some(limit.saturating_sub(passed_ns))),
            None => (bytes.min(total), left_at_rate(passed_ns, bytes, total)),
        };
        let faults = self.verify_targets.faults();
        let title = format!("{title}: {}, {faults} faults", format_bytes(bytes));
        progress.update(position, &title, left_ns);
    }

    fn files(&self, target: usize, cache: CacheMode) -> Outcome<Vec<Arc<File>>> {
        let durable = CacheMode::of(cache.is_direct(), true);
        let open = |cache| {
            let file = self.targets[target].open(cache, Access::ReadWrite);
            file.map(Arc::new).map_err(Failure::from)
        };
        Ok(vec![open(cache)?, open(durable)?])
    }

    /// Adds the result of a phase, given its start and duration.
    fn take_stock(
        &mut self,
        phase: Phase,
        cache: CacheMode,
        (started_ns, duration_ns): (u64, u64),
    ) {
        let mut measured = vec![Measured::default(); self.targets.len()];
        for slot in &mut self.slots {
            measured[slot.target].merge(&slot.measured);
            self.ledger.take(slot.worker.take_faults());
        }
        let (name, cache) = (phase.name(), cache.to_string());
        self.phases
            .push(outcome(name, &cache, started_ns, duration_ns, measured));
    }

    /// The final content of each target, if everything was read once more.
    fn finished(&self, whole: bool) -> Vec<Option<FinishedState>> {
        let is_known = whole && self.lost_threads == 0;
        let of = |target: usize| {
            let own = self.slots.iter().filter(|slot| slot.target == target);
            let newest =
                own.map(|slot| [u64::from(slot.worker.identity().id), slot.worker.newest()]);
            // Workers that only read have none.
            let newest = newest.filter(|[_, newest]| *newest > 0).collect();
            FinishedState::of(
                self.verify_targets.run,
                &self.verify_targets.layouts[target],
                newest,
            )
        };
        (0..self.targets.len())
            .map(|target| is_known.then(|| of(target)))
            .collect()
    }

    fn document(mut self, id: String, started_at: String, whole: bool) -> VerifyDocument {
        let now_ns = words::unix_ns(&self.context.timestamp());
        let reached = limits::reached(self.context, std::mem::take(&mut self.limits), &self.phases);
        self.warnings.extend(reached);
        let finished = self.finished(whole);
        let read_to_bytes = self.read_to_bytes();
        let mut faults = self.ledger.settled();
        let mut capacity = None;
        if let (true, Some(target)) = (self.options.capacity, self.targets.first()) {
            let (explained, found) =
                capacity::explained(faults, target.size_bytes(), read_to_bytes);
            faults = explained;
            // Before everything was read, the capacity may still turn out to be less.
            let is_known = whole || found.real_bytes < found.reported_bytes;
            capacity = is_known.then_some(found);
        }
        let faults: Vec<_> = (faults.into_iter())
            .map(|fault| {
                let target = self.targets.get(usize::from(fault.target));
                let name = target.map_or("?", |target| target.facts().name.as_str());
                words::record_of(fault, name, target, now_ns)
            })
            .collect();
        let each = self.slots.iter().map(|slot| slot.worker.counts());
        let mut errors = VerifyErrors {
            total: each.clone().map(|counts| counts.errors).sum::<u64>()
                + self.flush_errors.len() as u64,
            first: failed(&self.slots),
        };
        errors.first.extend(self.flush_errors);
        let notes = with_loss_note(self.notes, self.lost_threads);
        VerifyDocument {
            schema_version: SCHEMA_VERSION,
            // A thread that never ended has not reported its findings.
            verdict: VerifyVerdict::of(
                faults.is_empty(),
                errors.total + self.lost_threads as u64,
                whole,
            ),
            mode: match self.options.capacity {
                true => Mode::Capacity,
                false => Mode::BurnIn,
            },
            run: run_text(run_number(&id)),
            id,
            started_at,
            host: self.context.host().name,
            targets: (self.targets.iter())
                .zip(self.stored)
                .zip(self.watch.changed())
                .zip(finished)
                .map(|(((target, kept_as), changed), finished)| VerifiedTarget {
                    changed,
                    finished,
                    ..verified(target, kept_as, &self.phases)
                })
                .collect(),
            engine: self.drive.engine.to_string(),
            notes,
            warnings: self.warnings,
            duration_ns: self.phases.iter().map(|phase| phase.duration_ns).sum(),
            verified_bytes: each.clone().map(|counts| counts.verified_bytes).sum(),
            operations: each.map(|counts| counts.operations).sum(),
            errors,
            map_bytes: self.verify_targets.map_bytes(),
            phases: self.phases,
            stuck: self.watch.into_found(),
            capacity,
            faults_by_class: counts_of(&faults),
            faults,
            ..VerifyDocument::default()
        }
    }
}

/// The first failures, as text.
fn failed(slots: &[WorkerSlot]) -> Vec<String> {
    let each = slots.iter().flat_map(WorkerSlot::failed);
    each.take(FAILED_MAX).collect()
}

fn with_loss_note(mut notes: Vec<String>, threads: usize) -> Vec<String> {
    if threads > 0 {
        notes.push(format!(
            "{threads} threads are blocked in the operating system; what they counted is not in here"
        ));
    }
    notes
}

fn title_of(phase: Phase) -> &'static str {
    match phase {
        Phase::Fill => "Writing everything once",
        Phase::Work => "Working",
        Phase::Check => "Reading everything once more",
    }
}
