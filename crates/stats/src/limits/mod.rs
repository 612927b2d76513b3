//! Which limits a volume has: a cap on operations or bytes per second, and whether it is a
//! limiter's or the device's own; which limit binds a load; how long a burst lasts.
//!
//! [`LimitRates`] holds the rates of runs over ten cells of block size and depth, or eleven.
//! [`LimitRates::caps`] estimates the caps from them, and [`LimitRates::nature`] classifies them.
//! [`binding`] compares a load with its neighbours in size and depth. [`find_step`],
//! [`TokenBucket`] and [`Refill`] are for token buckets.
//!
//! The densities of [`LimitRates::nature`] were set once from the behaviour of limiters and
//! devices, not fitted; prior odds are even. `docs/LIMITS.md` gives the error rates.

mod binding;
mod bucket;
mod caps;
mod cells;
mod nature;

#[cfg(test)]
mod tests;

pub use binding::{Binding, BindingRates, BoundBy, binding};
pub use bucket::{
    BurstUse, RateStep, Refill, STEP_SECONDS, TokenBucket, find_step, fit_bucket, fit_refill,
    is_lasting, rest_after_s, seconds_after_step,
};
pub use caps::{Cap, Caps, Counting, Drift};
pub use cells::{Corners, LimitCell, LimitRates, REPETITIONS_MAX, REPETITIONS_MIN, SCATTER_MAX};
pub use nature::{Nature, NatureFound, Sharing};
