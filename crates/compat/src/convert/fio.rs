//! A fio job file: sections, `[global]` before them. Options that a plan has no
//! key for are named.

use super::plan::{JobText, PlanText};
use crate::fio::{Options, cache, names, size};
use crate::text::lines;
use crate::{Error, LineProblem};
use std::collections::BTreeMap;

/// Options that are carried over, or need nothing said.
const KNOWN: [&str; 41] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "size",
    "runtime",
    "ramp_time",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "filename",
    "directory",
    "offset",
    "rwmixread",
    "rwmixwrite",
    "rate_iops",
    "rate_process",
    "random_distribution",
    "randseed",
    "name",
    "thread",
    "group_reporting",
    "stonewall",
    "wait_for_previous",
    "ioengine",
    "time_based",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "refill_buffers",
    "norandommap",
    "randrepeat",
    "invalidate",
    "description",
    "loops",
    "new_group",
    "bsrange",
    "bssplit",
    "wait_for",
    "filesize",
];

/// Other names of the same options: the one that is given last counts, whichever
/// name it has.
const ALIASES: [(&str, &str); 3] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
];

/// Engines that read and write files and block devices. Others work on something
/// else (clusters, networks, memory, nothing), and so would not be what they were.
const ENGINES: [&str; 11] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "posixaio",
    "io_uring",
    "windowsaio",
    "solarisaio",
    "mmap",
];

struct Section {
    name: String,
    line: u64,
    options: Options,
}

pub(super) fn read(text: &str, source_name: &str, plan: &mut PlanText) -> Result<(), Error> {
    let sections = sections(text, source_name, plan)?;
    let mut walls = 0;
    let mut problems = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        let waits = ["stonewall", "wait_for_previous", "wait_for"]
            .iter()
            .any(|option| section.options.is_on(option));
        walls += usize::from(waits && number > 0);
        match job_of(section, plan) {
            Ok(job) => plan.jobs.push(job),
            Err(reason) => problems.push(LineProblem {
                line: section.line,
                reason,
            }),
        }
    }
    if !problems.is_empty() {
        return Err(Error::of_lines(
            source_name,
            problems,
            "fix these jobs, or take them out",
        ));
    }
    if plan.jobs.is_empty() {
        let hint = "a job begins with its name in brackets: [job]";
        return Err(Error::new(source_name, "has no job", hint));
    }
    let times = |job: &JobText| -> Vec<String> {
        let of = job
            .pairs
            .iter()
            .filter(|(key, _)| matches!(*key, "duration" | "ramp"));
        of.map(|(key, value)| format!("{key}{value}")).collect()
    };
    let same_times = plan
        .jobs
        .windows(2)
        .all(|two| times(&two[0]) == times(&two[1]));
    plan.alone = walls > 0 || !same_times;
    if walls > 0 && walls + 1 < plan.jobs.len() {
        plan.note(
            1,
            "some jobs ran at once and some waited for others (stonewall, wait_for); here all run one after the other",
        );
    } else if walls == 0 && plan.jobs.len() > 1 && !same_times {
        plan.note(
            1,
            "jobs that ran at once have different times, so here they run one after the other",
        );
    }
    Ok(())
}

fn sections(text: &str, source_name: &str, plan: &mut PlanText) -> Result<Vec<Section>, Error> {
    let mut global: BTreeMap<String, String> = BTreeMap::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut in_global = true;
    let mut problems = Vec::new();
    for line in lines(text) {
        let words = line.text.trim();
        if words.is_empty() || words.starts_with([';', '#']) {
            continue;
        }
        if let Some(name) = words
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            in_global = name.eq_ignore_ascii_case("global");
            if !in_global {
                if sections.len() > super::JOBS_MAX {
                    break;
                }
                sections.push(Section {
                    name: name.to_owned(),
                    line: line.number,
                    options: Options(global.clone()),
                });
            }
            continue;
        }
        if let Some(file) = words.strip_prefix("include ") {
            problems.push(LineProblem {
                line: line.number,
                reason: format!(
                    "includes {}, which is not read: put its lines here",
                    file.trim()
                ),
            });
            continue;
        }
        let (key, value) = option_in(words);

        let sound = !key.is_empty()
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !sound || words.len() > 4_096 || value.contains("${") {
            problems.push(LineProblem {
                line: line.number,
                reason: "is neither an option nor a section, or has a variable".to_owned(),
            });
            if problems.len() > 100 {
                break;
            }
            continue;
        }
        if !KNOWN.contains(&key.as_str()) {
            plan.note(line.number, format!("{key} has no counterpart, left out"));
            continue;
        }
        let options = match sections.last_mut() {
            Some(section) if !in_global => &mut section.options.0,
            _ => &mut global,
        };
        options.insert(key, value.to_owned());
    }
    if problems.is_empty() {
        Ok(sections)
    } else {
        let hint = "options are key=value below [global] or [job]; write variables out";
        Err(Error::of_lines(source_name, problems, hint))
    }
}

