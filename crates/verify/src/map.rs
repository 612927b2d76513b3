//! The expected contents of every block: two bytes per block, and a table for the few that need
//! more.
//!
//! A block's generation grows with every write issued to it and is never reused. Two bytes hold the
//! generation of the last successful write, and whether one write of a shared block is in flight.
//! Everything else is in the side table: blocks whose last write failed, was short or never came
//! back (they may hold any of a *set* of generations until a later write succeeds; no read ends
//! that), generations above 16,383, and blocks that are retired because a fault was found in them.
//!
//! Either a block belongs to one worker, which alone changes it while others read
//! ([`Map::next_generation`], [`Map::succeeded`], [`Map::unclear`]). Or any worker writes it at any
//! time ([`Map::issue`], [`Map::settle`]): then writes that overlap in time leave any of them, and
//! a block is in the side table from the issue of the second one until all have ended.
//!
//! A block that is not in the side table changes by compare and exchange, without a lock; one that
//! is in it changes, and leaves it, with its shard locked.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The block is in the side table.
const ASIDE: u16 = 0x8000;
/// One write of the generation after this one is in flight.
const WRITING: u16 = 0x4000;
/// The largest generation in two bytes.
const SMALL_MAX: u32 = 0x3fff;

/// Expected contents of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It was never written.
    Never,
    /// This generation.
    Exactly(u32),
    /// Any of these, ascending; 0 is the content before the first write.
    AnyOf(Vec<u32>),
    /// Any of these, inclusive: several workers' writes overlapped.
    Between(u32, u32),
    /// Zeros: it was truncated after this generation, and the file was extended over it again.
    Zeros(u32),
    /// A fault was found in it, and it is retired.
    Retired,
}

impl Expected {
    fn of((oldest, newest): (u32, u32)) -> Expected {
        match (oldest, newest) {
            (0, 0) => Expected::Never,
            _ if oldest == newest => Expected::Exactly(newest),
            _ => Expected::Between(oldest, newest),
        }
    }

    /// Whether this generation may be stored.
    pub fn accepts(&self, generation: u32) -> bool {
        match self {
            Expected::Never | Expected::Retired => true,
            Expected::Exactly(one) => *one == generation,
            Expected::AnyOf(several) => several.contains(&generation),
            Expected::Between(from, to) => (*from..=*to).contains(&generation),
            Expected::Zeros(_) => false,
        }
    }

    /// Whether nothing can be concluded from its contents.
    pub fn is_unknown(&self) -> bool {
        match self {
            Expected::Never | Expected::Retired => true,
            Expected::Exactly(_) | Expected::Zeros(_) => false,
            Expected::AnyOf(several) => several.contains(&0),
            Expected::Between(from, _) => *from == 0,
        }
    }

    /// The oldest possible generation; 0 if nothing was certainly written.
    fn oldest(&self) -> u32 {
        match self {
            Expected::Never | Expected::Retired => 0,
            Expected::Exactly(one) | Expected::Zeros(one) => *one,
            Expected::AnyOf(several) => several.first().copied().unwrap_or(0),
            Expected::Between(from, _) => *from,
        }
    }

    /// The newest possible generation; 0 if nothing was written.
    pub fn newest(&self) -> u32 {
        match self {
            Expected::Never | Expected::Retired => 0,
            Expected::Exactly(one) | Expected::Zeros(one) => *one,
            Expected::AnyOf(several) => several.last().copied().unwrap_or(0),
            Expected::Between(_, to) => *to,
        }
    }
}

/// A shared block, until its contents are unambiguous again.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Nothing older can be stored.
    floor: u32,
    /// The first of the writes that overlap now, or did last.
    low: u32,
    /// The last one.
    issued: u32,
    in_flight: u32,
}

impl Open {
    fn expected(self) -> Expected {
        Expected::of((self.floor, self.issued))
    }
}

/// The oldest and the newest generation that two bytes stand for; `None`: the side table knows.
#[inline]
fn range_of(small: u16) -> Option<(u32, u32)> {
    let oldest = u32::from(small & !WRITING);
    (small & ASIDE == 0).then_some((oldest, oldest + u32::from(small & WRITING != 0)))
}

