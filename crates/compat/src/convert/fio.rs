//! A fio job file: sections, preceded by `[global]`. Options without a key in a plan are reported.

use super::fio_options::{keeps_random_map, known_rw, refused, split};
use super::plan::{JobText, PlanText};
use crate::fio::{
    Conversion, Options, cache, fate, gap, is_neutral, meant, name_of, names, put, rate, size,
    think,
};
use crate::text::lines;
use crate::{Error, LineProblem};
use std::collections::BTreeMap;
use stripewise_units::{ByteSize, typeset};
use stripewise_workload::CacheMode;

struct Section {
    name: String,
    line: u64,
    options: Options,
}

pub(super) fn read(text: &str, source_name: &str, plan: &mut PlanText) -> Result<(), Error> {
    if text.contains("\"fio version\"") || text.contains(": (groupid=") {
        return Err(Error::new(
            source_name,
            "is a result of fio, not a job file",
            "give the job file; `stripewise import` reads results",
        ));
    }
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
            "fix or remove these jobs",
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
    if let Some(section) = groups_wait(&sections) {
        return Err(Error::of_lines(
            source_name,
            vec![LineProblem {
                line: section.line,
                reason: format!(
                    "begins [{}], which runs beside another job while others wait (stonewall, wait_for): jobs of a plan run all at once, or one after the other",
                    section.name
                ),
            }],
            "make a file for each group of jobs that run at once",
        ));
    }
    plan.alone = walls > 0;
    if walls == 0 && plan.jobs.len() > 1 && !same_times {
        return Err(Error::new(
            source_name,
            "has jobs that run at once for different times (runtime, ramp_time), which a plan cannot express",
            "give them the same times, or let them wait for each other (stonewall)",
        ));
    }
    Ok(())
}

/// The first job that runs concurrently with another, in a file in which jobs wait.
fn groups_wait(sections: &[Section]) -> Option<&Section> {
    let waits = |section: &Section| {
        ["stonewall", "wait_for_previous", "wait_for"]
            .iter()
            .any(|option| section.options.is_on(option))
    };
    let any = sections.iter().skip(1).any(waits);
    // `wait_for` names a job: later ones may still run.
    let right = |at: usize| match sections[at].options.get("wait_for") {
        Some(name) if !name.is_empty() => sections[at - 1].name == name,
        _ => waits(&sections[at]),
    };
    let mut behind = (1..sections.len()).filter(|_| any);
    behind.find(|at| !right(*at)).map(|at| &sections[at])
}

fn sections(text: &str, source_name: &str, plan: &mut PlanText) -> Result<Vec<Section>, Error> {
    let mut global: BTreeMap<String, String> = BTreeMap::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut in_global = true;
    let mut problems = Vec::new();
    let mut hint = "correct these options, or remove them if the load may be another one";
    for line in lines(text) {
        let words = line.text.trim();
        if words.is_empty() || words.starts_with([';', '#']) || problems.len() > 100 {
            continue;
        }
        if let Some(name) = section_in(words) {
            in_global = name.starts_with("global");
            if !in_global {
                if sections.len() > super::JOBS_MAX {
                    break;
                }
                sections.push(Section {
                    name: name.to_owned(),
                    line: line.number,
                    options: Options::from(global.clone()),
                });
            }
            continue;
        }
        if let Some(file) = words.strip_prefix("include ") {
            problems.push(LineProblem {
                line: line.number,
                reason: format!(
                    "includes {}, which is not read: insert its lines here",
                    file.trim()
                ),
            });
            continue;
        }
        let (key, value) = option_in(words);
        if let Some(reason) = unreadable(words, &key, value) {
            hint = "options are key=value below [global] or [job]; write variables out";
            problems.push(LineProblem {
                line: line.number,
                reason,
            });
            continue;
        }
        match is_carried(&key, value, line.number, plan) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        }
        let options = match sections.last_mut() {
            Some(section) if !in_global => &mut section.options.all,
            _ => &mut global,
        };
        put(options, key, value.to_owned());
    }
    if problems.is_empty() {
        Ok(sections)
    } else {
        Err(Error::of_lines(source_name, problems, hint))
    }
}