/// The name and the value of an option. As fio does it, a value ends before the
/// first `;` or `#` in it.
fn option_in(words: &str) -> (String, &str) {
    let words = words.split([';', '#']).next().unwrap_or_default();
    let (key, value) = words.split_once('=').unwrap_or((words, ""));
    let key = key.trim().to_ascii_lowercase();
    let known = ALIASES.iter().find(|(alias, _)| *alias == key);
    let key = known.map_or(key, |(_, name)| (*name).to_owned());
    (key, value.trim())
}

/// What would make another load of a job.
fn refused(options: &Options) -> Result<(), String> {
    if let Some(engine) = options
        .get("ioengine")
        .filter(|name| !ENGINES.contains(name))
    {
        return Err(format!(
            "uses the engine {engine}, which does not read and write files and block devices as a plan does"
        ));
    }
    if let Some(rw) = options.get("rw").filter(|rw| rw.contains(':')) {
        return Err(format!(
            "has rw={rw}: a plan cannot say what stands behind the colon (steps back, gaps, or how often a new position is drawn)"
        ));
    }
    Ok(())
}

fn job_of(section: &Section, plan: &mut PlanText) -> Result<JobText, String> {
    let options = &section.options;
    let line = section.line;
    refused(options)?;
    let mut job = JobText {
        name: section.name.clone(),
        origin: format!("line {line}: [{}]", section.name),
        targets: targets(section, plan)?,
        ..JobText::default()
    };
    let rw = options
        .rw()
        .ok_or("has an rw that only trims, or is not known")?;
    match options
        .read_percent()
        .ok_or("has a mix that is no percentage")?
    {
        100 => job.flag("read"),
        0 => job.flag("write"),
        percent => job.number("read-percent", u64::from(percent)),
    }
    job.flag(if rw.random { "random" } else { "sequential" });
    let block = options
        .block_size()
        .ok_or("has several block sizes: make a job for each")?;
    job.size("block", block);
    let threads = options
        .get("numjobs")
        .map_or(Some(1), |_| options.count("numjobs"));
    let threads = threads.ok_or("has no number in numjobs")?;
    if !rw.random && threads > 1 {
        plan.note(line, "fio starts every process of a sequential job at the first byte, here each thread starts at a share of its own");
    }
    job.number("threads", u64::from(threads));
    let files = job.targets.len() as u64;
    let depth = u64::from(depth(options, line, plan)?);
    if files > 1 && depth > 1 {
        plan.note(line, format!("fio's iodepth of {depth} is for its {files} files together; here `outstanding` is for each of them"));
    }
    job.number("outstanding", (depth / files).max(1));
    match options.time_ns("runtime") {
        Some(ns) => job.time("duration", ns),
        None => plan.note(
            line,
            "without runtime fio ends when `size` is done; here the default is 10 s",
        ),
    }
    if options.get("runtime").is_some() && !options.is_on("time_based") {
        plan.note(
            line,
            "without time_based fio may end before its runtime; here it is kept",
        );
    }
    if let Some(ns) = options.time_ns("ramp_time") {
        job.time("ramp", ns);
    }
    job.text("cache", &cache(options).to_string());
    spans(options, files, line, &mut job, plan)?;
    further(options, line, &mut job, plan)?;
    Ok(job)
}

