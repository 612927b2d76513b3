//! fio's normal output, what it prints where no other form is asked for.
//!
//! Counts and times are whole in it, rates and bytes are rounded; so rates are
//! computed from the counts, and what is printed must agree. Each group of jobs is
//! summed up in the end, which tells whether all of them are there. A group becomes
//! the document that fio would have printed as JSON, and is read as one.

use super::documents::{COMPLETION_LATENCIES, DOCUMENTS_MAX, interrupted};
use super::header::{Header, header};
use super::job_text::{JobText, SIDES};
use super::printed::{Printed, bytes};
use super::read::{JOBS_MAX, document};
use crate::text::{Line, fingerprint, lines, squeezed};
use crate::{Error, Format, ImportedFile, LineProblem, Note};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PROBLEMS_MAX: usize = 100;

/// The sum of several hosts.
const ALL_CLIENTS: &str = "All clients";

pub(crate) fn import_text(text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    let mut reader = Reader::default();
    for line in lines(text) {
        reader.line(line);
        if reader.problems.len() > PROBLEMS_MAX {
            break;
        }
    }
    reader.close();
    let mut runs = Vec::new();
    let mut notes = Vec::new();
    let mut problems = std::mem::take(&mut reader.problems);
    if problems.is_empty() {
        for output in &reader.outputs {
            match output.value() {
                Ok(value) => {
                    let first = runs.len();
                    let content = fingerprint(&output.content);
                    let line = output.line;
                    document(&value, content, line, source_name, &mut runs, &mut notes)?;
                    if let Some(words) = &output.signal {
                        for run in &mut runs[first..] {
                            interrupted(run, words);
                        }
                    }
                }
                Err(problem) => problems.push(problem),
            }
            notes.extend(output.unchecked());
        }
    }
    if !problems.is_empty() {
        let hint = "give fio's output as it was written, or its JSON (--output-format=json); nothing was imported";
        return Err(Error::of_lines(source_name, problems, hint));
    }
    if runs.is_empty() {
        let hint = "make it with `fio --output-format=json`";
        return Err(Error::new(source_name, "contains no result of fio", hint));
    }
    notes.extend(reader.notes());
    let rounded = "fio's normal output rounds: latencies and sums are known in the digits that it prints, rates follow from its counts; it does not say whether a job used direct I/O, or for how long it was to run";
    for message in [rounded, COMPLETION_LATENCIES] {
        notes.push(Note {
            line: None,
            message: message.to_owned(),
        });
    }
    Ok(ImportedFile {
        format: Format::FioNormal,
        runs,
        notes,
    })
}

/// What one start of fio printed.
#[derive(Default)]
struct Output {
    line: u64,
    content: String,
    version: Option<String>,
    headers: BTreeMap<String, Header>,
    jobs: Vec<JobText>,
    /// Bytes, and the shortest and longest time, of reads and writes of each group.
    groups: BTreeMap<u64, [Option<Sum>; 2]>,
    signal: Option<String>,
}

#[derive(Clone, Copy)]
struct Sum {
    line: u64,
    bytes: Printed,
    shortest_ms: u64,
    longest_ms: u64,
}

#[derive(Default)]
struct Reader {
    outputs: Vec<Output>,
    open: Output,
    /// The group whose sums follow.
    group: Option<u64>,
    /// The lines of a sum of all hosts are passed over.
    passing: bool,
    snapshots: u64,
    sums_of_clients: u64,
    problems: Vec<LineProblem>,
}

impl Reader {
    fn problem(&mut self, line: u64, reason: impl Into<String>) {
        self.problems.push(LineProblem {
            line,
            reason: reason.into(),
        });
    }

