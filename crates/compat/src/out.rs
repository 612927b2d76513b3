//! What comes out of a reading: records one by one, notes, and lines that could not be
//! read.

use crate::text::{Line, Part};
use crate::work::Work;
use crate::{Error, Format, LineProblem, Note};
use std::collections::HashSet;
use stripewise_results::RunRecord;

/// Lines that are collected before a reading is given up.
const PROBLEMS_MAX: usize = 100;
/// Notes about lines; of more, only the number is said.
const NOTES_MAX: usize = 50;

/// A reader of lines.
pub(crate) trait LineReader {
    /// The next line.
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>);
    /// There are no more.
    fn end(&mut self, out: &mut Out<'_>);
}

/// Hands each line of these parts to a reader, once.
pub(crate) fn read_lines(reader: &mut impl LineReader, parts: &[Part<'_>], out: &mut Out<'_>) {
    for line in parts.iter().flat_map(Part::lines) {
        if !out.visit(line.text.len() + 1) {
            return;
        }
        reader.line(line, out);
    }
    reader.end(out);
}

/// Where readers put what they find.
pub(crate) struct Out<'a> {
    /// The file, as the user named it.
    pub(crate) source: &'a str,
    work: &'a Work<'a>,
    take: &'a mut dyn FnMut(RunRecord),
    notes: Vec<Note>,
    line_notes: usize,
    problems: Vec<LineProblem>,
    refusal: Option<Error>,
    results: usize,
    /// Ids of the results: copies are one.
    seen: HashSet<String>,
    copies: usize,
}

impl<'a> Out<'a> {
    pub(crate) fn new(
        source: &'a str,
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
            refusal: None,
            results: 0,
            seen: HashSet::new(),
            copies: 0,
        }
    }

    /// So many bytes are looked at; whether it goes on.
    pub(crate) fn visit(&mut self, bytes: usize) -> bool {
        self.work.visit(bytes) && self.refusal.is_none() && self.problems.len() < PROBLEMS_MAX
    }

    /// What counts the work.
    pub(crate) const fn work(&self) -> &'a Work<'a> {
        self.work
    }

    /// A result is whole.
    pub(crate) fn give(&mut self, record: RunRecord) {
        self.results += 1;
        if self.seen.insert(record.id.clone()) {
            (self.take)(record);
        } else {
            self.copies += 1;
        }
    }

    /// A line could not be read, so nothing is imported.
    pub(crate) fn problem(&mut self, line: u64, reason: impl Into<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(LineProblem {
                line,
                reason: reason.into(),
            });
        }
    }

    /// As [`Out::problem`], where no more can be read.
    pub(crate) fn refuse(&mut self, line: u64, reason: impl Into<String>, hint: &str) {
        let problem = LineProblem {
            line,
            reason: reason.into(),
        };
        let error = Error::of_lines(self.source, vec![problem], hint);
        self.refusal.get_or_insert(error);
    }

    /// About a line.
    pub(crate) fn note(&mut self, line: u64, message: impl Into<String>) {
        self.line_notes += 1;
        if self.line_notes <= NOTES_MAX {
            self.notes.push(Note {
                line: Some(line),
                message: message.into(),
            });
        }
    }

    /// About the file as a whole; the same is said once.
    pub(crate) fn note_once(&mut self, message: impl Into<String>) {
        let note = Note {
            line: None,
            message: message.into(),
        };
        if self.notes.len() < 2 * NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What is found of the results of one tool has come to its end.
    ///
    /// # Errors
    /// Where a line could not be read, there is no result, or the reading was stopped.
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
        if self.results == results_before {
            // What was left out is why nothing is left.
            let why = self.notes.iter().rev().find_map(|note| {
                let line = note.line?;
                Some(format!("{}: line {line} {}", words.none, note.message))
            });
            let problem = why.unwrap_or_else(|| words.none.to_owned());
            return Err(Error::new(self.source, problem, words.none_hint));
        }
        Ok(())
    }

    /// Results so far, copies among them.
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
