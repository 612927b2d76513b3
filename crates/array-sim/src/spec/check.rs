//! Consistency rules between the keys of an array.

use super::error::SpecError;
use super::{ArraySpec, DriveKind};
use crate::drive::page_map::{MAPS_BYTES_MAX, PAGES_MAX, map_bytes};
use crate::facts::VolumeFacts;
use crate::layout::{Layout, Level};
use crate::seek::SeekCurve;
use stripewise_units::ByteSize;

/// The unit in which `placement` spreads data without striping.
const PLACEMENT_UNIT_BYTES: u64 = 64 << 10;

impl ArraySpec {
    /// Checks the values against each other; setting a value has already checked its range.
    ///
    /// # Errors
    /// The first contradiction, reported for the key to change.
    pub fn check(&self) -> Result<(), SpecError> {
        self.check_level()?;
        self.check_units()?;
        self.check_drive()?;
        self.check_faults()?;
        self.check_volume()
    }

    fn check_level(&self) -> Result<(), SpecError> {
        let (level, disks) = (self.level, self.disks);
        let fail = |problem: String, hint: &str| Err(SpecError::new("disks", problem, hint));
        let min = u64::from(level.disks_min());
        if level == Level::Single && disks != 1 {
            let hint = "set level to linear, 0, 1, 10, 5 or 6 for several drives";
            return fail(format!("level single has one drive, not {disks}"), hint);
        }
        if disks < min {
            let hint = "RAID 1 and 10 need 2 drives, RAID 5 needs 3, RAID 6 needs 4";
            return fail(
                format!("{disks} drives; this level needs at least {min}"),
                hint,
            );
        }
        if level == Level::Raid10 && !disks.is_multiple_of(2) {
            return fail(
                format!("{disks} drives do not form pairs"),
                "RAID 10 needs an even number",
            );
        }
        Ok(())
    }

    fn check_units(&self) -> Result<(), SpecError> {
        let multiple = |key: &str, value: u64, of: u64| {
            if value.is_multiple_of(of) {
                return Ok(());
            }
            let mut problem = format!("{} is not a multiple of {}", ByteSize(value), ByteSize(of));
            if of == 512 && value < of && key.ends_with("offset") {
                problem.push_str(&format!("; {value} sectors are {value}s"));
            }
            let hint = format!("choose a multiple of {}", ByteSize(of));
            Err(SpecError::new(key, problem, hint))
        };
        let sector = self.sector_bytes;
        if sector != 512 && sector != 4096 {
            let problem = format!("{} is not a sector size", ByteSize(sector));
            return Err(SpecError::new("sector", problem, "512 or 4096"));
        }
        multiple("stripe_unit", self.stripe_unit_bytes, sector)?;
        multiple("offset", self.offset_bytes, sector)?;
        multiple("size", self.size_bytes, sector)?;
        multiple("file_offset", self.file_offset_bytes, sector)?;
        multiple("allocation_unit", self.allocation_unit_bytes, sector)?;
        if self.drive == DriveKind::Ssd {
            multiple("ssd.page_size", self.ssd.page_bytes, 512)?;
        }
        if self.level.parities() > 0 {
            let page = self.controller.parity_page_bytes;
            multiple("controller.parity_page", page, 512)?;
            multiple("stripe_unit", self.stripe_unit_bytes, page)?;
        }
        Ok(())
    }

    fn check_drive(&self) -> Result<(), SpecError> {
        if self.drive == DriveKind::Ssd {
            return self.check_page_map();
        }
        let disk = &self.disk;
        if disk.sectors_per_track_inner > disk.sectors_per_track_outer {
            let problem = "more sectors than on the outermost track";
            let hint = "inner tracks are shorter: at most disk.sectors_per_track_outer";
            return Err(SpecError::new(
                "disk.sectors_per_track_inner",
                problem,
                hint,
            ));
        }
        if self.seek_curve().is_none() {
            let problem = "the three seek times do not form a rising curve";
            let hint = "typical: seek_track 0.3ms, seek_average 4.5ms, seek_full 9.5ms; the average is near half of full";
            return Err(SpecError::new("disk.seek_average", problem, hint));
        }
        Ok(())
    }

    /// The page maps of all drives must fit into memory.
    fn check_page_map(&self) -> Result<(), SpecError> {
        let ssd = &self.ssd;
        if !ssd.page_map {
            return Ok(());
        }
        let fail = |problem: String, hint: &str| {
            let hint = format!("{hint}, or leave ssd.page_map out");
            Err(SpecError::new("ssd.page_map", problem, hint))
        };
        let pages = ssd.size_bytes.div_ceil(ssd.page_bytes);
        if pages > PAGES_MAX {
            let problem = format!("more than {PAGES_MAX} pages cannot be mapped");
            return fail(problem, "give a smaller ssd.size, such as 1G");
        }
        let model = self.flash_model();
        let of_one = map_bytes(pages, model.spare, model.pages_per_block);
        if of_one.saturating_mul(self.disks) > MAPS_BYTES_MAX {
            let problem = format!(
                "the maps of {} drives take more than {} of memory",
                self.disks,
                ByteSize(MAPS_BYTES_MAX)
            );
            return fail(problem, "give a smaller ssd.size or fewer disks");
        }
        Ok(())
    }

