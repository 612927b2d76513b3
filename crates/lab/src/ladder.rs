//! The ladder: doubling the work in flight until the knee is bracketed.
//!
//! Pure: given the steps done so far it says which comes next, or why there is
//! none. First threads with one outstanding each until there is one per core,
//! then outstanding per thread; then bisection between the last step that meets
//! the latency limit and the first that does not.

use stripewise_units::Slo;

/// How much work is kept in flight, and how it is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    /// Threads.
    pub threads: u32,
    /// Outstanding per thread.
    pub outstanding: u32,
}

impl Load {
    /// Operations in flight in all.
    #[must_use]
    pub fn in_flight(self) -> u32 {
        self.threads.saturating_mul(self.outstanding)
    }

    /// The load nearest to `in_flight` (not above it, at least 1) with at most
    /// one thread a core: threads first, then outstanding. Of the thread counts
    /// above half the cores the largest that divides `in_flight` is taken; as a
    /// power of two is always among them, every doubling is met exactly.
    #[must_use]
    pub fn spread(in_flight: u32, cores: u32) -> Self {
        let cores = cores.clamp(1, 256);
        if in_flight <= cores {
            return Load {
                threads: in_flight.max(1),
                outstanding: 1,
            };
        }
        let largest = 1 << (31 - cores.leading_zeros());
        let dividing = (cores / 2 + 1..=cores)
            .rev()
            .find(|threads| in_flight.is_multiple_of(*threads));
        let threads = dividing.unwrap_or(largest);
        Load {
            threads,
            outstanding: in_flight / threads,
        }
    }
}

/// What the ladder needs to know of a finished step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What was in flight.
    pub load: Load,
    /// Operations a second.
    pub iops: f64,
    /// The statistic that the latency limit speaks of, nanoseconds; `None` where
    /// no operation completed.
    pub latency_ns: Option<u64>,
}

/// Where a ladder stops.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cores to spread threads over.
    pub cores: u32,
    /// Operations in flight at most.
    pub in_flight_max: u32,
    /// Doubling stops once the latency statistic passes this.
    pub latency_stop_ns: u64,
    /// The latency limit to bisect for.
    pub slo: Slo,
    /// Bisection steps at most.
    pub bisections_max: u32,
}

/// Why there is no further step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// More work in flight no longer gains.
    KneeBracketed,
    /// Latency passed the limit at which doubling stops.
    LatencyLimit,
    /// The most that may be in flight is reached.
    InFlightLimit,
    /// A step completed no operation.
    NothingCompleted,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Double: run with this.
    Climb(Load),
    /// Look between two steps: run with this.
    Bisect(Load),
    /// Done.
    Done(Stop),
}

/// The next step of a ladder. `climbed` are the doubling steps in order,
/// `bisected` those between them; `bracketed` says whether the knee is (see
/// `stripewise_stats`).
#[must_use]
pub fn next_step(
    climbed: &[Step],
    bisected: &[Step],
    bracketed: bool,
    limits: &Limits,
) -> NextStep {
    match stop_climbing(climbed, bracketed, limits) {
        None => {
            let in_flight = climbed.last().map_or(1, |last| last.load.in_flight() * 2);
            NextStep::Climb(Load::spread(in_flight, limits.cores))
        }
        Some(stop) => match between(climbed, bisected, limits) {
            Some(load) => NextStep::Bisect(load),
            None => NextStep::Done(stop),
        },
    }
}

fn stop_climbing(climbed: &[Step], bracketed: bool, limits: &Limits) -> Option<Stop> {
    let last = climbed.last()?;
    let Some(latency_ns) = last.latency_ns else {
        return Some(Stop::NothingCompleted);
    };
    if bracketed {
        Some(Stop::KneeBracketed)
    } else if latency_ns > limits.latency_stop_ns {
        Some(Stop::LatencyLimit)
    } else if last.load.in_flight().saturating_mul(2) > limits.in_flight_max {
        Some(Stop::InFlightLimit)
    } else {
        None
    }
}

/// A load halfway between the largest that meets the limit and the smallest
/// larger one that does not; `None` once they are neighbours or enough was tried.
fn between(climbed: &[Step], bisected: &[Step], limits: &Limits) -> Option<Load> {
    if u32::try_from(bisected.len()).is_ok_and(|done| done >= limits.bisections_max) {
        return None;
    }
    let good = largest_within(climbed, bisected, limits.slo)?
        .load
        .in_flight();
    let bad = climbed
        .iter()
        .chain(bisected)
        .map(|step| step.load.in_flight())
        .filter(|&in_flight| in_flight > good)
        .min()?;
    let load = Load::spread(good.midpoint(bad), limits.cores);
    (load.in_flight() > good && load.in_flight() < bad).then_some(load)
}

