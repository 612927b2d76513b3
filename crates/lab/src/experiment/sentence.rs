//! What an experiment says to people.

use super::analysis::Row;
use super::cause::LayoutFacts;
use super::plan::ExperimentPlan;
use stripewise_results::{ComparisonRecord, Verdict};

/// Writes sentences and notes of one table.
pub(super) fn write(
    _plan: &ExperimentPlan,
    _judged: &[(Row, Verdict)],
    _level: usize,
    _facts: &LayoutFacts,
    record: &mut ComparisonRecord,
) {
    record.sentences = Vec::new();
}
