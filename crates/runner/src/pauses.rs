//! Times in which the whole program was not running: stopped (SIGSTOP, Ctrl-Z), frozen with its
//! control group or container, or in a suspended virtual machine. They are not the disk's fault, so
//! they are cut out of the run.
//!
//! Every thread of a run beats at least every [`BEAT_NS`]: the workers, the coordinator, and a
//! heartbeat thread that does nothing else and so cannot be blocked by a disk. A stalled device
//! therefore does not stop the beats, however many workers it blocks; only when *all* beats are
//! missing for [`PAUSE_NS_MIN`] or longer was the program paused. Shorter pauses cannot be
//! distinguished from a busy or throttled processor and stay in.
//!
//! The clock runs on during a pause. A thread that resumes finds itself late, checks here, and
//! moves its times (starts of operations in flight, the schedule, the edges of the window) by the
//! length of the pause. This adds nothing to the path of an operation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use stripewise_machine::host::CpuQuota;

/// The shortest pause that is detected. Threads waiting for a processor, even under a quota with
/// the usual period of 100 ms, resume sooner; where a quota may take longer, pauses are not watched
/// for ([`looks_like_a_pause`]).
pub(crate) const PAUSE_NS_MIN: u64 = 250_000_000;

/// How often a worker beats and checks.
pub(crate) const BEAT_NS: u64 = 50_000_000;

/// A worker later than this at a beat must check for a pause: every pause makes all of them at
/// least this late.
pub(crate) const LATE_NS: u64 = PAUSE_NS_MIN - BEAT_NS;

/// Whether a quota may hold back all threads for as long as a pause. A group that has used it up
/// waits for the next period; and as the kernel accounts once a tick, up to 10 ms, a thread may
/// exceed a small quota, which takes further periods to pay back.
pub(crate) fn looks_like_a_pause(quota: &CpuQuota) -> bool {
    const TICK_US: u64 = 10_000;
    let allowed_us = quota.quota_us.max(1);
    let periods = allowed_us.max(TICK_US).div_ceil(allowed_us);
    let longest_us = quota.period_us.saturating_mul(periods);
    longest_us.saturating_mul(1_000) >= PAUSE_NS_MIN
}

/// A pause on the engines' clock, which runs on during it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The last beat before it.
    pub(crate) from_ns: u64,
    /// The first beat after it.
    pub(crate) to_ns: u64,
}

impl Gap {
    /// Its length.
    pub(crate) fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// The part of it between two times.
    fn within_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        (self.to_ns.min(to_ns)).saturating_sub(self.from_ns.max(from_ns))
    }

    /// A time noted before `now_ns`, once the pause is cut out: moved on by the pause, though never
    /// past its end or now. Operations are also issued between the last beat and the pause itself.
    pub(crate) fn moved(&self, at_ns: u64, now_ns: u64) -> u64 {
        if at_ns >= self.to_ns {
            return at_ns;
        }
        let latest_ns = self.to_ns.min(now_ns).max(at_ns);
        at_ns.saturating_add(self.length_ns()).min(latest_ns)
    }
}

/// A pause that was cut out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Where it was cut out: time since the start of measuring, excluding pauses. At or after the
    /// end of the window it was in the drain.
    pub at_ns: u64,
    /// How long the program was not running.
    pub duration_ns: u64,
}

/// The beats of a run, and the pauses found.
#[derive(Debug)]
pub(crate) struct Pauses {
    /// The latest beat; `u64::MAX`: pauses are not watched for.
    last_ns: AtomicU64,
    found: Mutex<Vec<Gap>>,
    /// The part of them in which the heartbeat thread waited for a processor.
    starved_ns: AtomicU64,
    /// Starvation beyond this is not cut out.
    starved_ns_max: AtomicU64,
}

impl Default for Pauses {
    fn default() -> Self {
        Pauses {
            last_ns: AtomicU64::new(u64::MAX),
            found: Mutex::new(Vec::new()),
            starved_ns: AtomicU64::new(0),
            starved_ns_max: AtomicU64::new(u64::MAX),
        }
    }
}

