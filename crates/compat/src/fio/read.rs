//! A document of fio as records.
//!
//! Latencies are fio's completion latencies (`clat`), of which it gives
//! percentiles by default; where a job asked for `lat_percentiles`, total ones
//! (`lat`), which is what records of ours have. Versions 2 and 3 differ in units,
//! see `outcome`; what a job asked for is in `load`.

use super::load::workload;
use super::options::{self, Options};
use super::outcome::outcome;
use super::sound::contradiction;
use crate::absent::Absent;
use crate::imported_id::imported_id;
use crate::time::rfc3339;
use crate::{Error, LineProblem, Note};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use stripewise_results::{EngineFacts, Imported, JobRecord, RunRecord, Status, TargetFacts};

pub(super) const JOBS_MAX: usize = 10_000;
/// Notes of one file; where there are more, the first ones say it all.
pub(super) const NOTES_MAX: usize = 50;

/// The runs of a document: jobs behind a `stonewall` ran after those before it.
pub(super) fn document(
    value: &Value,
    content: u64,
    line: u64,
    source_name: &str,
    runs: &mut Vec<RunRecord>,
    notes: &mut Vec<Note>,
) -> Result<(), Error> {
    let at_line = |reason: String| {
        let problem = LineProblem { line, reason };
        Error::of_lines(source_name, vec![problem], "nothing was imported")
    };
    let jobs = jobs_of(value, notes).map_err(at_line)?;
    let jobs = jobs.as_slice();
    if jobs.is_empty() || jobs.len() > JOBS_MAX {
        return Err(at_line("begins a document without `jobs`".to_owned()));
    }
    let global = value.get("global options").and_then(Value::as_object);
    let named = names_of(jobs);
    let mut copies = 0;
    let mut group: Vec<(JobRecord, Absent)> = Vec::new();
    let mut previous: Option<&Value> = None;
    let mut start = None;
    let mut troubles = Vec::new();
    let mut defaults = Defaults::default();
    for &job in jobs {
        let name = name_of(job);
        let mut options = options(global, job.get("job options").and_then(Value::as_object));
        options.of_header = job.get(OF_HEADER).is_some();
        let alone = named.get(name.as_str()).is_none_or(|count| *count == 1);
        if previous.is_some_and(|previous| waited(previous, job, &options)) {
            let group = std::mem::take(&mut group);
            runs.push(finish(
                group,
                value,
                start.take(),
                imported_id("fio", content, copies),
                line,
                source_name,
                &mut troubles,
            ));
            copies += 1;
        }
        if start.is_none() {
            start = job.get("job_start").and_then(Value::as_u64);
        }
        defaults.of(&name, &options, alone, notes);
        let error = job.get("error").and_then(Value::as_i64).unwrap_or(0);
        if error != 0 {
            troubles.push(format!("job {name} ended with error {error}"));
        }
        troubles.extend(stopped_early(job, &name, &options, alone, notes));
        let read = job_record(job, &name, &options, alone, notes).ok_or_else(|| {
            at_line(format!(
                "begins a document whose job {name} has no reads and writes in it"
            ))
        })?;
        must_agree(job, &name, line, source_name)?;
        group.push(read);
        previous = Some(job);
    }
    defaults.note(notes);
    runs.push(finish(
        group,
        value,
        start,
        imported_id("fio", content, copies),
        line,
        source_name,
        &mut troubles,
    ));
    Ok(())
}

/// What the options of jobs do not name, so that fio's defaults are taken: a line that
/// was cut out of them looks the same.
#[derive(Default)]
struct Defaults(BTreeMap<String, Vec<String>>);

impl Defaults {
    /// Names of one kind that are said in one note.
    const NAMED_MAX: usize = 8;

