//! Division of a target: regions, owners of blocks, and the workers.

use crate::map::Map;
use crate::verify_targets::{Region, TargetLayout};
use crate::worker_identity::{Role, WorkerIdentity};

/// SQL Server's page.
const PAGE_BYTES: u32 = 8 << 10;
/// The largest operation: read-ahead, and full passes.
const LARGEST_BYTES: u32 = 1 << 20;
/// The log takes this fraction of a target, up to this limit.
const LOG_SHARE: u64 = 16;
const LOG_BYTES_MAX: u64 = 50 << 20;
/// So does the part that is truncated and grows again.
const GROWS_BYTES_MAX: u64 = 64 << 20;
/// A smaller target has neither.
const LOG_TARGET_BYTES_MIN: u64 = 1 << 20;
/// Operations in flight of a log or a scan.
const FEW_OUTSTANDING: u32 = 4;

/// One thread's work on its own blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Its role.
    pub role: Role,
    /// Operations that it has in flight.
    pub outstanding: u32,
}

/// The work on each target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The unit with a generation; at least a sector.
    pub page_bytes: u32,
    /// Each has its own part of the pages.
    pub loads: Vec<Load>,
    /// Log appends, after the pages.
    pub log: bool,
    /// A scan reads everything in order meanwhile.
    pub scan: bool,
    /// A part at the end is truncated and grows again: only for the run's own files.
    pub grows: bool,
}

impl Plan {
    /// SQL Server's types of I/O: threads on pages, the last of several on runs of pages scattered
    /// in memory, a log, read-ahead.
    pub fn of_pages(threads: u32, outstanding: u32, read_percent: u32) -> Plan {
        let load = |thread: u32| Load {
            role: Role::Pages {
                read_percent,
                gathers: threads > 1 && thread + 1 == threads,
            },
            outstanding,
        };
        Plan {
            page_bytes: PAGE_BYTES,
            loads: (0..threads).map(load).collect(),
            log: true,
            scan: true,
            grows: false,
        }
    }

    /// Checks that a target of this size has space for a page per load.
    ///
    /// # Errors
    /// If it has not.
    pub fn fits(&self, size_bytes: u64, sector_bytes: u32) -> Result<(), TooSmall> {
        self.divided(size_bytes, sector_bytes).map(drop)
    }

    /// Buffer memory needed per target.
    pub fn buffer_bytes(&self) -> u64 {
        let loads = self.loads.iter().map(|load| u64::from(load.outstanding));
        let others = [self.log, self.scan, self.grows]
            .into_iter()
            .filter(|one| *one);
        let few = others.count() as u64 * u64::from(FEW_OUTSTANDING);
        (loads.sum::<u64>() + few) * u64::from(LARGEST_BYTES)
    }

    /// Memory for the maps of a target of this size, before it exists. An upper bound: the last
    /// blocks of a region may be incomplete.
    ///
    /// # Errors
    /// If the target is too small.
    pub fn map_bytes(&self, size_bytes: u64, sector_bytes: u32) -> Result<u64, TooSmall> {
        let division = self.divided(size_bytes, sector_bytes)?;
        let log_blocks = division.log_bytes / u64::from(sector_bytes);
        let grow_blocks = match division.grows_bytes {
            0 => 0,
            // It also has the remainder of the log and the pages.
            bytes => bytes / u64::from(division.page_bytes) + 2,
        };
        Ok(Map::bytes_of(division.pages + log_blocks + grow_blocks))
    }

    fn divided(&self, size_bytes: u64, sector_bytes: u32) -> Result<Division, TooSmall> {
        let page_bytes = self.page_bytes.max(sector_bytes);
        let share = |is_wanted: bool, most: u64| match size_bytes {
            LOG_TARGET_BYTES_MIN.. if is_wanted => (size_bytes / LOG_SHARE).min(most),
            _ => 0,
        };
        let log_bytes = share(self.log, LOG_BYTES_MAX);
        let grows_bytes = share(self.grows, GROWS_BYTES_MAX);
        let pages = (size_bytes - log_bytes - grows_bytes) / u64::from(page_bytes);
        if pages < self.loads.len() as u64 || self.loads.is_empty() {
            return Err(TooSmall { page_bytes });
        }
        Ok(Division {
            page_bytes,
            pages,
            log_bytes,
            grows_bytes,
        })
    }

