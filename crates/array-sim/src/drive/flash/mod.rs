//! A simplified solid-state drive: channels, pages, blocks.
//!
//! Pages are spread over channels by their number. A channel reads or programs one page at a time.
//! Reads overtake waiting programs and wait at most for the suspension of the one in progress;
//! programs are processed in order. A write is acknowledged when the drive's buffer has room for
//! it, so bursts see the buffer and sustained writes the flash. A write of part of a page reads
//! that page first: the cost of a misaligned partition on an SSD.
//!
//! Steady state: a fresh drive programs each page once. When as much has been written as the drive
//! has flash, collection begins: with greedy choice of victims and uniform random writes, write
//! amplification approaches (1 + r) / (2r) for a spare share r (Desnoyers 2012, first order); each
//! collected page costs a read and a program, each filled block an erase, on the channel that needs
//! the space - or, if deferred, all of it at once each time a set amount was written. Wear, refresh
//! and maps are not modelled.
//!
//! With a map of all pages ([`PageMap`]) collection is simulated page by page instead, on an
//! initially fresh drive.
//!
//! Part of the flash may be written fast (as SLC), until it is full; while the drive is idle, its
//! data moves to the rest, which frees space at a steady rate.

use super::page_map::{Collected, PageMap};
use super::{DriveAccess, SECTOR_BYTES};
use crate::events::Key;
use crate::layout::divide;
use crate::random::{Entity, draw, unit};
use std::collections::VecDeque;

/// Parameters shared by all solid-state drives of an array.
#[derive(Clone, Debug)]
pub(crate) struct FlashModel {
    /// Units that read and program independently: channels times dies.
    pub channels: u32,
    /// Unit of reading, programming and mapping.
    pub page_bytes: u64,
    /// Read of a page, including the transfer to the controller.
    pub read_ns: f64,
    /// Program of a page.
    pub program_ns: f64,
    /// Erase of a block.
    pub erase_ns: f64,
    /// Longest time a read waits for the program in progress.
    pub suspend_ns: u64,
    /// Pages per erase block.
    pub pages_per_block: u32,
    /// Pages of acknowledged writes, over all channels, that may wait for flash.
    pub buffer_pages: u64,
    /// Fast flash; 0: none.
    pub fast_bytes: u64,
    /// Program of a page in fast flash.
    pub fast_program_ns: f64,
    /// Bytes of fast flash freed per nanosecond of idle time.
    pub fast_refill_bytes_per_ns: f64,
    /// Collection is deferred until this much has been written, and then done at once; 0: each
    /// write pays its share.
    pub collection_burst_bytes: u64,
    /// Page times vary uniformly by up to this share in either direction.
    pub jitter: f64,
    /// Usable capacity.
    pub capacity_bytes: u64,
    /// Spare flash as a share of the capacity.
    pub spare: f64,
    /// Start in steady state instead of fresh.
    pub preconditioned: bool,
    /// Map all pages and collect block by block, instead of using the mean.
    pub page_map: bool,
    pub seed: u64,
}

/// Pages programmed by drives with a page map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MappedPages {
    /// By the host.
    pub(crate) written: u64,
    /// Additionally, by collection.
    pub(crate) moved: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    /// When the last read ends.
    reads_until_ns: u64,
    /// When the last program ends.
    programs_until_ns: u64,
    programmed_pages: u32,
}

/// One solid-state drive.
#[derive(Clone, Debug)]
pub(crate) struct FlashDrive {
    model: FlashModel,
    /// The drive's number in its array: the index of its random numbers.
    number: u64,
    channels: Vec<Channel>,
    /// Bytes written since new; collection begins when all flash has been used once.
    written_bytes: u64,
    /// Counter of its random numbers.
    pages_accessed: u64,
    /// Simulated collection instead of the mean, where pages are mapped.
    map: Option<Box<PageMap>>,
    /// Pages written by the host and moved by collection, where pages are mapped.
    mapped: MappedPages,
    /// Extra pages moved per page written, in steady state.
    moved_per_page: f64,
    /// Deferred collection: bytes written since the last one, and its pending time per channel.
    put_off_bytes: u64,
    put_off_ns: f64,
    /// Unfinished accesses, including those in transit.
    load: usize,
    /// Arrival times of those in transit, as far as needed.
    on_their_way: VecDeque<Key>,
    /// Busy time, summed over channels.
    busy_ns: u64,
    /// Fast flash in use, in bytes.
    fast_used_bytes: f64,
    /// When the last program ends: the drive is idle from then on.
    resting_from_ns: u64,
}

