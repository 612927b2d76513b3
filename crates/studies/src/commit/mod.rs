//! Which way of making a commit durable is the fastest here: one small write, durable when
//! it counts, over and over, in each way, on files in each state, by one and by several
//! committers, of which each syncs for itself or all share one write and sync (group
//! commit). Runs of all cells follow each other in random order, block after block: what
//! changes from one time to another, as where it was interrupted, meets all cells alike.
//! Of a product only its own ways are compared: [`CommitSection`].

mod document;
mod method;
mod section;
mod text;

pub use document::{AtomicWrites, CommitRecord};
pub use method::CommitMethod;
pub use section::CommitSection;
pub(crate) use text::JOURNAL_IS_SIMULATED;

use crate::latencies::{Latencies, TOO_FAST};
use crate::{FileState, NextStep, PlacedJob, Run, RunId, Study, StudyFile, StudyTime};
use serde::{Deserialize, Serialize};
use stripewise_report::{Caution, Sheet, SheetTable};
use stripewise_results::{RunRecord, Status};
use stripewise_stats::{Histogram, Random, mean_interval};
use stripewise_workload::{CursorKind, Pattern, Workload, derived_seed};

/// The part of a study that its runs are.
pub const PART: &str = "commit";
/// Of one commit.
pub(crate) const BLOCK_BYTES: u64 = 8_192;
/// Of each test file.
pub(crate) const FILE_BYTES: u64 = 256 << 20;
const RAMP_NS: u64 = 200_000_000;
const RUN_NS: u64 = 1_000_000_000;
/// Number of blocks, and so of runs per cell.
const BLOCKS: u32 = 5;
const COMMITTERS: [u32; 3] = [1, 8, 64];
/// Numbers of committers that share a write and a sync.
const GROUPS: [u32; 2] = [8, 64];
/// Minimum number of commits for a p99.
const P99_COMMITS_MIN: u64 = 1_000;

/// One combination of method, file state and committers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CommitCell {
    method: CommitMethod,
    state: FileState,
    committers: u32,
    /// One of them writes and syncs for all.
    is_grouped: bool,
}

impl CommitCell {
    /// Number of commits that a write makes durable.
    const fn commits_of_write(self) -> u32 {
        match self.is_grouped {
            true => self.committers,
            false => 1,
        }
    }
}

/// The measurements of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct CellRuns {
    /// The rate of each run.
    rates: Vec<f64>,
    /// Latencies of the commits of each run.
    latencies: Vec<Latencies>,
    /// Codes of warnings that void them.
    void: Vec<String>,
    /// Warnings of syncs that were faster than any medium.
    too_fast: Vec<String>,
    /// Median commit latencies of runs without that warning.
    #[serde(default)]
    medians_ns: Vec<u64>,
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitStudy {
    methods: Vec<CommitMethod>,
    /// The target is a directory, whose files have states; elsewhere, existing data is overwritten.
    has_files: bool,
    /// The target is a simulated array: there are no files, but the journal of growing ones is
    /// simulated.
    #[serde(default)]
    is_simulated: bool,
    seed: u64,
    done: u32,
    cells: Vec<CellRuns>,
    /// Those of the device and the file system, known from the first run.
    atomic_writes: Option<AtomicWrites>,
    interrupted: bool,
    /// Of a product: what it has of all this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    section: Option<CommitSection>,
    /// Another process is measuring it now.
    #[serde(skip)]
    is_being_measured: bool,
}

impl CommitStudy {
    /// A study before its first run. `has_files`: the target is a directory. `is_linux`: the
    /// Linux-only methods are available.
    pub fn new(has_files: bool, is_linux: bool, seed: u64) -> CommitStudy {
        let methods = CommitMethod::ALL.into_iter();
        let methods = methods
            .filter(|method| has_files || !method.is_buffered())
            .filter(|method| is_linux || !method.is_of_linux());
        CommitStudy {
            methods: methods.collect(),
            has_files,
            is_simulated: false,
            seed,
            done: 0,
            cells: Vec::new(),
            atomic_writes: None,
            interrupted: false,
            section: None,
            is_being_measured: false,
        }
        .with_empty_cells()
    }

