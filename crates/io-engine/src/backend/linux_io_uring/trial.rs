//! Whether larger batches are worth what they hold back: tried out, as no count tells.
//!
//! With n in flight a closed loop's mean latency is n divided by the rate (Little's law),
//! whatever is held back: batches that raise the rate lower the latencies that are measured
//! by as much. What larger batches save are switches between tasks: where the kernel hands
//! operations to threads of its own, and these share the processors with the threads that
//! issue. Somewhat larger ones are also taken where an operation costs the thread less
//! processor time and the rate is no lower. All that holds of a closed loop alone, in which
//! all slots are in flight at each wait: with arrivals of their own the rate is the same
//! whatever is held back, and other windows count as neither faster nor cheaper.

/// Windows with small and with large batches are compared in so many pairs.
const PAIRS: u32 = 16;
/// Large batches are taken if they had the higher rate in so many of them: by chance, where
/// both are equally fast, in 4 of 100 trials.
const PAIRS_WON_MIN: u32 = 12;
/// Large batches that cost less processor time in as many pairs are taken if their rate was
/// no lower in so many.
const PAIRS_LEVEL_MIN: u32 = PAIRS / 2;
/// Where they had the higher rate in no more of them, they are the slower ones: as rare by
/// chance.
const PAIRS_WON_IF_SLOWER: u32 = PAIRS - PAIRS_WON_MIN;
/// How long what a trial found holds: so trials take 3 % of the time.
const VALID_NS: u64 = 1_000_000_000;
/// Trials that find them slower again and again are this much rarer in the end: what they
/// hold back is then one completion in 500.
const RARER_MAX: u64 = 8;

/// How large batches are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Size {
    #[default]
    Small,
    /// They hold back no longer than small ones may.
    Medium,
    Large,
}

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
    /// Pairs in which they cost less.
    pairs_cheaper: u32,
    /// What the last trial found.
    found: Size,
    valid_until_ns: u64,
    /// For how many times [`VALID_NS`].
    rarer: u64,
}

impl Trial {
    /// A window was over at `at_ns`: how large batches are in the next one.
    pub(super) fn window_is_over(&mut self, at_ns: u64, window: Window) -> Size {
        if at_ns < self.valid_until_ns {
            return self.found;
        }
        let was_small = self.windows % 2 == 1;
        let was_large = self.windows > 0 && !was_small;
        self.windows += 1;
        if was_small {
            self.small = window;
            return Size::Large;
        }
        if was_large {
            let small = self.small;
            let is_full = window.is_full && small.is_full;
            self.pairs_won += u32::from(is_full && window.rate > small.rate);
            self.pairs_level += u32::from(is_full && window.rate >= small.rate);
            self.pairs_cheaper += u32::from(is_full && window.cpu_ns < small.cpu_ns);
        }
        if self.windows <= 2 * PAIRS {
            return Size::Small;
        }
        let rarer = match self.pairs_won <= PAIRS_WON_IF_SLOWER && self.found == Size::Small {
            true => (2 * self.rarer).clamp(1, RARER_MAX),
            false => 1,
        };
        *self = Trial {
            found: self.finding(),
            valid_until_ns: at_ns.saturating_add(rarer * VALID_NS),
            rarer,
            ..Trial::default()
        };
        self.found
    }

    /// What the trial that is over has found.
    fn finding(&self) -> Size {
        let is_cheaper = self.pairs_cheaper >= PAIRS_WON_MIN && self.pairs_level >= PAIRS_LEVEL_MIN;
        match (self.pairs_won >= PAIRS_WON_MIN, is_cheaper) {
            (true, _) => Size::Large,
            (false, true) => Size::Medium,
            (false, false) => Size::Small,
        }
    }

    /// A wait ended without what it was for: what the last trial found ends until the next
    /// one. The window is interrupted, too.
    pub(super) fn falter(&mut self) {
        self.found = Size::Small;
    }

