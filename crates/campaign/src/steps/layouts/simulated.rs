//! Passes on simulated arrays: every layout is an array of its own, rebuilt for every
//! run, so making it takes no time. All runs of a pass are made concurrently, on all cores.

use super::measured_cells::{run_options, value_of, with_options};
use super::stored_layouts::{LayoutPlace, StoredLayouts};
use crate::steps::absorbed::CellSustained;
use crate::steps::experiment::runner::{StopReason, keep_unless_refused};
use stripewise_conductor::context::Context;
use stripewise_conductor::durations::{CellTime, DurationRequest, durations};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::{PlacedJob, RunOptions};
use stripewise_conductor::observer::Progress as Bar;
use stripewise_conductor::parallel::{SimulatedCell, simulate_cells};
use stripewise_conductor::simulated::Simulated;
use stripewise_conductor::targets::OpenTarget;
use stripewise_lab::layouts::{
    CellValue, LayoutCell, LayoutPass, LayoutPlan, PassProgress, PassRunner,
};
use stripewise_results::RunRecord;
use stripewise_store::Store;
use stripewise_targets::TargetName;
use stripewise_units::format_bytes;
use stripewise_workload::{Request, Workload};

/// Operations of a run: its mean has a coefficient of variation of about 1.2 %, and a pass
/// averages over cells.
const OPERATIONS: u64 = 10_000;

/// The arrays of all layouts, limited to the size of the smallest.
pub struct Arrays {
    arrays: Vec<Simulated>,
    places: Vec<LayoutPlace>,
    size_bytes: u64,
    /// Bytes of each slot, if layouts are side by side.
    slot_bytes: Option<u64>,
}

