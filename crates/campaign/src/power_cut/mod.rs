//! Writes and flushes until the power fails, while a witness elsewhere records each completed
//! flush; and determines afterwards what survived.

mod after;
mod channel;
mod drive;
mod preparation;
mod report;

use crate::steps::medium::doubts;
use crate::steps::verification::document::VerifyDocument;
use crate::steps::verification::tally::{Measured, outcome};
use crate::steps::verification::witnessed::{CutRequest, HEADER_VERSION, WitnessHeader};
use crate::steps::verification::{
    DOCUMENT_KIND, finish_all, judge_all, limits, open_all, outstanding_total, refuse_twice,
    refuse_unsuitable, run_number, words,
};
use channel::{Channel, refuse_same_disk};
use drive::{Drive, Shared, ThreadMessage, Writer, flush, flush_for_ever, write};
use preparation::{ready_on_disk, targets_and_workers};
use report::Report;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use stripewise_conductor::context::{Context, store_or_report};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::{Progress, left_at_rate};
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::kept_as;
use stripewise_io_engine::{Clock, EngineName, FaultPlan, error_name};
use stripewise_results::Warning;
use stripewise_store::Store;
use stripewise_targets::{Access, Intent, Size, Target};
use stripewise_units::{format_bytes, format_count, format_duration};
use stripewise_verify::cut::{CutWorker, CutWriter};
use stripewise_verify::witness::{Record, WitnessEvent, head};
use stripewise_workload::CacheMode;

pub use after::after_cut;
pub use channel::WitnessPlace;
pub use stripewise_verify::cut::Durability;

/// Default bytes of a target to use.
const SIZE_BYTES_USUAL: u64 = 1 << 30;
/// Maximum number of reports queued for the witness: more block the writers.
const WORDS_MAX: usize = 4096;
/// How often the witness gets a timestamp, which is the precision of the cut's time.
const CLOCK_EVERY_NS: u64 = 100_000_000;
const TICK: Duration = Duration::from_millis(20);
/// After a stop, threads are awaited for this long in addition to the engines' limit.
const PATIENCE_NS: u64 = crate::steps::verification::engine::DRAIN_LIMIT_NS + 5_000_000_000;

/// Parameters of a run that waits for a power cut.
#[derive(Clone, Debug)]
pub struct PowerCutOptions {
    /// Files, directories, devices.
    pub targets: Vec<String>,
    /// The address of the witness.
    pub witness: WitnessPlace,
    /// What makes writes durable.
    pub durability: Durability,
    /// Flushed writes use the page cache.
    pub buffered: bool,
    /// Bytes of each target to use.
    pub size_bytes: Option<u64>,
    /// Writers on each target.
    pub threads: u32,
    /// Writes in flight per writer.
    pub outstanding: u32,
    /// The load was given explicitly.
    pub load_by_number: bool,
    /// Maximum duration; `None`: until the power fails.
    pub duration_ns: Option<u64>,
    /// I/O engine.
    pub engine: EngineName,
    /// Faults to inject between the program and the target, for tests.
    pub faults: Option<FaultPlan>,
}

impl PowerCutOptions {
    fn cache(&self) -> CacheMode {
        match (self.durability, self.buffered) {
            (Durability::Fua, _) => CacheMode::DirectSync,
            (Durability::EachWrite, _) => CacheMode::BufferedSync,
            (_, true) => CacheMode::Buffered,
            (_, false) => CacheMode::Direct,
        }
    }

    fn request(&self) -> CutRequest {
        CutRequest {
            targets: self.targets.clone(),
            durability: self.durability,
            buffered: self.buffered || self.durability == Durability::EachWrite,
            size_bytes: self.size_bytes,
            threads: self.threads,
            outstanding: self.outstanding,
            duration_ns: self.duration_ns,
        }
    }
}

/// What a run that waited for a power cut did.
#[derive(Debug)]
pub struct PowerCutResult {
    /// What was written and made durable.
    pub document: VerifyDocument,
    /// The failure of a witness that went away.
    pub ended: Option<Failure>,
}

