//! Whether larger batches are worth what they hold back: tried out, as no count tells.
//!
//! With n in flight a closed loop's mean latency is n divided by the rate (Little's law),
//! whatever is held back: batches that raise the rate lower the latencies that are measured
//! by as much, and such that do not are not taken. What larger batches save are switches
//! between tasks: where the kernel hands operations to threads of its own, and these share
//! the processors with the threads that issue.

/// Windows with small and with large batches are compared in so many pairs.
const PAIRS: u32 = 16;
/// Large batches are taken if they had the higher rate in so many of them: by chance, where
/// both are equally fast, in 4 of 100 trials.
const PAIRS_WON_MIN: u32 = 12;
/// How long what a trial found holds: so trials take 3 % of the time.
const VALID_NS: u64 = 1_000_000_000;

/// Trials, one after the other.
#[derive(Default)]
pub(super) struct Trial {
    /// Windows of the present trial that are over; the first was before it.
    windows: u32,
    /// Completions a second in the last window with small batches.
    small_rate: u64,
    pairs_won: u32,
    /// What the last trial found.
    found_large: bool,
    valid_until_ns: u64,
}

impl Trial {
    /// A window with `rate` completions a second was over at `at_ns`: whether batches are
    /// large in the next one.
    pub(super) fn window_is_over(&mut self, at_ns: u64, rate: u64) -> bool {
        if at_ns < self.valid_until_ns {
            return self.found_large;
        }
        let was_small = self.windows % 2 == 1;
        let was_large = self.windows > 0 && !was_small;
        self.windows += 1;
        if was_small {
            self.small_rate = rate;
            return true;
        }
        if was_large {
            self.pairs_won += u32::from(rate > self.small_rate);
        }
        if self.windows <= 2 * PAIRS {
            return false;
        }
        *self = Trial {
            found_large: self.pairs_won >= PAIRS_WON_MIN,
            valid_until_ns: at_ns.saturating_add(VALID_NS),
            ..Trial::default()
        };
        self.found_large
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_NS: u64 = 1_000_000;

    /// Windows until `until_ns`, in which large batches have the rate of `large`, the number
    /// of the window given; returns how many windows had large ones.
    fn windows(trial: &mut Trial, until_ns: u64, large: impl Fn(u64) -> u64) -> u64 {
        let (mut count, mut is_large) = (0, false);
        for number in 1..=until_ns / WINDOW_NS {
            let rate = if is_large { large(number) } else { 500_000 };
            is_large = trial.window_is_over(number * WINDOW_NS, rate);
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
    fn what_was_found_is_tried_again() {
        let mut trial = Trial::default();
        let turn = 500;
        let large = windows(&mut trial, 2 * VALID_NS, |number| {
            if number < turn { 600_000 } else { 400_000 }
        });
        // The first trial, a second with large ones, and the second trial, which ends that.
        assert!((1_000..=1_050).contains(&large), "{large}");
    }
}
