//! Whether larger batches are worth what they hold back: tried out, as no count tells.
//!
//! With n in flight a closed loop's mean latency is n divided by the rate (Little's law),
//! whatever is held back: batches that raise the rate lower the latencies that are measured
//! by as much. What larger batches save are switches between tasks: where the kernel hands
//! operations to threads of its own, and these share the processors with the threads that
//! issue. So they are also taken where an operation costs the thread less processor time and
//! the rate is no lower. That holds of a closed loop alone, in which all slots are in flight
//! at each wait: with arrivals of their own the rate is the same whatever is held back.

/// Windows with small and with large batches are compared in so many pairs.
const PAIRS: u32 = 16;
/// Large batches are taken if they had the higher rate in so many of them: by chance, where
/// both are equally fast, in 4 of 100 trials.
const PAIRS_WON_MIN: u32 = 12;
/// Large batches that cost less processor time in as many pairs are taken if their rate was
/// no lower in so many.
const PAIRS_LEVEL_MIN: u32 = PAIRS / 2;
/// How long what a trial found holds: so trials take 3 % of the time.
const VALID_NS: u64 = 1_000_000_000;

/// What a window was like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Completions a second.
    pub rate: u64,
    /// Processor time of the thread for a thousand completions.
    pub cpu_ns: u64,
    /// All slots were in flight at each wait.
    pub is_full: bool,
}

/// Trials, one after the other.
#[derive(Default)]
pub(super) struct Trial {
    /// Windows of the present trial that are over; the first was before it.
    windows: u32,
    /// The last window with small batches.
    small: Window,
    /// Pairs in which large batches had the higher rate.
    pairs_won: u32,
    /// Pairs in which they had no lower rate.
    pairs_level: u32,
    /// Pairs in which they cost less, of windows in which all slots were in flight.
    pairs_cheaper: u32,
    /// What the last trial found.
    found_large: bool,
    valid_until_ns: u64,
}

impl Trial {
    /// A window was over at `at_ns`: whether batches are large in the next one.
    pub(super) fn window_is_over(&mut self, at_ns: u64, window: Window) -> bool {
        if at_ns < self.valid_until_ns {
            return self.found_large;
        }
        let was_small = self.windows % 2 == 1;
        let was_large = self.windows > 0 && !was_small;
        self.windows += 1;
        if was_small {
            self.small = window;
            return true;
        }
        if was_large {
            let small = self.small;
            let is_cheaper = window.cpu_ns < small.cpu_ns && window.is_full && small.is_full;
            self.pairs_won += u32::from(window.rate > small.rate);
            self.pairs_level += u32::from(window.rate >= small.rate);
            self.pairs_cheaper += u32::from(is_cheaper);
        }
        if self.windows <= 2 * PAIRS {
            return false;
        }
        let is_cheaper = self.pairs_cheaper >= PAIRS_WON_MIN && self.pairs_level >= PAIRS_LEVEL_MIN;
        *self = Trial {
            found_large: self.pairs_won >= PAIRS_WON_MIN || is_cheaper,
            valid_until_ns: at_ns.saturating_add(VALID_NS),
            ..Trial::default()
        };
        self.found_large
    }

    /// A window was unlike the others: a trial that goes on begins anew. What the last one
    /// found holds for as long as it would have: a machine in which other programs run
    /// loses a millisecond every now and then.
    pub(super) fn interrupt(&mut self) {
        *self = Trial {
            found_large: self.found_large,
            valid_until_ns: self.valid_until_ns,
            ..Trial::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_NS: u64 = 1_000_000;

    const SMALL: Window = Window {
        rate: 500_000,
        cpu_ns: 600_000,
        is_full: true,
    };

    /// Windows until `until_ns`, in which large batches have the rate of `large`, the number
    /// of the window given; returns how many windows had large ones.
    fn windows(trial: &mut Trial, until_ns: u64, large: impl Fn(u64) -> u64) -> u64 {
        let with_rate = |number| Window {
            rate: large(number),
            ..SMALL
        };
        windows_like(trial, until_ns, with_rate)
    }

    /// The same, all of the windows told.
    fn windows_like(trial: &mut Trial, until_ns: u64, large: impl Fn(u64) -> Window) -> u64 {
        let (mut count, mut is_large) = (0, false);
        for number in 1..=until_ns / WINDOW_NS {
            let window = if is_large { large(number) } else { SMALL };
            is_large = trial.window_is_over(number * WINDOW_NS, window);
            count += u64::from(is_large);
        }
        count
    }

    #[test]
    fn large_batches_stay_where_they_have_the_higher_rate() {
        let mut trial = Trial::default();
        let large = windows(&mut trial, 10 * VALID_NS, |_| 520_000);
        // Half of each trial, and all of what follows.
        assert!((9_800..=9_850).contains(&large), "{large}");
    }

    #[test]
    fn otherwise_they_are_tried_and_no_more() {
        for rate in [500_000, 480_000] {
            let mut trial = Trial::default();
            let large = windows(&mut trial, 10 * VALID_NS, |_| rate);
            assert!((144..=160).contains(&large), "{large}");
        }
        // Faster in 11 pairs of 16, by much.
        let mut trial = Trial::default();
        let large = windows(&mut trial, VALID_NS / 2, |number| {
            if number <= 22 { 900_000 } else { 490_000 }
        });
        assert_eq!(large, 16);
    }

    #[test]
    fn an_interruption_ends_a_trial_and_not_what_one_has_found() {
        let mut trial = Trial::default();
        let faster = Window {
            rate: 520_000,
            ..SMALL
        };
        let found_ns = 40 * WINDOW_NS;
        windows(&mut trial, found_ns, |_| faster.rate);
        trial.interrupt();
        assert!(trial.window_is_over(found_ns, SMALL));
        // Of half a trial nothing counts.
        let mut interrupted = Trial::default();
        windows(&mut interrupted, 20 * WINDOW_NS, |_| faster.rate);
        interrupted.interrupt();
        let whole = |trial: &mut Trial| windows(trial, 33 * WINDOW_NS, |_| faster.rate);
        assert_eq!(whole(&mut interrupted), whole(&mut Trial::default()));
    }

    #[test]
    fn what_was_found_is_tried_again() {
        let mut trial = Trial::default();
        let turn = 500;
        let large = windows(&mut trial, 2 * VALID_NS, |number| {
            if number < turn { 600_000 } else { 400_000 }
        });
        // The first trial, a second with large ones, and the second trial, which ends that.
        assert!((1_000..=1_050).contains(&large), "{large}");
    }

    #[test]
    fn what_costs_less_and_is_as_fast_is_taken_where_all_slots_are_in_flight() {
        let cheaper = |_| Window {
            cpu_ns: 560_000,
            ..SMALL
        };
        let after_a_trial = VALID_NS / 2;
        let large = windows_like(&mut Trial::default(), after_a_trial, cheaper);
        assert!((470..500).contains(&large), "{large}");
        let only_tried = 16;
        let slower = |number| Window {
            rate: 499_000,
            ..cheaper(number)
        };
        let large = windows_like(&mut Trial::default(), after_a_trial, slower);
        assert_eq!(large, only_tried);
        let open_loop = |number| Window {
            is_full: false,
            ..cheaper(number)
        };
        let large = windows_like(&mut Trial::default(), after_a_trial, open_loop);
        assert_eq!(large, only_tried);
        let dearer = |number| Window {
            cpu_ns: 640_000,
            ..cheaper(number)
        };
        let large = windows_like(&mut Trial::default(), after_a_trial, dearer);
        assert_eq!(large, only_tried);
    }
}