    /// The same before its first run, on a simulated array or not.
    #[must_use]
    pub fn simulated(self, is_simulated: bool) -> CommitStudy {
        CommitStudy {
            is_simulated,
            ..self
        }
        .with_empty_cells()
    }

    /// Another process is measuring it now.
    pub(crate) fn is_being_measured(&self) -> bool {
        self.is_being_measured
    }

    /// Whether another process is measuring it now: it was not stopped.
    pub fn set_being_measured(&mut self, is_being_measured: bool) {
        self.is_being_measured = is_being_measured && !self.is_whole();
    }

    /// The same of a product; none where no method of it is to be had.
    pub fn of_product(section: CommitSection, is_linux: bool, seed: u64) -> Option<CommitStudy> {
        let mut study = CommitStudy::new(true, is_linux, seed);
        study
            .methods
            .retain(|method| section.methods.contains_key(method));
        study.section = Some(section);
        (!study.methods.is_empty()).then(|| study.with_empty_cells())
    }

    fn with_empty_cells(self) -> CommitStudy {
        CommitStudy {
            cells: vec![CellRuns::default(); self.all_cells().len()],
            ..self
        }
    }

    /// Restores a stored state.
    ///
    /// # Errors
    /// If it is not a valid state.
    pub fn from_json(json: &str) -> Result<CommitStudy, String> {
        let study: CommitStudy = serde_json::from_str(json).map_err(|error| error.to_string())?;
        match study.is_sound() {
            true => Ok(study),
            false => Err("its counts are not those of its methods".to_owned()),
        }
    }

    /// Its counts are those of its methods, as every stored state's are.
    pub(crate) fn is_sound(&self) -> bool {
        let count = self.all_cells().len();
        count > 0 && self.cells.len() == count && self.done as usize <= count * BLOCKS as usize
    }

    /// The state, to be stored.
    ///
    /// # Errors
    /// None in practice: all fields are plain.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Whether its state is worth storing: after each block, and at the end.
    pub fn is_at_pause(&self) -> bool {
        self.interrupted || (self.done as usize).is_multiple_of(self.cells.len())
    }

    /// Atomic writes of the device and the file system; `None` before the first run.
    pub fn atomic_writes(&self) -> Option<&AtomicWrites> {
        self.atomic_writes.as_ref()
    }

    /// The files that are written; a device has one. On a simulated array one whose space is
    /// reserved is like one that was written.
    fn states(&self) -> &[FileState] {
        match &self.section {
            Some(section) => &section.states,
            None if self.has_files => &[
                FileState::Written,
                FileState::Preallocated,
                FileState::Growing,
            ],
            None if self.is_simulated => &[FileState::Written, FileState::Growing],
            None => &[FileState::Written],
        }
    }

    /// One of the files grows.
    pub(crate) fn has_growing_file(&self) -> bool {
        self.states().contains(&FileState::Growing)
    }

    /// Numbers of those who commit at once, each for itself.
    fn committers(&self) -> &[u32] {
        let section = self.section.as_ref();
        section.map_or(&COMMITTERS, |section| &section.committers)
    }

    /// Numbers of those who share a write and a sync.
    fn groups(&self) -> &[u32] {
        let section = self.section.as_ref();
        section.map_or(&GROUPS, |section| &section.groups)
    }

    fn all_cells(&self) -> Vec<CommitCell> {
        let mut cells = Vec::new();
        for &method in &self.methods {
            for &state in self.states() {
                let cell = |committers, is_grouped| CommitCell {
                    method,
                    state,
                    committers,
                    is_grouped,
                };
                let alone = self.committers().iter().map(|&count| cell(count, false));
                let grouped = self.groups().iter().map(|&count| cell(count, true));
                cells.extend(alone.chain(grouped));
            }
        }
        cells
    }

    /// The cell of the next run: each once per block, in random order.
    fn next_cell(&self) -> Option<usize> {
        let count = self.cells.len();
        let block = self.done as usize / count;
        if block >= BLOCKS as usize {
            return None;
        }
        let mut order: Vec<usize> = (0..count).collect();
        Random::new(derived_seed(self.seed, 1 + block as u64)).shuffle(&mut order);
        order.get(self.done as usize % count).copied()
    }

