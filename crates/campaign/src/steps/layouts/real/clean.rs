//! Layouts left by a killed process or a power cut: reports them and, with permission, removes
//! them. Acts only if the journal and the device agree.

use super::devices::MayDestroy;
use super::journal::Journal;
use super::make::{LayoutBuilder, tear_down};
use super::passes::names_of;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_disk_provision::{Identity, array_with, forget_mount_point, has_mark, identify};
use stripewise_store::Store;

/// Child programs of a killed process may hold a device for a moment.
const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(500);

/// One layout that was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LeftLayout {
    /// The experiment that made it.
    pub experiment: String,
    /// In words.
    pub layout: String,
    /// The array that runs, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Devices that bear its marks, by their names now; of a layout in a slot, partitions.
    pub devices: Vec<String>,
    /// What `--destroy` has to name for it to be taken down: whole devices where it lies in
    /// a slot of them.
    pub destroy: Vec<String>,
    /// Why it stays; absent where nothing is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Finds remains of layouts, and removes them if `may` is given.
///
/// # Errors
/// If the store cannot be read. A layout that remains is in the list, and the first
/// such failure is returned with it.
pub fn clean_layouts(
    context: &Context,
    store: &mut Store,
    may: Option<&MayDestroy>,
) -> Outcome<(Vec<LeftLayout>, Option<Failure>)> {
    let mut left = Vec::new();
    let mut first_failure = None;
    for journal in Journal::all(store)? {
        let (layout, failure) = clean(context, store, &journal, may)?;
        left.extend(layout);
        if let Some(failure) = failure {
            first_failure.get_or_insert(failure);
        }
    }
    Ok((left, first_failure))
}

fn clean(
    context: &Context,
    store: &mut Store,
    journal: &Journal,
    may: Option<&MayDestroy>,
) -> Outcome<(Option<LeftLayout>, Option<Failure>)> {
    let mut layout = LeftLayout {
        experiment: journal.experiment.clone(),
        layout: journal.layout.clone(),
        array: None,
        devices: Vec::new(),
        destroy: Vec::new(),
        refused: None,
    };
    let refused = |mut layout: LeftLayout, failure: Failure| {
        layout.refused = Some(failure.error.to_string());
        Ok((Some(layout), Some(failure)))
    };
    if journal.process.is_at_work(context) {
        let what = format!(
            "the experiment {} is still at work (pid {})",
            journal.experiment,
            journal.process.pid()
        );
        let hint = "interrupt it with Ctrl-C: it takes down what it made";
        return refused(layout, Failure::new(Exit::Busy, what, hint));
    }
    let (here, gone) = whereabouts(journal);
    layout.array = array_with(journal.array_uuid());
    let marked = marked(journal, &here)?;
    let wanted = wanted(journal, &marked);
    layout.devices = names(&marked);
    layout.destroy = names(&wanted);
    if layout.array.is_none() && marked.is_empty() && gone.is_empty() {
        // Nothing was made, or all of it was removed before the store was updated.
        if may.is_some() {
            forget_mount_point(&journal.mount_point);
            journal.forget(store)?;
        }
        return Ok((None, None));
    }
    if let Some(may) = may {
        if let Some(failure) = unnamed(journal, &wanted, may) {
            return refused(layout, failure);
        }
        let builder = LayoutBuilder {
            context,
            may,
            devices: &marked,
            slot: None,
        };
        if let Err(failure) =
            retry_briefly(context, || tear_down(&builder, journal, None, marked.len()))
        {
            return refused(layout, failure);
        }
        forget_mount_point(&journal.mount_point);
    }
    if let Some(device) = gone.first() {
        let what = format!(
            "{} ({}) is not here: what was made on it may be left",
            device.name,
            device.serial.as_deref().unwrap_or("no serial number")
        );
        let hint = "attach it and run `stripewise lab clean` again";
        return refused(layout, Failure::target(what, hint));
    }
    if may.is_some() {
        journal.forget(store)?;
    }
    Ok((Some(layout), None))
}

fn names(devices: &[Identity]) -> Vec<String> {
    devices.iter().map(|device| device.name.clone()).collect()
}

/// The devices that must be named: those that bear marks; if these are partitions in a
/// slot, the divided devices.
fn wanted(journal: &Journal, marked: &[Identity]) -> Vec<Identity> {
    match journal.slot {
        Some(_) => present(&journal.on, &all_devices()).0,
        None => marked.to_vec(),
    }
}

