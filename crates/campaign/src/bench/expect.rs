//! The bench of the simulated array that a disk is held to.

use super::{BenchOptions, bench, planned};
use crate::steps::documents;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::judge_requirements;
use stripewise_io_engine::EngineName;
use stripewise_results::Document;
use stripewise_store::Store;

/// The same bench on the array `name`, stored like any other; it takes negligible real
/// time. If it is not completed, nothing is to be measured on the disk.
///
/// # Errors
/// If it is not completed.
pub fn expected(
    context: &Context,
    store: &mut Store,
    name: &str,
    options: &BenchOptions,
    permissions: &Permissions,
) -> Outcome<Document> {
    // Refuse invalid options before the array is simulated.
    let need = super::need(options, false);
    judge_requirements(context, store, &options.target, &need, permissions)?;
    let of_array = Needs {
        engine: EngineName::Auto,
        ..need
    };
    judge_requirements(context, store, name, &of_array, permissions)?;
    context.status(format_args!(
        "First the same bench on {name}, for comparison"
    ));
    let options = BenchOptions {
        target: name.to_owned(),
        size_bytes: None,
        // The array takes no real time, and a bench stopped early sets no standard.
        time_ns: None,
        require: Vec::new(),
        engine: EngineName::Auto,
        group: None,
        label: Some(format!("expected of {}", options.target)),
        ..options.clone()
    };
    let plan = planned(&options)?;
    let benched = bench(context, store, &options, plan, permissions)?;
    benched.ended?;
    Ok(documents::document(benched.records))
}
