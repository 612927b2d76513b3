//! Passes on simulated arrays: every layout is an array of its own, built anew for every
//! run, so making it takes no time. All runs of a pass are made at once, on all cores.

use super::kept::{KeptLayouts, LayoutPlace};
use super::values::{Halt, run_options, value_of};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::observer::Progress as Bar;
use crate::steps::measure::{PlacedJob, RunOptions};
use crate::steps::parallel::{SimulatedCell, keep_new, simulate_cells};
use crate::steps::pilot::{Look, durations};
use crate::steps::simulated::Simulated;
use crate::steps::targets::OpenTarget;
use stripewise_lab::layouts::{
    CellValue, LayoutCell, LayoutPass, LayoutPlan, PassMaker, PassProgress,
};
use stripewise_results::RunRecord;
use stripewise_store::Store;
use stripewise_targets::TargetName;
use stripewise_units::format_bytes;
use stripewise_workload::{Request, Workload, WorkloadOptions};

/// Operations of a run: its mean has a coefficient of variation of about 1.2 %, and a pass
/// averages over cells.
const OPERATIONS: u64 = 10_000;
/// Operations at most that fill a write cache before measuring.
const OPERATIONS_BEFORE_MAX: u64 = 100_000;

/// The arrays of all layouts, and as much of each as the smallest has.
pub struct Arrays {
    arrays: Vec<Simulated>,
    places: Vec<LayoutPlace>,
    size_bytes: u64,
    /// Bytes of each slot, where layouts lie side by side.
    slot_bytes: Option<u64>,
}

impl Arrays {
    /// Builds them once, to see that they can be built.
    ///
    /// # Errors
    /// Where one cannot be.
    pub fn open(context: &Context, places: &[LayoutPlace]) -> Outcome<Arrays> {
        const GRAIN: u64 = 1 << 20;
        let open = |place: &LayoutPlace| {
            let name: TargetName =
                (place.target.parse()).map_err(crate::steps::targets::target_failure)?;
            Simulated::open(context, &name)
        };
        let arrays = places.iter().map(open).collect::<Outcome<Vec<_>>>()?;
        let sizes = arrays.iter().map(|array| array.limits().size_bytes);
        let smallest = sizes.min().unwrap_or(0);
        Ok(Arrays {
            arrays,
            places: places.to_vec(),
            size_bytes: smallest / GRAIN * GRAIN,
            slot_bytes: None,
        })
    }

    /// Divides the array into a slot for each layout.
    ///
    /// # Errors
    /// Where it is too small for that, with the size that it must have.
    pub fn divide(&mut self, target: &str, cells: &[LayoutCell]) -> Outcome<()> {
        // All stripe units in use divide it: a slot begins where a stripe does.
        const GRAIN: u64 = 64 << 20;
        let layouts = self.arrays.len() as u64;
        let slot_bytes = self.size_bytes / layouts / GRAIN * GRAIN;
        let asked = cells.iter().filter_map(|cell| cell.workload.size_bytes);
        let wanted = asked.max().unwrap_or(GRAIN).max(GRAIN);
        if slot_bytes < wanted {
            let needed = wanted
                .next_multiple_of(GRAIN)
                .saturating_mul(layouts)
                .saturating_add(GRAIN);
            return Err(Failure::usage(
                format!(
                    "{target} is too small: {layouts} slots of {} need {}, and {} are there",
                    format_bytes(wanted),
                    format_bytes(needed),
                    format_bytes(self.size_bytes)
                ),
                "name a larger array, a smaller size, or fewer layouts",
            ));
        }
        self.slot_bytes = Some(slot_bytes);
        Ok(())
    }

    /// The part of the array that a layout lies in, in this pass.
    fn in_slot(&self, plan: &LayoutPlan, pass: u32, layout: usize, given: Workload) -> Workload {
        let slot = plan.slots.as_ref().zip(self.slot_bytes);
        slot.map_or(given.clone(), |(slots, slot_bytes)| Workload {
            base_offset_bytes: slots.of_pass(pass as usize)[layout] as u64 * slot_bytes,
            ..given
        })
    }