    fn line(&mut self, line: Line<'_>) {
        let words = squeezed(line.text);
        // In client mode each line begins with its host.
        let words = match words
            .strip_prefix('<')
            .and_then(|rest| rest.split_once("> "))
        {
            Some((_, rest)) => rest,
            None => words.as_str(),
        };
        if words.is_empty() || words.len() > 4_096 {
            return;
        }
        if let Some((name, found)) = header(words) {
            self.next_unless(|open| open.jobs.is_empty());
            self.open.line = if self.open.line == 0 {
                line.number
            } else {
                self.open.line
            };
            self.open.headers.entry(name).or_insert(found);
            return;
        }
        if let Some(version) = words
            .strip_prefix("fio-")
            .filter(|rest| !rest.contains(' '))
        {
            self.next_unless(|open| open.jobs.is_empty());
            self.open.version = Some(format!("fio-{version}"));
            return;
        }
        if words.starts_with("fio: terminating on signal") {
            self.open.signal = Some(words.to_owned());
            return;
        }
        if let Some(number) = words.strip_prefix("Run status group ") {
            let number = number.split(' ').next().and_then(|text| text.parse().ok());
            self.group = number;
            self.passing = false;
            match number {
                Some(number) => {
                    self.open.groups.entry(number).or_default();
                }
                None => self.problem(line.number, "begins the sums of a group without a number"),
            }
            return;
        }
        if let Some(job) = JobText::begin(line.number, words) {
            return self.job(line.number, job);
        }
        if let Some(group) = self.group {
            return self.sum(group, line.number, words);
        }
        if self.passing {
            return;
        }
        if let Some(job) = self.open.jobs.last_mut() {
            self.open.content.push_str(words);
            self.open.content.push('\n');
            if let Err(reason) = job.line(words) {
                self.problem(line.number, reason);
            }
        } else if JobText::is_part(words) {
            self.problem(
                line.number,
                "is a part of a job whose first line is not there",
            );
        }
    }

    fn job(&mut self, line: u64, job: JobText) {
        self.passing = job.name == ALL_CLIENTS;
        if self.passing {
            self.sums_of_clients += 1;
            self.group = None;
            return;
        }
        self.next_unless(|open| open.groups.is_empty());
        self.group = None;
        if self.open.line == 0 {
            self.open.line = line;
        }
        if self.open.jobs.len() >= JOBS_MAX || self.outputs.len() >= DOCUMENTS_MAX {
            return self.problem(line, "exceeds the maximum number of jobs");
        }
        self.open
            .content
            .push_str(&format!("{} {}\n", job.name, job.pid));
        self.open.jobs.push(job);
    }

    /// `READ: bw=..., io=4308KiB (4411kB), run=161-161msec`, of version 2
    /// `READ: io=1024.0MB, ..., mint=40177msec, maxt=40177msec`.
    fn sum(&mut self, group: u64, line: u64, words: &str) {
        let Some(side) = SIDES.iter().position(|side| {
            words
                .strip_prefix(side.to_uppercase().as_str())
                .is_some_and(|rest| rest.starts_with(": "))
        }) else {
            return;
        };
        let value = |name: &str| {
            let from = words.find(name)? + name.len();
            words[from..].split([',', ' ']).next()
        };
        let ms = |text: &str| text.trim_end_matches("msec").parse::<u64>().ok();
        let old = words.contains("mint=");
        let times = if old {
            value("mint=").and_then(ms).zip(value("maxt=").and_then(ms))
        } else {
            value("run=")
                .and_then(|text| text.split_once('-'))
                .and_then(|(from, to)| ms(from).zip(ms(to)))
        };
        let io = value(" io=").and_then(|text| bytes(text, old));
        let (Some(bytes), Some((shortest_ms, longest_ms))) = (io, times) else {
            return self.problem(line, "has no bytes and times of a group: it is truncated");
        };
        let sums = self.open.groups.entry(group).or_default();
        if sums[side].is_some() {
            return self.problem(line, "is a second sum of the same group");
        }
        sums[side] = Some(Sum {
            line,
            bytes,
            shortest_ms,
            longest_ms,
        });
    }

