//! The definition of an array: the contents of an array file.
//!
//! Three inputs ([`ArraySpec::parse`], [`ArraySpec::bundled`], [`ArraySpec::set`]), one check of
//! everything together ([`ArraySpec::check`]), two outputs ([`ArraySpec::build`] and
//! [`ArraySpec::describe`], whose text can be parsed again). One table, `keys.rs`, has all keys,
//! their ranges and meanings.

mod build;
mod bundled;
mod check;
mod error;
mod keys;
mod parse;

pub use bundled::{Bundled, bundled};
pub use error::SpecError;
pub use keys::{KeyInfo, keys};

use crate::controller::MirrorRead;
use crate::controller::limiter::Limits;
use crate::drive::rotating::Scheduling;
use crate::faults::FaultPlan;
use crate::layout::{Level, ParityWrite, Rotation};

/// The kind of all drives of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveKind {
    /// Rotating disks: `[disk]` applies.
    Disk,
    /// Solid-state drives: `[ssd]` applies.
    Ssd,
}

/// A rotating disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSpec {
    /// Revolutions per minute.
    pub rpm: u64,
    /// Arm positions.
    pub cylinders: u64,
    /// Tracks per cylinder.
    pub heads: u64,
    /// 512-byte sectors on the outermost track.
    pub sectors_per_track_outer: u64,
    /// 512-byte sectors on the innermost track.
    pub sectors_per_track_inner: u64,
    /// Zones of equally long tracks; 0: the linear law.
    pub zones: u64,
    /// Seek to the next cylinder.
    pub seek_track_ns: u64,
    /// Mean seek between random cylinders.
    pub seek_average_ns: u64,
    /// Seek over the full stroke.
    pub seek_full_ns: u64,
    /// Factor on the whole seek curve: firmware and settling relative to the data sheet.
    pub seek_scale: f64,
    /// Switch to another head in the same cylinder.
    pub head_switch_ns: u64,
    /// Extra settling before a write after a seek.
    pub write_settle_ns: u64,
    /// Additional time the drive is occupied by an access that moves its arm.
    pub occupancy_ns: u64,
    /// Accesses from which the drive chooses.
    pub queue_depth: u64,
    /// Policy of that choice.
    pub scheduling: Scheduling,
    /// Weight w of the rotational wait in the choice.
    pub rotation_weight: f64,
    /// An access that has waited longer goes first; 0: never.
    pub wait_limit_ns: u64,
    /// Bytes read ahead after a read; 0: no read-ahead.
    pub read_ahead_bytes: u64,
    /// Streams with read-ahead at the same time.
    pub segments: u64,
}

/// A solid-state drive.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdSpec {
    /// Capacity.
    pub size_bytes: u64,
    /// Units that read and program independently of each other.
    pub channels: u64,
    /// Unit of reading and programming.
    pub page_bytes: u64,
    /// Read of a page.
    pub read_ns: u64,
    /// Program of a page.
    pub program_ns: u64,
    /// Erase of a block.
    pub erase_ns: u64,
    /// Longest wait of a read for a program in progress.
    pub suspend_ns: u64,
    /// Pages in a block.
    pub pages_per_block: u64,
    /// Write buffer.
    pub buffer_bytes: u64,
    /// Fast flash; 0: none.
    pub fast_bytes: u64,
    /// Program of a page in fast flash.
    pub fast_program_ns: u64,
    /// Bytes of fast flash freed per second while the drive is idle.
    pub fast_refill_bytes_per_s: u64,
    /// Collection is done at once each time this much was written; 0: evenly.
    pub collection_burst_bytes: u64,
    /// Page times vary uniformly by up to this much in either direction.
    pub jitter_percent: f64,
    /// Spare flash, in per cent of the capacity.
    pub spare_percent: f64,
    /// Start in steady state.
    pub preconditioned: bool,
    /// Map each page and collect block by block.
    pub page_map: bool,
}

/// The controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    /// Concurrent host operations.
    pub command_cap: u64,
    /// Processor time per operation.
    pub operation_cpu_ns: u64,
    /// Processor time per further piece of an operation.
    pub split_cpu_ns: u64,
    /// Processor time per operation for each doubling of the operations in progress.
    pub queue_cpu_ns: u64,
    /// Cost of each drive access beyond the first, as a share of an operation's time.
    pub access_share: f64,
    /// Latency of a command on its way to a drive (pipelined).
    pub command_latency_ns: u64,
    /// Latency of a completion on its way back (pipelined).
    pub completion_latency_ns: u64,
    /// Bytes per second to the host; 0: no limit.
    pub link_bytes_per_s: u64,
    /// Bytes the controller prefetches for a stream of reads; 0: none.
    pub prefetch_bytes: u64,
    /// Which copy serves a read.
    pub mirror_read: MirrorRead,
    /// How small writes update parity.
    pub parity_write: ParityWrite,
    /// How parity rotates.
    pub rotation: Rotation,
    /// Unit in which parity is updated.
    pub parity_page_bytes: u64,
}