    /// All keys of each.
    #[must_use]
    pub fn descriptions(&self) -> Vec<String> {
        let arrays = self.arrays.iter();
        arrays.map(|array| array.spec().describe()).collect()
    }

    /// The largest sector of any of them.
    #[must_use]
    pub fn sector_bytes(&self) -> u64 {
        let sectors = self
            .arrays
            .iter()
            .map(|array| array.limits().logical_sector_bytes);
        u64::from(sectors.max().unwrap_or(512))
    }

    /// The workload as this layout runs it: the same logical size on all of them.
    fn workload(&self, layout: usize, given: &Workload) -> Outcome<Workload> {
        let mut options = WorkloadOptions::default();
        for (option, text) in &self.places[layout].options {
            options.set(option, text).map_err(|error| {
                let hint = error.hint().to_owned();
                Failure::usage(error.to_string(), hint)
            })?;
        }
        let given = Workload {
            size_bytes: Some(
                given
                    .size_bytes
                    .unwrap_or(self.slot_bytes.unwrap_or(self.size_bytes)),
            ),
            ..given.clone()
        };
        options
            .build(&given)
            .map_err(crate::steps::measure::workload_failure)
    }

    /// Checks all cells on all layouts.
    ///
    /// # Errors
    /// Where a cell does not fit a layout.
    pub fn check(&self, context: &Context, plan: &LayoutPlan) -> Outcome<()> {
        let how = options(context, Request::default());
        for (layout, array) in self.arrays.iter().enumerate() {
            let aimed = [OpenTarget::Simulated(Box::new(array.met(0, 0)))];
            for cell in &plan.cells {
                let wish = self.wish(layout, &cell.mix.name, &cell.workload)?;
                SimulatedCell::prepare(context, &aimed, &[wish], &how)?;
            }
        }
        Ok(())
    }

    /// Finds ramp and duration of every cell on the layout `on`.
    ///
    /// # Errors
    /// Where a cell does not fit it.
    pub fn find_durations(
        &self,
        context: &Context,
        plan: &mut LayoutPlan,
        on: usize,
    ) -> Outcome<()> {
        let how = options(context, Request::default());
        let cache_bytes = self.arrays[on].cache_bytes();
        let looks = plan.cells.iter().map(|cell| {
            let workload = self.workload(on, &cell.workload)?;
            let block_bytes = workload.block_bytes_mean().max(1);
            let fills = cache_bytes / block_bytes * u64::from(workload.read_percent < 100);
            Ok(Look {
                operations: Some(OPERATIONS),
                operations_before: fills.min(OPERATIONS_BEFORE_MAX),
                ..Look::at(&cell.mix.name, workload)
            })
        });
        let looks = looks.collect::<Outcome<Vec<_>>>()?;
        let aimed = [OpenTarget::Simulated(Box::new(
            self.arrays[on].met(plan.seed, 0),
        ))];
        let found = durations(context, &aimed, &how, &looks)?;
        for (cell, (ramp_ns, duration_ns)) in plan.cells.iter_mut().zip(found) {
            cell.workload.ramp_ns = ramp_ns;
            cell.workload.duration_ns = duration_ns;
        }
        Ok(())
    }

    fn wish(&self, layout: usize, name: &str, workload: &Workload) -> Outcome<PlacedJob> {
        Ok(PlacedJob {
            name: name.to_owned(),
            workload: self.workload(layout, workload)?,
            targets: vec![0],
        })
    }
}

fn options(context: &Context, request: Request) -> RunOptions {
    RunOptions::of(context, request, true)
}

/// Makes passes.
pub struct SimulatedPasses<'a> {
    context: &'a Context,
    store: &'a mut Store,
    arrays: &'a Arrays,
    /// Follows the experiment; kept after every pass.
    kept: KeptLayouts,
    bar: Bar<'a>,
    started_ns: u64,
    passes_here: u32,
}

