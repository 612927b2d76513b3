//! Where each page of a drive lies in its flash, and the collection of blocks that hold
//! little: the smallest flash translation layer whose write amplification is not assumed.
//!
//! Pages are mapped one by one. Host and collection write into one open block; when no more
//! than [`RESERVE`] blocks are empty, the full block with the fewest valid pages is
//! collected: those are written anew, and it is erased. For uniform random writes such a
//! layer settles at the amplification A with exp(-α/A) = 1 - 1/A, α being the flash over
//! the capacity (P. Desnoyers, Analytic Models of SSD Write Performance, ACM Transactions on
//! Storage 8(2), 2012; W. Bux and I. Iliadis, Performance of Greedy Garbage Collection in
//! Flash-Based Solid-State Drives, Performance Evaluation 67(11), 2010). Wear levelling, bad
//! blocks and hot data in blocks of its own are left out.

/// A page that lies nowhere, or a place that holds no valid page.
const NONE: u32 = u32::MAX;

/// Blocks that are kept empty, beyond the flash that a drive is said to have.
const RESERVE: usize = 2;

/// Pages of one drive at most: 16 GiB of 4 KiB.
pub(crate) const PAGES_MAX: u64 = 1 << 22;

/// Bytes of memory that the maps of all drives of an array may take together: those of seven
/// drives of 16 GiB with pages of 4 KiB and 7 % of spare flash.
pub(crate) const MAPS_BYTES_MAX: u64 = 256 << 20;

/// Blocks of a drive of `pages` pages with `spare`, as a share, beyond them.
fn blocks_of(pages: u64, spare: f64, pages_per_block: u32) -> u64 {
    let flash_pages = pages as f64 * (1.0 + spare);
    // Float to integer saturates.
    let blocks = (flash_pages / f64::from(pages_per_block)).ceil() as u64;
    blocks.saturating_add(RESERVE as u64 + 1)
}

/// Bytes of memory that the map of such a drive takes when it is new; one that has been written
/// over takes up to twice as much.
pub(crate) fn map_bytes(pages: u64, spare: f64, pages_per_block: u32) -> u64 {
    let blocks = blocks_of(pages, spare, pages_per_block);
    let of_block = 4 * u64::from(pages_per_block) + 4 + 4 + 1;
    let lists = (u64::from(pages_per_block) + 1) * size_of::<Vec<u32>>() as u64;
    let of_pages = pages.saturating_mul(4);
    of_pages
        .saturating_add(blocks.saturating_mul(of_block))
        .saturating_add(lists)
}

/// What a write of the host made the drive do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    /// Valid pages that were read and written once more.
    pub(crate) moved_pages: u32,
    /// Blocks that were erased.
    pub(crate) erased_blocks: u32,
}

/// The map of one drive.
#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    pages_per_block: u32,
    /// Place of each page.
    places: Vec<u32>,
    /// Page at each place.
    pages: Vec<u32>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    empty: Vec<u32>,
    open: u32,
    /// Pages of the open block that are written.
    filled: u32,
    /// Full blocks by the number of their valid pages; those whose number has changed since
    /// stand in more than one list, and count in the last.
    by_valid: Vec<Vec<u32>>,
    /// The block is full, and not collected since.
    full: Vec<bool>,
}

impl PageMap {
    /// Of an empty drive of `pages` pages with `spare`, as a share, beyond them.
    pub(crate) fn new(pages: u64, spare: f64, pages_per_block: u32) -> Self {
        let blocks = blocks_of(pages, spare, pages_per_block) as usize;
        let mut empty: Vec<u32> = (0..blocks as u32).rev().collect();
        let open = empty.pop().unwrap_or(0);
        PageMap {
            pages_per_block,
            places: vec![NONE; pages as usize],
            pages: vec![NONE; blocks * pages_per_block as usize],
            valid: vec![0; blocks],
            empty,
            open,
            filled: 0,
            by_valid: vec![Vec::new(); pages_per_block as usize + 1],
            full: vec![false; blocks],
        }
    }

