//! A plan that names devices, on which layouts are made; or an existing target, on
//! which nothing is made.

use crate::steps::layouts::base::{PlacedExperiment, forecast_on_target, prepare_on_target};
use crate::steps::layouts::divided::Slots;
use crate::steps::layouts::plan::LayoutsRequest;
use crate::steps::layouts::real::devices::{MayDestroy, found};
use crate::steps::layouts::real::prepare::{lost, prepare_on_devices, report_losses};
use crate::steps::layouts::real::spec::sector_of;
use crate::steps::layouts::session::{LayoutsSession, announce, make_layouts};
use crate::steps::layouts::stored_layouts::StoredLayouts;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_lab::layouts::PASSES_MIN;
use stripewise_lab::plan_file::{LayoutsFile, cells_of};
use stripewise_results::LayoutLevels;
use stripewise_store::Store;
use stripewise_units::format_bytes;

/// Assumed sector size of targets that are not open yet; larger sectors are checked later.
const SECTOR_BYTES: u64 = 512;
/// Assumed rate of writing test files.
const FILL_BYTES_PER_S: u128 = 100 << 20;

/// Costs of an experiment in addition to the time of its cells.
pub struct Costs {
    /// Time to make one layout, as far as known.
    pub making_ns: u64,
    /// Bytes written to test files until a verdict.
    pub bytes_written: u64,
    /// A line for each device whose content would be lost.
    pub destroys: Vec<String>,
    /// Assumptions.
    pub notes: Vec<String>,
}

/// The experiment of a plan for an existing target, as far as it is known before opening
/// it, with its costs.
///
/// # Errors
/// If a factor cannot be varied without making layouts.
pub fn foreseen(
    context: &Context,
    store: &Store,
    file: &LayoutsFile,
) -> Outcome<(StoredLayouts, Costs)> {
    check_fixed(file)?;
    let (request, notes) = request(file, SECTOR_BYTES);
    let mut stored = forecast_on_target(context, store, &request)?;
    stored.notes = notes;
    let costs = Costs {
        making_ns: 0,
        bytes_written: file.size_bytes.unwrap_or(0),
        destroys: Vec::new(),
        notes: vec![
            "No layouts are made on an existing target. Cells that write need the same permission as `run`, and are left out without it."
                .to_owned(),
            match file.size_bytes {
                Some(_) => "In a directory a test file of that size is written first.",
                None => "In a directory a test file is written first, which is not in the bytes above: its size is found when the plan is carried out (`size` sets it).",
            }
            .to_owned(),
        ],
    };
    Ok((stored, costs))
}

/// Its costs; zero on simulated arrays.
///
/// # Errors
/// If a device has changed, or is in use.
pub fn costs(context: &Context, stored: &StoredLayouts) -> Outcome<Costs> {
    let Some(on) = &stored.on_devices else {
        return Ok(Costs {
            making_ns: 0,
            bytes_written: 0,
            destroys: Vec::new(),
            notes: vec!["Nothing is written to a disk: the array is simulated.".to_owned()],
        });
    };
    let making_ns = u128::from(on.size_bytes) * 1_000_000_000 / FILL_BYTES_PER_S;
    let layouts = stored.plan.set.len() as u64;
    let mut notes = vec![
        format!(
            "Times are those of test files of {} written at 100 MiB/s (assumed), and of the cells; making arrays and file systems comes on top.",
            format_bytes(on.size_bytes)
        ),
        "Bytes are those of the test files up to a verdict; what the cells write comes on top."
            .to_owned(),
    ];
    notes.extend(on.slots.map(Slots::words));
    Ok(Costs {
        making_ns: u64::try_from(making_ns).unwrap_or(u64::MAX),
        bytes_written: on
            .size_bytes
            .saturating_mul(layouts)
            .saturating_mul(u64::from(PASSES_MIN)),
        destroys: lost(context, on, true)?,
        notes,
    })
}

/// The experiment of a plan, not stored yet.
pub fn prepared(
    context: &Context,
    store: &Store,
    file: &LayoutsFile,
    may_be_unseen: bool,
) -> Outcome<StoredLayouts> {
    let sector = sector_of(&found(&file.devices)?);
    let (request, notes) = request(file, u64::from(sector));
    let (names, fixed) = (&file.devices, file.fixed.clone());
    let mut stored = prepare_on_devices(context, store, names, fixed, may_be_unseen, request)?;
    stored.notes = notes;
    Ok(stored)
}

/// The request of the file for a target with this sector size, and notes on it.
pub fn request(file: &LayoutsFile, sector_bytes: u64) -> (LayoutsRequest, Vec<String>) {
    let mut notes = Vec::new();
    let cells = match &file.profile {
        Some(profile) => {
            let mut profile = profile.clone();
            notes.extend(profile.fit_sector(sector_bytes));
            notes.extend(profile.notes.iter().cloned());
            cells_of(&profile)
        }
        None => file.cells.clone(),
    };
    let names: Vec<&str> = file.factors.iter().map(|one| one.name.as_str()).collect();
    let title = format!("{} on {}", names.join(" x "), file.target);
    let request = LayoutsRequest {
        part: "lab",
        title: file.name.clone().unwrap_or(title),
        target: file.target.clone(),
        profile: file.profile.as_ref().map(|profile| profile.name.clone()),
        factors: file.factors.clone(),
        cells,
        durations_given: file.duration_given,
        present: LayoutLevels::new(),
        margin_percent: file.margin_percent,
        passes_max: file.passes_max,
        time_ns: file.time_ns,
        size_bytes: file.size_bytes,
        seed: file.seed,
        label: file.label.clone(),
        slots: file.slots,
    };
    (request, notes)
}

/// Refuses fixed levels where no layouts are made.
fn check_fixed(file: &LayoutsFile) -> Outcome<()> {
    file.fixed.keys().next().map_or(Ok(()), |name| {
        Err(Failure::usage(
            format!(
                "[layout] fixes {name}, and nothing is made on {}",
                file.target
            ),
            "leave it out, or name devices = [...] to make layouts on",
        ))
    })
}

/// A plan for a target on which no layouts are made, and the target.
///
/// # Errors
/// If a factor cannot be varied without making layouts, or the target is refused.
pub fn on_target(
    context: &Context,
    store: &mut Store,
    file: &LayoutsFile,
    permissions: &Permissions,
) -> Outcome<PlacedExperiment> {
    check_fixed(file)?;
    let (request, notes) = request(file, SECTOR_BYTES);
    let mut on = prepare_on_target(context, store, permissions, request)?;
    on.stored.notes.extend(notes);
    Ok(on)
}

/// Carries it out.
///
/// # Errors
/// If it cannot begin; nothing was written then.
pub fn run(
    context: &Context,
    store: &mut Store,
    file: &LayoutsFile,
    may: &MayDestroy,
) -> Outcome<LayoutsSession> {
    let stored = prepared(context, store, file, may.busy_ok)?;
    report_losses(context, &stored, may)?;
    announce(context, &stored, false);
    make_layouts(context, store, stored, may)
}
