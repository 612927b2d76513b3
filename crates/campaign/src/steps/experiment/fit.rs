//! The combined requirements of an experiment's workloads on its target.

use stripewise_conductor::failure::Outcome;
use stripewise_conductor::needs::Needs;
use stripewise_conductor::targets::OpenTarget;
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_targets::Size;
use stripewise_workload::{Workload, validate};

/// Time limit for filling a test file, unless its size is given.
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
pub fn block_bytes_max(plan: &ExperimentPlan) -> u64 {
    let blocks = workloads(plan).map(|workload| workload.block_size_bytes);
    blocks.max().unwrap_or(BLOCK_UNASKED)
}

/// The requirements on the target; `load_given`: the operations in flight were given
/// explicitly.
pub fn requirements(plan: &ExperimentPlan, load_given: bool, engine: EngineName) -> Needs {
    let loads: Vec<Workload> = workloads(plan).collect();
    let of_loads = Needs::of_loads(&loads);
    Needs {
        outstanding_by_number: load_given,
        cache_by_name: (loads.iter()).any(|workload| workload.cache != Workload::default().cache),
        engine,
        seed: plan.seed,
        fill_time_limit_ns: (of_loads.size == Size::Auto).then_some(FILL_NS),
        ..of_loads
    }
}

/// Checks that every workload fits the target before the first one runs.
///
/// # Errors
/// If one does not; for the first of them.
pub fn check_fit(plan: &ExperimentPlan, opened: &OpenTarget) -> Outcome<()> {
    for workload in workloads(plan) {
        validate(&workload, opened.limits())?;
    }
    Ok(())
}