    fn load(&self, cell: CommitCell) -> PlacedJob {
        let [block_bytes, file_bytes] = match &self.section {
            Some(section) => [section.block_bytes, section.file_bytes],
            None => [BLOCK_BYTES, FILE_BYTES],
        };
        let mut states = self.states().iter();
        let file = states.position(|state| *state == cell.state);
        let target = file.filter(|_| self.has_files);
        PlacedJob {
            name: PART.to_owned(),
            workload: Workload {
                read_percent: 0,
                pattern: Pattern::Sequential {
                    cursor: CursorKind::Own,
                },
                block_size_bytes: block_bytes * u64::from(cell.commits_of_write()),
                threads: cell.committers / cell.commits_of_write(),
                outstanding: 1,
                duration_ns: RUN_NS,
                ramp_ns: RAMP_NS,
                size_bytes: Some(file_bytes),
                seed: derived_seed(self.seed, 1_000 + u64::from(self.done)),
                ..cell.method.workload()
            },
            targets: vec![target.unwrap_or(0)],
        }
    }

    /// The results of each cell.
    pub fn records(&self) -> Vec<CommitRecord> {
        let all = self.all_cells().into_iter().zip(&self.cells);
        let measured = all.filter(|(_, runs)| !runs.rates.is_empty());
        let record = |(cell, runs): (CommitCell, &CellRuns)| {
            let section = self.section.as_ref();
            let words = section.and_then(|section| section.methods.get(&cell.method));
            runs.record(cell, words)
        };
        measured.map(record).collect()
    }

    /// What the records say, in tables.
    pub(crate) fn tables(&self) -> Vec<SheetTable> {
        text::tables(self)
    }

    /// What must be read with them. `is_fast_known`: that syncs are faster than a medium is
    /// said already.
    pub(crate) fn cautions(&self, is_fast_known: bool) -> Vec<Caution> {
        text::cautions(self, is_fast_known)
    }

    /// Its answer in a sentence.
    pub(crate) fn answer(&self) -> String {
        text::answer(self)
    }

    /// What it is going to do in `file`, before it does.
    pub(crate) fn plan(&self, file: &str) -> String {
        text::plan(self, file)
    }

    /// Seconds measured.
    pub(crate) fn seconds(&self) -> u64 {
        u64::from(self.done) * RUN_NS / 1_000_000_000
    }

    /// Nothing remains to be measured.
    pub fn is_whole(&self) -> bool {
        self.next_cell().is_none()
    }
}

impl CellRuns {
    fn record(&self, cell: CommitCell, words: Option<&String>) -> CommitRecord {
        let interval = mean_interval(&self.rates, 0.95);
        let mean = self.rates.iter().sum::<f64>() / self.rates.len().max(1) as f64;
        let p99 = self.p99();
        CommitRecord {
            method: cell.method.name().to_owned(),
            in_product: words.cloned(),
            file: state_word(cell.state).to_owned(),
            committers: cell.committers,
            group_commit: cell.is_grouped,
            commits_per_s: mean,
            commits_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            commits_per_s_high: interval.map(|interval| interval.high),
            latency_ns_p99: p99.map(|(p99, _)| p99),
            latency_ns_p99_low: p99.and_then(|(_, interval)| Some(interval?[0])),
            latency_ns_p99_high: p99.and_then(|(_, interval)| Some(interval?[1])),
        }
    }

    /// The p99 of all commits with its interval, from leaving out each run in turn (the
    /// jackknife), since commits of one run are not independent; no interval for a single run.
    fn p99(&self) -> Option<(u64, Option<[u64; 2]>)> {
        let runs: Vec<Histogram> = self.latencies.iter().map(Latencies::histogram).collect();
        let without = |left_out: Option<usize>| {
            let mut all = Histogram::default();
            let included = (0..runs.len()).filter(|&run| Some(run) != left_out);
            included.for_each(|run| all.merge(&runs[run]));
            (all.count(), all.percentile(99.0))
        };
        let (count, p99) = without(None);
        let p99 = p99.filter(|_| count >= P99_COMMITS_MIN)?;
        let n = runs.len() as f64;
        let each = (0..runs.len()).map(|run| {
            let rest = without(Some(run)).1.unwrap_or(p99);
            n * p99 as f64 - (n - 1.0) * rest as f64
        });
        let interval = mean_interval(&each.collect::<Vec<f64>>(), 0.95);
        let ends = interval.map(|interval| {
            let low = interval.low.max(0.0) as u64;
            [low.min(p99), (interval.high as u64).max(p99)]
        });
        Some((p99, ends))
    }

