//! Converts a fio document to records.
//!
//! Latencies are fio's completion latencies (`clat`), for which it gives percentiles by default;
//! with `lat_percentiles`, total ones (`lat`), as in Stripewise's records. Versions 2 and 3 differ
//! in units, see `outcome`; the workload is in `load`.

use super::consistency::contradiction;
use super::defaults::Defaults;
use super::job::{Document, Job, OptionTexts, Side};
use super::load::workload;
use super::option_names::is_neutral;
use super::options::{self, Options};
use super::outcome::{bytes, outcome};
use super::stopped::stopped_early;
use crate::Format;
use crate::absent::Absent;
use crate::imported_id::imported_id;
use crate::jobs_read::{JobFacts, SideFacts};
use crate::out::Out;
use crate::time::rfc3339;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use stripewise_results::{EngineFacts, Imported, JobRecord, RunRecord, Status, TargetFacts};

/// Most bytes of global options repeated over the records of one document.
const GLOBAL_BYTES_MAX: usize = 64 << 20;

/// Properties of the document as a whole.
struct Frame<'a> {
    document: &'a Document,
    content: u64,
    line: u64,
    /// fio's message about a signal that ended it.
    signal: Option<&'a str>,
    /// Number of records so far.
    records: u64,
    global_bytes_left: usize,
}

/// The jobs of a run while they are collected.
#[derive(Default)]
struct Group {
    jobs: Vec<JobRecord>,
    absent: Vec<Absent>,
    options: Vec<(String, OptionTexts)>,
    start_ms: Option<u64>,
    troubles: Vec<String>,
}

/// The runs of a document: jobs after a `stonewall` ran after the preceding ones.
pub(super) fn document(
    mut value: Document,
    content: u64,
    line: u64,
    form: Format,
    signal: Option<&str>,
    out: &mut Out<'_>,
) {
    let has_list = value.jobs.is_some() || value.client_stats.is_some();
    let jobs = match jobs_of(&mut value, out) {
        Ok(jobs) => jobs,
        Err(reason) => return out.problem(line, reason),
    };
    if jobs.is_empty() {
        let reason = match has_list {
            true => "begins a document whose list of jobs is empty",
            false => "begins a document without `jobs`",
        };
        return out.problem(line, reason);
    }
    if is_repeat(jobs.iter(), form, line, out) {
        return;
    }
    let mut frame = Frame {
        document: &value,
        content,
        line,
        signal,
        records: 0,
        global_bytes_left: GLOBAL_BYTES_MAX,
    };
    let named = names_of(&jobs);
    let mut group = Group::default();
    let mut previous: Option<Job> = None;
    let mut defaults = Defaults::default();
    // Each is dropped once it is a record's: a document may have very many.
    for job in jobs {
        let name = name_of(&job);
        let mut options = options(value.global_options.as_ref(), job.options.as_ref());
        options.of_header = job.of_header;
        let alone = named.get(&(job.group, name.clone())) == Some(&1);
        if (previous.as_ref()).is_some_and(|previous| waited(previous, &job, &options)) {
            let whole = std::mem::take(&mut group);
            let record = frame.record(whole, out.source);
            out.give(record);
        }
        defaults.of(&name, &options, alone, out);
        if let Err(reason) = group.add(&job, &name, &options, alone, out) {
            return out.problem(line, format!("begins a document whose job {name} {reason}"));
        }
        previous = Some(job);
    }
    defaults.note(out);
    let record = frame.record(group, out.source);
    out.give(record);
}

/// Whether jobs were read in another form of fio's output; otherwise they are remembered where
/// other forms follow.
pub(super) fn is_repeat<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    form: Format,
    line: u64,
    out: &mut Out<'_>,
) -> bool {
    if out.jobs.is_none() {
        return false;
    }
    let mean_ns = |side: &Side| {
        let exact = side.clat_ns.as_ref().and_then(|latencies| latencies.mean);
        exact.or_else(|| Some(side.clat.as_ref()?.mean? * 1_000.0))
    };
    let of_side = |side: &Option<Box<Side>>| {
        side.as_deref()
            .map_or_else(SideFacts::default, |side| SideFacts {
                runtime_ms: side.runtime_ms.unwrap_or(0),
                bytes: bytes(side).unwrap_or(0),
                operations: side.total_ios,
                mean_ns: mean_ns(side),
            })
    };
    let of_job = |job: &Job| JobFacts {
        name: job.name.clone().unwrap_or_default(),
        sides: [&job.read, &job.write].map(of_side),
    };
    out.is_repeat(jobs.map(of_job).collect(), form, line)
}

