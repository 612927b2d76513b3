//! elbencho's results: its CSV (`--csvfile`), a row for each phase, and its JSON
//! (`--jsonfile`), a document for each phase.
//!
//! Of both columns the one of the last thread is taken (`[last]`, `last_done`): all that
//! was done, over all of its time. Rates are whole numbers, MiB/s in the CSV too.

use crate::text::{fingerprint, lines};
use crate::time::from_offset;
use crate::told::{Origin, Told, ToldKind, agrees, number};
use crate::{Error, Format, ImportedFile, LineProblem, Note};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use stripewise_workload::CacheMode;

const RUNS_MAX: usize = 10_000;
const FEW: &str = "give elbencho's file as it was written; nothing was imported";

/// Whether a line is the heading of elbencho's CSV.
pub(crate) fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("ISO date,label,path type,") && line.contains(",operation,")
}

/// What begins a document of elbencho's JSON.
pub(crate) const MARK: &str = "\"phase_type\"";

/// A phase by the names of the CSV's columns.
type Cells = BTreeMap<String, String>;

pub(crate) fn import_csv(text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    let mut columns: Vec<&str> = Vec::new();
    let mut taken = Taken::new(source_name, Format::ElbenchoCsv);
    for line in lines(text) {
        let row = line.text.trim();
        if row.is_empty() {
            continue;
        }
        if is_heading(row) {
            columns = row.split(',').collect();
            continue;
        }
        let cells: Vec<&str> = row.split(',').collect();
        if columns.is_empty() {
            // Text above the heading; a row is one of dozens of cells.
            if cells.len() > 30 {
                taken.problem(line.number, "is a row without a heading above it");
            }
            continue;
        }
        if cells.len() != columns.len() {
            let reason = format!(
                "has {} values for {} columns: it is truncated",
                cells.len(),
                columns.len()
            );
            taken.problem(line.number, reason);
            continue;
        }
        let named = columns.iter().zip(cells);
        let named = named.map(|(name, cell)| ((*name).to_owned(), cell.to_owned()));
        taken.phase(line.number, row, &named.collect());
    }
    taken.file()
}

pub(crate) fn import_json(text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    let mut taken = Taken::new(source_name, Format::ElbenchoJson);
    let mut from = 0;
    while let Some(mark) = text[from..].find(MARK) {
        let Some(open) = text[from..from + mark].rfind('{') else {
            let line = line_at(text, from + mark);
            taken.problem(line, "is part of a document whose beginning is missing");
            break;
        };
        let start = from + open;
        let line = line_at(text, start);
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let end = start + stream.byte_offset();
                taken.phase(line, &text[start..end], &cells_of(&value));
                from = end;
            }
            Some(Err(error)) => {
                taken.problem(
                    line,
                    format!("begins a document that is not complete JSON: {error}"),
                );
                break;
            }
            None => break,
        }
    }
    taken.file()
}

fn line_at(text: &str, at: usize) -> u64 {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() as u64 + 1
}

/// What is read from a document, under the names of the CSV's columns; of bytes, which
/// the CSV has in MiB only, `bytes` and `bytes/s`.
fn cells_of(value: &Value) -> Cells {
    const PATHS: [(&str, &str); 28] = [
        ("/phase_type", "operation"),
        ("/label", "label"),
        ("/iso_start_date", "ISO date"),
        ("/config/path_type", "path type"),
        ("/config/paths", "paths"),
        ("/config/hosts", "hosts"),
        ("/config/threads", "threads"),
        ("/config/file_size", "file size"),
        ("/config/block_size", "block size"),
        ("/config/direct_io", "direct IO"),
        ("/config/random_offsets", "random"),
        ("/config/io_depth", "IO depth"),
        ("/config/version", "version"),
        ("/config/command", "command"),
        ("/last_done/elapsed_time_ms", "time ms [last]"),
        ("/last_done/iops", "IOPS [last]"),
        ("/last_done/bytes~1s", "bytes/s"),
        ("/last_done/bytes", "bytes"),
        ("/last_done/rwmix_read/iops", "rwmix read IOPS [last]"),
        ("/last_done/rwmix_read/bytes~1s", "rwmix read bytes/s"),
        ("/last_done/rwmix_read/bytes", "rwmix read bytes"),
        ("/last_done/latency/IO/min_us", "IO lat us [min]"),
        ("/last_done/latency/IO/avg_us", "IO lat us [avg]"),
        ("/last_done/latency/IO/max_us", "IO lat us [max]"),
        (
            "/last_done/latency/IO/rwmix_read/min_us",
            "rwmix read IO lat us [min]",
        ),
        (
            "/last_done/latency/IO/rwmix_read/avg_us",
            "rwmix read IO lat us [avg]",
        ),
        (
            "/last_done/latency/IO/rwmix_read/max_us",
            "rwmix read IO lat us [max]",
        ),
        ("/last_done/cpu%", "CPU% [last]"),
    ];
    let mut cells = Cells::new();
    for (path, name) in PATHS {
        let text = match value.pointer(path) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(truth)) => u8::from(*truth).to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        // Boost writes all values as texts, truths among them.
        let text = match text.as_str() {
            "true" => "1".to_owned(),
            "false" => "0".to_owned(),
            _ => text,
        };
        cells.insert(name.to_owned(), text);
    }
    cells
}

