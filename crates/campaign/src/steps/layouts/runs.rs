//! Runs of the cells of a layout on a real target, one after the other.

use super::eta::{Pace, Spot};
use super::measured_cells::{mean_of, run_options, value_of};
use super::stored_layouts::StoredLayouts;
use crate::steps::experiment::runner::{StopReason, note_refused};
use std::collections::BTreeSet;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions, measure};
use stripewise_conductor::observer::Progress as Bar;
use stripewise_conductor::targets::OpenTarget;
use stripewise_lab::layouts::{CellValue, LayoutPlan, PassProgress};
use stripewise_results::{RunRecord, Status};
use stripewise_store::Store;
use stripewise_units::format_duration;
use stripewise_workload::{Request, Workload};

/// The runs of one session on real targets, and what they change.
pub struct Bench<'a> {
    /// The context of the use case.
    pub context: &'a Context,
    /// The store for the runs.
    pub store: &'a mut Store,
    /// The document, updated and stored after every pass.
    pub stored: StoredLayouts,
    /// The progress display.
    pub bar: Bar<'a>,
    started_ns: u64,
    elapsed_before_ns: u64,
    /// Options common to all runs.
    how: RunOptions,
    /// Distinct remarks on the runs that are needed to interpret the answer.
    remarks: BTreeSet<String>,
    pace: Pace,
    /// The first failure that does not void what was measured: the pass is made to its end all
    /// the same, and counts.
    pub late: Option<Failure>,
}

/// The position of a measured layout.
#[derive(Clone, Copy, Debug)]
pub struct PlaceInPass {
    /// Number of the pass, from 0.
    pub pass: u32,
    /// Its position in it.
    pub position: usize,
    /// Number of layouts of the pass.
    pub layouts: usize,
}

/// A run in which no operation completed has no rate; it is repeated, up to [`TRIES`] attempts
/// in all, each [`LONGER`] times as long as the one before. That happens if the disk or this
/// program stalled for longer than the run's duration.
const TRIES: u32 = 3;
const LONGER: u64 = 4;

/// On real targets, no pilot looks for caches: each layout would need its own.
const WRITES_UNPILOTED: &str = "Whether a write cache absorbed the runs that write was not looked \
    for here: `stripewise bench` on the finished volume does, and a longer `duration` of the cells \
    measures behind it.";

