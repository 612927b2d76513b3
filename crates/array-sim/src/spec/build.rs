//! Builds a running array from a specification.

use super::{ArraySpec, DriveKind};
use crate::array::{Array, Drift, Parts};
use crate::controller::cache::{Cache, CacheModel};
use crate::controller::limiter::Limiter;
use crate::controller::read_ahead::Streams;
use crate::controller::{Controller, ControllerModel};
use crate::drive::flash::{FlashDrive, FlashModel};
use crate::drive::rotating::{DiskModel, RotatingDrive};
use crate::drive::{Drive, SECTOR_BYTES};
use crate::facts::VolumeFacts;
use crate::faults::Faults;
use crate::geometry::{Geometry, Zone, zones};
use crate::random::{Entity, draw, unit};
use std::sync::Arc;

/// Spindles of one model differ in speed by up to this much in either direction.
const SPEED_SPREAD: f64 = 0.001;

/// Initial capacity for operations in flight. More are allowed: the queues then grow once.
const OPERATIONS_EXPECTED: usize = 4_096;

impl ArraySpec {
    /// The array, idle at time 0. The same specification gives the same array.
    ///
    /// # Panics
    /// If [`ArraySpec::check`] fails; specifications from [`ArraySpec::parse`],
    /// [`ArraySpec::with_overrides`] and [`ArraySpec::bundled`] have passed it.
    pub fn build(&self) -> Array {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        let layout = self.layout();
        let start = self.offset_bytes + self.data_offset_bytes();
        let behind = layout.size_bytes() - start - self.gaps_bytes();
        let room = behind / self.sector_bytes * self.sector_bytes;
        Array::assemble(Parts {
            layout,
            drives: self.drives(),
            controller: self.controller(),
            cache: Cache::new(CacheModel {
                size_bytes: self.cache.size_bytes,
                slots: self.cache.slots as u32,
                merge_bytes: self.cache.merge_bytes,
                stripe_bytes: if self.level.parities() > 0 {
                    layout.unit_bytes * layout.data_disks()
                } else {
                    0
                },
                nonvolatile: self.cache.nonvolatile,
            }),
            streams: Streams::new(
                self.controller.prefetch_bytes,
                self.stripe_unit_bytes,
                layout.size_bytes(),
            ),
            limiter: Limiter::new(self.limit),
            drive_iops: self.limit.drive_iops,
            faults: Faults::new(self.faults, self.seed),
            facts: self.facts(),
            volume_bytes: if self.size_bytes == 0 {
                room
            } else {
                self.size_bytes
            },
            command_cap: self.controller.command_cap as u32,
            drift: Drift {
                percent_per_hour: self.drift_percent_per_hour,
                age_ns: self.age_ns,
            },
            seed: self.seed,
            operations_expected: OPERATIONS_EXPECTED,
        })
    }

    /// The facts about the volume, without building it.
    pub fn facts(&self) -> VolumeFacts {
        let striped = self.level.striped();
        let unit = if striped { self.stripe_unit_bytes } else { 0 };
        VolumeFacts {
            level: self.level,
            disks: self.disks as u32,
            stripe_unit_bytes: unit,
            stripe_width_bytes: unit * self.layout().data_disks(),
            partition_offset_bytes: self.offset_bytes,
            file_offset_bytes: self.data_offset_bytes(),
            allocation_unit_bytes: self.allocation_unit_bytes,
            fragments: self.fragments as u32,
            fragment_bytes: self.fragment_bytes(),
            fragment_seed: self.seed,
            sector_bytes: self.sector_bytes as u32,
            rotational: self.drive == DriveKind::Disk,
        }
    }

    /// Bytes of each fragment of the file: whole allocation units, enough for the volume to fit
    /// into the number of fragments.
    fn fragment_bytes(&self) -> u64 {
        if self.fragments == 0 {
            return 0;
        }
        let start = self.offset_bytes + self.data_offset_bytes();
        let array = self.layout().size_bytes();
        let size = match self.size_bytes {
            0 => array.saturating_sub(start + self.gaps_bytes()),
            size => size,
        };
        let grain = self.allocation_unit_bytes.max(self.sector_bytes).max(1);
        size.div_ceil(self.fragments).next_multiple_of(grain)
    }

    fn controller(&self) -> Controller {
        let spec = &self.controller;
        Controller::new(ControllerModel {
            operation_ns: spec.operation_cpu_ns,
            split_ns: spec.split_cpu_ns,
            queue_ns: spec.queue_cpu_ns,
            access_share: spec.access_share,
            command_ns: spec.command_latency_ns,
            completion_ns: spec.completion_latency_ns,
            link_bytes_per_s: spec.link_bytes_per_s,
            mirror_read: spec.mirror_read.among(self.drive == DriveKind::Disk),
        })
    }

