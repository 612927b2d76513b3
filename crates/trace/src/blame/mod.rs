//! What causes slow operations?
//!
//! A capture has calm and other parts. An operation of the load in question is *slow* if it takes
//! longer than a limit, or else than max(3 times the median, the 99 % quantile) of the calm part.
//! Its *excess* in a stage is the time above the stage's calm median; shares of the summed excess
//! show where the time went. Rules in a fixed order name the cause; if none applies the answer is
//! "unknown".
//!
//! Nothing is guessed: without events of system calls H and W are unknown, and without pressure
//! data of the host no processor is blamed.
//!
//! Known weakness: a device that is slow *while* another process loads it. The other process is
//! named; the device cannot be assessed at that depth.

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
/// And their minimum share of the operations in the non-calm part.
pub const SLOW_SHARE_MIN: f64 = 0.03;
/// Smallest calm share of the time that defines normal behaviour.
pub const CALM_SHARE_MIN: f64 = 0.05;
/// A second cause is named from this share of the excess.
const SECOND_SHARE_MIN: f64 = 0.25;

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// Nothing was slow.
    NotSlow,
    /// Nothing was slow, but the application issues one operation at a time.
    OneAtATime,
    /// Held back above the block layer by a control group's limit.
    ControlGroup,
    /// Waiting in the host: for a tag, or in the scheduler's queue.
    HostQueue,
    /// Completed, but no processor was available to continue.
    Processor,
    /// Flushes of the device's cache.
    FlushStorm {
        /// The task that requested most of them.
        task: TaskId,
    },
    /// Another process loads the device.
    OtherProcess {
        /// The task whose rate rose most.
        task: TaskId,
        /// Mainly through flushes.
        by_flushes: bool,
    },
    /// Something limits it to a constant rate.
    VolumeCap {
        /// That rate, operations per second.
        rate: f64,
    },
    /// This load exceeds the device's capacity.
    OwnSaturation,
    /// The device, or the layers below it.
    Device {
        /// Most operations are as fast as usual.
        is_intermittent: bool,
    },
    /// The device, or a shortage of CPU while completions were handled.
    DeviceOrProcessor,
    /// No rule applies.
    Unknown,
    /// More than 0.1 % of the events were lost.
    Lost,
}

/// Number of slow operations that lost most of their time in a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseShare {
    /// The cause that the stage indicates here.
    pub cause: Cause,
    /// Slow operations with the largest excess there.
    pub operations: usize,
    /// Their share of all slow ones, with a 95 % block-bootstrap interval; None for fewer slow
    /// operations than make two blocks.
    pub share: Option<Estimate>,
}

/// The verdict on a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The cause.
    pub cause: Cause,
    /// Other causes supported by at least a quarter of the excess.
    pub also: Vec<Cause>,
    /// Threshold for slow operations, nanoseconds.
    pub slow_ns: u64,
    /// Slow operations.
    pub slow: usize,
    /// Operations in the non-calm part.
    pub operations: usize,
    /// Where slow operations lost their time, the largest share first.
    pub shares: Vec<CauseShare>,
    /// The slowest operations.
    pub examples: Vec<Example>,
}

/// Judges a capture.
///
/// Operations are in the order of arrival. The caller holds them in memory, so a capture is a
/// window of a trace, such as the minutes around a slow moment.
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

/// Counts slow operations by the stage of their largest excess.
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
