//! A disk's hints about the array behind it, and whether they are credible.

use crate::storage::{BlockDevice, BlockDeviceKind};
use serde::Serialize;

/// Whether a disk may be an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// One drive: SATA, SAS, NVMe, USB, memory.
    Single,
    /// A controller, a hypervisor or a network may hide an array.
    MayBeArray,
}

/// Interpretation of the minimum and optimal I/O sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// They do not indicate a stripe.
    Nothing,
    /// Stripe unit and full stripe (over the data disks).
    Stripe {
        /// Bytes on one disk.
        unit_bytes: u64,
        /// Bytes on all data disks.
        full_bytes: u64,
    },
    /// They cannot be correct.
    Distrusted(String),
}

/// Some drives and USB bridges report their largest addressable transfer (65,535 sectors of 512
/// bytes) as the optimal one.
const NONSENSE_OPTIMAL: u64 = 65_535 * 512;
/// More data disks than an array has.
const DISKS_MAX: u64 = 256;

/// Judges the pair that RAID controllers (and md) set to stripe unit and full stripe, and other
/// drives to anything. Credible if the optimal size is an integer multiple, at least 2, of a
/// minimum size that is a power of two and larger than a sector. 4 KiB is always a sector or page,
/// never a stripe unit.
pub fn hint(minimum_bytes: Option<u64>, optimal_bytes: Option<u64>, sector_bytes: u64) -> Hint {
    let (minimum, optimal) = (minimum_bytes.unwrap_or(0), optimal_bytes.unwrap_or(0));
    if optimal == 0 {
        return Hint::Nothing;
    }
    if optimal == NONSENSE_OPTIMAL {
        return Hint::Distrusted(format!(
            "optimal I/O of {optimal} bytes is 65,535 sectors, the largest number there is, not a stripe"
        ));
    }
    let sector = sector_bytes.max(512);
    if !optimal.is_multiple_of(sector) {
        return Hint::Distrusted(format!(
            "optimal I/O of {optimal} bytes is not a multiple of the sector of {sector}"
        ));
    }
    if minimum <= sector.max(4096) || minimum == optimal {
        return Hint::Nothing;
    }
    if !minimum.is_power_of_two() || !optimal.is_multiple_of(minimum) {
        return Hint::Distrusted(format!(
            "optimal I/O of {optimal} bytes and minimum I/O of {minimum} are not a full stripe and its unit"
        ));
    }
    if optimal / minimum > DISKS_MAX {
        return Hint::Distrusted(format!(
            "optimal I/O of {optimal} bytes would be {} disks of {minimum} bytes",
            optimal / minimum
        ));
    }
    Hint::Stripe {
        unit_bytes: minimum,
        full_bytes: optimal,
    }
}

/// Models, in lower case, attached over buses of single drives: cloud network volumes as NVMe,
/// hypervisor disks and logical volumes of RAID controllers as SAS or SATA.
const NOT_ONE_DRIVE: [&str; 13] = [
    "amazon elastic block store",
    "nvme_card-pd",
    "google persistentdisk",
    "msft nvme",
    "qemu",
    "virtual",
    "vbox",
    "logical volume",
    "megaraid",
    "serveraid",
    "perc ",
    "smart array",
    "raid",
];

/// Whether a device at the bottom is a single drive.
pub fn nature(device: &BlockDevice) -> Nature {
    let model = device.model.as_deref().unwrap_or_default();
    let model = model.to_ascii_lowercase();
    if NOT_ONE_DRIVE.iter().any(|name| model.contains(name)) {
        return Nature::MayBeArray;
    }
    if device.kind == BlockDeviceKind::Memory {
        return Nature::Single;
    }
    match device.transport.as_deref() {
        Some("sata" | "sas" | "nvme" | "usb" | "mmc") => Nature::Single,
        _ => Nature::MayBeArray,
    }
}

/// Whether a single drive may write in units of 4 KiB although it reports sectors of 512 bytes:
/// flash maps pages of that size, a USB bridge often hides the physical sector, and some drives do
/// not report one.
pub fn may_hide_pages(device: &BlockDevice) -> bool {
    nature(device) == Nature::Single
        && device.kind != BlockDeviceKind::Memory
        && (device.queue.rotational != Some(true)
            || device.queue.physical_sector_bytes.is_none()
            || device.transport.as_deref() == Some("usb"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_believed_only_where_they_make_a_stripe() {
        const K: u64 = 1024;
        let stripe = |unit_bytes, full_bytes| Hint::Stripe {
            unit_bytes,
            full_bytes,
        };
        for (minimum, optimal, wanted) in [
            (64 * K, 192 * K, stripe(64 * K, 192 * K)),
            (256 * K, 1024 * K, stripe(256 * K, 1024 * K)),
            (4 * K, 0, Hint::Nothing),
            (4 * K, 4 * K, Hint::Nothing),
            (4 * K, 1024 * K, Hint::Nothing),
            (64 * K, 64 * K, Hint::Nothing),
            (0, 64 * K, Hint::Nothing),
        ] {
            assert_eq!(
                hint(Some(minimum), Some(optimal), 4096),
                wanted,
                "{minimum} {optimal}"
            );
        }
        for (minimum, optimal) in [
            (512, 33_553_920),
            (4096, 33_553_920),
            (64 * K, 33_553_920),
            (4096, 65_535),
            (64 * K, 100 * K),
            (48 * K, 96 * K),
            (8 * K, 8 << 30),
        ] {
            let found = hint(Some(minimum), Some(optimal), 4096);
            assert!(
                matches!(found, Hint::Distrusted(_)),
                "{minimum} {optimal}: {found:?}"
            );
        }
        assert_eq!(hint(None, None, 512), Hint::Nothing);
        assert_eq!(hint(Some(4 * K), Some(1024 * K), 512), Hint::Nothing);
    }
}
