//! How long a run on a simulated array must be: past what a cache absorbs, and long enough
//! that the number of operations makes the mean of a run steady, whether the
//! array does 300 IOPS or 300,000.
//!
//! A load that something may absorb is piloted ([`pilot_of`]); for all others, a short probe
//! finds the rate. Runs of a stream may differ by more than their operations suggest: two
//! streams meet on one copy of a mirror or not. Such runs are made as long as their own scatter
//! requires ([`CellPilot`]).

use crate::context::Context;
use crate::failure::Outcome;
use crate::measure::{PlacedJob, RunOptions};
use crate::parallel::{NoListener, SimulatedCell, on_all_cores, piloted};
use crate::pilot::{behind_ns, pilot_of};
use crate::targets::{OpenTarget, living_arrays};
use std::sync::atomic::AtomicU8;
use stripewise_results::{Status, SustainedRecord};
use stripewise_runner::Error;
use stripewise_runner::drive::INTERVAL_NS_MAX;
use stripewise_runner::session::{Job, Settings};
use stripewise_stats::{CellPilot, CellStep};
use stripewise_workload::{Pattern, Request, Workload, derived_seed};

/// The coefficient of variation of a run's mean is then about 0.7 %.
const OPERATIONS: f64 = 30_000.0;
/// Operations of a probe.
const OPERATIONS_LOOK: u64 = 1_500;
const LOOK_NS: u64 = 5_000_000;
/// Runs of a stream may scatter by this at most, as those of random I/O do ...
const SCATTER: f64 = 0.02;
/// ... but are at most this many times as long as the same number of random operations.
const LONGER_MAX: f64 = 8.0;
/// Seed of such a pilot's runs; no other run uses it.
const SEED: u64 = 1 << 34;
const DURATION_NS_MIN: u64 = 10_000_000;
const DURATION_NS_MAX: u64 = 600_000_000_000;

/// A workload to be probed, and how many operations a run of it must have.
pub struct DurationRequest {
    /// Name of the cell.
    pub name: String,
    /// As run on the target; its times are not used.
    pub workload: Workload,
    /// Operations of a run; `None`: enough to make its mean steady.
    pub operations: Option<u64>,
    /// Measure past what a cache absorbs. False for comparisons with a published figure,
    /// which was measured without such care.
    pub is_sustained: bool,
}

impl DurationRequest {
    /// A request for enough operations to make a run's mean steady.
    pub fn at(name: &str, workload: Workload) -> DurationRequest {
        DurationRequest {
            name: name.to_owned(),
            workload,
            operations: None,
            is_sustained: true,
        }
    }
}

/// How a cell is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellTime {
    /// Ramp before measuring, after which caches absorb nothing more.
    pub ramp_ns: u64,
    /// Measured.
    pub duration_ns: u64,
    /// What a pilot found; `None` if nothing absorbs this load.
    pub sustained: Option<SustainedRecord>,
}

impl CellTime {
    /// Long enough for both: the same cell at another level of an experiment. Unsustained at
    /// either level is unsustained for both.
    #[must_use]
    pub fn and(self, other: CellTime) -> CellTime {
        let is_reached = |time: &CellTime| time.sustained.is_none_or(|found| found.is_reached());
        CellTime {
            ramp_ns: self.ramp_ns.max(other.ramp_ns),
            duration_ns: self.duration_ns.max(other.duration_ns),
            sustained: match (is_reached(&self), is_reached(&other)) {
                (true, false) => other.sustained,
                _ => self.sustained.or(other.sustained),
            },
        }
    }
}

/// Ramp and duration of each cell.
///
/// # Errors
/// If a cell does not fit the target.
pub fn durations(
    context: &Context,
    targets: &[OpenTarget],
    options: &RunOptions,
    looks: &[DurationRequest],
) -> Outcome<Vec<CellTime>> {
    let array = targets.iter().find_map(OpenTarget::simulated);
    let cells = looks
        .iter()
        .map(|look| {
            let job = PlacedJob::new(&look.name, looked_at(&look.workload));
            let piloted = array.filter(|_| look.is_sustained);
            let pilot = piloted.and_then(|array| pilot_of(array, &job));
            let options = RunOptions {
                request: Request {
                    interval_ns: LOOK_NS,
                    simulated_operations_min: OPERATIONS_LOOK,
                    ..options.request.clone()
                },
                series: None,
                ..options.clone()
            };
            let cell = SimulatedCell::prepare(context, targets, &[job], &options)?;
            Ok((cell, pilot))
        })
        .collect::<Outcome<Vec<_>>>()?;
    let mut times = Vec::with_capacity(looks.len());
    let look = |index: usize, stop: &AtomicU8| {
        let (cell, pilot) = &cells[index];
        match pilot {
            Some(pilot) => {
                let mut arrays = living_arrays(cell.opened);
                piloted(cell, pilot.clone(), &mut arrays, stop).map(RateEstimate::Piloted)
            }
            None => {
                let operations = looks[index].operations;
                let seen = look_at(cell, stop)?;
                match operations {
                    None => long_enough(cell, seen, stop).map(RateEstimate::Length),
                    Some(_) => Ok(RateEstimate::Rate(seen)),
                }
            }
        }
    };
    on_all_cores(context, cells.len(), &look, &mut |seen| {
        let operations = looks[times.len()].operations;
        let operations = operations.map_or(OPERATIONS, |count| count as f64);
        times.push(cell_time(seen?, operations));
        Ok(())
    })?;
    Ok(times)
}

