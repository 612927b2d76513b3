//! Advice on real targets. On devices that may be destroyed, layouts are made; any other
//! target is measured as it is, with only base offsets varied.

use super::slack_space::{slack_note, slack_of_files, units_of};
use super::{AdviseOptions, MIB, OFFSET_63_SECTORS, factor_of, request};
use crate::steps::array_facts::{ArrayFacts, of_disk};
use crate::steps::layouts::base::prepare_on_target;
use crate::steps::layouts::commands::LayoutSite;
use crate::steps::layouts::plan::LayoutsRequest;
use crate::steps::layouts::real::devices::{MayDestroy, found, judge};
use crate::steps::layouts::real::passes::names_of;
use crate::steps::layouts::real::prepare::{NOT_MEASURED, prepare_on_devices, report_losses};
use crate::steps::layouts::real::spec::sector_of;
use crate::steps::layouts::session::{LayoutsSession, announce, make_layouts, measure_on_target};
use crate::steps::layouts::stored_layouts::{LayoutPlace, StoredLayouts};
use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::lacks_permission_to_write;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_disk_provision::Identity;
use stripewise_lab::layouts::{
    Factor, LayoutPlan, LayoutSet, PassesEnded, Unmeasured, by_arithmetic,
};
use stripewise_results::LayoutLevels;
use stripewise_store::Store;
use stripewise_units::{ByteSize, path_of};

const SECTOR_BYTES: u64 = 512;

pub fn advise(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    permissions: &Permissions,
) -> Outcome<LayoutsSession> {
    let may = MayDestroy::of(permissions);
    match may.names.is_empty() {
        true => on_target(context, store, options, permissions),
        false => on_devices(context, store, options, &may),
    }
}

/// The proposed factors, replaced by those that the user names.
fn with_request(mut factors: Vec<Factor>, options: &AdviseOptions) -> Vec<Factor> {
    for requested in &options.vary {
        factors.retain(|factor| factor.name != requested.name);
        factors.push(requested.clone());
    }
    factors
}

/// The devices in a target name, separated by commas.
fn named(target: &str) -> Vec<String> {
    let names = target.split(',');
    names.map(|name| name.trim().to_owned()).collect()
}

/// Makes layouts on the devices that the target names.
fn on_devices(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    may: &MayDestroy,
) -> Outcome<LayoutsSession> {
    let names = named(&options.target);
    let devices = found(&names)?;
    let (start, known) = match devices.as_slice() {
        [device] => (
            start_on(context, device, may),
            of_disk(context, &device.name),
        ),
        _ => (None, None),
    };
    let aligned = known.as_ref().and_then(ArrayFacts::aligned_bytes);
    let sector = u64::from(sector_of(&devices));
    let factors = with_request(proposed(devices.len(), start, aligned), options);
    let (mut requested, notes) = request(options, factors, sector);
    if let (Some(start), [only]) = (start, requested.factors.as_slice()) {
        // The present levels of other factors are unknown.
        let level = only
            .levels
            .iter()
            .find(|level| level.parse().map(ByteSize::bytes) == Ok(start));
        requested
            .present
            .extend(level.map(|level| (only.name.clone(), level.clone())));
    }
    let fixed = LayoutLevels::new();
    let mut stored = prepare_on_devices(context, store, &names, fixed, may.busy_ok, requested)?;
    stored.notes = notes;
    stored
        .notes
        .extend(known.and_then(|known| known.measured_note()));
    stored.notes.push(slack_note(&units_of(&options.vary)));
    if stored.plan.present.is_some() {
        stored.not_tried.retain(|line| line != NOT_MEASURED);
        stored.notes.push(
            "The present layout is where the first partition starts now; it is made again with a file system as all layouts have it."
                .to_owned(),
        );
    }
    let varied = |name: &str| stored.plan.set.factors.iter().any(|one| one.name == name);
    let more: Vec<String> = [
        ("raid", "raid10,raid5"),
        ("file-system", "ext4,xfs"),
        ("allocation-unit", "4K,64K"),
    ]
    .into_iter()
    .filter(|(name, _)| !varied(name) && (*name != "raid" || devices.len() > 1))
    .map(|(name, levels)| format!("{}: --vary {name}={levels}", name.replace('-', " ")))
    .collect();
    stored.not_tried.extend(more);
    report_losses(context, &stored, may)?;
    announce(context, &stored, false);
    make_layouts(context, store, stored, may)
}

/// Start of the only partition of a device.
fn start_on(context: &Context, device: &Identity, may: &MayDestroy) -> Option<u64> {
    let plan = judge(context, device, may.busy_ok).ok()?;
    let [partition] = plan.present.partitions.as_slice() else {
        return None;
    };
    let fits = partition
        .start_bytes
        .is_multiple_of(u64::from(device.logical_sector_bytes));
    fits.then_some(partition.start_bytes)
}

/// Measures the target as it is.
fn on_target(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    permissions: &Permissions,
) -> Outcome<LayoutsSession> {
    if options.target.contains(',') && !path_of(&options.target).exists() {
        return on_named_devices(context, store, options);
    }
    let path = path_of(&options.target);
    let known = known_of(context, &path);
    let aligned = known.as_ref().and_then(ArrayFacts::aligned_bytes);
    let proposed = offsets_from(start_of(&path), aligned);
    let (requested, mut notes) =
        request(options, with_request(vec![proposed], options), SECTOR_BYTES);
    notes.extend(known.as_ref().and_then(ArrayFacts::measured_note));
    let mut on = match prepare_on_target(context, store, permissions, requested.clone()) {
        Err(failure) if lacks_permission_to_write(&failure) => {
            let place = Unmeasurable {
                is_several: false,
                units: units_of(&options.vary),
                start_bytes: start_of(&path),
                units_lie: units_of_disk(&path, known.as_ref()),
                because: failure.error.to_string(),
                not_tried:
                    "any run: all cells write (--overwrite for a file, --destroy for a device)"
                        .to_owned(),
            };
            return unmeasured(context, store, requested, notes, place);
        }
        prepared => prepared?,
    };
    on.stored.notes.extend(notes);
    on.stored.notes.push(slack_note(&units_of(&options.vary)));
    on.stored
        .notes
        .extend(slack_of_files(context, &path, &units_of(&options.vary)));
    announce(context, &on.stored, false);
    measure_on_target(context, store, on)
}

