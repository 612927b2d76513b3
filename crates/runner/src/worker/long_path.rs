//! The long path of a worker: open loops, several files, syncs, failures, the drain. Not inlined,
//! so that the short path stays short.

use super::{NO_RESULT, Slot, Worker};
use crate::errors::{ErrorCount, Failure};
use crate::lane::{Lane, NextOperation};
use crate::recorder::UNMEASURED;
use crate::summary::DrainCounts;
use crate::think::Think;
use crate::window::Phase;
use stripewise_io_engine::Kind;

/// What the long path returns, besides a number: a [`Next`] that fits two registers. If it were
/// returned through memory, the compiler would keep every operation of the short path there, too.
pub(super) enum Answer {
    /// Issue the operation of the slot of this number.
    Operation,
    Full,
    /// Nothing is due before this time.
    NotBefore,
    Finished,
}

impl Worker {
    /// Routes the short path to the long one from here on.
    pub(super) fn use_long_path(&mut self) {
        self.simple = false;
        self.short_result = NO_RESULT;
        while let Some(slot) = self.slots.get(self.short_free as usize) {
            self.free.push(self.short_free);
            self.short_free = slot.next_free;
        }
    }

    /// Counts arrivals that were due and will never be issued.
    pub(super) fn give_up_arrivals(&mut self) {
        if self.interval.phase != Phase::Measuring {
            return;
        }
        let window = self.judged_window();
        let (from_ns, until_ns) = window;
        if let Some(replay) = &mut self.replay {
            let due = &mut self.recorder.open_loop.arrivals_due;
            replay.give_up_arrivals(until_ns, |due_ns| {
                *due += u64::from(due_ns >= from_ns);
                if self.drain.due.is_counted() {
                    self.drain.due.add(due_ns, None, window);
                }
            });
            return;
        }
        for lane in std::iter::once(&mut self.first).chain(&mut self.others) {
            let due = &mut self.recorder.open_loop.arrivals_due;
            if self.drain.due.counts(Kind::Read) {
                lane.give_up_each_arrival(until_ns, |due_ns| {
                    *due += u64::from(due_ns >= from_ns);
                    self.drain.due.add(due_ns, None, window);
                });
            } else {
                *due += lane.give_up_arrivals(from_ns, until_ns);
            }
        }
    }

    /// Start and end of measuring.
    fn judged_window(&self) -> (u64, u64) {
        (self.times.measure_from_ns, self.times.stop_at_ns)
    }

    /// Counts known once the run is over, at `now_ns`. What an operation in flight would have
    /// taken is unknown, as of a commit whose sync was not issued: they count only if they are
    /// beyond every threshold by now.
    pub(super) fn last_word(&self, now_ns: u64) -> DrainCounts {
        let mut drain = self.drain.clone();
        if drain.due.is_counted() {
            let window = self.judged_window();
            let mut unfinished = |due_ns: u64, until_ns: u64| {
                let due = &mut drain.due;
                if due.is_beyond_all(until_ns.saturating_sub(due_ns)) {
                    due.add(due_ns, None, window);
                }
            };
            for slot in self.in_flight() {
                if self.drain.due.counts(slot.kind) {
                    unfinished(slot.due_ns(), now_ns);
                }
            }
            if self.drain.due.counts(Kind::Sync) {
                self.open_commits(now_ns, unfinished);
            }
        }
        drain
    }

    /// Operations in flight, on the long path.
    fn in_flight(&self) -> impl Iterator<Item = &Slot> {
        let is_free = |number: usize| self.free.iter().any(|&free| free as usize == number);
        let slots = self.slots.iter().enumerate();
        let in_flight = slots.filter(move |(number, _)| !is_free(*number));
        in_flight.map(|(_, slot)| slot)
    }

    /// Passes on when each commit began whose sync was not issued, and until when it is known to
    /// have taken: with a write in flight until now, otherwise until the last one, or the stop.
    fn open_commits(&self, now_ns: u64, mut unfinished: impl FnMut(u64, u64)) {
        let stop_at_ns = self.times.stop_at_ns;
        let lanes = std::iter::once(&self.first).chain(&self.others);
        for (number, lane) in lanes.enumerate().filter(|(_, lane)| lane.has_commits()) {
            let is_write = |slot: &&Slot| slot.kind == Kind::Write;
            let of_lane = |slot: &&Slot| usize::from(slot.lane) == number;
            let write = self.in_flight().filter(is_write).filter(of_lane);
            let write = write.min_by_key(|slot| slot.due_ns());
            match (lane.open_commit(), write) {
                (Some(commit), write) => {
                    let until_ns = match write {
                        Some(_) => now_ns,
                        None => commit.written_ns.max(stop_at_ns),
                    };
                    unfinished(commit.began_ns & !UNMEASURED, until_ns);
                }
                (None, Some(write)) => unfinished(write.due_ns(), now_ns),
                (None, None) => {}
            }
        }
    }

