//! Divides devices into slots, for layouts side by side.

use serde::{Deserialize, Serialize};
use stripewise_disk_provision::Identity;
use stripewise_units::{counted, format_bytes};

/// Slots begin at multiples of this: of every common power-of-two stripe unit, so
/// that slots have the same phase on the storage below.
pub const GRAIN_BYTES: u64 = 4 << 20;
/// Reserved at the end of a device: the table's backup, rounded up.
const TAIL_BYTES: u64 = 1 << 20;

/// How devices are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Slots {
    /// As many as layouts.
    pub slots: u32,
    /// Bytes of each on each device.
    pub slot_bytes: u64,
}

impl Slots {
    /// Slots as large as the smallest device allows; 0 bytes if there is no room.
    #[must_use]
    pub fn of(devices: &[Identity], layouts: usize) -> Slots {
        let sizes = devices.iter().map(|device| device.size_bytes);
        let smallest = sizes.min().unwrap_or(0);
        let room = smallest.saturating_sub(GRAIN_BYTES + TAIL_BYTES);
        Slots {
            slots: u32::try_from(layouts).unwrap_or(u32::MAX),
            slot_bytes: room / (layouts.max(1) as u64) / GRAIN_BYTES * GRAIN_BYTES,
        }
    }

    /// Required size of devices for slots of this size.
    pub fn device_bytes_for(self, slot_bytes: u64) -> u64 {
        slot_bytes
            .next_multiple_of(GRAIN_BYTES)
            .saturating_mul(u64::from(self.slots))
            .saturating_add(GRAIN_BYTES + TAIL_BYTES)
    }

    /// A description in one sentence.
    pub fn words(self) -> String {
        format!(
            "Each device is divided into {} of {}; a pass lays every layout into another of them.",
            counted(self.slots as usize, "slot", "slots"),
            format_bytes(self.slot_bytes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn devices(sizes: &[u64]) -> Vec<Identity> {
        let device = |size_bytes: &u64| Identity {
            size_bytes: *size_bytes,
            ..Identity::default()
        };
        sizes.iter().map(device).collect()
    }

    #[test]
    fn slots_are_equal_parts_of_the_smallest_device() {
        let slots = Slots::of(&devices(&[640 * MIB, 900 * MIB]), 4);
        assert_eq!((slots.slots, slots.slot_bytes), (4, 156 * MIB));
        let needed = slots.device_bytes_for(156 * MIB);
        assert!(needed <= 640 * MIB);
        assert_eq!(Slots::of(&devices(&[needed]), 4), slots);
        assert!(Slots::of(&devices(&[needed - 1]), 4).slot_bytes < 156 * MIB);
        assert_eq!(Slots::of(&devices(&[MIB]), 4).slot_bytes, 0);
    }
}
