//! The rules in order; the first that applies names the cause.

use super::features::{DEVICE, Features, FullBins, HELD, Part, QUEUE, WAKEUP};
use super::scene::Scene;
use super::{Cause, SECOND_SHARE_MIN, SLOW_MIN, SLOW_SHARE_MIN};
use crate::closedness::LOST_SHARE_MAX;

/// More than half of the excess.
const MOST: f64 = 0.5;
/// Share of the time in which some task waits for a processor.
const SHORT: f64 = 0.25;
/// Excess of that share over the calm part.
const SHORTER: f64 = 0.1;
/// From here on the share hardly rises, however many tasks wait.
const ALWAYS_SHORT: f64 = 0.9;
/// Variance over mean of counts far more regular than chance.
const REGULAR: f64 = 0.15;
/// A device with fewer operations in flight than this carries more.
const SATURATED_DEPTH_MIN: f64 = 1.0;
/// Calm and slow parts have the same rate within this range of their ratio.
const SAME_RATE: std::ops::RangeInclusive<f64> = 0.9..=1.1;

pub(super) fn cause(features: &Features, scene: &Scene<'_>) -> Cause {
    if scene.lost_share > LOST_SHARE_MAX {
        return Cause::Lost;
    }
    let [held, queue, device, wakeup] = features.shares;
    // A control group's throttle passes operations on from a worker; without events of system
    // calls, that is all that is visible of it.
    if features.deferred > 0.2 && held < 0.01 {
        return Cause::ControlGroup;
    }
    let slow_share = features.slow.len() as f64 / features.own_operations.max(1) as f64;
    if features.slow.len() < SLOW_MIN || slow_share < SLOW_SHARE_MIN {
        return if features.per_slot > 0.9 {
            Cause::OneAtATime
        } else {
            Cause::NotSlow
        };
    }
    let pressure = scene.processor_pressure.unwrap_or(0.0);
    if wakeup > MOST {
        return if pressure > 0.1 {
            Cause::Processor
        } else {
            Cause::Unknown
        };
    }
    let is_at_limit = scene
        .configured_limit
        .is_some_and(|limit| features.other.rate >= 0.9 * limit);
    if held > MOST || (is_at_limit && (!features.knows_calls || held > 0.3)) {
        return Cause::ControlGroup;
    }
    if queue > MOST {
        return Cause::HostQueue;
    }
    if device < MOST {
        return Cause::Unknown;
    }
    of_the_device(features, is_processor_shorter(scene))
}

/// Whether processors were short, and more so than in the calm part, as far as known.
fn is_processor_shorter(scene: &Scene<'_>) -> bool {
    let now = scene.processor_pressure.unwrap_or(0.0);
    let calm = scene.calm_pressure.unwrap_or(0.0);
    now > SHORT && (now - calm > SHORTER || calm > ALWAYS_SHORT)
}

/// Most of the time was lost at the device: finds the reason.
fn of_the_device(features: &Features, is_processor_shorter: bool) -> Cause {
    let (calm, now) = (features.calm, features.other);
    let odds = |share: f64| share / (1.01 - share);
    let [beside, otherwise] = features.beside_flush;
    if now.flushes > 3.0 * calm.flushes + 2.0 {
        if features.flushing > 0.8 {
            // A flush is always in flight: its presence means nothing for a single operation.
            return Cause::OtherProcess {
                task: features.busiest_flusher,
                by_flushes: true,
            };
        }
        if beside > 0.5 && odds(beside) > 3.0 * odds(otherwise) {
            return Cause::FlushStorm {
                task: features.busiest_flusher,
            };
        }
    }
    let others = now.others / (now.others + now.rate).max(1.0);
    if now.others > 2.0 * calm.others.max(1.0) && others > 0.35 {
        return Cause::OtherProcess {
            task: features.busiest_other,
            by_flushes: false,
        };
    }
    if let Some(full) = features.full_bins
        && full.completions < REGULAR
        && !is_own_pace(full, calm)
    {
        return Cause::VolumeCap { rate: full.rate };
    }
    let is_deep = now.depth > 3.0 * calm.depth && now.depth >= SATURATED_DEPTH_MIN;
    if now.rate > 1.3 * calm.rate && is_deep {
        return Cause::OwnSaturation;
    }
    if is_processor_shorter && features.by_thread > 0.2 {
        return Cause::DeviceOrProcessor;
    }
    Cause::Device {
        is_intermittent: features.quick > 0.25 && features.median_ratio < 1.6,
    }
}

/// Whether the constant rate is that of the load: it arrives as regularly, and calm parts pass the
/// same rate.
///
/// Regular arrivals alone do not disprove a cap: in a closed loop each follows a completion. Nor
/// does a higher rate in calm parts: a burst credit may have run out since.
fn is_own_pace(full: FullBins, calm: Part) -> bool {
    full.arrivals < REGULAR && SAME_RATE.contains(&((calm.rate + calm.others) / full.rate))
}

/// Further causes supported by a quarter of the excess.
pub(super) fn also(features: &Features, first: Cause) -> Vec<Cause> {
    if matches!(first, Cause::Lost | Cause::NotSlow | Cause::OneAtATime) {
        return Vec::new();
    }
    let share = |stage: usize| features.shares[stage] > SECOND_SHARE_MIN;
    let is_device = matches!(
        first,
        Cause::Device { .. } | Cause::DeviceOrProcessor | Cause::VolumeCap { .. }
    );
    let (slower, tail) = features.at_calm_depth.unwrap_or((0.0, 0.0));
    let is_intermittent = slower <= 1.5;
    let device_too = share(DEVICE) && !is_device && (slower > 1.5 || tail > 3.0);
    let all = [
        (share(WAKEUP), Cause::Processor),
        (share(HELD), Cause::ControlGroup),
        (share(QUEUE), Cause::HostQueue),
        (device_too, Cause::Device { is_intermittent }),
    ];
    let named = all.into_iter().filter(|(holds, _)| *holds);
    named
        .map(|(_, cause)| cause)
        .filter(|cause| *cause != first)
        .collect()
}

/// The meaning of time at the device, given the cause.
pub(super) fn at_the_device(cause: Cause) -> Cause {
    match cause {
        Cause::FlushStorm { .. }
        | Cause::OtherProcess { .. }
        | Cause::VolumeCap { .. }
        | Cause::OwnSaturation
        | Cause::DeviceOrProcessor
        | Cause::Device { .. } => cause,
        _ => Cause::Device {
            is_intermittent: false,
        },
    }
}