/// Writes and flushes until the power fails, it is stopped, a write fails, or the witness goes
/// away.
///
/// # Errors
/// If it cannot begin: before the first byte, if the witness does not answer.
pub fn power_cut(
    context: &Context,
    store: &mut Store,
    options: &PowerCutOptions,
    permissions: &Permissions,
) -> Outcome<PowerCutResult> {
    check(options)?;
    let started_at = context.timestamp();
    let id = context.free_id(store, &started_at)?;
    refuse_same_disk(context, &options.witness, &options.targets)?;
    // If a target is refused, the witness is not contacted.
    judge_all(context, store, &options.targets, permissions, |_| {
        spec(options)
    })?;
    let witness = Channel::open(context, &options.witness)?;
    let targets = open_all(context, store, &options.targets, permissions, |_| {
        spec(options)
    })?;
    let stored: Vec<Option<String>> = (targets.iter())
        .map(|target| kept_as(store, target))
        .collect();
    let (facts, workers) = targets_and_workers(&targets, &stored, options)?;
    let clock = Clock::start();
    let started_ns = words::unix_ns(&context.timestamp());
    let header = WitnessHeader {
        schema_version: HEADER_VERSION,
        id: id.clone(),
        version: context.version().to_owned(),
        host: context.host().name,
        started_unix_ns: started_ns,
        request: options.request(),
        targets: facts,
        workers,
    };
    announce(context, options, &header);
    let mut warnings: Vec<Warning> = targets
        .iter()
        .flat_map(|target| doubts(context, target.facts()))
        .collect();
    let watches = limits::start(&targets);
    let mut cut = PowerCutRun::new(context, options, &targets, &header, witness, clock);
    let header_text = serde_json::to_string(&header)
        .map_err(|error| Failure::of(Exit::Store, error.to_string()))?;
    cut.send(&head(cut.run, &header_text));
    if let Some(gone) = cut.gone.take() {
        return Err(gone);
    }
    let whole = cut.fill()? && cut.write_for_ever()?;
    let (report, ended) = cut.end(whole);
    warnings.extend(limits::reached(context, watches, &report.phases));
    let document = VerifyDocument {
        warnings,
        ..report.document(context, &header, &targets, stored, started_at)
    };
    finish_all(context, targets);
    store_or_report(context, store, DOCUMENT_KIND, &document.id, &document);
    Ok(PowerCutResult { document, ended })
}

fn check(options: &PowerCutOptions) -> Outcome<()> {
    let null = "the null engine writes nothing, so there is nothing to lose";
    refuse_unsuitable(&options.targets, options.engine, null, "a power cut")?;
    refuse_twice(&options.targets)?;
    preparation::check(options)
}

/// The intended operations on each target.
fn spec(options: &PowerCutOptions) -> Intent {
    Intent {
        reads: false,
        size: (options.size_bytes).map_or(Size::AtMost(SIZE_BYTES_USUAL), Size::Exactly),
        // Data to be judged after the cut must have a name by then.
        keep: true,
        outstanding_total: outstanding_total(
            options.threads,
            options.outstanding,
            options.targets.len(),
        ),
        outstanding_by_number: options.load_by_number,
        cache: options.cache(),
        cache_by_name: true,
        ..Intent::default()
    }
}

/// Prints what will be done, before the first byte, and what to do afterwards.
fn announce(context: &Context, options: &PowerCutOptions, header: &WitnessHeader) {
    let bytes: u64 = header.targets.iter().map(|target| target.size_bytes).sum();
    let names: Vec<String> = (header.targets.iter())
        .map(|target| stripewise_units::shell_word(&target.name).to_string())
        .collect();
    let until = options
        .duration_ns
        .map_or("until the power goes".to_owned(), |duration_ns| {
            format!("for {}", format_duration(duration_ns))
        });
    context.plan(format!(
        "Power cut: {} are written once, then written and made durable by {} {until}\n\
         After the cut: stripewise verify --after-cut WITNESS-FILE {}",
        format_bytes(bytes),
        options.durability.name(),
        names.join(" ")
    ));
}

/// A run that waits for a power cut.
struct PowerCutRun<'a> {
    context: &'a Context,
    options: &'a PowerCutOptions,
    targets: &'a [Target],
    run: u64,
    witness: Channel,
    drive: Drive,
    words: Receiver<ThreadMessage>,
    /// The writers, between phases.
    writers: Vec<Writer>,
    shared: Vec<Arc<Shared>>,
    workers: Vec<CutWorker>,
    clock_reported_ns: u64,
    /// The witness went away or was stopped: nothing more is sent to it.
    sends_nothing: bool,
    /// The failure of a witness that went away.
    gone: Option<Failure>,
    report: Report,
}

