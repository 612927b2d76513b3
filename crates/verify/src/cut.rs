//! Writes until the power fails, and what a flush covers.
//!
//! The map of expectations is lost in the cut, so offset and length of each write follow from (run,
//! worker, sequence) alone: replaying the writes that a witness saw covered restores what each
//! sector must at least contain (see `aftermath`).

use crate::stamp::{Origin, Stamp, write_sector};
use crate::work::SeededRng;
use crate::worker_identity::{Operation, Step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use stripewise_units::Kind;

/// What makes writes durable.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Durability {
    /// `fsync`; for a device, its flush.
    Flush = 1,
    /// `fdatasync`.
    DataSync = 2,
    /// Each write individually, through the page cache (`O_DSYNC`).
    EachWrite = 3,
    /// Each write individually, bypassing the page cache (`O_DIRECT` and `O_DSYNC`): FUA if the
    /// device supports it.
    Fua = 4,
}

stripewise_units::named!(
    Durability,
    Flush = "fsync",
    DataSync = "fdatasync",
    EachWrite = "O_DSYNC",
    Fua = "FUA"
);

impl Durability {
    pub(crate) fn of(number: u8) -> Option<Durability> {
        Durability::ALL
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }

    /// Whether a write is durable on completion; otherwise a flush makes it so.
    pub fn is_of_each_write(self) -> bool {
        matches!(self, Durability::EachWrite | Durability::Fua)
    }
}

/// The writes of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutWorker {
    /// Its number.
    pub worker: u16,
    /// The number of the target.
    pub target: u16,
    /// How its writes become durable.
    pub durability: Durability,
    /// The part of the target that only this worker writes: first byte.
    pub start_bytes: u64,
    /// And length.
    pub length_bytes: u64,
    /// Logical sector.
    pub sector_bytes: u32,
    /// The largest write.
    pub write_bytes_max: u32,
}

impl CutWorker {
    /// Offset and length of write number `sequence`, from 1.
    pub fn place(&self, run: u64, sequence: u64) -> (u64, u32) {
        let mut rng = SeededRng::new(run ^ u64::from(self.worker) << 48 ^ sequence);
        let sector = u64::from(self.sector_bytes);
        let sectors = self.length_bytes / sector;
        let most = (u64::from(self.write_bytes_max) / sector).clamp(1, sectors);
        // Small ones are most frequent, like logs and pages.
        let most = most >> rng.below(6);
        let length = 1 + rng.below(most.max(1));
        let first = rng.below(sectors - length + 1);
        (self.start_bytes + first * sector, (length * sector) as u32)
    }

    pub(crate) fn sectors(&self) -> u64 {
        self.length_bytes / u64::from(self.sector_bytes)
    }

    pub(crate) fn sector_at(&self, offset_bytes: u64) -> u64 {
        (offset_bytes - self.start_bytes) / u64::from(self.sector_bytes)
    }

    /// Makes the data of write number `sequence`, which begins at `offset_bytes`; 0 is the pass
    /// that writes everything once, in pieces.
    pub fn data(&self, run: u64, sequence: u64, offset_bytes: u64, now_ns: u64, buffer: &mut [u8]) {
        let mut stamp = Stamp {
            run,
            target: self.target,
            origin: match sequence {
                0 => Origin::Fill,
                _ => Origin::Cut,
            },
            // Every write has a unique number; no two sectors are alike.
            generation: sequence as u32,
            offset_bytes,
            worker: self.worker,
            sequence,
            before: 0,
            sectors: buffer.len() as u32 / self.sector_bytes,
            written_ns: now_ns,
        };
        for sector in buffer.chunks_exact_mut(self.sector_bytes as usize) {
            write_sector(&stamp, sector);
            stamp.offset_bytes += u64::from(self.sector_bytes);
            stamp.before += 1;
        }
    }
}

/// The completed writes: all up to some number, and some beyond it.
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    contiguous_to: u64,
    beyond: BTreeSet<u64>,
}

impl Prefix {
    /// A write has completed.
    pub fn completed(&mut self, sequence: u64) {
        self.beyond.insert(sequence);
        while self.beyond.remove(&(self.contiguous_to + 1)) {
            self.contiguous_to += 1;
        }
    }

    /// Writes 1 to this one have all completed: what a flush issued now covers. The highest
    /// completed one would claim writes still in flight.
    pub fn contiguous_to(&self) -> u64 {
        self.contiguous_to
    }
}

/// A write in flight.
#[derive(Clone, Debug)]
struct Flight {
    sequence: u64,
    span: Range<u64>,
}

impl Flight {
    fn overlaps(&self, span: &Range<u64>) -> bool {
        self.span.start < span.end && span.start < self.span.end
    }
}

/// One active worker: writes its part once, then indefinitely at [`CutWorker::place`], with one
/// write in flight per sector. The first error ends it: a flush after a failed write or flush may
/// silently omit that one.
#[derive(Debug)]
pub struct CutWriter {
    run: u64,
    worker: CutWorker,
    /// Nanoseconds since 1970 when the caller's clock showed 0.
    epoch_ns: u64,
    flights: Vec<Option<Flight>>,
    /// Where the first pass continues; `None` once it is over.
    fill_from: Option<u64>,
    issued: u64,
    prefix: Prefix,
    failed: Option<(u64, i32)>,
    stopped: bool,
}

impl CutWriter {
    /// With `slots` operations in flight, of at most [`CutWorker::write_bytes_max`].
    pub fn new(run: u64, worker: CutWorker, epoch_ns: u64, slots: u32) -> Self {
        CutWriter {
            run,
            worker,
            epoch_ns,
            flights: vec![None; slots as usize],
            fill_from: Some(worker.start_bytes),
            issued: 0,
            prefix: Prefix::default(),
            failed: None,
            stopped: false,
        }
    }

