//! The documents of a file of fio.
//!
//! fio prints warnings and progress into the same stream, so text may stand
//! before and after a document, and several documents may follow one another:
//! results of several runs, or one run again and again.

use super::json::Document;
use super::read::{JOBS_MAX, NOTES_MAX, document, must_be_readable};
use super::snapshots::continues;
use crate::text::fingerprint;
use crate::{Error, Format, ImportedFile, LineProblem, Note};
use serde_json::Value;
use stripewise_results::{RunRecord, Status};

const MARK: &str = "\"fio version\"";
pub(super) const DOCUMENTS_MAX: usize = 10_000;
/// Said of all results of fio.
pub(super) const COMPLETION_LATENCIES: &str = "latencies are fio's completion latencies: they start when an operation has been submitted, unless the job set lat_percentiles";

/// A document with where it stands.
struct FioDocument {
    value: Value,
    /// Of its text, for the id.
    content: u64,
    /// From 1.
    line: u64,
    /// Where the text before it begins, which may tell of a signal.
    from: usize,
    start: usize,
    end: usize,
}

/// All documents of a text.
pub(crate) fn import_text(text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    let mut taken = Taken {
        source_name,
        runs: Vec::new(),
        jobs: 0,
        notes: Vec::new(),
    };
    let mut snapshots = 0_u64;
    // Whether a document is the last one of its run is known from the next one.
    let mut pending: Option<FioDocument> = None;
    let mut from = 0;
    // Lines are counted once, from document to document.
    let mut from_line = 1;
    while let Some(mut found) = next_document(text, from, from_line, source_name, &mut taken.notes)?
    {
        from = found.end;
        from_line = found.line + line_feeds(&text[found.start..found.end]);
        if let Some(earlier) = pending.take() {
            if continues(&earlier.value, &found.value) {
                snapshots += 1;
                found.from = earlier.from;
            } else {
                taken.take(&earlier, &text[earlier.from..earlier.start], "")?;
            }
        }
        pending = Some(found);
    }
    if let Some(last) = pending {
        // Nothing but the last document has text behind it that is its own.
        let before = &text[last.from..last.start];
        taken.take(&last, before, &text[last.end..])?;
    }
    let Taken {
        runs, mut notes, ..
    } = taken;
    passed_over(&text[from..], from_line, &mut notes);
    if runs.is_empty() {
        let hint = "make it with `fio --output-format=json`";
        return Err(Error::new(source_name, "contains no result of fio", hint));
    }
    let note = |message: String| Note {
        line: None,
        message,
    };
    if snapshots > 0 {
        let what = if snapshots == 1 {
            "1 earlier snapshot of a run is".to_owned()
        } else {
            format!("{snapshots} earlier snapshots of runs are")
        };
        notes.push(note(format!(
            "{what} left out (snapshots at an interval): the last one of each run contains all of its counts"
        )));
    }
    notes.push(note(COMPLETION_LATENCIES.to_owned()));
    Ok(ImportedFile {
        format: Format::FioJson,
        runs,
        notes,
    })
}

/// The next document behind `from`, which is on line `from_line`.
fn next_document(
    text: &str,
    from: usize,
    from_line: u64,
    source_name: &str,
    notes: &mut Vec<Note>,
) -> Result<Option<FioDocument>, Error> {
    let open = text[from..].find(MARK);
    let Some(open) = open.and_then(|mark| text[from..from + mark].rfind('{')) else {
        return Ok(None);
    };
    let start = from + open;
    let line = from_line + line_feeds(&text[from..start]);
    passed_over(&text[from..start], from_line, notes);
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Document>();
    let value = match stream.next() {
        Some(Ok(Document(value))) => value,
        Some(Err(error)) => {
            let problem = LineProblem {
                line: line + (error.line() as u64).saturating_sub(1),
                reason: format!("is not complete JSON of fio: {error}"),
            };
            let hint = "fio must end by itself for its JSON to be complete; nothing was imported";
            return Err(Error::of_lines(source_name, vec![problem], hint));
        }
        None => return Ok(None),
    };
    let end = start + stream.byte_offset();
    Ok(Some(FioDocument {
        value,
        content: fingerprint(&text[start..end]),
        line,
        from,
        start,
        end,
    }))
}

/// What was taken over from the documents of a file.
struct Taken<'a> {
    source_name: &'a str,
    runs: Vec<RunRecord>,
    /// Of all runs.
    jobs: usize,
    notes: Vec<Note>,
}

impl Taken<'_> {
    /// Takes the runs of a document over, with the text before it and, of the last one,
    /// behind it.
    fn take(&mut self, found: &FioDocument, before: &str, behind: &str) -> Result<(), Error> {
        let too_much = |problem: String| {
            let hint = "split it into several files";
            Err(Error::new(self.source_name, problem, hint))
        };
        if self.runs.len() >= DOCUMENTS_MAX {
            return too_much("has too many results".to_owned());
        }
        let first = self.runs.len();
        must_be_readable(&found.value).map_err(|reason| {
            let problem = LineProblem {
                line: found.line,
                reason,
            };
            Error::of_lines(self.source_name, vec![problem], "nothing was imported")
        })?;
        document(
            &found.value,
            found.content,
            found.line,
            self.source_name,
            &mut self.runs,
            &mut self.notes,
        )?;
        let new = &mut self.runs[first..];
        self.jobs += new.iter().map(|run| run.jobs.len()).sum::<usize>();
        if self.jobs > JOBS_MAX {
            return too_much(format!("has more than {JOBS_MAX} jobs"));
        }
        // Where fio says that a signal ended it, its runs are partial.
        if let Some(words) = signal_in(before).or_else(|| signal_in(behind)) {
            for run in new {
                interrupted(run, words);
            }
        }
        Ok(())
    }
}

/// What fio says of a signal that ended it.
fn signal_in(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.starts_with("fio: terminating on signal"))
}

pub(super) fn interrupted(run: &mut RunRecord, words: &str) {
    run.status = Status::Partial;
    let because = run.partial_because.get_or_insert_with(String::new);
    if !because.is_empty() {
        because.push_str("; ");
    }
    because.push_str(words);
}

fn line_feeds(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

fn passed_over(text: &str, line: u64, notes: &mut Vec<Note>) {
    let trimmed = text.trim();
    if !trimmed.is_empty() && notes.len() < NOTES_MAX {
        let shown: String = trimmed
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        let before = text.len() - text.trim_start().len();
        let skipped = text[..before].matches('\n').count() as u64;
        notes.push(Note {
            line: Some(line + skipped),
            message: format!("is not part of the JSON and is skipped: {shown}"),
        });
    }
}
