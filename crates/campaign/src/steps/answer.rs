//! The result of an experiment: the comparisons, and those that void runs invalidate.

use super::absorbed;
use super::stored_experiment::{ExperimentKind, StoredExperiment};
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_lab::experiment::{Block, Ended, Experiment, analyse, drift_of};
use stripewise_results::{
    ComparisonRecord, DriftRecord, RunRecord, SCHEMA_VERSION, Severity, Status, Verdict, Warning,
    warnings_by_code,
};

/// What was found.
pub struct Answer {
    /// The stored document of the experiment.
    pub stored: StoredExperiment,
    /// Finished blocks.
    pub blocks: Vec<Block>,
    /// One per level, compared with the baseline.
    pub comparisons: Vec<ComparisonRecord>,
    /// All runs, without details.
    pub records: Vec<RunRecord>,
    /// The store has this state. If not, the store's failure follows, and nothing claims otherwise.
    pub is_stored: bool,
}

/// A warning, and how many of the runs have one of its code.
#[derive(Serialize, schemars::JsonSchema)]
pub struct CountedWarning<'a> {
    /// A representative.
    #[serde(flatten)]
    pub warning: &'a Warning,
    /// Runs that have it.
    pub runs: usize,
}

/// The document of the result.
#[derive(Serialize, schemars::JsonSchema)]
pub struct ExperimentDocument<'a> {
    schema_version: u32,
    experiment: Described<'a>,
    comparisons: &'a [ComparisonRecord],
    warnings: Vec<CountedWarning<'a>>,
    /// All runs without their intervals, so that the document can be compared.
    runs: &'a [RunRecord],
}

#[derive(Serialize, schemars::JsonSchema)]
struct Described<'a> {
    #[serde(flatten)]
    stored: &'a StoredExperiment,
    status: Status,
    drift: Option<DriftRecord>,
    runs: usize,
    finished_blocks: &'a [Block],
}

impl Answer {
    /// The document.
    pub fn document(&self) -> ExperimentDocument<'_> {
        ExperimentDocument {
            schema_version: SCHEMA_VERSION,
            experiment: Described {
                stored: &self.stored,
                status: self.status(),
                drift: drift_of(&self.stored.plan, &self.blocks),
                runs: self.records.len(),
                finished_blocks: &self.blocks,
            },
            comparisons: &self.comparisons,
            warnings: counted(&self.records),
            runs: &self.records,
        }
    }

    /// Analyses an experiment.
    pub fn of(
        experiment: &Experiment,
        stored: StoredExperiment,
        records: Vec<RunRecord>,
    ) -> Answer {
        let mut comparisons = analyse(experiment, &stored.layout);
        let void = VoidRuns::of(&records);
        let cells: Vec<&str> = (stored.plan.cells.iter())
            .map(|cell| cell.name.as_str())
            .collect();
        for comparison in &mut comparisons {
            if let Some(place) = &stored.place {
                comparison.notes.extend(place.notes.iter().cloned());
            }
            absorbed::apply(&stored.sustained, &cells, comparison);
            if let Some(void) = &void {
                void.invalidate(comparison);
            }
        }
        Answer {
            stored,
            blocks: experiment.blocks.clone(),
            comparisons,
            records,
            is_stored: true,
        }
    }

    /// How many hosts made its runs together; `None` for one. One host cannot continue an
    /// experiment of several.
    pub fn hosts(&self) -> Option<usize> {
        hosts_of(&self.records)
    }

    /// Whether it is complete.
    pub fn status(&self) -> Status {
        match self.stored.ended.is_some_and(Ended::finished) {
            true => Status::Complete,
            false => Status::Partial,
        }
    }

    /// The exit of the command.
    pub fn exit(&self, context: &Context) -> Exit {
        if let Some(signal) = context.signal() {
            return Exit::Interrupted(signal);
        }
        let failed = self
            .records
            .iter()
            .flat_map(|record| &record.jobs)
            .any(|job| job.outcome.failures() > 0);
        if failed || self.stored.ended == Some(Ended::BrokenOff) {
            return Exit::InputOutput;
        }
        // Void runs also leave verdicts undecided.
        let mut verdicts = self.comparisons.iter().map(|one| one.verdict);
        match verdicts.all(|verdict| verdict == Verdict::NoDifference) {
            true => Exit::Done,
            false => Exit::Finding,
        }
    }
}

/// See [`Answer::hosts`].
pub fn hosts_of(records: &[RunRecord]) -> Option<usize> {
    let mut merged = records.iter().filter_map(|run| run.merged.as_ref());
    merged.next().map(|merged| merged.hosts.len())
}

/// Each code once, with the number of runs that have it; the most severe first.
pub fn counted(records: &[RunRecord]) -> Vec<CountedWarning<'_>> {
    let all = warnings_by_code(records, |_| true).into_iter();
    let all = all.map(|(warning, runs)| CountedWarning { warning, runs });
    let mut all: Vec<CountedWarning<'_>> = all.collect();
    all.sort_by_key(|counted| std::cmp::Reverse(counted.warning.severity));
    all
}

/// Runs that did not measure the disk.
struct VoidRuns {
    /// Codes, each with the number of runs that have it.
    codes: Vec<String>,
    runs: usize,
    of: usize,
}

impl VoidRuns {
    /// A verdict is based on ranks over blocks: it tolerates a few such runs, not many.
    const TOLERATED_ONE_IN: usize = 10;

    fn of(records: &[RunRecord]) -> Option<VoidRuns> {
        let void = |record: &&RunRecord| !record.void_codes().is_empty();
        let runs = records.iter().filter(void).count();
        let codes = counted(records)
            .into_iter()
            .filter(|counted| counted.warning.severity == Severity::Void)
            .map(|counted| format!("{} in {}", counted.warning.code, counted.runs))
            .collect();
        (runs > 0).then_some(VoidRuns {
            codes,
            runs,
            of: records.len(),
        })
    }

    /// Withdraws the verdicts of a table, or notes that they are hardly in doubt.
    fn invalidate(&self, comparison: &mut ComparisonRecord) {
        let codes = self.codes.join(", ");
        if self.runs * VoidRuns::TOLERATED_ONE_IN <= self.of {
            comparison.notes.insert(
                0,
                format!(
                    "{} of {} runs did not measure the disk ({codes}); too few to affect the verdicts.",
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

/// Its name in the history.
pub fn part(kind: ExperimentKind) -> String {
    kind.word().to_owned()
}
