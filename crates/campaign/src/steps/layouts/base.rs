//! Layouts on an existing target: a directory, a file or a device on which no layout is
//! made. Only base offsets and options of workloads can vary: partition
//! offsets become base offsets, corrected for the target's start, as in `align`.

use super::commands::LayoutSite;
use super::measured_cells::{requirements_of, with_options};
use super::plan::{LayoutsRequest, refuse_slots};
use super::real::spec::is_option;
use super::runs::{Bench, PlaceInPass};
use super::stored_layouts::{LayoutPlace, StoredLayouts};
use crate::steps::experiment::runner::StopReason;
use crate::steps::experiment::target_range::find;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, lacks_permission_to_write, open_target};
use stripewise_lab::layouts::{
    CellValue, Factor, LayoutCell, LayoutPass, LayoutPlan, LayoutSet, PassProgress, PassRunner,
};
use stripewise_lab::offsets::{UsableRange, shift};
use stripewise_results::LayoutLevels;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::ByteSize;
use stripewise_workload::{Workload, validate};

const SECOND_NS: u64 = 1_000_000_000;

/// An experiment on an existing target, and the target.
pub struct PlacedExperiment {
    /// Not stored yet.
    pub stored: StoredLayouts,
    /// Open; the caller finishes it.
    pub opened: OpenTarget,
}

/// Opens the target and places the layouts on it.
///
/// # Errors
/// If a factor cannot be varied without making layouts, or the target is refused.
pub fn prepare_on_target(
    context: &Context,
    store: &mut Store,
    permissions: &Permissions,
    request: LayoutsRequest,
) -> Outcome<PlacedExperiment> {
    let set = set_of(&request)?;
    let mut notes = Vec::new();
    let mut cells = request.cells.clone();
    let opened = open(
        context,
        store,
        &request.target,
        request.size_bytes,
        permissions,
        &mut cells,
        &mut notes,
    )?;
    let blocks = cells.iter().map(|cell| cell.workload.block_size_bytes);
    let block_bytes = blocks.max().unwrap_or(8 << 10);
    let found = find(
        context,
        &opened,
        &request.target,
        block_bytes,
        request.size_bytes,
    );
    notes.extend(found.place.notes.iter().cloned());
    let (bases, size_bytes) = bases_of(&set, &found.usable)?;
    let present = present(&set, found.place.start_bytes);
    let request = LayoutsRequest { cells, ..request };
    let mut plan = plan_of(&request, set, present)?;
    for cell in &mut plan.cells {
        let size = cell.workload.size_bytes.unwrap_or(size_bytes);
        cell.workload.size_bytes = Some(size.min(size_bytes));
    }
    let places = places_of(&plan.set, &request.target, &bases);
    check_fit(&plan, &places, &opened)?;
    let mut stored =
        StoredLayouts::new(context, store, request.part, &request.target, plan, places)?;
    stored.label = request.label;
    stored.notes = notes;
    stored.ground = Some(LayoutSite {
        disks: 1,
        data_disks: 1,
        offset_bytes: found.place.start_bytes.unwrap_or(1 << 20),
        ..LayoutSite::default()
    });
    stored.not_tried = vec![
        "stripe units, RAID levels, file systems and allocation units: nothing is made here (devices with --destroy)".to_owned(),
        "ageing: nothing was aged".to_owned(),
    ];
    Ok(PlacedExperiment { stored, opened })
}

/// The predicted experiment, without opening the target.
///
/// # Errors
/// If a factor cannot be varied without making layouts.
pub fn forecast_on_target(
    context: &Context,
    store: &Store,
    request: &LayoutsRequest,
) -> Outcome<StoredLayouts> {
    let plan = plan_of(request, set_of(request)?, None)?;
    let places = places_of(&plan.set, &request.target, &[]);
    StoredLayouts::new(context, store, request.part, &request.target, plan, places)
}

fn set_of(request: &LayoutsRequest) -> Outcome<LayoutSet> {
    let why = "nothing is made on it, so there is no making to save";
    refuse_slots(request, why)?;
    request.factors.iter().try_for_each(check)?;
    LayoutSet::full(request.factors.clone(), |_| None).map_err(Failure::from)
}

fn plan_of(
    request: &LayoutsRequest,
    set: LayoutSet,
    present: Option<usize>,
) -> Outcome<LayoutPlan> {
    let mut plan = LayoutPlan {
        present,
        ..request.plan(set)
    };
    if !request.durations_given {
        for cell in &mut plan.cells {
            cell.workload.duration_ns = SECOND_NS;
            cell.workload.ramp_ns = SECOND_NS / 10;
        }
    }
    plan.check()?;
    Ok(plan)
}

fn places_of(set: &LayoutSet, target: &str, bases: &[u64]) -> Vec<LayoutPlace> {
    let place = |layout: usize| LayoutPlace {
        target: target.to_owned(),
        options: options_of(&set.levels(layout)),
        base_offset_bytes: bases.get(layout).copied(),
    };
    (0..set.len()).map(place).collect()
}

/// Checks that every cell fits the target on every layout.
fn check_fit(plan: &LayoutPlan, places: &[LayoutPlace], opened: &OpenTarget) -> Outcome<()> {
    for place in places {
        for cell in &plan.cells {
            let workload = placed(&cell.workload, place)?;
            validate(&workload, opened.limits())?;
        }
    }
    Ok(())
}