#[derive(Debug, Default)]
struct Side {
    expected: HashMap<u64, Expected>,
    /// Blocks with several writers.
    open: HashMap<u64, Open>,
    /// Generations of failed writes, for blocks that were rewritten since.
    failed: HashMap<u64, BTreeSet<u32>>,
}

/// The expected contents of a row of blocks of one size.
#[derive(Debug)]
pub struct Map {
    small: Box<[AtomicU16]>,
    sides: [Mutex<Side>; SIDES],
}

/// Shards of the side table, so that concurrent writers seldom wait for each other.
const SIDES: usize = 64;

impl Map {
    /// For blocks that were not written yet.
    pub fn new(blocks: u64) -> Self {
        Map {
            small: (0..blocks).map(|_| AtomicU16::new(0)).collect(),
            sides: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// Memory of a map of this many blocks, without a side table.
    pub fn bytes_of(blocks: u64) -> u64 {
        blocks.saturating_mul(2)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.small.len() as u64
    }

    fn side(&self, block: u64) -> MutexGuard<'_, Side> {
        let side = &self.sides[(block % SIDES as u64) as usize];
        side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The generation that is certainly stored, for readers racing with its owner; `None` if not
    /// that simple.
    #[inline]
    pub fn sure(&self, block: u64) -> Option<u16> {
        let small = self.load(block);
        (small & (ASIDE | WRITING) == 0).then_some(small)
    }

    #[inline]
    fn load(&self, block: u64) -> u16 {
        self.small[block as usize].load(Ordering::SeqCst)
    }

    /// Replaces this value, unless it has changed.
    #[inline]
    fn replace(&self, block: u64, old: u16, new: u16) -> bool {
        (self.small[block as usize])
            .compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    /// Expected contents of a block.
    pub fn expected(&self, block: u64) -> Expected {
        match range_of(self.load(block)) {
            Some(range) => Expected::of(range),
            None => self.aside_of(&self.side(block), block),
        }
    }

    /// Expected contents of a block that was in the side table a moment ago.
    fn aside_of(&self, side: &Side, block: u64) -> Expected {
        match range_of(self.load(block)) {
            Some(range) => Expected::of(range),
            None => match (side.open.get(&block), side.expected.get(&block)) {
                (Some(open), _) => open.expected(),
                (None, Some(expected)) => expected.clone(),
                (None, None) => Expected::Never,
            },
        }
    }

    /// The oldest and the newest generation that a read may return, at this moment, for a shared
    /// block: a read returns nothing older than the oldest at its issue, and nothing newer than the
    /// newest at its end. An oldest of 0: unknown.
    pub fn range(&self, block: u64) -> (u32, u32) {
        if let Some(range) = range_of(self.load(block)) {
            return range;
        }
        let expected = self.aside_of(&self.side(block), block);
        (expected.oldest(), expected.newest())
    }

    /// A worker issues a write to a shared block: returns its generation. 0 if the block is
    /// retired.
    pub fn issue(&self, block: u64) -> u32 {
        let small = self.load(block);
        if u32::from(small) < SMALL_MAX && self.replace(block, small, small | WRITING) {
            return u32::from(small) + 1;
        }
        let mut side = self.side(block);
        self.move_aside(&mut side, block);
        if let Some(open) = side.open.get_mut(&block) {
            open.issued += 1;
            if open.in_flight == 0 {
                open.low = open.issued;
            }
            open.in_flight += 1;
            return open.issued;
        }
        let expected = self.aside_of(&side, block);
        if expected == Expected::Retired {
            return 0;
        }
        let issued = expected.newest() + 1;
        let open = Open {
            floor: expected.oldest(),
            low: issued,
            issued,
            in_flight: 1,
        };
        side.expected.remove(&block);
        side.open.insert(block, open);
        issued
    }

    /// Moves what two bytes say into the side table.
    fn move_aside(&self, side: &mut Side, block: u64) {
        loop {
            let small = self.load(block);
            let Some((floor, issued)) = range_of(small) else {
                return;
            };
            // Another thread may have issued or ended a write.
            if self.replace(block, small, ASIDE) {
                let open = Open {
                    floor,
                    low: issued,
                    issued,
                    in_flight: issued - floor,
                };
                side.open.insert(block, open);
                return;
            }
        }
    }

    /// The write with this generation from [`Map::issue`] has ended, in full or not. What began
    /// before all writes that overlapped with it is certainly gone if it was complete; which of
    /// those is stored is unknown.
    pub fn settle(&self, block: u64, generation: u32, whole: bool) {
        if whole && (1..=SMALL_MAX).contains(&generation) {
            let alone = (generation - 1) as u16 | WRITING;
            if self.replace(block, alone, generation as u16) {
                return;
            }
        }
        let mut side = self.side(block);
        self.move_aside(&mut side, block);
        let Some(open) = side.open.get_mut(&block) else {
            return;
        };
        open.in_flight = open.in_flight.saturating_sub(1);
        if whole {
            open.floor = open.floor.max(open.low);
        }
        let open = *open;
        if open.in_flight == 0 && open.floor == open.issued && open.issued <= SMALL_MAX {
            side.open.remove(&block);
            self.small[block as usize].store(open.issued as u16, Ordering::SeqCst);
        }
        if !whole {
            side.failed.entry(block).or_default().insert(generation);
        }
    }

    /// The generation of the next write of a block.
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
                self.side(block).expected.remove(&block);
            }
            place.store(generation as u16, Ordering::SeqCst);
        } else {
            self.set(block, Expected::Exactly(generation));
        }
    }