impl Pauses {
    /// Watches from `now_ns`. Without this call no pause is ever found. Cutting out pauses extends
    /// a run: on a machine that starves the program for `starved_ns_max` in total it could take
    /// forever, so starvation beyond that stays in, as do shorter waits for a processor.
    pub(crate) fn watch(&self, now_ns: u64, starved_ns_max: u64) {
        self.starved_ns_max.store(starved_ns_max, Ordering::Relaxed);
        self.last_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Whether pauses are watched for.
    pub(crate) fn are_watched(&self) -> bool {
        self.last_ns.load(Ordering::Relaxed) != u64::MAX
    }

    /// A beat at `now_ns` of a thread whose last one was at most [`PAUSE_NS_MIN`] ago: there was no
    /// pause since.
    pub(crate) fn beat(&self, now_ns: u64) {
        self.last_ns.fetch_max(now_ns, Ordering::Relaxed);
    }

    /// A beat at `now_ns` of a thread whose last one was longer ago. Returns the pauses after the
    /// first `seen`, in order of time.
    ///
    /// The first thread to resume after a pause finds it, as no beat marks its end yet: all others
    /// are late too, and wait for the lock.
    pub(crate) fn look(&self, now_ns: u64, seen: usize) -> Vec<Gap> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let from_ns = self.last_ns.load(Ordering::Relaxed);
        let is_starved = self.starved_ns() >= self.starved_ns_max.load(Ordering::Relaxed);
        if now_ns.saturating_sub(from_ns) >= PAUSE_NS_MIN && !is_starved {
            found.push(Gap {
                from_ns,
                to_ns: now_ns,
            });
        }
        self.beat(now_ns);
        found.get(seen..).unwrap_or_default().to_vec()
    }

    /// A thread that slept from `from_ns` resumes at `now_ns`, and was runnable without a processor
    /// for `waited_ns` of that time. If that is most of it, the pauses in between were CPU
    /// starvation, not real pauses.
    pub(crate) fn look_after_sleep(&self, from_ns: u64, now_ns: u64, waited_ns: u64) {
        let gaps = self.look(now_ns, 0);
        if waited_ns >= now_ns.saturating_sub(from_ns) / 2 {
            let in_gaps = gaps.iter().map(|gap| gap.within_ns(from_ns, now_ns));
            self.starved_ns.fetch_add(in_gaps.sum(), Ordering::Relaxed);
        }
    }