impl<'a> SimulatedPasses<'a> {
    /// Before its first pass.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        arrays: &'a Arrays,
        kept: KeptLayouts,
    ) -> Self {
        SimulatedPasses {
            bar: Bar::begin(context.observer(), false, 1, "Measuring"),
            started_ns: context.now_ns(),
            passes_here: 0,
            context,
            store,
            arrays,
            kept,
        }
    }

    /// What is left when all is done.
    #[must_use]
    pub fn into_kept(self) -> KeptLayouts {
        self.kept
    }

    /// The runs of a pass in the order in which they are counted: layout and cell.
    fn runs(&self, order: &[usize]) -> Vec<(usize, usize)> {
        let cells = self.kept.plan.cells.len();
        let of_layout = |&layout: &usize| (0..cells).map(move |cell| (layout, cell));
        order.iter().flat_map(of_layout).collect()
    }

    fn measure(&mut self, pass: u32, order: &[usize]) -> Outcome<Vec<RunRecord>> {
        let runs = self.runs(order);
        let mut met: Vec<[OpenTarget; 1]> = Vec::with_capacity(runs.len());
        let mut wishes = Vec::with_capacity(runs.len());
        let mut older_ns = self.kept.elapsed_ns;
        for &(layout, cell) in &runs {
            let plan = &self.kept.plan;
            let workload = plan.workload(pass, layout, cell);
            let workload = self.arrays.in_slot(plan, pass, layout, workload);
            let name = &self.kept.plan.cells[cell].mix.name;
            let wish = self.arrays.wish(layout, name, &workload)?;
            let array = self.arrays.arrays[layout].met(wish.workload.seed, older_ns);
            older_ns = older_ns.saturating_add(wish.workload.length_ns());
            met.push([OpenTarget::Simulated(Box::new(array))]);
            wishes.push(wish);
        }
        self.kept.elapsed_ns = older_ns;
        let mut cells = Vec::with_capacity(runs.len());
        for (position, (wish, aimed)) in wishes.into_iter().zip(&met).enumerate() {
            let (layout, cell) = runs[position];
            let base = options(self.context, Request::default());
            let how = run_options(&self.kept, base, (pass, position), (layout, cell));
            cells.push(SimulatedCell::prepare(self.context, aimed, &[wish], &how)?);
        }
        let mut records = Vec::with_capacity(runs.len());
        let (context, store) = (self.context, &mut *self.store);
        simulate_cells(context, &cells, &mut |record| {
            let mut record = record.without_intervals();
            let kept = keep_new(context, store, &mut record);
            records.push(record);
            kept
        })?;
        Ok(records)
    }
}

impl PassMaker for SimulatedPasses<'_> {
    type Error = Halt;

    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, Halt> {
        if self.context.signal().is_some() {
            return Err(Halt::Interrupted);
        }
        let records = self.measure(pass, order).map_err(Halt::Failed)?;
        let runs = self.runs(order);
        if records.len() < runs.len() {
            return Err(Halt::Interrupted);
        }
        let mut values: Vec<Option<Vec<CellValue>>> = vec![None; self.kept.plan.set.len()];
        for ((layout, _), record) in runs.iter().zip(&records) {
            let value = value_of(record).ok_or(Halt::Interrupted)?;
            values[*layout].get_or_insert_with(Vec::new).push(value);
        }
        Ok(LayoutPass { values })
    }

    fn elapsed_ns(&self) -> u64 {
        self.kept.elapsed_ns
    }

    fn after_pass(&mut self, progress: &PassProgress<'_>) -> Result<bool, Halt> {
        self.kept.measured = progress.measured.clone();
        self.kept
            .keep(self.context, self.store)
            .map_err(Halt::Failed)?;
        self.passes_here += 1;
        let made = progress.measured.passes.len() as u64;
        let width = progress
            .resolution_percent
            .map(|percent| format!(", told apart from {percent:.1} % on"))
            .unwrap_or_default();
        let title = format!("Pass {} of about {}{width}", made, progress.passes_likely);
        // What is left is our own time, not the array's.
        let passed_ns = self.context.now_ns() - self.started_ns;
        let each_ns = passed_ns / u64::from(self.passes_here.max(1));
        let left_ns = each_ns * u64::from(progress.passes_likely).saturating_sub(made);
        self.bar.set_total(passed_ns + left_ns);
        self.bar.update(passed_ns, &title, Some(left_ns));
        Ok(self.context.signal().is_none())
    }
}
