//! When operations are due in an open loop.
//!
//! The rate is that of the job, split evenly over its threads. `fixed`: arrival k of thread i of n
//! is number k*n + i of the job, at number / rate. So the threads interleave with equal gaps, and
//! no error accumulates, because each time is computed from its number. `poisson`: each thread has
//! exponential gaps of -ln(u) * n / rate; the sum of such threads is a Poisson process of the whole
//! rate. Gaps add up in whole nanoseconds plus a fraction below one, so there is no drift however
//! long the run. `ln` comes from `libm`: the same everywhere.

use crate::random::{Generator, Purpose};
use crate::{Arrivals, Rate};

/// Nanoseconds per second.
const NS_PER_S: f64 = 1e9;
/// Most random arrivals of a job that are drawn one by one just to count them: about 100 ms.
const DRAWN_MAX: f64 = 4e6;

/// Intended starts of one thread's operations.
///
/// ```
/// use stripewise_workload::{ArrivalSchedule, Arrivals, Rate};
///
/// let rate = Rate { iops: 1000.0, arrivals: Arrivals::Fixed };
/// let mut second_of_two = ArrivalSchedule::new(rate, 2, 1, 0);
/// assert_eq!(second_of_two.next(), 1_000_000);
/// assert_eq!(second_of_two.next(), 3_000_000);
/// ```
#[derive(Clone, Debug)]
pub struct ArrivalSchedule(Schedule);

#[derive(Clone, Debug)]
enum Schedule {
    Fixed {
        /// Number of the next arrival in the job.
        number: u64,
        threads: u64,
        iops: f64,
    },
    Poisson {
        generator: Generator,
        threads: u32,
        mean_gap_ns: f64,
        whole_ns: u64,
        fraction_ns: f64,
    },
}

impl ArrivalSchedule {
    /// The schedule of thread `index` of `threads`; `rate.iops` is above 0.
    pub fn new(rate: Rate, threads: u32, index: u32, seed: u64) -> Self {
        debug_assert!(rate.iops > 0.0);
        ArrivalSchedule(match rate.arrivals {
            Arrivals::Fixed => Schedule::Fixed {
                number: u64::from(index),
                threads: u64::from(threads.max(1)),
                iops: rate.iops,
            },
            Arrivals::Poisson => Schedule::Poisson {
                generator: Generator::new(seed, Purpose::Arrival, index),
                threads: threads.max(1),
                mean_gap_ns: NS_PER_S * f64::from(threads.max(1)) / rate.iops,
                whole_ns: 0,
                fraction_ns: 0.0,
            },
        })
    }

    /// Skips all arrivals due before `at_ns`, nanoseconds from the start of the run, and returns
    /// their number, in a short time however many there are. Fixed arrivals are counted by
    /// arithmetic. Up to 4 million exponential gaps per job are drawn one by one; beyond that, the
    /// number is a single Poisson draw with their mean (by its normal approximation, which is off
    /// by less than its own standard deviation / 2,000), and the next gap begins at `at_ns`, as
    /// exponential gaps have no memory.
    pub fn skip_to(&mut self, at_ns: u64) -> u64 {
        match &mut self.0 {
            Schedule::Fixed {
                number,
                threads,
                iops,
            } => {
                let due = |number: u64| (number as f64 * NS_PER_S / *iops) as u64;
                let nth = |count: u64| number.saturating_add(count.saturating_mul(*threads));
                // The cast saturates; rounding may put it off by a few.
                let arrivals = at_ns as f64 * *iops / NS_PER_S - *number as f64;
                let mut count = (arrivals / *threads as f64).ceil().max(0.0) as u64;
                while count > 0 && due(nth(count - 1)) >= at_ns {
                    count -= 1;
                }
                while due(nth(count)) < at_ns && nth(count) < u64::MAX {
                    count += 1;
                }
                *number = nth(count);
                count
            }
            Schedule::Poisson {
                generator,
                threads,
                mean_gap_ns,
                whole_ns,
                fraction_ns,
            } => {
                let mean = at_ns.saturating_sub(*whole_ns) as f64 / *mean_gap_ns;
                if mean * f64::from(*threads) > DRAWN_MAX {
                    let (one, other) = (generator.unit_above_zero(), generator.unit_above_zero());
                    let angle = std::f64::consts::TAU * other;
                    let normal = (-2.0 * libm::log(one)).sqrt() * libm::cos(angle);
                    (*whole_ns, *fraction_ns) = (at_ns, 0.0);
                    return (mean + mean.sqrt() * normal).round() as u64;
                }
                let mut count = 0;
                loop {
                    let before = self.clone();
                    if self.next() >= at_ns {
                        *self = before;
                        return count;
                    }
                    count += 1;
                }
            }
        }
    }

    /// The next intended start, nanoseconds from the start of the run; never earlier than the one
    /// before. Times beyond `u64` saturate.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, so an iterator's Option would only cost time"
    )]
    pub fn next(&mut self) -> u64 {
        match &mut self.0 {
            Schedule::Fixed {
                number,
                threads,
                iops,
            } => {
                // Exact within the float's 53 bits: error under a nanosecond for a month.
                let due = *number as f64 * NS_PER_S / *iops;
                *number = number.saturating_add(*threads);
                due as u64
            }
            Schedule::Poisson {
                generator,
                mean_gap_ns,
                whole_ns,
                fraction_ns,
                ..
            } => {
                let gap = -libm::log(generator.unit_above_zero()) * *mean_gap_ns;
                let sum = *fraction_ns + gap;
                // The cast truncates towards zero and saturates.
                let whole = sum as u64;
                *fraction_ns = (sum - whole as f64).clamp(0.0, 1.0);
                *whole_ns = whole_ns.saturating_add(whole);
                *whole_ns
            }
        }
    }
}