    /// The part of the pauses in which the program waited for a processor.
    pub(crate) fn starved_ns(&self) -> u64 {
        self.starved_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_pause_is_found_once_and_shown_to_everybody() {
        let pauses = Pauses::default();
        assert!(!pauses.are_watched());
        assert_eq!(pauses.look(900 * MS, 0), [], "nobody watches");
        pauses.watch(1_000 * MS, u64::MAX);
        pauses.beat(1_040 * MS);
        pauses.beat(1_020 * MS);
        let gap = Gap {
            from_ns: 1_040 * MS,
            to_ns: 3_000 * MS,
        };
        assert_eq!(pauses.look(3_000 * MS, 0), [gap]);
        assert_eq!(pauses.look(3_001 * MS, 0), [gap], "the others, later");
        assert_eq!(pauses.look(3_002 * MS, 1), [], "who has seen it");
        pauses.beat(3_050 * MS);
        let second = pauses.look(3_400 * MS, 1);
        assert_eq!(second.len(), 1);
        assert_eq!(second[0].length_ns(), 350 * MS);
        assert_eq!(pauses.look(3_401 * MS, 0).len(), 2);
    }

    #[test]
    fn a_pause_in_which_the_program_waited_for_a_processor_is_known() {
        // (waited, of which it is starved) in a sleep of two seconds with a pause of 1.9
        for (waited_ms, starved_ms) in [(0, 0), (900, 0), (1_000, 1_900), (1_990, 1_900)] {
            let pauses = Pauses::default();
            pauses.watch(0, u64::MAX);
            pauses.beat(1_100 * MS);
            pauses.look_after_sleep(1_000 * MS, 3_000 * MS, waited_ms * MS);
            assert_eq!(pauses.starved_ns(), starved_ms * MS, "{waited_ms}");
            assert_eq!(pauses.look(3_001 * MS, 0).len(), 1, "cut out all the same");
        }
        // Other programs used the processor meanwhile.
        let pauses = Pauses::default();
        pauses.watch(0, u64::MAX);
        for beat in 0..60 {
            pauses.beat(beat * 50 * MS);
        }
        pauses.look_after_sleep(0, 3_000 * MS, 2_900 * MS);
        assert_eq!(pauses.starved_ns(), 0);
    }

    #[test]
    fn a_machine_that_gives_no_processor_does_not_make_a_run_endless() {
        let pauses = Pauses::default();
        pauses.watch(0, 5_000 * MS);
        let mut cut_out_ns = 0;
        for second in 1..100 {
            let (from_ns, to_ns) = ((second - 1) * 1_000 * MS, second * 1_000 * MS);
            pauses.look_after_sleep(from_ns, to_ns, 990 * MS);
            let gaps = pauses.look(to_ns, 0);
            cut_out_ns = gaps.iter().map(Gap::length_ns).sum();
        }
        assert_eq!(cut_out_ns, 5_000 * MS);
        // Real pauses are cut out however long they are.
        let pauses = Pauses::default();
        pauses.watch(0, 5_000 * MS);
        pauses.look_after_sleep(0, 80_000 * MS, 0);
        pauses.look_after_sleep(80_000 * MS, 90_000 * MS, 0);
        assert_eq!(pauses.look(90_000 * MS, 0).len(), 2);
    }

    #[test]
    fn a_quota_that_holds_back_as_long_as_a_pause_is_none() {
        for (quota_us, period_us, looks_like_it) in [
            (50_000, 100_000, false),
            (5_000, 100_000, false),
            // Usual periods, and a quota so small that it takes several to pay back.
            (2_000, 100_000, true),
            (1_000, 100_000, true),
            // Throttled for most of each second.
            (20_000, 1_000_000, true),
            (900_000, 1_000_000, true),
            (0, 0, false),
        ] {
            let quota = CpuQuota {
                cgroup: String::new(),
                quota_us,
                period_us,
            };
            let found = looks_like_a_pause(&quota);
            assert_eq!(found, looks_like_it, "{quota_us} of {period_us}");
        }
    }

    #[test]
    fn a_thread_that_a_disk_held_up_finds_no_pause_while_others_give_signs_of_life() {
        let pauses = Pauses::default();
        pauses.watch(0, u64::MAX);
        for beat in 0..1_000 {
            pauses.beat(beat * 20 * MS);
        }
        assert_eq!(pauses.look(20_000 * MS, 0), []);
        // A processor that was busy with other work for less than the threshold.
        assert_eq!(pauses.look(20_000 * MS + PAUSE_NS_MIN - 1, 0), []);
    }

    #[test]
    fn times_are_moved_by_the_pause_and_never_past_what_has_happened() {
        let gap = Gap {
            from_ns: 1_000,
            to_ns: 5_000,
        };
        // (noted at, moved at, then)
        for (at_ns, now_ns, moved_ns) in [
            (0, 5_000, 4_000),
            (1_000, 5_000, 5_000),
            // Between the last beat and the pause.
            (1_020, 5_000, 5_000),
            // By a thread that read the clock just before the one that found the pause.
            (1_020, 4_999, 4_999),
            (4_998, 4_999, 4_999),
            // After the pause, before it was found.
            (5_000, 5_001, 5_000),
            (5_007, 5_010, 5_007),
        ] {
            assert_eq!(gap.moved(at_ns, now_ns), moved_ns, "{at_ns} at {now_ns}");
        }
    }
}
