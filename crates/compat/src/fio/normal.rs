//! fio's normal output, its default format.
//!
//! Counts and times are exact in it, rates and bytes are rounded; so rates are computed from the
//! counts and compared with the printed ones. Each group of jobs ends with a summary, which shows
//! whether all of them are present. A group is converted to fio's JSON representation and read as
//! such.

use super::documents::COMPLETION_LATENCIES;
use super::header::{Header, header};
use super::job::Document;
use super::job_text::{JobText, OutputQuirks, SIDES};
use super::json::JOBS_MAX;
use super::printed::{PrintedNumber, bytes};
use super::read::document;
use crate::out::{LineReader, Out};
use crate::text::{Line, fingerprint, fingerprint_on, squeezed};
use crate::{Format, LineProblem};
use std::collections::{BTreeMap, HashMap};

/// The summary over several hosts.
const ALL_CLIENTS: &str = "All clients";

/// Output of one fio invocation.
struct Output {
    line: u64,
    /// Fingerprint of its text.
    content: u64,
    /// `3.33`.
    version: Option<String>,
    headers: HashMap<String, Header>,
    jobs: Vec<JobText>,
    /// Bytes and the shortest and longest runtime, for reads and writes of each group.
    groups: BTreeMap<u64, [Option<Sum>; 2]>,
    signal: Option<String>,
}

#[derive(Clone, Copy)]
struct Sum {
    line: u64,
    bytes: PrintedNumber,
    shortest_ms: u64,
    longest_ms: u64,
}

/// Totals of a group's jobs in one direction.
struct Total {
    /// Line of the first job.
    line: u64,
    bytes: f64,
    off: f64,
    shortest_ms: u64,
    longest_ms: u64,
}

impl Sum {
    fn is_of(&self, total: &Total) -> bool {
        self.bytes.fits_within(total.bytes, total.off)
            && self.longest_ms == total.longest_ms
            && self.shortest_ms == total.shortest_ms
    }
}

impl Default for Output {
    fn default() -> Self {
        Output {
            line: 0,
            content: fingerprint(""),
            version: None,
            headers: HashMap::new(),
            jobs: Vec::new(),
            groups: BTreeMap::new(),
            signal: None,
        }
    }
}

/// Reads fio's normal output.
#[derive(Default)]
pub(crate) struct Reader {
    /// The last complete output, which the next one may supersede.
    last: Option<Output>,
    open: Output,
    /// From the last version line: with --status-interval the same process prints again without
    /// one.
    form: Option<OutputQuirks>,
    /// The group whose summary follows.
    group: Option<u64>,
    /// Skipping the summary over all hosts.
    passing: bool,
    snapshots: u64,
    sums_of_clients: u64,
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let words = squeezed(line.text);
        // In client mode each line begins with its host.
        let words = match words
            .strip_prefix('<')
            .and_then(|rest| rest.split_once("> "))
        {
            Some((_, rest)) => rest,
            None => &*words,
        };
        if words.is_empty() || words.len() > 4_096 {
            return;
        }
        if words.contains(": (g=")
            && let Some((name, found)) = header(words)
        {
            self.next_unless(|open| open.jobs.is_empty(), out);
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
            self.next_unless(|open| open.jobs.is_empty(), out);
            self.open.version = Some(version.to_owned());
            self.form = Some(OutputQuirks::of_version(Some(version)));
            return;
        }
        if words.starts_with("fio: terminating on signal") {
            self.open.signal = Some(words.to_owned());
            return;
        }
        if let Some(number) = words.strip_prefix("Run status group ") {
            return self.begin_sums(line.number, number, out);
        }
        let form = self.form.unwrap_or(OutputQuirks::of_version(None));
        if words.contains(": (groupid=")
            && let Some(job) = JobText::begin(line.number, words, form)
        {
            return self.job(line.number, job, out);
        }
        if let Some(group) = self.group {
            return self.sum(group, line.number, words, out);
        }
        if self.passing {
            return;
        }
        if let Some(job) = self.open.jobs.last_mut() {
            self.open.content = fingerprint_on(self.open.content, words);
            self.open.content = fingerprint_on(self.open.content, "\n");
            if let Err(reason) = job.line(words) {
                job.is_refused = true;
                out.problem(line.number, reason);
            }
        } else if JobText::is_part(words) {
            out.problem(
                line.number,
                "is a part of a job whose first line is not there",
            );
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let before = out.results();
        self.close(out);
        if let Some(last) = self.last.take() {
            last.give(out);
        }
        if out.results() > before {
            self.notes(out);
        }
    }
}

impl Reader {
    fn begin_sums(&mut self, line: u64, number: &str, out: &mut Out<'_>) {
        let number = number.split(' ').next().and_then(|text| text.parse().ok());
        self.group = number;
        self.passing = false;
        match number {
            Some(number) => drop(self.open.groups.entry(number).or_default()),
            None => out.problem(line, "begins the sums of a group without a number"),
        }
    }

    fn job(&mut self, line: u64, job: JobText, out: &mut Out<'_>) {
        self.passing = job.name == ALL_CLIENTS;
        if self.passing {
            self.sums_of_clients += 1;
            self.group = None;
            return;
        }
        self.next_unless(|open| open.groups.is_empty(), out);
        self.group = None;
        if self.open.line == 0 {
            self.open.line = line;
        }
        if self.open.jobs.len() >= JOBS_MAX {
            return out.problem(line, "exceeds the maximum number of jobs of one result");
        }
        let begin = format!("{} {}\n", job.name, job.pid);
        self.open.content = fingerprint_on(self.open.content, &begin);
        self.open.jobs.push(job);
    }