    fn of(&mut self, name: &str, options: &Options, alone: bool, notes: &mut Vec<Note>) {
        if options.all.is_empty() {
            let message =
                format!("job {name}: its options are missing: what it was asked to do is unknown");
            return note_once(notes, message);
        }
        let mut missing = Vec::new();
        for (option, others) in [
            ("rw", ["rw", "readwrite"].as_slice()),
            (
                "bs",
                &["bs", "blocksize", "bsrange", "blocksize_range", "bssplit"],
            ),
            ("iodepth", &["iodepth"]),
            ("ioengine", &["ioengine"]),
            ("numjobs", &["numjobs"]),
            ("direct", &["direct", "buffered"]),
        ] {
            let asked = match option {
                "numjobs" => alone,
                "direct" => !options.of_header,
                _ => true,
            };
            if asked && !others.iter().any(|name| options.get(name).is_some()) {
                missing.push(option);
            }
        }
        if !missing.is_empty() {
            let jobs = self.0.entry(missing.join(", ")).or_default();
            jobs.push(name.to_owned());
        }
    }

    fn note(self, notes: &mut Vec<Note>) {
        for (missing, jobs) in self.0 {
            let shown = jobs[..jobs.len().min(Self::NAMED_MAX)].join(", ");
            let more = match jobs.len().saturating_sub(Self::NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            note_once(
                notes,
                format!(
                    "jobs {shown}{more}: options that do not name {missing} have fio's defaults for them"
                ),
            );
        }
    }
}

/// Why a job counts as stopped: it ran for less than its options say, and its data did
/// not come to an end, as far as it says how much that was. Noted in either case.
fn stopped_early(
    job: &Value,
    name: &str,
    options: &Options,
    alone: bool,
    notes: &mut Vec<Note>,
) -> Option<String> {
    let sides = ["read", "write"].map(|side| job.get(side));
    let sides = || sides.into_iter().flatten();
    let runtimes = sides().filter_map(|side| side.get("runtime")?.as_u64());
    let ran_ns = runtimes.max()?.checked_mul(1_000_000)?;
    let asked_ns = options.time_ns("runtime").unwrap_or(0);
    if ran_ns == 0 || ran_ns >= asked_ns / 20 * 19 {
        return None;
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let ran = format!(
        "job {name}: it ran for {:.1} s of the {} s of its options",
        seconds(ran_ns),
        seconds(asked_ns),
    );
    note_once(
        notes,
        format!("{ran}: its data came to an end, or it was interrupted"),
    );
    let processes = options.count("numjobs").filter(|_| alone).unwrap_or(1);
    let size = |name: &str| options.get(name).and_then(options::size);
    let done: u64 = sides().filter_map(super::outcome::bytes).sum();
    let at_its_end = size("io_size")
        .or_else(|| size("size"))
        // Each of its processes does as much; alone, it stands for all of them.
        .and_then(|bytes| bytes.checked_mul(u64::from(processes)))
        .is_some_and(|bytes| done >= bytes / 100 * 99);
    let operations: u64 = sides()
        .filter_map(|side| side.get("total_ios")?.as_u64())
        .sum();
    let all_operations = (options.count("number_ios"))
        .is_some_and(|each| operations >= u64::from(each) * u64::from(processes));
    // How much a share of a file is, the result does not say.
    let amount = options.get("io_size").or_else(|| options.get("size"));
    let is_share = amount.is_some_and(|amount| amount.contains('%'));
    let may_be_at_its_end = at_its_end || all_operations || is_share;
    (options.is_on("time_based") || !may_be_at_its_end).then_some(ran)
}

/// Whether a document is of a version and kind that is read; else why not.
pub(super) fn must_be_readable(value: &Value) -> Result<(), String> {
    let version = text_of(value, "fio version").unwrap_or_default();
    if !["fio-2", "fio-3", "fio-4"]
        .iter()
        .any(|known| version.starts_with(known))
    {
        return Err(format!(
            "begins a result of `{version}`: versions 2 to 4 of fio are supported"
        ));
    }
    Ok(())
}

/// What marks a job whose options are those of fio's normal output.
pub(super) const OF_HEADER: &str = "options of header";

/// The sum that fio's client mode puts behind the jobs of several hosts.
const ALL_CLIENTS: &str = "All clients";

/// The jobs of a document; of fio's client mode, those of all hosts without their sum,
/// which must be what they add up to.
fn jobs_of<'a>(value: &'a Value, notes: &mut Vec<Note>) -> Result<Vec<&'a Value>, String> {
    let each = |name: &str| value.get(name).and_then(Value::as_array);
    let Some(of_clients) = each("client_stats") else {
        return Ok(each("jobs").into_iter().flatten().collect());
    };
    if of_clients
        .iter()
        .any(|job| text_of(job, "jobname").is_none())
    {
        return Err(
            "begins a result of fio's client mode with a job without a name: a line is missing"
                .to_owned(),
        );
    }
    let is_sum = |job: &&Value| text_of(job, "jobname") == Some(ALL_CLIENTS);
    let (sums, jobs): (Vec<&Value>, Vec<&Value>) = of_clients.iter().partition(is_sum);
    for side in ["read", "write"] {
        let count = |job: &&Value| job.get(side)?.get("total_ios")?.as_u64();
        let sum: Option<u64> = jobs.iter().map(count).sum();
        if let [all] = sums.as_slice()
            && count(all) != sum
        {
            return Err(format!(
                "begins a result of fio's client mode whose `{ALL_CLIENTS}` is not the sum of the {side}s of its jobs: one is missing or was changed"
            ));
        }
    }
    let hosts: HashSet<_> = jobs.iter().map(|job| address_of(job)).collect();
    if hosts.len() > 1 {
        let message = format!(
            "the jobs of {} hosts (fio's client mode) are one run; their sum, `{ALL_CLIENTS}`, is checked and left out",
            hosts.len()
        );
        note_once(notes, message);
    }
    Ok(jobs)
}