/// Returns an error if the document's version or type is not supported.
pub(super) fn must_be_readable(value: &Document) -> Result<(), String> {
    let version = value.version.as_deref().unwrap_or_default();
    let known = ["fio-2", "fio-3", "fio-4"];
    if known.iter().any(|known| version.starts_with(known)) {
        return Ok(());
    }
    Err(format!(
        "begins a result of `{version}`: versions 2 to 4 of fio are supported"
    ))
}

/// The total that fio's client mode appends to the jobs of several hosts.
const ALL_CLIENTS: &str = "All clients";

/// Takes the jobs of a document; in client mode, those of all hosts without the total, which must
/// match their sum.
fn jobs_of(value: &mut Document, out: &mut Out<'_>) -> Result<Vec<Job>, String> {
    let Some(mut of_clients) = value.client_stats.take() else {
        let mut jobs = value.jobs.take().unwrap_or_default();
        jobs.retain(|job| !job.is_filler());
        return Ok(jobs);
    };
    of_clients.retain(|job| !job.is_filler());
    if of_clients.iter().any(|job| job.name.is_none()) {
        return Err(
            "begins a result of fio's client mode with a job without a name: a line is missing"
                .to_owned(),
        );
    }
    let is_sum = |job: &Job| job.name.as_deref() == Some(ALL_CLIENTS);
    let (sums, jobs): (Vec<Job>, Vec<Job>) = of_clients.into_iter().partition(is_sum);
    for side in ["read", "write"] {
        let count = |job: &Job| {
            let mut sides = job.sides();
            sides.find(|(name, _)| *name == side)?.1.total_ios
        };
        let sum = jobs
            .iter()
            .map(count)
            .try_fold(0_u64, |sum, count| sum.checked_add(count?));
        if let [all] = sums.as_slice()
            && count(all) != sum
        {
            return Err(format!(
                "begins a result of fio's client mode whose `{ALL_CLIENTS}` is not the sum of the {side}s of its jobs: one is missing or was changed"
            ));
        }
    }
    let addresses = jobs
        .iter()
        .map(|job| Some((job.host.as_deref()?, job.port.unwrap_or(0))));
    let hosts: HashSet<_> = addresses.collect();
    if hosts.len() > 1 {
        out.note_once(format!(
            "the jobs of {} hosts (fio's client mode) are one run; their sum, `{ALL_CLIENTS}`, is checked and left out",
            hosts.len()
        ));
    }
    Ok(jobs)
}

/// The name of a job, with its host if remote.
fn name_of(job: &Job) -> String {
    let name = job.name.as_deref().unwrap_or("fio");
    match &job.host {
        Some(host) => format!("{name}@{host}"),
        None => name.to_owned(),
    }
}

/// Whether a job began after the preceding one ended. fio does not print options without a value,
/// as `stonewall` usually is; but a stonewall begins a new group, and so does `new_group`, whose
/// jobs run concurrently: the times decide, if present. `wait_for` begins no group.
fn waited(previous: &Job, job: &Job, options: &Options) -> bool {
    match (previous.group, job.group) {
        (Some(before), Some(here)) if before == here => {
            let awaited = options.get("wait_for").map(str::trim);
            awaited.is_some() && awaited == previous.name.as_deref() && !overlap(previous, job)
        }
        (Some(_), Some(_)) => !overlap(previous, job),
        _ => {
            let waits = ["stonewall", "wait_for_previous"];
            previous.name != job.name && waits.iter().any(|wait| options.is_on(wait))
        }
    }
}

/// Whether the second of two jobs began before most of the first one's runtime; `false` if the
/// times are not printed.
fn overlap(first: &Job, second: &Job) -> bool {
    let longest_ms = first.longest_ms().unwrap_or(0);
    first
        .start_ms
        .zip(second.start_ms)
        .is_some_and(|(first, second)| second < first.saturating_add(longest_ms / 2))
}

