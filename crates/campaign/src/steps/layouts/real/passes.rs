//! Passes on real devices: every layout is made, its cells are measured on a test file
//! written in full, and it is removed before the next one is made in the same place. In
//! slots, all of them are made before the first is measured, and removed after the last.

use super::devices::{MayDestroy, erase, judge};
use super::make::{LayoutBuilder, MadeLayout, with_undone};
use super::slots::SlotSet;
use super::spec::LayoutSpec;
use crate::steps::layouts::divided::Slots;
use crate::steps::layouts::eta::Pace;
use crate::steps::layouts::measured_cells::{StopReason, requirements_of};
use crate::steps::layouts::runs::{Bench, PlaceInPass, Remarks, show_pass};
use crate::steps::layouts::stored_layouts::{OnDevices, StoredLayouts};
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::RunOptions;
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress as Bar;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::open_target;
use stripewise_disk_provision::Identity;
use stripewise_lab::layouts::{
    CellValue, LayoutPass, LayoutPlan, PassMaker, PassProgress, SlotPlan, runs_per_making,
};
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::NameText;
use stripewise_workload::{Request, Workload, WorkloadOptions};

/// The values of the cells of each layout made.
type Values = Vec<Option<Vec<CellValue>>>;

/// Makes passes.
pub struct RealPasses<'a> {
    context: &'a Context,
    store: &'a mut Store,
    may: &'a MayDestroy,
    on: OnDevices,
    /// The document, updated and stored after every pass.
    kept: StoredLayouts,
    bar: Bar<'a>,
    started_ns: u64,
    elapsed_before_ns: u64,
    how: RunOptions,
    remarks: Remarks,
    pace: Pace,
}

