//! What every block must hold: two bytes a block, and a table for the few that need more.
//!
//! A block's generation grows with every write that is issued to it and is never used
//! twice. Two bytes hold the generation that the last successful write left. What does
//! not fit there is in the side table: blocks whose last write failed, was short or never
//! came back (they may hold any of a *set* of generations until a later write succeeds; no
//! read ends that), generations above 32,767, and blocks that are used no more because a
//! fault was found in them.
//!
//! A block belongs to one worker, which alone changes it; others look.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The block is in the side table.
const ASIDE: u16 = 0x8000;
/// The largest generation that two bytes hold.
const SMALL_MAX: u32 = 0x7fff;

/// What a block may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing was ever written to it.
    Never,
    /// This generation.
    Exactly(u32),
    /// Any of these, ascending; 0 is what was there before the first write.
    AnyOf(Vec<u32>),
    /// A fault was found in it, and it is used no more.
    Retired,
}

impl Expected {
    /// Whether this generation may be there.
    #[must_use]
    pub fn accepts(&self, generation: u32) -> bool {
        match self {
            Expected::Never | Expected::Retired => true,
            Expected::Exactly(one) => *one == generation,
            Expected::AnyOf(several) => several.contains(&generation),
        }
    }

    /// Whatever is found there proves nothing.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        match self {
            Expected::Never | Expected::Retired => true,
            Expected::Exactly(_) => false,
            Expected::AnyOf(several) => several.contains(&0),
        }
    }

    /// The newest generation that may be there; 0 where nothing was written.
    #[must_use]
    pub fn newest(&self) -> u32 {
        match self {
            Expected::Never | Expected::Retired => 0,
            Expected::Exactly(one) => *one,
            Expected::AnyOf(several) => several.last().copied().unwrap_or(0),
        }
    }
}

#[derive(Debug, Default)]
struct Side {
    expected: HashMap<u64, Expected>,
    /// Generations of writes that failed, of blocks that were written again since.
    failed: HashMap<u64, BTreeSet<u32>>,
}

/// The expectations of a row of blocks of one size.
#[derive(Debug)]
pub struct Map {
    small: Box<[AtomicU16]>,
    side: Mutex<Side>,
}

impl Map {
    /// Of blocks that nothing was written to yet.
    #[must_use]
    pub fn new(blocks: u64) -> Self {
        Map {
            small: (0..blocks).map(|_| AtomicU16::new(0)).collect(),
            side: Mutex::default(),
        }
    }

    /// Memory of a map of so many blocks, as long as no side table is needed.
    #[must_use]
    pub fn bytes_of(blocks: u64) -> u64 {
        blocks.saturating_mul(2)
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.small.len() as u64
    }

    fn side(&self) -> MutexGuard<'_, Side> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The generation that is surely there, for those who race with its owner; `None`
    /// where that is not so simple.
    #[inline]
    #[must_use]
    pub fn sure(&self, block: u64) -> Option<u16> {
        let small = self.small[block as usize].load(Ordering::SeqCst);
        (small & ASIDE == 0).then_some(small)
    }

    /// What a block may hold.
    #[must_use]
    pub fn expected(&self, block: u64) -> Expected {
        match self.sure(block) {
            Some(0) => Expected::Never,
            Some(generation) => Expected::Exactly(u32::from(generation)),
            None => {
                let side = self.side();
                let aside = side.expected.get(&block).cloned();
                aside.unwrap_or(Expected::Never)
            }
        }
    }

    /// The generation of the next write of a block.
    #[must_use]
    pub fn next_generation(&self, block: u64) -> u32 {
        match self.sure(block) {
            Some(generation) => u32::from(generation) + 1,
            None => self.expected(block).newest() + 1,
        }
    }

