//! Runs of the cells of a layout on a real target, one after the other.

use super::eta::{Pace, Spot};
use super::measured_cells::{StopReason, mean_of, run_options, value_of};
use super::stored_layouts::StoredLayouts;
use std::collections::BTreeSet;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions, measure};
use stripewise_conductor::observer::Progress as Bar;
use stripewise_conductor::targets::OpenTarget;
use stripewise_lab::layouts::{CellValue, LayoutPlan};
use stripewise_results::{RunRecord, Severity, Status};
use stripewise_store::Store;
use stripewise_units::format_duration;
use stripewise_workload::Workload;

/// Parameters of the runs.
pub struct Bench<'a, 'b> {
    /// The context of the use case.
    pub context: &'a Context,
    /// The store for the runs.
    pub store: &'b mut Store,
    /// The single target.
    pub opened: &'b [OpenTarget],
    /// The experiment.
    pub kept: &'b StoredLayouts,
    /// The progress display.
    pub bar: &'b Bar<'a>,
    /// When the session began.
    pub started_ns: u64,
    /// Options common to all runs.
    pub how: &'b RunOptions,
    /// Remarks on the runs that are needed to interpret the answer.
    pub remarks: &'b mut Remarks,
    /// Estimates the total time.
    pub pace: Pace,
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

/// Distinct remarks on runs.
pub type Remarks = BTreeSet<String>;

/// A run in which no operation completed has no rate; it is repeated, up to [`TRIES`] attempts
/// in all, each [`LONGER`] times as long as the one before. That happens if the disk or this
/// program stalled for longer than the run's duration.
const TRIES: u32 = 3;
const LONGER: u64 = 4;

/// On real targets, no pilot looks for caches: each layout would need its own.
const WRITES_UNPILOTED: &str = "Whether a write cache absorbed the runs that write was not looked \
    for here: `stripewise bench` on the finished volume does, and a longer `duration` of the cells \
    measures behind it.";

impl Bench<'_, '_> {
    /// Runs every cell `runs` times on a layout, and averages the results; `fit` adapts a cell's
    /// workload to the layout.
    ///
    /// # Errors
    /// If a signal came, or a run could not be made or stored.
    pub fn cells(
        &mut self,
        place: PlaceInPass,
        layout: usize,
        runs: u32,
        fit: &dyn Fn(&Workload) -> Outcome<Workload>,
    ) -> Result<Vec<CellValue>, StopReason> {
        let plan = &self.kept.plan;
        let mut values: Vec<Vec<CellValue>> = vec![Vec::new(); plan.cells.len()];
        let of_layout = u64::from(runs) * plan.cells.len() as u64;
        let mut spot = Spot {
            pass: place.pass,
            run: place.position as u64 * of_layout,
            runs: place.layouts as u64 * of_layout,
        };
        for run in 0..runs {
            for cell in reads_first(plan) {
                if self.context.signal().is_some() {
                    return Err(StopReason::Interrupted);
                }
                let mut workload = plan.workload(place.pass, layout, cell);
                workload.seed ^= u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let workload = fit(&workload).map_err(StopReason::Failed)?;
                let after_ns = self.pace.left_after_run_ns(spot);
                spot.run += 1;
                values[cell].push(self.run(place, (layout, cell), workload, after_ns)?);
            }
        }
        let means = values.iter().map(|of_cell| mean_of(of_cell));
        means
            .collect::<Option<Vec<_>>>()
            .ok_or(StopReason::Interrupted)
    }

    fn run(
        &mut self,
        place: PlaceInPass,
        (layout, cell): (usize, usize),
        workload: Workload,
        after_ns: Option<u64>,
    ) -> Result<CellValue, StopReason> {
        let plan = &self.kept.plan;
        let name = &plan.cells[cell].mix.name;
        let title = format!(
            "Pass {}, {name} on {}",
            place.pass + 1,
            plan.set.words(layout)
        );
        let shown = RunPlace {
            title: &title,
            before_ns: self.context.now_ns() - self.started_ns,
            expected_ns: workload.length_ns(),
            after_ns,
        };
        let place = (place.pass, place.position);
        let mut job = PlacedJob {
            name: name.clone(),
            workload,
            targets: vec![0],
        };
        let how = run_options(self.kept, self.how.clone(), place, (layout, cell));
        if job.workload.writes() {
            self.remarks.insert(WRITES_UNPILOTED.to_owned());
        }
        for _ in 0..TRIES {
            let jobs = [job.clone()];
            let measured = measure(
                self.context,
                self.store,
                self.opened,
                &jobs,
                &how,
                self.bar,
                &shown,
            )
            .map_err(StopReason::Failed)?;
            measured.kept.map_err(StopReason::Failed)?;
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
            format!(
                "the run of {name} on {} completed no operation, or not all of its time",
                plan.set.words(layout)
            ),
            "make runs longer (`duration` of the cell), or look at the kernel's log for errors",
        )))
    }
}

/// Reasons why a run's figures are not the disk's.
fn remarks_of(record: &RunRecord) -> impl Iterator<Item = String> {
    let of_jobs = record.jobs.iter().flat_map(|job| &job.warnings);
    let all = record.warnings.iter().chain(of_jobs);
    let void = all.filter(|warning| warning.severity == Severity::Void);
    void.map(|warning| {
        format!(
            "There are runs whose figures are not the disk's ({}): `stripewise history show` has them.",
            warning.code
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
pub fn show_pass(bar: &Bar<'_>, passed_ns: u64, made: usize, pace: &Pace) {
    let made = made as u64;
    let left_ns = pace.left_after_pass_ns(made).unwrap_or(0);
    bar.set_total(passed_ns.saturating_add(left_ns));
    let title = format!("Pass {made} of about {}", pace.likely());
    bar.update(passed_ns, &title, Some(left_ns));
}