    /// The scaled seek curve; `None` where the times contradict each other.
    pub(super) fn seek_curve(&self) -> Option<SeekCurve> {
        let disk = &self.disk;
        let scaled = |ns: u64| ns as f64 * disk.seek_scale;
        SeekCurve::through(
            disk.cylinders as u32,
            scaled(disk.seek_track_ns),
            scaled(disk.seek_average_ns),
            scaled(disk.seek_full_ns),
        )
    }

    fn check_faults(&self) -> Result<(), SpecError> {
        let plan = &self.faults;
        if plan.spike_ns_max < plan.spike_ns_min {
            let problem = "shorter than faults.spike_min";
            return Err(SpecError::new(
                "faults.spike_max",
                problem,
                "at least faults.spike_min",
            ));
        }
        if plan.stall_ns > 0 && plan.stall_ns >= plan.stall_interval_ns {
            let problem = "a stall as long as its interval would never end";
            let hint = "set faults.stall_interval to several times faults.stall";
            return Err(SpecError::new("faults.stall", problem, hint));
        }
        let silent = plan.torn_per_million + plan.lost_per_million + plan.misdirected_per_million;
        if silent > 1_000_000 {
            let problem = "torn, lost and misdirected writes are more than all writes";
            let hint = "their sum is at most 1000000";
            return Err(SpecError::new("faults.torn_per_million", problem, hint));
        }
        if self.limit.burst_operations > 0 && self.limit.iops == 0 {
            let problem = "burst credit without a cap to exceed";
            return Err(SpecError::new(
                "limit.burst_operations",
                problem,
                "set limit.iops too",
            ));
        }
        if self.limit.burst_bytes > 0 && self.limit.bytes_per_s == 0 {
            let problem = "burst credit without a cap to exceed";
            return Err(SpecError::new(
                "limit.burst_bytes",
                problem,
                "set limit.bandwidth too",
            ));
        }
        Ok(())
    }

    fn check_volume(&self) -> Result<(), SpecError> {
        let array = self.layout().size_bytes();
        let start = self.offset_bytes + self.data_offset_bytes();
        if start >= array {
            let problem = format!("beyond the end of the array, {}", ByteSize(array));
            let hint = "choose an offset inside the array, or more or larger drives";
            return Err(SpecError::new("offset", problem, hint));
        }
        let behind = (array - start).saturating_sub(self.gaps_bytes());
        let room = behind / self.sector_bytes * self.sector_bytes;
        if self.size_bytes > room || room == 0 {
            let problem = format!("the array has room for {} after the offset", ByteSize(room));
            let hint = "choose a smaller size, or 0 for all of it";
            return Err(SpecError::new("size", problem, hint));
        }
        Ok(())
    }

    /// Start of the data in the partition: the file's offset, rounded up.
    pub(super) fn data_offset_bytes(&self) -> u64 {
        self.file_offset_bytes
            .next_multiple_of(self.allocation_unit_bytes.max(1))
    }

    /// Space that the gaps between the file's fragments take up in the array.
    pub(super) fn gaps_bytes(&self) -> u64 {
        VolumeFacts {
            fragments: self.fragments as u32,
            allocation_unit_bytes: self.allocation_unit_bytes,
            sector_bytes: self.sector_bytes as u32,
            ..VolumeFacts::default()
        }
        .gaps_bytes()
    }

    pub(super) fn placement_unit_bytes(&self) -> u64 {
        if self.level.striped() {
            self.stripe_unit_bytes
        } else {
            PLACEMENT_UNIT_BYTES
        }
    }

    /// The mapping this array uses.
    pub(super) fn layout(&self) -> Layout {
        let raw = match self.drive {
            DriveKind::Ssd => self.ssd.size_bytes,
            DriveKind::Disk if self.disk.zones > 0 => self.zones().1 * 512,
            DriveKind::Disk => {
                let disk = &self.disk;
                let mean = disk.sectors_per_track_outer + disk.sectors_per_track_inner;
                disk.cylinders * disk.heads * mean / 2 * 512
            }
        };
        let unit = self.placement_unit_bytes();
        let stored = (raw as f64 / self.placement) as u64;
        Layout {
            level: self.level,
            disks: self.disks as u32,
            unit_bytes: self.stripe_unit_bytes,
            disk_bytes: (stored / unit).saturating_sub(1) * unit,
            parity_page_bytes: self.controller.parity_page_bytes,
            parity_write: self.controller.parity_write,
            rotation: self.controller.rotation,
            chunklet_rows: match self.chunklet_bytes {
                0 => 0,
                bytes => (bytes / self.stripe_unit_bytes).max(1),
            },
        }
    }
}