/// Host and port of a job of fio's client mode.
fn address_of(job: &Value) -> Option<(&str, u64)> {
    let port = job.get("port").and_then(Value::as_u64).unwrap_or(0);
    Some((text_of(job, "hostname")?, port))
}

/// The name of a job; with its host where it ran on another one.
fn name_of(job: &Value) -> String {
    let name = text_of(job, "jobname").unwrap_or("fio");
    match text_of(job, "hostname") {
        Some(host) => format!("{name}@{host}"),
        None => name.to_owned(),
    }
}

/// # Errors
/// Names the job and what contradicts itself in it.
fn must_agree(job: &Value, name: &str, line: u64, source_name: &str) -> Result<(), Error> {
    let Some(what) = contradiction(job) else {
        return Ok(());
    };
    let reason = format!(
        "begins a document whose job {name} {what}; one of the numbers is truncated or was changed"
    );
    let hint = "give fio's output as it was written; nothing was imported";
    Err(Error::of_lines(
        source_name,
        vec![LineProblem { line, reason }],
        hint,
    ))
}

/// Whether a job began when the one before it had ended. fio does not print
/// options without a value, which `stonewall` mostly is; but a stonewall begins a
/// new group, and so does `new_group`, whose jobs run at once: where the times are
/// there, they tell.
fn waited(previous: &Value, job: &Value, options: &Options) -> bool {
    let group = |job: &Value| job.get("groupid").and_then(Value::as_u64);
    match (group(previous), group(job)) {
        (Some(before), Some(here)) if before == here => false,
        (Some(_), Some(_)) => !overlap(previous, job),
        _ => {
            let waits = ["stonewall", "wait_for_previous"];
            let another = text_of(previous, "jobname") != text_of(job, "jobname");
            another && waits.iter().any(|wait| options.is_on(wait))
        }
    }
}

/// Whether the second of two jobs began before the first one had measured for most
/// of its time; `false` where the times are not printed.
fn overlap(first: &Value, second: &Value) -> bool {
    let start = |job: &Value| job.get("job_start").and_then(Value::as_u64);
    let runtime = |side: &str| first.get(side)?.get("runtime")?.as_u64();
    let longest_ms = runtime("read").max(runtime("write")).unwrap_or(0);
    start(first)
        .zip(start(second))
        .is_some_and(|(first, second)| second < first.saturating_add(longest_ms / 2))
}

/// How many jobs have each name.
fn names_of(jobs: &[&Value]) -> HashMap<String, usize> {
    let mut named = HashMap::new();
    for &job in jobs {
        *named.entry(name_of(job)).or_default() += 1;
    }
    named
}