    /// A write of this generation has succeeded.
    pub fn succeeded(&self, block: u64, generation: u32) {
        let place = &self.small[block as usize];
        let aside = place.load(Ordering::SeqCst) & ASIDE != 0;
        if generation <= SMALL_MAX {
            if aside {
                self.side().expected.remove(&block);
            }
            place.store(generation as u16, Ordering::SeqCst);
        } else {
            self.set(block, Expected::Exactly(generation));
        }
    }

    /// A write of this generation failed, was short, or never came back: the block holds
    /// what it held, or that, or anything between.
    pub fn unclear(&self, block: u64, generation: u32) {
        let mut possible = match self.expected(block) {
            Expected::Never => vec![0],
            Expected::Exactly(one) => vec![one],
            Expected::AnyOf(several) => several,
            Expected::Retired => return,
        };
        possible.push(generation);
        self.set(block, Expected::AnyOf(possible));
        let mut side = self.side();
        side.failed.entry(block).or_default().insert(generation);
    }

    /// A fault was found in this block: it is used no more.
    pub fn retire(&self, block: u64) {
        self.set(block, Expected::Retired);
    }

    /// Whether it is used no more.
    #[must_use]
    pub fn is_retired(&self, block: u64) -> bool {
        self.sure(block).is_none() && self.expected(block) == Expected::Retired
    }

    /// Nothing is known of this block any more: it was cut off, or given back.
    pub fn forget(&self, block: u64) {
        self.small[block as usize].store(0, Ordering::SeqCst);
        let mut side = self.side();
        side.expected.remove(&block);
        side.failed.remove(&block);
    }

    /// A write of this generation to this block was reported as failed.
    #[must_use]
    pub fn has_failed(&self, block: u64, generation: u32) -> bool {
        let side = self.side();
        let failed = side.failed.get(&block);
        failed.is_some_and(|failed| failed.contains(&generation))
    }

    /// Blocks in the side table.
    #[must_use]
    pub fn aside(&self) -> u64 {
        self.side().expected.len() as u64
    }

    fn set(&self, block: u64, expected: Expected) {
        self.side().expected.insert(block, expected);
        self.small[block as usize].store(ASIDE, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_failures_leave_three_possibilities_until_a_write_succeeds() {
        let map = Map::new(4);
        map.succeeded(1, 1);
        map.unclear(1, 2);
        map.unclear(1, 3);
        assert_eq!(map.expected(1), Expected::AnyOf(vec![1, 2, 3]));
        assert_eq!(map.next_generation(1), 4);
        assert_eq!(map.aside(), 1);
        map.succeeded(1, 4);
        assert_eq!(map.expected(1), Expected::Exactly(4));
        assert_eq!(map.aside(), 0);
        assert!(map.has_failed(1, 2) && map.has_failed(1, 3) && !map.has_failed(1, 4));
    }

    #[test]
    fn a_failed_first_write_may_have_left_what_was_there() {
        let map = Map::new(1);
        map.unclear(0, 1);
        assert_eq!(map.expected(0), Expected::AnyOf(vec![0, 1]));
        assert!(map.expected(0).is_unknown());
    }

    #[test]
    fn generations_go_on_above_what_two_bytes_hold() {
        let map = Map::new(1);
        for generation in 1..=SMALL_MAX + 3 {
            assert_eq!(map.next_generation(0), generation);
            map.succeeded(0, generation);
            assert_eq!(map.expected(0), Expected::Exactly(generation));
        }
        map.unclear(0, map.next_generation(0));
        let two = vec![SMALL_MAX + 3, SMALL_MAX + 4];
        assert_eq!(map.expected(0), Expected::AnyOf(two));
    }

    #[test]
    fn a_retired_block_stays_so() {
        let map = Map::new(2);
        map.succeeded(0, 7);
        map.retire(0);
        map.unclear(0, 9);
        assert!(map.is_retired(0) && !map.is_retired(1));
    }

    #[test]
    fn the_map_of_a_tebibyte_takes_512_mib_at_4_kib() {
        assert_eq!(Map::bytes_of((1 << 40) / 4096), 512 << 20);
    }
}