/// Number of jobs by group and name.
fn names_of(jobs: &[Job]) -> HashMap<(Option<u64>, String), usize> {
    let mut named = HashMap::new();
    for job in jobs {
        *named.entry((job.group, name_of(job))).or_default() += 1;
    }
    named
}

impl Group {
    /// # Errors
    /// The end of a sentence that names the job.
    fn add(
        &mut self,
        job: &Job,
        name: &str,
        options: &Options,
        alone: bool,
        out: &mut Out<'_>,
    ) -> Result<(), String> {
        self.start_ms = self.start_ms.or(job.start_ms);
        let error = job.error.unwrap_or(0);
        if error != 0 {
            self.troubles
                .push(format!("job {name} ended with error {error}"));
        }
        let stopped = stopped_early(job, name, options, alone, out);
        self.troubles.extend(stopped);
        if job.mixed.is_some() && (job.read.is_none() || job.write.is_none()) {
            return Err("adds up reads and writes (unified_rw_reporting), so neither is known: run fio without that option, or with unified_rw_reporting=both".to_owned());
        }
        let (record, absent) = job_record(job, name, options, alone, out)
            .ok_or("lacks its reads or writes, or their bytes and rates")?;
        if let Some(what) = contradiction(job) {
            return Err(format!(
                "{what}; one of the numbers is truncated or was changed"
            ));
        }
        self.jobs.push(record);
        self.absent.push(absent);
        if let Some(options) = job.options.as_ref().filter(|_| !job.of_header) {
            self.options.push((name.to_owned(), options.clone()));
        }
        Ok(())
    }
}

impl Frame<'_> {
    fn record(&mut self, mut group: Group, source_name: &str) -> RunRecord {
        make_unique(&mut group.jobs);
        let start_ms = group.start_ms;
        let started_at = start_ms.and_then(|ms| rfc3339(ms as i64 / 1000, (ms % 1000) as u32));
        let of_run: &[&str] = match started_at {
            Some(_) => &["started_at"],
            None => &[],
        };
        let details = self.details(&group.options);
        let id = imported_id("fio", self.content, self.records);
        self.records += 1;
        let mut run = RunRecord {
            id,
            started_at: started_at.unwrap_or_default(),
            status: Status::Complete,
            imported: Some(Imported {
                tool: "fio".to_owned(),
                tool_version: (self.document.version.as_deref())
                    .map(|version| version.trim_start_matches("fio-").to_owned()),
                source: source_name.to_owned(),
                line: Some(self.line),
                details: Some(Value::Object(details)),
                absent: Absent::of_jobs(&group.absent, of_run),
                ..Imported::default()
            }),
            jobs: group.jobs,
            ..RunRecord::empty()
        };
        for trouble in group.troubles.iter().map(String::as_str).chain(self.signal) {
            interrupted(&mut run, trouble);
        }
        run
    }

    /// What a record has no field for.
    fn details(&mut self, of_jobs: &[(String, OptionTexts)]) -> Map<String, Value> {
        let Document {
            timestamp,
            timestamp_ms,
            time,
            global_options,
            disk_util,
            ..
        } = self.document;
        let mut details = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                details.insert(name.to_owned(), value);
            }
        };
        add("timestamp", timestamp.map(Value::from));
        add("timestamp_ms", timestamp_ms.map(Value::from));
        add("time", time.as_deref().map(Value::from));
        // A malicious file repeats long ones in very many records.
        let length = |options: &OptionTexts| -> usize {
            options
                .iter()
                .map(|(name, value)| name.len() + value.len())
                .sum()
        };
        let global = global_options.as_ref().filter(|options| {
            let left = self.global_bytes_left.checked_sub(length(options));
            self.global_bytes_left = left.unwrap_or(0);
            left.is_some()
        });
        add("global options", global.map(object));
        if !of_jobs.is_empty() {
            let each = of_jobs
                .iter()
                .map(|(name, options)| (name.clone(), object(options)));
            add("job options", Some(Value::Object(each.collect())));
        }
        // The disk statistics are those of the whole document.
        let first = disk_util.as_ref().filter(|_| self.records == 0);
        add("disk_util", first.cloned());
        details
    }
}

fn object(options: &OptionTexts) -> Value {
    let each = options
        .iter()
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    Value::Object(each.collect())
}