impl FlashDrive {
    /// An idle drive.
    pub(crate) fn new(model: FlashModel, number: u64) -> Self {
        let amplification = (1.0 + model.spare) / (2.0 * model.spare);
        let channels = vec![Channel::default(); model.channels as usize];
        let flash_bytes = (model.capacity_bytes as f64 * (1.0 + model.spare)) as u64;
        FlashDrive {
            written_bytes: if model.preconditioned { flash_bytes } else { 0 },
            map: model.page_map.then(|| {
                // A partial page at the end counts as a page.
                let pages = model.capacity_bytes.div_ceil(model.page_bytes);
                Box::new(PageMap::new(pages, model.spare, model.pages_per_block))
            }),
            mapped: MappedPages::default(),
            moved_per_page: (amplification - 1.0).max(0.0),
            put_off_bytes: 0,
            put_off_ns: 0.0,
            model,
            number,
            channels,
            pages_accessed: 0,
            load: 0,
            on_their_way: VecDeque::new(),
            busy_ns: 0,
            fast_used_bytes: 0.0,
            resting_from_ns: 0,
        }
    }

    /// When the access that arrives now will be done. Known at once, since no later access can
    /// delay it.
    #[inline(never)]
    pub(crate) fn arrive(&mut self, now_ns: u64, access: DriveAccess, stretch: f64) -> u64 {
        self.load += 1;
        let page_bytes = self.model.page_bytes;
        if access.write && self.model.fast_bytes > 0 {
            self.refill(now_ns);
        }
        let offset_bytes = access.position.sector * SECTOR_BYTES;
        let length_bytes = u64::from(access.sectors) * SECTOR_BYTES;
        let end = offset_bytes + length_bytes;
        let first = divide(offset_bytes, page_bytes).0;
        let last = divide(end + page_bytes - 1, page_bytes).0;
        let mut done_ns = now_ns;
        for page in first..last {
            let start = page * page_bytes;
            let whole = offset_bytes <= start && end >= start + page_bytes;
            let page_done_ns = if access.write {
                self.write_page(now_ns, page, whole, stretch)
            } else {
                self.read_page(now_ns, page, stretch)
            };
            done_ns = done_ns.max(page_done_ns);
        }
        if access.write {
            self.written_bytes += length_bytes;
        }
        done_ns
    }

    pub(crate) fn access_done(&mut self) {
        self.load -= 1;
    }

    /// Accesses that have arrived and not ended; `passed` says whether an event has happened.
    /// Requires [`FlashDrive::is_in_transit`] to have been called for all that have not arrived.
    pub(crate) fn load(&self, passed: impl Fn(Key) -> bool) -> usize {
        let arrived = self.on_their_way.partition_point(|&key| passed(key));
        self.load - (self.on_their_way.len() - arrived)
    }

    /// An access's end is known before it arrives; until it arrives it is not part of the load.
    pub(crate) fn is_in_transit(&mut self, arrives: Key, passed: impl Fn(Key) -> bool) {
        while self
            .on_their_way
            .front()
            .is_some_and(|&first| passed(first))
        {
            self.on_their_way.pop_front();
        }
        self.on_their_way.push_back(arrives);
    }

    pub(crate) fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Idle time frees space in the fast flash.
    fn refill(&mut self, now_ns: u64) {
        let rested_ns = now_ns.saturating_sub(self.resting_from_ns);
        let freed_bytes = rested_ns as f64 * self.model.fast_refill_bytes_per_ns;
        self.fast_used_bytes = (self.fast_used_bytes - freed_bytes).max(0.0);
        self.resting_from_ns = self.resting_from_ns.max(now_ns);
    }

    /// Allocates a page of fast flash, if one is left.
    fn takes_fast(&mut self) -> bool {
        let page_bytes = self.model.page_bytes as f64;
        let fits = self.fast_used_bytes + page_bytes <= self.model.fast_bytes as f64;
        if fits {
            self.fast_used_bytes += page_bytes;
        }
        fits
    }

    fn channel_of(&self, page: u64) -> usize {
        divide(page, u64::from(self.model.channels)).1 as usize
    }

    /// A time with this drive's jitter and drift, in whole nanoseconds.
    fn varied(&mut self, time_ns: f64, stretch: f64) -> u64 {
        self.pages_accessed += 1;
        let bits = draw(
            self.model.seed,
            Entity::Flash,
            self.number,
            self.pages_accessed,
        );
        let factor = 1.0 + self.model.jitter * (2.0 * unit(bits) - 1.0);
        let varied_ns = (time_ns * factor * stretch) as u64;
        self.busy_ns += varied_ns;
        varied_ns
    }

