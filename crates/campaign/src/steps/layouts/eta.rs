//! Estimates the remaining time of an experiment over layouts from the duration of its passes so
//! far and the number it will probably need. Both improve with every pass, so the
//! estimate may grow.

use stripewise_lab::layouts::PASSES_MIN;

/// The pace of a session.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Number of passes in earlier sessions.
    before: u64,
    /// Time limit for passes that begin in this session.
    limit_ns: Option<u64>,
    /// Expected total number of passes.
    likely: u64,
    /// Duration of a pass in this session; `None` if unknown before the first.
    pass_ns: Option<u64>,
}

/// Position of a run.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// Its pass, from 0, counting those of earlier sessions.
    pub pass: u32,
    /// Its number in the pass, from 0.
    pub run: u64,
    /// Number of runs of the pass, at least 1.
    pub runs: u64,
}

impl Pace {
    /// Before the first pass of a session, after `before` earlier passes. `pass_ns`: the duration
    /// of one, if it follows from the plan; `limit_ns`: no pass begins that would end
    /// after it.
    pub fn new(before: usize, pass_ns: Option<u64>, limit_ns: Option<u64>) -> Pace {
        let mut pace = Pace {
            before: before as u64,
            limit_ns,
            likely: 0,
            pass_ns,
        };
        pace.expect(before as u64 + 1, u64::from(PASSES_MIN), 0);
        pace
    }

    /// Updates after a pass: `made` over all sessions, of probably `likely`; this session has taken
    /// `passed_ns`.
    pub fn after_pass(&mut self, made: usize, likely: u32, passed_ns: u64) {
        let made = made as u64;
        self.pass_ns = passed_ns
            .checked_div(made.saturating_sub(self.before))
            .or(self.pass_ns);
        self.expect(made, u64::from(likely), passed_ns);
    }

    /// Expects `likely` passes, at least `least`, and no more than there is time for.
    fn expect(&mut self, least: u64, likely: u64, passed_ns: u64) {
        let in_time = |(limit_ns, pass_ns): (u64, u64)| {
            let more = limit_ns.saturating_sub(passed_ns).checked_div(pass_ns)?;
            let made = least - u64::from(passed_ns == 0);
            Some(made.saturating_add(more))
        };
        let in_time = self.limit_ns.zip(self.pass_ns).and_then(in_time);
        self.likely = likely.min(in_time.unwrap_or(likely)).max(least);
    }

    /// Expected total number of passes.
    pub fn likely(&self) -> u64 {
        self.likely
    }

    /// Time remaining after a run.
    pub fn left_after_run_ns(&self, at: Spot) -> Option<u64> {
        let pass_ns = self.pass_ns?;
        let runs = at.runs.max(1);
        let in_pass = u128::from(pass_ns) * u128::from(runs.saturating_sub(at.run + 1));
        let in_pass = u64::try_from(in_pass / u128::from(runs)).unwrap_or(u64::MAX);
        Some(in_pass.saturating_add(self.left_after_pass_ns(u64::from(at.pass) + 1)?))
    }

    /// Time remaining after this many passes.
    pub fn left_after_pass_ns(&self, made: u64) -> Option<u64> {
        let passes = self.likely.saturating_sub(made);
        Some(self.pass_ns?.saturating_mul(passes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(pace: &Pace, pass: u32, run: u64) -> Option<u64> {
        pace.left_after_run_ns(Spot { pass, run, runs: 4 })
    }

    #[test]
    fn what_is_left_follows_from_the_passes_so_far() {
        let mut pace = Pace::new(0, None, None);
        assert_eq!(left(&pace, 0, 0), None, "nobody knows what making takes");
        pace.after_pass(1, PASSES_MIN, 400);
        assert_eq!(left(&pace, 1, 0), Some(300 + 4 * 400));
        assert_eq!(left(&pace, 5, 3), Some(0));
        // More are needed, and each takes less time than the first did.
        pace.after_pass(3, 10, 600);
        assert_eq!(
            (pace.likely(), left(&pace, 3, 1)),
            (10, Some(100 + 6 * 200))
        );
        // The remaining time is never negative.
        pace.after_pass(11, 10, 1_100);
        assert_eq!(left(&pace, 11, 3), Some(0));
    }

    #[test]
    fn a_plan_without_making_is_known_from_the_start_and_a_new_sitting_counts_its_own_time() {
        let pace = Pace::new(0, Some(80), None);
        assert_eq!(left(&pace, 0, 3), Some(5 * 80));
        let mut resumed = Pace::new(8, Some(80), None);
        assert_eq!(left(&resumed, 8, 1), Some(40));
        resumed.after_pass(9, 12, 100);
        assert_eq!(resumed.left_after_pass_ns(9), Some(300));
    }
    #[test]
    fn no_more_passes_are_expected_than_there_is_time_for() {
        let mut pace = Pace::new(0, Some(80), Some(250));
        assert_eq!(pace.likely(), 3);
        pace.after_pass(1, PASSES_MIN, 100);
        assert_eq!((pace.likely(), pace.left_after_pass_ns(1)), (2, Some(100)));
        pace.after_pass(2, PASSES_MIN, 240);
        assert_eq!(pace.left_after_pass_ns(2), Some(0));
        // One is always made.
        assert_eq!(Pace::new(0, Some(80), Some(10)).likely(), 1);
    }
}
