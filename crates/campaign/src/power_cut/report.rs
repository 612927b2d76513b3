//! The report of a run that waited for a power cut that did not come.

use crate::steps::verification::document::{
    Mode, PhaseOutcome, SCHEMA_VERSION, VerifyDocument, VerifyErrors, VerifyVerdict,
};
use crate::steps::verification::tally::kind_of;
use crate::steps::verification::witnessed::WitnessHeader;
use crate::steps::verification::{run_number, verified};
use stripewise_conductor::context::Context;
use stripewise_io_engine::EngineName;
use stripewise_stats::Histogram;
use stripewise_targets::Target;
use stripewise_units::format_count;
use stripewise_verify::run_text;

/// Maximum number of errors listed.
const ERRORS_MAX: usize = 20;

/// Counters kept during the run.
#[derive(Default)]
pub(super) struct Report {
    engine: EngineName,
    notes: Vec<String>,
    /// The phases in order.
    pub phases: Vec<PhaseOutcome>,
    /// Completed flushes or durable writes that were reported.
    pub durable: u64,
    /// Numbered writes issued.
    pub issued: u64,
    /// Number of flushing threads.
    pub flushers: usize,
    /// Latencies of flushes.
    pub flushes: Histogram,
    pub errors: Vec<String>,
    /// Threads that never ended.
    pub lost_threads: usize,
    /// The witness went away.
    pub witness_gone: bool,
}

impl Report {
    pub(super) fn new(engine: EngineName, because: Option<String>) -> Report {
        Report {
            engine,
            notes: because.into_iter().collect(),
            ..Report::default()
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(why);
        }
    }

    pub(super) fn notes_of(&mut self, fallbacks: Vec<String>) {
        for fallback in fallbacks {
            if !self.notes.contains(&fallback) {
                self.notes.push(fallback);
            }
        }
    }

    /// As JSON and in the store.
    pub(super) fn document(
        mut self,
        context: &Context,
        header: &WitnessHeader,
        targets: &[Target],
        stored: Vec<Option<String>>,
        started_at: String,
    ) -> VerifyDocument {
        self.notes.push(format!(
            "the disk reported {} writes or flushes as durable, and the witness was informed{}",
            format_count(self.durable),
            match self.witness_gone {
                true => " until it went away",
                false => "",
            }
        ));
        if self.lost_threads > 0 {
            self.notes.push(format!(
                "{} threads are blocked in the operating system",
                self.lost_threads
            ));
        }
        VerifyDocument {
            schema_version: SCHEMA_VERSION,
            mode: Mode::PowerCut,
            run: run_text(run_number(&header.id)),
            id: header.id.clone(),
            started_at,
            host: header.host.clone(),
            verdict: match self.errors.is_empty() {
                false => VerifyVerdict::Errors,
                true if self.witness_gone || context.signal().is_some() => {
                    VerifyVerdict::Interrupted
                }
                true => VerifyVerdict::Passed,
            },
            targets: (targets.iter())
                .zip(stored)
                .map(|(target, kept_at)| verified(target, kept_at, &self.phases))
                .collect(),
            engine: self.engine.to_string(),
            notes: self.notes,
            duration_ns: self.phases.iter().map(|phase| phase.duration_ns).sum(),
            operations: self.phases.iter().map(|phase| phase.write.operations).sum(),
            errors: VerifyErrors {
                total: self.errors.len() as u64,
                first: self.errors,
            },
            phases: self.phases,
            flushes: Some(kind_of(self.flushes, 0)).filter(|flushes| flushes.operations > 0),
            ..VerifyDocument::default()
        }
    }
}
