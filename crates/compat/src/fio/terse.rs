//! fio's terse output (`--minimal`, `--output-format=terse`), versions 2 to 5: a line of
//! values between semicolons for each job.
//!
//! Times are in microseconds and data in KiB, as in the JSON of version 2, so a line
//! becomes such a document and is read as one. What a line does not say: how many
//! operations there were, what the job was asked to do, and which jobs ran at once.

use super::documents::{COMPLETION_LATENCIES, DOCUMENTS_MAX};
use super::read::document;
use crate::text::{fingerprint, lines};
use crate::{Error, Format, ImportedFile, LineProblem, Note};
use serde_json::{Map, Value, json};

/// Values of one direction before version 5, which adds the samples of its bandwidth
/// and five values of its rate.
const OF_SIDE: usize = 4 + 4 + 4 + PERCENTILES + 4 + 5;
const MORE_IN_5: usize = 6;
const PERCENTILES: usize = 20;
/// Behind the directions: processor, shares of depths and of latencies.
const OF_JOB: usize = 5 + 7 + 10 + 12;

/// Whether a line is one of terse output.
pub(crate) fn is_terse(line: &str) -> bool {
    let mut cells = line.trim().split(';');
    let version = cells.next();
    match version {
        Some("3" | "4" | "5") => cells.next().is_some_and(|cell| cell.starts_with("fio-")),
        // Version 2 does not name its program.
        Some("2") => line.split(';').count() > OF_SIDE * 2,
        _ => false,
    }
}

pub(crate) fn import_text(text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    let mut runs = Vec::new();
    let mut notes = Vec::new();
    let mut problems = Vec::new();
    for line in lines(text).filter(|line| is_terse(line.text)) {
        let number = line.number;
        let refused = |reason: &str| LineProblem {
            line: number,
            reason: reason.to_owned(),
        };
        if runs.len() >= DOCUMENTS_MAX {
            problems.push(refused("exceeds the maximum number of results"));
            break;
        }
        match job_of(line.text.trim()) {
            Ok(value) => {
                let content = fingerprint(line.text.trim());
                document(&value, content, number, source_name, &mut runs, &mut notes)?;
            }
            Err(reason) => problems.push(refused(reason)),
        }
    }
    if !problems.is_empty() {
        let hint = "give fio's lines as they were written; nothing was imported";
        return Err(Error::of_lines(source_name, problems, hint));
    }
    if runs.is_empty() {
        let hint = "make it with `fio --output-format=json`, which has more detail";
        return Err(Error::new(source_name, "contains no result of fio", hint));
    }
    let alone = "each line of fio's terse output is a result of its own: it does not say which jobs ran at once, nor what they were asked to do";
    for message in [alone, COMPLETION_LATENCIES] {
        notes.push(Note {
            line: None,
            message: message.to_owned(),
        });
    }
    Ok(ImportedFile {
        format: Format::FioTerse,
        runs,
        notes,
    })
}

/// A line as the document that version 2 would have written.
fn job_of(line: &str) -> Result<Value, &'static str> {
    let cells: Vec<&str> = line.split(';').collect();
    let version = cells[0];
    let named = version != "2";
    let head = if named { 5 } else { 4 };
    let sides: &[&str] = match version {
        "3" => &["read", "write"],
        _ => &["read", "write", "trim"],
    };
    let of_side = OF_SIDE + if version == "5" { MORE_IN_5 } else { 0 };
    let behind = head + sides.len() * of_side;
    if cells.len() < behind + OF_JOB {
        return Err("has fewer values than a line of fio's terse output: it is truncated");
    }
    // Two shares of the processor come first behind the directions.
    let is_share = |cell: &&str| cell.ends_with('%');
    if !cells[behind..behind + 2].iter().all(is_share) {
        return Err("has too many or too few values: it is truncated or was changed");
    }
    let name = cells[head - 3];
    let number = |cell: &str| {
        cell.parse::<u64>()
            .map_err(|_| "has a job without a number")
    };
    let mut job = Map::new();
    job.insert("jobname".to_owned(), Value::from(name));
    job.insert("groupid".to_owned(), Value::from(number(cells[head - 2])?));
    job.insert("error".to_owned(), Value::from(number(cells[head - 1])?));
    for (at, side) in sides.iter().enumerate() {
        let from = head + at * of_side;
        let value = side_of(&cells[from..from + of_side])?;
        job.insert((*side).to_owned(), value);
    }
    let trimmed = job
        .get("trim")
        .is_some_and(|trim| trim["io_bytes"].as_u64() != Some(0));
    if trimmed {
        // How many there were is not said; that there were any is.
        job.insert("trim".to_owned(), json!({"total_ios": 1}));
    }
    let mut document = json!({"jobs": [job]});
    if named {
        document["fio version"] = Value::from(cells[1]);
    }
    Ok(document)
}

/// One direction: KiB, KiB a second, operations a second, milliseconds, then latencies.
fn side_of(cells: &[&str]) -> Result<Value, &'static str> {
    let whole = |at: usize| cells[at].parse::<u64>().map_err(|_| "has an invalid count");
    let latency = |at: usize| -> Result<Map<String, Value>, &'static str> {
        let mut values = Map::new();
        for (name, at) in [("min", at), ("max", at + 1)] {
            values.insert(name.to_owned(), Value::from(whole(at)?));
        }
        let mean: f64 = cells[at + 2]
            .parse()
            .map_err(|_| "has an invalid latency")?;
        if !(0.0..1e15).contains(&mean) {
            return Err("has an invalid latency");
        }
        values.insert("mean".to_owned(), Value::from(mean));
        Ok(values)
    };
    let mut percentiles = Map::new();
    for cell in &cells[12..12 + PERCENTILES] {
        let (name, value) = cell
            .split_once("%=")
            .ok_or("has a percentile without a percent")?;
        let value: u64 = value.parse().map_err(|_| "has an invalid percentile")?;
        // Places that are not used.
        if name != "0" {
            percentiles.insert(name.to_owned(), Value::from(value));
        }
    }
    let mut completion = latency(8)?;
    completion.insert("percentile".to_owned(), Value::Object(percentiles));
    Ok(json!({
        "io_bytes": whole(0)?,
        "bw": whole(1)?,
        "iops": whole(2)?,
        "runtime": whole(3)?,
        "clat": completion,
    }))
}