fn check(factor: &Factor) -> Outcome<()> {
    if factor.name == "offset" || is_option(&factor.name) {
        return Ok(());
    }
    super::real::spec::check_factor(&factor.name)?;
    Err(Failure::usage(
        format!(
            "{} cannot be varied on a target that is there: it is as it is",
            factor.name
        ),
        "leave it out, or name devices that layouts may be made on, with --destroy",
    ))
}

/// Opens the target for the requirements of the cells; leaves out cells that write if writing is
/// not permitted.
fn open(
    context: &Context,
    store: &mut Store,
    target: &str,
    size_bytes: Option<u64>,
    permissions: &Permissions,
    cells: &mut Vec<LayoutCell>,
    notes: &mut Vec<String>,
) -> Outcome<OpenTarget> {
    let requirements = |cells: &[LayoutCell]| Needs {
        size: size_bytes.map_or(Size::Auto, Size::Exactly),
        fill_time_limit_ns: size_bytes.is_none().then_some(25 * SECOND_NS),
        ..requirements_of(cells, Workload::SEED)
    };
    let opened = open_target(context, store, target, &requirements(cells), permissions);
    match opened {
        Err(failure) if lacks_permission_to_write(&failure) => {
            let all = cells.len();
            cells.retain(|cell| cell.workload.read_percent == 100);
            if cells.is_empty() {
                return Err(failure);
            }
            notes.push(format!(
                "{} of {all} cells write and were left out: writing was not permitted. The mix is that of the others.",
                all - cells.len()
            ));
            open_target(context, store, target, &requirements(cells), permissions)
        }
        opened => opened,
    }
}

/// The base offset of each layout, and their common size in bytes. If the offset
/// is not varied, operations begin at the start of the target.
fn bases_of(set: &LayoutSet, usable: &UsableRange) -> Outcome<(Vec<u64>, u64)> {
    let Some(factor) = set.factors.iter().find(|factor| factor.name == "offset") else {
        let size_bytes = usable.end_bytes - usable.from_bytes;
        return Ok((vec![usable.from_bytes; set.len()], size_bytes));
    };
    let parsed = |text: &String| {
        let size: Result<ByteSize, _> = text.parse();
        size.map(ByteSize::bytes)
            .map_err(|error| Failure::usage(format!("offset {text}: {error}"), error.hint()))
    };
    let offsets = factor.levels.iter().map(parsed);
    let offsets = offsets.collect::<Outcome<Vec<u64>>>()?;
    let shifted = shift(usable, &offsets)?;
    let base = |layout: usize| {
        let level = set.levels(layout).get("offset").cloned();
        let place = factor
            .levels
            .iter()
            .position(|one| Some(one) == level.as_ref());
        shifted.base_offsets_bytes[place.unwrap_or(0)]
    };
    Ok(((0..set.len()).map(base).collect(), shifted.size_bytes))
}

/// The present layout: the target's start, if it is one of the levels and
/// the only factor.
fn present(set: &LayoutSet, start_bytes: Option<u64>) -> Option<usize> {
    let start = start_bytes?;
    let only = set.factors.len() == 1 && set.factors[0].name == "offset";
    let is_it = |layout: &usize| {
        let levels = set.levels(*layout);
        let level: Option<ByteSize> = levels.get("offset").and_then(|text| text.parse().ok());
        level.map(ByteSize::bytes) == Some(start)
    };
    only.then(|| (0..set.len()).find(is_it)).flatten()
}

fn options_of(levels: &LayoutLevels) -> Vec<(String, String)> {
    let options = levels.iter().filter(|(name, _)| name.as_str() != "offset");
    options
        .map(|(name, level)| (name.clone(), level.clone()))
        .collect()
}

/// A workload adapted to a layout.
fn placed(workload: &Workload, place: &LayoutPlace) -> Outcome<Workload> {
    let given = Workload {
        base_offset_bytes: place.base_offset_bytes.unwrap_or(0),
        ..workload.clone()
    };
    with_options(&place.options, &given)
}

/// Makes passes on an existing target.
pub struct TargetPasses<'a> {
    opened: &'a [OpenTarget],
    /// The runs.
    pub bench: Bench<'a>,
}

impl<'a> TargetPasses<'a> {
    /// The final document, and the failure that did not void it.
    pub fn into_parts(self) -> (StoredLayouts, Option<Failure>) {
        self.bench.into_parts()
    }

    /// Before its first pass.
    pub fn new(
        context: &'a Context,
        store: &'a mut Store,
        opened: &'a [OpenTarget],
        stored: StoredLayouts,
    ) -> Self {
        // No layouts are made, so a pass takes as long as its runs.
        let pass_ns = Some(stored.plan.pass_ns());
        TargetPasses {
            opened,
            bench: Bench::new(context, store, stored, "Measuring", pass_ns),
        }
    }
}

impl PassRunner for TargetPasses<'_> {
    type Error = StopReason;

    fn pass(&mut self, pass: u32, order: &[usize]) -> Result<LayoutPass, StopReason> {
        let layouts = self.bench.stored.plan.set.len();
        let mut values: Vec<Option<Vec<CellValue>>> = vec![None; layouts];
        for (position, &layout) in order.iter().enumerate() {
            let place = self.bench.stored.places[layout].clone();
            let fit = |workload: &Workload| placed(workload, &place);
            let at = PlaceInPass {
                pass,
                position,
                layouts: order.len(),
            };
            let of_layout = self.bench.cells(self.opened, at, layout, 1, &fit)?;
            values[layout] = Some(of_layout);
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
