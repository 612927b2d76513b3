//! Who depends on the storage below a target, and which file systems are no storage.

use super::busy::{self, Busy, WatchOutcome};
use crate::database::Sign;
use crate::{Error, ErrorKind, PlanContext, Result};
use stripewise_disk_inspect::storage::BlockDevice;
use stripewise_units::DeviceNumber;

/// Refuses a place that looks like a live database, and a busy device. The
/// caller has checked that `--busy-ok` is not given.
pub(super) fn refuse_if_busy(
    name: &str,
    sign: Option<Sign>,
    devices: &[BlockDevice],
    knowledge: &PlanContext<'_>,
) -> Result<()> {
    if let Some(sign) = sign {
        return Err(sign.refusal(name));
    }
    let counting = counting(devices);
    let numbers: Vec<DeviceNumber> = counting.iter().map(|(_, number)| *number).collect();
    for (device, number) in counting {
        match busy::watch(number, &numbers, knowledge.is_stopped) {
            WatchOutcome::Calm => {}
            WatchOutcome::Busy(found) => return Err(busy_for_others(name, &device, &found)),
            WatchOutcome::Stopped => {
                let what = format!("interrupted while it was determined whether {device} is busy");
                return Err(Error::new(ErrorKind::Interrupted, name, what));
            }
        }
    }
    Ok(())
}

fn busy_for_others(name: &str, device: &str, found: &Busy) -> Error {
    let by = match found.by.as_slice() {
        [] => String::new(),
        by => format!("; of {}", by.join(", ")),
    };
    let what = format!(
        "{device} is busy with other work ({} % of five seconds, {} operations a second{by})",
        found.busy_percent, found.operations_per_second
    );
    // Others' I/O counters are visible to root only, and not across PID namespaces.
    let whose = match found.by.as_slice() {
        [] => "See whose it is with `iotop -o`, wait until it is over",
        _ => "Wait until it is over",
    };
    Error::new(ErrorKind::NeedsBusyOk, name, what).with_hint(format!(
        "The numbers would be wrong and the other work slow. {whose}, or give `--busy-ok`."
    ))
}

/// The devices to watch, each once: all layers down to the disks. Work on a disk can come from
/// anywhere, and the loop device, volume or partition above counts only its own.
fn counting(devices: &[BlockDevice]) -> Vec<(String, DeviceNumber)> {
    let mut found: Vec<(String, DeviceNumber)> = Vec::new();
    for device in devices {
        for (depth, layer) in device.layers().into_iter().enumerate() {
            if found.iter().all(|(_, number)| *number != layer.number) {
                let name = match depth {
                    0 => format!("its device {}", layer.name),
                    _ => format!("{}, which backs it,", layer.name),
                };
                found.push((name, layer.number));
            }
        }
    }
    found
}

/// Pseudo file systems: their "files" control or expose the kernel, and directories on them cannot
/// hold a test file.
pub(super) fn refuse_pseudo(file: &impl std::os::fd::AsFd, name: &str) -> Result<()> {
    // From `linux/magic.h`.
    const PSEUDO: [(i64, &str); 17] = [
        (0x9fa0, "proc"),
        (0x6265_6572, "sysfs"),
        (0x6462_6720, "debugfs"),
        (0x7472_6163, "tracefs"),
        (0x7363_6673, "securityfs"),
        (0x0027_e0eb, "cgroup"),
        (0x6367_7270, "cgroup2"),
        (0xde5e_81e4, "efivarfs"),
        (0x6165_676c, "pstore"),
        (0xcafe_4a11, "bpf"),
        (0x4249_4e4d, "binfmt_misc"),
        (0x1cd1, "devpts"),
        (0x6265_6570, "configfs"),
        (0xf97c_ff8c, "selinuxfs"),
        (0x1980_0202, "mqueue"),
        (0x9584_58f6, "hugetlbfs"),
        (0x6e73_6673, "nsfs"),
    ];
    let found = rustix::fs::fstatfs(file)
        .map_err(|os| super::access::failed(name, "cannot ask for its file system", os.into()))?;
    let magic = found.f_type as i64 & 0xffff_ffff;
    match PSEUDO.iter().find(|(number, _)| *number == magic) {
        Some((_, kind)) => Err(Error::new(
            ErrorKind::Unusable,
            name,
            format!("is on {kind}, which is a kernel file system, not storage"),
        )
        .with_hint("Choose a directory on a disk.")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_layers_are_watched_each_once() {
        let device = |name: &str, minor: u32, below: Vec<BlockDevice>| BlockDevice {
            number: DeviceNumber { major: 8, minor },
            name: name.to_owned(),
            below,
            ..BlockDevice::default()
        };
        let disk = || device("sda", 0, Vec::new());
        let looped = device("loop0", 9, vec![device("sda1", 1, vec![disk()]), disk()]);
        let numbers: Vec<u32> = counting(&[looped])
            .into_iter()
            .map(|(_, number)| number.minor)
            .collect();
        assert_eq!(numbers, [9, 1, 0]);
    }
}
