//! Limits of control groups and volumes during a verification. They do not affect the verdict,
//! but its rates, and so the amount of data verified.

use super::document::PhaseOutcome;
use crate::steps::limit_watch::{FastestRates, LimitWatch};
use crate::steps::medium::say_all;
use stripewise_conductor::context::Context;
use stripewise_results::{Severity, Warning};
use stripewise_targets::Target;
use stripewise_units::path_of;

/// The limits of one device, and its targets.
pub struct DeviceLimits {
    watch: LimitWatch,
    targets: Vec<u16>,
}

/// Starts watching; targets on one device share a watch.
pub fn start(targets: &[Target]) -> Vec<DeviceLimits> {
    let mut all: Vec<DeviceLimits> = Vec::new();
    for (number, target) in (0..).zip(targets) {
        let facts = target.facts();
        let watch = LimitWatch::start(&path_of(&facts.name), facts.clone());
        let device = watch.device();
        match all.iter_mut().find(|known| known.watch.device() == device) {
            Some(known) => known.targets.push(number),
            None => all.push(DeviceLimits {
                watch,
                targets: vec![number],
            }),
        }
    }
    all
}

/// The limits that the phases reached, by each device's own rates.
pub fn reached(
    context: &Context,
    devices: Vec<DeviceLimits>,
    phases: &[PhaseOutcome],
) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for device in devices {
        let rates = fastest(phases, &device.targets);
        let warnings = device.watch.finish(&rates);
        for warning in warnings.into_iter().map(downgraded) {
            if !found.contains(&warning) {
                found.push(warning);
            }
        }
    }
    say_all(context, &found);
    found
}

/// A limit voids rates. Data that read back correctly remains verified.
fn downgraded(warning: Warning) -> Warning {
    let severity = match warning.severity {
        Severity::Void => Severity::Warning,
        other => other,
    };
    Warning {
        severity,
        ..warning
    }
}

/// The rates of the fastest phase, on these targets together: all begin at once, so that their
/// device has the sum of their rates until the first of them is done.
fn fastest(phases: &[PhaseOutcome], targets: &[u16]) -> FastestRates {
    let each = phases.iter().map(|phase| {
        let own = phase.by_target.iter();
        let own = own.filter(|one| targets.contains(&one.target));
        match phase.by_target.is_empty() {
            true => FastestRates::of(&phase.read, &phase.write, phase.duration_ns),
            false => own
                .map(|one| FastestRates::of(&one.read, &one.write, one.duration_ns))
                .fold(FastestRates::default(), FastestRates::plus),
        }
    });
    each.fold(FastestRates::default(), FastestRates::max)
}

#[cfg(test)]
mod tests {
    use super::super::document::TargetOutcome;
    use super::*;
    use stripewise_results::KindOutcome;

    #[test]
    fn the_rates_are_those_of_the_fastest_phase() {
        let kind = |operations, bytes| KindOutcome {
            operations,
            bytes,
            ..KindOutcome::default()
        };
        let phase = |read, write| PhaseOutcome::of("work", "direct", 2_000_000_000, read, write);
        let phases = [
            phase(kind(0, 0), kind(400, 80_000)),
            phase(kind(800, 40_000), kind(100, 20_000)),
        ];
        let expected = FastestRates {
            read_bytes_per_s: 20_000.0,
            reads_per_s: 400.0,
            written_bytes_per_s: 40_000.0,
            writes_per_s: 200.0,
        };
        assert_eq!(fastest(&phases, &[0]), expected);
        assert_eq!(fastest(&[], &[0]), FastestRates::default());
    }

    #[test]
    fn each_device_is_judged_by_its_own_rates() {
        let writes = |operations| KindOutcome {
            operations,
            bytes: operations << 20,
            ..KindOutcome::default()
        };
        let own = |target, seconds: u64, operations| {
            let duration_ns = seconds * 1_000_000_000;
            TargetOutcome::of(
                target,
                duration_ns,
                KindOutcome::default(),
                writes(operations),
            )
        };
        let none = KindOutcome::default();
        let phase = PhaseOutcome {
            by_target: vec![own(0, 1, 400), own(1, 10, 400), own(2, 10, 100)],
            ..PhaseOutcome::of("fill", "direct", 10_000_000_000, none, writes(900))
        };
        let writes_per_s =
            |targets: &[u16]| fastest(std::slice::from_ref(&phase), targets).writes_per_s;
        assert_eq!(writes_per_s(&[0]), 400.0);
        assert_eq!(writes_per_s(&[1]), 40.0);
        // Two on one device share its limit.
        assert_eq!(writes_per_s(&[1, 2]), 50.0);
        // One that is done much sooner held the device at its own rate all the same.
        assert_eq!(writes_per_s(&[0, 1]), 440.0);
    }

    #[test]
    fn a_limit_leaves_the_verdict_as_it_is() {
        let warning = |severity| Warning {
            code: "io-throttled".to_owned(),
            severity,
            message: String::new(),
            short: String::new(),
            hint: String::new().into(),
        };
        let beside = |severity| downgraded(warning(severity)).severity;
        assert_eq!(beside(Severity::Void), Severity::Warning);
        assert_eq!(beside(Severity::Note), Severity::Note);
    }
}
