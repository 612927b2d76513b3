//! Selects the copy of a mirror to read from.

use super::Array;
use crate::controller::MirrorRead;
use crate::random::{Entity, draw};
use std::ops::Range;

/// How often, per copy, a read may go to other copies before an idle one takes the next. With
/// random reads balanced over a pair, a copy is passed over that often once in billions of reads.
const PASSED_OVER_MAX: u32 = 16;

/// History of the mirrored reads sent to a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct DriveHistory {
    /// Cylinder of the last read; initially the arm's rest position.
    cylinder: u32,
    /// Reads since then that made another copy seek away from its current stream.
    passed_over: u32,
}

impl DriveHistory {
    /// Of a drive without reads yet: its turn comes once another drive has been sent a read.
    pub(super) fn new(copies: u32) -> DriveHistory {
        DriveHistory {
            cylinder: 0,
            passed_over: PASSED_OVER_MAX * copies - 1,
        }
    }
}

impl Array {
    /// Chooses the drive that reads, among copies at the same position of identical drives.
    ///
    /// Once the load has moved away from one arm, or started away from the rest position, another
    /// arm could be nearer to every read and serve them all. So an idle copy that was passed over
    /// for long takes priority. A stream does not move the arm away, and stays with the copy that
    /// reads it.
    #[inline]
    pub(super) fn choose_copy(
        &mut self,
        mut copies: Range<u32>,
        cylinder: u32,
        offset_bytes: u64,
    ) -> u32 {
        let all = copies.clone();
        let chosen = match self.controller.model.mirror_read {
            MirrorRead::Nearest => {
                let left_out = self.left_out(&all);
                left_out.or_else(|| Some(self.nearest(copies, cylinder)))
            }
            MirrorRead::NearestIdle => {
                let key = |&disk: &u32| (self.load(disk) > 0, self.distance(disk, cylinder));
                self.left_out(&all).or_else(|| copies.min_by_key(key))
            }
            MirrorRead::Shortest => copies.min_by_key(|&disk| self.load(disk)),
            MirrorRead::Hash => {
                let row = offset_bytes / self.layout.unit_bytes.max(1);
                let bits = draw(self.seed, Entity::Mirror, 0, row);
                copies.nth((bits % copies.len() as u64) as usize)
            }
        };
        let chosen = chosen.unwrap_or(all.start);
        self.sent_to(chosen, &all, cylinder);
        chosen
    }

    /// An idle copy that has been passed over for long.
    #[inline]
    fn left_out(&self, copies: &Range<u32>) -> Option<u32> {
        let limit = PASSED_OVER_MAX * copies.len() as u32;
        let turns = &self.turns[copies.start as usize..copies.end as usize];
        if turns.iter().all(|turn| turn.passed_over < limit) {
            return None;
        }
        let passed_over = |disk: u32| self.turns[disk as usize].passed_over >= limit;
        let mut copies = copies.clone();
        copies.find(|&disk| passed_over(disk) && self.drives[disk as usize].is_idle())
    }

    /// Records that a read goes to one of the copies.
    #[inline]
    fn sent_to(&mut self, chosen: u32, copies: &Range<u32>, cylinder: u32) {
        let turns = &mut self.turns[copies.start as usize..copies.end as usize];
        let turn = &mut turns[(chosen - copies.start) as usize];
        let on_other_cylinder = u32::from(cylinder.abs_diff(turn.cylinder) > 1);
        turn.cylinder = cylinder;
        for turn in turns.iter_mut() {
            turn.passed_over = turn.passed_over.saturating_add(on_other_cylinder);
        }
        turns[(chosen - copies.start) as usize].passed_over = 0;
    }

    /// The copy with the nearest arm; the first if several are equally near.
    #[inline]
    fn nearest(&self, copies: Range<u32>, cylinder: u32) -> u32 {
        let mut nearest = (u32::MAX, copies.start);
        let drives = &self.drives[copies.start as usize..copies.end as usize];
        for (disk, drive) in copies.zip(drives) {
            let distance = drive.distance(cylinder, |key| self.has_passed(key));
            if distance < nearest.0 {
                nearest = (distance, disk);
            }
        }
        nearest.1
    }

    /// Cylinders between a drive's arm and the given one.
    #[inline]
    fn distance(&self, disk: u32, cylinder: u32) -> u32 {
        self.drives[disk as usize].distance(cylinder, |key| self.has_passed(key))
    }

    /// Accesses pending at a drive.
    fn load(&self, disk: u32) -> usize {
        self.drives[disk as usize].load(|key| self.has_passed(key))
    }
}
