//! Results of pilots on the cells of an experiment: a second number with each answer,
//! and no answer if only a cache was measured.

use serde::{Deserialize, Serialize};
use stripewise_results::{ComparisonRecord, SustainedRecord, Verdict};
use stripewise_runner::trust::Code;

/// What a pilot found of a cell at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellSustained {
    /// Name of the cell.
    pub cell: String,
    /// Name of the level, or the levels of a layout in words.
    pub level: String,
    /// What was found.
    #[serde(flatten)]
    pub found: SustainedRecord,
}

/// A sentence for each cell, from the first level that was piloted: how much a cache absorbs.
pub fn absorbed_notes(all: &[CellSustained]) -> Vec<String> {
    let firsts = all.iter().enumerate().filter(|(index, one)| {
        let mut earlier = all[..*index].iter();
        !earlier.any(|other| other.cell == one.cell)
    });
    let notes = firsts.filter_map(|(_, one)| {
        let absorbed = one.found.absorbed_words(false, false)?;
        Some(format!(
            "{} at {}: {absorbed}; runs measure what lasts behind that.",
            one.cell, one.level
        ))
    });
    notes.collect()
}

/// Cells without a sustained rate, each with the reason.
pub fn not_sustained(all: &[CellSustained]) -> Vec<(&str, String)> {
    let mut cells: Vec<(&str, String)> = Vec::new();
    for one in all {
        if let Some(why) = one.found.not_reached_words(false)
            && !cells.iter().any(|(cell, _)| *cell == one.cell)
        {
            cells.push((&one.cell, why));
        }
    }
    cells
}

/// Adds notes on absorption, and withdraws the verdicts of cells that are not sustained;
/// the rows of a table are the cells, in order.
pub fn apply(all: &[CellSustained], cells: &[&str], comparison: &mut ComparisonRecord) {
    comparison.notes.extend(absorbed_notes(all));
    let missing = not_sustained(all);
    if missing.is_empty() {
        return;
    }
    for (row, cell) in comparison.rows.iter_mut().zip(cells) {
        if missing.iter().any(|(name, _)| name == cell) {
            row.verdict = Verdict::Undecided;
            // Its numbers are those of a cache: "may be chance" would be wrong.
            let code = Code::NotSustained.as_str();
            if !row.void.iter().any(|known| known == code) {
                row.void.push(code.to_owned());
            }
        }
    }
    let reasons = missing.iter().map(|(cell, why)| format!("{cell}: {why}"));
    let reasons: Vec<String> = reasons.collect();
    comparison.verdict = Verdict::over_all(comparison.rows.iter().map(|row| row.verdict));
    comparison.sentences = vec![format!(
        "No verdict about writes: a cache was measured, not what lasts. {}.",
        reasons.join("; ")
    )];
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{ComparisonRow, SideRecord, SustainedClaim};

    fn cell(cell: &str, level: &str, claim: SustainedClaim, absorbed: bool) -> CellSustained {
        CellSustained {
            cell: cell.to_owned(),
            level: level.to_owned(),
            found: SustainedRecord {
                claim,
                absorbed_bytes: absorbed.then_some(64 << 20),
                absorbed_iops: absorbed.then_some(20_000.0),
                absorbed_mib_per_s: absorbed.then_some(156.25),
                iops: Some(300.0),
                from_bytes: 0,
                from_ns: 0,
                written_bytes: 1 << 30,
                duration_ns: 60_000_000_000,
                needed_ns: None,
                needed_bytes: None,
            },
        }
    }

    #[test]
    fn each_cell_is_noted_once_and_what_does_not_last_is_named() {
        let all = [
            cell("a", "63s", SustainedClaim::Sustained, true),
            cell("a", "1M", SustainedClaim::Sustained, true),
            cell("b", "63s", SustainedClaim::Sustained, false),
            cell("b", "1M", SustainedClaim::CacheAbsorbs, false),
        ];
        assert_eq!(
            absorbed_notes(&all),
            [
                "a at 63s: 20,000 IOPS until 64 MiB are written; runs measure what lasts behind \
              that."
            ]
        );
        let missing = not_sustained(&all);
        assert_eq!(missing.len(), 1);
        assert_eq!(missing[0].0, "b");
    }

    #[test]
    fn rates_of_a_cache_are_void_and_not_chance() {
        let row = ComparisonRow {
            operation: "write".to_owned(),
            pattern: "random".to_owned(),
            block_size_bytes: None,
            threads: None,
            outstanding: None,
            metric: "iops".to_owned(),
            a: 100.0,
            b: 150.0,
            difference_percent: 50.0,
            bounds_percent: None,
            estimate_percent: Some(50.0),
            interval_percent: Some([49.0, 51.0]),
            level: None,
            p_value: Some(0.002),
            blocks: 10,
            verdict: Verdict::Better,
            difference_percent_max: None,
            published_difference_percent: None,
            void: Vec::new(),
            sentence: None,
            answers: None,
        };
        let mut comparison = ComparisonRecord {
            title: "partition offset".to_owned(),
            a: SideRecord::default(),
            b: SideRecord::default(),
            level: 0.95,
            rows: vec![row.clone(), row],
            groups: Vec::new(),
            verdict: Verdict::Better,
            sentences: Vec::new(),
            notes: Vec::new(),
            drift: None,
        };
        let all = [
            cell("a", "63s", SustainedClaim::Sustained, true),
            cell("b", "63s", SustainedClaim::CacheAbsorbs, false),
        ];
        apply(&all, &["a", "b"], &mut comparison);
        let verdicts = comparison.rows.iter().map(|row| row.verdict);
        assert!(verdicts.eq([Verdict::Better, Verdict::Undecided]));
        assert!(comparison.rows[0].void.is_empty());
        assert_eq!(comparison.rows[1].void, ["not-sustained"]);
        assert_eq!(comparison.rows[1].undecided_because(), None);
        assert!(comparison.sentences[0].starts_with("No verdict about writes"));
    }
}