impl<'a> Bench<'a> {
    /// Before the first pass of a session; `pass_ns`: the time of a pass, if it is known before
    /// one was made.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        stored: StoredLayouts,
        title: &'static str,
        pass_ns: Option<u64>,
    ) -> Self {
        let budget_ns = stored.plan.time_budget_ns;
        Bench {
            bar: Bar::begin(context.observer(), false, 1, title),
            started_ns: context.now_ns(),
            elapsed_before_ns: stored.elapsed_ns,
            how: RunOptions::of(context, Request::default(), false),
            remarks: BTreeSet::new(),
            pace: Pace::new(
                stored.measured.passes.len(),
                pass_ns,
                budget_ns.map(|ns| ns.saturating_sub(stored.elapsed_ns)),
            ),
            late: None,
            context,
            store,
            stored,
        }
    }

    /// The final document, and the failure that did not void it.
    pub fn into_parts(self) -> (StoredLayouts, Option<Failure>) {
        (self.stored, self.late)
    }

    /// Time of this session.
    pub fn passed_ns(&self) -> u64 {
        self.context.now_ns() - self.started_ns
    }

    /// Time of all sessions.
    pub fn elapsed_ns(&self) -> u64 {
        self.elapsed_before_ns + self.passed_ns()
    }

    /// Stores the passes so far, and shows about how many follow. Whether another one is made.
    pub fn after_pass(&mut self, progress: &PassProgress<'_>) -> Result<bool, StopReason> {
        self.stored.measured = progress.measured.clone();
        self.stored.remark(&self.remarks);
        self.stored.elapsed_ns = self.elapsed_ns();
        self.stored.keep(self.context, self.store)?;
        let made = progress.measured.passes.len();
        let passed_ns = self.passed_ns();
        self.pace
            .after_pass(made, progress.passes_likely, passed_ns);
        show_pass(&self.bar, passed_ns, made, &self.pace);
        Ok(self.context.signal().is_none() && self.late.is_none())
    }

    /// Runs every cell `runs` times on a layout, and averages the results; `fit` adapts a cell's
    /// workload to the layout.
    ///
    /// # Errors
    /// If a signal came, or a run could not be made.
    pub fn cells(
        &mut self,
        opened: &[OpenTarget],
        place: PlaceInPass,
        layout: usize,
        runs: u32,
        fit: &dyn Fn(&Workload) -> Outcome<Workload>,
    ) -> Result<Vec<CellValue>, StopReason> {
        let order = reads_first(&self.stored.plan);
        let mut values: Vec<Vec<CellValue>> = vec![Vec::new(); order.len()];
        let of_layout = u64::from(runs) * order.len() as u64;
        let mut spot = Spot {
            pass: place.pass,
            run: place.position as u64 * of_layout,
            runs: place.layouts as u64 * of_layout,
        };
        for run in 0..runs {
            for &cell in &order {
                if self.context.signal().is_some() {
                    return Err(StopReason::Interrupted);
                }
                let mut workload = self.stored.plan.workload(place.pass, layout, cell);
                workload.seed ^= u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let workload = fit(&workload)?;
                let after_ns = self.pace.left_after_run_ns(spot);
                spot.run += 1;
                let value = self.run(opened, place, (layout, cell), workload, after_ns)?;
                values[cell].push(value);
            }
        }
        let means = values.iter().map(|of_cell| mean_of(of_cell));
        means
            .collect::<Option<Vec<_>>>()
            .ok_or(StopReason::Interrupted)
    }

    fn run(
        &mut self,
        opened: &[OpenTarget],
        place: PlaceInPass,
        (layout, cell): (usize, usize),
        workload: Workload,
        after_ns: Option<u64>,
    ) -> Result<CellValue, StopReason> {
        let name = self.stored.plan.cells[cell].mix.name.clone();
        let words = self.stored.plan.set.words(layout);
        let title = format!("Pass {}, {name} on {words}", place.pass + 1);
        let shown = RunPlace {
            title: &title,
            before_ns: self.passed_ns(),
            expected_ns: workload.length_ns(),
            after_ns,
        };
        let place = (place.pass, place.position);
        let mut job = PlacedJob {
            name: name.clone(),
            workload,
            targets: vec![0],
        };
        let how = run_options(&self.stored, self.how.clone(), place, (layout, cell));
        if job.workload.writes() {
            self.remarks.insert(WRITES_UNPILOTED.to_owned());
        }
        for _ in 0..TRIES {
            let jobs = [job.clone()];
            let measured = measure(
                self.context,
                self.store,
                opened,
                &jobs,
                &how,
                &self.bar,
                &shown,
            )?;
            if let Err(failure) = measured.stored {
                note_refused(self.context, &failure, "the pass");
                self.late.get_or_insert(failure);
            }
            let record = &measured.record;
            self.remarks.extend(remarks_of(record));
            if let Some(value) = value_of(record) {
                return Ok(value);
            }
            if self.context.signal().is_some() {
                return Err(StopReason::Interrupted);
            }
            if record.status != Status::Complete {
                break;
            }
            self.remarks.insert(format!(
                "A run of {name} completed no operation within {} and was made again, {LONGER} times as long.",
                format_duration(job.workload.duration_ns)
            ));
            job.workload.duration_ns = job.workload.duration_ns.saturating_mul(LONGER);
        }
        Err(StopReason::Failed(Failure::new(
            Exit::InputOutput,
            format!("the run of {name} on {words} completed no operation, or not all of its time"),
            "make runs longer (`duration` of the cell), or look at the kernel's log for errors",
        )))
    }
}

/// Reasons why a run's figures are not the disk's.
fn remarks_of(record: &RunRecord) -> impl Iterator<Item = String> {
    record.void_codes().into_iter().map(|code| {
        format!(
            "There are runs whose figures are not the disk's ({code}): `stripewise history show` has them."
        )
    })
}

/// Cells that only read come first, before anything rewrites their data.
fn reads_first(plan: &LayoutPlan) -> Vec<usize> {
    let mut cells: Vec<usize> = (0..plan.cells.len()).collect();
    cells.sort_by_key(|&cell| plan.cells[cell].workload.read_percent < 100);
    cells
}

/// Shows that a pass is over, and about how many follow.
fn show_pass(bar: &Bar<'_>, passed_ns: u64, made: usize, pace: &Pace) {
    let made = made as u64;
    let left_ns = pace.left_after_pass_ns(made).unwrap_or(0);
    bar.set_total(passed_ns.saturating_add(left_ns));
    let title = format!("Pass {made} of about {}", pace.likely());
    bar.update(passed_ns, &title, Some(left_ns));
}
