//! Limits of control groups and volumes on what is verified. They do not touch the verdict, but
//! its rates, and with them how much was tried in the time, are theirs.

use super::document::PhaseOutcome;
use crate::steps::limit_watch::{FastestRates, LimitWatch};
use crate::steps::medium::say_all;
use stripewise_conductor::context::Context;
use stripewise_results::{Severity, Warning};
use stripewise_targets::Target;
use stripewise_units::path_of;

/// The warning that compares rates with a limit.
const IO_THROTTLED: &str = "io-throttled";

/// Begins to watch; targets on one device are watched once.
#[must_use]
pub fn start(targets: &[Target]) -> Vec<LimitWatch> {
    let mut all: Vec<LimitWatch> = Vec::new();
    for target in targets {
        let facts = target.facts();
        let watch = LimitWatch::start(&path_of(&facts.name), facts.clone());
        if !all.iter().any(|known| known.device() == watch.device()) {
            all.push(watch);
        }
    }
    all
}

/// The limits that the phases reached.
pub fn reached(
    context: &Context,
    watches: Vec<LimitWatch>,
    phases: &[PhaseOutcome],
) -> Vec<Warning> {
    // What each of several devices did is not counted apart: whether one reached its limit
    // cannot be said of their sum.
    let (rates, is_only) = (fastest(phases), watches.len() == 1);
    let mut found: Vec<Warning> = Vec::new();
    for warning in watches.into_iter().flat_map(|watch| watch.finish(&rates)) {
        let warning = beside_the_verdict(warning);
        if (is_only || warning.code != IO_THROTTLED) && !found.contains(&warning) {
            found.push(warning);
        }
    }
    say_all(context, &found);
    found
}

/// A limit voids rates. What was read back right stays right.
fn beside_the_verdict(warning: Warning) -> Warning {
    let severity = match warning.severity {
        Severity::Void => Severity::Warning,
        other => other,
    };
    Warning {
        severity,
        ..warning
    }
}

/// The rates of the fastest phase.
fn fastest(phases: &[PhaseOutcome]) -> FastestRates {
    let each = phases
        .iter()
        .map(|phase| FastestRates::of(&phase.read, &phase.write, phase.duration_ns));
    each.fold(FastestRates::default(), FastestRates::max)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(fastest(&phases), expected);
        assert_eq!(fastest(&[]), FastestRates::default());
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
        let beside = |severity| beside_the_verdict(warning(severity)).severity;
        assert_eq!(beside(Severity::Void), Severity::Warning);
        assert_eq!(beside(Severity::Note), Severity::Note);
    }
}