impl<'a> RealPasses<'a> {
    /// Before its first pass.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        kept: StoredLayouts,
        may: &'a MayDestroy,
    ) -> Self {
        RealPasses {
            bar: Bar::begin(context.observer(), false, 1, "Making layouts"),
            started_ns: context.now_ns(),
            elapsed_before_ns: kept.elapsed_ns,
            on: kept.on_devices.clone().unwrap_or_default(),
            how: RunOptions::of(context, Request::default(), false),
            remarks: Remarks::new(),
            // The time for making layouts and filling their files is known after the first pass.
            pace: Pace::new(
                kept.measured.passes.len(),
                None,
                (kept.plan.time_budget_ns).map(|ns| ns.saturating_sub(kept.elapsed_ns)),
            ),
            context,
            store,
            may,
            kept,
        }
    }

    /// The final document.
    #[must_use]
    pub fn into_kept(self) -> StoredLayouts {
        self.kept
    }

    /// Erases the devices; their partition tables are saved first.
    ///
    /// # Errors
    /// If one is refused or fails.
    pub fn begin(&mut self) -> Result<(), StopReason> {
        let blank = || -> Outcome<()> {
            let directory = self.context.store_path()?;
            let directory = directory.parent().map(|path| path.join("partition-tables"));
            for device in &self.on.devices {
                let present = judge(self.context, device, self.may.busy_ok)?.present;
                if present.is_empty() {
                    continue;
                }
                let name = format!("{}-{}", device.name.replace('/', "!"), self.kept.id);
                let save = directory.as_ref().map(|path| path.join(&name));
                let save = save.map(|path| free_name(&path));
                erase(self.context, device, self.may, save.as_deref())?;
                if let Some(path) = save {
                    self.context.status(format!(
                        "The old table of {} is saved in {}.",
                        device.name,
                        path.as_text()
                    ));
                }
            }
            Ok(())
        };
        blank().map_err(StopReason::Failed)
    }

    fn wanted(&self, layout: usize) -> Outcome<LayoutSpec> {
        wish_of(&self.kept.plan, layout, &self.on)
    }

    fn layout(&mut self, place: PlaceInPass, layout: usize) -> Result<Vec<CellValue>, StopReason> {
        let wanted = self.wanted(layout).map_err(StopReason::Failed)?;
        let words = self.kept.plan.set.words(layout);
        let began_ns = self.context.now_ns();
        self.bar.update(
            self.context.now_ns() - self.started_ns,
            &format!("Pass {}: making {words}", place.pass + 1),
            None,
        );
        let devices = self.on.devices.clone();
        let (context, may) = (self.context, self.may);
        let workshop = LayoutBuilder {
            context,
            may,
            devices: &devices,
            slot: None,
        };
        let made = workshop.make(self.store, &self.kept.id, &words, &wanted)?;
        let making_ns = self.context.now_ns() - began_ns;
        let measured = self.cells(&made, &wanted, place, layout, making_ns);
        let undone = workshop
            .unmake(self.store, made)
            .map_err(StopReason::Failed);
        // Results do not count if remains are in the way.
        let values = measured?;
        undone.map(|()| values)
    }

    /// All layouts of a pass, each in its slot of this pass.
    fn side_by_side(
        &mut self,
        pass: u32,
        order: &[usize],
        plan: &SlotPlan,
        slots: Slots,
    ) -> Result<Values, StopReason> {
        let devices = self.on.devices.clone();
        let workshop = LayoutBuilder {
            context: self.context,
            may: self.may,
            devices: &devices,
            slot: None,
        };
        let slot_of = plan.of_pass(pass as usize);
        let wishes = (0..slot_of.len()).map(|layout| self.wanted(layout));
        let wishes = wishes
            .collect::<Outcome<Vec<_>>>()
            .map_err(StopReason::Failed)?;
        let mut by_slot: Vec<&LayoutSpec> = wishes.iter().collect();
        for (layout, slot) in slot_of.iter().enumerate() {
            by_slot[*slot] = &wishes[layout];
        }
        let rack = workshop.divide(self.store, &self.kept.id, slots, &by_slot)?;
        let mut standing = Vec::new();
        let measured = self.in_slots(
            (pass, order),
            &wishes,
            (slot_of, &rack),
            &workshop,
            &mut standing,
        );
        let mut undone = Ok(());
        for (slot, made) in standing {
            let parts = &rack.parts[slot];
            let inside = workshop.in_slot(slot, parts);
            undone = undone.and(inside.unmake(self.store, made));
        }
        // If a layout remains, `lab clean` removes all of it.
        let undone = undone.and_then(|()| workshop.clear(self.store, rack));
        match measured {
            Ok(values) => undone.map(|()| values).map_err(StopReason::Failed),
            Err(halt) => Err(with_undone(halt, undone)),
        }
    }

    /// Makes all layouts, then measures one after the other. Layouts made are in `standing`.
    fn in_slots(
        &mut self,
        (pass, order): (u32, &[usize]),
        wishes: &[LayoutSpec],
        (slot_of, rack): (&[usize], &SlotSet),
        workshop: &LayoutBuilder<'_>,
        standing: &mut Vec<(usize, MadeLayout)>,
    ) -> Result<Values, StopReason> {
        let mut making_ns = vec![0; wishes.len()];
        for &layout in order {
            let began_ns = self.context.now_ns();
            let words = self.kept.plan.set.words(layout);
            self.bar.update(
                began_ns - self.started_ns,
                &format!("Pass {}: making {words}", pass + 1),
                None,
            );
            let slot = slot_of[layout];
            let inside = workshop.in_slot(slot, &rack.parts[slot]);
            let made = inside.make(self.store, &self.kept.id, &words, &wishes[layout])?;
            standing.push((slot, made));
            making_ns[layout] = self.context.now_ns() - began_ns;
        }
        let mut values: Values = vec![None; wishes.len()];
        for (position, &layout) in order.iter().enumerate() {
            let (_, made) = &standing[position];
            let place = PlaceInPass {
                pass,
                position,
                layouts: order.len(),
            };
            let of_layout = self.cells(made, &wishes[layout], place, layout, making_ns[layout])?;
            values[layout] = Some(of_layout);
        }
        Ok(values)
    }

    fn cells(
        &mut self,
        made: &MadeLayout,
        wanted: &LayoutSpec,
        place: PlaceInPass,
        layout: usize,
        making_ns: u64,
    ) -> Result<Vec<CellValue>, StopReason> {
        let began_ns = self.context.now_ns();
        let path = made.path().as_text();
        let need = need(&self.kept.plan, self.on.size_bytes);
        let permissions = Permissions {
            // It was just made, and no other process sees it.
            busy_ok: true,
            ..Permissions::default()
        };
        let target = open_target(self.context, self.store, &path, &need, &permissions)
            .map_err(|failure| self.halted(failure))?;
        let opened = [target];
        let filling_ns = self.context.now_ns() - began_ns;
        let runs = self.runs(making_ns + filling_ns);
        let size_bytes = self.on.size_bytes;
        let mut bench = Bench {
            context: self.context,
            store: self.store,
            opened: &opened,
            kept: &self.kept,
            bar: &self.bar,
            started_ns: self.started_ns,
            how: &self.how,
            remarks: &mut self.remarks,
            pace: self.pace,
        };
        let fit = |workload: &Workload| fitted(workload, wanted, size_bytes);
        let values = bench.cells(place, layout, runs, &fit);
        let [target] = opened;
        target.finish().map_err(StopReason::Failed)?;
        values
    }

    fn halted(&self, failure: Failure) -> StopReason {
        match self.context.signal() {
            Some(_) => StopReason::Interrupted,
            None => StopReason::Failed(failure),
        }
    }

    /// Number of runs of each cell per making, determined once: makings and runs are assumed to
    /// scatter alike, since neither is known before there are some.
    fn runs(&mut self, making_ns: u64) -> u32 {
        let measuring_ns = self.kept.plan.layout_ns();
        let found = || runs_per_making(making_ns, measuring_ns, 1.0, 1.0);
        let runs = self.on.runs_per_making.unwrap_or_else(found);
        self.on.runs_per_making = Some(runs);
        self.kept.on_devices = Some(self.on.clone());
        runs
    }
}