    fn drives(&self) -> Vec<Drive> {
        match self.drive {
            DriveKind::Disk => {
                let model = Arc::new(self.disk_model());
                (0..self.disks)
                    .map(|number| self.spindle(&model, number))
                    .collect()
            }
            DriveKind::Ssd => {
                let model = self.flash_model();
                let drive = |number| Drive::Flash(Box::new(FlashDrive::new(model.clone(), number)));
                (0..self.disks).map(drive).collect()
            }
        }
    }

    /// One disk. Its phase and speed depend only on the seed and its number, so they stay the same
    /// whatever else is changed in the array.
    fn spindle(&self, model: &Arc<DiskModel>, number: u64) -> Drive {
        let phase = unit(draw(self.seed, Entity::Spindle, number, 0));
        let revolution_ns = self.spindle_revolution_ns(number);
        // Data spread widely in memory does not stay in the cache.
        let room = (4 * OPERATIONS_EXPECTED / self.disks as usize).clamp(16, OPERATIONS_EXPECTED);
        let drive = RotatingDrive::new(Arc::clone(model), revolution_ns, phase, room);
        Drive::Rotating(Box::new(drive))
    }

    /// Nanoseconds per revolution of one drive: spindles of a model differ in speed.
    pub fn spindle_revolution_ns(&self, number: u64) -> f64 {
        let speed = 2.0 * unit(draw(self.seed, Entity::Spindle, number, 1)) - 1.0;
        self.revolution_ns() * (1.0 + SPEED_SPREAD * speed)
    }

    fn revolution_ns(&self) -> f64 {
        60e9 / self.disk.rpm as f64
    }

    fn disk_model(&self) -> DiskModel {
        let disk = &self.disk;
        let skew = disk.head_switch_ns as f64 / self.revolution_ns();
        let Some(seek) = self.seek_curve() else {
            unreachable!("the specification has been checked");
        };
        let geometry = Geometry::new(
            disk.cylinders as u32,
            disk.heads as u32,
            disk.sectors_per_track_outer as u32,
            disk.sectors_per_track_inner as u32,
            skew,
        );
        DiskModel {
            geometry: match disk.zones {
                0 => geometry,
                _ => geometry.with_zones(self.zones().0),
            },
            seek,
            head_switch_ns: disk.head_switch_ns as f64,
            write_settle_ns: disk.write_settle_ns as f64,
            occupancy_ns: disk.occupancy_ns as f64,
            scheduling: disk.scheduling,
            rotation_weight: disk.rotation_weight,
            queue_depth: disk.queue_depth as usize,
            wait_limit_ns: if disk.wait_limit_ns == 0 {
                u64::MAX
            } else {
                disk.wait_limit_ns
            },
            read_ahead_sectors: disk.read_ahead_bytes / SECTOR_BYTES,
            segments: disk.segments as usize,
            placement: self.placement,
            placement_unit_bytes: self.placement_unit_bytes(),
        }
    }

    /// The zones of a zoned disk, and its number of sectors.
    pub(super) fn zones(&self) -> (Vec<Zone>, u64) {
        let disk = &self.disk;
        zones(
            disk.zones as u32,
            (disk.cylinders as u32, disk.heads as u32),
            (
                disk.sectors_per_track_outer as u32,
                disk.sectors_per_track_inner as u32,
            ),
        )
    }

    pub(super) fn flash_model(&self) -> FlashModel {
        let ssd = &self.ssd;
        FlashModel {
            channels: ssd.channels as u32,
            page_bytes: ssd.page_bytes,
            read_ns: ssd.read_ns as f64,
            program_ns: ssd.program_ns as f64,
            erase_ns: ssd.erase_ns as f64,
            suspend_ns: ssd.suspend_ns,
            pages_per_block: ssd.pages_per_block as u32,
            buffer_pages: ssd.buffer_bytes / ssd.page_bytes,
            fast_bytes: ssd.fast_bytes,
            fast_program_ns: ssd.fast_program_ns as f64,
            fast_refill_bytes_per_ns: ssd.fast_refill_bytes_per_s as f64 / 1e9,
            collection_burst_bytes: ssd.collection_burst_bytes,
            jitter: ssd.jitter_percent / 100.0,
            capacity_bytes: ssd.size_bytes,
            spare: ssd.spare_percent / 100.0,
            preconditioned: ssd.preconditioned && !ssd.page_map,
            page_map: ssd.page_map,
            seed: self.seed,
        }
    }
}
