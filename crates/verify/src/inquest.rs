//! The inquest: reads the surroundings of what came wrong three times over, while nobody
//! writes there, and comes to a verdict.

use crate::crew::Crew;
use crate::field::{Field, Region};
use crate::judge::Scene;
use crate::ledger::{Scope, faults_of};
use crate::see::{Suspect, poison};
use std::ops::Range;
use stripewise_results::faults::Fault;

/// How often everything is read again.
const ROUNDS: usize = 3;
/// How far around what came wrong: as far as the largest write reaches.
const AROUND_BYTES: u64 = 1 << 20;

/// An inquest under way.
#[derive(Debug)]
pub(crate) struct Inquest {
    /// What came first, by offset.
    suspects: Vec<Suspect>,
    /// What lies beyond `span`.
    left: Vec<Suspect>,
    span: Range<u64>,
    chunk_bytes: u32,
    rereads: Vec<Vec<u8>>,
    unread: Vec<Vec<Range<u64>>>,
    round: usize,
    at_bytes: u64,
    poison: u64,
}

impl Inquest {
    /// Into the first of these and all near to it; `None` where none is the worker's own.
    pub(crate) fn begin(field: &Field, crew: &Crew, mut suspects: Vec<Suspect>) -> Option<Inquest> {
        let region = region_of(field, crew);
        let part = region.part_of(crew.id);
        let own = region.offset_of(part.start)..region.offset_of(part.end);
        suspects.retain(|suspect| {
            own.contains(&suspect.offset_bytes)
                && !(region.map).is_retired(region.block_at(suspect.offset_bytes))
        });
        suspects.sort_by_key(|suspect| suspect.offset_bytes);
        // Of several sights of one sector the first one counts.
        suspects.dedup_by_key(|suspect| suspect.offset_bytes);
        let first = suspects.first()?.offset_bytes;
        let block = u64::from(region.block_bytes);
        let from = (first - own.start).saturating_sub(AROUND_BYTES) / block * block + own.start;
        let to = (first - own.start + AROUND_BYTES).next_multiple_of(block) + own.start;
        let span = from..to.min(own.end);
        let beyond = suspects.partition_point(|suspect| suspect.offset_bytes < span.end);
        let left = suspects.split_off(beyond);
        let poison = poison(field.run, crew.id, u64::MAX ^ first);
        let mut inquest = Inquest {
            suspects,
            left,
            chunk_bytes: crew.slot_bytes,
            rereads: Vec::new(),
            unread: Vec::new(),
            round: 0,
            at_bytes: span.start,
            span,
            poison,
        };
        inquest.new_round();
        Some(inquest)
    }

    fn new_round(&mut self) {
        let bytes = (self.span.end - self.span.start) as usize;
        self.rereads.push(vec![0; bytes]);
        self.unread.push(Vec::new());
        self.at_bytes = self.span.start;
    }

    /// The next read: offset and length.
    pub(crate) fn next(&self) -> (u64, u32) {
        let left = self.span.end - self.at_bytes;
        (self.at_bytes, left.min(u64::from(self.chunk_bytes)) as u32)
    }

    /// What its buffers are filled with before they are read into.
    pub(crate) fn poison(&self) -> u64 {
        self.poison
    }

    /// What a read brought.
    pub(crate) fn take(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let at = (offset_bytes - self.span.start) as usize;
        self.rereads[self.round][at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// A read failed.
    pub(crate) fn failed(&mut self, offset_bytes: u64, length_bytes: u32) {
        self.unread[self.round].push(offset_bytes..offset_bytes + u64::from(length_bytes));
    }

    /// A read is over; true when all of them are.
    pub(crate) fn advance(&mut self) -> bool {
        self.at_bytes += u64::from(self.next().1);
        if self.at_bytes >= self.span.end {
            self.round += 1;
            if self.round == ROUNDS {
                return true;
            }
            self.new_round();
        }
        false
    }

    /// The faults, whose blocks are used no more where what lies there is wrong; and the
    /// suspects that were not looked at yet.
    pub(crate) fn verdict(self, field: &Field, crew: &Crew) -> (Vec<Fault>, Vec<Suspect>) {
        let region = region_of(field, crew);
        let scene = Scene {
            run: field.run,
            target: crew.target,
            sector_bytes: field.grounds[usize::from(crew.target)].sector_bytes,
            start_bytes: self.span.start,
            rereads: &self.rereads,
            unread: &self.unread,
            poison: self.poison,
            map: &region.map,
            region_start_bytes: region.start_bytes,
            block_bytes: region.block_bytes,
        };
        let verdicts = scene.judge(&self.suspects);
        for verdict in verdicts.iter().filter(|verdict| verdict.class.lasts()) {
            region.map.retire(region.block_at(verdict.offset_bytes));
        }
        let scope = Scope {
            run: scene.run,
            target: scene.target,
            sector_bytes: scene.sector_bytes,
        };
        (faults_of(&verdicts, &scope), self.left)
    }
}

/// The region that a worker owns a part of.
fn region_of<'a>(field: &'a Field, crew: &Crew) -> &'a Region {
    &field.grounds[usize::from(crew.target)].regions[crew.region]
}
