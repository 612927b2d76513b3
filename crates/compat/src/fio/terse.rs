//! fio's terse output (`--minimal`, `--output-format=terse`), versions 2 to 5: a line of
//! semicolon-separated values for each job.
//!
//! Times are in microseconds and data in KiB, as in the JSON of version 2, so a line is converted
//! to such a document and read as one. A line lacks: the number of operations, the job's options,
//! and which jobs ran concurrently.

use super::documents::COMPLETION_LATENCIES;
use super::job::{Document, Job, Latencies, PERCENTS, Side, percent_at};
use super::read::document;
use crate::Format;
use crate::out::{LineReader, Out};
use crate::text::{Line, fingerprint};
use std::collections::BTreeMap;

/// Values of one direction before version 5, which adds the samples of its bandwidth
/// and five values of its rate.
const OF_SIDE: usize = 4 + 4 + 4 + PERCENTILES + 4 + 5;
const MORE_IN_5: usize = 6;
const PERCENTILES: usize = 20;
/// After the directions: CPU, distributions of depth and latency.
const OF_JOB: usize = 5 + 7 + 10 + 12;

/// Semicolons that the name of a job may have.
const IN_NAME_MAX: usize = 16;

/// Job states kept until it is known whether a later one follows.
const WAITING_MAX: usize = 1_024;

/// Whether a line is terse output.
pub(crate) fn is_terse(line: &str) -> bool {
    let line = line.trim();
    match line.as_bytes() {
        // Before version 2.1 some builds called themselves `2.0.8` or `fio 2.0.8`.
        [b'3', b';', b'1'..=b'2', b'.', ..] => line.split(';').count() > OF_SIDE,
        [b'3'..=b'5', b';', ..] => line[2..].starts_with("fio-") || line[2..].starts_with("fio "),
        // Version 2 does not name its program.
        [b'2', b';', ..] => line.split(';').count() > OF_SIDE * 2,
        _ => false,
    }
}

/// Reads fio's terse output.
#[derive(Default)]
pub(crate) struct Reader {
    /// The last state of each job.
    waiting: BTreeMap<Key, State>,
    snapshots: u64,
}

/// Version, group and name of a job.
type Key = (Option<String>, Option<u64>, Option<String>);

/// A line.
struct State {
    line: u64,
    content: u64,
    version: Option<String>,
    job: Job,
    /// Context switches and page faults: they only grow.
    counts: [u64; 3],
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        if !is_terse(line.text) {
            return;
        }
        let text = line.text.trim();
        if is_filler(text) {
            return;
        }
        let mut state = match state_of(text) {
            Ok(state) => state,
            Err(reason) => return out.problem(line.number, reason),
        };
        state.line = line.number;
        state.content = fingerprint(text);
        let job = &state.job;
        let key = (state.version.clone(), job.group, job.name.clone());
        let known = self.waiting.get(&key);
        if known.is_some_and(|known| state.continues(known)) {
            self.snapshots += 1;
        } else if known.is_some() || self.waiting.len() >= WAITING_MAX {
            self.flush(out);
        }
        self.waiting.insert(key, state);
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let before = out.results();
        self.flush(out);
        if self.snapshots > 0 {
            out.note_once(format!(
                "{} earlier states of jobs (--status-interval) are left out: the last one of each job contains all of its counts",
                self.snapshots
            ));
        }
        if out.results() > before {
            out.note_once("each line of fio's terse output is a result of its own: it does not say which jobs ran at once, nor what they were asked to do");
            out.note_once(COMPLETION_LATENCIES);
        }
    }
}

impl Reader {
    fn flush(&mut self, out: &mut Out<'_>) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut states: Vec<State> = waiting.into_values().collect();
        states.sort_by_key(|state| state.line);
        for state in states {
            let value = Document {
                version: state.version,
                jobs: Some(vec![state.job]),
                ..Document::default()
            };
            let form = Format::FioTerse;
            document(value, state.content, state.line, form, None, out);
        }
    }
}

impl State {
    /// Whether this is a later state of a job and so includes the earlier one's counts. If in
    /// doubt, no: surplus results get noticed, a missing one does not.
    fn continues(&self, earlier: &State) -> bool {
        let sides = |state: &'_ State| {
            let job = &state.job;
            [&job.read, &job.write].map(|side| side.as_deref().cloned().unwrap_or_default())
        };
        let (before, after) = (sides(earlier), sides(self));
        let pairs = || before.iter().zip(&after);
        let counts = earlier.counts.iter().zip(&self.counts);
        pairs().all(|(before, after)| grows(before, after))
            && counts.into_iter().all(|(before, after)| before <= after)
            && pairs().any(|(before, after)| {
                let ms = |side: &Side| side.runtime_ms.unwrap_or(0);
                // Runs of the same length differ by less.
                ms(before) + 50 < ms(after) && before.io_bytes < after.io_bytes
            })
    }
}

/// Whether all counts of a direction are consistent with a later state of it.
fn grows(before: &Side, after: &Side) -> bool {
    let nothing = before.io_bytes == Some(0);
    let latencies = before.clat.as_ref().zip(after.clat.as_ref());
    let sum = |side: &Side, mean: Option<f64>| Some(side.io_bytes? as f64 * mean?);
    before.io_bytes <= after.io_bytes
        && before.runtime_ms <= after.runtime_ms
        && latencies.is_none_or(|(least, most)| {
            nothing
                || (most.min <= least.min
                    && most.max >= least.max
                    && sum(after, most.mean) >= sum(before, least.mean).map(|sum| sum * 0.99))
        })
}