    /// Bytes of the operation in this slot.
    pub(super) fn length_of(&self, slot: &Slot) -> u32 {
        match slot.kind {
            Kind::Sync => 0,
            // With several sizes a worker is on the long path from the start.
            Kind::Read | Kind::Write | Kind::Discard if self.mixed => slot.next_free,
            Kind::Read | Kind::Write | Kind::Discard => self.length_bytes,
        }
    }

    /// What to issue at `now_ns`.
    #[inline(never)]
    pub(super) fn next_long(&mut self, now_ns: u64) -> (Answer, u64) {
        if self.is_finished() {
            return (Answer::Finished, 0);
        }
        let Some(&slot) = self.free.last() else {
            return (Answer::Full, 0);
        };
        if self.replay.is_some() {
            return self.next_recorded(now_ns, slot);
        }
        if let Some(think) = &self.think {
            if let Some(until_ns) = think.pausing(now_ns) {
                return (Answer::NotBefore, until_ns);
            }
            // Owed syncs belong to the operations before the pause.
            if think.is_due() && !self.owes_sync() {
                return (Answer::Full, 0);
            }
        }
        let lanes = self.others.len() + 1;
        let mut not_before_ns = u64::MAX;
        for _ in 0..lanes {
            let lane = self.turn as u16;
            self.turn = (self.turn + 1) % lanes;
            let only_syncs = self.think.as_ref().is_some_and(Think::is_due);
            match self.lane(lane).offer(now_ns, only_syncs) {
                NextOperation::Operation {
                    kind,
                    offset_bytes,
                    length_bytes,
                    intended_ns,
                } => {
                    self.free.pop();
                    self.slots[slot as usize] = Slot {
                        start_ns: intended_ns.unwrap_or(now_ns),
                        issued_ns: now_ns,
                        offset_bytes,
                        next_free: length_bytes,
                        lane,
                        kind,
                    };
                    if let Some(intended_ns) = intended_ns {
                        self.issued(intended_ns, now_ns);
                    }
                    self.remaining -= 1;
                    if let Some(think) = &mut self.think {
                        think.issued();
                    }
                    return (Answer::Operation, u64::from(slot));
                }
                NextOperation::Sync { commit_ns } => {
                    self.free.pop();
                    self.slots[slot as usize] = Slot {
                        start_ns: now_ns,
                        issued_ns: commit_ns,
                        offset_bytes: 0,
                        next_free: 0,
                        lane,
                        kind: Kind::Sync,
                    };
                    return (Answer::Operation, u64::from(slot));
                }
                NextOperation::Full => {}
                NextOperation::NotBefore(due_ns) => not_before_ns = not_before_ns.min(due_ns),
            }
        }
        match not_before_ns {
            u64::MAX => (Answer::Full, 0),
            due_ns => (Answer::NotBefore, due_ns),
        }
    }

    /// Counts an arrival that was due at `intended_ns` and is issued now.
    pub(super) fn issued(&mut self, intended_ns: u64, now_ns: u64) {
        if intended_ns < self.times.measure_from_ns {
            return;
        }
        self.recorder.open_loop.arrivals_due += 1;
        self.recorder.open_loop.arrivals_issued += 1;
        self.issued_late(intended_ns, now_ns);
        // Arrivals due while all slots were taken waited for the device.
        if self.drain.due.counts(Kind::Read) && intended_ns > self.full_until_ns {
            self.drain.due.own_lag(now_ns - intended_ns);
        }
    }

    /// Records how late an arrival is issued; called again once a write's data is made.
    pub(super) fn issued_late(&mut self, intended_ns: u64, now_ns: u64) {
        if intended_ns >= self.times.measure_from_ns {
            let lag_ns_max = &mut self.recorder.open_loop.schedule_lag_ns_max;
            *lag_ns_max = (*lag_ns_max).max(now_ns - intended_ns);
        }
    }

