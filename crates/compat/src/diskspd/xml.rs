//! DiskSpd's XML: the requested profile, and the results of each of its time spans. One file may
//! contain several documents, with text between.

use super::consistency;
use super::record::{
    COUNT_MAX, Counted, Frame, LATENCIES, Limit, Target, TimeSpan, milliseconds, random, record,
    seconds_ns, steps,
};
use super::tree::{Node, parse};
use crate::out::Out;
use crate::text::{Part, fingerprint, line_feeds};
use crate::time::from_slashes;
use std::borrow::Cow;
use stripewise_workload::CacheMode;

const MARK: &str = "<Results>";
const HINT: &str = "remove the document that it belongs to from the file";

/// Reads the documents of a text.
pub(crate) fn read_xml(parts: &[Part<'_>], out: &mut Out<'_>) {
    for part in parts {
        let text = escaped(part.text);
        let (mut from, mut from_line) = (0, part.first_line);
        while let Some(at) = text[from..].find(MARK) {
            let start = from + at;
            let line = from_line + line_feeds(&text[from..start]);
            let (node, length) = match parse(&text[start..]) {
                Ok(parsed) => parsed,
                Err((at, reason)) => {
                    let bytes = &text.as_bytes()[start..(start + at).min(text.len())];
                    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                    return out.refuse(line + lines, reason, HINT);
                }
            };
            let end = start + length;
            if !out.visit(end - from) {
                return;
            }
            document(&node, line, fingerprint(&text[start..end]), out);
            from_line = line + line_feeds(&text[start..end]);
            from = end;
        }
        out.visit(text.len() - from);
    }
}

fn document(node: &Node, line: u64, content: u64, out: &mut Out<'_>) {
    let frame = frame(node, out.source, line, content);
    let spans = match spans(node) {
        Ok(spans) => spans,
        Err(reason) => return out.problem(line, reason),
    };
    for (number, span) in spans.iter().enumerate() {
        let Some(span) = span else {
            out.note(line, "begins a document with a time span that has no result: it was interrupted before it measured anything");
            continue;
        };
        if span.targets.is_empty() {
            out.note(line, "the profile has no target for this time span");
        }
        for message in unreported_spans(span) {
            out.note(line, message);
        }
        out.give(record(&frame, span, number as u64));
    }
}

/// Defaults that DiskSpd omits from its profile, indistinguishable from removed lines.
fn unreported_spans(span: &TimeSpan) -> Vec<String> {
    let mut notes = Vec::new();
    let silent = span.targets.iter().filter(|target| target.cache_by_default);
    let modes: Vec<String> = silent
        .map(|target| match target.cache {
            Some(mode) => format!("{} ({mode})", target.path),
            None => target.path.clone(),
        })
        .collect();
    if !modes.is_empty() {
        notes.push(format!(
            "begins a profile that does not mention both caches: DiskSpd omits what is not switched off: {}",
            modes.join(", ")
        ));
    }
    if span.threads_in_all.is_some() && span.requests_of_thread.is_none() {
        notes.push("begins a profile of a pool of threads without a number of outstanding I/Os of its own: those of its targets are used".to_owned());
    }
    notes
}

fn frame(node: &Node, source_name: &str, line: u64, content: u64) -> Frame {
    let system = node.child("System");
    let tool = system.and_then(|system| system.child("Tool"));
    Frame {
        source: source_name.to_owned(),
        line,
        content,
        command: Vec::new(),
        host: system
            .and_then(|system| system.text("ComputerName"))
            .map(str::to_owned),
        version: tool
            .and_then(|tool| tool.text("Version"))
            .map(str::to_owned),
        started_at: system
            .and_then(|system| system.text("RunTime"))
            .and_then(from_slashes),
    }
}

/// DiskSpd writes file names unescaped; they may contain an ampersand, which is invalid XML.
fn escaped(text: &str) -> Cow<'_, str> {
    const KNOWN: [&str; 6] = ["amp;", "lt;", "gt;", "quot;", "apos;", "#"];
    let alone = |at: usize| {
        let rest = &text[at + 1..];
        let name = rest
            .find(|sign: char| !sign.is_ascii_alphanumeric())
            .is_some_and(|end| end > 0 && rest[end..].starts_with(';'));
        !name && !KNOWN.iter().any(|known| rest.starts_with(known))
    };
    let found: Vec<usize> = text
        .match_indices('&')
        .map(|(at, _)| at)
        .filter(|at| alone(*at))
        .collect();
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len() + 4 * found.len());
    let mut from = 0;
    for at in found {
        whole.push_str(&text[from..=at]);
        whole.push_str("amp;");
        from = at + 1;
    }
    whole.push_str(&text[from..]);
    Cow::Owned(whole)
}

