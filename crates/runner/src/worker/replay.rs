//! The path of a worker whose operations come from a recording.

use super::long_path::Answer;
use super::{Slot, Worker};
use crate::recorder::NO_COMMIT;
use crate::replay::NextOperation;
use stripewise_io_engine::Kind;

impl Worker {
    /// What to issue at `now_ns` in this free slot.
    pub(super) fn next_recorded(&mut self, now_ns: u64, slot: u32) -> (Answer, u64) {
        let Some(replay) = &mut self.replay else {
            return (Answer::Full, 0);
        };
        let (operation, due_ns, is_held) = match replay.offer(now_ns, slot) {
            NextOperation::Operation(operation, due_ns, is_held) => (operation, due_ns, is_held),
            NextOperation::Full => return (Answer::Full, 0),
            NextOperation::NotBefore(due_ns) => return (Answer::NotBefore, due_ns),
            // Nothing that any operation waits for is in flight.
            NextOperation::Nothing if replay.is_closed() && self.free.len() == self.slots.len() => {
                self.remaining = 0;
                return (Answer::Finished, 0);
            }
            NextOperation::Nothing if replay.is_closed() => return (Answer::Full, 0),
            // The run continues until its time is over.
            NextOperation::Nothing => return (Answer::NotBefore, self.times.stop_at_ns),
        };
        self.free.pop();
        self.slots[slot as usize] = Slot {
            start_ns: due_ns,
            issued_ns: match operation.kind {
                Kind::Sync => NO_COMMIT,
                Kind::Read | Kind::Write | Kind::Discard => now_ns,
            },
            offset_bytes: operation.offset_bytes,
            next_free: operation.length_bytes,
            lane: 0,
            kind: operation.kind,
        };
        self.remaining -= 1;
        if is_held {
            // It waited for the device: not lag of the program.
            self.full_until_ns = self.full_until_ns.max(due_ns);
        }
        self.issued(due_ns, now_ns);
        (Answer::Operation, u64::from(slot))
    }
}