/// The first of `NAME.json`, `NAME-2.json` ... that does not exist: a session that goes on with
/// an experiment may find what somebody else has put on the device since.
fn free_name(path: &Path) -> PathBuf {
    let named = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let others = (2_u32..).map(|session| named(&format!("-{session}.json")));
    std::iter::once(named(".json"))
        .chain(others)
        .find(|path| path.symlink_metadata().is_err())
        .unwrap_or_else(|| named(".json"))
}

/// The specification of a plan's layout.
///
/// # Errors
/// If a level is not valid.
pub fn wish_of(plan: &LayoutPlan, layout: usize, on: &OnDevices) -> Outcome<LayoutSpec> {
    let mut levels = on.fixed.clone();
    levels.extend(plan.set.levels(layout));
    LayoutSpec::of(&levels, &on.devices)
}

/// A workload adapted to a layout: with the options that it sets, on the same logical size.
///
/// # Errors
/// If an option is not valid.
pub fn fitted(workload: &Workload, wanted: &LayoutSpec, size_bytes: u64) -> Outcome<Workload> {
    let mut options = WorkloadOptions::default();
    for (option, text) in &wanted.options {
        options.set(option, text).map_err(|error| {
            let hint = error.hint().to_owned();
            Failure::usage(error.to_string(), hint)
        })?;
    }
    let given = Workload {
        size_bytes: Some(workload.size_bytes.unwrap_or(size_bytes).min(size_bytes)),
        ..workload.clone()
    };
    options
        .build(&given)
        .map_err(stripewise_conductor::measure::workload_failure)
}

/// The combined requirements of all cells on a test file.
fn need(plan: &LayoutPlan, size_bytes: u64) -> Needs {
    Needs {
        // The file is filled in any case.
        writes: true,
        size: Size::Exactly(size_bytes),
        ..requirements_of(&plan.cells, plan.seed)
    }
}

/// The devices of an experiment by name.
#[must_use]
pub fn names_of(devices: &[Identity]) -> String {
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    names.join(",")
}

impl PassMaker for RealPasses<'_> {
    type Error = StopReason;

    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, StopReason> {
        let slots = self.kept.plan.slots.clone().zip(self.on.slots);
        if let Some((plan, slots)) = slots {
            let values = self.side_by_side(pass, order, &plan, slots)?;
            return Ok(LayoutPass { values });
        }
        let mut values: Values = vec![None; self.kept.plan.set.len()];
        for (position, &layout) in order.iter().enumerate() {
            if self.context.signal().is_some() {
                return Err(StopReason::Interrupted);
            }
            let place = PlaceInPass {
                pass,
                position,
                layouts: order.len(),
            };
            values[layout] = Some(self.layout(place, layout)?);
        }
        Ok(LayoutPass { values })
    }

    fn elapsed_ns(&self) -> u64 {
        self.elapsed_before_ns + (self.context.now_ns() - self.started_ns)
    }

    fn after_pass(&mut self, progress: &PassProgress<'_>) -> Result<bool, StopReason> {
        self.kept.measured = progress.measured.clone();
        self.kept.remark(&self.remarks);
        self.kept.elapsed_ns = self.elapsed_ns();
        self.kept
            .keep(self.context, self.store)
            .map_err(StopReason::Failed)?;
        let made = progress.measured.passes.len();
        let passed_ns = self.context.now_ns() - self.started_ns;
        self.pace
            .after_pass(made, progress.passes_likely, passed_ns);
        show_pass(&self.bar, passed_ns, made, &self.pace);
        Ok(self.context.signal().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::free_name;

    #[test]
    fn a_saved_table_is_never_left_out_for_one_that_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("sdb-20261122-101112-abcd");
        let names = ["", "-2", "-3"].map(|end| format!("sdb-20261122-101112-abcd{end}.json"));
        for name in names {
            let free = free_name(&path);
            assert_eq!(free, directory.path().join(name));
            std::fs::write(free, b"{}").expect("written");
        }
    }
}
