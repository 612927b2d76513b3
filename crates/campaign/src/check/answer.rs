//! The result of a check: the comparison, requirements met and missed, and the resulting
//! exit code.

use super::CheckOptions;
use super::at_answers::meant_by;
use crate::steps::baselines::StoredBaseline;
use crate::steps::documents::{document, judge, own_runs_of};
use crate::steps::stored_check::{StoredCheck, is_loss_above};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::{CompareOptions, Side, compare, void_codes};
use stripewise_report::{Material, marked};
use stripewise_results::{
    ComparisonRecord, JobRow, RequirementRecord, RunRecord, SCHEMA_VERSION, Verdict,
};

/// The result of a check.
#[derive(Debug)]
pub struct Answer {
    /// The runs that were judged.
    pub records: Vec<RunRecord>,
    /// They were made now, not loaded from the history.
    pub made: bool,
    /// The store has all of them. If not, its failure was reported.
    pub is_stored: bool,
    /// Name of the baseline.
    pub baseline: Option<String>,
    /// The table of changes; empty without a baseline.
    pub comparisons: Vec<ComparisonRecord>,
    /// Requirements met and missed.
    pub requirements: Vec<RequirementRecord>,
    /// Further remarks, as sentences.
    pub sentences: Vec<String>,
    /// A loss up to this many per cent does not count as worse.
    pub(super) tolerate: f64,
    /// Codes of voiding warnings that the baseline did not have.
    new_void: BTreeSet<String>,
    /// Why nothing is concluded.
    pub why_inconclusive: Option<&'static str>,
    ended: Exit,
}

/// The document of a check's result.
#[derive(Serialize, schemars::JsonSchema)]
pub struct AnswerDocument<'a> {
    schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'a str>,
    runs: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// A loss up to so many per cent does not count.
    tolerate_percent: f64,
    /// It is worse, and the loss is not certainly above what is tolerated.
    tolerated: bool,
    comparisons: &'a [ComparisonRecord],
    requirements: &'a [RequirementRecord],
    /// What must be known besides: doubts about the baseline.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// Why nothing is concluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    inconclusive: Option<&'a str>,
    /// Failed operations by run and job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FailedOperations<'a>>,
}

/// The failed operations of a job, those after the stop among them, whose reasons are
/// not counted.
#[derive(Serialize, schemars::JsonSchema)]
struct FailedOperations<'a> {
    run: &'a str,
    job: &'a str,
    total: u64,
    by_reason: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<&'a str>,
}

fn errors_of(records: &[RunRecord]) -> Vec<FailedOperations<'_>> {
    let rows = JobRow::of(records).filter(|row| row.job.outcome.failures() > 0);
    rows.map(|row| {
        let (errors, drain) = (&row.job.outcome.errors, &row.job.outcome.drain);
        FailedOperations {
            run: &row.run.id,
            job: &row.job.name,
            total: row.job.outcome.failures(),
            by_reason: &errors.by_reason,
            first: errors.first.as_deref().or(drain.first_error.as_deref()),
        }
    })
    .collect()
}

impl Answer {
    pub(super) fn new(
        options: &CheckOptions,
        baseline: Option<&StoredBaseline>,
        records: Vec<RunRecord>,
    ) -> Answer {
        let before = baseline
            .map(|stored| void_codes(&stored.runs))
            .unwrap_or_default();
        let new_void = void_codes(&records).difference(&before).cloned().collect();
        let requirements = match baseline.filter(|_| options.run.is_none()) {
            Some(baseline) => {
                let own_runs = own_runs_of(&records);
                let required = options.require.iter();
                let judged =
                    required.map(|one| one.judge(meant_by(one, &baseline.runs, &own_runs)));
                judged.collect()
            }
            // A stored bench is judged by its answers.
            None => {
                let mut judged = document(records.clone());
                judge(&options.require, &mut judged);
                judged.requirements
            }
        };
        Answer {
            made: options.run.is_none(),
            is_stored: true,
            baseline: baseline.map(|stored| stored.name.clone()),
            comparisons: Vec::new(),
            requirements,
            sentences: Vec::new(),
            tolerate: options.tolerate.unwrap_or(0.0),
            new_void,
            why_inconclusive: None,
            ended: Exit::Done,
            records,
        }
    }

    /// The answer if the runs ended in a way that allows no conclusion.
    pub(super) fn inconclusive(
        options: &CheckOptions,
        records: Vec<RunRecord>,
        ended: Exit,
    ) -> Answer {
        let why = match ended {
            Exit::Interrupted(_) => "interrupted",
            _ => "operations failed",
        };
        Answer {
            requirements: Vec::new(),
            why_inconclusive: Some(why),
            ended,
            ..Answer::new(options, None, records)
        }
    }

