//! Passes on real devices: every layout is made, its cells are measured on a test file
//! written in full, and it is removed before the next one is made in the same place. In
//! slots, all of them are made before the first is measured, and removed after the last.

use super::devices::{MayDestroy, erase, judge};
use super::make::{LayoutBuilder, MadeLayout, with_undone};
use super::slots::SlotSet;
use super::spec::LayoutSpec;
use crate::steps::experiment::runner::StopReason;
use crate::steps::layouts::divided::Slots;
use crate::steps::layouts::measured_cells::{requirements_of, with_options};
use crate::steps::layouts::runs::{Bench, PlaceInPass};
use crate::steps::layouts::stored_layouts::{OnDevices, StoredLayouts};
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::open_target;
use stripewise_disk_provision::Identity;
use stripewise_lab::layouts::{
    CellValue, LayoutPass, LayoutPlan, PassProgress, PassRunner, SlotPlan, runs_per_making,
};
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::NameText;
use stripewise_workload::Workload;

/// The values of the cells of each layout made.
type Values = Vec<Option<Vec<CellValue>>>;

/// Makes passes.
pub struct RealPasses<'a> {
    may: &'a MayDestroy,
    on: OnDevices,
    /// The runs.
    pub bench: Bench<'a>,
}

impl<'a> RealPasses<'a> {
    /// The final document, and the failure that did not void it.
    pub fn into_parts(self) -> (StoredLayouts, Option<Failure>) {
        self.bench.into_parts()
    }

    /// Before its first pass.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        stored: StoredLayouts,
        may: &'a MayDestroy,
    ) -> Self {
        RealPasses {
            may,
            on: stored.on_devices.clone().unwrap_or_default(),
            // The time for making layouts and filling their files is known after the first pass.
            bench: Bench::new(context, store, stored, "Making layouts", None),
        }
    }

    /// Erases the devices; their partition tables are saved first.
    pub fn begin(&self) -> Outcome<()> {
        let context = self.bench.context;
        let directory = context.store_path()?;
        let directory = directory.parent().map(|path| path.join("partition-tables"));
        for device in &self.on.devices {
            let present = judge(context, device, self.may.busy_ok)?.present;
            if present.is_empty() {
                continue;
            }
            let name = format!("{}-{}", device.name.replace('/', "!"), self.bench.stored.id);
            let save = directory.as_ref().map(|path| path.join(&name));
            let save = save.map(|path| unused_name(&path));
            erase(context, device, self.may, save.as_deref())?;
            if let Some(path) = save {
                context.status(format!(
                    "The old table of {} is saved in {}.",
                    device.name,
                    path.as_text()
                ));
            }
        }
        Ok(())
    }

    fn wanted(&self, layout: usize) -> Outcome<LayoutSpec> {
        spec_of(&self.bench.stored.plan, layout, &self.on)
    }

    /// Shows that a layout is being made in this pass; returns its words, and when that began.
    fn show_making(&self, pass: u32, layout: usize) -> (String, u64) {
        let words = self.bench.stored.plan.set.words(layout);
        let title = format!("Pass {}: making {words}", pass + 1);
        self.bench.bar.update(self.bench.passed_ns(), &title, None);
        (words, self.bench.context.now_ns())
    }

    fn layout(&mut self, place: PlaceInPass, layout: usize) -> Result<Vec<CellValue>, StopReason> {
        let wanted = self.wanted(layout)?;
        let (words, began_ns) = self.show_making(place.pass, layout);
        let devices = self.on.devices.clone();
        let (context, may) = (self.bench.context, self.may);
        let builder = LayoutBuilder {
            context,
            may,
            devices: &devices,
            slot: None,
        };
        let bench = &mut self.bench;
        let made = builder.make(bench.store, &bench.stored.id, &words, &wanted)?;
        let making_ns = context.now_ns() - began_ns;
        let measured = self.cells(&made, &wanted, place, layout, making_ns);
        let undone = builder.unmake(self.bench.store, made);
        // Results do not count if remains are in the way.
        let values = measured?;
        undone?;
        Ok(values)
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
        let builder = LayoutBuilder {
            context: self.bench.context,
            may: self.may,
            devices: &devices,
            slot: None,
        };
        let slot_of = plan.of_pass(pass as usize);
        let specs = (0..slot_of.len()).map(|layout| self.wanted(layout));
        let specs = specs.collect::<Outcome<Vec<_>>>()?;
        let mut by_slot: Vec<&LayoutSpec> = specs.iter().collect();
        for (layout, slot) in slot_of.iter().enumerate() {
            by_slot[*slot] = &specs[layout];
        }
        let bench = &mut self.bench;
        let rack = builder.divide(bench.store, &bench.stored.id, slots, &by_slot)?;
        let mut still_made = Vec::new();
        let measured = self.in_slots(
            (pass, order),
            &specs,
            (slot_of, &rack),
            &builder,
            &mut still_made,
        );
        let mut undone = Ok(());
        for (slot, made) in still_made {
            let parts = &rack.parts[slot];
            let inside = builder.in_slot(slot, parts);
            undone = undone.and(inside.unmake(self.bench.store, made));
        }
        // If a layout remains, `lab clean` removes all of it.
        let undone = undone.and_then(|()| builder.clear(self.bench.store, rack));
        let values = match measured {
            Ok(values) => values,
            Err(stop_reason) => return Err(with_undone(stop_reason, undone)),
        };
        // All of the pass was measured before: it counts, and is the last one.
        if let Err(failure) = undone {
            self.bench.late.get_or_insert(failure);
        }
        Ok(values)
    }

    /// Makes all layouts, then measures one after the other. Layouts made are in `still_made`.
    fn in_slots(
        &mut self,
        (pass, order): (u32, &[usize]),
        specs: &[LayoutSpec],
        (slot_of, rack): (&[usize], &SlotSet),
        builder: &LayoutBuilder<'_>,
        still_made: &mut Vec<(usize, MadeLayout)>,
    ) -> Result<Values, StopReason> {
        let mut making_ns = vec![0; specs.len()];
        for &layout in order {
            let (words, began_ns) = self.show_making(pass, layout);
            let slot = slot_of[layout];
            let inside = builder.in_slot(slot, &rack.parts[slot]);
            let bench = &mut self.bench;
            let made = inside.make(bench.store, &bench.stored.id, &words, &specs[layout])?;
            still_made.push((slot, made));
            making_ns[layout] = bench.context.now_ns() - began_ns;
        }
        let mut values: Values = vec![None; specs.len()];
        for (position, &layout) in order.iter().enumerate() {
            let (_, made) = &still_made[position];
            let place = PlaceInPass {
                pass,
                position,
                layouts: order.len(),
            };
            let of_layout = self.cells(made, &specs[layout], place, layout, making_ns[layout])?;
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
        let context = self.bench.context;
        let began_ns = context.now_ns();
        let path = made.path().as_text();
        let need = need(&self.bench.stored.plan, self.on.size_bytes);
        let permissions = Permissions {
            // It was just made, and no other process sees it.
            busy_ok: true,
            ..Permissions::default()
        };
        let opened = open_target(context, self.bench.store, &path, &need, &permissions);
        let opened = [opened.map_err(|failure| match context.signal() {
            Some(_) => StopReason::Interrupted,
            None => StopReason::Failed(failure),
        })?];
        let filling_ns = context.now_ns() - began_ns;
        let runs = self.runs(making_ns + filling_ns);
        let size_bytes = self.on.size_bytes;
        let fit = |workload: &Workload| fitted(workload, wanted, size_bytes);
        let values = self.bench.cells(&opened, place, layout, runs, &fit);
        let [target] = opened;
        // The file system that it is on is removed next.
        target.finish_or_report(context);
        values
    }

    /// Number of runs of each cell per making, determined once: makings and runs are assumed to
    /// scatter alike, since neither is known before there are some.
    fn runs(&mut self, making_ns: u64) -> u32 {
        let measuring_ns = self.bench.stored.plan.layout_ns();
        let found = || runs_per_making(making_ns, measuring_ns, 1.0, 1.0);
        let runs = self.on.runs_per_making.unwrap_or_else(found);
        self.on.runs_per_making = Some(runs);
        self.bench.stored.on_devices = Some(self.on.clone());
        runs
    }
}