/// The write-back cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheSpec {
    /// Bytes that may be dirty; 0: write-through.
    pub size_bytes: u64,
    /// Concurrent destages.
    pub slots: u64,
    /// Adjacent writes are merged up to this size.
    pub merge_bytes: u64,
    /// Survives a power cut: durable writes are acknowledged from it too.
    pub nonvolatile: bool,
}

/// A complete array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// One-line title for lists.
    pub title: String,
    /// Source of the figures.
    pub source: String,
    /// Seed of all randomness in the array.
    pub seed: u64,
    /// The organisation.
    pub level: Level,
    /// Drives.
    pub disks: u64,
    /// Contiguous bytes on one drive.
    pub stripe_unit_bytes: u64,
    /// Start of the partition.
    pub offset_bytes: u64,
    /// Size of the volume; 0: up to the end of the array.
    pub size_bytes: u64,
    /// Start of the volume's data in the partition, rounded up to an allocation unit.
    pub file_offset_bytes: u64,
    /// The file system's allocation unit; 0: none.
    pub allocation_unit_bytes: u64,
    /// Fragments of the file; 0: contiguous.
    pub fragments: u64,
    /// Logical sector.
    pub sector_bytes: u64,
    /// Disk space per byte stored, at least 1.
    pub placement: f64,
    /// Bytes on one drive after which the order of the drives changes; 0: never.
    pub chunklet_bytes: u64,
    /// Growth of service times in per cent per hour of virtual time.
    pub drift_percent_per_hour: f64,
    /// Virtual age of the array at time 0: the drift starts from there.
    pub age_ns: u64,
    /// The kind of the drives.
    pub drive: DriveKind,
    /// Rotating disks.
    pub disk: DiskSpec,
    /// Solid-state drives.
    pub ssd: SsdSpec,
    /// The controller.
    pub controller: ControllerSpec,
    /// The write-back cache.
    pub cache: CacheSpec,
    /// Caps.
    pub limit: Limits,
    /// Faults to inject.
    pub faults: FaultPlan,
}

/// A single 10K disk from 2007: the defaults of a file.
impl Default for ArraySpec {
    fn default() -> Self {
        ArraySpec {
            title: String::new(),
            source: String::new(),
            seed: 1,
            level: Level::Single,
            disks: 1,
            stripe_unit_bytes: 64 << 10,
            offset_bytes: 1 << 20,
            size_bytes: 0,
            file_offset_bytes: 0,
            allocation_unit_bytes: 0,
            fragments: 0,
            sector_bytes: 512,
            placement: 1.0,
            chunklet_bytes: 0,
            drift_percent_per_hour: 0.0,
            age_ns: 0,
            drive: DriveKind::Disk,
            disk: DiskSpec::default(),
            ssd: SsdSpec::default(),
            controller: ControllerSpec::default(),
            cache: CacheSpec {
                size_bytes: 0,
                slots: 32,
                merge_bytes: 256 << 10,
                nonvolatile: false,
            },
            limit: Limits::default(),
            faults: FaultPlan::default(),
        }
    }
}

impl Default for DiskSpec {
    fn default() -> Self {
        DiskSpec {
            rpm: 10_000,
            cylinders: 88_600,
            heads: 8,
            sectors_per_track_outer: 1_055,
            sectors_per_track_inner: 600,
            zones: 0,
            seek_track_ns: 300_000,
            seek_average_ns: 4_500_000,
            seek_full_ns: 9_500_000,
            seek_scale: 1.0,
            head_switch_ns: 300_000,
            write_settle_ns: 300_000,
            occupancy_ns: 150_000,
            queue_depth: 24,
            scheduling: Scheduling::Blend,
            rotation_weight: 0.15,
            wait_limit_ns: 0,
            read_ahead_bytes: 256 << 10,
            segments: 8,
        }
    }
}

impl Default for SsdSpec {
    fn default() -> Self {
        SsdSpec {
            size_bytes: 480 << 30,
            channels: 8,
            page_bytes: 4_096,
            read_ns: 70_000,
            program_ns: 300_000,
            erase_ns: 3_000_000,
            suspend_ns: 50_000,
            pages_per_block: 1_024,
            buffer_bytes: 16 << 20,
            fast_bytes: 0,
            fast_program_ns: 100_000,
            fast_refill_bytes_per_s: 0,
            collection_burst_bytes: 0,
            jitter_percent: 5.0,
            spare_percent: 28.0,
            preconditioned: true,
            page_map: false,
        }
    }
}

impl Default for ControllerSpec {
    fn default() -> Self {
        ControllerSpec {
            command_cap: 256,
            operation_cpu_ns: 20_000,
            split_cpu_ns: 0,
            queue_cpu_ns: 0,
            access_share: 0.0,
            command_latency_ns: 70_000,
            completion_latency_ns: 50_000,
            link_bytes_per_s: 0,
            prefetch_bytes: 0,
            mirror_read: MirrorRead::Nearest,
            parity_write: ParityWrite::Cheaper,
            rotation: Rotation::LeftSymmetric,
            parity_page_bytes: 4_096,
        }
    }
}

#[cfg(test)]
mod tests;