    /// Defers the collection of a page; once enough has been written, all channels collect, and
    /// programs wait for them.
    fn postpone(&mut self, now_ns: u64, collection_ns: f64, burst_bytes: u64, stretch: f64) {
        let channels = f64::from(self.model.channels);
        let erase_ns = self.model.erase_ns / f64::from(self.model.pages_per_block);
        self.put_off_ns += (collection_ns + erase_ns) * stretch / channels;
        self.put_off_bytes += self.model.page_bytes;
        if self.put_off_bytes < burst_bytes {
            return;
        }
        let pause_ns = self.put_off_ns as u64;
        for channel in &mut self.channels {
            channel.programs_until_ns = channel.programs_until_ns.max(now_ns) + pause_ns;
        }
        self.busy_ns += pause_ns * u64::from(self.model.channels);
        (self.put_off_bytes, self.put_off_ns) = (0, 0.0);
    }

    /// Writes a page into the map. All channels share the collection it causes, and programs wait
    /// for it.
    fn collect_mapped(&mut self, now_ns: u64, page: u64, stretch: f64) {
        let Some(map) = &mut self.map else {
            return;
        };
        let collected = map.write(page);
        self.mapped.written += 1;
        self.mapped.moved += u64::from(collected.moved_pages);
        if collected == Collected::default() {
            return;
        }
        let moved_ns = self.model.read_ns + self.model.program_ns;
        let work_ns = f64::from(collected.moved_pages) * moved_ns
            + f64::from(collected.erased_blocks) * self.model.erase_ns;
        let pause_ns = (work_ns * stretch / f64::from(self.model.channels)) as u64;
        for channel in &mut self.channels {
            channel.programs_until_ns = channel.programs_until_ns.max(now_ns) + pause_ns;
        }
        self.busy_ns += pause_ns * u64::from(self.model.channels);
    }

    /// Pages written by the host and moved by collection.
    pub(crate) fn mapped_pages(&self) -> MappedPages {
        self.mapped
    }

    fn read_page(&mut self, now_ns: u64, page: u64, stretch: f64) -> u64 {
        let read_ns = self.varied(self.model.read_ns, stretch);
        let suspend_ns = self.model.suspend_ns;
        let place = self.channel_of(page);
        let channel = &mut self.channels[place];
        let programming_ns = channel.programs_until_ns.saturating_sub(now_ns);
        let free_ns = now_ns + programming_ns.min(suspend_ns);
        let done_ns = free_ns.max(channel.reads_until_ns) + read_ns;
        // Time spent on reads is lost to the programs after them.
        if programming_ns > 0 {
            channel.programs_until_ns += read_ns;
        }
        channel.reads_until_ns = done_ns;
        done_ns
    }

    fn write_page(&mut self, now_ns: u64, page: u64, whole: bool, stretch: f64) -> u64 {
        let ready_ns = if whole {
            now_ns
        } else {
            self.read_page(now_ns, page, stretch)
        };
        // Collection is spread evenly over the writes that cause it: each pays for the pages that
        // greedy collection moves per page written.
        let fast = self.takes_fast();
        let mut work_ns = match fast {
            true => self.model.fast_program_ns,
            false => self.model.program_ns,
        };
        let flash_bytes = self.model.capacity_bytes as f64 * (1.0 + self.model.spare);
        if !fast {
            self.collect_mapped(now_ns, page, stretch);
        }
        let collecting = !fast && self.map.is_none() && self.written_bytes as f64 >= flash_bytes;
        if collecting {
            let collection_ns = self.moved_per_page * (self.model.read_ns + self.model.program_ns);
            match self.model.collection_burst_bytes {
                0 => work_ns += collection_ns,
                burst_bytes => self.postpone(now_ns, collection_ns, burst_bytes, stretch),
            }
        }
        let mut program_ns = self.varied(work_ns, stretch);
        let backlog_ns = self.model.buffer_pages as f64 / f64::from(self.model.channels);
        let backlog_ns = (backlog_ns * work_ns * stretch) as u64;
        let place = self.channel_of(page);
        let channel = &mut self.channels[place];
        channel.programmed_pages += 1;
        let at_once = self.model.collection_burst_bytes == 0;
        if collecting && at_once && channel.programmed_pages >= self.model.pages_per_block {
            channel.programmed_pages = 0;
            program_ns += (self.model.erase_ns * stretch) as u64;
        }
        let start_ns = ready_ns
            .max(channel.programs_until_ns)
            .max(channel.reads_until_ns);
        channel.programs_until_ns = start_ns + program_ns;
        self.resting_from_ns = self.resting_from_ns.max(channel.programs_until_ns);
        let channel = &self.channels[place];
        // Acknowledged once no more than the buffer's share of work is queued before it.
        ready_ns.max(channel.programs_until_ns.saturating_sub(backlog_ns))
    }
}

#[cfg(test)]
mod tests;
