//! The tables of an experiment: rows, verdicts and sentences per level.

use super::blocks::Block;
use super::cause::LayoutFacts;
use super::conduct::Experiment;
use super::drift::drift_of;
use super::plan::ExperimentPlan;
use super::rows::{Row, rows_of, stopping_level};
use super::sentence;
use stripewise_results::{ComparisonGroup, ComparisonRecord, ComparisonRow, SideRecord, Verdict};
use stripewise_stats::{Comparison, Pair, difference_percent, holm, median};
use stripewise_units::counted;

/// The tables of an experiment, one per level except the baseline, in plan
/// order. The same experiment always gives the same tables.
pub fn analyse(experiment: &Experiment, facts: &LayoutFacts) -> Vec<ComparisonRecord> {
    let mut records = analyse_blocks(&experiment.plan, &experiment.blocks, facts);
    if let Some(ended) = experiment.ended {
        let note = format!(
            "{}; it ended because {}.",
            counted(experiment.blocks.len(), "block", "blocks"),
            ended.words()
        );
        for record in &mut records {
            record.notes.insert(0, note.clone());
        }
    }
    records
}

/// As [`analyse`], from blocks alone.
pub fn analyse_blocks(
    plan: &ExperimentPlan,
    blocks: &[Block],
    facts: &LayoutFacts,
) -> Vec<ComparisonRecord> {
    let rows = rows_of(plan, blocks);
    let verdicts = verdicts(plan, &rows);
    let drift = drift_of(plan, blocks);
    let judged: Vec<(Row, Verdict)> = rows.into_iter().zip(verdicts).collect();
    let mut records = Vec::new();
    for level in (0..plan.levels.len()).filter(|&level| level != plan.baseline) {
        let of_level: Vec<&(Row, Verdict)> = judged
            .iter()
            .filter(|(row, _)| row.level == level)
            .collect();
        let rows: Vec<ComparisonRow> = of_level
            .iter()
            .map(|(row, verdict)| record_row(plan, row, *verdict))
            .collect();
        let mut record = ComparisonRecord {
            title: plan.name.clone(),
            a: side(plan, blocks, plan.baseline),
            b: side(plan, blocks, level),
            level: plan.level,
            groups: ComparisonGroup::of_rows(&rows),
            verdict: Verdict::over_all(rows.iter().map(|row| row.verdict)),
            rows,
            sentences: Vec::new(),
            notes: Vec::new(),
            drift,
        };
        sentence::write(plan, &judged, level, facts, &mut record);
        records.push(record);
    }
    records
}

fn is_narrow(comparison: &Comparison) -> bool {
    let interval = comparison.interval_percent;
    interval.is_some_and(|interval| sentence::specifies_anything([interval.low, interval.high]))
}

/// Verdicts of all rows at once: Holm over every row of the experiment, so that
/// the odds of any false finding among them stay below 1 - level.
fn verdicts(plan: &ExperimentPlan, rows: &[Row]) -> Vec<Verdict> {
    let error = 1.0 - stopping_level(plan.level);
    let p_values: Vec<f64> = rows
        .iter()
        .map(|row| row.comparison.map_or(1.0, |comparison| comparison.p_value))
        .collect();
    let adjusted = holm(&p_values);
    rows.iter()
        .zip(adjusted)
        .map(|(row, p_value)| {
            let Some(comparison) = row.comparison else {
                return Verdict::Undecided;
            };
            let blocks = u32::try_from(comparison.blocks).unwrap_or(u32::MAX);
            let needed = super::needs::blocks_for_verdict(rows.len(), plan.level);
            if p_value <= error {
                let more = comparison.difference_percent > 0.0;
                if more == plan.metric.more_is_better() {
                    Verdict::Better
                } else {
                    Verdict::Worse
                }
            } else if is_narrow(&comparison) && blocks >= needed {
                Verdict::NoDifference
            } else {
                Verdict::Undecided
            }
        })
        .collect()
}

fn side(plan: &ExperimentPlan, blocks: &[Block], level: usize) -> SideRecord {
    SideRecord {
        name: plan.levels[level].name.clone(),
        from: blocks
            .iter()
            .flat_map(|block| &block.runs)
            .filter(|run| run.level == level)
            .map(|run| run.run.clone())
            .collect(),
    }
}

fn record_row(plan: &ExperimentPlan, row: &Row, verdict: Verdict) -> ComparisonRow {
    let workload = plan.levels[row.level].apply(&plan.cells[row.cell].workload, 0);
    let reference = plan.levels[plan.baseline].apply(&plan.cells[row.cell].workload, 0);
    let middle = |of: fn(&Pair) -> f64| {
        let values: Vec<f64> = row.pairs.iter().map(of).collect();
        median(&values).unwrap_or(0.0)
    };
    let (a, b) = (middle(|pair| pair.a), middle(|pair| pair.b));
    let comparison = row.comparison.as_ref();
    let both = |mine: u32, other: u32| (mine == other).then_some(mine);
    let block_size_bytes = workload.block_size_bytes;
    ComparisonRow {
        operation: workload.operation_name(),
        pattern: workload.pattern.name().to_owned(),
        block_size_bytes: (block_size_bytes == reference.block_size_bytes)
            .then_some(block_size_bytes),
        threads: both(workload.threads, reference.threads),
        outstanding: both(workload.outstanding, reference.outstanding),
        metric: plan.metric.name().to_owned(),
        a,
        b,
        difference_percent: difference_percent(a, b).unwrap_or(0.0),
        estimate_percent: comparison.map(|comparison| comparison.difference_percent),
        interval_percent: comparison
            .and_then(|comparison| comparison.interval_percent)
            .map(|interval| [interval.low, interval.high]),
        p_value: comparison.map(|comparison| comparison.p_value),
        blocks: u32::try_from(row.pairs.len()).unwrap_or(u32::MAX),
        verdict,
        difference_percent_max: comparison.and_then(Comparison::difference_percent_max),
        ..ComparisonRow::default()
    }
}