/// Why some of the devices that must be named may not be written.
fn unnamed(journal: &Journal, wanted: &[Identity], may: &MayDestroy) -> Option<Failure> {
    let device = wanted.iter().find(|device| !may.names(&device.name))?;
    let what = format!(
        "{} has marks of the experiment {}, and was not named",
        device.name, journal.experiment
    );
    let hint = format!(
        "if all data on them can be destroyed, give --yes --destroy {}",
        names_of(wanted)
    );
    Some(Failure::target(what, hint))
}

/// The devices of a journal under their present names, and the missing ones.
fn whereabouts(journal: &Journal) -> (Vec<Identity>, Vec<Identity>) {
    let all = all_devices();
    if journal.slot.is_none() {
        return present(&journal.devices, &all);
    }
    let (mut here, mut gone) = (Vec::new(), Vec::new());
    for (part, disk) in journal.devices.iter().zip(&journal.on) {
        match all.iter().find(|other| disk.is_same_device(other)) {
            // A slot that is missing from a present disk leaves no remains.
            Some(disk) => here.extend(all.iter().find(|other| is_part(part, disk, other)).cloned()),
            None => gone.push(disk.clone()),
        }
    }
    (here, gone)
}

/// The partition `part` under its present name, on a disk that may have been renamed.
fn is_part(part: &Identity, disk: &Identity, other: &Identity) -> bool {
    is_named_after(&other.name, &disk.name)
        && other.start_bytes.is_some()
        && (other.start_bytes, other.size_bytes) == (part.start_bytes, part.size_bytes)
}

/// Whether this is the name of a partition of that disk: `sda1` of `sda` but not of `sd`,
/// `nvme0n1p1` of `nvme0n1`, but `loop10p1` is not one of `loop1`.
fn is_named_after(part: &str, disk: &str) -> bool {
    let between = if disk.ends_with(|last: char| last.is_ascii_digit()) {
        "p"
    } else {
        ""
    };
    let number = part
        .strip_prefix(disk)
        .and_then(|rest| rest.strip_prefix(between));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

fn present(devices: &[Identity], all: &[Identity]) -> (Vec<Identity>, Vec<Identity>) {
    let (mut here, mut gone) = (Vec::new(), Vec::new());
    for device in devices {
        match all.iter().find(|other| device.is_same_device(other)) {
            Some(now) => here.push(now.clone()),
            None => gone.push(device.clone()),
        }
    }
    (here, gone)
}

/// All accessible block devices.
fn all_devices() -> Vec<Identity> {
    let system = System::live();
    system
        .devices()
        .into_iter()
        .filter_map(|number| system.device(number).ok())
        .filter_map(|device| {
            let name = device.name.replace('!', "/");
            identify(&Path::new("/dev").join(name)).ok()
        })
        .collect()
}

fn marked(journal: &Journal, here: &[Identity]) -> Outcome<Vec<Identity>> {
    let mut marked = Vec::new();
    for device in here {
        let path = Path::new("/dev").join(&device.name);
        if has_mark(&path, journal.array_uuid(), &journal.all_table_ids())? {
            marked.push(device.clone());
        }
    }
    Ok(marked)
}

fn retry_briefly(context: &Context, mut act: impl FnMut() -> Outcome<()>) -> Outcome<()> {
    let mut tries = 0;
    loop {
        match act() {
            Err(failure)
                if matches!(failure.exit, Exit::Target | Exit::Busy)
                    && tries < TRIES
                    && context.signal().is_none() =>
            {
                tries += 1;
                std::thread::sleep(BETWEEN);
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_named_after;

    #[test]
    fn a_partition_is_told_from_those_of_disks_whose_names_begin_alike() {
        for (part, disk, is) in [
            ("sda1", "sda", true),
            ("sda12", "sda", true),
            ("sdaa1", "sda", false),
            ("sda", "sda", false),
            ("nvme0n1p1", "nvme0n1", true),
            ("nvme0n10p1", "nvme0n1", false),
            ("nvme0n11", "nvme0n1", false),
            ("loop1p3", "loop1", true),
            ("loop10p3", "loop1", false),
            ("loop10", "loop1", false),
        ] {
            assert_eq!(is_named_after(part, disk), is, "{part} of {disk}");
        }
    }
}
