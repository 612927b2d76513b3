//! Tests by trial whether larger batches are worth what they hold back, as no counter shows it.
//!
//! With n in flight a closed loop's mean latency is n divided by the rate (Little's law), whatever
//! is held back: batches that raise the rate lower the measured latencies by as much. Larger
//! batches save context switches: where the kernel passes operations to threads of its own, which
//! share the processors with the issuing threads. Somewhat larger ones are also used if an
//! operation costs the thread less CPU time and the rate is no lower. This holds only for a closed
//! loop with all slots in flight at each wait: in an open loop the rate is the same whatever is
//! held back, and such windows count as neither faster nor cheaper.

/// Number of pairs of windows, with small and with large batches, that are compared.
const PAIRS: u32 = 16;
/// Large batches are used if they had the higher rate in this many pairs: if both are equally fast,
/// that happens by chance in 4 of 100 trials.
const PAIRS_WON_MIN: u32 = 12;
/// Large batches that cost less CPU time in as many pairs are used if their rate was no lower in
/// this many.
const PAIRS_LEVEL_MIN: u32 = PAIRS / 2;
/// If they had the higher rate in at most this many, they are slower: equally rare by chance.
const PAIRS_WON_IF_SLOWER: u32 = PAIRS - PAIRS_WON_MIN;
/// How long a trial's finding is valid: so trials take 3 % of the time.
const VALID_NS: u64 = 1_000_000_000;
/// Trials that repeatedly find them slower become up to this much rarer: they then hold back one
/// completion in 500.
const RARER_MAX: u64 = 8;

/// Size of batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Size {
    #[default]
    Small,
    /// They hold back no longer than small ones may.
    Medium,
    Large,
}

/// Measurements of a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Completions a second.
    pub rate: u64,
    /// CPU time of the thread per thousand completions.
    pub cpu_ns: u64,
    /// All slots were in flight at each wait.
    pub is_full: bool,
}

/// Consecutive trials.
#[derive(Default)]
pub(super) struct Trial {
    /// Completed windows of the current trial; the first was before it.
    windows: u32,
    /// The last window with small batches.
    small: Window,
    /// Pairs in which large batches had the higher rate.
    pairs_won: u32,
    /// Pairs in which they had no lower rate.
    pairs_level: u32,
    /// Pairs in which they cost less.
    pairs_cheaper: u32,
    /// Finding of the last trial.
    found: Size,
    valid_until_ns: u64,
    /// Multiple of [`VALID_NS`].
    rarer: u64,
}

impl Trial {
    /// A window ended at `at_ns`: returns the batch size for the next one.
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

    /// Finding of the trial that has ended.
    fn finding(&self) -> Size {
        let is_cheaper = self.pairs_cheaper >= PAIRS_WON_MIN && self.pairs_level >= PAIRS_LEVEL_MIN;
        match (self.pairs_won >= PAIRS_WON_MIN, is_cheaper) {
            (true, _) => Size::Large,
            (false, true) => Size::Medium,
            (false, false) => Size::Small,
        }
    }

    /// A wait ended with fewer than wanted: discards the last trial's finding until the next one.
    /// The window is interrupted, too.
    pub(super) fn falter(&mut self) {
        self.found = Size::Small;
    }

    /// A window was disturbed: a trial in progress starts again. What the last one
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

    /// Windows until `until_ns`, in which large batches have the rate `large`, a function of the
    /// window number; returns how many windows had large batches.
    fn windows(trial: &mut Trial, until_ns: u64, large: impl Fn(u64) -> u64) -> u64 {
        let with_rate = |number| Window {
            rate: large(number),
            ..SMALL
        };
        windows_like(trial, until_ns, with_rate)
    }

    /// The same with all of the windows specified.
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
        // Faster as often as not, in each trial.
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
        // A finding is tested again soon.
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
        // A wait that ends short discards it.
        trial.falter();
        assert_eq!(trial.window_is_over(found_ns, SMALL), Size::Small);
        // Half a trial counts for nothing.
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