    /// The host writes a page.
    pub(crate) fn write(&mut self, page: u64) -> Collected {
        let mut collected = Collected::default();
        let page = page as u32;
        let before = self.places[page as usize];
        if before != NONE {
            self.invalidate(before);
        }
        self.append(page);
        while self.empty.len() <= RESERVE {
            let Some(victim) = self.victim() else {
                break;
            };
            collected.moved_pages += self.collect(victim);
            collected.erased_blocks += 1;
        }
        collected
    }

    fn invalidate(&mut self, place: u32) {
        self.pages[place as usize] = NONE;
        let block = (place / self.pages_per_block) as usize;
        self.valid[block] -= 1;
        if self.full[block] {
            self.list(block as u32);
        }
    }

    /// Puts a full block into the list of its number of valid pages, and now and then takes
    /// those out of it that are in it no longer, or twice: lists of blocks that are never
    /// collected, as they hold too much, would grow for ever.
    fn list(&mut self, block: u32) {
        let valid = self.valid[block as usize];
        let list = &mut self.by_valid[valid as usize];
        list.push(block);
        if list.len() > 2 * self.valid.len() {
            list.retain(|&block| self.full[block as usize] && self.valid[block as usize] == valid);
            list.sort_unstable();
            list.dedup();
        }
    }

    fn append(&mut self, page: u32) {
        if self.filled == self.pages_per_block {
            self.full[self.open as usize] = true;
            self.list(self.open);
            // Collection begins early enough that one is left.
            self.open = self.empty.pop().unwrap_or(self.open);
            self.filled = 0;
        }
        let place = self.open * self.pages_per_block + self.filled;
        self.filled += 1;
        self.pages[place as usize] = page;
        self.places[page as usize] = place;
        self.valid[self.open as usize] += 1;
    }

    /// The full block with the fewest valid pages; none that has no invalid one.
    fn victim(&mut self) -> Option<u32> {
        for valid in 0..self.pages_per_block {
            while let Some(block) = self.by_valid[valid as usize].pop() {
                let index = block as usize;
                if self.full[index] && self.valid[index] == valid {
                    return Some(block);
                }
            }
        }
        None
    }

    /// Writes what is valid of a block anew, and erases it.
    fn collect(&mut self, victim: u32) -> u32 {
        let first = (victim * self.pages_per_block) as usize;
        let mut moved = 0;
        for place in first..first + self.pages_per_block as usize {
            let page = std::mem::replace(&mut self.pages[place], NONE);
            if page != NONE {
                self.append(page);
                moved += 1;
            }
        }
        self.valid[victim as usize] = 0;
        self.full[victim as usize] = false;
        self.empty.push(victim);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Entity, draw};

    #[test]
    fn random_writes_settle_at_the_amplification_of_the_law() {
        const PAGES: u64 = 65_536;
        // The root of exp(-α/A) = 1 - 1/A, evaluated elsewhere.
        for (spare, expected) in [(0.15, 4.016), (0.28, 2.481)] {
            let mut map = PageMap::new(PAGES, spare, 128);
            for page in 0..PAGES {
                map.write(page);
            }
            let mut moved = 0;
            for number in 0..8 * PAGES {
                let page = draw(1, Entity::Flash, 0, number) % PAGES;
                let collected = map.write(page);
                if number >= 4 * PAGES {
                    moved += u64::from(collected.moved_pages);
                }
            }
            let found = 1.0 + moved as f64 / (4 * PAGES) as f64;
            // The law is that of large blocks; those of few pages move a little less.
            assert!(
                (found / expected - 1.0).abs() < 0.05,
                "{spare}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn every_page_stays_where_it_is_found() {
        const PAGES: u64 = 1000;
        let mut map = PageMap::new(PAGES, 0.1, 16);
        for number in 0..20 * PAGES {
            map.write(draw(2, Entity::Flash, 0, number) % PAGES);
        }
        let mut valid = vec![0; map.valid.len()];
        for (page, place) in (0..).zip(&map.places) {
            if *place != NONE {
                assert_eq!(map.pages[*place as usize], page);
                valid[(place / 16) as usize] += 1;
            }
        }
        assert_eq!(map.valid, valid);
        let longest = map.by_valid.iter().map(Vec::len).max();
        assert!(longest <= Some(2 * map.valid.len()), "{longest:?}");
    }
}
