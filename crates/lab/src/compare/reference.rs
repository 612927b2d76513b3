//! What to know of runs that will be a reference for later ones: too few
//! repetitions, temporary conditions not caused by the storage, void values.

use super::cells::{cells_for, cells_of};
use crate::experiment::Metric;
use std::collections::BTreeSet;
use stripewise_results::{RunRecord, Severity, Warning, warnings_by_code};
use stripewise_stats::{default_tolerance_percent, scatter, smallest_loss_percent};
use stripewise_units::{counted, plural};

/// Fewer repetitions than this show little of the scatter.
const REPETITIONS_MIN: usize = 4;

/// Confidence of a comparison.
const LEVEL: f64 = 0.95;

/// Warnings about temporary conditions: after one of these, a
/// later run may differ although the storage has not changed.
const OF_THE_MOMENT: [&str; 16] = [
    "abandoned-operations",
    "array-syncing",
    "cpu-bound",
    "cpu-quota",
    "cpu-steal",
    "errors",
    "io-throttled",
    "not-steady",
    "other-load",
    "paused",
    "power-saving",
    "stalled",
    "stalled-at-end",
    "step-down",
    "target-changed",
    "thermal-throttling",
];

/// Warnings that a rate is not that of one state.
const UNSTEADY: [&str; 2] = ["not-steady", "step-down"];

/// The fewest repetitions of any workload in these runs; 0 if there is none.
pub fn minimum_repetitions(runs: &[RunRecord]) -> usize {
    let cells = cells_of(runs);
    cells.iter().map(|cell| cell.rows.len()).min().unwrap_or(0)
}

/// The sensitivity of a later comparison with these runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// The default tolerance in per cent, up to which a loss is not reported: 1 %, or
    /// the scatter of single runs.
    pub tolerance_percent: f64,
    /// The smallest loss, in per cent, that is detected with 90 % probability.
    pub smallest_loss_percent: f64,
}

/// For `later` runs of each load; that of the load with the largest scatter. `None` if a load
/// has a single run, which shows no scatter.
pub fn sensitivity(runs: &[RunRecord], metric: Metric, later: u32) -> Option<Sensitivity> {
    let cells = cells_for(runs, metric);
    let each: Option<Vec<Sensitivity>> = cells
        .iter()
        .map(|cell| {
            let values = cell.rows.iter().filter_map(|row| metric.of(row));
            let values: Vec<f64> = values.collect();
            let scatter = scatter(&values)?;
            let tolerance_percent = default_tolerance_percent(scatter);
            let counts = [values.len(), later as usize];
            let loss = smallest_loss_percent(counts, scatter, LEVEL, tolerance_percent);
            Some(Sensitivity {
                tolerance_percent,
                smallest_loss_percent: loss,
            })
        })
        .collect();
    each?.into_iter().max_by(|a, b| {
        let loss = |one: &Sensitivity| one.smallest_loss_percent;
        loss(a).total_cmp(&loss(b))
    })
}

/// Codes of the warnings that void values of these runs, sorted.
pub fn void_codes(runs: &[RunRecord]) -> BTreeSet<String> {
    let all = runs.iter().flat_map(RunRecord::void_codes);
    all.map(str::to_owned).collect()
}

/// Reservations about runs that are, or are to be, a reference, as sentences; empty if there
/// are none. Void values are not among them: see [`void_codes`].
pub fn doubts(runs: &[RunRecord]) -> Vec<String> {
    let mut doubts = Vec::new();
    let fewest = minimum_repetitions(runs);
    if fewest > 0 && fewest < REPETITIONS_MIN {
        doubts.push(format!(
            "few repetitions: {} of some workload, so there is little evidence of how much runs \
             differ by chance, and small changes cannot be detected.",
            counted(fewest, "run", "runs")
        ));
    }
    let of_the_moment = |warning: &Warning| {
        warning.severity >= Severity::Warning && OF_THE_MOMENT.contains(&warning.code.as_str())
    };
    for (warning, count) in warnings_by_code(runs, of_the_moment) {
        doubts.push(format!(
            "{} in {count} of {} {}: {}; so differences may not be the disk's.",
            warning.code,
            runs.len(),
            plural(runs.len(), "run", "runs"),
            warning.message
        ));
    }
    doubts
}

