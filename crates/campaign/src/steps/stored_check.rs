//! The result of a check as stored with its runs: shown again by `history` and
//! `report`, which could not derive it from the runs alone.

use super::baselines::NAME_USUAL;
use super::pages::material_of;
use super::resumable_answer::json_of_series;
use serde::{Deserialize, Serialize};
use stripewise_conductor::failure::Outcome;
use stripewise_report::{
    Material, Sheet, checked_sheet, comparison_line, comparison_sheet, failed_lines, one_line,
    requirement_line, sheet_line,
};
use stripewise_results::{
    ComparisonRecord, ComparisonRow, Document, RequirementRecord, RequirementVerdict, RunRecord,
    Verdict,
};
use stripewise_store::Store;

/// Kind of its documents, stored under the series of its runs.
pub const KIND: &str = "check";

/// The result of a check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoredCheck {
    /// Name of the baseline; `None` if only requirements were judged.
    pub baseline: Option<String>,
    /// The table of changes; empty without a baseline.
    pub comparisons: Vec<ComparisonRecord>,
    /// Requirements met and missed.
    pub requirements: Vec<RequirementRecord>,
    /// Further remarks, as sentences.
    #[serde(rename = "said")]
    pub sentences: Vec<String>,
    /// It is worse, but the loss may be within the tolerance.
    #[serde(default)]
    pub tolerated: bool,
    /// A loss up to this many per cent is tolerated; absent in what older versions stored.
    #[serde(default)]
    pub tolerate_percent: Option<f64>,
}

/// The row is certainly worse by more than this many per cent: the end of its interval nearer
/// to 0 is beyond it.
pub(crate) fn is_loss_above(row: &ComparisonRow, percent: f64) -> bool {
    let loss = row.interval_percent;
    let loss = loss.map_or(0.0, |[low, high]| low.abs().min(high.abs()));
    row.verdict == Verdict::Worse && loss > percent
}

/// How much may have been lost, and then why it cannot be told.
fn undecided_words(comparison: &ComparisonRecord) -> String {
    let rows = comparison_line(std::slice::from_ref(comparison), |row| {
        let is_void = !row.void.is_empty();
        row.verdict == Verdict::Undecided && row.interval_percent.is_some() && !is_void
    });
    let why = one_line(&comparison.sentences.join(" "));
    let mut parts = vec![rows, why];
    parts.retain(|part| !part.is_empty());
    format!("UNDECIDED: {}", parts.join("; "))
}

