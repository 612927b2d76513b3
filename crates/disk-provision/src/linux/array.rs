//! md arrays: made by mdadm from devices passed by descriptor, found and stopped by the UUID in
//! their superblocks.

use super::device::{Device, OpenDisk, conflicts_and_unverified, failed};
use super::partition::facts;
use super::{ioctl, marks, tools};
use crate::array::{self, ArrayOptions, ArrayPlan, ArrayReport};
use crate::disk::Disk;
use crate::plan::DeviceFacts;
use crate::{Destroy, Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stripewise_device_guard::device::Access;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::NameText;

/// Retries for an array that another process has open briefly, and the time between them.
const PATIENCE: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(100);

/// Plans an md array of these devices. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; obstacles are reported in the plan, not as errors.
pub fn plan_array(
    paths: &[PathBuf],
    spec: &ArrayOptions,
    store: Option<&Path>,
) -> Result<ArrayPlan> {
    let mut members: Vec<DeviceFacts> = Vec::new();
    let (mut in_the_way, mut unseen) = (None, None);
    for path in paths {
        let device = Device::find(path)?;
        let about = facts(&device, &device.geometry()?);
        if members.iter().any(|other| other.name == about.name) {
            return Err(
                Error::new(ErrorKind::Usage, &device.target, "is named twice")
                    .with_hint("Name each device once."),
            );
        }
        let (way, not_seen) = conflicts_and_unverified(device.availability(store));
        let of = |why: String| format!("{}: {why}", about.name);
        in_the_way = in_the_way.or(way.map(of));
        unseen = unseen.or(not_seen.map(of));
        members.push(about);
    }
    array::check(spec, &members)?;
    let target = names(&members);
    let program = tools::find(&["mdadm"], "mdadm", "to make arrays", &target)?;
    check_kernel(&target)?;
    let sizes: Vec<u64> = members.iter().map(|one| one.size_bytes).collect();
    Ok(ArrayPlan {
        level: spec.level,
        stripe_unit_bytes: spec.stripe_unit_bytes.filter(|_| spec.level.is_striped()),
        size_bytes: spec.level.capacity_bytes(&sizes, spec.stripe_unit_bytes),
        arguments: array::arguments(spec, members.len()),
        members,
        in_the_way,
        unseen,
        program,
        uuid: spec.uuid,
    })
}

/// Whether the kernel has md, or a module that mdadm would load: the plan does not announce data
/// loss for an array that cannot be made.
fn check_kernel(target: &str) -> Result<()> {
    if Path::new("/proc/mdstat").exists() {
        return Ok(());
    }
    let mut requested = std::process::Command::new("modprobe");
    requested.args(["--dry-run", "--quiet", "md_mod"]);
    // If the probing program is missing, mdadm reports it.
    match requested.status() {
        Ok(status) if !status.success() => Err(Error::new(
            ErrorKind::Unusable,
            target,
            "this kernel has no md (software RAID), so no array can be made of them",
        )
        .with_hint("Install the kernel's modules for md, or name one device.")),
        _ => Ok(()),
    }
}

fn names(members: &[DeviceFacts]) -> String {
    let names: Vec<&str> = members.iter().map(|one| one.name.as_str()).collect();
    names.join(",")
}

pub fn execute(plan: &ArrayPlan, destroy: &[Destroy<'_>]) -> Result<ArrayReport> {
    let mut claimed = Vec::new();
    for (index, member) in plan.members.iter().enumerate() {
        let device = Device::find(&member.path)?;
        let permission = destroy.get(index).ok_or_else(|| {
            let what = format!("no permission to destroy {} was given", member.name);
            Error::new(ErrorKind::Refused, &device.target, what)
                .with_hint(format!("Name it as well: `--destroy {}`.", member.name))
        })?;
        let claim = device.claim_to_destroy(permission, Access::Read)?;
        if facts(&device, &device.geometry()?) != *member {
            return Err(Error::new(
                ErrorKind::Refused,
                &device.target,
                "has changed since the plan was made",
            )
            .with_hint("Run the command again to see the new plan."));
        }
        // This one stays open until the end: device and number are pinned.
        claimed.push((device.open()?, device, claim));
    }
    // All of them were judged under our claims; mdadm claims them itself.
    let pinned: Vec<(File, Device)> = claimed
        .into_iter()
        .map(|(file, device, _)| (file, device))
        .collect();
    let target = names(&plan.members);
    let path = free_node(&target)?;
    let mut arguments = vec!["--create".to_owned(), path.as_text()];
    arguments.extend(plan.arguments.iter().cloned());
    let devices: Vec<(&File, &Path)> = pinned
        .iter()
        .map(|(file, device)| (file, device.path.as_path()))
        .collect();
    tools::run(&tools::Call {
        program: &plan.program,
        arguments: &arguments,
        devices: &devices,
        target: &target,
    })?;
    read_back(plan, &path, &pinned)
}

/// An unused device node, counting down from the last, as systems do for unnamed arrays.
fn free_node(target: &str) -> Result<PathBuf> {
    let is_free = |number: &u32| {
        let taken = |path: String| Path::new(&path).exists();
        !taken(format!("/sys/block/md{number}")) && !taken(format!("/dev/md{number}"))
    };
    let number = (64..128).rev().find(is_free).ok_or_else(|| {
        Error::new(
            ErrorKind::Unusable,
            target,
            "no device number for an array is free",
        )
        .with_hint("Stop arrays that nobody needs: `cat /proc/mdstat` lists them.")
    })?;
    Ok(PathBuf::from(format!("/dev/md{number}")))
}

/// Verifies that the array is the requested one, with these devices.
fn read_back(plan: &ArrayPlan, path: &Path, pinned: &[(File, Device)]) -> Result<ArrayReport> {
    let device = Device::find(path)?;
    let wrong = |what: String| {
        Error::new(ErrorKind::Unverified, &device.target, what).with_hint(format!(
            "mdadm succeeded, but the kernel disagrees about {}: look at /proc/mdstat.",
            path.as_text()
        ))
    };
    for (file, member) in pinned {
        let mut disk = OpenDisk {
            file: file
                .try_clone()
                .map_err(|os| failed(&member.target, "cannot be read back", os))?,
            size_bytes: member.geometry()?.size_bytes,
        };
        disk.flush()
            .and_then(|()| marks::array_of(&disk))
            .map_err(|os| failed(&member.target, "cannot be read back", os))
            .and_then(|found| match found == Some(plan.uuid) {
                true => Ok(()),
                false => Err(wrong(format!("{} is not a member of it", member.name))),
            })?;
    }
    let Some(made) = &device.facts.array else {
        return Err(wrong("is not an array".to_owned()));
    };
    let below: Vec<_> = device.facts.below.iter().map(|one| one.number).collect();
    let all_there = pinned
        .iter()
        .all(|(_, member)| below.contains(&member.number));
    let is_it = made.level == plan.level.name()
        && (plan.stripe_unit_bytes.is_none() || made.stripe_unit_bytes == plan.stripe_unit_bytes)
        && all_there
        && below.len() == pinned.len();
    if !is_it {
        return Err(wrong("is not the array that was asked for".to_owned()));
    }
    Ok(ArrayReport {
        name: device.name.clone(),
        path: path.to_owned(),
        size_bytes: device.geometry()?.size_bytes,
    })
}

/// The kernel's name of the running array with this UUID, by the superblocks of its members.
pub fn array_with(uuid: [u8; 16]) -> Option<String> {
    let system = System::live();
    let is_it = |name: &String| uuid_of(name) == Some(uuid);
    system
        .devices()
        .into_iter()
        .filter_map(|number| system.device(number).ok())
        .map(|device| device.name)
        // Partitions have no such directory; names like `md_backup` are arrays too.
        .filter(|name| Path::new(&format!("/sys/block/{name}/md")).exists())
        .find(is_it)
}

/// From the superblock of its first readable member.
fn uuid_of(array: &str) -> Option<[u8; 16]> {
    let slaves = std::fs::read_dir(format!("/sys/block/{array}/slaves")).ok()?;
    slaves.flatten().find_map(|slave| {
        let name = slave.file_name().to_str()?.replace('!', "/");
        let device = Device::find(&Path::new("/dev").join(name)).ok()?;
        let disk = OpenDisk {
            file: device.open().ok()?,
            size_bytes: device.geometry().ok()?.size_bytes,
        };
        marks::array_of(&disk).ok()?
    })
}

/// Resync progress of an array: sectors done, and total. `None` if it is in sync.
pub fn resync_of(array: &str) -> Option<(u64, u64)> {
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("/sys/block/{array}/md/{name}"));
        text.unwrap_or_default().trim().to_owned()
    };
    let in_step = matches!(read("sync_action").as_str(), "" | "idle" | "frozen")
        && matches!(read("degraded").as_str(), "" | "0");
    if in_step {
        return None;
    }
    let done = read("sync_completed");
    let (done, all) = done.split_once('/').unwrap_or(("0", "0"));
    let number = |text: &str| text.trim().parse().unwrap_or(0);
    Some((number(done), number(all)))
}

/// Stops the array of this name if it is the one with this UUID, through a descriptor that was
/// judged.
///
/// # Errors
/// [`ErrorKind::Refused`] if it is another array, or in use.
pub fn stop(array: &str, uuid: [u8; 16]) -> Result<()> {
    let path = Path::new("/dev").join(array);
    let mut tries = 0;
    loop {
        let device = Device::find(&path)?;
        if uuid_of(&device.name) != Some(uuid) {
            return Err(
                Error::new(ErrorKind::Refused, &device.target, "is another array now")
                    .with_hint("Nothing was stopped; look at /proc/mdstat."),
            );
        }
        let file = device.open()?;
        let stopped = ioctl::stop_array(&file);
        drop(file);
        match stopped {
            Ok(()) => return Ok(()),
            // Processes that examine new devices have it open briefly.
            Err(os) if os.kind() == io::ErrorKind::ResourceBusy && tries < PATIENCE => {
                tries += 1;
                std::thread::sleep(BETWEEN);
            }
            Err(os) => return Err(failed(&device.target, "cannot be stopped", os)),
        }
    }
}
