//! Fault analysis: rereads the surroundings of wrong data three times while no one writes there,
//! and reaches a verdict.
//!
//! Data that is old each time may be a lost write, or the stale half of a mirror that was read each
//! time. Only such data is reread further, up to [`ROUNDS_MAX`] times in total: halves chosen
//! alternately then show.

use crate::judge::{Reread, Scene};
use crate::ledger::{Scope, faults_of};
use crate::sector_reading::{Suspect, poison};
use crate::verify_targets::{Region, VerifyTargets};
use crate::worker_identity::WorkerIdentity;
use std::ops::Range;
use stripewise_results::faults::{Class, Fault};

/// Number of rereads.
const ROUNDS: usize = 3;
/// Number of rereads of data that is old each time, as SQLIOSim does for apparently stale data.
const ROUNDS_MAX: usize = 16;
/// Range around wrong data: the reach of the largest write.
const AROUND_BYTES: u64 = 1 << 20;

/// An analysis in progress.
#[derive(Debug)]
pub(crate) struct FaultReread {
    /// The original wrong data, by offset.
    suspects: Vec<Suspect>,
    /// Suspects beyond `span`.
    left: Vec<Suspect>,
    chunk_bytes: u32,
    rereads: Vec<Reread>,
    /// Sectors that were old in all rounds so far.
    old: Vec<u64>,
    /// Range read in this round.
    stretch: Range<u64>,
    at_bytes: u64,
    poison: u64,
}

impl FaultReread {
    /// For the first of these and all near it, within the worker's blocks; `None` if none is in
    /// them.
    pub(crate) fn begin(
        verify_targets: &VerifyTargets,
        identity: &WorkerIdentity,
        part: Range<u64>,
        mut suspects: Vec<Suspect>,
    ) -> Option<FaultReread> {
        let region = region_of(verify_targets, identity);
        let own = region.offset_of(part.start)..region.offset_of(part.end);
        suspects.retain(|suspect| {
            own.contains(&suspect.offset_bytes)
                && !(region.map).is_retired(region.block_at(suspect.offset_bytes))
        });
        suspects.sort_by_key(|suspect| suspect.offset_bytes);
        // If a sector was seen wrong several times, the first one counts.
        suspects.dedup_by_key(|suspect| suspect.offset_bytes);
        let first = suspects.first()?.offset_bytes;
        let block = u64::from(region.block_bytes);
        let from = (first - own.start).saturating_sub(AROUND_BYTES) / block * block + own.start;
        let to = (first - own.start + AROUND_BYTES).next_multiple_of(block) + own.start;
        let span = from..to.min(own.end);
        let beyond = suspects.partition_point(|suspect| suspect.offset_bytes < span.end);
        let left = suspects.split_off(beyond);
        let poison = poison(verify_targets.run, identity.id, u64::MAX ^ first);
        let mut reread = FaultReread {
            suspects,
            left,
            chunk_bytes: identity.slot_bytes,
            rereads: Vec::new(),
            old: Vec::new(),
            at_bytes: span.start,
            stretch: span,
            poison,
        };
        reread.new_round();
        Some(reread)
    }

    fn new_round(&mut self) {
        self.at_bytes = self.stretch.start;
        self.rereads.push(Reread {
            start_bytes: self.stretch.start,
            bytes: vec![0; (self.stretch.end - self.stretch.start) as usize],
            unread: Vec::new(),
        });
    }

    /// The next read: offset and length.
    pub(crate) fn next(&self) -> (u64, u32) {
        let left = self.stretch.end - self.at_bytes;
        (self.at_bytes, left.min(u64::from(self.chunk_bytes)) as u32)
    }

    /// Fill value of its buffers before reading.
    pub(crate) fn poison(&self) -> u64 {
        self.poison
    }

    /// Takes the result of a read.
    pub(crate) fn take(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let Some(round) = self.rereads.last_mut() else {
            return;
        };
        let at = (offset_bytes - round.start_bytes) as usize;
        round.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// A read failed.
    pub(crate) fn failed(&mut self, offset_bytes: u64, length_bytes: u32) {
        let part = offset_bytes..offset_bytes + u64::from(length_bytes);
        if let Some(round) = self.rereads.last_mut() {
            round.unread.push(part);
        }
    }

    /// A read has ended; true when all have.
    pub(crate) fn advance(
        &mut self,
        verify_targets: &VerifyTargets,
        identity: &WorkerIdentity,
    ) -> bool {
        self.at_bytes += u64::from(self.next().1);
        if self.at_bytes < self.stretch.end {
            return false;
        }
        let rounds = self.rereads.len();
        if rounds == ROUNDS {
            let verdicts = self.scene(verify_targets, identity).judge(&self.suspects);
            self.old = (verdicts.iter())
                .filter(|verdict| matches!(verdict.class, Class::LostWrite | Class::Torn))
                .map(|verdict| verdict.offset_bytes)
                .collect();
        } else if let (Some(first), Some(last)) = (self.rereads.first(), self.rereads.last()) {
            let bytes = verify_targets.layouts[usize::from(identity.target)].sector_bytes;
            (self.old).retain(|at| first.sector(*at, bytes) == last.sector(*at, bytes));
        }
        if rounds >= ROUNDS {
            // The blocks still in doubt, from first to last.
            match (self.old.first(), self.old.last()) {
                (Some(first), Some(last)) if rounds < ROUNDS_MAX => {
                    let region = region_of(verify_targets, identity);
                    let from = region.offset_of(region.block_at(*first));
                    self.stretch = from..region.offset_of(region.block_at(*last) + 1);
                }
                _ => return true,
            }
        }
        self.new_round();
        false
    }

    fn scene<'a>(
        &'a self,
        verify_targets: &'a VerifyTargets,
        identity: &WorkerIdentity,
    ) -> Scene<'a> {
        let region = region_of(verify_targets, identity);
        Scene {
            run: verify_targets.run,
            target: identity.target,
            sector_bytes: verify_targets.layouts[usize::from(identity.target)].sector_bytes,
            rereads: &self.rereads,
            poison: self.poison,
            map: &region.map,
            region_start_bytes: region.start_bytes,
            block_bytes: region.block_bytes,
            grows: region.grows,
        }
    }

    /// The faults, whose blocks are retired if their stored data is wrong; and the suspects not yet
    /// analysed.
    pub(crate) fn verdict(
        self,
        verify_targets: &VerifyTargets,
        identity: &WorkerIdentity,
    ) -> (Vec<Fault>, Vec<Suspect>) {
        let region = region_of(verify_targets, identity);
        let scene = self.scene(verify_targets, identity);
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

/// The region in which a worker owns a part.
fn region_of<'a>(verify_targets: &'a VerifyTargets, identity: &WorkerIdentity) -> &'a Region {
    &verify_targets.layouts[usize::from(identity.target)].regions[identity.region]
}
