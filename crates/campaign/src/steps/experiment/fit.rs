//! What all workloads of an experiment together ask of its target.

use crate::failure::Outcome;
use crate::steps::measure::workload_failure;
use crate::steps::targets::{OpenTarget, TargetRequirements};
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_targets::{Manner, Size};
use stripewise_workload::{Workload, validate};

/// Filling a test file takes at most this, unless its size is asked for.
pub const FILL_NS: u64 = 25_000_000_000;
const BLOCK_UNASKED: u64 = 8 << 10;

/// All workloads of a plan.
fn workloads(plan: &ExperimentPlan) -> impl Iterator<Item = Workload> + '_ {
    let of_level = |level: &'_ Level| -> Vec<Workload> {
        let cells = plan.cells.iter();
        cells
            .map(|cell| level.apply(&cell.workload, plan.seed))
            .collect()
    };
    plan.levels.iter().flat_map(of_level)
}

/// The largest block of an operation.
#[must_use]
pub fn block_bytes_max(plan: &ExperimentPlan) -> u64 {
    let blocks = workloads(plan).map(|workload| workload.block_size_bytes);
    blocks.max().unwrap_or(BLOCK_UNASKED)
}

/// What the target must allow; `load_given`: so many operations in flight were asked for
/// by number.
#[must_use]
pub fn requirements(
    plan: &ExperimentPlan,
    load_given: bool,
    engine: EngineName,
) -> TargetRequirements {
    let first = workloads(plan).next().unwrap_or_default();
    let span = workloads(plan)
        .filter_map(|workload| {
            let size = workload.size_bytes?;
            Some(size.saturating_add(workload.base_offset_bytes))
        })
        .max();
    TargetRequirements {
        reads: workloads(plan).any(|workload| workload.read_percent > 0),
        writes: workloads(plan).any(|workload| workload.read_percent < 100),
        size: span.map_or(Size::Auto, Size::Exactly),
        outstanding_total: workloads(plan)
            .map(|workload| workload.threads.saturating_mul(workload.outstanding))
            .max()
            .unwrap_or(1),
        outstanding_by_number: load_given,
        cache: first.cache,
        cache_by_name: workloads(plan).any(|workload| workload.cache != Workload::default().cache),
        engine,
        loads: Manner::asking(&workloads(plan).collect::<Vec<_>>()),
        data: first.data,
        seed: plan.seed,
        fill_time_limit_ns: span.is_none().then_some(FILL_NS),
        filled_by_caller: false,
    }
}

/// Every workload fits the target, before the first one runs.
///
/// # Errors
/// Of the first that does not.
pub fn check_fit(plan: &ExperimentPlan, aimed: &OpenTarget) -> Outcome<()> {
    for workload in workloads(plan) {
        validate(&workload, aimed.limits()).map_err(workload_failure)?;
    }
    Ok(())
}