/// The step with the most in flight that meets the limit; where the ladder looks
/// for a larger one, it goes on from there.
#[must_use]
pub fn largest_within<'a>(climbed: &'a [Step], bisected: &'a [Step], slo: Slo) -> Option<&'a Step> {
    climbed
        .iter()
        .chain(bisected)
        .filter(|step| {
            step.latency_ns
                .is_some_and(|latency_ns| slo.is_met_by(latency_ns))
        })
        .max_by_key(|step| step.load.in_flight())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_units::LatencyStatistic;

    const SLO: Slo = Slo {
        percentile: LatencyStatistic::P99,
        limit_ns: 5_000_000,
        inclusive: false,
    };
    const LIMITS: Limits = Limits {
        cores: 6,
        in_flight_max: 256,
        latency_stop_ns: 500_000_000,
        slo: SLO,
        bisections_max: 3,
    };

    fn step(in_flight: u32, latency_ns: u64) -> Step {
        Step {
            load: Load::spread(in_flight, 6),
            iops: 1000.0,
            latency_ns: Some(latency_ns),
        }
    }

    #[test]
    fn threads_come_first_then_outstanding_and_every_doubling_is_exact() {
        for cores in 1..=300 {
            let mut in_flight = 1;
            while in_flight <= 4096 {
                let load = Load::spread(in_flight, cores);
                assert_eq!(load.in_flight(), in_flight, "{cores} cores");
                assert!(load.threads <= cores.min(256));
                assert!(load.outstanding == 1 || load.threads * 2 > cores.min(256));
                in_flight *= 2;
            }
        }
    }

    #[test]
    fn the_ladder_doubles_until_the_knee_is_bracketed() {
        assert_eq!(
            next_step(&[], &[], false, &LIMITS),
            NextStep::Climb(Load {
                threads: 1,
                outstanding: 1
            })
        );
        let climbed = [step(1, 100), step(2, 100), step(4, 100)];
        assert_eq!(
            next_step(&climbed, &[], false, &LIMITS),
            NextStep::Climb(Load {
                threads: 4,
                outstanding: 2
            })
        );
        assert_eq!(
            next_step(&climbed, &[], true, &LIMITS),
            NextStep::Done(Stop::KneeBracketed)
        );
    }

    #[test]
    fn latency_above_the_stop_or_the_in_flight_limit_ends_the_climb() {
        assert_eq!(
            next_step(&[step(1, 600_000_000)], &[], false, &LIMITS),
            NextStep::Done(Stop::LatencyLimit)
        );
        assert_eq!(
            next_step(&[step(256, 100)], &[], false, &LIMITS),
            NextStep::Done(Stop::InFlightLimit)
        );
        let nothing = Step {
            latency_ns: None,
            ..step(2, 0)
        };
        assert_eq!(
            next_step(&[nothing], &[], false, &LIMITS),
            NextStep::Done(Stop::NothingCompleted)
        );
    }

    #[test]
    fn bisection_narrows_the_largest_load_within_the_limit() {
        let climbed = [step(8, 1_000_000), step(16, 4_000_000), step(32, 9_000_000)];
        let next = next_step(&climbed, &[], true, &LIMITS);
        assert_eq!(
            next,
            NextStep::Bisect(Load {
                threads: 6,
                outstanding: 4
            })
        );
        let bisected = [step(24, 4_500_000)];
        let next = next_step(&climbed, &bisected, true, &LIMITS);
        assert_eq!(
            next,
            NextStep::Bisect(Load {
                threads: 4,
                outstanding: 7
            })
        );
        let bisected = [step(24, 4_500_000), step(28, 5_500_000)];
        assert_eq!(
            next_step(&climbed, &bisected, true, &LIMITS),
            NextStep::Done(Stop::KneeBracketed)
        );
        assert_eq!(
            largest_within(&climbed, &bisected, SLO).map(|s| s.load.in_flight()),
            Some(24)
        );
    }

    #[test]
    fn the_answer_is_the_largest_load_that_meets_the_limit() {
        let climbed = [
            step(8, 1_000_000),
            step(16, 6_000_000),
            step(32, 4_000_000),
            step(64, 9_000_000),
        ];
        assert_eq!(
            largest_within(&climbed, &[], SLO).map(|s| s.load.in_flight()),
            Some(32)
        );
        assert_eq!(largest_within(&[step(1, 6_000_000)], &[], SLO), None);
    }
}
