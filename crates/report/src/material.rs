//! The input of a report, collected by the caller from the store.

use std::collections::BTreeSet;
use stripewise_results::{Document, JobRow, OperationKind, Warning};
use stripewise_stats::Histogram;
use stripewise_units::Hint;

/// Everything that a report may show.
#[derive(Clone, Debug)]
pub struct Material {
    /// Its subject in a line: `Bench of /data`.
    pub title: String,
    /// Runs, series and comparisons. Histograms in outcomes are used if
    /// present.
    pub document: Document,
    /// Latencies over time, for heat maps.
    pub latencies: Vec<LatencyOverTime>,
    /// The command that prints the full records, for a page that has to omit
    /// some: `stripewise report ID --format json`.
    pub again: String,
    /// Notes about the report itself, in whole sentences.
    pub notes: Vec<String>,
    /// Words the hints of warnings.
    pub hint: HintWords,
}

/// Words a hint for the command line that made the run: a stored one has the switches of `run`.
pub type HintWords = fn(&[String], &Hint) -> String;

impl Material {
    /// A report on these records alone.
    pub fn new(title: impl Into<String>, document: Document) -> Material {
        Material {
            title: title.into(),
            document,
            latencies: Vec::new(),
            again: String::new(),
            notes: Vec::new(),
            hint: |_, hint| hint.to_string(),
        }
    }

    /// The hint of a warning, in the words of the command that made the first run with it.
    pub(crate) fn hint_of(&self, warning: &Warning) -> String {
        let mut runs = self.document.runs.iter();
        let run = runs.find(|run| run.has_warning(&warning.code));
        let line = run.map(|run| run.command.as_slice());
        (self.hint)(line.unwrap_or_default(), &warning.hint)
    }

    /// All jobs of all runs.
    pub(crate) fn rows(&self) -> impl Iterator<Item = JobRow<'_>> {
        JobRow::of(&self.document.runs)
    }

    /// Jobs of runs that are not steps of a ladder.
    pub(crate) fn rows_outside_ladders(&self) -> Vec<JobRow<'_>> {
        let steps = self.document.series.iter().flat_map(|series| &series.steps);
        let in_ladder: BTreeSet<&str> = steps.map(|step| step.run.as_str()).collect();
        self.rows()
            .filter(|row| !in_ladder.contains(row.run.id.as_str()) && !row.run.is_pilot())
            .collect()
    }
}

/// The latencies of one job's operations of one kind, interval by interval.
#[derive(Clone, Debug)]
pub struct LatencyOverTime {
    /// Id of the run.
    pub run: String,
    /// Name of the job.
    pub job: String,
    /// Kind of its operations.
    pub kind: OperationKind,
    /// In chronological order.
    pub intervals: Vec<LatencyInterval>,
}

/// All latencies of one interval.
#[derive(Clone, Debug)]
pub struct LatencyInterval {
    /// Since the start of measuring.
    pub start_ns: u64,
    /// Its length.
    pub duration_ns: u64,
    /// In nanoseconds.
    pub latency_ns: Histogram,
}