    /// A write of this generation failed, was short, or never came back: the block holds its former
    /// contents, or the new ones, or anything in between.
    pub fn unclear(&self, block: u64, generation: u32) {
        let mut possible = match self.expected(block) {
            Expected::Never => vec![0],
            Expected::Exactly(one) => vec![one],
            Expected::AnyOf(several) => several,
            Expected::Between(from, to) => (from..=to).collect(),
            // Zeros, or that, or anything in between.
            Expected::Zeros(_) => vec![0],
            Expected::Retired => return,
        };
        possible.push(generation);
        self.set(block, Expected::AnyOf(possible));
        let mut side = self.side(block);
        side.failed.entry(block).or_default().insert(generation);
    }

    /// A fault was found in this block: retires it.
    pub fn retire(&self, block: u64) {
        self.set(block, Expected::Retired);
    }

    /// Whether it is retired.
    pub fn is_retired(&self, block: u64) -> bool {
        self.sure(block).is_none() && self.expected(block) == Expected::Retired
    }

    /// A block was truncated: if the file is extended over it again it is zeros until it is
    /// written. Its generations continue.
    pub fn cut(&self, block: u64) {
        match self.expected(block) {
            Expected::Retired => {}
            before => self.set(block, Expected::Zeros(before.newest())),
        }
    }

    /// Whether it was truncated and not written since.
    pub fn is_cut(&self, block: u64) -> bool {
        self.sure(block).is_none() && matches!(self.expected(block), Expected::Zeros(_))
    }

    /// A write of this generation to this block was reported as failed.
    pub fn has_failed(&self, block: u64, generation: u32) -> bool {
        let side = self.side(block);
        let failed = side.failed.get(&block);
        failed.is_some_and(|failed| failed.contains(&generation))
    }

    /// Blocks in the side table.
    pub fn aside(&self) -> u64 {
        let of = |side: &Mutex<Side>| {
            let side = side.lock().unwrap_or_else(PoisonError::into_inner);
            (side.expected.len() + side.open.len()) as u64
        };
        self.sides.iter().map(of).sum()
    }

