//! What an experiment over layouts takes of a run, how its runs are made, and why its
//! passes end.

use super::kept::KeptLayouts;
use crate::failure::Failure;
use crate::steps::measure::RunOptions;
use crate::steps::targets::TargetRequirements;
use stripewise_io_engine::EngineName;
use stripewise_lab::layouts::{CellValue, LayoutCell};
use stripewise_results::{ExperimentPlace, JobRow, RunRecord, Status};
use stripewise_targets::{Manner, Size};
use stripewise_workload::{Request, Workload};

const INTERVALS: u64 = 10;

/// Why no further pass is made.
pub enum Halt {
    /// A signal came; what was measured is kept.
    Interrupted,
    /// It could not be made or kept.
    Failed(Failure),
}

/// How a run is made: its place in the experiment (pass, and position in it), and what it
/// measures (layout, and cell).
#[must_use]
pub fn run_options(
    kept: &KeptLayouts,
    base: RunOptions,
    (pass, position): (u32, usize),
    (layout, cell): (usize, usize),
) -> RunOptions {
    let plan = &kept.plan;
    let duration_ns = plan.cells[cell].workload.duration_ns;
    let request = Request {
        interval_ns: (duration_ns / INTERVALS).clamp(1_000_000, 10_000_000_000),
        label: kept.label.clone(),
        ..base.request
    };
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    RunOptions {
        series: Some((kept.id.clone(), kept.part.clone())),
        experiment: Some(ExperimentPlace {
            experiment: kept.id.clone(),
            block: pass,
            position: number(position),
            level: plan.set.words(layout),
            cell: number(cell),
        }),
        request,
        ..base
    }
}

/// What an experiment takes of a run; none where it was cut short or has no rate.
#[must_use]
pub fn value_of(record: &RunRecord) -> Option<CellValue> {
    let job = record.jobs.first()?;
    let row = JobRow { run: record, job };
    let iops = row.iops().filter(|iops| iops.is_finite() && *iops > 0.0)?;
    (record.status == Status::Complete).then_some(CellValue {
        iops,
        latency_ns_p99: row.latency("p99").filter(|ns| *ns > 0.0),
    })
}

/// The mean of runs of one making: they are no replicates. None where there are none.
#[must_use]
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

/// What all cells together ask of a target, of the usual size.
#[must_use]
pub fn requirements_of(cells: &[LayoutCell], seed: u64) -> TargetRequirements {
    let workloads = || cells.iter().map(|cell| &cell.workload);
    let first = workloads().next().cloned().unwrap_or_default();
    TargetRequirements {
        reads: workloads().any(|one| one.read_percent > 0),
        writes: workloads().any(|one| one.read_percent < 100),
        size: Size::Auto,
        outstanding_total: workloads()
            .map(|one| one.threads.saturating_mul(one.outstanding))
            .max()
            .unwrap_or(1),
        // The profile or the plan says how much is in flight.
        outstanding_by_number: true,
        cache: first.cache,
        cache_by_name: workloads().any(|one| one.cache != Workload::default().cache),
        // Layouts take the best engine that there is.
        engine: EngineName::Auto,
        loads: Manner::asking(workloads()),
        data: first.data,
        seed,
        fill_time_limit_ns: None,
        filled_by_caller: false,
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