/// As [`Job::is_filler`]: without a name, and with the group -1.
fn is_filler(line: &str) -> bool {
    let named = !line.starts_with("2;");
    let mut cells = line.split(';').skip(1 + usize::from(named));
    (cells.next(), cells.next()) == (Some(""), Some("-1"))
}

/// A line as the job that version 2 would have written.
fn state_of(line: &str) -> Result<State, &'static str> {
    let cells: Vec<&str> = line.split(';').collect();
    let version = cells[0];
    let named = version != "2";
    let head = if named { 5 } else { 4 };
    let sides = if version == "3" { 2 } else { 3 };
    let of_side = OF_SIDE + if version == "5" { MORE_IN_5 } else { 0 };
    // After the directions come two CPU percentages.
    let are_shares = |at: usize| {
        let shares = cells.get(at..at + 2);
        shares.is_some_and(|shares| shares.iter().all(|cell| cell.ends_with('%')))
    };
    if (0..=IN_NAME_MAX).any(|more| are_shares(head + of_side + more)) {
        return Err(
            "adds up reads and writes (unified_rw_reporting), so neither is known: run fio without that option",
        );
    }
    if cells.len() < head + sides * of_side + OF_JOB {
        return Err("has fewer values than a line of fio's terse output: it is truncated");
    }
    // fio does not quote names: a semicolon in one looks like another value.
    let has_bandwidths = |more: usize| {
        let mut sides = [0, of_side].into_iter();
        sides.all(|side| has_its_bandwidth(&cells[head + more + side..]))
    };
    let more = (0..=IN_NAME_MAX)
        .find(|more| are_shares(head + sides * of_side + more))
        .filter(|more| *more == 0 || has_bandwidths(*more))
        .ok_or("has too many or too few values: it is truncated or was changed")?;
    let (name_at, head) = (head - 3, head + more);
    let behind = head + sides * of_side;
    if cells.len() < behind + OF_JOB {
        return Err("has fewer values than a line of fio's terse output: it is truncated");
    }
    let side = |at: usize| {
        let from = head + at * of_side;
        side_of(&cells[from..from + of_side])
    };
    let whole = |cell: &str, wrong| cell.parse::<u64>().map_err(|_| wrong);
    let number = |cell: &str| whole(cell, "has a job without a number");
    let mut job = Job {
        name: Some(cells[name_at..head - 2].join(";")),
        group: Some(number(cells[head - 2])?),
        error: i64::try_from(number(cells[head - 1])?).ok(),
        read: Some(Box::new(side(0)?)),
        write: Some(Box::new(side(1)?)),
        ..Job::default()
    };
    if sides == 3 && side(2)?.io_bytes != Some(0) {
        // Their number is not given, only that there were any.
        let trim = Side {
            total_ios: Some(1),
            ..Side::default()
        };
        job.trim = Some(Box::new(trim));
    }
    job.may_trim = sides == 2 && job.did_nothing();
    let count = |at: usize| whole(cells[behind + at], "has an invalid count of the system");
    Ok(State {
        line: 0,
        content: 0,
        version: named.then(|| cells[1].trim_start_matches("fio ").to_owned()),
        job,
        counts: [count(2)?, count(3)?, count(4)?],
    })
}

/// Whether KiB, KiB/s and milliseconds of a direction agree, as they do where it begins.
fn has_its_bandwidth(cells: &[&str]) -> bool {
    let value = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
    match (value(0), value(1), value(3)) {
        (Some(kib), Some(rate), Some(ms)) => {
            (rate * ms / 1_000.0 - kib).abs() <= 0.05 * kib + rate / 1_000.0 + 1.0
        }
        _ => false,
    }
}

/// One direction: KiB, KiB/s, IOPS, milliseconds, then latencies.
fn side_of(cells: &[&str]) -> Result<Side, &'static str> {
    let whole = |at: usize| cells[at].parse::<u64>().map_err(|_| "has an invalid count");
    let mean: f64 = cells[10].parse().map_err(|_| "has an invalid latency")?;
    if !(0.0..1e15).contains(&mean) {
        return Err("has an invalid latency");
    }
    let mut percentiles = [None; PERCENTS.len()];
    for cell in &cells[12..12 + PERCENTILES] {
        let (name, value) = cell
            .split_once("%=")
            .ok_or("has a percentile without a percent")?;
        let value: u64 = value.parse().map_err(|_| "has an invalid percentile")?;
        // Unused fields have the name 0.
        if let Some(at) = name.parse().ok().and_then(percent_at) {
            percentiles[at] = Some(value as f64);
        }
    }
    Ok(Side {
        io_bytes: Some(whole(0)?),
        bw: Some(whole(1)? as f64),
        iops: Some(whole(2)? as f64),
        runtime_ms: Some(whole(3)?),
        clat: Some(Latencies {
            min: Some(whole(8)? as f64),
            max: Some(whole(9)? as f64),
            mean: Some(mean),
            percentiles: Some(percentiles),
            ..Latencies::default()
        }),
        ..Side::default()
    })
}