    /// A window was unlike the others: a trial that goes on begins anew. What the last one
    /// found holds for as long as it would have: a machine in which other programs run
    /// loses a millisecond every now and then.
    pub(super) fn interrupt(&mut self) {
        *self = Trial {
            found: self.found,
            valid_until_ns: self.valid_until_ns,
            rarer: self.rarer,
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
    /// of the window given; returns how many windows had such ones.
    fn windows(trial: &mut Trial, until_ns: u64, large: impl Fn(u64) -> u64) -> u64 {
        let with_rate = |number| Window {
            rate: large(number),
            ..SMALL
        };
        windows_like(trial, until_ns, with_rate)
    }

    /// The same, all of the windows told.
    fn windows_like(trial: &mut Trial, until_ns: u64, large: impl Fn(u64) -> Window) -> u64 {
        let (mut count, mut size) = (0, Size::Small);
        for number in 1..=until_ns / WINDOW_NS {
            let window = match size {
                Size::Small => SMALL,
                Size::Medium | Size::Large => large(number),
            };
            size = trial.window_is_over(number * WINDOW_NS, window);
            count += u64::from(size != Size::Small);
        }
        count
    }

    #[test]
    fn large_batches_stay_where_they_have_the_higher_rate() {
        let mut trial = Trial::default();
        let large = windows(&mut trial, 10 * VALID_NS, |_| 520_000);
        // Half of each trial, and all of what follows.
        assert!((9_800..=9_850).contains(&large), "{large}");
        assert_eq!(trial.found, Size::Large);
    }

    #[test]
    fn otherwise_they_are_tried_and_no_more() {
        let mut trial = Trial::default();
        // As often the faster ones as not, in each trial.
        let large = windows(&mut trial, 10 * VALID_NS, |number| match number / 2 % 2 {
            0 => 520_000,
            _ => 480_000,
        });
        assert!((144..=160).contains(&large), "{large}");
        // Faster in 11 pairs of 16, by much.
        let mut trial = Trial::default();
        let large = windows(&mut trial, VALID_NS / 2, |number| {
            if number <= 22 { 900_000 } else { 490_000 }
        });
        assert_eq!(large, 16);
    }

    #[test]
    fn what_is_slower_again_and_again_is_tried_less_often() {
        let mut trial = Trial::default();
        let slower = |_| 480_000;
        // At 0, 1, 3, 7, 15, 23 s and so on, each a trial of 33 ms later.
        assert_eq!(windows(&mut trial, 10 * VALID_NS, slower), 4 * 16);
        let mut trial = Trial::default();
        assert_eq!(windows(&mut trial, 26 * VALID_NS, slower), 6 * 16);
        // What is found once is tried again soon.
        let mut trial = Trial::default();
        let turn = 12_000;
        let large = windows(&mut trial, 18 * VALID_NS, |number| match number < turn {
            true => 480_000,
            false => 520_000,
        });
        let since_s = large / 1_000;
        assert!((1..=3).contains(&since_s), "{large}");
        assert_eq!((trial.found, trial.rarer), (Size::Large, 1));
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
        assert_eq!(trial.window_is_over(found_ns, SMALL), Size::Large);
        // A wait that was in vain ends it.
        trial.falter();
        assert_eq!(trial.window_is_over(found_ns, SMALL), Size::Small);
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
    fn what_costs_less_and_is_as_fast_may_hold_back_no_longer() {
        let cheaper = |_| Window {
            cpu_ns: 560_000,
            ..SMALL
        };
        let after_a_trial = VALID_NS / 2;
        let found = |large: &dyn Fn(u64) -> Window| {
            let mut trial = Trial::default();
            windows_like(&mut trial, after_a_trial, large);
            trial.found
        };
        assert_eq!(found(&cheaper), Size::Medium);
        let slower = |number| Window {
            rate: 499_000,
            ..cheaper(number)
        };
        assert_eq!(found(&slower), Size::Small);
        let open_loop = |number| Window {
            is_full: false,
            rate: 900_000,
            ..cheaper(number)
        };
        assert_eq!(found(&open_loop), Size::Small);
        let dearer = |number| Window {
            cpu_ns: 640_000,
            ..cheaper(number)
        };
        assert_eq!(found(&dearer), Size::Small);
    }
}
