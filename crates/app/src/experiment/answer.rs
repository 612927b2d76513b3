//! What an experiment found: the articles' table for each level, sentences, the
//! warnings of all runs once, and one JSON document.

use super::kept::{ExperimentKind, Kept};
use crate::cli::hints::fit_warnings;
use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::document::{print_json, print_text};
use serde::Serialize;
use stripewise_lab::experiment::{Block, Ended, Experiment, analyse, drift_of};
use stripewise_report::{
    comparison_heading, comparison_table, comparison_words, warnings_text, wrapped,
};
use stripewise_results::{
    ComparisonRecord, DriftRecord, RunRecord, SCHEMA_VERSION, Severity, Status, Verdict, Warning,
};
use stripewise_units::format_duration;

/// Notes on how well percentiles of one run are known; they stay in the records
/// and in JSON.
const OF_PERCENTILES: [&str; 2] = ["few-operations", "few-for-p999"];

/// What was found.
pub struct Answer {
    pub kept: Kept,
    pub blocks: Vec<Block>,
    pub comparisons: Vec<ComparisonRecord>,
    /// All runs, without details.
    pub records: Vec<RunRecord>,
    /// The store has it as it is here. Else its failure follows, and nothing says kept.
    pub is_kept: bool,
}

/// As `--json` prints it.
#[derive(Serialize)]
struct AnswerDocument<'a> {
    schema_version: u32,
    experiment: ExperimentDocument<'a>,
    comparisons: &'a [ComparisonRecord],
    warnings: Vec<CountedWarning<'a>>,
    /// All runs without their intervals, so that the document can be compared.
    runs: &'a [RunRecord],
}

#[derive(Serialize)]
struct ExperimentDocument<'a> {
    #[serde(flatten)]
    kept: &'a Kept,
    status: Status,
    drift: Option<DriftRecord>,
    runs: usize,
    finished_blocks: &'a [Block],
}

/// A warning, and how many of the runs have one of its code.
#[derive(Serialize)]
struct CountedWarning<'a> {
    #[serde(flatten)]
    warning: &'a Warning,
    runs: usize,
}

impl Answer {
    /// Analyses what there is.
    pub fn of(experiment: &Experiment, kept: Kept, records: Vec<RunRecord>) -> Answer {
        let mut comparisons = analyse(experiment, &kept.layout);
        let void = Void::of(&records);
        for comparison in &mut comparisons {
            if let Some(place) = &kept.place {
                comparison.notes.extend(place.notes.iter().cloned());
            }
            if let Some(void) = &void {
                void.spoil(comparison);
            }
        }
        Answer {
            kept,
            blocks: experiment.blocks.clone(),
            comparisons,
            records,
            is_kept: true,
        }
    }

    /// Prints it, and says what the process returns.
    pub fn print(&self, context: &Context) -> Outcome {
        if context.global.json {
            print_json(&AnswerDocument {
                schema_version: SCHEMA_VERSION,
                experiment: ExperimentDocument {
                    kept: &self.kept,
                    status: if self.kept.ended.is_some_and(Ended::finished) {
                        Status::Complete
                    } else {
                        Status::Partial
                    },
                    drift: drift_of(&self.kept.plan, &self.blocks),
                    runs: self.records.len(),
                    finished_blocks: &self.blocks,
                },
                comparisons: &self.comparisons,
                warnings: counted(&self.records),
                runs: &self.records,
            })?;
        } else {
            print_text(&self.text(context));
        }
        Ok(self.exit(context))
    }

    fn text(&self, context: &Context) -> String {
        let mut text = String::new();
        for comparison in &self.comparisons {
            let heading = comparison_heading(comparison);
            text.push_str(&context.style.heading(heading.trim_end()));
            text.push_str("\n\n");
            text.push_str(&comparison_table(comparison));
            text.push('\n');
            // What is said of this level stands under its table; notes, which
            // are about all of them, at the end.
            let without_notes = ComparisonRecord {
                notes: Vec::new(),
                ..comparison.clone()
            };
            text.push_str(&comparison_words(&[&without_notes]));
            text.push('\n');
        }
        let only_notes: Vec<ComparisonRecord> = self
            .comparisons
            .iter()
            .map(|comparison| ComparisonRecord {
                groups: Vec::new(),
                sentences: Vec::new(),
                ..comparison.clone()
            })
            .collect();
        text.push_str(&comparison_words(&only_notes.iter().collect::<Vec<_>>()));
        text.push_str(&warnings_text(&self.worth_telling()));
        if self.is_kept {
            text.push_str(&self.kept_line());
        }
        text
    }

