//! Vendor and transport of a disk. What sysfs hides from ordinary users is often in udev's database
//! (`/run/udev/data/bM:m`).

use super::tree::Tree;
use std::path::Path;

/// A value of udev's database for a device, by its sysfs directory.
pub fn udev(tree: Tree, directory: &Path, key: &str) -> Option<String> {
    let number = tree.number(directory.join("dev"))?;
    let text = tree.text(format!("/run/udev/data/b{number}"));
    let text = text.or_else(|| properties(tree, directory.file_name()?.to_str()?))?;
    let value = text.lines().find_map(|line| {
        // As in the database, and as printed by `udevadm info`.
        let line = line.strip_prefix("E:").unwrap_or(line).trim_start();
        line.strip_prefix(key)?.strip_prefix('=')
    })?;
    stripewise_disk_formats::medium::printable(&unhex(value.trim()))
}

/// `\x20` and the like, udev's escapes for special characters.
fn unhex(text: &str) -> String {
    let mut pieces = text.split("\\x");
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece.get(..2).map(|digits| u8::from_str_radix(digits, 16));
        match digits {
            Some(Ok(byte)) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[2..]);
            }
            _ => bytes.extend_from_slice(&[b"\\x", piece.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Trees for `lsblk --sysroot` have, in place of a device, a text file of its udev properties,
/// `KEY=value` per line.
pub fn properties(tree: Tree, name: &str) -> Option<String> {
    /// Longer than any device's.
    const LENGTH_MAX: u64 = 64 << 10;
    let path = format!("/dev/{}", name.replace('!', "/"));
    let metadata = std::fs::metadata(tree.path(&path)).ok()?;
    if tree.is_live() || !metadata.is_file() || metadata.len() > LENGTH_MAX {
        return None;
    }
    let text = tree.text(path)?;
    let first = text.lines().next()?;
    let (key, _) = first.split_once('=')?;
    let is_key = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (!key.is_empty() && key.chars().all(is_key)).then_some(text)
}

/// Vendor and model: separate in SCSI, but not in NVMe and MMC.
pub fn model(tree: Tree, disk: &Path) -> Option<String> {
    let model = tree
        .word(disk.join("device/model"))
        .or_else(|| tree.word(disk.join("device/name")))?;
    match tree.word(disk.join("device/vendor")) {
        // PCI numbers (`0x1af4`) and libata's `ATA` are not vendors.
        Some(vendor) if !vendor.starts_with("0x") && vendor != "ATA" => {
            Some(format!("{vendor} {model}"))
        }
        _ => Some(model),
    }
}

pub fn serial(tree: Tree, disk: &Path) -> Option<String> {
    let files = ["device/serial", "serial", "device/wwid", "wwid"];
    tree.word(disk.join(files[0]))
        .or_else(|| tree.word(disk.join(files[1])))
        .or_else(|| udev(tree, disk, "ID_SERIAL_SHORT"))
        .or_else(|| {
            files[2..]
                .iter()
                .find_map(|name| tree.word(disk.join(name)))
        })
}

pub fn firmware(tree: Tree, disk: &Path) -> Option<String> {
    ["device/firmware_rev", "device/rev", "device/fwrev"]
        .iter()
        .find_map(|name| tree.word(disk.join(name)))
        .or_else(|| udev(tree, disk, "ID_REVISION"))
}

/// From the names of the directories on the path to the disk, which are those of the drivers. A
/// disk of a RAID controller appears as plain `scsi`; real drives have an `ata` port or a SAS
/// `end_device`.
pub fn transport(tree: Tree, disk: &Path) -> Option<String> {
    const MARKS: [(&str, &str); 11] = [
        ("usb", "usb"),
        ("ata", "sata"),
        ("session", "iscsi"),
        ("rport-", "fc"),
        ("end_device-", "sas"),
        ("mmc", "mmc"),
        ("virtio", "virtio"),
        ("vmbus", "hyper-v"),
        ("VMBUS", "hyper-v"),
        ("vbd-", "xen"),
        ("host", "scsi"),
    ];
    let path = disk.to_string_lossy();
    let parts: Vec<&str> = path.split('/').collect();
    let numbered = |part: &str, mark: &str| {
        part.strip_prefix(mark).is_some_and(|rest| {
            mark.ends_with('-')
                || rest.starts_with(|c: char| c.is_ascii_digit())
                || mark.eq_ignore_ascii_case("vmbus")
        })
    };
    if parts.iter().any(|part| part.starts_with("nvme")) {
        // For a network transport the controller reports it; PCI ones report `pcie` or nothing.
        let over = tree.word(disk.join("device/transport"));
        return Some(match over.as_deref() {
            None | Some("pcie") => "nvme".to_owned(),
            Some(fabric) => format!("nvme-{fabric}"),
        });
    }
    MARKS
        .iter()
        .find(|(mark, _)| parts.iter().any(|part| numbered(part, mark)))
        .map(|(_, name)| (*name).to_owned())
}
