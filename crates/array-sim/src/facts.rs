//! What may be known about an array from outside: how its volume is laid out,
//! and what it has done.

use crate::layout::Level;

/// Facts about a volume that a higher layer may want to know, as it would read
/// them from the controller and the partition table of a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeFacts {
    /// The organisation.
    pub level: Level,
    /// Drives.
    pub disks: u32,
    /// Bytes that follow each other on one drive; 0 where nothing is striped.
    pub stripe_unit_bytes: u64,
    /// Bytes of data in one full stripe; 0 where nothing is striped.
    pub stripe_width_bytes: u64,
    /// Start of the partition on the array.
    pub partition_offset_bytes: u64,
    /// Where in the partition the file lies that the volume stands for.
    pub file_offset_bytes: u64,
    /// The file system's allocation unit; 0: not stated.
    pub allocation_unit_bytes: u64,
    /// Logical sector.
    pub sector_bytes: u32,
    /// Whether the drives have an arm.
    pub rotational: bool,
}

/// What an array has done so far, for the books: utilisation and amplification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayTotals {
    /// Operations completed for the host.
    pub completed: u64,
    /// Accesses sent to drives.
    pub accesses: u64,
    /// Nanoseconds of service, summed over drives.
    pub drives_busy_ns: u64,
}
