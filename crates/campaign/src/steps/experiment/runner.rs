//! Makes and stores the runs of an experiment: one after the other on real targets, a block
//! at a time on all cores on simulated ones.

use super::stored_experiment::StoredExperiment;
use std::collections::VecDeque;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::host_group::{GroupRuns, measure_with};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions};
use stripewise_conductor::observer::Progress as Bar;
use stripewise_conductor::parallel::{SimulatedCell, simulate_cells, store_new};
use stripewise_conductor::targets::OpenTarget;
use stripewise_lab::experiment::{Continuation, ExperimentRunner, PlannedRun, Progress, schedule};
use stripewise_results::RunRecord;
use stripewise_runner::drive::{INTERVAL_NS_MAX, INTERVAL_NS_MIN};
use stripewise_store::Store;
use stripewise_workload::Request;

/// Why no further run is made.
pub enum StopReason {
    /// A signal came; results are stored.
    Interrupted,
    /// It could not be made or stored.
    Failed(Failure),
}

impl From<Failure> for StopReason {
    fn from(failure: Failure) -> Self {
        StopReason::Failed(failure)
    }
}

/// Makes the runs.
pub struct Runner<'a> {
    context: &'a Context,
    store: &'a mut Store,
    opened: &'a [OpenTarget],
    /// Other hosts that make the same runs.
    leading: Option<GroupRuns>,
    how: RunOptions,
    /// The document, updated and stored after every block.
    stored: StoredExperiment,
    /// All runs of all sessions, without details.
    records: Vec<RunRecord>,
    bar: Bar<'a>,
    /// Runs of the current block that were made ahead.
    ready: VecDeque<RunRecord>,
    /// Time of earlier sessions; on simulated arrays, of this one too.
    elapsed_ns: u64,
    started_ns: u64,
    blocks_before: usize,
    title: String,
    left_ns: u64,
    /// The store's failure to take a run: the block is made to its end all the same, and counts.
    refused: Option<Failure>,
}

impl<'a> Runner<'a> {
    /// A runner before its first run.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        opened: &'a [OpenTarget],
        how: RunOptions,
        stored: StoredExperiment,
        records: Vec<RunRecord>,
    ) -> Self {
        let expected_ns = stored.plan.time_budget_ns.unwrap_or(0).max(1);
        Runner {
            elapsed_ns: stored.elapsed_ns,
            started_ns: context.now_ns(),
            blocks_before: usize::try_from(stored.blocks).unwrap_or(usize::MAX),
            title: format!("Block {}", stored.blocks + 1),
            left_ns: expected_ns.saturating_sub(stored.elapsed_ns),
            bar: Bar::begin(context.observer(), false, expected_ns, "Measuring"),
            ready: VecDeque::new(),
            context,
            store,
            opened,
            leading: None,
            refused: None,
            how,
            stored,
            records,
        }
    }

    /// Adds other hosts that make the same runs.
    #[must_use]
    pub fn with_group(mut self, leading: Option<GroupRuns>) -> Self {
        self.leading = leading;
        self
    }

    /// The final document and records, and the store's failure to take one of these.
    pub fn into_parts(self) -> (StoredExperiment, Vec<RunRecord>, Option<Failure>) {
        (self.stored, self.records, self.refused)
    }

    fn simulated(&self) -> bool {
        self.opened
            .iter()
            .any(|opened| opened.simulated().is_some())
    }

    /// Options of this run: its position, and intervals that suit its length.
    fn how(&self, run: &PlannedRun) -> RunOptions {
        const INTERVALS: u64 = 10;
        let interval_ns =
            (run.workload.duration_ns / INTERVALS).clamp(INTERVAL_NS_MIN, INTERVAL_NS_MAX);
        RunOptions {
            request: Request {
                interval_ns,
                ..self.how.request.clone()
            },
            experiment: Some(run.place.clone()),
            ..self.how.clone()
        }
    }

    fn options(&self, run: &PlannedRun) -> PlacedJob {
        PlacedJob {
            name: self.stored.plan.cells[run.cell].name.clone(),
            workload: run.workload.clone(),
            targets: vec![0],
        }
    }

    fn run_really(&mut self, run: &PlannedRun) -> Result<RunRecord, StopReason> {
        let length_ns = run.workload.length_ns();
        let elapsed_ns = self.elapsed_ns();
        let title = format!(
            "{}, {} at {}",
            self.title, self.stored.plan.cells[run.cell].name, run.place.level
        );
        let place = RunPlace {
            title: &title,
            before_ns: elapsed_ns,
            expected_ns: length_ns,
            after_ns: Some(self.left_ns.saturating_sub(length_ns)),
        };
        self.left_ns = self.left_ns.saturating_sub(length_ns);
        let options = self.options(run);
        let how = self.how(run);
        let measured = measure_with(
            self.leading.as_ref(),
            self.context,
            self.store,
            self.opened,
            &[options],
            &how,
            (&self.bar, &place),
        )?;
        if let Err(failure) = measured.stored {
            note_refused(self.context, &failure, "the block");
            self.refused.get_or_insert(failure);
        }
        Ok(measured.record)
    }

    /// Makes all runs of a block on all cores.
    fn simulate_block(&mut self, block: u32) -> Outcome<()> {
        let runs = schedule(&self.stored.plan, &self.stored.id, block);
        let met: Vec<[OpenTarget; 1]> = self.met(&runs);
        let mut cells = Vec::with_capacity(runs.len());
        for (run, opened) in runs.iter().zip(&met) {
            let (options, how) = (self.options(run), self.how(run));
            cells.push(SimulatedCell::prepare(
                self.context,
                opened,
                &[options],
                &how,
            )?);
        }
        let (context, store) = (self.context, &mut *self.store);
        let (ready, refused) = (&mut self.ready, &mut self.refused);
        simulate_cells(context, &cells, &mut |mut record| {
            keep_unless_refused(context, store, &mut record, refused);
            ready.push_back(record);
            Ok(())
        })
    }

    /// The array as each run of a block finds it.
    fn met(&self, runs: &[PlannedRun]) -> Vec<[OpenTarget; 1]> {
        let mut older_ns = self.elapsed_ns;
        let mut met = Vec::with_capacity(runs.len());
        for run in runs {
            if let Some(array) = self.opened.iter().find_map(OpenTarget::simulated) {
                let array = array.met(run.workload.seed, older_ns);
                met.push([OpenTarget::Simulated(Box::new(array))]);
            }
            older_ns = older_ns.saturating_add(run.workload.length_ns());
        }
        met
    }
}