/// How many of these runs wrote and were not steady, and what the first of them says, if they are
/// at least half: later ones would be compared with a cache, or with a moment. The answer of a
/// bench is written until no cache absorbs it, and does not count.
pub fn unsteady_writes(runs: &[RunRecord]) -> Option<(usize, &str)> {
    let counting = runs.iter().filter(|run| run.answer_block.is_none());
    let found: Vec<&Warning> = counting.filter_map(unsteady_write).collect();
    let first = found.first()?;
    (2 * found.len() >= runs.len()).then(|| (found.len(), first.in_short()))
}

fn unsteady_write(run: &RunRecord) -> Option<&Warning> {
    let mut writing = run.jobs.iter().filter(|job| job.workload.writes());
    writing.find_map(|job| {
        let mut warnings = job.warnings.iter();
        warnings
            .find(|one| one.severity >= Severity::Warning && UNSTEADY.contains(&one.code.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;
    use stripewise_results::Warning;

    fn warned(mut run: RunRecord, code: &str, severity: Severity) -> RunRecord {
        run.jobs[0].warnings.push(Warning {
            code: code.to_owned(),
            severity,
            message: "others had 32 % of the operations".to_owned(),
            short: String::new(),
            hint: String::new().into(),
        });
        run
    }

    #[test]
    fn writes_that_are_not_steady_are_no_reference() {
        let mut runs: Vec<RunRecord> = (1..7).map(|n| run(n, 1, 400.0)).collect();
        for one in &mut runs[..3] {
            *one = warned(one.clone(), "step-down", Severity::Warning);
        }
        // Of reads it is a reservation.
        assert_eq!(unsteady_writes(&runs), None);
        assert!(doubts(&runs)[0].starts_with("step-down in 3 of 6 runs: "));
        for one in &mut runs {
            one.jobs[0].workload.read_percent = 0;
        }
        let words = "others had 32 % of the operations";
        assert_eq!(unsteady_writes(&runs), Some((3, words)));
        runs[0].answer_block = Some(0);
        assert_eq!(unsteady_writes(&runs), None);
    }

    #[test]
    fn few_repetitions_and_other_load_speak_against_a_reference() {
        let six: Vec<RunRecord> = (1..7).map(|n| run(n, 1, 400.0)).collect();
        assert_eq!(doubts(&six), Vec::<String>::new());
        // Six of one workload do not compensate for one of another.
        let mut uneven = six.clone();
        uneven.push(run(7, 8, 900.0));
        assert_eq!(minimum_repetitions(&uneven), 1);
        assert!(doubts(&uneven)[0].starts_with("few repetitions: 1 run of some workload"));
        let mut loaded = six.clone();
        loaded[1] = warned(loaded[1].clone(), "other-load", Severity::Warning);
        loaded[4] = warned(loaded[4].clone(), "other-load", Severity::Warning);
        loaded[0] = warned(loaded[0].clone(), "quick-run", Severity::Warning);
        loaded[2] = warned(loaded[2].clone(), "cpu-bound", Severity::Note);
        assert_eq!(
            doubts(&loaded),
            [
                "other-load in 2 of 6 runs: others had 32 % of the operations; so \
                 differences may not be the disk's."
            ]
        );
        assert!(void_codes(&loaded).is_empty());
        loaded[3] = warned(loaded[3].clone(), "zero-data", Severity::Void);
        assert_eq!(
            void_codes(&loaded).into_iter().collect::<Vec<_>>(),
            ["zero-data"]
        );
    }
}
