//! Whose fault is it when operations are slow?
//!
//! A capture has calm and other parts. An operation of the load in question is *slow* if it
//! takes longer than a limit, or else than max(3 times the median, the 99 % quantile) of the
//! calm part. Its *excess* in a stage is what the stage took beyond its calm median; shares
//! of the summed excess say where the time went. Rules in a fixed order name the cause; an
//! answer that the rules do not support is "unknown".
//!
//! What cannot be seen is not guessed: without events of system calls H and W are unknown,
//! and without the host's pressure no processor is blamed.
//!
//! Known to be weak: a device that is slow *while* another process loads it. The other
//! process is named; the device cannot be assessed at that depth.

mod examples;
mod features;
mod rules;
mod scene;
mod window;

pub use examples::Example;
pub use scene::{Scene, calm_periods};
pub use window::{BlameWindow, ConfiguredLimit, DeviceBlame, WindowFacts};

use crate::operation::Operation;
use crate::tasks::TaskId;
use features::Features;
use stripewise_stats::{Bootstrap, Estimate};

/// Fewest slow operations for a verdict.
pub const SLOW_MIN: usize = 30;
/// And the least share of all in the part that is not calm.
pub const SLOW_SHARE_MIN: f64 = 0.03;
/// Least calm share of the time that says what is usual.
pub const CALM_SHARE_MIN: f64 = 0.05;
/// A second cause is named from this share of the excess on.
const SECOND_SHARE_MIN: f64 = 0.25;

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// Nothing was slow.
    NotSlow,
    /// Nothing was slow, but the application issues one operation at a time.
    OneAtATime,
    /// Held back above the block layer: the limit of a control group.
    ControlGroup,
    /// Waiting in the host: for a tag, or in the scheduler's queue.
    HostQueue,
    /// Completed, but no processor to go on with.
    Processor,
    /// Flushes of the device's cache.
    FlushStorm {
        /// Who asked for most of them.
        task: TaskId,
    },
    /// Another process loads the device.
    OtherProcess {
        /// The one whose rate rose most.
        task: TaskId,
        /// Mostly by flushes.
        by_flushes: bool,
    },
    /// Something lets through a constant rate.
    VolumeCap {
        /// That rate, operations a second.
        rate: f64,
    },
    /// This load is more than the device carries.
    OwnSaturation,
    /// The device, or what is under it.
    Device {
        /// Most operations are as quick as ever.
        is_intermittent: bool,
    },
    /// The device, or a processor that was short while completions were handled.
    DeviceOrProcessor,
    /// The rules name nothing.
    Unknown,
    /// More than 0.1 % of the events were lost.
    Lost,
}

/// How many of the slow operations lost most of their time where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseShare {
    /// What that stage stands for here.
    pub cause: Cause,
    /// Slow operations whose largest excess is there.
    pub operations: usize,
    /// Their share of all slow ones, with a 95 % block-bootstrap interval; None for fewer
    /// slow operations than make two blocks.
    pub share: Option<Estimate>,
}

/// What is said of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The cause.
    pub cause: Cause,
    /// Other causes that a quarter of the excess, or more, speaks for.
    pub also: Vec<Cause>,
    /// From when on an operation is slow, nanoseconds.
    pub slow_ns: u64,
    /// Slow operations.
    pub slow: usize,
    /// Operations in the part that is not calm.
    pub operations: usize,
    /// Where slow operations lost their time, the largest share first.
    pub shares: Vec<CauseShare>,
    /// The slowest operations.
    pub examples: Vec<Example>,
}

/// Judges a capture.
///
/// Operations are in the order of arrival. They are held in memory by the caller, so a
/// capture is a window of a trace, such as the minutes around a slow moment.
#[must_use]
pub fn blame(operations: &[Operation], scene: &Scene<'_>) -> Blame {
    let features = Features::new(operations, scene);
    let cause = rules::cause(&features, scene);
    let also = rules::also(&features, cause);
    let mut shares = shares_of(&features, cause);
    shares.sort_by_key(|share| usize::MAX - share.operations);
    Blame {
        cause,
        also,
        slow_ns: features.slow_ns as u64,
        slow: features.slow.len(),
        operations: features.own_operations,
        shares,
        examples: examples::examples(operations, &features),
    }
}

/// The stage of the largest excess of each slow operation, counted.
fn shares_of(features: &Features, cause: Cause) -> Vec<CauseShare> {
    let slow = &features.slow;
    let bootstrap = Bootstrap {
        block_length: Bootstrap::block_length_for(slow.len()),
        resamples: 400,
        seed: 1,
    };
    let stages = [
        Cause::ControlGroup,
        Cause::HostQueue,
        rules::at_the_device(cause),
        Cause::Processor,
    ];
    let counted = stages.into_iter().enumerate().map(|(stage, cause)| {
        let is_here: Vec<f64> = slow
            .iter()
            .map(|one| f64::from(u8::from(one.stage == stage)))
            .collect();
        let share = bootstrap.interval(&is_here, 0.95, |drawn| {
            drawn.iter().sum::<f64>() / drawn.len() as f64
        });
        CauseShare {
            cause,
            operations: is_here.iter().filter(|&&here| here > 0.0).count(),
            share,
        }
    });
    counted.filter(|share| share.operations > 0).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod varied;
