//! What an experiment over layouts needs of a run, and options of its runs.

use super::stored_layouts::StoredLayouts;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::RunOptions;
use stripewise_conductor::needs::Needs;
use stripewise_lab::layouts::{CellValue, LayoutCell};
use stripewise_results::{ExperimentPlace, JobRow, RunRecord, Status};
use stripewise_runner::drive::{INTERVAL_NS_MAX, INTERVAL_NS_MIN};
use stripewise_targets::Size;
use stripewise_workload::{Request, Workload, WorkloadOptions};

const INTERVALS: u64 = 10;

/// Options of a run: its place in the experiment (pass, and position in it), and what it
/// measures (layout and cell).
pub fn run_options(
    stored: &StoredLayouts,
    base: RunOptions,
    (pass, position): (u32, usize),
    (layout, cell): (usize, usize),
) -> RunOptions {
    let plan = &stored.plan;
    let duration_ns = plan.cells[cell].workload.duration_ns;
    let request = Request {
        interval_ns: (duration_ns / INTERVALS).clamp(INTERVAL_NS_MIN, INTERVAL_NS_MAX),
        label: stored.label.clone(),
        ..base.request
    };
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    RunOptions {
        series: Some((stored.id.clone(), stored.part.clone())),
        experiment: Some(ExperimentPlace {
            experiment: stored.id.clone(),
            block: pass,
            position: number(position),
            level: plan.set.words(layout),
            cell: number(cell),
        }),
        request,
        ..base
    }
}

/// The values of a run; `None` if it was interrupted or has no rate.
pub fn value_of(record: &RunRecord) -> Option<CellValue> {
    let job = record.jobs.first()?;
    let row = JobRow { run: record, job };
    let iops = row.iops().filter(|iops| iops.is_finite() && *iops > 0.0)?;
    (record.status == Status::Complete).then_some(CellValue {
        iops,
        latency_ns_p99: row.latency("p99").filter(|ns| *ns > 0.0),
    })
}

/// The mean of runs of one making, which are not replicates. `None` if there are none.
pub fn mean_of(values: &[CellValue]) -> Option<CellValue> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let p99s: Option<Vec<f64>> = values.iter().map(|value| value.latency_ns_p99).collect();
    Some(CellValue {
        iops: values.iter().map(|value| value.iops).sum::<f64>() / count,
        latency_ns_p99: p99s.map(|all| all.iter().sum::<f64>() / count),
    })
}

/// A workload with the options that a layout sets.
pub fn with_options(options: &[(String, String)], given: &Workload) -> Outcome<Workload> {
    let mut set = WorkloadOptions::default();
    for (option, text) in options {
        set.set(option, text)?;
    }
    set.build(given).map_err(Failure::from)
}

/// The combined requirements of all cells on a target of the default size.
pub fn requirements_of(cells: &[LayoutCell], seed: u64) -> Needs {
    let workloads = || cells.iter().map(|cell| &cell.workload);
    Needs {
        size: Size::Auto,
        // The profile or the plan defines the number in flight.
        outstanding_by_number: true,
        cache_by_name: workloads().any(|one| one.cache != Workload::default().cache),
        seed,
        ..Needs::of_loads(workloads())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_making_are_averaged_and_a_missing_latency_stays_missing() {
        let value = |iops: f64, p99: Option<f64>| CellValue {
            iops,
            latency_ns_p99: p99,
        };
        assert_eq!(mean_of(&[]), None);
        assert_eq!(
            mean_of(&[value(100.0, Some(4.0)), value(200.0, Some(8.0))]),
            Some(value(150.0, Some(6.0)))
        );
        let partly = mean_of(&[value(100.0, Some(4.0)), value(200.0, None)]);
        assert_eq!(partly, Some(value(150.0, None)));
    }
}
