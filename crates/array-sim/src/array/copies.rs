//! Which copy of a mirror reads.

use super::Array;
use crate::controller::MirrorRead;
use crate::random::{Entity, draw};
use std::ops::Range;

/// How often the other copies may be sent elsewhere before an idle one takes the next
/// read, for each copy. A copy of a pair that shares a load of random reads is passed
/// over so often once in billions of them.
const PASSED_OVER_MAX: u32 = 16;

/// What mirrored reads were sent to a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Where the last one went; at first, where the arm rests.
    cylinder: u32,
    /// Reads since then for which another copy was sent elsewhere than where it was
    /// reading.
    passed_over: u32,
}

impl Turn {
    /// Of a drive that has read nothing: its turn comes when another has been sent
    /// somewhere.
    pub(super) fn new(copies: u32) -> Turn {
        Turn {
            cylinder: 0,
            passed_over: PASSED_OVER_MAX * copies - 1,
        }
    }
}

impl Array {
    /// The drive that shall read, among copies at the same place of equal drives.
    ///
    /// An arm that is nearer to every read than another would serve them all, once the
    /// load has moved away from the other, or has begun away from where arms rest. So an
    /// idle copy that was passed over for long comes first. A stream does not go
    /// elsewhere, and stays with the copy that reads it.
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

    /// A read goes to one of the copies.
    #[inline]
    fn sent_to(&mut self, chosen: u32, copies: &Range<u32>, cylinder: u32) {
        let turns = &mut self.turns[copies.start as usize..copies.end as usize];
        let turn = &mut turns[(chosen - copies.start) as usize];
        let elsewhere = u32::from(cylinder.abs_diff(turn.cylinder) > 1);
        turn.cylinder = cylinder;
        for turn in turns.iter_mut() {
            turn.passed_over = turn.passed_over.saturating_add(elsewhere);
        }
        turns[(chosen - copies.start) as usize].passed_over = 0;
    }

    /// The copy whose arm is nearest, of several the first.
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

    /// Cylinders between a drive's arm and another one.
    #[inline]
    fn distance(&self, disk: u32, cylinder: u32) -> u32 {
        self.drives[disk as usize].distance(cylinder, |key| self.has_passed(key))
    }

    /// Accesses that a drive has.
    fn load(&self, disk: u32) -> usize {
        self.drives[disk as usize].load(|key| self.has_passed(key))
    }
}