/// The name of the section that a line begins. fio takes all that begin with a bracket; what is
/// behind its end is a comment.
fn section_in(words: &str) -> Option<&str> {
    let rest = words.strip_prefix('[')?;
    let name = rest.strip_suffix(']');
    name.or_else(|| Some(rest.split_once(']')?.0))
}

/// Why a line is not a valid option.
fn unreadable(words: &str, key: &str, value: &str) -> Option<String> {
    let variables = ["${", "$ncpus", "$mb_memory", "$pagesize"];
    if let Some(at) = variables.iter().find_map(|sign| value.find(sign)) {
        let variable = value[at..].split_inclusive('}').next().unwrap_or_default();
        return Some(format!(
            "has the variable {variable}, whose value is not known"
        ));
    }
    if let Some(sign) = typeset(value) {
        return Some(format!("has {key}={value}: {}", sign.hint()));
    }
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let sound = !key.is_empty() && key.bytes().all(is_sign);
    if words.starts_with("--") || !sound && words.contains("fio -") {
        return Some(
            "is a command line of fio: write its options below [job], without their dashes"
                .to_owned(),
        );
    }
    (!sound || words.len() > 4_096).then(|| "is neither an option nor a section".to_owned())
}

/// Whether an option contributes to the job; one that does not affect the load is skipped.
fn is_carried(key: &str, value: &str, line: u64, plan: &mut PlanText) -> Result<bool, LineProblem> {
    match fate(key) {
        Conversion::Carried => Ok(true),
        Conversion::Left(None) => {
            plan.leave_out(key, line);
            Ok(false)
        }
        Conversion::Refused if is_neutral(key, value) => Ok(false),
        Conversion::Left(Some(instead)) => {
            plan.note(line, format!("{key}: {instead}"));
            Ok(false)
        }
        Conversion::Refused => Err(LineProblem {
            line,
            reason: match meant(key) {
                Some(name) => {
                    format!("has {key}, which is no option known here: did you mean {name}?")
                }
                None => format!(
                    "has {key}, which a plan cannot express: without it the load would be different"
                ),
            },
        }),
    }
}

/// The name and the value of an option. As in fio, a value ends before the first `;` or `#`.
fn option_in(words: &str) -> (String, &str) {
    let words = words.split([';', '#']).next().unwrap_or_default();
    let (key, value) = words.split_once('=').unwrap_or((words, ""));
    (name_of(key), value.trim())
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
    let rw = known_rw(options)?;
    match options
        .read_percent()
        .ok_or("has a mix that is not a percentage")?
    {
        100 => job.flag("read"),
        0 => job.flag("write"),
        percent => job.number("read-percent", u64::from(percent)),
    }
    blocks(options, line, &mut job, plan)?;
    let threads = options
        .get("numjobs")
        .map_or(Some(1), |_| options.count("numjobs"));
    let threads = threads.ok_or("has no number in numjobs")?;
    if !rw.random && threads > 1 {
        return Err("has numjobs of a sequential job: fio starts every process at the first byte, a plan's threads start evenly spaced; give each a job with an offset".to_owned());
    }
    job.number("threads", u64::from(threads));
    let files = job.targets.len() as u64;
    let depth = u64::from(depth(options, line, plan)?);
    job.number("outstanding", depth.max(1));
    if files > 1 {
        job.flag("in-turn");
    }
    if let Some(think) = think(options, depth)? {
        if options.get("rate_iops").is_some() {
            return Err("has thinktime and rate_iops: operations of a plan with a rate arrive on a schedule, without think time".to_owned());
        }
        job.text("think-time", &think.to_string());
    }
    let runtime = time(options, "runtime")?;
    match runtime {
        Some(ns) => job.time("duration", ns),
        None => plan.note(
            line,
            "without runtime fio ends when `size` is done; here the default is 10 s",
        ),
    }
    if runtime.is_some() && !options.is_on("time_based") {
        plan.note(
            line,
            "without time_based fio may end before its runtime; here it is kept",
        );
    }
    if let Some(ns) = time(options, "ramp_time")? {
        job.time("ramp", ns);
    }
    job.text("cache", &cache(options).to_string());
    spans(options, files, line, &mut job, plan)?;
    further(options, line, &mut job, plan)?;
    Ok(job)
}