    pub(super) fn say(&mut self, sentence: String) {
        self.sentences.push(sentence);
    }

    pub(super) fn add(&mut self, mut comparison: ComparisonRecord) {
        if self.tolerates(&comparison) {
            let tolerated = format!(
                "The loss is tolerated: it is not certainly above {} %.",
                rounded(self.tolerate)
            );
            comparison.sentences.insert(0, tolerated);
        }
        if !self.new_void.is_empty() {
            comparison.verdict = Verdict::Undecided;
            let codes: Vec<&str> = self.new_void.iter().map(String::as_str).collect();
            comparison.sentences.insert(
                0,
                format!(
                    "Now the numbers are void ({}), and those of the baseline are not: that is \
                     what changed first.",
                    codes.join(", ")
                ),
            );
        }
        self.comparisons.push(comparison);
    }

    /// Some row is worse, but none certainly by more than is tolerated.
    fn tolerates(&self, comparison: &ComparisonRecord) -> bool {
        let mut rows = comparison.rows.iter();
        let some = rows.any(|row| row.verdict == Verdict::Worse);
        some && self.tolerate > 0.0 && !self.is_worse(comparison)
    }

    /// Certainly worse by more than is tolerated.
    fn is_worse(&self, comparison: &ComparisonRecord) -> bool {
        let mut rows = comparison.rows.iter();
        rows.any(|row| is_loss_above(row, self.tolerate))
    }

    /// Whether it is undecided if anything changed.
    pub fn is_undecided(&self) -> bool {
        let mut verdicts = self.comparisons.iter().map(|one| one.verdict);
        verdicts.any(|verdict| verdict == Verdict::Undecided)
    }

    /// The resulting exit code.
    pub fn exit(&self) -> Exit {
        if self.why_inconclusive.is_some() {
            return self.ended;
        }
        let missed = self.requirements.iter().any(|outcome| !outcome.met);
        let is_void = !self.new_void.is_empty() && self.baseline.is_some();
        let is_worse = self.comparisons.iter().any(|one| self.is_worse(one));
        if missed || is_void || is_worse || self.is_undecided() {
            Exit::Finding
        } else {
            Exit::Done
        }
    }

    /// As `--json` prints it.
    pub fn document(&self) -> AnswerDocument<'_> {
        AnswerDocument {
            schema_version: SCHEMA_VERSION,
            baseline: self.baseline.as_deref(),
            runs: self.records.iter().map(|run| run.id.as_str()).collect(),
            verdict: self.comparisons.first().map(|record| record.verdict),
            tolerate_percent: rounded(self.tolerate),
            tolerated: self.comparisons.iter().any(|record| self.tolerates(record)),
            comparisons: &self.comparisons,
            requirements: &self.requirements,
            notes: &self.sentences,
            inconclusive: self.why_inconclusive,
            errors: errors_of(&self.records),
        }
    }

    /// As stored.
    pub fn stored(&self) -> StoredCheck {
        StoredCheck {
            baseline: self.baseline.clone(),
            comparisons: self.comparisons.clone(),
            requirements: self.requirements.clone(),
            sentences: self.sentences.clone(),
            tolerated: self.comparisons.iter().any(|record| self.tolerates(record)),
            tolerate_percent: Some(self.tolerate),
        }
    }

    /// For jobs that mail their output: empty, or one line with what was found.
    pub fn line(&self) -> String {
        if self.exit() == Exit::Done {
            return String::new();
        }
        let line = self.stored().line(&self.records);
        match self.records.first().filter(|_| self.is_stored) {
            Some(run) => marked(&line, run.series.as_deref().unwrap_or(&run.id)) + "\n",
            None => line + "\n",
        }
    }

    /// The input for a report on it.
    pub fn material(&self, context: &Context) -> Material {
        let store = context.open_store_to_read().ok();
        let runs = self.records.clone();
        self.stored().material(store.as_ref(), runs)
    }
}

/// Rounded to a hundredth.
fn rounded(percent: f64) -> f64 {
    (100.0 * percent).round() / 100.0
}

/// Compares the results with the baseline, as changes.
pub(super) fn judge_change(
    options: &CheckOptions,
    name: &str,
    then: &[RunRecord],
    now: &[RunRecord],
    by: CompareOptions,
) -> Outcome<ComparisonRecord> {
    let side = |name: &str, runs: &[RunRecord]| Side {
        name: name.to_owned(),
        runs: runs.to_vec(),
    };
    let mut record = compare(&side(name, then), &side("now", now), by)
        .map_err(|reason| Failure::usage(reason.to_string(), reason.hint()))?;
    record.title = match &options.changed {
        Some(words) => format!(
            "{} now, after the change `{words}`, against {name}",
            by.metric.words()
        ),
        None => format!("{} now against {name}", by.metric.words()),
    };
    Ok(record)
}