/// The first of `NAME.json`, `NAME-2.json` ... that does not exist: a session that goes on with
/// an experiment may find what somebody else has put on the device since.
fn unused_name(path: &Path) -> PathBuf {
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
pub fn spec_of(plan: &LayoutPlan, layout: usize, on: &OnDevices) -> Outcome<LayoutSpec> {
    let mut levels = on.fixed.clone();
    levels.extend(plan.set.levels(layout));
    LayoutSpec::of(&levels, &on.devices)
}

/// A workload adapted to a layout: with the options that it sets, on the same logical size.
///
/// # Errors
/// If an option is not valid.
pub fn fitted(workload: &Workload, wanted: &LayoutSpec, size_bytes: u64) -> Outcome<Workload> {
    let given = Workload {
        size_bytes: Some(workload.size_bytes.unwrap_or(size_bytes).min(size_bytes)),
        ..workload.clone()
    };
    with_options(&wanted.options, &given)
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
pub fn names_of(devices: &[Identity]) -> String {
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    names.join(",")
}

impl PassRunner for RealPasses<'_> {
    type Error = StopReason;

    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, StopReason> {
        let slots = self.bench.stored.plan.slots.clone().zip(self.on.slots);
        if let Some((plan, slots)) = slots {
            let values = self.side_by_side(pass, order, &plan, slots)?;
            return Ok(LayoutPass { values });
        }
        let mut values: Values = vec![None; self.bench.stored.plan.set.len()];
        for (position, &layout) in order.iter().enumerate() {
            if self.bench.context.signal().is_some() {
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
        self.bench.elapsed_ns()
    }

    fn after_pass(&mut self, progress: &PassProgress<'_>) -> Result<bool, StopReason> {
        self.bench.after_pass(progress)
    }
}

#[cfg(test)]
mod tests {
    use super::unused_name;

    #[test]
    fn a_saved_table_is_never_left_out_for_one_that_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("sdb-20261122-101112-abcd");
        let names = ["", "-2", "-3"].map(|end| format!("sdb-20261122-101112-abcd{end}.json"));
        for name in names {
            let free = unused_name(&path);
            assert_eq!(free, directory.path().join(name));
            std::fs::write(free, b"{}").expect("written");
        }
    }
}