    /// Handles any completion.
    #[inline(never)]
    pub(super) fn complete_long(&mut self, number: u32, result: i32, at_ns: u64) {
        let mut slot = self.slots[number as usize];
        let mark = slot.start_ns & UNMEASURED;
        slot.start_ns ^= mark;
        let length_bytes = self.length_of(&slot);
        let transferred = match slot.kind {
            Kind::Discard => 0,
            _ => length_bytes,
        };
        let whole = result == transferred as i32;
        let latency_ns = at_ns.saturating_sub(slot.start_ns);
        if self.drain.due.counts(slot.kind) {
            if self.free.is_empty() {
                self.full_until_ns = at_ns;
            }
            let window = self.judged_window();
            let due_ns = slot.due_ns();
            let latency_ns = whole.then(|| at_ns.saturating_sub(due_ns));
            self.drain.due.add(due_ns, latency_ns, window);
        }
        if self.simple {
            self.slots[number as usize].next_free = self.short_free;
            self.short_free = number;
        } else {
            self.free.push(number);
        }
        if let Some(replay) = &mut self.replay {
            replay.completed(number, at_ns);
        }
        if self.lanes_count {
            let start_ns = slot.start_ns | mark;
            let lane = self.lane(slot.lane);
            lane.completed(slot.kind, whole, start_ns, at_ns);
        }
        let all_done =
            self.think.is_some() && self.free.len() == self.slots.len() && !self.owes_sync();
        if all_done && let Some(think) = &mut self.think {
            think.all_completed(at_ns);
        }
        if self.interval.phase == Phase::Draining {
            self.drain.operations += 1;
            if !whole {
                self.drain.errors += 1;
                let failed = self.error(slot, result, at_ns);
                self.drain.first_error.get_or_insert(failed);
            }
            self.drain.latency_ns_max = self.drain.latency_ns_max.max(latency_ns);
        } else if whole {
            let kind = &mut self.recorder.kinds[slot.kind.index()];
            kind.record(latency_ns | mark);
            if self.mixed {
                kind.add_bytes(length_bytes);
            }
            if slot.is_commit() {
                let commit_ns = at_ns.saturating_sub(slot.due_ns());
                let commits = &mut self.recorder.commits;
                commits.record(commit_ns | mark | slot.issued_ns & UNMEASURED);
            }
            if let Some(sum_ns) = &mut self.recorder.from_issue_ns_sum
                && slot.kind != Kind::Sync
            {
                *sum_ns += at_ns.saturating_sub(slot.issued_ns);
            }
        } else {
            self.failed(slot, result, at_ns);
        }
    }

    /// Whether a sync is due on one of the files but not issued.
    fn owes_sync(&self) -> bool {
        self.first.owes_sync() || self.others.iter().any(Lane::owes_sync)
    }

    /// A failed operation as an error count.
    fn error(&self, slot: Slot, result: i32, at_ns: u64) -> ErrorCount {
        ErrorCount {
            kind: slot.kind,
            failure: match result {
                0.. => Failure::Short,
                code => Failure::Os(code.saturating_neg()),
            },
            count: 1,
            first_file: slot.lane,
            first_offset_bytes: slot.offset_bytes,
            first_at_ns: self.without_pauses(at_ns),
        }
    }

    /// Counts a failure; too many in a row stop the run.
    #[cold]
    #[inline(never)]
    fn failed(&mut self, slot: Slot, result: i32, at_ns: u64) {
        if slot.kind != Kind::Sync {
            let from_ns = if self.open_loop {
                slot.issued_ns
            } else {
                slot.start_ns
            };
            self.recorder.failed_ns_sum += at_ns.saturating_sub(from_ns);
        }
        let failed = self.error(slot, result, at_ns);
        self.recorder.errors.add(failed);
        let fingerprint = self.recorder.fingerprint();
        if fingerprint != self.fingerprint {
            self.fingerprint = fingerprint;
            self.failures_in_a_row = 0;
        }
        self.failures_in_a_row += 1;
        if self.failures_in_a_row >= self.failures_in_a_row_max && !self.gave_up {
            self.gave_up = true;
            self.use_long_path();
            let at_ns = self.without_pauses(at_ns);
            self.window.give_up(self.job, at_ns);
        }
    }
}