/// Parameters and results of each time span; `None` for those interrupted before they measured.
fn spans(node: &Node) -> Result<Vec<Option<TimeSpan>>, String> {
    let profile = node
        .child("Profile")
        .and_then(|profile| profile.child("TimeSpans"));
    let requested: Vec<&Node> = profile
        .iter()
        .flat_map(|spans| spans.each("TimeSpan"))
        .collect();
    let measured: Vec<&Node> = node.each("TimeSpan").collect();
    if measured.is_empty() {
        return Err("begins a document without a result: it has no TimeSpan of its own".to_owned());
    }
    if measured.len() < requested.len() {
        return Err(format!(
            "begins a document that asks for {} time spans and has results of {}: the others are missing",
            requested.len(),
            measured.len()
        ));
    }
    measured
        .iter()
        .enumerate()
        .map(|(number, measured)| {
            if measured.child("Error").is_some() && measured.child("TestTimeSeconds").is_none() {
                return Ok(None);
            }
            let mut span = match requested.get(number) {
                Some(requested) => requested_span(requested),
                None => TimeSpan::default(),
            };
            enter(measured, &mut span)?;
            match consistency::contradiction(&span) {
                Some(contradiction) => {
                    Err(format!("begins a document whose results {contradiction}"))
                }
                None => Ok(Some(span)),
            }
        })
        .collect()
}

fn requested_span(node: &Node) -> TimeSpan {
    let targets = node.child("Targets");
    let targets = targets.iter().flat_map(|targets| targets.each("Target"));
    let in_all = node
        .number("ThreadCount")
        .filter(|threads| (1..=COUNT_MAX).contains(threads));
    let requests = node
        .number("RequestCount")
        .filter(|requests| (1..=COUNT_MAX).contains(requests));
    TimeSpan {
        targets: targets.take(4_096).map(target).collect(),
        threads_in_all: in_all.map(|threads| threads as u32),
        requests_of_thread: requests.map(|requests| requests as u32),
        asked_ns: node.text("Duration").and_then(seconds_ns),
        ramp_ns: node.text("Warmup").and_then(seconds_ns),
        seed: node.number("RandSeed"),
        ..TimeSpan::default()
    }
}

fn target(node: &Node) -> Target {
    let block_bytes = node.number("BlockSize").filter(|block| *block > 0);
    let count = |name: &str| {
        let number = node
            .number(name)
            .filter(|number| (1..=COUNT_MAX).contains(number));
        number.map(|number| number as u32)
    };
    let pattern = match (node.child("Random"), node.child("StrideSize")) {
        (Some(_), _) => Some(random()),
        (None, Some(_)) => {
            let shared = node.truth("InterlockedSequential").unwrap_or(false);
            Some(steps(
                node.number("StrideSize").filter(|step| *step > 0),
                block_bytes,
                shared,
            ))
        }
        (None, None) => None,
    };
    let off = node
        .truth("DisableOSCache")
        .or_else(|| node.truth("DisableAllCache"));
    let through = node
        .truth("WriteThrough")
        .or_else(|| node.truth("DisableAllCache"));
    Target {
        path: node.text("Path").unwrap_or_default().to_owned(),
        size_bytes: None,
        read_percent: node
            .number("WriteRatio")
            .filter(|share| *share <= 100)
            .map(|share| 100 - share as u8),
        // Targets with a random share have a partial walk in both directions.
        pattern: pattern
            .filter(|_| node.number("RandomRatio").is_none_or(|share| share == 100))
            .filter(|_| node.truth("ParallelAsyncIO") != Some(true)),
        is_uneven: node.child("Distribution").is_some(),
        is_parallel: node.truth("ParallelAsyncIO") == Some(true),
        think_ms: node.number("ThinkTime").or(Some(0)),
        burst: node.number("BurstSize").or(Some(0)),
        limit: node.child("Throughput").and_then(limit),
        block_bytes,
        outstanding: count("RequestCount"),
        threads: count("ThreadsPerFile"),
        cache_by_default: off.is_none() || through.is_none(),
        base_offset_bytes: node.number("BaseFileOffset"),
        end_bytes: node.number("MaxFileSize"),
        // Neither element is present where the cache is left on. One disabled only on the local
        // side of a share, or a mapped file, has no equivalent cache mode.
        cache: (node.child("DisableLocalCache").is_none()
            && node.child("MemoryMappedIo").is_none())
        .then(|| CacheMode::of(off.unwrap_or(false), through.unwrap_or(false))),
    }
}

