//! Maps the pages of a drive to its flash, and collects blocks with few valid pages: the simplest
//! flash translation layer whose write amplification is not assumed.
//!
//! Pages are mapped individually. Host and collection write into one open block; when no more than
//! [`RESERVE`] blocks are empty, the full block with the fewest valid pages is collected: its valid
//! pages are rewritten, and it is erased. For uniform random writes such a layer settles at the
//! amplification A with exp(-α/A) = 1 - 1/A, α being the flash over the capacity (P. Desnoyers,
//! Analytic Models of SSD Write Performance, ACM Transactions on Storage 8(2), 2012; W. Bux and I.
//! Iliadis, Performance of Greedy Garbage Collection in Flash-Based Solid-State Drives, Performance
//! Evaluation 67(11), 2010). Wear levelling, bad blocks and separate blocks for hot data are not
//! modelled.

/// An unmapped page, or a location without a valid page.
const NONE: u32 = u32::MAX;

/// Blocks kept empty, in addition to the drive's stated flash.
const RESERVE: usize = 2;

/// Most pages of one drive: 16 GiB of 4 KiB.
pub(crate) const PAGES_MAX: u64 = 1 << 22;

/// Most memory in bytes for the maps of all drives of an array: enough for seven drives of 16 GiB
/// with pages of 4 KiB and 7 % of spare flash.
pub(crate) const MAPS_BYTES_MAX: u64 = 256 << 20;

/// Blocks of a drive of `pages` pages plus `spare`, as a share.
fn blocks_of(pages: u64, spare: f64, pages_per_block: u32) -> u64 {
    let flash_pages = pages as f64 * (1.0 + spare);
    // Float to integer saturates.
    let blocks = (flash_pages / f64::from(pages_per_block)).ceil() as u64;
    blocks.saturating_add(RESERVE as u64 + 1)
}

/// Bytes of memory for the map of a new drive; once all of it has been overwritten, it takes up to
/// twice as much.
pub(crate) fn map_bytes(pages: u64, spare: f64, pages_per_block: u32) -> u64 {
    let blocks = blocks_of(pages, spare, pages_per_block);
    let of_block = 4 * u64::from(pages_per_block) + 4 + 4 + 1;
    let lists = (u64::from(pages_per_block) + 1) * size_of::<Vec<u32>>() as u64;
    let of_pages = pages.saturating_mul(4);
    of_pages
        .saturating_add(blocks.saturating_mul(of_block))
        .saturating_add(lists)
}

/// The effect of a host write on the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    /// Valid pages that were read and rewritten.
    pub(crate) moved_pages: u32,
    /// Erased blocks.
    pub(crate) erased_blocks: u32,
}

/// The map of one drive.
#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    pages_per_block: u32,
    /// Location of each page.
    places: Vec<u32>,
    /// Page at each location.
    pages: Vec<u32>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    empty: Vec<u32>,
    open: u32,
    /// Pages written in the open block.
    filled: u32,
    /// Full blocks by their number of valid pages; blocks whose number has changed since appear in
    /// several lists, and only the last entry counts.
    by_valid: Vec<Vec<u32>>,
    /// The block is full, and not yet collected.
    full: Vec<bool>,
}

impl PageMap {
    /// For an empty drive of `pages` pages plus `spare`, as a share.
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

    /// Adds a full block to the list for its number of valid pages, and occasionally removes stale
    /// and duplicate entries: lists of blocks that are never collected, because they have too many
    /// valid pages, would grow for ever.
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

    /// The full block with the fewest valid pages; never one without invalid pages.
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

    /// Rewrites a block's valid pages, and erases it.
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
        // The root of exp(-α/A) = 1 - 1/A, calculated independently.
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
            // The law holds for large blocks; blocks of few pages move a little less.
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
