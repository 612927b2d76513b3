//! Output of an import: records one by one, notes, and lines that could not be read.

use crate::jobs_read::{JobFacts, JobsRead};
use crate::text::{Line, Part};
use crate::work::Work;
use crate::{Error, Format, LineProblem, Note};
use std::collections::HashSet;
use stripewise_results::RunRecord;
use stripewise_units::counted;

/// Problems listed before giving up.
pub(crate) const PROBLEMS_MAX: usize = 100;
/// Most notes about lines; of further ones, only the count is reported.
const NOTES_MAX: usize = 50;

/// A line-by-line parser.
pub(crate) trait LineReader {
    /// The next line.
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>);
    /// No more lines follow.
    fn end(&mut self, out: &mut Out<'_>);
}

/// Passes each line of these parts to a reader, once.
pub(crate) fn read_lines(reader: &mut impl LineReader, parts: &[Part<'_>], out: &mut Out<'_>) {
    for line in parts.iter().flat_map(Part::lines) {
        if !out.visit(line.text.len() + 1) {
            return;
        }
        reader.line(line, out);
    }
    reader.end(out);
}

/// Collects what readers find.
pub(crate) struct Out<'a> {
    /// The file, as the user named it.
    pub(crate) source: &'a str,
    work: &'a Work<'a>,
    take: &'a mut dyn FnMut(RunRecord),
    notes: Vec<Note>,
    line_notes: usize,
    problems: Vec<LineProblem>,
    problems_max: usize,
    refusal: Option<Error>,
    results: usize,
    /// Ids of the results, to drop duplicates.
    seen: HashSet<String>,
    copies: usize,
    /// Jobs of fio, where a file has several forms of its output.
    pub(crate) jobs: Option<JobsRead>,
    /// Results that were read in another form.
    repeats: Vec<Repeats>,
}

/// Results in a form of fio that were read in another one.
struct Repeats {
    form: Format,
    other: Format,
    first_line: u64,
    jobs: usize,
}

impl<'a> Out<'a> {
    pub(crate) fn new(
        source: &'a str,
        problems_max: usize,
        work: &'a Work<'a>,
        take: &'a mut dyn FnMut(RunRecord),
    ) -> Self {
        Out {
            source,
            work,
            take,
            notes: Vec::new(),
            line_notes: 0,
            problems: Vec::new(),
            problems_max,
            refusal: None,
            results: 0,
            seen: HashSet::new(),
            copies: 0,
            jobs: None,
            repeats: Vec::new(),
        }
    }

    /// Whether a result of fio whose jobs are these was read in another form; otherwise remembers
    /// them.
    pub(crate) fn is_repeat(&mut self, facts: Vec<JobFacts>, form: Format, line: u64) -> bool {
        let Some(jobs) = &mut self.jobs else {
            return false;
        };
        let Some(other) = jobs.other_form(&facts, form) else {
            jobs.add(facts, form);
            return false;
        };
        let is_known = |known: &Repeats| known.form == form && known.other == other;
        match self.repeats.iter().position(is_known) {
            Some(at) => self.repeats[at].jobs += facts.len(),
            None => self.repeats.push(Repeats {
                form,
                other,
                first_line: line,
                jobs: facts.len(),
            }),
        }
        true
    }

    /// Counts this many bytes as visited; returns whether to continue.
    pub(crate) fn visit(&mut self, bytes: usize) -> bool {
        self.work.visit(bytes) && self.refusal.is_none() && self.problems.len() < self.problems_max
    }

    /// The work counter.
    pub(crate) const fn work(&self) -> &'a Work<'a> {
        self.work
    }

    /// Adds a complete result.
    pub(crate) fn give(&mut self, record: RunRecord) {
        self.results += 1;
        if self.seen.insert(record.id.clone()) {
            (self.take)(record);
        } else {
            self.copies += 1;
        }
    }

    /// Reports an unreadable line; nothing is imported then.
    pub(crate) fn problem(&mut self, line: u64, reason: impl Into<String>) {
        if self.problems.len() < self.problems_max {
            self.problems.push(LineProblem {
                line,
                reason: reason.into(),
            });
        }
    }

    /// As [`Out::problem`], when no more can be read.
    pub(crate) fn refuse(&mut self, line: u64, reason: impl Into<String>, hint: &str) {
        let problem = LineProblem {
            line,
            reason: reason.into(),
        };
        let error = Error::of_lines(self.source, vec![problem], hint);
        self.refusal.get_or_insert(error);
    }

    /// Adds a note about a line.
    pub(crate) fn note(&mut self, line: u64, message: impl Into<String>) {
        self.line_notes += 1;
        if self.line_notes <= NOTES_MAX {
            self.notes.push(Note {
                line: Some(line),
                message: message.into(),
            });
        }
    }

    /// Adds a note about the whole file, once.
    pub(crate) fn note_once(&mut self, message: impl Into<String>) {
        let note = Note {
            line: None,
            message: message.into(),
        };
        if self.notes.len() < 2 * NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Ends the results of one tool.
    ///
    /// # Errors
    /// If a line could not be read, there is no result, or the import was stopped.
    pub(crate) fn close(&mut self, format: Format, results_before: usize) -> Result<(), Error> {
        if self.work.is_stopped() {
            return Err(Error::interruption(self.source));
        }
        if let Some(error) = self.refusal.take() {
            return Err(error);
        }
        let words = format.words();
        if !self.problems.is_empty() {
            let mut problems = std::mem::take(&mut self.problems);
            problems.sort_by_key(|problem| problem.line);
            return Err(Error::of_lines(self.source, problems, words.bad_hint));
        }
        let are_repeats = self.repeats.iter().any(|known| known.form == format);
        if self.results == results_before && !are_repeats {
            // Left-out results explain why nothing remains.
            let why = self.notes.iter().rev().find_map(|note| {
                let line = note.line?;
                Some(format!("{}: line {line} {}", words.none, note.message))
            });
            let problem = why.unwrap_or_else(|| words.none.to_owned());
            return Err(Error::new(self.source, problem, words.none_hint));
        }
        Ok(())
    }

    /// Results so far, including duplicates.
    pub(crate) const fn results(&self) -> usize {
        self.results
    }

    /// All notes.
    pub(crate) fn into_notes(mut self) -> Vec<Note> {
        let mut say = |message: String| {
            self.notes.push(Note {
                line: None,
                message,
            });
        };
        match self.line_notes.saturating_sub(NOTES_MAX) {
            0 => {}
            more => say(format!("{more} more notes about lines are not listed")),
        }
        for repeats in self.repeats {
            say(format!(
                "{} in {}, from line {} on, left out: {} in this file says more of the same",
                counted(repeats.jobs, "job", "jobs"),
                repeats.form,
                repeats.first_line,
                repeats.other
            ));
        }
        match self.copies {
            0 => {}
            1 => say("1 result is a copy of another one in this file and is left out".to_owned()),
            copies => say(format!(
                "{copies} results are copies of others in this file and are left out"
            )),
        }
        self.notes
    }
}
