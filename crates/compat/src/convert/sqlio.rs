//! A batch file that calls SQLIO: each call becomes a job; jobs run one after the other.

use super::Surroundings;
use super::calls::{Words, add_target, dashes, each_call, wrong_keyword};
use super::plan::{JobText, PlanText};
use crate::Error;
use crate::sqlio::command::{Affinity, Command};
use crate::sqlio::{SetupFile, SetupJob, param_file, setup};
use crate::text::Line;
use stripewise_workload::{CursorKind, Pattern, Workload};

/// Batch commands that wait; a plan has no pauses.
const PAUSES: [&str; 4] = ["timeout", "sleep", "ping", "pause"];

pub(super) fn read(
    text: &str,
    source_name: &str,
    surroundings: &Surroundings<'_>,
    plan: &mut PlanText,
) -> Result<(), Error> {
    let words = Words {
        bad_call: "fix or remove these lines; `sqlio -?` lists the switches",
        no_call: "contains no call of sqlio",
        example: "sqlio -kR -s60 -frandom -o8 -b8 -LS -Fparam.txt",
    };
    each_call(text, source_name, &words, plan, |line, words, plan| {
        let Some(call) = crate::sqlio::command_in(words) else {
            say_of_others(words, line.number, plan);
            return dashes(words, &["sqlio"]).map(Err);
        };
        Some(call_of(&call, line, surroundings, plan))
    })
}

/// Notes on lines that do not call `sqlio`, as far as they affect the load.
fn say_of_others(words: &str, line: u64, plan: &mut PlanText) {
    let lower = words.to_ascii_lowercase();
    let first = lower.split(' ').next().unwrap_or_default();
    if PAUSES.contains(&first.trim_start_matches('@')) {
        plan.note(line, "pauses between calls are left out");
    } else if lower.starts_with("for ") {
        plan.note(line, "a loop is left out: write its calls out one by one");
    }
}

fn call_of(
    call: &str,
    line: Line<'_>,
    surroundings: &Surroundings<'_>,
    plan: &mut PlanText,
) -> Result<(), String> {
    let words = crate::sqlio::words_of_call(call);
    if words.redirected {
        plan.note(line.number, "output is not redirected to files: results are kept in the store, `stripewise report` writes them out");
    }
    if let Some(why) = words.words.iter().find_map(|word| wrong_keyword(word)) {
        return Err(why);
    }
    let command = Command::parse(&words.words).map_err(|error| bare(&error))?;
    let targets = match &command.parameter_file {
        None => None,
        Some(name) => {
            let bytes = (surroundings.parameter_file)(name)
                .ok_or_else(|| format!("reads the parameter file {name}, which is not there"))?;
            let read = param_file::read(&bytes, name, &command);
            Some(read.map_err(|error| error.to_string())?)
        }
    };
    let setup = setup(&command, targets.as_deref()).map_err(|error| bare(&error))?;
    say(&command, line.number, plan);
    if setup.jobs.len() > 1 {
        plan.note(line.number, "the lines of a parameter file ran at once; here they run one after the other. Put them into a plan of their own with run = \"together\"");
    }
    for job in &setup.jobs {
        let job = job_of(job, &setup.files, call, line.number, surroundings, plan);
        plan.jobs.push(job);
    }
    Ok(())
}

/// The message of an error without the name of its source.
fn bare(error: &Error) -> String {
    let message = error.to_string();
    let prefix = format!("{}: ", error.source_name());
    message.strip_prefix(&prefix).unwrap_or(&message).to_owned()
}

fn say(command: &Command, line: u64, plan: &mut PlanText) {
    for note in &command.notes {
        plan.note(line, note.clone());
    }
    if command.utilisation.is_some() {
        plan.note(
            line,
            "-U: processor times of the program are in every record",
        );
    }
    if command.latency.is_none() {
        plan.note(
            line,
            "without -L SQLIO measured no latencies; they are always measured here",
        );
    }
    if command.affinity != Affinity::None {
        plan.note(line, "-p and -a: assign processors with `run --cpus`");
    }
}

fn job_of(
    options: &SetupJob,
    files: &[SetupFile],
    call: &str,
    line: u64,
    surroundings: &Surroundings<'_>,
    plan: &mut PlanText,
) -> JobText {
    let load = &options.workload;
    let mut job = JobText {
        name: format!("line{line}"),
        origin: format!("line {line}: {call}"),
        ..JobText::default()
    };
    for &index in &options.files {
        let file = &files[index];
        add_target(&mut job, &file.name, line, surroundings, plan);
        if !file.raw {
            plan.note(
                line,
                "a plan does not create files: `stripewise prepare PATH --size SIZE` does",
            );
        }
    }
    if options.mask != 0 {
        plan.note(line, "processor masks: assign processors with `run --cpus`");
    }
    load_of(load, &mut job);
    job
}

/// Workload keys of a job.
fn load_of(load: &Workload, job: &mut JobText) {
    job.flag(if load.read_percent == 0 {
        "write"
    } else {
        "read"
    });
    let cursor = |kind: CursorKind| {
        let text = kind.to_string();
        (kind != CursorKind::Own).then_some(text)
    };
    let cursor = match load.pattern {
        Pattern::Random { .. } => {
            job.flag("random");
            None
        }
        Pattern::Sequential { cursor: kind } => {
            job.flag("sequential");
            cursor(kind)
        }
        Pattern::Stride {
            stride_bytes,
            cursor: kind,
        } => {
            job.size("stride", stride_bytes);
            cursor(kind)
        }
    };
    if let Some(cursor) = cursor {
        job.text("cursor", &cursor);
    }
    job.size("block", load.block_size_bytes);
    job.number("threads", u64::from(load.threads));
    job.number("outstanding", u64::from(load.outstanding));
    if load.in_turn {
        job.flag("in-turn");
    }
    job.time("duration", load.duration_ns);
    job.text("cache", &load.cache.to_string());
    if load.base_offset_bytes > 0 {
        job.size("base-offset", load.base_offset_bytes);
    }
    if let Some(bytes) = load.size_bytes {
        job.size("size", bytes);
    }
}
