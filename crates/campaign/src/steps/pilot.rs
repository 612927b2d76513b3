//! How long a run on a simulated array must be: so long that about as many
//! operations complete as make the mean of a run steady, whether the array does
//! 300 operations a second or 300,000. A short look at each workload tells.

use crate::context::Context;
use crate::failure::Outcome;
use crate::steps::measure::{PlacedJob, RunOptions};
use crate::steps::parallel::{SimulatedCell, simulate_cells};
use crate::steps::targets::OpenTarget;
use stripewise_workload::{Request, Workload};

/// The coefficient of variation of a run's mean is then about 0.7 %.
const OPERATIONS: f64 = 30_000.0;
/// Of the look itself.
const OPERATIONS_LOOK: u64 = 1_500;
const LOOK_NS: u64 = 5_000_000;
const DURATION_NS_MIN: u64 = 10_000_000;
const DURATION_NS_MAX: u64 = 600_000_000_000;

/// A workload that is looked at, and how many operations a run of it must have.
pub struct Look {
    /// Of the cell.
    pub name: String,
    /// As it is run on `aimed`; its times are not used.
    pub workload: Workload,
    /// Operations of a run; `None`: as many as make its mean steady.
    pub operations: Option<u64>,
    /// Operations before measuring, which fill a write cache; 0: a twentieth of the run.
    pub operations_before: u64,
}

impl Look {
    /// At a cell, as many operations as make a run's mean steady.
    #[must_use]
    pub fn at(name: &str, workload: Workload) -> Look {
        Look {
            name: name.to_owned(),
            workload,
            operations: None,
            operations_before: 0,
        }
    }
}

/// Ramp and duration of each cell.
///
/// # Errors
/// Where a cell does not fit the target.
pub fn durations(
    context: &Context,
    aimed: &[OpenTarget],
    how: &RunOptions,
    looks: &[Look],
) -> Outcome<Vec<(u64, u64)>> {
    let how = |look: &Look| RunOptions {
        request: Request {
            interval_ns: LOOK_NS,
            simulated_operations_min: OPERATIONS_LOOK.max(look.operations_before),
            ..how.request.clone()
        },
        series: None,
        ..how.clone()
    };
    let cells = looks
        .iter()
        .map(|look| {
            let wish = PlacedJob {
                name: look.name.clone(),
                workload: Workload {
                    duration_ns: LOOK_NS,
                    ramp_ns: 0,
                    ..look.workload.clone()
                },
                targets: vec![0],
            };
            SimulatedCell::prepare(context, aimed, &[wish], &how(look))
        })
        .collect::<Outcome<Vec<_>>>()?;
    let mut rates = Vec::new();
    simulate_cells(context, &cells, &mut |record| {
        rates.push(record.jobs.first().map_or(0.0, |job| job.outcome.iops));
        Ok(())
    })?;
    let times = looks.iter().zip(rates).map(|(look, iops)| {
        let operations = look.operations.map_or(OPERATIONS, |count| count as f64);
        let duration_ns = duration_ns(operations, iops);
        let ramp_ns = match look.operations_before {
            0 => duration_ns / 20,
            before => self::duration_ns(before as f64, iops),
        };
        (ramp_ns, duration_ns)
    });
    Ok(times.collect())
}

/// Rounded up to 1, 2 or 5 and zeros: the same for arrays that are nearly alike.
fn duration_ns(operations: f64, iops: f64) -> u64 {
    let wanted_ns = if iops > 0.0 {
        // Float to integer saturates.
        (operations / iops * 1e9) as u64
    } else {
        DURATION_NS_MAX
    };
    let wanted_ns = wanted_ns.clamp(DURATION_NS_MIN, DURATION_NS_MAX);
    let mut unit_ns = DURATION_NS_MIN;
    while unit_ns * 10 <= wanted_ns {
        unit_ns *= 10;
    }
    let rounded = [1, 2, 3, 5, 7, 10]
        .into_iter()
        .map(|steps| steps * unit_ns)
        .find(|rounded| *rounded >= wanted_ns);
    rounded.unwrap_or(wanted_ns).min(DURATION_NS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_arrays_run_longer_than_fast_ones_in_round_times() {
        let cases = [
            (0.0, 600_000_000_000),
            (500.0, 70_000_000_000),
            (3_000.0, 10_000_000_000),
            (3_100.0, 10_000_000_000),
            (400_000.0, 100_000_000),
            (1e9, 10_000_000),
        ];
        for (iops, expected_ns) in cases {
            assert_eq!(duration_ns(OPERATIONS, iops), expected_ns, "{iops}");
        }
    }
}