    /// The worker.
    pub fn worker(&self) -> &CutWorker {
        &self.worker
    }

    /// The first pass is over and flushed: continues with numbered writes.
    pub fn begin_writing(&mut self) {
        self.fill_from = None;
        self.stopped = false;
    }

    /// Starts nothing new.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// All writes up to this one have completed.
    pub fn contiguous_to(&self) -> u64 {
        self.prefix.contiguous_to()
    }

    /// Writes issued, excluding the first pass.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Offset of the first failed write, and its error number; 0 for a short one.
    pub fn failed(&self) -> Option<(u64, i32)> {
        self.failed
    }

    /// The next step.
    pub fn next_step(&mut self) -> Step {
        if self.stopped || self.failed.is_some() {
            return Step::Finished;
        }
        let (sequence, span) = match self.fill_from {
            Some(from) => {
                let end = self.worker.start_bytes + self.worker.length_bytes;
                if from >= end {
                    return Step::Finished;
                }
                (
                    0,
                    from..end.min(from + u64::from(self.worker.write_bytes_max)),
                )
            }
            None => {
                let (start, length) = self.worker.place(self.run, self.issued + 1);
                (self.issued + 1, start..start + u64::from(length))
            }
        };
        let Some(slot) = self.flights.iter().position(Option::is_none) else {
            return Step::Full;
        };
        let mut others = self.flights.iter().flatten();
        if others.any(|other| other.overlaps(&span)) {
            return Step::Full;
        }
        match sequence {
            0 => self.fill_from = Some(span.end),
            _ => self.issued = sequence,
        }
        self.flights[slot] = Some(Flight {
            sequence,
            span: span.clone(),
        });
        Step::Operation(Operation {
            slot: slot as u32,
            durable: self.worker.durability.is_of_each_write(),
            kind: Kind::Write,
            offset_bytes: span.start,
            length_bytes: (span.end - span.start) as u32,
        })
    }

    /// Makes the data of the write on a slot, at `now_ns` of the caller's clock.
    pub fn data(&self, slot: u32, now_ns: u64, buffer: &mut [u8]) {
        if let Some(flight) = &self.flights[slot as usize] {
            let written_ns = self.epoch_ns.saturating_add(now_ns);
            let start = flight.span.start;
            (self.worker).data(self.run, flight.sequence, start, written_ns, buffer);
        }
    }

    /// A write has ended, with this many bytes or a negated error number.
    pub fn complete(&mut self, slot: u32, result: i32) {
        let Some(flight) = self.flights[slot as usize].take() else {
            return;
        };
        let length = flight.span.end - flight.span.start;
        if u64::try_from(result).is_ok_and(|bytes| bytes == length) {
            if flight.sequence > 0 {
                self.prefix.completed(flight.sequence);
            }
        } else {
            let failed = (flight.span.start, result.min(0).saturating_neg());
            self.failed.get_or_insert(failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer() -> CutWriter {
        let worker = CutWorker {
            worker: 1,
            target: 0,
            durability: Durability::Flush,
            start_bytes: 8192,
            length_bytes: 64 << 10,
            sector_bytes: 512,
            write_bytes_max: 16 << 10,
        };
        CutWriter::new(7, worker, 1_000, 4)
    }

    fn issue(writer: &mut CutWriter) -> Option<Operation> {
        match writer.next_step() {
            Step::Operation(operation) => Some(operation),
            Step::Full | Step::Finished | Step::Resize(_) => None,
        }
    }

    #[test]
    fn everything_is_written_once_before_the_first_write_with_a_number() {
        let mut writer = writer();
        let mut at = 8192;
        while let Some(operation) = issue(&mut writer) {
            assert_eq!(operation.offset_bytes, at);
            at += u64::from(operation.length_bytes);
            writer.complete(operation.slot, operation.length_bytes as i32);
        }
        assert_eq!(at, 8192 + (64 << 10));
        assert_eq!((writer.issued(), writer.contiguous_to()), (0, 0));
        writer.begin_writing();
        assert!(issue(&mut writer).is_some());
        assert_eq!(writer.issued(), 1);
    }

    #[test]
    fn one_write_is_in_flight_a_sector_and_numbers_come_home_in_any_order() {
        let mut writer = writer();
        writer.begin_writing();
        let mut rng = SeededRng::new(3);
        let mut open: Vec<Operation> = Vec::new();
        for _ in 0..5_000 {
            match writer.next_step() {
                Step::Operation(new) => {
                    let end = |one: &Operation| one.offset_bytes + u64::from(one.length_bytes);
                    for old in &open {
                        let apart = end(old) <= new.offset_bytes || end(&new) <= old.offset_bytes;
                        assert!(apart, "{old:?} and {new:?}");
                    }
                    open.push(new);
                }
                _ => {
                    let at = rng.below(open.len() as u64) as usize;
                    let done = open.swap_remove(at);
                    writer.complete(done.slot, done.length_bytes as i32);
                }
            }
            assert!(writer.contiguous_to() <= writer.issued());
        }
        for done in open.drain(..) {
            writer.complete(done.slot, done.length_bytes as i32);
        }
        assert!(writer.issued() > 1_000);
        assert_eq!(writer.contiguous_to(), writer.issued());
    }

    #[test]
    fn the_first_error_ends_it_and_nothing_behind_it_counts() {
        let mut writer = writer();
        writer.begin_writing();
        let first = issue(&mut writer).expect("a write");
        writer.complete(first.slot, -5);
        assert_eq!(writer.failed(), Some((first.offset_bytes, 5)));
        assert_eq!(writer.next_step(), Step::Finished);
        assert_eq!(writer.contiguous_to(), 0);
    }
}
