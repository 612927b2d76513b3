//! Advice on real targets. Devices that may be destroyed get layouts made on them; anything
//! else is measured as it is, where only base offsets can differ.

use super::{AdviseOptions, Advised, sentence, waste_note};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::permissions::Permissions;
use crate::steps::layouts::base::prepare_on_target;
use crate::steps::layouts::plan::Asked;
use crate::steps::layouts::real::devices::{MayDestroy, found};
use crate::steps::layouts::real::prepare::{prepare_on_devices, say_what_is_lost};
use crate::steps::layouts::real::wish::sector_of;
use crate::steps::layouts::sitting::{announce, make_layouts, measure_on_target};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_lab::layouts::Factor;
use stripewise_lab::plan_file::cells_of;
use stripewise_results::LayoutLevels;
use stripewise_store::Store;
use stripewise_units::{ByteSize, path_of};

const MIB: u64 = 1 << 20;
const OFFSET_63_SECTORS: u64 = 63 * 512;
const SECTOR_BYTES: u64 = 512;

pub fn advise(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    permissions: &Permissions,
) -> Outcome<Advised> {
    let may = MayDestroy::of(permissions);
    match may.names.is_empty() {
        true => on_target(context, store, options, permissions),
        false => on_devices(context, store, options, &may),
    }
}

fn factor(name: &str, levels: &[&str]) -> Factor {
    Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
    }
}

/// The proposed factors, with those that the user names in their place.
fn with_asked(mut factors: Vec<Factor>, options: &AdviseOptions) -> Vec<Factor> {
    for asked in &options.vary {
        factors.retain(|factor| factor.name != asked.name);
        factors.push(asked.clone());
    }
    factors
}

fn asked(options: &AdviseOptions, factors: Vec<Factor>, sector_bytes: u64) -> (Asked, Vec<String>) {
    let mut profile = options.profile.clone();
    let mut notes = profile.fit_sector(sector_bytes);
    notes.extend(profile.notes.iter().map(|note| sentence(note)));
    let asked = Asked {
        part: "advise",
        title: format!("Layout of {} for {}", options.target, profile.name),
        target: options.target.clone(),
        profile: Some(profile.name.clone()),
        factors,
        cells: cells_of(&profile),
        durations_given: false,
        present: LayoutLevels::new(),
        margin_percent: Some(options.margin_percent),
        passes_max: options.passes_max,
        time_ns: options.time_ns,
        size_bytes: options.size_bytes,
        seed: Some(options.seed),
        label: options.label.clone(),
    };
    (asked, notes)
}

/// Layouts are made on the devices that the target names, separated by commas.
fn on_devices(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    may: &MayDestroy,
) -> Outcome<Advised> {
    let names: Vec<String> = options
        .target
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect();
    let devices = found(&names)?;
    let mut proposed = vec![factor("offset", &["1M", "63s"])];
    if devices.len() > 2 {
        proposed.push(factor("stripe-unit", &["512K", "64K", "256K"]));
    }
    let sector = u64::from(sector_of(&devices));
    let (asked, notes) = asked(options, with_asked(proposed, options), sector);
    let fixed = LayoutLevels::new();
    let mut kept = prepare_on_devices(context, store, &names, fixed, may.busy_ok, asked)?;
    kept.notes = notes;
    kept.notes.push(waste_note());
    let varied = |name: &str| kept.plan.set.factors.iter().any(|one| one.name == name);
    let more: Vec<String> = [
        ("raid", "raid10,raid5"),
        ("file-system", "ext4,xfs"),
        ("allocation-unit", "4K,64K"),
    ]
    .into_iter()
    .filter(|(name, _)| !varied(name))
    .map(|(name, levels)| format!("{}: --vary {name}={levels}", name.replace('-', " ")))
    .collect();
    kept.not_tried.extend(more);
    say_what_is_lost(context, &kept, may)?;
    announce(context, &kept, false);
    make_layouts(context, store, kept, may).map(Advised::of)
}

/// The target is measured as it is.
fn on_target(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    permissions: &Permissions,
) -> Outcome<Advised> {
    if options.target.contains(',') && !path_of(&options.target).exists() {
        return Err(Failure::usage(
            "several devices are advised on by making layouts on them, which needs --destroy",
            format!(
                "all data on them would be lost; if that is meant, give --destroy {}",
                options.target.replace("/dev/", "")
            ),
        ));
    }
    let start = System::live()
        .storage_of_path(&path_of(&options.target))
        .ok()
        .and_then(|storage| storage.offset)
        .map(|offset| offset.bytes);
    let mut offsets = Vec::new();
    for offset in start.into_iter().chain([MIB, OFFSET_63_SECTORS]) {
        if !offsets.contains(&offset) {
            offsets.push(offset);
        }
    }
    let levels: Vec<String> = offsets
        .into_iter()
        .map(|size| ByteSize(size).to_string())
        .collect();
    let proposed = vec![Factor {
        name: "offset".to_owned(),
        levels,
    }];
    let (asked, notes) = asked(options, with_asked(proposed, options), SECTOR_BYTES);
    let mut on = prepare_on_target(context, store, permissions, asked)?;
    on.kept.notes.extend(notes);
    on.kept.notes.push(waste_note());
    announce(context, &on.kept, false);
    measure_on_target(context, store, on).map(Advised::of)
}
