//! The short path of a worker, and where it branches to the long one.

use super::Worker;
use super::long_path::Answer;
use stripewise_io_engine::{Completion, Kind, Next, Operation, Source};

impl Source for Worker {
    // Always: as a call it would return its answer through memory.
    #[inline(always)]
    fn next(&mut self, now_ns: u64) -> Next {
        let slot = self.short_free;
        let Some(entry) = self.slots.get_mut(slot as usize) else {
            return match self.next_long(now_ns) {
                (Answer::Operation, slot) => {
                    let slot = slot as u32;
                    let entry = self.slots[slot as usize];
                    Next::Operation(Operation {
                        slot,
                        // Lane n works on file n.
                        file: entry.lane,
                        kind: entry.kind,
                        offset_bytes: entry.offset_bytes,
                        length_bytes: self.length_of(&entry),
                    })
                }
                (Answer::Full, _) => Next::Full,
                (Answer::NotBefore, due_ns) => Next::NotBefore(due_ns),
                (Answer::Finished, _) => Next::Finished,
            };
        };
        let (kind, offset_bytes) = self.first.stream.next();
        self.short_free = entry.next_free;
        entry.start_ns = now_ns;
        entry.offset_bytes = offset_bytes;
        entry.kind = kind;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind,
            offset_bytes,
            length_bytes: self.length_bytes,
        })
    }

    #[inline(always)]
    fn reads(&mut self, now_ns: u64, room: u32, mut take: impl FnMut(u32, u64)) -> u32 {
        let Some(mut stream) = self.first.stream.uniform_reads() else {
            return 0;
        };
        // On the long path the short path's free list is empty.
        let mut slot = self.short_free;
        let mut left = room;
        while left > 0 {
            let Some(entry) = self.slots.get_mut(slot as usize) else {
                break;
            };
            let offset_bytes = stream.next_offset();
            entry.start_ns = now_ns;
            entry.offset_bytes = offset_bytes;
            entry.kind = Kind::Read;
            let next_free = entry.next_free;
            take(slot, offset_bytes);
            slot = next_free;
            left -= 1;
        }
        self.short_free = slot;
        room - left
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        let lane = self.slots[operation.slot as usize].lane;
        let data = &mut self.lane(lane).data;
        data.fill(operation.offset_bytes, buffer);
    }

    /// Making data is not the device's work: a closed loop's latency counts from here, and so does
    /// the time in flight.
    fn ready(&mut self, slot_number: u32, now_ns: u64) {
        let slot = &mut self.slots[slot_number as usize];
        slot.issued_ns = now_ns;
        if self.open_loop {
            let intended_ns = slot.start_ns;
            if let Some(replay) = &self.replay {
                replay.leaves(slot_number, now_ns);
            }
            self.issued_late(intended_ns, now_ns);
        } else {
            slot.start_ns = now_ns;
        }
    }

    #[inline(always)]
    fn complete(&mut self, done: Completion) {
        if done.at_ns >= self.boundary_ns {
            self.cross(done.at_ns);
        }
        if done.result != self.short_result {
            return self.complete_long(done.slot, done.result, done.at_ns);
        }
        let Some(entry) = self.slots.get_mut(done.slot as usize) else {
            debug_assert!(false, "an engine completed a slot that does not exist");
            return;
        };
        entry.next_free = self.short_free;
        self.short_free = done.slot;
        let latency_ns = done.at_ns.wrapping_sub(entry.start_ns);
        self.recorder.kinds[entry.kind.index()].record(latency_ns);
    }

    /// As [`Worker::complete`], checking once what is the same for all.
    #[inline(always)]
    fn complete_all(&mut self, at_ns: u64, done: impl Iterator<Item = (u32, i32)>) {
        if at_ns >= self.boundary_ns {
            // Moves the boundary past this time.
            self.cross(at_ns);
        }
        // Not a loop: an engine may be able to iterate its completions more cheaply than one by
        // one.
        self.short_free = done.fold(self.short_free, |free, (slot, result)| {
            let entry = match self.slots.get_mut(slot as usize) {
                Some(entry) if result == self.short_result => entry,
                _ => {
                    self.short_free = free;
                    self.complete_long(slot, result, at_ns);
                    return self.short_free;
                }
            };
            entry.next_free = free;
            let latency_ns = at_ns.wrapping_sub(entry.start_ns);
            self.recorder.kinds[entry.kind.index()].record(latency_ns);
            slot
        });
    }
}