/// Several devices without permission: their combined layout is not made, so there is
/// nothing to measure.
fn on_named_devices(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
) -> Outcome<LayoutsSession> {
    let names = named(&options.target);
    let devices = found(&names)?;
    let sector = u64::from(sector_of(&devices));
    let (requested, notes) = request(
        options,
        with_request(proposed(devices.len(), None, None), options),
        sector,
    );
    let place = Unmeasurable {
        is_several: devices.len() > 1,
        units: units_of(&options.vary),
        start_bytes: None,
        units_lie: None,
        because: "several devices are measured by making layouts on them, which needs --destroy"
            .to_owned(),
        not_tried: format!(
            "any run: all data on the devices would be lost; if that is meant, give --destroy {}",
            names_of(&devices)
        ),
    };
    unmeasured(context, store, requested, notes, place)
}

/// A target on which nothing can be measured.
struct Unmeasurable {
    is_several: bool,
    /// Allocation units to report on.
    units: Vec<u64>,
    start_bytes: Option<u64>,
    /// Bytes of a stripe unit, 0: not striped; and where one begins. `None`: not known.
    units_lie: Option<(u64, u64)>,
    because: String,
    not_tried: String,
}

/// The results of arithmetic alone.
fn unmeasured(
    context: &Context,
    store: &mut Store,
    requested: LayoutsRequest,
    notes: Vec<String>,
    place: Unmeasurable,
) -> Outcome<LayoutsSession> {
    let set = LayoutSet::full(requested.factors.clone(), |_| None)?;
    let present = place.start_bytes.and_then(|start| {
        let levels = LayoutLevels::from([("offset".to_owned(), ByteSize(start).to_string())]);
        set.position(&levels)
    });
    let plan = LayoutPlan {
        present,
        time_budget_ns: None,
        ..requested.plan(set)
    };
    let record = by_arithmetic(&Unmeasured {
        title: &plan.title,
        target: &requested.target,
        profile: plan.profile.as_deref(),
        set: &plan.set,
        cells: &plan.cells,
        present,
        unit_bytes: place.units_lie.map(|(unit, _)| unit),
        first_unit_bytes: place.units_lie.map_or(0, |(_, first)| first),
        margin_percent: plan.margin_percent,
        because: &place.because,
    });
    let as_it_is = LayoutPlace {
        target: requested.target.clone(),
        ..LayoutPlace::default()
    };
    let places = vec![as_it_is; plan.set.len()];
    let mut stored = StoredLayouts::new(
        context,
        store,
        requested.part,
        &requested.target,
        plan,
        places,
    )?;
    stored.label = requested.label;
    stored.unmeasured = Some(Box::new(record));
    stored.ended = Some(PassesEnded::PassesMax);
    stored.notes = notes;
    stored.notes.push(slack_note(&place.units));
    stored.not_tried = vec![place.not_tried];
    // How several devices are to be combined is not known.
    stored.ground = (!place.is_several).then(|| LayoutSite {
        disks: 1,
        data_disks: 1,
        offset_bytes: place.start_bytes.unwrap_or(MIB),
        ..LayoutSite::default()
    });
    let ended = stored.keep(context, store);
    Ok(LayoutsSession {
        stored,
        is_stored: ended.is_ok(),
        ended,
    })
}

/// Start of the partition that contains a path.
fn start_of(path: &Path) -> Option<u64> {
    let storage = System::live().storage_of_path(path).ok()?;
    storage.offset.map(|offset| offset.bytes)
}

/// The stripe unit below a path and where the first one begins on the disk; a unit of 0
/// if its disk is not an array.
fn units_of_disk(path: &Path, known: Option<&ArrayFacts>) -> Option<(u64, u64)> {
    let storage = System::live().storage_of_path(path).ok()?;
    let layers = storage.layers();
    if let Some(array) = layers.iter().find_map(|device| device.array.as_ref()) {
        return Some((array.stripe_unit_bytes.unwrap_or(0), 0));
    }
    let facts = known?;
    let first = facts
        .measured
        .as_ref()
        .map_or(0, |one| one.first_unit_bytes);
    Some((facts.stripe_unit_bytes?, first))
}

/// Known facts about the disk that contains a path.
fn known_of(context: &Context, path: &Path) -> Option<ArrayFacts> {
    let storage = System::live().storage_of_path(path).ok()?;
    of_disk(context, &storage.offset?.disk)
}

/// The partition's present offset, one aligned with measured units, 1 MiB, and
/// sector 63.
fn offsets_from(start: Option<u64>, aligned: Option<u64>) -> Factor {
    let usual = [MIB, OFFSET_63_SECTORS];
    factor_of("offset", start.into_iter().chain(aligned).chain(usual))
}

/// Layouts worth trying on this many devices: for one, also its partition's present offset and
/// one aligned with measured units.
fn proposed(devices: usize, start: Option<u64>, aligned: Option<u64>) -> Vec<Factor> {
    let mut proposed = vec![offsets_from(start, aligned)];
    if devices > 2 {
        let units = [512 << 10, 64 << 10, 256 << 10];
        proposed.push(factor_of("stripe-unit", units));
    }
    proposed
}