    /// A page of this size holds whole sectors, and the largest operation whole pages.
    pub fn page_of(bytes: u64) -> u32 {
        let most = u64::from(LARGEST_BYTES);
        let bytes = bytes.clamp(1, most);
        // The largest power of two not above it.
        1 << bytes.ilog2()
    }
}

/// The sizes of a target's parts.
struct Division {
    page_bytes: u32,
    pages: u64,
    log_bytes: u64,
    grows_bytes: u64,
}

/// There is no space for a page per load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// Bytes of a page.
    pub page_bytes: u32,
}

/// The workers of all targets, numbered in order of creation.
#[derive(Debug, Default)]
pub struct WorkerSet {
    /// By number.
    pub all: Vec<WorkerIdentity>,
    seed: u64,
}

impl WorkerSet {
    /// None yet; their choices follow from the seed.
    pub fn new(seed: u64) -> WorkerSet {
        WorkerSet {
            all: Vec::new(),
            seed,
        }
    }

    fn take(&mut self, target: u16, region: usize, role: Role, slots: u32) -> u16 {
        // More threads than that are refused earlier (`all` is counted).
        let id = u16::try_from(self.all.len()).unwrap_or(u16::MAX);
        self.all.push(WorkerIdentity {
            id,
            target,
            region,
            role,
            slots,
            slot_bytes: LARGEST_BYTES,
            seed: self.seed,
        });
        id
    }

    /// Memory of all buffers.
    pub fn buffer_bytes(&self) -> u64 {
        let slots = self.all.iter().map(|identity| u64::from(identity.slots));
        slots.sum::<u64>() * u64::from(LARGEST_BYTES)
    }

    /// A target under test: pages first, the log after them.
    ///
    /// # Errors
    /// If it is too small.
    pub fn layout(
        &mut self,
        target: u16,
        size_bytes: u64,
        sector_bytes: u32,
        plan: &Plan,
    ) -> Result<TargetLayout, TooSmall> {
        let Division {
            page_bytes,
            pages,
            log_bytes,
            grows_bytes,
        } = plan.divided(size_bytes, sector_bytes)?;
        let owners: Vec<u16> = (plan.loads.iter())
            .map(|load| self.take(target, 0, load.role, load.outstanding))
            .collect();
        let mut regions = vec![Region::new(0, page_bytes, pages, &owners)];
        let data_bytes = pages * u64::from(page_bytes);
        let log_sectors = log_bytes / u64::from(sector_bytes);
        if log_sectors > 0 {
            let log = self.take(target, 1, Role::Log, FEW_OUTSTANDING);
            regions.push(Region::new(data_bytes, sector_bytes, log_sectors, &[log]));
        }
        let end = regions.last().map_or(0, |region| region.span().end);
        let start = end.next_multiple_of(u64::from(page_bytes));
        let blocks = size_bytes.saturating_sub(start) / u64::from(page_bytes);
        if grows_bytes > 0 && blocks > 0 {
            let full_bytes = size_bytes;
            let role = Role::Grows { full_bytes };
            let owner = self.take(target, regions.len(), role, FEW_OUTSTANDING);
            let mut region = Region::new(start, page_bytes, blocks, &[owner]);
            region.grows = true;
            regions.push(region);
        }
        if plan.scan {
            self.take(target, 0, Role::Scan, FEW_OUTSTANDING);
        }
        Ok(TargetLayout {
            sector_bytes,
            regions,
        })
    }