/// The workload of a probe.
fn looked_at(workload: &Workload) -> Workload {
    Workload {
        duration_ns: LOOK_NS,
        ramp_ns: 0,
        ..workload.clone()
    }
}

enum RateEstimate {
    Rate(f64),
    Length(u64),
    Piloted(SustainedRecord),
}

fn look_at(cell: &SimulatedCell<'_>, stop: &AtomicU8) -> Result<f64, Error> {
    let mut arrays = living_arrays(cell.opened);
    let record = arrays.run(&cell.jobs, &cell.settings, &mut NoListener, stop)?;
    Ok(record.jobs.first().map_or(0.0, |job| job.outcome.iops))
}

/// How long a run must be for a steady mean, at this rate and given the scatter of its own runs.
fn long_enough(cell: &SimulatedCell<'_>, iops: f64, stop: &AtomicU8) -> Result<u64, Error> {
    let least_ns = duration_ns(OPERATIONS, iops);
    let [job] = &cell.jobs[..] else {
        return Ok(least_ns);
    };
    if matches!(job.workload.pattern, Pattern::Random { .. }) {
        return Ok(least_ns);
    }
    let least_s = least_ns as f64 / 1e9;
    let mut pilot = CellPilot::new(least_s, SCATTER, LONGER_MAX * least_s);
    let mut number = 0;
    while let CellStep::Run { seconds } = pilot.next() {
        // A float-to-integer cast saturates.
        let length_ns = (seconds * 1e9) as u64;
        let workload = Workload {
            ramp_ns: length_ns / 20,
            duration_ns: length_ns,
            seed: derived_seed(job.workload.seed, SEED + number),
            ..job.workload.clone()
        };
        let rate = rate_of(cell, job, workload, stop)?;
        if rate <= 0.0 {
            // It was stopped, or completed nothing.
            return Ok(least_ns);
        }
        pilot.completed(rate);
        number += 1;
    }
    let CellStep::Done { seconds } = pilot.next() else {
        return Ok(least_ns);
    };
    Ok(rounded_ns((seconds * 1e9) as u64).min(DURATION_NS_MAX))
}

/// The rate of one run on an array with rotational phases of its own.
fn rate_of(
    cell: &SimulatedCell<'_>,
    job: &Job<'_>,
    workload: Workload,
    stop: &AtomicU8,
) -> Result<f64, Error> {
    let arrays = cell.opened.iter().filter_map(OpenTarget::simulated);
    let met = arrays.map(|array| OpenTarget::Simulated(Box::new(array.met(workload.seed, 0))));
    let met: Vec<OpenTarget> = met.collect();
    let settings = Settings {
        interval_ns: workload.duration_ns.min(INTERVAL_NS_MAX),
        operations_min: 0,
        ..cell.settings.clone()
    };
    let jobs = [Job {
        name: job.name.clone(),
        places: job.places.clone(),
        recorded: None,
        workload,
    }];
    let mut arrays = living_arrays(&met);
    let record = arrays.run(&jobs, &settings, &mut NoListener, stop)?;
    let whole = record
        .jobs
        .first()
        .filter(|_| record.status == Status::Complete);
    Ok(whole.map_or(0.0, |job| job.outcome.iops))
}

fn cell_time(seen: RateEstimate, operations: f64) -> CellTime {
    let unpiloted = |duration_ns: u64| CellTime {
        ramp_ns: duration_ns / 20,
        duration_ns,
        sustained: None,
    };
    match seen {
        RateEstimate::Rate(iops) => unpiloted(duration_ns(operations, iops)),
        RateEstimate::Length(duration_ns) => unpiloted(duration_ns),
        RateEstimate::Piloted(found) => {
            let duration_ns = duration_ns(operations, found.iops.unwrap_or(0.0));
            CellTime {
                ramp_ns: rounded_ns(behind_ns(&found) + duration_ns / 20),
                duration_ns,
                sustained: Some(found),
            }
        }
    }
}

/// Rounded up to 1, 2 or 5 times a power of ten: equal for arrays that are nearly alike.
fn duration_ns(operations: f64, iops: f64) -> u64 {
    let wanted_ns = if iops > 0.0 {
        // A float-to-integer cast saturates.
        (operations / iops * 1e9) as u64
    } else {
        DURATION_NS_MAX
    };
    rounded_ns(wanted_ns.clamp(DURATION_NS_MIN, DURATION_NS_MAX)).min(DURATION_NS_MAX)
}

fn rounded_ns(wanted_ns: u64) -> u64 {
    let mut unit_ns = 1;
    while unit_ns * 10 <= wanted_ns {
        unit_ns *= 10;
    }
    let rounded = [1, 2, 3, 5, 7, 10]
        .into_iter()
        .map(|steps| steps * unit_ns)
        .find(|rounded| *rounded >= wanted_ns);
    rounded.unwrap_or(wanted_ns)
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
