//! Which copy of a mirror reads.

use super::Array;
use crate::controller::MirrorRead;
use crate::drive::Drive;
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
    /// The drive that shall read, among copies at the same place of equal drives, in a
    /// row of stripe units.
    ///
    /// An arm that is nearer to every read than another would serve them all, once the
    /// load has moved away from the other, or has begun away from where arms rest. So an
    /// idle copy that was passed over for long comes first. A stream does not go
    /// elsewhere, and stays with the copy that reads it.
    #[inline]
    pub(super) fn choose_copy(&mut self, mut copies: Range<u32>, cylinder: u32, row: u64) -> u32 {
        let policy = self.controller.model.mirror_read;
        let all = copies.clone();
        let busy = |disk| self.load(disk) > 0;
        let distance = |disk| self.distance(disk, cylinder);
        let left_out = match policy {
            MirrorRead::Nearest | MirrorRead::NearestIdle => self.left_out(&all),
            MirrorRead::Shortest | MirrorRead::Hash => None,
        };
        let chosen = left_out.or_else(|| match policy {
            MirrorRead::Nearest => copies.min_by_key(|&disk| distance(disk)),
            MirrorRead::NearestIdle => copies.min_by_key(|&disk| (busy(disk), distance(disk))),
            MirrorRead::Shortest => copies.min_by_key(|&disk| self.load(disk)),
            MirrorRead::Hash => {
                let bits = draw(self.seed, Entity::Mirror, 0, row);
                copies.nth((bits % copies.len() as u64) as usize)
            }
        });
        let chosen = chosen.unwrap_or(all.start);
        self.sent_to(chosen, &all, cylinder);
        chosen
    }

    /// An idle copy that has been passed over for long.
    #[inline]
    fn left_out(&self, copies: &Range<u32>) -> Option<u32> {
        let limit = PASSED_OVER_MAX * copies.len() as u32;
        copies.clone().find(|&disk| {
            self.turns[disk as usize].passed_over >= limit && self.drives[disk as usize].is_idle()
        })
    }

    /// A read goes to one of the copies.
    #[inline]
    fn sent_to(&mut self, chosen: u32, copies: &Range<u32>, cylinder: u32) {
        let turn = &mut self.turns[chosen as usize];
        let elsewhere = cylinder.abs_diff(turn.cylinder) > 1;
        turn.cylinder = cylinder;
        if elsewhere {
            for turn in &mut self.turns[copies.start as usize..copies.end as usize] {
                turn.passed_over = turn.passed_over.saturating_add(1);
            }
        }
        self.turns[chosen as usize].passed_over = 0;
    }

    /// Cylinders between a drive's arm and another one.
    #[inline]
    fn distance(&self, disk: u32, cylinder: u32) -> u32 {
        self.drives[disk as usize].distance(cylinder, |key| self.has_passed(key))
    }

    /// Accesses that a drive has: in its queue, in service, and in its inbox as far as
    /// they have arrived.
    fn load(&self, disk: u32) -> usize {
        let passed = |key| self.has_passed(key);
        let inbox = &self.inboxes[disk as usize];
        let arrived = inbox.partition_point(|entry| passed(entry.0));
        match &self.drives[disk as usize] {
            Drive::Rotating(drive) => drive.load(passed) + arrived,
            Drive::Flash(drive) => drive.load() - (inbox.len() - arrived),
        }
    }
}