    /// A whole device, once, in the largest operations, and the remainder after them: two bytes of
    /// memory per MiB.
    pub fn whole(
        &mut self,
        target: u16,
        size_bytes: u64,
        sector_bytes: u32,
        outstanding: u32,
    ) -> TargetLayout {
        let mut regions = Vec::new();
        let mut start_bytes = 0;
        for block_bytes in [LARGEST_BYTES, sector_bytes] {
            let blocks = (size_bytes - start_bytes) / u64::from(block_bytes);
            if blocks > 0 {
                let id = self.take(target, regions.len(), Role::Log, outstanding);
                regions.push(Region::new(start_bytes, block_bytes, blocks, &[id]));
                start_bytes += blocks * u64::from(block_bytes);
            }
        }
        TargetLayout {
            sector_bytes,
            regions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_cover_a_target_and_every_block_has_an_owner_that_writes() {
        for size_bytes in [64 << 10, 1 << 20, 16 << 20, (16 << 20) + 512] {
            let mut worker_set = WorkerSet::new(1);
            let plan = Plan::of_pages(3, 8, 60);
            let layout = (worker_set.layout(0, size_bytes, 512, &plan)).expect("room");
            let mut end = 0;
            for (number, region) in layout.regions.iter().enumerate() {
                assert_eq!(region.span().start, end);
                end = region.span().end;
                let owners = (worker_set.all.iter())
                    .filter(|identity| identity.region == number && identity.role != Role::Scan);
                let owned: u64 = owners
                    .map(|identity| {
                        let part = region.part_of(identity.id);
                        part.end - part.start
                    })
                    .sum();
                assert_eq!(owned, region.map.blocks());
            }
            assert!(
                end <= size_bytes && size_bytes - end < 2 * 8192,
                "{size_bytes}"
            );
        }
        let plan = Plan::of_pages(3, 8, 60);
        let small = WorkerSet::new(1).layout(0, 16 << 10, 512, &plan);
        assert_eq!(small.err(), Some(TooSmall { page_bytes: 8192 }));
        assert!(plan.fits(16 << 10, 512).is_err() && plan.fits(24 << 10, 512).is_ok());
    }

    /// Accurate to a page or two, so that what does not fit is refused before it is allocated.
    #[test]
    fn maps_are_known_before_there_is_a_target() {
        for size_bytes in [64 << 10, (1 << 20) + 512, 16 << 20, (1 << 30) + 4096] {
            for (grows, sector_bytes) in [(false, 512), (true, 512), (true, 4096)] {
                let plan = Plan {
                    grows,
                    ..Plan::of_pages(3, 8, 60)
                };
                let layout = WorkerSet::new(1).layout(0, size_bytes, sector_bytes, &plan);
                let regions = layout.expect("room").regions;
                let blocks: u64 = regions.iter().map(|region| region.map.blocks()).sum();
                let planned = plan.map_bytes(size_bytes, sector_bytes).expect("room");
                let spare = planned.checked_sub(Map::bytes_of(blocks));
                assert!(
                    spare.is_some_and(|bytes| bytes <= 8),
                    "{size_bytes} {spare:?}"
                );
            }
        }
        // Two bytes per page of 8 KiB: 256 MiB per tebibyte.
        let plan = Plan::of_pages(2, 8, 60);
        let bytes = plan.map_bytes(16 << 40, 512).expect("room");
        assert_eq!(bytes >> 20, 4 << 10);
    }

    #[test]
    fn buffers_are_known_before_there_is_a_target() {
        for grows in [false, true] {
            let plan = Plan {
                grows,
                ..Plan::of_pages(3, 8, 60)
            };
            let mut worker_set = WorkerSet::new(1);
            (worker_set.layout(0, 16 << 20, 512, &plan)).expect("room");
            assert_eq!(plan.buffer_bytes(), worker_set.buffer_bytes());
        }
    }

    #[test]
    fn a_whole_device_is_covered_to_its_last_sector() {
        let mut worker_set = WorkerSet::new(1);
        let layout = worker_set.whole(0, (5 << 20) + 3 * 512, 512, 4);
        let end = layout.regions.last().map(|region| region.span().end);
        assert_eq!(end, Some((5 << 20) + 3 * 512));
        assert_eq!(worker_set.all.len(), 2);
    }

    #[test]
    fn pages_are_powers_of_two_that_the_largest_operation_holds() {
        for (bytes, page) in [(8192, 8192), (12_288, 8192), (512, 512), (4 << 20, 1 << 20)] {
            assert_eq!(Plan::page_of(bytes), page);
        }
    }
}
