//! Whether hosts did the same, and under which conditions.

use super::host_part::HostPart;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use stripewise_results::{JobRecord, RunRecord};
use stripewise_workload::Workload;

/// Fields of a workload that may differ from host to host: how much load, where, for
/// how long. The kind of operation must be the same, or latencies of different things
/// would be summed.
const MAY_DIFFER: [&str; 8] = [
    "threads",
    "outstanding",
    "base_offset_bytes",
    "size_bytes",
    "duration_ns",
    "ramp_ns",
    "rate",
    "data",
];

/// How two hosts' runs differ; `None` if they are the same.
pub fn different_plans(a: &RunRecord, b: &RunRecord) -> Option<String> {
    let (host_a, host_b) = (&a.host.name, &b.host.name);
    let differ = |what: &str, in_a: &str, in_b: &str| {
        Some(format!(
            "{what} is {in_a} on {host_a} and {in_b} on {host_b}"
        ))
    };
    if a.version != b.version {
        return differ("the program's version", &a.version, &b.version);
    }
    let names =
        |run: &RunRecord| -> Vec<String> { run.jobs.iter().map(|job| job.name.clone()).collect() };
    if names(a) != names(b) {
        return differ(
            "the list of jobs",
            &names(a).join(", "),
            &names(b).join(", "),
        );
    }
    let mut jobs = a.jobs.iter().zip(&b.jobs);
    jobs.find_map(|(job_a, job_b)| {
        let (field, in_a, in_b) = different_operations(&job_a.workload, &job_b.workload)?;
        let what = match a.jobs.len() {
            1 => field,
            _ => format!("{field} of job `{}`", job_a.name),
        };
        differ(&what, &in_a, &in_b)
    })
}

/// The first field that makes two workloads different kinds of operation.
fn different_operations(a: &Workload, b: &Workload) -> Option<(String, String, String)> {
    if a.rate.is_some() != b.rate.is_some() {
        let loop_of = |workload: &Workload| match workload.rate {
            Some(_) => "open (a rate)".to_owned(),
            None => "closed (no rate)".to_owned(),
        };
        return Some(("the loop".to_owned(), loop_of(a), loop_of(b)));
    }
    let fields = differing(a, b);
    let mut fields = fields.into_iter();
    fields.find(|(field, ..)| field != "seed" && !MAY_DIFFER.contains(&field.as_str()))
}

/// Fields that differ, with both values as JSON.
fn differing(a: &Workload, b: &Workload) -> Vec<(String, String, String)> {
    let object = |workload: &Workload| match serde_json::to_value(workload) {
        Ok(Value::Object(object)) => object,
        _ => serde_json::Map::new(),
    };
    let (a, b) = (object(a), object(b));
    let fields: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let text = |value: Option<&Value>| match value {
        None => "absent".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let differing = fields
        .into_iter()
        .filter(|field| a.get(*field) != b.get(*field));
    differing
        .map(|field| (field.clone(), text(a.get(field)), text(b.get(field))))
        .collect()
}

/// Conditions compared in addition to the workloads.
const CONDITIONS: [&str; 6] = [
    "the operating system",
    "the number of processors",
    "the engine",
    "the kind of target",
    "the file system",
    "the device's model",
];

/// Sentences on conditions in which hosts differ but can still be merged.
pub fn different_conditions(parts: &[&HostPart], names: &[String]) -> Vec<String> {
    let job = |part: &HostPart, of: fn(&JobRecord) -> String| {
        let mut values: Vec<String> = part.run.jobs.iter().map(of).collect();
        values.dedup();
        values.join(" and ")
    };
    let engine = |job: &JobRecord| job.engine.name.clone();
    let kind = |job: &JobRecord| {
        let kind = serde_json::to_value(job.target.kind).unwrap_or_default();
        kind.as_str().unwrap_or_default().to_owned()
    };
    let file_system = |job: &JobRecord| {
        let file_system = job.target.file_system.as_ref();
        file_system.map_or("none".to_owned(), |found| found.kind.clone())
    };
    let model = |job: &JobRecord| {
        let device = job.target.device.as_ref();
        let model = device.and_then(|device| device.model.clone());
        model.unwrap_or_else(|| "unknown".to_owned())
    };
    let of_part = |part: &HostPart| {
        let host = &part.run.host;
        [
            host.operating_system.clone(),
            host.cpu.count.to_string(),
            job(part, engine),
            job(part, kind),
            job(part, file_system),
            job(part, model),
        ]
    };
    let found: Vec<[String; 6]> = parts.iter().map(|part| of_part(part)).collect();
    let mut sentences: Vec<String> = CONDITIONS
        .iter()
        .enumerate()
        .filter_map(|(at, what)| sentence(what, found.iter().map(|of| of[at].clone()), names))
        .collect();
    sentences.extend(different_loads(parts, names));
    sentences
}

/// Fields of the workloads that may differ, and do.
fn different_loads(parts: &[&HostPart], names: &[String]) -> Vec<String> {
    let mut fields: BTreeSet<String> = BTreeSet::new();
    let Some((first, others)) = parts.split_first() else {
        return Vec::new();
    };
    for other in others {
        for (job_a, job_b) in first.run.jobs.iter().zip(&other.run.jobs) {
            let differ = differing(&job_a.workload, &job_b.workload);
            fields.extend(differ.into_iter().map(|(field, ..)| field));
        }
    }
    fields.remove("seed");
    let value = |part: &HostPart, field: &str| {
        let of = |job: &JobRecord| {
            let workload = serde_json::to_value(&job.workload).unwrap_or_default();
            workload
                .get(field)
                .map_or("absent".to_owned(), Value::to_string)
        };
        let mut values: Vec<String> = part.run.jobs.iter().map(of).collect();
        values.dedup();
        values.join(" and ")
    };
    let sentences = fields.iter().filter_map(|field| {
        let values = parts.iter().map(|part| value(part, field));
        sentence(field, values, names)
    });
    sentences.collect()
}

/// `the engine is io_uring on a and b, threads on c`; `None` if all are the same.
fn sentence(what: &str, values: impl Iterator<Item = String>, names: &[String]) -> Option<String> {
    let mut hosts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (value, name) in values.zip(names) {
        hosts.entry(value).or_default().push(name);
    }
    if hosts.len() < 2 {
        return None;
    }
    let each = hosts
        .iter()
        .map(|(value, hosts)| format!("{value} on {}", named(hosts)));
    Some(format!("{what} is {}", each.collect::<Vec<_>>().join(", ")))
}

/// `a`, `a and b`, `a, b and 7 more`.
pub(super) fn named<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [one, other] => format!("{} and {}", one.as_ref(), other.as_ref()),
        [one, other, third] => {
            format!(
                "{}, {} and {}",
                one.as_ref(),
                other.as_ref(),
                third.as_ref()
            )
        }
        [one, other, more @ ..] => {
            format!(
                "{}, {} and {} more",
                one.as_ref(),
                other.as_ref(),
                more.len()
            )
        }
    }
}