impl<'a> PowerCutRun<'a> {
    fn new(
        context: &'a Context,
        options: &'a PowerCutOptions,
        targets: &'a [Target],
        header: &WitnessHeader,
        witness: Channel,
        clock: Clock,
    ) -> PowerCutRun<'a> {
        let run = run_number(&header.id);
        let (sender, words) = sync_channel(WORDS_MAX);
        let choice = options.engine.choose();
        let shared: Vec<Arc<Shared>> = header.workers.iter().map(|_| Arc::default()).collect();
        let writer = |(number, worker): (usize, &CutWorker)| Writer {
            number,
            writer: CutWriter::new(run, *worker, header.started_unix_ns, options.outstanding),
            shared: Arc::clone(&shared[number]),
            measured: Measured::default(),
        };
        PowerCutRun {
            context,
            options,
            targets,
            run,
            witness,
            drive: Drive {
                engine: choice.engine,
                faults: options.faults.clone(),
                clock,
                slots: options.outstanding,
                stop: Arc::new(AtomicBool::new(false)),
                words: sender,
            },
            words,
            writers: header.workers.iter().enumerate().map(writer).collect(),
            shared,
            workers: header.workers.clone(),
            clock_reported_ns: 0,
            sends_nothing: false,
            gone: None,
            report: Report::new(choice.engine, choice.because),
        }
    }

    /// Sends records, as long as the witness is there; without it everything is stopped.
    fn send(&mut self, bytes: &[u8]) {
        if self.sends_nothing {
            return;
        }
        let Err(error) = self.witness.send(bytes, self.context.now_ns()) else {
            return;
        };
        self.sends_nothing = true;
        // Ctrl-C also reaches a witness at the end of a pipe.
        if self.context.signal().is_some() {
            let note = "the witness stopped at the same time: it recorded no normal end";
            self.report.notes_of(vec![note.to_owned()]);
            return;
        }
        self.drive.stop.store(true, Ordering::Relaxed);
        self.gone = Some(Failure::target(
            format!("the witness is gone: {error}; what it recorded until then is valid"),
            "see why it went away, and start again with a new witness",
        ));
    }

    fn record(&self, worker: usize, news: WitnessEvent, sequence: u64) -> Record {
        let of = self.workers[worker];
        Record {
            run: self.run as u16,
            target: of.target,
            worker: of.worker,
            news,
            sequence,
        }
    }

    fn open(&self, worker: usize) -> Outcome<File> {
        let target = &self.targets[usize::from(self.workers[worker].target)];
        let cache = self.options.cache();
        target.open(cache, Access::Write).map_err(Failure::from)
    }

    /// Writes everything once and makes it durable; false if it was stopped.
    fn fill(&mut self) -> Outcome<bool> {
        let total = self.workers.iter().map(|worker| worker.length_bytes).sum();
        if !self.phase("Writing everything once", total, None)? {
            return Ok(false);
        }
        for target in self.targets {
            let file = target.open(self.options.cache(), Access::Write)?;
            flush(&file, Durability::Flush)
                .and_then(|()| ready_on_disk(target))
                .map_err(|error| {
                    let name = &target.facts().name;
                    Failure::of(
                        Exit::InputOutput,
                        format!("{name}: the first flush failed: {error}"),
                    )
                })?;
        }
        let each = 0..self.workers.len();
        let news = WitnessEvent::Durable(self.options.durability);
        let records: Vec<u8> = each
            .flat_map(|worker| self.record(worker, news, 0).bytes())
            .collect();
        self.send(&records);
        Ok(self.gone.is_none())
    }

    /// Writes until it is stopped; true if nothing failed.
    fn write_for_ever(&mut self) -> Outcome<bool> {
        for writer in &mut self.writers {
            writer.writer.begin_writing();
        }
        self.context.status(
            "Everything is written once and flushed; from now on the power may be cut. Ctrl-C ends it without a cut.",
        );
        if !self.options.durability.is_of_each_write() {
            for worker in 0..self.workers.len() {
                let shared = Arc::clone(&self.shared[worker]);
                let file = self.open(worker)?;
                flush_for_ever(worker, self.options.durability, shared, file, &self.drive)?;
                self.report.flushers += 1;
            }
        }
        let limit_ns = self.options.duration_ns;
        let total = limit_ns.unwrap_or(0);
        self.phase("Writing and flushing", total, Some(limit_ns))?;
        Ok(self.report.errors.is_empty() && self.gone.is_none())
    }

    /// Lets all writers work until they have finished; `limit_ns`: for at most this time, or
    /// without limit. False if it was stopped early.
    fn phase(&mut self, title: &str, total: u64, limit_ns: Option<Option<u64>>) -> Outcome<bool> {
        let progress = Progress::begin(self.context.observer(), total == 0, total, title);
        let started_ns = self.drive.clock.now_ns();
        let bytes_before = self.bytes();
        let mut away = self.writers.len();
        for writer in std::mem::take(&mut self.writers) {
            let file = Arc::new(self.open(writer.number)?);
            write(writer, file, &self.drive)?;
        }
        let mut stopped_ns = None;
        while away > 0 || (self.report.flushers > 0 && stopped_ns.is_some()) {
            let now_ns = self.drive.clock.now_ns();
            let passed_ns = now_ns - started_ns;
            away -= self.receive(now_ns);
            let over = limit_ns.flatten().is_some_and(|limit| passed_ns >= limit);
            let failed = !self.report.errors.is_empty() || self.gone.is_some();
            if self.context.signal().is_some() || over || failed {
                self.drive.stop.store(true, Ordering::Relaxed);
                let since_ns = *stopped_ns.get_or_insert(now_ns);
                if now_ns - since_ns > PATIENCE_NS {
                    self.report.lost_threads = away + self.report.flushers;
                    break;
                }
            }
            let bytes = self.bytes() - bytes_before;
            self.show(&progress, title, bytes, total, limit_ns, passed_ns);
        }
        drop(progress);
        let duration_ns = self.drive.clock.now_ns() - started_ns;
        let mut measured = vec![Measured::default(); self.targets.len()];
        for writer in &mut self.writers {
            let target = usize::from(self.workers[writer.number].target);
            measured[target].merge(&std::mem::take(&mut writer.measured));
        }
        let name = if limit_ns.is_none() { "fill" } else { "work" };
        let cache = self.options.cache().to_string();
        self.report
            .phases
            .push(outcome(name, &cache, started_ns, duration_ns, measured));
        Ok(stopped_ns.is_none() && self.report.errors.is_empty())
    }

    fn bytes(&self) -> u64 {
        let each = self.shared.iter();
        each.map(|shared| shared.bytes.load(Ordering::Relaxed))
            .sum()
    }

    fn show(
        &self,
        progress: &Progress<'_>,
        title: &str,
        bytes: u64,
        total: u64,
        limit_ns: Option<Option<u64>>,
        passed_ns: u64,
    ) {
        let text = format!(
            "{title}: {}, {} flushes with the witness",
            format_bytes(bytes),
            format_count(self.report.durable)
        );
        let (position, left_ns) = match limit_ns {
            None => (bytes.min(total), left_at_rate(passed_ns, bytes, total)),
            Some(limit) => (
                passed_ns.min(total),
                limit.map(|limit| limit.saturating_sub(passed_ns)),
            ),
        };
        progress.update(position, &text, left_ns);
    }

    /// Processes messages of threads, and passes them on to the witness; returns how many writers
    /// have ended.
    fn receive(&mut self, now_ns: u64) -> usize {
        let mut home = 0;
        let mut durable: BTreeMap<usize, u64> = BTreeMap::new();
        let mut bytes = Vec::new();
        let mut next = self.words.recv_timeout(TICK);
        loop {
            match next {
                Ok(ThreadMessage::Durable { writer, sequence }) => {
                    self.report.durable += 1;
                    durable.insert(writer, sequence);
                }
                Ok(ThreadMessage::FlushFailed { writer, why }) => {
                    bytes.extend(self.record(writer, WitnessEvent::Failed, 0).bytes());
                    self.report.fail(format!("a flush failed: {why}"));
                }
                Ok(ThreadMessage::Flushed(took)) => {
                    self.report.flushers -= 1;
                    self.report.flushes.merge(&took);
                }
                Ok(ThreadMessage::Done(writer, worked)) => {
                    home += 1;
                    self.report.notes_of(worked.fallbacks);
                    if let Some(error) = worked.failure {
                        self.report.fail(error.to_string());
                    }
                    if let Some((offset_bytes, number)) = writer.writer.failed() {
                        let record = self.record(writer.number, WitnessEvent::Failed, 0);
                        bytes.extend(record.bytes());
                        let why = match number {
                            0 => "short write".to_owned(),
                            number => error_name(number),
                        };
                        self.report.fail(format!("{why} at byte {offset_bytes}"));
                    }
                    self.writers.push(*writer);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
            next = (self.words.try_recv()).map_err(|_| RecvTimeoutError::Timeout);
        }
        self.writers.sort_by_key(|writer| writer.number);
        let news = WitnessEvent::Durable(self.options.durability);
        for (worker, sequence) in durable {
            bytes.extend(self.record(worker, news, sequence).bytes());
        }
        if now_ns - self.clock_reported_ns >= CLOCK_EVERY_NS {
            self.clock_reported_ns = now_ns;
            let clock = self.record(0, WitnessEvent::Clock, now_ns / 1_000_000);
            // The following events happened later.
            bytes.splice(..0, clock.bytes());
        }
        if !bytes.is_empty() {
            self.send(&bytes);
        }
        home
    }

    /// Reports the end to the witness.
    fn end(mut self, whole: bool) -> (Report, Option<Failure>) {
        if whole {
            let ended = self.record(0, WitnessEvent::Ended, 0);
            self.send(&ended.bytes());
        }
        self.report.issued = (self.writers.iter())
            .map(|writer| writer.writer.issued())
            .sum();
        // One that is gone may never end.
        self.report.witness_gone = self.gone.is_some();
        if !self.report.witness_gone {
            self.witness.close();
        }
        (self.report, self.gone)
    }
}