/// A time; `None` if it is 0, which means no limit.
fn time(options: &Options, name: &str) -> Result<Option<u64>, String> {
    let Some(text) = options.get(name) else {
        return Ok(None);
    };
    let ns = options.time_ns(name);
    let ns = ns.ok_or_else(|| format!("has no time in {name}={text}"))?;
    Ok((ns > 0).then_some(ns))
}

/// Positions and sizes of operations.
fn blocks(
    options: &Options,
    line: u64,
    job: &mut JobText,
    plan: &mut PlanText,
) -> Result<(), String> {
    let random = options.rw().is_some_and(|rw| rw.random);
    let sizes = split(options)?;
    let one = match &sizes {
        Some(sizes) if sizes.len() == 1 => Some(sizes[0].0),
        Some(_) => None,
        None => Some(options.block_size().ok_or(
            "has bs or bsrange with several sizes: give bssplit with their shares, or a job for each",
        )?),
    };
    match (gap(options), one) {
        _ if random => job.flag("random"),
        (None, _) => {
            job.flag("sequential");
            if options.rw().is_some_and(|rw| rw.reads && rw.writes) {
                plan.note(line, "fio's reads and its writes each go through the file from its start; a plan's share one position");
            }
        }
        (Some(gap), Some(block)) => {
            job.size("stride", block.saturating_add(gap));
            plan.note(line, "at the end of its file fio starts over where it began; a plan's next pass starts one block later, until all blocks have been touched");
        }
        (Some(_), None) => {
            return Err("has bssplit and an rw with a gap: a stride has one block size".to_owned());
        }
    }
    match (one, sizes) {
        (Some(block), _) => job.size("block", block),
        (None, sizes) => {
            let text: Vec<String> = sizes
                .iter()
                .flatten()
                .map(|(bytes, share)| format!("{}:{share}", ByteSize(*bytes)))
                .collect();
            job.text("block", &text.join(","));
            if random {
                plan.note(line, "bssplit: fio's positions are multiples of the smallest size, a plan's of the power of two in each size");
            }
        }
    }
    Ok(())
}