impl StoredCheck {
    /// The check whose runs are this series. `None` if there is none, or an unreadable
    /// one: the runs are shown anyway.
    pub fn find(store: &Store, series: &str) -> Outcome<Option<StoredCheck>> {
        let json = json_of_series(store, KIND, series)?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// The answer, then cautions.
    pub fn sheet(&self, runs: &[RunRecord], explain: bool) -> Sheet {
        let mut sheet = checked_sheet(&self.comparisons, &self.requirements, runs, explain);
        sheet.details.extend(self.sentences.iter().cloned());
        sheet.details.extend(failed_lines(runs));
        sheet
    }

    /// The answer in a line: everything worse, undecided or missed; without such what changed.
    pub fn line(&self, runs: &[RunRecord]) -> String {
        let worse = comparison_line(&self.comparisons, |row| self.is_loss(row));
        let worse = (!worse.is_empty()).then(|| format!("WORSE: {worse}"));
        let undecided = self.comparisons.iter();
        let undecided = undecided.filter(|one| one.verdict == Verdict::Undecided);
        let unmet = self.requirements.iter().filter(|one| !one.met);
        let mut parts: Vec<String> = worse.into_iter().collect();
        parts.extend(undecided.map(undecided_words));
        parts.extend(unmet.map(|one| one_line(&requirement_line(one))));
        if !parts.is_empty() {
            return parts.join("; ");
        }
        if !self.tolerated {
            return sheet_line(&self.sheet(runs, false));
        }
        // It is not called worse; the first sentence says that it is tolerated.
        let mut sheet = comparison_sheet(&self.comparisons, runs, false);
        sheet.verdict = None;
        parts.push(std::mem::take(&mut sheet.answer));
        let first = (self.comparisons.iter()).filter_map(|one| one.sentences.first());
        parts.extend(first.map(|text| text.trim_end_matches('.').to_owned()));
        parts.retain(|part| !part.is_empty());
        sheet.answer = one_line(&parts.join("; "));
        sheet_line(&sheet)
    }

    /// The row is certainly worse by more than is tolerated.
    fn is_loss(&self, row: &ComparisonRow) -> bool {
        match self.tolerate_percent {
            Some(percent) => is_loss_above(row, percent),
            None => row.verdict == Verdict::Worse && !self.tolerated,
        }
    }

    /// The input for a report on it: the runs, the comparison with the baseline, and the verdicts
    /// on requirements.
    pub fn material(&self, store: Option<&Store>, runs: Vec<RunRecord>) -> Material {
        let document = Document {
            comparisons: self.comparisons.clone(),
            requirements: self.requirements.clone(),
            ..Document::new(runs)
        };
        let mut material = material_of(store, document);
        material.title = match &self.baseline {
            Some(name) if name == NAME_USUAL => "Check against the baseline".to_owned(),
            Some(name) => format!("Check against the baseline {name}"),
            None => format!("Check: {}", material.title),
        };
        material.notes.clone_from(&self.sentences);
        material
    }

    /// The verdict in a word, for lists: the worse one of the requirements and the comparison.
    pub fn word(&self) -> &'static str {
        let verdict = self.comparisons.first().map(|one| one.verdict);
        let is_lower = !self.tolerated && matches!(verdict, Some(Verdict::Worse | Verdict::Mixed));
        match RequirementVerdict::of_all(&self.requirements) {
            None | Some(RequirementVerdict::Met) => {}
            Some(RequirementVerdict::Undecided) if is_lower => {}
            Some(unmet) => return unmet.word(),
        }
        match verdict {
            Some(Verdict::Better) => "better",
            Some(Verdict::Worse) if self.tolerated => "tolerated",
            Some(Verdict::Worse) => "worse",
            Some(Verdict::Mixed) => "mixed",
            Some(Verdict::NoDifference) => "no change",
            Some(Verdict::Undecided) => "undecided",
            None if self.requirements.is_empty() => "",
            None => "met",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::SideRecord;

    #[test]
    fn a_loss_that_was_tolerated_is_not_called_worse_of_older_checks_either() {
        let old = r#"{"baseline":null,"comparisons":[],"requirements":[],"said":[]}"#;
        let old: StoredCheck = serde_json::from_str(old).expect("a check");
        assert_eq!((old.tolerated, old.tolerate_percent), (false, None));
        let row = ComparisonRow {
            verdict: Verdict::Worse,
            interval_percent: Some([-12.0, -8.0]),
            ..ComparisonRow::default()
        };
        for (tolerated, tolerate_percent, is_loss) in [
            (false, Some(5.0), true),
            (true, Some(8.0), false),
            (false, None, true),
            (true, None, false),
        ] {
            let check = StoredCheck {
                tolerated,
                tolerate_percent,
                ..StoredCheck::default()
            };
            assert_eq!(check.is_loss(&row), is_loss, "{check:?}");
        }
    }

    #[test]
    fn a_list_has_the_worse_of_a_comparison_and_of_what_was_required() {
        let word = |verdict, met, undecided| {
            let check = StoredCheck {
                comparisons: vec![ComparisonRecord {
                    title: String::new(),
                    a: SideRecord::default(),
                    b: SideRecord::default(),
                    level: 0.95,
                    rows: Vec::new(),
                    groups: Vec::new(),
                    verdict,
                    sentences: Vec::new(),
                    notes: Vec::new(),
                    drift: None,
                }],
                requirements: vec![RequirementRecord {
                    met,
                    undecided,
                    ..RequirementRecord::default()
                }],
                ..StoredCheck::default()
            };
            check.word()
        };
        assert_eq!(word(Verdict::Worse, false, true), "worse");
        assert_eq!(word(Verdict::Worse, false, false), "missed");
        assert_eq!(word(Verdict::NoDifference, false, true), "undecided");
        assert_eq!(word(Verdict::Worse, true, false), "worse");
    }
}