    /// `READ: bw=..., io=4308KiB (4411kB), run=161-161msec`, of version 2
    /// `READ: io=1024.0MB, ..., mint=40177msec, maxt=40177msec`.
    fn sum(&mut self, group: u64, line: u64, words: &str, out: &mut Out<'_>) {
        let marks = ["READ: ", "WRITE: "];
        let Some(side) = marks.iter().position(|mark| words.starts_with(mark)) else {
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
        let form = self.form.unwrap_or(OutputQuirks::of_version(None));
        let io = value(" io=")
            .and_then(|text| bytes(text, old))
            .map(|bytes| form.of(bytes));
        let (Some(bytes), Some((shortest_ms, longest_ms))) = (io, times) else {
            return out.problem(line, "has no bytes and times of a group: it is truncated");
        };
        let sums = self.open.groups.entry(group).or_default();
        if sums[side].is_some() {
            return out.problem(line, "is a second sum of the same group");
        }
        sums[side] = Some(Sum {
            line,
            bytes,
            shortest_ms,
            longest_ms,
        });
    }

    /// Ends the open output unless the next line may belong to it.
    fn next_unless(&mut self, still_open: fn(&Output) -> bool, out: &mut Out<'_>) {
        if !still_open(&self.open) {
            self.close(out);
        }
    }

    fn close(&mut self, out: &mut Out<'_>) {
        let mut open = std::mem::take(&mut self.open);
        self.group = None;
        if open.jobs.is_empty() {
            return;
        }
        if let Some(last) = self.last.take() {
            if open.is_later(&last) {
                self.snapshots += 1;
                open.headers = last.headers;
                open.version = last.version;
                open.line = last.line;
            } else {
                last.give(out);
            }
        }
        self.last = Some(open);
    }

    fn notes(&self, out: &mut Out<'_>) {
        if self.snapshots > 0 {
            out.note_once(format!(
                "{} earlier states of runs (--status-interval) are left out: the last one of each run contains all of its counts",
                self.snapshots
            ));
        }
        if self.sums_of_clients > 0 {
            out.note_once(format!(
                "`{ALL_CLIENTS}` is left out: it is the sum of what the hosts did, each of which is a result here"
            ));
        }
        out.note_once("fio's normal output rounds: latencies and sums are known in the digits that it prints, rates follow from its counts; it does not say whether a job used direct I/O, or for how long it was to run");
        out.note_once(COMPLETION_LATENCIES);
    }
}

impl Output {
    /// Whether it is a later state of the same process.
    fn is_later(&self, last: &Output) -> bool {
        let ids = |output: &'_ Output| -> Vec<(String, String)> {
            let each = output.jobs.iter();
            each.map(|job| (job.name.clone(), job.pid.clone()))
                .collect()
        };
        self.headers.is_empty() && self.jobs.len() == last.jobs.len() && ids(self) == ids(last)
    }

    fn give(&self, out: &mut Out<'_>) {
        // What else is missing follows from that line.
        if self.jobs.iter().any(|job| job.is_refused) {
            return;
        }
        match self.value() {
            Ok(value) => {
                let signal = self.signal.as_deref();
                let form = Format::FioNormal;
                document(value, self.content, self.line, form, signal, out);
            }
            Err(problem) => out.problem(problem.line, problem.reason),
        }
        self.note_unchecked(out);
    }

    /// The equivalent fio JSON document.
    fn value(&self) -> Result<Document, LineProblem> {
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
        Ok(Document {
            version: self
                .version
                .as_ref()
                .map(|version| format!("fio-{version}")),
            jobs: Some(jobs),
            ..Document::default()
        })
    }

    /// Checks that the jobs of each group match its summary.
    fn groups_must_agree(&self) -> Result<(), LineProblem> {
        let mut totals: HashMap<(u64, usize), Total> = HashMap::new();
        for job in &self.jobs {
            for (at, side) in job.sides.iter().enumerate() {
                if let Some(side) = side {
                    let total = totals.entry((job.group, at)).or_insert(Total {
                        line: job.line,
                        bytes: 0.0,
                        off: 0.0,
                        shortest_ms: u64::MAX,
                        longest_ms: 0,
                    });
                    let amount = side.amount();
                    total.bytes += amount.value;
                    total.off += amount.step;
                    total.shortest_ms = total.shortest_ms.min(side.runtime_ms);
                    total.longest_ms = total.longest_ms.max(side.runtime_ms);
                }
            }
        }
        let each = self.groups.iter();
        let each = each.flat_map(|(group, sums)| (0..2).map(move |at| (*group, at, sums[at])));
        for (group, at, sum) in each {
            let side = SIDES[at];
            let (line, reason) = match (sum, totals.get(&(group, at))) {
                (None, None) => continue,
                (None, Some(total)) => (
                    total.line,
                    format!(
                        "begins a job with {side}s, which are missing from the sums of its group {group}: a line is missing"
                    ),
                ),
                (Some(sum), Some(total)) if sum.is_of(total) => continue,
                (Some(sum), _) => (
                    sum.line,
                    format!(
                        "is not the sum of the {side}s of the jobs of group {group}: a job is missing or was changed"
                    ),
                ),
            };
            return Err(LineProblem { line, reason });
        }
        Ok(())
    }

    /// Notes groups without a summary, whose jobs cannot be checked for completeness.
    fn note_unchecked(&self, out: &mut Out<'_>) {
        let mut jobs = self.jobs.iter();
        if let Some(job) = jobs.find(|job| !self.groups.contains_key(&job.group)) {
            out.note(job.line, "begins a job whose group has no `Run status` after it: whether all jobs of the group are present is not known");
        }
    }
}
