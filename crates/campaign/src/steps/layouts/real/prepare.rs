//! From the request to a plan on real devices: anything refusable is refused
//! here, before the first byte.

use super::devices::{MayDestroy, check_named, check_same, found, judge, node, words};
use super::passes::{fitted, names_of, spec_of};
use super::slots::parts;
use super::spec::{LayoutSpec, alike, check_factor, sector_of, size_for};
use crate::steps::layouts::commands::LayoutSite;
use crate::steps::layouts::divided::Slots;
use crate::steps::layouts::plan::{LayoutsRequest, full_set, slots_of};
use crate::steps::layouts::stored_layouts::{LayoutPlace, OnDevices, StoredLayouts};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_provision::{ArrayOptions, Extent, Identity, plan_array, plan_division};
use stripewise_lab::layouts::{LayoutPlan, LayoutSet};
use stripewise_results::LayoutLevels;
use stripewise_store::Store;
use stripewise_units::format_bytes;
use stripewise_workload::{TargetLimits, validate};

/// Default duration and ramp of a run.
const DURATION_NS: u64 = 5_000_000_000;
const RAMP_NS: u64 = 1_000_000_000;

/// The present layout is not among those that are made.
pub const NOT_MEASURED: &str = "what is on the devices now: its layout is not measured";

/// The experiment, not stored yet. Only examines the devices.
///
/// # Errors
/// If a device, a factor, a level or a cell is not possible, or a device is in use.
pub fn prepare_on_devices(
    context: &Context,
    store: &Store,
    names: &[String],
    fixed: LayoutLevels,
    may_be_unseen: bool,
    request: LayoutsRequest,
) -> Outcome<StoredLayouts> {
    let devices = found(names)?;
    check_factors(&request, &fixed, &devices)?;
    let set = set_of(&request, &fixed, &devices)?;
    for device in &devices {
        judge(context, device, may_be_unseen)?;
    }
    let mut on = OnDevices {
        devices,
        fixed,
        ..OnDevices::default()
    };
    let mut plan = request.plan(set);
    plan.check()?;
    let layouts = (0..plan.set.len())
        .map(|layout| Ok((plan.set.words(layout), spec_of(&plan, layout, &on)?)))
        .collect::<Outcome<Vec<(String, LayoutSpec)>>>()?;
    if request.slots {
        plan.slots = Some(slots_of(&plan)?);
        on.slots = Some(Slots::of(&on.devices, layouts.len()));
    }
    on.size_bytes = size_for(&layouts, &on.devices, request.size_bytes, on.slots)?;
    check_divisible(context, &layouts, &on)?;
    check_tools(context, &layouts, &on)?;
    if !request.durations_given {
        for cell in &mut plan.cells {
            cell.workload.duration_ns = DURATION_NS;
            cell.workload.ramp_ns = RAMP_NS;
        }
    }
    check_cells(&plan, &layouts, &on)?;
    let places = layouts.iter().map(|(_, wanted)| LayoutPlace {
        target: names_of(&on.devices),
        options: wanted.options.clone(),
        base_offset_bytes: None,
    });
    let places = places.collect();
    let target = names_of(&on.devices);
    let mut stored = StoredLayouts::new(context, store, request.part, &target, plan, places)?;
    stored.label = request.label;
    stored.ground = layouts.first().map(|(_, wanted)| site(wanted, &on.devices));
    stored.on_devices = Some(on);
    stored.not_tried = vec![
        "ageing: every file system is fresh".to_owned(),
        NOT_MEASURED.to_owned(),
    ];
    Ok(stored)
}

fn check_factors(
    request: &LayoutsRequest,
    fixed: &LayoutLevels,
    devices: &[Identity],
) -> Outcome<()> {
    for name in request
        .factors
        .iter()
        .map(|factor| &factor.name)
        .chain(fixed.keys())
    {
        check_factor(name)?;
    }
    for factor in &request.factors {
        if fixed.contains_key(&factor.name) {
            return Err(Failure::usage(
                format!("{} is both varied and fixed", factor.name),
                "leave it out of [factors] or out of [layout]",
            ));
        }
        // A single level, or a duplicate, gets a better error from the set.
        if factor.levels.len() < 2 {
            continue;
        }
        if let Some((one, other)) = alike(fixed, factor, devices)?
            && one != other
        {
            return Err(Failure::usage(
                format!(
                    "the levels {one} and {other} of {} make no difference here",
                    factor.name
                ),
                "leave one of them out",
            ));
        }
    }
    Ok(())
}

