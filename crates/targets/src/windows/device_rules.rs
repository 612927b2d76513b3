//! Whether a drive or volume may be written.
//!
//! Reads only need administrator rights. Only whole drives may be written, without a single
//! partition or foreign signature, named by `--destroy`: such a drive holds no volume, so nothing
//! has to be locked or dismounted, which is never done here, and it is neither the system's nor the
//! boot loader's. Volumes are never written, because locking them would lock out our own threads as
//! well.

use super::access::{failed, replaced};
use super::calls;
use super::device_name::DeviceName;
use crate::{Error, ErrorKind, Intent, Result};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use stripewise_disk_formats::ioctl::layout;
use stripewise_disk_formats::marks;
use windows_sys::Win32::Storage::FileSystem::{FILE_SHARE_READ, FILE_SHARE_WRITE};
use windows_sys::Win32::System::Ioctl::{
    FSCTL_ALLOW_EXTENDED_DASD_IO, IOCTL_DISK_GET_DRIVE_GEOMETRY, IOCTL_DISK_GET_DRIVE_LAYOUT_EX,
    IOCTL_DISK_GET_LENGTH_INFO, IOCTL_DISK_IS_WRITABLE,
};

/// A drive that was empty when judged is no longer written once it is not: a grid opens it for
/// every run, perhaps hours later. A handle works while its device exists, and so long its number
/// cannot be reused.
pub(super) fn still_empty(guard: &File, device: &DeviceName, name: &str) -> Result<()> {
    size_of_device(guard, name).map_err(|_| replaced(name))?;
    match in_the_way(guard, device) {
        None => Ok(()),
        Some(reason) => Err(Error::new(
            ErrorKind::Refused,
            name,
            format!("is not written any more: since it was judged, {reason}"),
        )
        .with_hint("Find out what is using it; run the command again when that is done.")),
    }
}

/// Opens a device for reading, or for both.
pub(super) fn open(device: &DeviceName, writes: bool, flags: u32, name: &str) -> Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(writes)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(flags)
        .open(device.path())
        .map_err(|os| failed(name, "cannot be opened", os))?;
    if matches!(device, DeviceName::Volume(_)) {
        // Otherwise the file system denies access to the sectors past its own end.
        let _ = calls::ask(&file, FSCTL_ALLOW_EXTENDED_DASD_IO, &mut []);
    }
    Ok(file)
}

/// Size of an open device.
pub(super) fn size_of_device(file: &File, name: &str) -> Result<u64> {
    let mut answer = [0; 8];
    let got = calls::ask(file, IOCTL_DISK_GET_LENGTH_INFO, &mut answer)
        .map_err(|os| failed(name, "cannot ask for its size", os))?;
    match u64::from_le_bytes(answer) {
        bytes if got == 8 && bytes > 0 => Ok(bytes),
        _ => Err(
            Error::new(ErrorKind::Unusable, name, "has a size of 0 bytes")
                .with_hint("There is no medium in it."),
        ),
    }
}

/// Bytes of a sector, 4096 where the system does not say.
pub(super) fn sector_bytes(file: &File) -> u32 {
    let mut answer = [0; 24];
    let got = calls::ask(file, IOCTL_DISK_GET_DRIVE_GEOMETRY, &mut answer);
    let bytes = u32::from_le_bytes([answer[20], answer[21], answer[22], answer[23]]);
    match got {
        Ok(24) if bytes.is_power_of_two() => bytes.max(512),
        _ => 4096,
    }
}

/// Whether a device may be written; see the head of the file.
pub(super) fn judge_write(
    file: &File,
    device: &DeviceName,
    name: &str,
    intent: &Intent,
) -> Result<()> {
    let refused = in_the_way(file, device);
    let short = device.short();
    let Some(destroy) = &intent.destroy else {
        let hint = match refused {
            None => format!(
                "All data on it would be lost. Give `--destroy {short}` if that is meant; reads \
                 need no flag."
            ),
            Some(reason) => format!("It would be refused anyway: {reason}."),
        };
        let what = format!("writing to this device needs `--destroy {short}`");
        return Err(Error::new(ErrorKind::NeedsDestroy, name, what).with_hint(hint));
    };
    let named = destroy.strip_prefix(r"\\.\").unwrap_or(destroy);
    if !named.eq_ignore_ascii_case(&short) {
        let what = format!("`--destroy {destroy}` does not name this device, which is `{short}`");
        return Err(Error::new(ErrorKind::Refused, name, what)
            .with_hint("Double-check which device you mean (`Get-Disk`)."));
    }
    match refused {
        None => Ok(()),
        Some(reason) => Err(Error::new(
            ErrorKind::Refused,
            name,
            format!("will not be written: {reason}"),
        )
        .with_hint("Reads need no flag; for writes take a file, or a drive without partitions.")),
    }
}

/// Why a device must not be written; anything that cannot be determined is a reason.
fn in_the_way(file: &File, device: &DeviceName) -> Option<String> {
    if matches!(device, DeviceName::Volume(_)) {
        return Some("volumes are never written past their file system on Windows".to_owned());
    }
    if calls::ask(file, IOCTL_DISK_IS_WRITABLE, &mut []).is_err() {
        return Some("it is write-protected, or the system does not say".to_owned());
    }
    // Room for the 128 entries of a GPT and as many again.
    let mut answer = vec![0; layout::HEADER_BYTES + 256 * layout::ENTRY_BYTES];
    let got = calls::ask(file, IOCTL_DISK_GET_DRIVE_LAYOUT_EX, &mut answer);
    match got.map(|got| layout::occupied_entries(&answer[..got])) {
        Ok(Ok(0)) => contents(file),
        Ok(Ok(1)) => Some("it has a partition".to_owned()),
        Ok(Ok(count)) => Some(format!("it has {count} partitions")),
        Ok(Err(_)) | Err(_) => Some("its partitions cannot be listed".to_owned()),
    }
}

/// Contents of a drive without partitions: a bare file system, an Oracle ASM disk, another system's
/// array.
fn contents(file: &File) -> Option<String> {
    // Whole sectors of any size, as drives accept nothing less.
    let mut head = vec![0; marks::HEAD_BYTES.next_multiple_of(1 << 16)];
    match file.seek_read(&mut head, 0) {
        Ok(got) => held(&head[..got]),
        Err(_) => Some("its first bytes cannot be read".to_owned()),
    }
}

/// An empty partition table is no loss.
fn held(head: &[u8]) -> Option<String> {
    let found = marks::found(head);
    let mark = found.iter().find(|mark| !mark.is_table)?;
    Some(format!(
        "it has no partition, but seems to hold {}",
        mark.what
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_drive_without_partitions_holds_is_told_but_for_an_empty_table() {
        let mut head = vec![0; 1 << 17];
        assert_eq!(held(&head), None);
        head[510..512].copy_from_slice(&[0x55, 0xaa]);
        head[512..520].copy_from_slice(b"EFI PART");
        assert_eq!(held(&head), None, "an empty GPT");
        head[32..40].copy_from_slice(b"ORCLDISK");
        let reported = held(&head).unwrap_or_default();
        assert!(reported.contains("Oracle ASM"), "{reported}");
    }
}