/// Numbers jobs that share a name, as the processes of a job do.
fn make_unique(jobs: &mut [JobRecord]) {
    let mut seen: HashSet<String> = HashSet::new();
    for (number, job) in jobs.iter_mut().enumerate() {
        if !seen.insert(job.name.clone()) {
            job.name = format!("{}#{}", job.name, number + 1);
            seen.insert(job.name.clone());
        }
    }
}

/// A job's options over the global ones.
fn options(global: Option<&OptionTexts>, own: Option<&OptionTexts>) -> Options {
    let mut options = Options::default();
    for (name, value) in global.into_iter().chain(own).flatten() {
        options::put(&mut options.all, options::name_of(name), value.clone());
    }
    options
}

fn job_record(
    job: &Job,
    name: &str,
    options: &Options,
    alone: bool,
    out: &mut Out<'_>,
) -> Option<(JobRecord, Absent)> {
    let mut absent = Absent::everything();
    if job.trims() {
        let rest = match job.did_nothing() {
            true => "; it did nothing else, so that its result has neither rates nor latencies",
            false => "",
        };
        out.note_once(format!(
            "job {name}: its trims are left out: discards are not imported{rest}"
        ));
    }
    if job.may_trim {
        out.note_once(format!(
            "job {name}: it neither read nor wrote, and version 3 of terse output prints no trims: its rates are absent"
        ));
    }
    let in_turn = verifies(job, options);
    if in_turn {
        out.note_once(format!(
            "job {name}: it read what it had written to verify it: its time and its rate are absent, as those of two loads"
        ));
    }
    let outcome = outcome(job, in_turn, &mut absent)?;
    // Since version 3.2 both are printed.
    let in_kib = |side: &Side| side.io_kbytes.is_some() && side.bw_bytes.is_none();
    if job.sides().any(|(_, side)| in_kib(side)) {
        out.note_once(format!(
            "job {name}: its rate of bytes is known in KiB/s only"
        ));
    }
    let mut doubts = Vec::new();
    let mut workload = workload(options, alone, &outcome, &mut absent, &mut doubts);
    for doubt in doubts {
        out.note_once(format!("job {name}: {doubt}"));
    }
    let mut targets = targets(options, &mut absent);
    // fio's iodepth is that of all files of the job, which it visits in turn.
    workload.in_turn = targets.len() > 1;
    let target = targets.remove(0);
    let engine = EngineFacts {
        name: options.get("ioengine").unwrap_or_default().to_owned(),
        ..EngineFacts::default()
    };
    if !engine.name.is_empty() {
        absent.give("jobs.engine.name");
    }
    let shown = name.chars().filter(|sign| !sign.is_control());
    let job = JobRecord {
        name: shown.take(56).collect(),
        target,
        further_targets: targets,
        workload,
        engine,
        outcome,
        warnings: Vec::new(),
    };
    Some((job, absent))
}

/// Whether a job read what it had written before.
fn verifies(job: &Job, options: &Options) -> bool {
    let verify = options.get("verify");
    let is_on = verify.is_some_and(|value| !is_neutral("verify", value))
        && options.get("do_verify").map(str::trim) != Some("0");
    is_on && job.sides().all(|(_, side)| bytes(side) > Some(0))
}

/// The files of a job, at least one: names separated by colons, `\\:` for a colon in a name.
fn targets(options: &Options, absent: &mut Absent) -> Vec<TargetFacts> {
    let names = match (options.get("filename"), options.get("directory")) {
        (Some(names), _) => options::names(names),
        (None, Some(directory)) => vec![directory.to_owned()],
        (None, None) => Vec::new(),
    };
    if names.is_empty() {
        return vec![TargetFacts::unknown()];
    }
    absent.give("jobs.target.name");
    let target = |name: String| TargetFacts {
        name,
        ..TargetFacts::unknown()
    };
    names.into_iter().map(target).collect()
}

/// Marks a run as incomplete, with the reason.
fn interrupted(run: &mut RunRecord, words: &str) {
    run.status = Status::Partial;
    let because = run.partial_because.get_or_insert_with(String::new);
    if !because.is_empty() {
        because.push_str("; ");
    }
    because.push_str(words);
}