    /// Ends the output that is open unless what comes may belong to it.
    fn next_unless(&mut self, still_open: fn(&Output) -> bool) {
        if !still_open(&self.open) {
            self.close();
        }
    }

    fn close(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        self.group = None;
        if open.jobs.is_empty() {
            return;
        }
        // With --status-interval the same processes print again what they counted.
        let is_later = |last: &Output| {
            let ids = |output: &Output| -> Vec<(String, String)> {
                let each = output.jobs.iter();
                each.map(|job| (job.name.clone(), job.pid.clone()))
                    .collect()
            };
            open.headers.is_empty() && ids(last) == ids(&open)
        };
        if self.outputs.last().is_some_and(is_later)
            && let Some(last) = self.outputs.pop()
        {
            self.snapshots += 1;
            open.headers = last.headers;
            open.version = last.version;
            open.line = last.line;
        }
        self.outputs.push(open);
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.snapshots > 0 {
            notes.push(format!(
                "{} earlier states of runs (--status-interval) are left out: the last one of each run contains all of its counts",
                self.snapshots
            ));
        }
        if self.sums_of_clients > 0 {
            notes.push(format!(
                "`{ALL_CLIENTS}` is left out: it is the sum of what the hosts did, each of which is a result here"
            ));
        }
        let note = |message| Note {
            line: None,
            message,
        };
        notes.into_iter().map(note).collect()
    }
}

impl Output {
    /// The document that fio's JSON would have been.
    fn value(&self) -> Result<Value, LineProblem> {
        let mut jobs = Vec::new();
        for job in &self.jobs {
            let header = self.headers.get(&job.name);
            let at_job = |reason: String| LineProblem {
                line: job.line,
                reason: format!("begins a job that {reason}"),
            };
            jobs.push(job.value(header).map_err(at_job)?);
        }
        self.groups_must_agree()?;
        let mut value = json!({"jobs": jobs});
        if let Some(version) = &self.version {
            value["fio version"] = Value::from(version.as_str());
        }
        Ok(value)
    }

    /// The jobs of each group must add up to what is printed of it.
    fn groups_must_agree(&self) -> Result<(), LineProblem> {
        let each = self.groups.iter();
        for (group, at, sum) in
            each.flat_map(|(group, sums)| (0..2).map(move |at| (group, at, sums[at])))
        {
            let jobs = || self.jobs.iter().filter(|job| job.group == *group);
            let sides = || jobs().filter_map(|job| job.sides[at].as_ref());
            let side = SIDES[at];
            let Some(sum) = sum else {
                if let Some(job) = jobs().find(|job| job.sides[at].is_some()) {
                    return Err(LineProblem {
                        line: job.line,
                        reason: format!(
                            "begins a job with {side}s, which are missing from the sums of its group {group}: a line is missing"
                        ),
                    });
                }
                continue;
            };
            let bytes: f64 = sides().map(|side| side.bytes.value).sum();
            let off: f64 = sides().map(|side| side.bytes.step).sum();
            let times = || sides().map(|side| side.runtime_ms);
            let agrees = sum.bytes.fits_within(bytes, off)
                && times().max() == Some(sum.longest_ms)
                && times().min() == Some(sum.shortest_ms);
            if !agrees {
                return Err(LineProblem {
                    line: sum.line,
                    reason: format!(
                        "is not the sum of the {side}s of the jobs of group {group}: a job is missing or was changed"
                    ),
                });
            }
        }
        Ok(())
    }

    /// Groups without sums, of which nobody can say whether all of their jobs are here.
    fn unchecked(&self) -> Option<Note> {
        let job = self
            .jobs
            .iter()
            .find(|job| !self.groups.contains_key(&job.group))?;
        Some(Note {
            line: Some(job.line),
            message: "begins a job whose group has no `Run status` after it: whether all jobs of the group are present is not known".to_owned(),
        })
    }
}
