//! Features of newer kernels, some file systems and some devices beyond plain reads and writes:
//! checked on the open file, refused with the reason if missing.

use super::discards;
use super::identity::{Identity, Status};
use super::queue::{queue_file, refused};
use crate::{Error, ErrorKind, Intent, IoFeatures, Result};
use rustix::fs::FileType;
use rustix::io::{ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::IoSliceMut;
use std::path::Path;
use stripewise_units::{ByteSize, DeviceNumber};
use stripewise_workload::{CacheMode, Workload};

/// `RWF_DONTCACHE`.
const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// Returns an error for what the file does not support, before anything is written to it.
pub(super) fn judge(file: &File, identity: Identity, intent: &Intent, name: &str) -> Result<()> {
    if intent.cache == CacheMode::Dontcache {
        dontcache(file, name)?;
    }
    if intent.features.atomic {
        atomic_units(file, identity, name)?;
    }
    if intent.features.poll {
        polls(identity, name)?;
    }
    if intent.features.discards {
        discards::accepts_any(file, identity, name)?;
    }
    let mut loads = intent.loads.iter();
    loads.try_for_each(|workload| fits(file, identity, workload, name))
}

/// The same for one workload, with its sizes.
pub(super) fn fits(file: &File, identity: Identity, workload: &Workload, name: &str) -> Result<()> {
    let features = IoFeatures::of([workload]);
    if features.atomic {
        let units = atomic_units(file, identity, name)?;
        judge_atomic(workload, units, name)?;
    }
    if features.poll {
        polls(identity, name)?;
    }
    if features.discards {
        discards::fit(file, identity, workload, name)?;
    }
    Ok(())
}

/// Reads one byte: there is no other way to find out whether kernel and file system support it.
pub(super) fn dontcache(file: &File, name: &str) -> Result<()> {
    let mut byte = [0];
    let read = preadv2(file, &mut [IoSliceMut::new(&mut byte)], 0, DONTCACHE);
    match read {
        Err(os @ (rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::INVAL)) => {
            let what = format!(
                "{} refuses `--cache dontcache` (RWF_DONTCACHE) for it",
                kernel()
            );
            Err(Error::new(ErrorKind::Unusable, name, what)
                .with_os(os.into())
                .with_hint(
                    "It takes Linux 6.14 and a file on a file system that can, such as XFS or ext4. \
                     Use `<--cache> buffered`, or `direct`.",
                ))
        }
        // Other errors show during the measurement.
        _ => Ok(()),
    }
}

/// `the kernel (Linux 6.1.0-37-amd64)`.
fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease");
    let release = release.as_deref().unwrap_or("of unknown version").trim();
    format!("the kernel (Linux {release})")
}

/// Smallest and largest atomic write, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AtomicUnits {
    smallest_bytes: u32,
    largest_bytes: u32,
}

/// Atomic write units of the file, as the kernel reports them (`statx`, Linux 6.11).
fn atomic_units(file: &File, identity: Identity, name: &str) -> Result<AtomicUnits> {
    let units = Status::of(file)
        .ok()
        .and_then(|status| status.atomic_write_bytes);
    match units {
        Some((smallest_bytes, largest_bytes)) if largest_bytes > 0 => Ok(AtomicUnits {
            smallest_bytes,
            largest_bytes,
        }),
        Some(_) => Err(no_atomic_writes(name)),
        None => Err(why_unreported(Path::new("/sys"), number_of(identity), name)),
    }
}

/// The kernel reports nothing for files without atomic writes, and nothing at all before Linux
/// 6.11. The device's queue attributes show which case it is.
fn why_unreported(sysfs: &Path, number: DeviceNumber, name: &str) -> Error {
    let reported = queue_file(sysfs, number, "atomic_write_unit_max_bytes");
    if reported.is_some_and(|file| file.exists()) {
        return no_atomic_writes(name);
    }
    refused(
        name,
        format!("{} does not say whether it has atomic writes", kernel()),
        "That takes Linux 6.11, and 6.13 for files on ext4 and XFS. Leave out `--atomic`.",
    )
}

fn no_atomic_writes(name: &str) -> Error {
    refused(
        name,
        "the kernel says that it has no atomic writes".to_owned(),
        "Its device or file system has none; `stripewise disks` shows the atomic write units \
         of devices. Leave out `--atomic`.",
    )
}

/// Device number of the device, or of the one below a file.
fn number_of(identity: Identity) -> DeviceNumber {
    match identity.kind {
        FileType::BlockDevice => identity.rdevice,
        _ => identity.device,
    }
}