fn finish(
    group: Vec<(JobRecord, Absent)>,
    document: &Value,
    start_ms: Option<u64>,
    id: String,
    line: u64,
    source_name: &str,
    troubles: &mut Vec<String>,
) -> RunRecord {
    let (mut jobs, of_jobs): (Vec<JobRecord>, Vec<_>) = group.into_iter().unzip();
    make_unique(&mut jobs);
    let mut absent = Absent::of_jobs(of_jobs);
    let started_at = start_ms.and_then(|ms| rfc3339(ms as i64 / 1000, (ms % 1000) as u32));
    if started_at.is_some() {
        absent.give("started_at");
    }
    let mut details = Map::new();
    if let Some(document) = document.as_object() {
        for name in [
            "timestamp",
            "timestamp_ms",
            "time",
            "global options",
            "disk_util",
        ] {
            if let Some(value) = document.get(name) {
                details.insert(name.to_owned(), value.clone());
            }
        }
    }
    let troubles = std::mem::take(troubles);
    RunRecord {
        id,
        started_at: started_at.unwrap_or_default(),
        status: if troubles.is_empty() {
            Status::Complete
        } else {
            Status::Partial
        },
        partial_because: (!troubles.is_empty()).then(|| troubles.join("; ")),
        imported: Some(Imported {
            tool: "fio".to_owned(),
            tool_version: text_of(document, "fio version")
                .map(|version| version.trim_start_matches("fio-").to_owned()),
            source: source_name.to_owned(),
            line: Some(line),
            details: Some(Value::Object(details)),
            absent: absent.into_set(),
        }),
        jobs,
        ..RunRecord::empty()
    }
}

/// Jobs of one name, which the processes of a job are, get a number.
fn make_unique(jobs: &mut [JobRecord]) {
    let mut seen: HashSet<String> = HashSet::new();
    for (number, job) in jobs.iter_mut().enumerate() {
        if !seen.insert(job.name.clone()) {
            job.name = format!("{}#{}", job.name, number + 1);
            seen.insert(job.name.clone());
        }
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// A job's options over the global ones; values are texts.
fn options(global: Option<&Map<String, Value>>, own: Option<&Map<String, Value>>) -> Options {
    let mut options = Options::default();
    for (name, value) in global.into_iter().chain(own).flatten() {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        options.all.insert(name.clone(), text);
    }
    options
}

fn job_record(
    job: &Value,
    name: &str,
    options: &Options,
    alone: bool,
    notes: &mut Vec<Note>,
) -> Option<(JobRecord, Absent)> {
    let mut absent = Absent::everything();
    let (read, write) = (job.get("read")?, job.get("write")?);
    let trims = job
        .get("trim")
        .and_then(|trim| trim.get("total_ios"))
        .and_then(Value::as_u64);
    if trims.unwrap_or(0) > 0 {
        let message = format!("job {name}: its trims are left out: discards are not imported");
        note_once(notes, message);
    }
    let outcome = outcome(job, read, write, &mut absent)?;
    // Since version 3.2 both are printed.
    let in_kib = |side: &Value| side.get("io_kbytes").is_some() && side.get("bw_bytes").is_none();
    if in_kib(read) || in_kib(write) {
        note_once(
            notes,
            format!("job {name}: its rate of bytes is known in KiB/s only"),
        );
    }
    let mut doubts = Vec::new();
    let workload = workload(options, alone, &outcome, &mut absent, &mut doubts);
    for doubt in doubts {
        note_once(notes, format!("job {name}: {doubt}"));
    }
    let mut targets = targets(options, &mut absent);
    let mut workload = workload;
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
    let shown: String = name
        .chars()
        .filter(|sign| !sign.is_control())
        .take(56)
        .collect();
    let job = JobRecord {
        name: shown,
        target,
        further_targets: targets,
        workload,
        engine,
        outcome,
        warnings: Vec::new(),
    };
    Some((job, absent))
}

/// The files of a job, at least one: names with colons between, `\\:` for a colon
/// in a name.
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

/// The same of many jobs is said once.
fn note_once(notes: &mut Vec<Note>, message: String) {
    let said = notes.iter().any(|note| note.message == message);
    if !said && notes.len() < NOTES_MAX {
        notes.push(Note {
            line: None,
            message,
        });
    }
}
