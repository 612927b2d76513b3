//! The devices of an experiment: their identities, whether they are unchanged, and which
//! may be written.

use crate::steps::provision::save_file;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_disk_provision::{
    Destroy, Identifiers, Identity, Present, TablePlan, identify, plan_erase,
};
use stripewise_units::format_bytes;

/// Permission to write to devices, for this command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MayDestroy {
    /// As named by `--destroy`: kernel names, with `/dev/` or without.
    pub names: Vec<String>,
    /// Even if it cannot be determined whether another program has one open.
    pub busy_ok: bool,
}

impl MayDestroy {
    /// From the command line; names are separated by commas.
    pub fn of(permissions: &Permissions) -> MayDestroy {
        let names = permissions.destroy.iter().flat_map(|text| text.split(','));
        MayDestroy {
            names: names
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            busy_ok: permissions.busy_ok,
        }
    }

    /// Whether it includes the device of this kernel name.
    pub fn names(&self, device: &str) -> bool {
        self.names.iter().any(|name| bare(name) == device)
    }
}

/// A kernel name without its folder.
pub fn bare(name: &str) -> &str {
    name.strip_prefix("/dev/").unwrap_or(name)
}

/// The device node.
pub fn node(name: &str) -> PathBuf {
    Path::new("/dev").join(bare(name))
}

/// Finds the devices by their names.
///
/// # Errors
/// If one does not exist, is not a block device, or is named twice.
pub fn found(names: &[String]) -> Outcome<Vec<Identity>> {
    let mut devices: Vec<Identity> = Vec::new();
    for name in names {
        let device = identify(&node(name))?;
        if devices.iter().any(|other| other.name == device.name) {
            return Err(Failure::usage(
                format!("{} is named twice", device.name),
                "name each device once",
            ));
        }
        devices.push(device);
    }
    Ok(devices)
}

/// Checks that `--destroy` named all of them, and no others.
///
/// # Errors
/// If one was not named, or another one was.
pub fn check_named(devices: &[Identity], may: &MayDestroy) -> Outcome<()> {
    let all: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    if let Some(device) = devices.iter().find(|device| !may.names(&device.name)) {
        return Err(Failure::target(
            format!(
                "{}: making layouts on this device needs `--destroy` to name it",
                device.name
            ),
            format!(
                "all data on these devices would be lost; if that is meant, give --destroy {}",
                all.join(",")
            ),
        ));
    }
    let stranger = may.names.iter().find(|name| !all.contains(&bare(name)));
    stranger.map_or(Ok(()), |name| {
        Err(Failure::usage(
            format!("--destroy {name} names a device that this experiment does not use"),
            format!("it uses {}", all.join(", ")),
        ))
    })
}

/// Checks that the device of this name is still the same one.
///
/// # Errors
/// If it is another one now, or missing.
pub fn check_same(device: &Identity) -> Outcome<PathBuf> {
    let path = node(&device.name);
    let now = identify(&path)?;
    if now == *device {
        return Ok(path);
    }
    Err(Failure::target(
        format!(
            "{} is not the device that it was when the experiment began",
            device.name
        ),
        "start a new experiment on the devices that are there now",
    ))
}

/// What would be lost on a device, and the plan to erase it.
///
/// # Errors
/// If it is in use, or cannot be read.
pub fn judge(context: &Context, device: &Identity, may_be_unseen: bool) -> Outcome<TablePlan> {
    let store = context.store_path()?;
    let plan = plan_erase(&check_same(device)?, Some(&store))?;
    let refused = |exit: Exit, why: &str, hint: &str| {
        Err(Failure::new(
            exit,
            format!("{} will not be written: {why}", device.name),
            hint.to_owned(),
        ))
    };
    if let Some(why) = &plan.in_the_way {
        let hint = "unmount, stop, detach or close that first, if you really mean this device";
        return refused(Exit::Target, why, hint);
    }
    match &plan.unseen {
        Some(why) if !may_be_unseen => refused(
            Exit::Busy,
            why,
            "run it as root outside of containers; or give --busy-ok if nobody uses this device",
        ),
        _ => Ok(plan),
    }
}

/// A device and its content, in one line.
pub fn words(device: &Identity, present: &Present) -> String {
    let mut holds: Vec<String> = present.holds.clone();
    if let Some(table) = &present.table {
        let count = present.partitions.len();
        let plural = if count == 1 { "" } else { "s" };
        holds.push(format!("a {table} table with {count} partition{plural}"));
    }
    let holds = match holds.is_empty() {
        true => "nothing that is recognised".to_owned(),
        false => holds.join(", "),
    };
    let model = device.model.as_deref().or(device.backing.as_deref());
    let about: Vec<&str> = model.into_iter().chain(device.serial.as_deref()).collect();
    format!(
        "{} ({}{}{}): holds {holds}",
        device.name,
        about.join(" "),
        if about.is_empty() { "" } else { ", " },
        format_bytes(device.size_bytes)
    )
}

/// Erases a device. Its content from before the experiment is saved first.
///
/// # Errors
/// If a safety rule refuses it, or the device fails.
pub fn erase(
    context: &Context,
    device: &Identity,
    may: &MayDestroy,
    save: Option<&Path>,
) -> Outcome<()> {
    let plan = judge(context, device, may.busy_ok)?;
    let store = context.store_path()?;
    let destroy = Destroy {
        name: &device.name,
        store: Some(&store),
        busy_ok: may.busy_ok,
        save: save.map(save_file),
        now: &context.timestamp(),
    };
    // Erasing creates nothing that needs identifiers.
    let no_identifiers = Identifiers { entropy: [0; 32] };
    plan.execute(&destroy, &no_identifiers)
        .map(drop)
        .map_err(Failure::from)
}