    /// The runs with what matters here: how well percentiles of single runs
    /// are known is nobody's business unless latencies are compared.
    fn worth_telling(&self) -> Vec<RunRecord> {
        let throughput = self.kept.plan.metric.more_is_better();
        let mut records = self.records.clone();
        for record in &mut records {
            for job in &mut record.jobs {
                job.warnings.retain(|warning| {
                    !(throughput && OF_PERCENTILES.contains(&warning.code.as_str()))
                });
            }
        }
        fit_warnings(&mut records);
        records
    }

    fn kept_line(&self) -> String {
        let id = &self.kept.id;
        let how = format!(
            "{} blocks, {} runs, {}",
            self.blocks.len(),
            self.records.len(),
            format_duration(self.kept.elapsed_ns)
        );
        let line = match self.kept.ended {
            Some(ended) if ended.finished() => format!(
                "Kept as experiment {id} ({how}); `stripewise lab resume {id}` shows it again, and goes on with --time, --blocks or a smaller --precision."
            ),
            _ => format!(
                "partial: {} Kept as experiment {id} ({how}); `stripewise lab resume {id}` goes on with it.",
                match self.kept.ended {
                    Some(ended) => format!("{}.", ended.words()),
                    None => "it did not end as planned.".to_owned(),
                }
            ),
        };
        wrapped(&line, "  ")
    }

    fn exit(&self, context: &Context) -> Exit {
        if let Some(signal) = context.interrupt.signal() {
            return Exit::Interrupted(signal);
        }
        let failed = self
            .records
            .iter()
            .flat_map(|record| &record.jobs)
            .any(|job| job.outcome.failures() > 0);
        if failed || self.kept.ended == Some(Ended::BrokenOff) {
            return Exit::InputOutput;
        }
        let found = self.comparisons.iter().any(|comparison| {
            matches!(
                comparison.verdict,
                Verdict::Better | Verdict::Worse | Verdict::Mixed
            )
        });
        if found { Exit::Finding } else { Exit::Done }
    }
}

/// Each code once, with the number of runs that have it; the worst first.
fn counted(records: &[RunRecord]) -> Vec<CountedWarning<'_>> {
    let mut all: Vec<CountedWarning<'_>> = Vec::new();
    for record in records {
        let mut of_run: Vec<&str> = Vec::new();
        let jobs = record.jobs.iter().flat_map(|job| &job.warnings);
        for warning in jobs.chain(&record.warnings) {
            if of_run.contains(&warning.code.as_str()) {
                continue;
            }
            of_run.push(&warning.code);
            match all
                .iter_mut()
                .find(|other| other.warning.code == warning.code)
            {
                Some(counted) => counted.runs += 1,
                None => all.push(CountedWarning { warning, runs: 1 }),
            }
        }
    }
    all.sort_by_key(|counted| std::cmp::Reverse(counted.warning.severity));
    all
}

/// Runs that did not measure the disk.
struct Void {
    /// Codes, each with the number of runs that have it.
    codes: Vec<String>,
    runs: usize,
    of: usize,
}

impl Void {
    /// A verdict rests on ranks over blocks: it bears a few such runs, not many.
    const BEARABLE: usize = 10;

    fn of(records: &[RunRecord]) -> Option<Void> {
        let is_void = |warning: &&Warning| warning.severity == Severity::Void;
        let warnings = |record: &RunRecord| -> Vec<Warning> {
            let jobs = record.jobs.iter().flat_map(|job| &job.warnings);
            let all = jobs.chain(&record.warnings);
            all.filter(is_void).cloned().collect()
        };
        let runs = records
            .iter()
            .filter(|record| !warnings(record).is_empty())
            .count();
        let codes = counted(records)
            .into_iter()
            .filter(|counted| counted.warning.severity == Severity::Void)
            .map(|counted| format!("{} in {}", counted.warning.code, counted.runs))
            .collect();
        (runs > 0).then_some(Void {
            codes,
            runs,
            of: records.len(),
        })
    }

    /// Takes back what a table says, or says how little it is in doubt.
    fn spoil(&self, comparison: &mut ComparisonRecord) {
        let codes = self.codes.join(", ");
        if self.runs * Void::BEARABLE <= self.of {
            comparison.notes.insert(
                0,
                format!(
                    "{} of {} runs did not measure the disk ({codes}); verdicts bear so few.",
                    self.runs, self.of
                ),
            );
            return;
        }
        comparison.verdict = Verdict::Undecided;
        comparison.sentences = vec![format!(
            "No verdict about this storage: in {} of {} runs something else answered ({codes}). The rows say how that behaves, not the disk.",
            self.runs, self.of
        )];
    }
}

/// What the history calls it.
pub fn part(kind: ExperimentKind) -> String {
    kind.word().to_owned()
}