/// Size and offset of each of a job's files.
///
/// # Errors
/// If the job begins at or beyond the end of its file, where fio does nothing, or if a size is a
/// percentage or a range.
fn spans(
    options: &Options,
    files: u64,
    line: u64,
    job: &mut JobText,
    plan: &mut PlanText,
) -> Result<(), String> {
    // `size` is the job's total over all files, `filesize` the size of each: nothing is done beyond
    // the latter, whatever `size` is.
    let (span, shared) = match (options.get("filesize"), options.get("size")) {
        (Some(_), size) => {
            if size.is_some() {
                plan.note(
                    line,
                    "size together with filesize is the total amount of I/O of the job, which plans do not express: left out",
                );
            }
            ("filesize", 1)
        }
        (None, _) => ("size", files),
    };
    // A file's size counts from its first byte, a plan's from the offset.
    if options.get("io_size").is_some() {
        plan.note(
            line,
            "io_size is the total amount of I/O of the job, which plans do not express: left out",
        );
    }
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
                        "begins at or beyond the end of its file: offset is not below filesize"
                            .to_owned(),
                    );
                }
                job.size(key, (bytes - skipped) / shared);
            }
            Some((_, Some(bytes))) => job.size(key, bytes),
            Some((text, None)) if text.contains(['%', '-', ',']) => {
                return Err(format!(
                    "has {option}={text}: a plan takes neither shares nor ranges as sizes"
                ));
            }
            Some((text, None)) => {
                return Err(format!(
                    "has {option}={text}: write it as a number of bytes"
                ));
            }
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
            job.text("sync", &format!("{option}:{every}"));
            break;
        }
    }
    let threads = options.count("numjobs").unwrap_or(1).max(1);
    let rate = rate(options, None, threads).map_err(|why| {
        let text = options.get("rate_iops").unwrap_or("");
        format!("has rate_iops={text}: {why}")
    })?;
    if let Some(rate) = rate {
        job.number("rate", rate.iops as u64);
        let poisson = options.get("rate_process") == Some("poisson");
        job.text("arrivals", if poisson { "poisson" } else { "fixed" });
        plan.note(line, "rate_iops only slows fio down; `rate` is an open loop, whose operations arrive on time whatever the disk does");
    }
    syncs_at_the_end(options, line, plan)?;
    if options.is_on("hipri") {
        match cache(options).is_direct() && options.get("ioengine") == Some("io_uring") {
            true => job.flag("poll"),
            false => plan.note(
                line,
                "hipri polls for completions with io_uring and direct I/O only: left out",
            ),
        }
    }
    distribution(options, line, job, plan);
    if let Some(seed) = options.get("randseed").and_then(|seed| seed.parse().ok()) {
        job.number("seed", seed);
    }
    if options.is_on("zero_buffers") {
        job.number("compressible", 100);
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

/// Syncs done once, after the rest of the job.
fn syncs_at_the_end(options: &Options, line: u64, plan: &mut PlanText) -> Result<(), String> {
    let writes = options.rw().is_some_and(|rw| rw.writes);
    if options.is_on("end_fsync") && writes {
        if matches!(cache(options), CacheMode::Buffered) {
            return Err("has end_fsync and writes through the page cache: the sync at its end is in fio's time, and a plan has none; give fsync, or direct=1".to_owned());
        }
        plan.note(line, "end_fsync: the one sync at the end is left out");
    }
    if options.is_on("fsync_on_close") && writes {
        plan.note(line, "fsync_on_close: the one sync at the end is left out");
    }
    Ok(())
}

/// Distribution of random positions.
fn distribution(options: &Options, line: u64, job: &mut JobText, plan: &mut PlanText) {
    if let Some(text) = options.get("random_distribution")
        && text.starts_with("zipf:")
    {
        job.text("distribution", text);
        return;
    }
    if !keeps_random_map(options) {
        return;
    }
    let several = [
        (
            options.count("numjobs").unwrap_or(1) > 1,
            "each process of fio comes to every block once before any comes again",
        ),
        (
            options.block_size().is_none() && !has_one_size(options),
            "fio comes to every part of the file once before any comes again",
        ),
    ];
    match several.into_iter().find(|(is_so, _)| *is_so) {
        None => job.text("distribution", "covering"),
        Some((_, what)) => plan.note(
            line,
            format!("{what}; a plan does so with one thread and one block size, and here chooses each position independently"),
        ),
    }
}

/// `bssplit` with a single size.
fn has_one_size(options: &Options) -> bool {
    matches!(split(options), Ok(Some(sizes)) if sizes.len() == 1)
}

fn targets(section: &Section, plan: &mut PlanText) -> Result<Vec<String>, String> {
    let options = &section.options;
    let directories = names(options.get("directory").unwrap_or(""));
    if directories.len() > 1 {
        return Err(
            "has several directories, among which fio spreads its jobs: name the files of each"
                .to_owned(),
        );
    }
    let directory = directories.first().map_or("", String::as_str);
    let directory = directory.trim_end_matches('/');
    match options.get("filename") {
        Some(text) if !names(text).is_empty() => {
            let placed = |name: String| {
                if directory.is_empty() || name.starts_with('/') {
                    name
                } else {
                    format!("{directory}/{name}")
                }
            };
            let files: Vec<String> = names(text).into_iter().map(placed).collect();
            let is_device = |name: &String| name.starts_with("/dev/") || name.starts_with(r"\\.\");
            if !files.iter().all(is_device) {
                plan.note(
                    section.line,
                    "a plan does not create files: `stripewise prepare PATH --size SIZE` does",
                );
            }
            Ok(files)
        }
        _ if options.get("directory").is_some() => {
            plan.note(section.line, "each process of fio has a file of its own in the directory; here the threads of a job share one");
            Ok(vec![directory.to_owned()])
        }
        _ => {
            plan.note(
                section.line,
                "fio would make its file in the current directory, and so does the plan",
            );
            if options.count("numjobs").unwrap_or(1) > 1 {
                plan.note(
                    section.line,
                    "each process of fio has a file of its own; here the threads of a job share one",
                );
            }
            Ok(vec![".".to_owned()])
        }
    }
}