/// Size and offset of each of a job's files.
///
/// # Errors
/// Where the job begins at or behind the end of its file: fio does nothing then.
fn spans(
    options: &Options,
    files: u64,
    line: u64,
    job: &mut JobText,
    plan: &mut PlanText,
) -> Result<(), String> {
    // `size` is what the job does on all files together, `filesize` what each has: where
    // it is given, nothing is done beyond it, however much `size` asks for.
    let (span, shared) = match (options.get("filesize"), options.get("size")) {
        (Some(_), size) => {
            if size.is_some() {
                plan.note(
                    line,
                    "size beside filesize is how much the job does in all, which plans do not say: left out",
                );
            }
            ("filesize", 1)
        }
        (None, _) => ("size", files),
    };
    // A file's size counts from its first byte, a plan's from the offset.
    let skipped = match span {
        "filesize" => options.get("offset").and_then(size).unwrap_or(0),
        _ => 0,
    };
    for (option, key) in [(span, "size"), ("offset", "base-offset")] {
        match options.get(option).map(|text| (text, size(text))) {
            Some((_, Some(0))) | None => {}
            Some((_, Some(bytes))) if key == "size" => {
                if bytes <= skipped {
                    return Err(
                        "begins at or behind the end of its file: offset is not below filesize"
                            .to_owned(),
                    );
                }
                job.size(key, (bytes - skipped) / shared);
            }
            Some((_, Some(bytes))) => job.size(key, bytes),
            Some((text, None)) => plan.note(
                line,
                format!("{option}={text} is left out: shares and ranges are no sizes here"),
            ),
        }
    }
    Ok(())
}

fn depth(options: &Options, line: u64, plan: &mut PlanText) -> Result<u32, String> {
    let depth = options
        .get("iodepth")
        .map_or(Some(1), |_| options.count("iodepth"));
    let depth = depth.ok_or("has no number in iodepth")?;
    let engine = options.get("ioengine").unwrap_or("psync");
    let waits = matches!(
        engine,
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" | "mmap"
    );
    if waits && depth > 1 {
        plan.note(
            line,
            format!(
                "{engine} has one operation in flight whatever iodepth says, and so has the plan"
            ),
        );
        return Ok(1);
    }
    Ok(depth)
}

fn further(
    options: &Options,
    line: u64,
    job: &mut JobText,
    plan: &mut PlanText,
) -> Result<(), String> {
    for option in ["fsync", "fdatasync"] {
        if let Some(every) = options.count(option).filter(|every| *every > 0) {
            job.text("sync", &format!("fdatasync:{every}"));
            if option == "fsync" {
                plan.note(
                    line,
                    "fsync: a plan syncs with fdatasync, which leaves out the times of the file",
                );
            }
            break;
        }
    }
    if let Some(rate) = options.get("rate_iops") {
        let rate = rate
            .parse::<u64>()
            .map_err(|_| "has no number in rate_iops")?;
        let threads = options.count("numjobs").unwrap_or(1).max(1);
        job.number("rate", rate.saturating_mul(u64::from(threads)));
        let poisson = options.get("rate_process") == Some("poisson");
        job.text("arrivals", if poisson { "poisson" } else { "fixed" });
        plan.note(line, "rate_iops only slows fio down; `rate` is an open loop, whose operations arrive on time whatever the disk does");
    }
    match options.get("random_distribution") {
        None | Some("random") => {}
        Some(zipf) if zipf.starts_with("zipf:") => job.text("distribution", zipf),
        Some(other) => plan.note(
            line,
            format!("random_distribution={other} is left out: positions are uniform"),
        ),
    }
    if let Some(seed) = options.get("randseed").and_then(|seed| seed.parse().ok()) {
        job.number("seed", seed);
    }
    for (option, key) in [
        ("buffer_compress_percentage", "compressible"),
        ("dedupe_percentage", "dedupable"),
    ] {
        if let Some(percent) = options.count(option) {
            job.number(key, u64::from(percent));
        }
    }
    Ok(())
}

fn targets(section: &Section, plan: &mut PlanText) -> Result<Vec<String>, String> {
    let options = &section.options;
    let directory = options.get("directory").unwrap_or("").trim_end_matches('/');
    match options.get("filename") {
        Some(text) if !names(text).is_empty() => Ok(names(text)
            .into_iter()
            .map(|name| {
                if directory.is_empty() || name.starts_with('/') {
                    name
                } else {
                    format!("{directory}/{name}")
                }
            })
            .collect()),
        _ if options.get("directory").is_some() => {
            plan.note(section.line, "each process of fio has a file of its own in the directory; here the threads of a job share one");
            Ok(vec![directory.to_owned()])
        }
        _ => {
            plan.note(
                section.line,
                "fio would make its file in the current directory, and so does the plan",
            );
            Ok(vec![".".to_owned()])
        }
    }
}