fn set_of(
    request: &LayoutsRequest,
    fixed: &LayoutLevels,
    devices: &[Identity],
) -> Outcome<LayoutSet> {
    full_set(request.factors.clone(), |levels| {
        let mut all = fixed.clone();
        all.extend(levels.clone());
        Ok(LayoutSpec::of(&all, devices)?.cannot(devices))
    })
}

/// Checks that devices can have the tables they get: tables belong on whole disks, and without
/// slots only a layout without an array has one of its own.
fn check_divisible(
    context: &Context,
    layouts: &[(String, LayoutSpec)],
    on: &OnDevices,
) -> Outcome<()> {
    let store = context.store_path()?;
    let specs: Vec<&LayoutSpec> = layouts.iter().map(|(_, wanted)| wanted).collect();
    for (index, device) in on.devices.iter().enumerate() {
        let extents = match on.slots {
            Some(slots) => parts(slots, index, &specs),
            None => (specs
                .iter()
                .filter(|wanted| index == 0 && wanted.raid.is_none()))
            .take(1)
            .map(|wanted| Extent {
                start_bytes: wanted.offset_bytes,
                size_bytes: 1 << 20,
            })
            .collect(),
        };
        if !extents.is_empty() {
            plan_division(&check_same(device)?, &extents, Some(&store))?;
        }
    }
    Ok(())
}

/// Checks that mdadm is available if arrays are made.
fn check_tools(context: &Context, layouts: &[(String, LayoutSpec)], on: &OnDevices) -> Outcome<()> {
    let mismatched = layouts
        .iter()
        .find_map(|(_, wanted)| Some((wanted, wanted.raid?)));
    let Some((wanted, level)) = mismatched else {
        return Ok(());
    };
    let paths: Vec<_> = on.devices[..wanted.devices]
        .iter()
        .map(|device| node(&device.name))
        .collect();
    let request = ArrayOptions {
        level,
        stripe_unit_bytes: wanted.stripe_unit_bytes,
        uuid: [0; 16],
    };
    let store = context.store_path()?;
    plan_array(&paths, &request, Some(&store))
        .map(drop)
        .map_err(Failure::from)
}

/// Checks that every cell fits every layout.
fn check_cells(plan: &LayoutPlan, layouts: &[(String, LayoutSpec)], on: &OnDevices) -> Outcome<()> {
    let limits = TargetLimits {
        size_bytes: on.size_bytes,
        logical_sector_bytes: sector_of(&on.devices),
    };
    for (_, wanted) in layouts {
        for cell in &plan.cells {
            let workload = fitted(&cell.workload, wanted, on.size_bytes)?;
            validate(&workload, limits)?;
        }
    }
    Ok(())
}

/// The site for the commands that make the choice.
fn site(wanted: &LayoutSpec, devices: &[Identity]) -> LayoutSite {
    let level = wanted
        .raid
        .map(|level| level.name().replacen("raid", "", 1));
    LayoutSite {
        data_disks: wanted
            .raid
            .map_or(1, |level| u64::from(level.data_disks(wanted.devices))),
        level,
        disks: wanted.devices as u64,
        stripe_unit_bytes: wanted.stripe_unit_bytes,
        offset_bytes: wanted.offset_bytes,
        devices: devices.iter().map(|device| device.name.clone()).collect(),
        file_system: Some(wanted.file_system.name().to_owned()),
    }
}

/// Reports what will be lost, after checking the permission.
///
/// # Errors
/// If a device was not named by `--destroy`, has changed, or is in use.
pub fn report_losses(context: &Context, stored: &StoredLayouts, may: &MayDestroy) -> Outcome<()> {
    let Some(on) = &stored.on_devices else {
        return Ok(());
    };
    check_named(&on.devices, may)?;
    for line in lost(context, on, may.busy_ok)? {
        context.plan(format!("{line}. ALL OF IT IS LOST."));
    }
    if let Some(slots) = on.slots {
        context.plan(slots.words());
    }
    context.plan(format!(
        "Every layout gets a test file of {}, written in full.",
        format_bytes(on.size_bytes)
    ));
    Ok(())
}

/// One line per device with its content.
///
/// # Errors
/// If one has changed, or is in use.
pub fn lost(context: &Context, on: &OnDevices, may_be_unseen: bool) -> Outcome<Vec<String>> {
    let line = |device: &Identity| {
        let plan = judge(context, device, may_be_unseen)?;
        Ok(words(device, &plan.present))
    };
    on.devices.iter().map(line).collect()
}