/// Stores a run that was just made, unless the store has refused one before: what it refuses is
/// a result all the same.
pub fn keep_unless_refused(
    context: &Context,
    store: &mut Store,
    record: &mut RunRecord,
    refused: &mut Option<Failure>,
) {
    if refused.is_none() {
        *refused = store_new(context, store, record).err();
    }
}

/// Says of a run that the store did not take that measuring goes on until `what` is whole.
pub fn note_refused(context: &Context, failure: &Failure, what: &str) {
    let text = format!("{failure}; {what} is measured to its end, and its values are shown");
    context.note_failure(&text, failure);
}

impl ExperimentRunner for Runner<'_> {
    type Error = StopReason;

    fn run_cell(&mut self, run: &PlannedRun) -> Result<RunRecord, StopReason> {
        let simulated = self.simulated();
        if self.ready.is_empty() && self.context.signal().is_some() {
            return Err(StopReason::Interrupted);
        }
        // Several hosts make each run together, one after the other.
        let record = if simulated && self.leading.is_none() {
            if self.ready.is_empty() {
                self.simulate_block(run.place.block)?;
            }
            self.ready.pop_front().ok_or(StopReason::Interrupted)?
        } else {
            self.run_really(run)?
        };
        if simulated {
            let duration_ns = record.jobs.iter().map(|job| job.outcome.duration_ns).max();
            let taken_ns = run
                .workload
                .ramp_ns
                .saturating_add(duration_ns.unwrap_or(0));
            self.elapsed_ns = self.elapsed_ns.saturating_add(taken_ns);
        }
        let record = record.without_histograms().without_intervals();
        self.records.push(record.clone());
        Ok(record)
    }

    fn elapsed_ns(&self) -> u64 {
        if self.simulated() {
            self.elapsed_ns
        } else {
            let here_ns = self.context.now_ns() - self.started_ns;
            self.elapsed_ns.saturating_add(here_ns)
        }
    }

    fn after_block(&mut self, progress: &Progress<'_>) -> Result<Continuation, StopReason> {
        let done = progress.blocks.len();
        self.stored.blocks = u32::try_from(done).unwrap_or(u32::MAX);
        self.stored.elapsed_ns = progress.elapsed_ns;
        self.stored.keep(self.context, self.store)?;
        let width = progress
            .width_percent_max
            .map(|width| format!(", widest interval {width:.1} %"))
            .unwrap_or_default();
        self.title = format!(
            "Block {} of about {}{width}",
            done + 1,
            progress.blocks_likely
        );
        // On a simulated array, the remaining time is the program's, not the array's.
        let passed_ns = self.context.now_ns() - self.started_ns;
        let left_ns = if self.simulated() {
            let blocks_here = (done - self.blocks_before.min(done)).max(1) as u64;
            passed_ns / blocks_here
                * (u64::from(progress.blocks_likely).saturating_sub(done as u64))
        } else {
            progress.left_ns
        };
        self.left_ns = left_ns;
        let position = if self.simulated() {
            passed_ns
        } else {
            progress.elapsed_ns
        };
        self.bar.set_total(position + left_ns);
        self.bar.update(position, &self.title, Some(left_ns));
        let stops = self.context.signal().is_some() || self.refused.is_some();
        Ok(if stops {
            Continuation::Stop
        } else {
            Continuation::On
        })
    }
}