    fn add(&mut self, record: &RunRecord, cell: CommitCell) {
        let Some(job) = record.jobs.first() else {
            return;
        };
        let codes = record.void_codes_of(job).into_iter();
        let codes: Vec<&str> = codes
            .filter(|code| !cell.state.is_warned_of_by(code))
            .collect();
        if !codes.is_empty() {
            self.void
                .extend(codes.iter().map(|code| (*code).to_owned()));
            return;
        }
        let too_fast = job.warnings.iter().find(|one| one.code == TOO_FAST);
        self.too_fast
            .extend(too_fast.map(|one| one.in_short().to_owned()));
        let outcome = &job.outcome;
        let seconds = outcome.duration_ns as f64 / 1e9;
        // With a durable write, the write is the commit.
        let kind = match job.workload.sync {
            Some(_) => outcome.commit.as_ref(),
            None => Some(&outcome.write),
        };
        let Some(kind) = kind.filter(|kind| seconds > 0.0 && kind.operations > 0) else {
            return;
        };
        // A sync with nothing to write costs nothing, and shows nothing.
        if job.workload.sync.is_some() && too_fast.is_none() {
            self.medians_ns
                .extend(kind.latency_ns.map(|latency| latency.p50));
        }
        let commits = kind.operations as f64 * f64::from(cell.commits_of_write());
        self.rates.push(commits / seconds);
        let mut latencies = Latencies::default();
        latencies.add(Some(kind));
        self.latencies.push(latencies);
    }
}

const fn state_word(state: FileState) -> &'static str {
    match state {
        FileState::Written => "overwritten",
        FileState::Preallocated => "preallocated",
        FileState::Growing => "growing",
    }
}

impl Study for CommitStudy {
    fn loads(&self) -> Vec<PlacedJob> {
        let cells = self.all_cells().into_iter();
        cells.map(|cell| self.load(cell)).collect()
    }

    fn files(&self) -> Vec<StudyFile> {
        if !self.has_files {
            return vec![StudyFile::default()];
        }
        let states = self.states().iter();
        states.map(|&state| StudyFile { state }).collect()
    }

    fn next(&self) -> NextStep {
        let Some(index) = self.next_cell() else {
            return NextStep::Done;
        };
        let cell = self.all_cells()[index];
        let title = format!(
            "{}, {}, {} {}",
            cell.method.name(),
            state_word(cell.state),
            cell.committers,
            if cell.is_grouped {
                "in a group"
            } else {
                "at once"
            }
        );
        NextStep::Run(Box::new(Run {
            growing: vec![cell.state == FileState::Growing],
            ..Run::of(RunId(self.done), title, self.load(cell))
        }))
    }

    fn completed(&mut self, run: RunId, record: &RunRecord) {
        let Some(index) = self.next_cell().filter(|_| run.0 == self.done) else {
            return;
        };
        self.interrupted = record.status != Status::Complete;
        if self.interrupted {
            return;
        }
        if self.atomic_writes.is_none() {
            let job = record.jobs.first();
            self.atomic_writes = job.and_then(|job| AtomicWrites::of(&job.target));
        }
        let cell = self.all_cells()[index];
        self.cells[index].add(record, cell);
        self.done += 1;
    }

    fn rested(&mut self) {}

    fn time(&self) -> StudyTime {
        let each_ns = RAMP_NS + RUN_NS;
        let all = self.cells.len() as u64 * u64::from(BLOCKS);
        StudyTime {
            spent_ns: u64::from(self.done) * each_ns,
            left_ns: (all - u64::from(self.done)) * each_ns,
        }
    }

    fn sheet(&self) -> Sheet {
        text::sheet(self)
    }
}

#[cfg(test)]
mod tests;
