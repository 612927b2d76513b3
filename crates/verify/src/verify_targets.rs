//! State shared by workers: the targets, their regions with a map each, and the owners of blocks.

use crate::map::Map;
use crate::sector_reading::Suspect;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A row of blocks of one size on a target.
#[derive(Debug)]
pub struct Region {
    /// Its first byte.
    pub start_bytes: u64,
    /// The unit with a generation: every write consists of whole blocks.
    pub block_bytes: u32,
    /// Expected contents of its blocks.
    pub map: Map,
    /// It is truncated and grows again: only its owner reads there.
    pub grows: bool,
    /// Owner from each of these blocks on; ascending.
    owners: Vec<(u64, u16)>,
}

impl Region {
    /// A region whose blocks are divided evenly, one contiguous part per owner.
    ///
    /// # Panics
    /// Without owners.
    pub fn new(start_bytes: u64, block_bytes: u32, blocks: u64, owners: &[u16]) -> Self {
        assert!(!owners.is_empty(), "every block belongs to a worker");
        let count = owners.len() as u64;
        let first = |(at, owner): (usize, &u16)| (blocks * at as u64 / count, *owner);
        Region {
            start_bytes,
            block_bytes,
            map: Map::new(blocks),
            grows: false,
            owners: owners.iter().enumerate().map(first).collect(),
        }
    }

    /// Its bytes.
    pub fn span(&self) -> Range<u64> {
        let bytes = self.map.blocks() * u64::from(self.block_bytes);
        self.start_bytes..self.start_bytes + bytes
    }

    /// Offset of a block.
    pub fn offset_of(&self, block: u64) -> u64 {
        self.start_bytes + block * u64::from(self.block_bytes)
    }

    /// The block that contains this byte of the region.
    #[inline]
    pub fn block_at(&self, offset_bytes: u64) -> u64 {
        (offset_bytes - self.start_bytes) / u64::from(self.block_bytes)
    }

    fn owner_of(&self, block: u64) -> u16 {
        let next = self.owners.partition_point(|(first, _)| *first <= block);
        self.owners[next.saturating_sub(1)].1
    }

    /// The blocks of one worker.
    pub fn part_of(&self, worker: u16) -> Range<u64> {
        let Some(at) = self.owners.iter().position(|(_, owner)| *owner == worker) else {
            return 0..0;
        };
        let end = self.owners.get(at + 1);
        self.owners[at].0..end.map_or(self.map.blocks(), |(first, _)| *first)
    }
}

/// A target from the workers' point of view.
#[derive(Debug)]
pub struct TargetLayout {
    /// Its logical sector.
    pub sector_bytes: u32,
    /// Ascending, without overlaps.
    pub regions: Vec<Region>,
}

impl TargetLayout {
    /// The region that contains this byte.
    pub fn region_at(&self, offset_bytes: u64) -> Option<&Region> {
        let mut regions = self.regions.iter();
        regions.find(|region| region.span().contains(&offset_bytes))
    }
}

/// State shared by the workers of a run.
#[derive(Debug)]
pub struct VerifyTargets {
    /// The run's number, in every stamp.
    pub run: u64,
    /// By target number.
    pub layouts: Vec<TargetLayout>,
    /// Nanoseconds since 1970 when the workers' clock showed 0.
    pub epoch_ns: u64,
    /// Suspects found by others in a worker's blocks.
    courts: Vec<SuspectQueue>,
    faults: AtomicU64,
}

#[derive(Debug, Default)]
struct SuspectQueue {
    waiting: AtomicUsize,
    suspects: Mutex<Vec<Suspect>>,
}

/// Most suspects waiting per worker: more give no new information.
const WAITING_MAX: usize = 65_536;

impl VerifyTargets {
    /// For `workers` workers, numbered from 0.
    pub fn new(run: u64, layouts: Vec<TargetLayout>, epoch_ns: u64, workers: u16) -> Self {
        VerifyTargets {
            run,
            layouts,
            epoch_ns,
            courts: (0..workers).map(|_| SuspectQueue::default()).collect(),
            faults: AtomicU64::new(0),
        }
    }

    /// Memory of all maps.
    pub fn map_bytes(&self) -> u64 {
        let regions = self.layouts.iter().flat_map(|layout| &layout.regions);
        regions
            .map(|region| Map::bytes_of(region.map.blocks()))
            .sum()
    }

    /// Number of faults found so far.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    pub(crate) fn found(&self, faults: usize) {
        self.faults.fetch_add(faults as u64, Ordering::Relaxed);
    }

    /// Passes suspect data to its owner: only then is it certain that no one writes there
    /// meanwhile.
    pub fn add_suspect(&self, target: u16, suspect: Suspect) {
        let Some(region) = self.layouts[usize::from(target)].region_at(suspect.offset_bytes) else {
            return;
        };
        let owner = region.owner_of(region.block_at(suspect.offset_bytes));
        let Some(suspect_queue) = self.courts.get(usize::from(owner)) else {
            return;
        };
        let mut suspects = (suspect_queue.suspects.lock()).unwrap_or_else(PoisonError::into_inner);
        if suspects.len() < WAITING_MAX {
            suspects.push(suspect);
            suspect_queue
                .waiting
                .store(suspects.len(), Ordering::SeqCst);
        }
    }

    pub(crate) fn is_accused(&self, worker: u16) -> bool {
        let suspect_queue = self.courts.get(usize::from(worker));
        suspect_queue.is_some_and(|suspect_queue| suspect_queue.waiting.load(Ordering::SeqCst) > 0)
    }

    pub(crate) fn suspects(&self, worker: u16) -> Vec<Suspect> {
        let Some(suspect_queue) = self.courts.get(usize::from(worker)) else {
            return Vec::new();
        };
        let mut suspects = (suspect_queue.suspects.lock()).unwrap_or_else(PoisonError::into_inner);
        suspect_queue.waiting.store(0, Ordering::SeqCst);
        std::mem::take(&mut suspects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_one_owner() {
        let region = Region::new(4096, 512, 1001, &[5, 2, 9]);
        let parts = [5, 2, 9].map(|worker| region.part_of(worker));
        assert_eq!(parts[0].start, 0);
        assert_eq!(parts[2].end, 1001);
        for (part, worker) in parts.iter().zip([5, 2, 9]) {
            for block in part.clone() {
                assert_eq!(region.owner_of(block), worker, "block {block}");
                assert_eq!(region.block_at(region.offset_of(block)), block);
            }
        }
        assert_eq!(region.part_of(1), 0..0);
    }
}