/// Rate limit of the threads; 0 is none.
fn limit(node: &Node) -> Option<Limit> {
    let number = node.own_number().filter(|number| *number > 0)?;
    Some(match node.of_iops {
        true => Limit::Iops(number),
        false => Limit::BytesPerMs(number),
    })
}

/// Total threads: of a pool, or of all targets.
fn requested_threads(span: &TimeSpan) -> Option<u64> {
    match span.threads_in_all {
        Some(threads) => Some(u64::from(threads)),
        None => span
            .targets
            .iter()
            .map(|target| Some(u64::from(target.threads?)))
            .sum::<Option<u64>>()
            .filter(|sum| *sum > 0),
    }
}

fn enter(node: &Node, span: &mut TimeSpan) -> Result<(), String> {
    let seconds = node.text("TestTimeSeconds").and_then(seconds_ns);
    span.measured_ns =
        Some(seconds.ok_or("begins a document whose TestTimeSeconds is not a valid duration")?);
    let threads: Vec<&Node> = node.each("Thread").collect();
    if threads.is_empty() {
        return Err("begins a document whose result has no threads".to_owned());
    }
    if let Some(requested) =
        requested_threads(span).filter(|requested| *requested != threads.len() as u64)
    {
        return Err(format!(
            "begins a document whose result has {} threads of {requested} that were asked for: one is missing or duplicated",
            threads.len()
        ));
    }
    for of_thread in threads.iter().flat_map(|thread| thread.each("Target")) {
        let number = |name: &str| {
            of_thread
                .number(name)
                .ok_or_else(|| format!("begins a document with a thread that has no {name}"))
        };
        for (all, parts) in [
            ("IOCount", ["ReadCount", "WriteCount"]),
            ("BytesCount", ["ReadBytes", "WriteBytes"]),
        ] {
            let sum = number(parts[0])?.checked_add(number(parts[1])?);
            let stated = of_thread.number(all);
            if stated.is_some() && stated != sum {
                return Err(format!(
                    "begins a document with a thread whose {all} is not the sum of its {} and {}: it is truncated or was changed",
                    parts[0], parts[1]
                ));
            }
        }
        for (counted, operations, bytes) in [
            (&mut span.read, "ReadCount", "ReadBytes"),
            (&mut span.write, "WriteCount", "WriteBytes"),
        ] {
            counted.operations = counted.operations.saturating_add(number(operations)?);
            counted.bytes = counted.bytes.saturating_add(number(bytes)?);
        }
        let path = of_thread.text("Path").unwrap_or_default();
        let target = span.targets.iter_mut().find(|target| target.path == path);
        if let Some(target) = target {
            target.size_bytes = of_thread.number("FileSize");
        }
    }
    if let Some(latency) = node.child("Latency") {
        latencies(latency, "Read", &mut span.read);
        latencies(latency, "Write", &mut span.write);
    }
    Ok(())
}

fn latencies(node: &Node, kind: &str, counted: &mut Counted) {
    let mut set = |name: &str, value: Option<f64>| {
        let at = LATENCIES.iter().position(|known| *known == name);
        if let (Some(at), Some(value)) = (at, value) {
            counted.latency_ms[at] = Some(value);
        }
    };
    let average = format!("Average{kind}Milliseconds");
    set("mean", node.text(&average).and_then(milliseconds));
    let field = format!("{kind}Milliseconds");
    for bucket in node.each("Bucket") {
        let Some(percentile) = bucket
            .text("Percentile")
            .and_then(|text| text.parse::<f64>().ok())
        else {
            continue;
        };
        let known = [
            (0.0, "min"),
            (50.0, "p50"),
            (90.0, "p90"),
            (95.0, "p95"),
            (99.0, "p99"),
            (99.9, "p999"),
            (100.0, "max"),
        ];
        let found = known
            .iter()
            .find(|(percent, _)| (percentile - percent).abs() < 1e-9);
        if let Some((_, name)) = found {
            set(name, bucket.text(&field).and_then(milliseconds));
        }
    }
}