impl Arrays {
    /// Builds them once, to check that they are valid.
    ///
    /// # Errors
    /// If one is not.
    pub fn open(context: &Context, places: &[LayoutPlace]) -> Outcome<Arrays> {
        const GRAIN: u64 = 1 << 20;
        let open = |place: &LayoutPlace| {
            let name: TargetName = place.target.parse()?;
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

    /// Divides the array into one slot per layout.
    ///
    /// # Errors
    /// If it is too small for that, with the required size.
    pub fn divide(&mut self, target: &str, cells: &[LayoutCell]) -> Outcome<()> {
        // A multiple of all common stripe units: a slot begins where a stripe does.
        const GRAIN: u64 = 64 << 20;
        let layouts = self.arrays.len() as u64;
        let slot_bytes = self.size_bytes / layouts / GRAIN * GRAIN;
        let requested_bytes = cells.iter().filter_map(|cell| cell.workload.size_bytes);
        let wanted = requested_bytes.max().unwrap_or(GRAIN).max(GRAIN);
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

    /// Places a workload in the slot of a layout in this pass.
    fn in_slot(&self, plan: &LayoutPlan, pass: u32, layout: usize, given: Workload) -> Workload {
        let slot = plan.slots.as_ref().zip(self.slot_bytes);
        slot.map_or(given.clone(), |(slots, slot_bytes)| Workload {
            base_offset_bytes: slots.of_pass(pass as usize)[layout] as u64 * slot_bytes,
            ..given
        })
    }

    /// All keys of each array.
    pub fn descriptions(&self) -> Vec<String> {
        let arrays = self.arrays.iter();
        arrays.map(|array| array.spec().describe()).collect()
    }

    /// The largest sector of any array.
    pub fn sector_bytes(&self) -> u64 {
        let sectors = self
            .arrays
            .iter()
            .map(|array| array.limits().logical_sector_bytes);
        u64::from(sectors.max().unwrap_or(512))
    }

    /// The workload for this layout: the same logical size on all of them.
    fn workload(&self, layout: usize, given: &Workload) -> Outcome<Workload> {
        let given = Workload {
            size_bytes: Some(
                given
                    .size_bytes
                    .unwrap_or(self.slot_bytes.unwrap_or(self.size_bytes)),
            ),
            ..given.clone()
        };
        with_options(&self.places[layout].options, &given)
    }

    /// Checks that all cells fit all layouts.
    ///
    /// # Errors
    /// If a cell does not fit a layout.
    pub fn check(&self, context: &Context, plan: &LayoutPlan) -> Outcome<()> {
        let how = options(context, Request::default());
        for (layout, array) in self.arrays.iter().enumerate() {
            let opened = [OpenTarget::Simulated(Box::new(array.met(0, 0)))];
            for cell in &plan.cells {
                let wanted = self.wanted(layout, &cell.mix.name, &cell.workload)?;
                SimulatedCell::prepare(context, &opened, &[wanted], &how)?;
            }
        }
        Ok(())
    }

    /// Finds ramp and duration of every cell on the layout `on`; for cells whose writes
    /// something absorbs for a while, values that suffice on every layout. Returns the results
    /// for these.
    ///
    /// # Errors
    /// If a cell does not fit a layout.
    pub fn find_durations(
        &self,
        context: &Context,
        plan: &mut LayoutPlan,
        on: usize,
    ) -> Outcome<Vec<CellSustained>> {
        let how = options(context, Request::default());
        let mut times: Vec<Option<CellTime>> = vec![None; plan.cells.len()];
        let mut sustained = Vec::new();
        for (layout, array) in self.arrays.iter().enumerate() {
            let mut looks = Vec::new();
            let mut cells = Vec::new();
            for (index, cell) in plan.cells.iter().enumerate() {
                let workload = self.workload(layout, &cell.workload)?;
                if layout == on || array.absorbs(&workload).is_some() {
                    cells.push(index);
                    looks.push(DurationRequest {
                        operations: Some(OPERATIONS),
                        ..DurationRequest::at(&cell.mix.name, workload)
                    });
                }
            }
            let opened = [OpenTarget::Simulated(Box::new(array.met(plan.seed, 0)))];
            for (index, time) in cells
                .into_iter()
                .zip(durations(context, &opened, &how, &looks)?)
            {
                times[index] = Some(times[index].map_or(time, |so_far| so_far.and(time)));
                sustained.extend(time.sustained.map(|found| CellSustained {
                    cell: plan.cells[index].mix.name.clone(),
                    level: plan.set.words(layout),
                    found,
                }));
            }
        }
        for (cell, time) in plan.cells.iter_mut().zip(times.into_iter().flatten()) {
            cell.workload.ramp_ns = time.ramp_ns;
            cell.workload.duration_ns = time.duration_ns;
        }
        Ok(sustained)
    }

    fn wanted(&self, layout: usize, name: &str, workload: &Workload) -> Outcome<PlacedJob> {
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
    /// The document, updated and stored after every pass.
    stored: StoredLayouts,
    bar: Bar<'a>,
    started_ns: u64,
    passes_here: u32,
    /// The store's failure to take a run: the pass is made to its end all the same, and counts.
    refused: Option<Failure>,
}

impl<'a> SimulatedPasses<'a> {
    /// Before its first pass.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        arrays: &'a Arrays,
        stored: StoredLayouts,
    ) -> Self {
        SimulatedPasses {
            bar: Bar::begin(context.observer(), false, 1, "Measuring"),
            started_ns: context.now_ns(),
            passes_here: 0,
            refused: None,
            context,
            store,
            arrays,
            stored,
        }
    }

    /// The final document, and the store's failure to take a run.
    pub fn into_parts(self) -> (StoredLayouts, Option<Failure>) {
        (self.stored, self.refused)
    }

    /// The runs of a pass in index order: layout and cell.
    fn runs(&self, order: &[usize]) -> Vec<(usize, usize)> {
        let cells = self.stored.plan.cells.len();
        let of_layout = |&layout: &usize| (0..cells).map(move |cell| (layout, cell));
        order.iter().flat_map(of_layout).collect()
    }

    fn measure(&mut self, pass: u32, order: &[usize]) -> Outcome<Vec<RunRecord>> {
        let runs = self.runs(order);
        let mut met: Vec<[OpenTarget; 1]> = Vec::with_capacity(runs.len());
        let mut specs = Vec::with_capacity(runs.len());
        let mut older_ns = self.stored.elapsed_ns;
        for &(layout, cell) in &runs {
            let plan = &self.stored.plan;
            let workload = plan.workload(pass, layout, cell);
            let workload = self.arrays.in_slot(plan, pass, layout, workload);
            let name = &self.stored.plan.cells[cell].mix.name;
            let wanted = self.arrays.wanted(layout, name, &workload)?;
            let array = self.arrays.arrays[layout].met(wanted.workload.seed, older_ns);
            older_ns = older_ns.saturating_add(wanted.workload.length_ns());
            met.push([OpenTarget::Simulated(Box::new(array))]);
            specs.push(wanted);
        }
        self.stored.elapsed_ns = older_ns;
        let mut cells = Vec::with_capacity(runs.len());
        for (position, (wanted, opened)) in specs.into_iter().zip(&met).enumerate() {
            let (layout, cell) = runs[position];
            let base = options(self.context, Request::default());
            let how = run_options(&self.stored, base, (pass, position), (layout, cell));
            cells.push(SimulatedCell::prepare(
                self.context,
                opened,
                &[wanted],
                &how,
            )?);
        }
        let mut records = Vec::with_capacity(runs.len());
        let (context, store, refused) = (self.context, &mut *self.store, &mut self.refused);
        simulate_cells(context, &cells, &mut |record| {
            let mut record = record.without_intervals();
            keep_unless_refused(context, store, &mut record, refused);
            records.push(record);
            Ok(())
        })?;
        Ok(records)
    }
}

impl PassRunner for SimulatedPasses<'_> {
    type Error = StopReason;

    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, StopReason> {
        if self.context.signal().is_some() {
            return Err(StopReason::Interrupted);
        }
        let records = self.measure(pass, order)?;
        let runs = self.runs(order);
        if records.len() < runs.len() {
            return Err(StopReason::Interrupted);
        }
        let mut values: Vec<Option<Vec<CellValue>>> = vec![None; self.stored.plan.set.len()];
        for ((layout, _), record) in runs.iter().zip(&records) {
            let value = value_of(record).ok_or(StopReason::Interrupted)?;
            values[*layout].get_or_insert_with(Vec::new).push(value);
        }
        Ok(LayoutPass { values })
    }

    fn elapsed_ns(&self) -> u64 {
        self.stored.elapsed_ns
    }

    /// Virtual time costs little.
    fn part_of_margin(&self) -> f64 {
        0.5
    }

    fn after_pass(&mut self, progress: &PassProgress<'_>) -> Result<bool, StopReason> {
        self.stored.measured = progress.measured.clone();
        self.stored.keep(self.context, self.store)?;
        self.passes_here += 1;
        let made = progress.measured.passes.len() as u64;
        let width = progress
            .resolution_percent
            .map(|percent| format!(", told apart from {percent:.1} % on"))
            .unwrap_or_default();
        let title = format!("Pass {} of about {}{width}", made, progress.passes_likely);
        // The remaining time is the program's, not the array's.
        let passed_ns = self.context.now_ns() - self.started_ns;
        let each_ns = passed_ns / u64::from(self.passes_here.max(1));
        let left_ns = each_ns * u64::from(progress.passes_likely).saturating_sub(made);
        self.bar.set_total(passed_ns + left_ns);
        self.bar.update(passed_ns, &title, Some(left_ns));
        Ok(self.context.signal().is_none() && self.refused.is_none())
    }
}
