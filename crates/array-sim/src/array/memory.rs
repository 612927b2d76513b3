//! Traffic through the controller's memory: writes that its cache acknowledges and destages, and
//! prefetched reads.

use super::{Array, Operation, Origin};
use crate::Request;
use crate::controller::Work;
use crate::controller::cache::Destage;
use crate::controller::read_ahead::{Fetch, Read};
use crate::layout::Phase;

impl Array {
    /// Handles a read on a controller with read-ahead.
    pub(super) fn read_ahead(&mut self, index: u32, now_ns: u64) {
        let Operation {
            offset_bytes,
            length_bytes,
            ..
        } = self.operations[index];
        match self.streams.read(index, offset_bytes, length_bytes) {
            Read::Drives => self.send(index, now_ns),
            Read::Ready => self.serve(index, now_ns),
            Read::Waits => {}
        }
        let mut fetches = std::mem::take(&mut self.streams.fetches);
        for fetch in fetches.drain(..) {
            let operation = self.internal(Origin::Fetch(fetch), false);
            self.send(operation, now_ns);
        }
        self.streams.fetches = fetches;
    }

    /// Answers a read from the controller's memory.
    pub(super) fn serve(&mut self, index: u32, now_ns: u64) {
        let work = Work::without_drives(self.in_flight);
        let done_ns = self.controller.process(now_ns, work);
        self.finish(index, done_ns);
    }

    /// A write invalidates prefetched data.
    pub(super) fn end_streams(&mut self, index: u32, now_ns: u64) {
        let operation = &self.operations[index];
        if !self.streams.enabled() || !operation.write {
            return;
        }
        self.streams
            .write(operation.offset_bytes, operation.length_bytes);
        while let Some(orphan) = self.streams.orphans.pop() {
            self.send(orphan, now_ns);
        }
    }

    /// An internal operation of the array.
    fn internal(&mut self, origin: Origin, write: bool) -> u32 {
        let (offset_bytes, length_bytes) = match origin {
            Origin::Destage(destage) => (destage.offset_bytes, destage.length_bytes),
            Origin::Fetch(fetch) => (fetch.offset_bytes, fetch.length_bytes),
            Origin::Host(_) => unreachable!("the host's operations come by `submit`"),
        };
        self.operations.insert(Operation {
            origin,
            number: 0,
            write,
            offset_bytes,
            length_bytes,
            pending: 0,
            phase: Phase::First,
            again: None,
            result: 0,
        })
    }

    /// A volatile cache must not acknowledge what has to survive a power cut.
    pub(super) fn caches(&self, request: &Request) -> bool {
        self.cache.enabled() && (!request.durable || self.cache.model.nonvolatile)
    }

    /// Acknowledges a write from the cache.
    pub(super) fn accept(&mut self, index: u32, now_ns: u64) {
        let operation = self.operations[index];
        self.cache
            .accept(operation.offset_bytes, operation.length_bytes);
        let done_ns = self
            .controller
            .process(now_ns, Work::without_drives(self.in_flight));
        self.finish(index, done_ns);
        self.destage(now_ns);
    }

    /// Fills the free destaging slots.
    pub(super) fn destage(&mut self, now_ns: u64) {
        while let Some(destage) = self.cache.next_destage() {
            let index = self.internal(Origin::Destage(destage), true);
            self.send(index, now_ns);
        }
    }

    /// Dirty data has reached the drives: syncs that waited for it complete, writes that waited for
    /// cache space are acknowledged, and the free slot is reused.
    pub(super) fn destaged(&mut self, destage: Destage, at_ns: u64) {
        self.cache.destaged(destage);
        while let Some(sync) = self.cache.synced.pop() {
            self.finish(sync, at_ns);
        }
        while let Some(&first) = self.cache.waiting.front() {
            if !self.cache.has_room(self.operations[first].length_bytes) {
                break;
            }
            self.cache.waiting.pop_front();
            self.accept(first, at_ns);
        }
        self.destage(at_ns);
    }

    /// Prefetched data is in memory: the reads that waited for it are answered.
    pub(super) fn fetched(&mut self, fetch: Fetch, at_ns: u64) {
        self.streams.fetched(fetch);
        let at_ns = at_ns + self.controller.model.completion_ns;
        while let Some(served) = self.streams.served.pop() {
            self.serve(served, at_ns);
        }
    }
}