fn judge_atomic(workload: &Workload, units: AtomicUnits, name: &str) -> Result<()> {
    let block = workload.block_size_bytes;
    let fits = u64::from(units.smallest_bytes)..=u64::from(units.largest_bytes);
    if fits.contains(&block) {
        return Ok(());
    }
    let (least, most) = (ByteSize(*fits.start()), ByteSize(*fits.end()));
    let range = match fits.start() == fits.end() {
        true => format!("{least} and no other size"),
        false => format!("{least} to {most}"),
    };
    let what = format!("its atomic writes have {range}, not {}", ByteSize(block));
    Err(refused(
        name,
        what,
        "Give a `<--block>` that fits, or leave out `--atomic`.",
    ))
}

/// The block layer polls only where the driver has poll queues. If the device is unknown, each
/// operation decides.
fn polls(identity: Identity, name: &str) -> Result<()> {
    polls_in(Path::new("/sys"), number_of(identity), name)
}

fn polls_in(sysfs: &Path, number: DeviceNumber, name: &str) -> Result<()> {
    match queue_file(sysfs, number, "io_poll").map(std::fs::read_to_string) {
        Some(Ok(text)) if text.trim() == "0" => Err(refused(
            name,
            "its device has no queues for polling (queue/io_poll is 0)".to_owned(),
            "Give its driver some: `nvme.poll_queues=N` (or `virtio_blk.poll_queues=N`) on the \
             kernel's command line, or reload the module with poll_queues=N. Other drivers mostly \
             have none: leave out `--poll`.",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atomic_write_has_a_size_that_the_device_takes() {
        let units = AtomicUnits {
            smallest_bytes: 4096,
            largest_bytes: 16_384,
        };
        let judged = |block_size_bytes| {
            let workload = Workload {
                block_size_bytes,
                ..Workload::default()
            };
            judge_atomic(&workload, units, "x").map_err(|error| error.to_string())
        };
        for fitting in [4096, 8192, 16_384] {
            assert_eq!(judged(fitting), Ok(()));
        }
        for other in [2048, 32_768] {
            let reported = judged(other).unwrap_err();
            assert!(reported.contains("have 4K to 16K, not"), "{reported}");
        }
        let one_size = AtomicUnits {
            smallest_bytes: 512,
            largest_bytes: 512,
        };
        let reported = judge_atomic(&Workload::default(), one_size, "x").unwrap_err();
        assert!(
            reported.to_string().contains("512 and no other"),
            "{reported}"
        );
    }

    #[test]
    fn a_partition_is_polled_through_the_queue_of_its_disk() {
        let sysfs = tempfile::tempdir().unwrap();
        let disk = sysfs.path().join("devices/nvme0n1");
        std::fs::create_dir_all(disk.join("nvme0n1p1")).unwrap();
        std::fs::create_dir_all(sysfs.path().join("dev/block")).unwrap();
        std::fs::write(disk.join("nvme0n1p1/partition"), "1\n").unwrap();
        for (number, to) in [("259:0", disk.clone()), ("259:1", disk.join("nvme0n1p1"))] {
            let link = sysfs.path().join("dev/block").join(number);
            std::os::unix::fs::symlink(to, link).unwrap();
        }
        let expected = std::fs::canonicalize(&disk).unwrap().join("queue/io_poll");
        for minor in [0, 1] {
            let number = DeviceNumber { major: 259, minor };
            let found = queue_file(sysfs.path(), number, "io_poll");
            assert_eq!(found, Some(expected.clone()));
        }
        let unknown = DeviceNumber {
            major: 0,
            minor: 44,
        };
        assert_eq!(queue_file(sysfs.path(), unknown, "io_poll"), None);

        // A kernel that supports atomic writes reports them for every queue.
        let number = DeviceNumber {
            major: 259,
            minor: 1,
        };
        let why = |expected_text: &str| {
            let error = why_unreported(sysfs.path(), number, "x");
            assert!(error.to_string().contains(expected_text), "{error}");
        };
        why("does not say");
        std::fs::create_dir_all(disk.join("queue")).unwrap();
        std::fs::write(disk.join("queue/atomic_write_unit_max_bytes"), "0\n").unwrap();
        why("no atomic writes");

        // The message names the module parameter that creates poll queues if there are none.
        for (text, has_queues) in [("0\n", false), ("1\n", true)] {
            std::fs::write(disk.join("queue/io_poll"), text).unwrap();
            for minor in [0, 1] {
                let number = DeviceNumber { major: 259, minor };
                let judged = polls_in(sysfs.path(), number, "x");
                assert_eq!(judged.is_ok(), has_queues, "{text}");
                if let Err(error) = judged {
                    assert!(error.hint.contains("nvme.poll_queues=N"), "{error}");
                }
            }
        }
    }
}