struct Taken<'a> {
    source: &'a str,
    format: Format,
    runs: Vec<stripewise_results::RunRecord>,
    notes: Vec<Note>,
    problems: Vec<LineProblem>,
}

impl<'a> Taken<'a> {
    fn new(source: &'a str, format: Format) -> Self {
        Taken {
            source,
            format,
            runs: Vec::new(),
            notes: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, line: u64, reason: impl Into<String>) {
        if self.problems.len() <= 100 {
            self.problems.push(LineProblem {
                line,
                reason: reason.into(),
            });
        }
    }

    fn phase(&mut self, line: u64, content: &str, cells: &Cells) {
        let operation = cells.get("operation").map_or("", String::as_str);
        let Some(read_percent) = reads_of(operation) else {
            if self.notes.len() < 50 {
                self.notes.push(Note {
                    line: Some(line),
                    message: format!(
                        "is a phase `{operation}`, which neither reads nor writes data; left out"
                    ),
                });
            }
            return;
        };
        if self.runs.len() >= RUNS_MAX {
            return self.problem(line, "exceeds the maximum number of results");
        }
        match told(operation, read_percent, cells) {
            Err(reason) => self.problem(line, format!("is a phase {operation} that {reason}")),
            Ok(told) => {
                let mut details = Map::new();
                for name in [
                    "operation",
                    "label",
                    "path type",
                    "paths",
                    "hosts",
                    "files",
                    "file size",
                    "CPU% [last]",
                ] {
                    if let Some(value) = cells.get(name).filter(|value| !value.is_empty()) {
                        details.insert(name.to_owned(), Value::from(value.as_str()));
                    }
                }
                let command = cells.get("command").map_or("", String::as_str);
                let words = command
                    .split('"')
                    .map(str::trim)
                    .filter(|word| !word.is_empty());
                let origin = Origin {
                    tool: "elbencho",
                    version: cells.get("version").cloned(),
                    source: self.source,
                    line,
                    content: fingerprint(content),
                    started_at: cells.get("ISO date").and_then(|text| from_offset(text)),
                    command: words.map(str::to_owned).collect(),
                    details,
                };
                self.runs.push(told.record(&origin));
            }
        }
    }

    fn file(mut self) -> Result<ImportedFile, Error> {
        if !self.problems.is_empty() {
            return Err(Error::of_lines(self.source, self.problems, FEW));
        }
        if self.runs.is_empty() {
            let hint = "phases that read or write are READ, WRITE and RWMIX";
            return Err(Error::new(
                self.source,
                "contains no phase of elbencho that reads or writes",
                hint,
            ));
        }
        self.notes.push(Note {
            line: None,
            message: "of elbencho's two columns the last one is used: everything done until the slowest thread ended".to_owned(),
        });
        if self.format == Format::ElbenchoCsv {
            self.notes.push(Note {
                line: None,
                message: "elbencho's CSV has whole MiB and MiB/s, which are truncated, not rounded; its JSON is exact".to_owned(),
            });
        }
        Ok(ImportedFile {
            format: self.format,
            runs: self.runs,
            notes: self.notes,
        })
    }
}

/// Whether a phase reads, writes, or does both: the share of reads, where it is asked
/// for by share.
fn reads_of(operation: &str) -> Option<Option<u8>> {
    let name = operation.split('+').next().unwrap_or(operation);
    match name {
        "READ" => Some(Some(100)),
        "WRITE" => Some(Some(0)),
        _ => {
            let rest = name.strip_prefix("RWMIX")?;
            Some(rest.parse().ok().filter(|share: &u8| *share <= 100))
        }
    }
}

fn told(operation: &str, read_percent: Option<u8>, cells: &Cells) -> Result<Told, String> {
    let of = |name: &str| cells.get(name).filter(|cell| !cell.is_empty());
    let value = |name: &str| of(name).and_then(|cell| number(cell));
    let count = |name: &str| of(name).and_then(|cell| cell.parse::<u64>().ok());
    let need = |name: &str| value(name).ok_or_else(|| format!("has no number for {name}"));
    let ms = need("time ms [last]")?;
    let block = count("block size");
    let mixed = operation.starts_with("RWMIX");
    let only_reads = read_percent == Some(100) && !mixed;
    let main = Side::of(cells, "", ms, block)?;
    let reads = Side::of(cells, "rwmix read ", ms, block)?;
    let (Some(main), reads) = (main, reads.filter(|_| mixed)) else {
        return Err("has no IOPS and no MiB/s".to_owned());
    };
    let mut told = Told {
        job: operation.to_owned(),
        read_percent,
        random: count("random").map(|random| random == 1),
        block_bytes: block,
        threads: count("threads")
            .zip(count("hosts"))
            .and_then(|(threads, hosts)| threads.checked_mul(hosts.max(1))),
        outstanding: count("IO depth"),
        cache: count("direct IO").map(|direct| match direct {
            0 => CacheMode::Buffered,
            _ => CacheMode::Direct,
        }),
        measured_ns: Some((ms * 1e6) as u64),
        iops: Some(main.iops + reads.map_or(0.0, |side| side.iops)),
        mib_per_s: Some(main.mib_per_s + reads.map_or(0.0, |side| side.mib_per_s)),
        ..Told::default()
    };
    match (only_reads, reads) {
        (true, _) => (told.read, told.write) = (main.kind, ToldKind::none()),
        (false, None) => (told.read, told.write) = (ToldKind::none(), main.kind),
        (false, Some(reads)) => (told.read, told.write) = (reads.kind, main.kind),
    }
    Ok(told)
}

#[derive(Clone, Copy)]
struct Side {
    iops: f64,
    mib_per_s: f64,
    kind: ToldKind,
}

impl Side {
    /// One direction of a phase; `None` where it did nothing.
    fn of(
        cells: &Cells,
        before: &str,
        ms: f64,
        block: Option<u64>,
    ) -> Result<Option<Side>, String> {
        let value = |name: &str| {
            let cell = cells
                .get(&format!("{before}{name}"))
                .filter(|cell| !cell.is_empty());
            cell.and_then(|cell| number(cell))
        };
        let Some(iops) = value("IOPS [last]") else {
            return Ok(None);
        };
        // The JSON has bytes, the CSV whole MiB.
        let exact = value("bytes/s");
        let mib_per_s = exact
            .map(|bytes| bytes / 1_048_576.0)
            .or(value("MiB/s [last]"));
        let mib_per_s = mib_per_s.ok_or("has IOPS and no MiB/s")?;
        let amount = match exact {
            Some(_) => value("bytes").map(|bytes| bytes / 1_048_576.0),
            None => value("MiB [last]"),
        };
        let step = if exact.is_some() { 0.001 } else { 1.0 };
        if let Some(amount) = amount {
            let follows = if ms > 0.0 { amount * 1e3 / ms } else { 0.0 };
            let off = step + (step + mib_per_s) / ms.max(1.0) + step * 1e3 / ms.max(1.0);
            if !agrees(mib_per_s, follows, 0.001, off) {
                return Err(format!(
                    "reports {mib_per_s:.1} MiB/s, but {amount:.1} MiB in {ms} ms are {follows:.1}: it was changed"
                ));
            }
        }
        // Blocks at the end of files may be shorter, never longer.
        if let Some(block) = block.filter(|block| *block > 0) {
            let most = (iops + 1.0) * block as f64 / 1_048_576.0;
            if mib_per_s > most * 1.001 + step {
                return Err(format!(
                    "reports {mib_per_s:.1} MiB/s, which does not match {iops} IOPS of its block size"
                ));
            }
        }
        let us = |name: &str| value(name).map(|us| us * 1e3);
        let kind = ToldKind {
            operations: None,
            bytes: exact.and(
                cells
                    .get(&format!("{before}bytes"))
                    .and_then(|cell| cell.parse().ok()),
            ),
            latency_min: us("IO lat us [min]"),
            latency_mean: us("IO lat us [avg]"),
            latency_max: us("IO lat us [max]"),
        };
        let order = [kind.latency_min, kind.latency_mean, kind.latency_max];
        if order
            .iter()
            .flatten()
            .zip(order.iter().flatten().skip(1))
            .any(|(low, high)| low > high)
        {
            return Err("reports latencies that are not in order".to_owned());
        }
        Ok(Some(Side {
            iops,
            mib_per_s,
            kind,
        }))
    }
}
