//! The ladder: doubles the operations in flight until the knee is bracketed.
//!
//! Pure: given the steps done so far, it returns the next one, or why there is
//! none. First threads with one outstanding each until there is one per core,
//! then outstanding per thread. The runs after the climb ([`crate::answer`]) find
//! where between the steps the latency limit is crossed.

use serde::{Deserialize, Serialize};
use stripewise_stats::Slo;

/// How many operations are kept in flight, and how they are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Load {
    /// Threads.
    pub threads: u32,
    /// Outstanding per thread.
    pub outstanding: u32,
}

impl Load {
    /// Total operations in flight.
    pub fn in_flight(self) -> u32 {
        self.threads.saturating_mul(self.outstanding)
    }

    /// The load nearest to `in_flight` (not above it, at least 1) with at most
    /// one thread per core: threads first, then outstanding. Of the thread counts
    /// above half the cores, the largest that divides `in_flight` is taken; as a
    /// power of two is always among them, every doubling is exact.
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

    /// Exactly this many in flight (at least 1), on the largest number of threads that divides
    /// them and gives each a core.
    #[must_use]
    pub fn exactly(in_flight: u32, cores: u32) -> Self {
        let in_flight = in_flight.max(1);
        let dividing = (1..=cores.clamp(1, in_flight)).rev();
        let mut dividing = dividing.filter(|threads| in_flight.is_multiple_of(*threads));
        let threads = dividing.next().unwrap_or(1);
        Load {
            threads,
            outstanding: in_flight / threads,
        }
    }

    /// The load nearest to `in_flight`, above or below it, with more than half of the
    /// cores busy: off by at most one operation per thread. Of two equally
    /// near loads, the one with more threads.
    #[must_use]
    pub fn near(in_flight: f64, cores: u32) -> Self {
        let cores = cores.clamp(1, 256);
        let wanted = in_flight.clamp(1.0, f64::from(u32::MAX)).round();
        if wanted <= f64::from(cores) {
            return Load::spread(wanted as u32, cores);
        }
        let near = |threads: u32| Load {
            threads,
            outstanding: (wanted / f64::from(threads)).round().max(1.0) as u32,
        };
        let miss = |load: &Load| (f64::from(load.in_flight()) - wanted).abs();
        let loads = (cores / 2 + 1..=cores).rev().map(near);
        loads
            .min_by(|a, b| miss(a).total_cmp(&miss(b)))
            .unwrap_or(Load::spread(wanted as u32, cores))
    }
}

/// What the ladder needs of a finished step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What was in flight.
    pub load: Load,
    /// Operations a second.
    pub iops: f64,
    /// The statistic that the latency limit is about, in nanoseconds; `None` if
    /// no operation completed.
    pub latency_ns: Option<u64>,
}

/// Where a ladder stops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Cores to spread threads over.
    pub cores: u32,
    /// Operations in flight at most.
    pub in_flight_max: u32,
    /// Doubling stops once the latency statistic passes this.
    pub latency_stop_ns: u64,
    /// The latency limit that the answer must meet.
    pub slo: Slo,
}

/// Why there is no further step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// More operations in flight no longer raise throughput.
    KneeBracketed,
    /// Latency passed the limit at which doubling stops.
    LatencyLimit,
    /// The maximum in flight is reached.
    InFlightLimit,
    /// A step completed no operation.
    NothingCompleted,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Double: run this load.
    Climb(Load),
    /// Done.
    Done(Stop),
}

/// The next step of a ladder. `climbed` are the steps so far, in order; `bracketed` says
/// whether the knee is bracketed (see `stripewise_stats`).
pub fn next_step(climbed: &[Step], bracketed: bool, limits: &Limits) -> NextStep {
    match stop_climbing(climbed, bracketed, limits) {
        None => {
            let in_flight = climbed.last().map_or(1, |last| last.load.in_flight() * 2);
            NextStep::Climb(Load::spread(in_flight, limits.cores))
        }
        Some(stop) => NextStep::Done(stop),
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

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_stats::LatencyStatistic;

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
            next_step(&[], false, &LIMITS),
            NextStep::Climb(Load {
                threads: 1,
                outstanding: 1
            })
        );
        let climbed = [step(1, 100), step(2, 100), step(4, 100)];
        assert_eq!(
            next_step(&climbed, false, &LIMITS),
            NextStep::Climb(Load {
                threads: 4,
                outstanding: 2
            })
        );
        assert_eq!(
            next_step(&climbed, true, &LIMITS),
            NextStep::Done(Stop::KneeBracketed)
        );
    }

    #[test]
    fn latency_above_the_stop_or_the_in_flight_limit_ends_the_climb() {
        assert_eq!(
            next_step(&[step(1, 600_000_000)], false, &LIMITS),
            NextStep::Done(Stop::LatencyLimit)
        );
        assert_eq!(
            next_step(&[step(256, 100)], false, &LIMITS),
            NextStep::Done(Stop::InFlightLimit)
        );
        let nothing = Step {
            latency_ns: None,
            ..step(2, 0)
        };
        assert_eq!(
            next_step(&[nothing], false, &LIMITS),
            NextStep::Done(Stop::NothingCompleted)
        );
    }

    #[test]
    fn any_load_is_met_nearly() {
        for cores in [1, 2, 3, 4, 6, 7, 12, 48, 64] {
            for wanted in 1..=512 {
                let load = Load::near(f64::from(wanted), cores);
                let threads = cores.min(256);
                assert!(load.threads <= threads, "{wanted} on {cores}");
                assert!(load.outstanding == 1 || load.threads * 2 > threads);
                let miss = load.in_flight().abs_diff(wanted);
                // At most half a round of all threads; with many cores far less.
                assert!(miss <= threads.div_ceil(2), "{wanted} on {cores}: {load:?}");
            }
        }
        let exact = |wanted: f64| Load::near(wanted, 4).in_flight();
        assert_eq!([0.2, 1.4, 6.0, 9.0].map(exact), [1, 1, 6, 9]);
    }
}
