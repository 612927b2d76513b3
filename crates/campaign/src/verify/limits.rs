//! Limits of control groups and volumes on what is verified. They do not touch the verdict, but
//! its rates, and with them how much was tried in the time, are theirs.

use crate::steps::medium::{FastestRates, LimitWatch, say_all};
use crate::steps::verification::document::PhaseOutcome;
use stripewise_conductor::context::Context;
use stripewise_results::{KindOutcome, Severity, Warning};
use stripewise_targets::Target;
use stripewise_units::path_of;

/// The warning that compares rates with a limit.
const IO_THROTTLED: &str = "io-throttled";

/// Begins to watch; targets on one device are watched once.
pub(super) fn start(targets: &[Target]) -> Vec<LimitWatch> {
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
pub(super) fn reached(
    context: &Context,
    watches: Vec<LimitWatch>,
    phases: &[PhaseOutcome],
) -> Vec<Warning> {
    // What each of several devices did is not counted apart: whether one reached its limit
    // cannot be said of their sum.
    let (rates, is_only) = (fastest(phases), watches.len() == 1);
    let mut found: Vec<Warning> = Vec::new();
    for warning in watches
        .into_iter()
        .flat_map(|watch| watch.finish(context, &rates))
    {
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
    let most = |of: fn(&PhaseOutcome) -> &KindOutcome, count: fn(&KindOutcome) -> u64| {
        let each = phases.iter().map(|phase| {
            let seconds = phase.duration_ns.max(1) as f64 / 1e9;
            count(of(phase)) as f64 / seconds
        });
        each.fold(0.0, f64::max)
    };
    FastestRates {
        read_bytes_per_s: most(|phase| &phase.read, |kind| kind.bytes),
        reads_per_s: most(|phase| &phase.read, |kind| kind.operations),
        written_bytes_per_s: most(|phase| &phase.write, |kind| kind.bytes),
        writes_per_s: most(|phase| &phase.write, |kind| kind.operations),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