    fn set(&self, block: u64, expected: Expected) {
        let mut side = self.side(block);
        side.open.remove(&block);
        side.expected.insert(block, expected);
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
    fn a_block_that_was_cut_off_is_zeros_until_it_is_written() {
        let map = Map::new(1);
        map.succeeded(0, 7);
        map.cut(0);
        assert!(map.is_cut(0) && !map.expected(0).is_unknown());
        assert_eq!(map.next_generation(0), 8, "no generation is used twice");
        map.unclear(0, 8);
        assert!(map.expected(0).is_unknown());
        map.succeeded(0, 9);
        assert_eq!(map.expected(0), Expected::Exactly(9));
        assert!(!map.is_cut(0));
    }

    #[test]
    fn a_retired_block_stays_so() {
        let map = Map::new(2);
        map.succeeded(0, 7);
        map.retire(0);
        map.unclear(0, 9);
        assert!(map.is_retired(0) && !map.is_retired(1));
    }

    /// The result of a single write is certain.
    #[test]
    fn writes_of_several_that_overlap_leave_any_of_them() {
        let map = Map::new(2);
        assert_eq!(map.issue(0), 1);
        assert_eq!(map.range(0), (0, 1), "nothing was there for certain");
        map.settle(0, 1, true);
        assert_eq!((map.expected(0), map.aside()), (Expected::Exactly(1), 0));
        let (second, third) = (map.issue(0), map.issue(0));
        assert_eq!((second, third, map.range(0)), (2, 3, (1, 3)));
        map.settle(0, third, true);
        assert_eq!(map.range(0), (2, 3), "the second may come after the third");
        map.settle(0, second, true);
        assert_eq!(map.expected(0), Expected::Between(2, 3));
        let fourth = map.issue(0);
        assert_eq!(map.range(0), (2, 4));
        map.settle(0, fourth, true);
        assert_eq!((map.expected(0), map.aside()), (Expected::Exactly(4), 0));
        assert_eq!(map.expected(1), Expected::Never);
    }

    #[test]
    fn a_failed_write_of_one_of_several_is_possible_until_a_later_one_succeeds() {
        let map = Map::new(1);
        let first = map.issue(0);
        map.settle(0, first, true);
        let second = map.issue(0);
        map.settle(0, second, false);
        assert_eq!(map.expected(0), Expected::Between(1, 2));
        let third = map.issue(0);
        map.settle(0, third, true);
        assert_eq!(map.expected(0), Expected::Exactly(3));
        assert!(map.has_failed(0, second) && !map.has_failed(0, third));
        map.retire(0);
        assert_eq!(map.issue(0), 0);
        map.settle(0, 0, true);
        assert!(map.is_retired(0));
    }

    #[test]
    fn shared_blocks_pass_what_two_bytes_hold() {
        let map = Map::new(1);
        for generation in 1..=SMALL_MAX + 3 {
            assert_eq!(map.issue(0), generation);
            assert_eq!(map.range(0), (generation - 1, generation));
            map.settle(0, generation, true);
            assert_eq!(map.expected(0), Expected::Exactly(generation));
        }
        assert_eq!(map.aside(), 1);
    }

    /// Of what several threads write to few blocks no generation is issued twice, a reader always
    /// sees its own last write as possible, and what is left is the newest or one that overlapped
    /// with it.
    #[test]
    fn threads_that_write_the_same_blocks_agree() {
        const BLOCKS: u64 = 3;
        const THREADS: u64 = 4;
        const WRITES: u64 = 3_000;
        let map = Map::new(BLOCKS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let map = &map;
                scope.spawn(move || {
                    for write in 0..WRITES {
                        let block = (thread + write) % BLOCKS;
                        let (before, _) = map.range(block);
                        let generation = map.issue(block);
                        assert!(generation > before);
                        let (oldest, newest) = map.range(block);
                        assert!(oldest >= before && newest >= generation);
                        map.settle(block, generation, true);
                        // Not above `before`: one that has not ended may have begun before both.
                        assert!(map.range(block).0 >= before.max(1));
                    }
                });
            }
        });
        let newest: Vec<u32> = (0..BLOCKS).map(|block| map.range(block).1).collect();
        assert_eq!(newest, [(THREADS * WRITES / BLOCKS) as u32; 3]);
        for block in 0..BLOCKS {
            // One more, alone, is certain whatever overlapped before.
            let last = map.issue(block);
            map.settle(block, last, true);
            assert_eq!(map.expected(block), Expected::Exactly(last));
        }
        assert_eq!(map.aside(), 0);
    }

    #[test]
    fn the_map_of_a_tebibyte_takes_512_mib_at_4_kib() {
        assert_eq!(Map::bytes_of((1 << 40) / 4096), 512 << 20);
    }
}
