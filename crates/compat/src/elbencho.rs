//! elbencho's results: CSV (`--csvfile`), a row for each phase, and JSON (`--jsonfile`), a document
//! for each phase.
//!
//! Of the two columns, the one for the last thread is used (`[last]`, `last_done`): all operations
//! over the whole time. Rates are whole numbers, MiB/s in the CSV too.

use crate::foreign_result::{ForeignKind, ForeignResult, Origin, agrees, number};
use crate::json_text::json_end;
use crate::out::{LineReader, Out};
use crate::text::{Line, Part, fingerprint, line_feeds};
use crate::time::from_offset;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use stripewise_workload::CacheMode;

/// Whether a line is the heading of elbencho's CSV.
pub(crate) fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("ISO date,label,path type,") && line.contains(",operation,")
}

/// The key that identifies elbencho's JSON.
pub(crate) const MARK: &str = "\"phase_type\"";

/// One phase with its histograms is about 100 KB.
const DOCUMENT_BYTES_MAX: usize = 8 << 20;

/// A phase keyed by the CSV's column names.
type Cells<'a> = BTreeMap<&'a str, Cow<'a, str>>;

/// Reads the CSV.
#[derive(Default)]
pub(crate) struct CsvReader {
    columns: Vec<String>,
}

impl LineReader for CsvReader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let row = line.text.trim();
        if row.is_empty() {
            return;
        }
        if is_heading(row) {
            self.columns = row.split(',').map(str::to_owned).collect();
            return;
        }
        let cells: Vec<&str> = row.split(',').collect();
        if self.columns.is_empty() {
            // Text above the heading; a row has dozens of cells.
            if cells.len() > 30 {
                out.problem(line.number, "is a row without a heading above it");
            }
            return;
        }
        // A prompt, the end of a code block, text of another tool; a row begins with its date.
        if !row.starts_with(|sign: char| sign.is_ascii_digit()) {
            let shown: String = row.chars().take(80).collect();
            return out.note(
                line.number,
                format!("is not a row of the table and is skipped: {shown}"),
            );
        }
        if cells.len() != self.columns.len() {
            let (found, wanted) = (cells.len(), self.columns.len());
            let reason = format!("has {found} values for {wanted} columns: it is truncated");
            return out.problem(line.number, reason);
        }
        let named = self.columns.iter().map(String::as_str).zip(cells);
        let cells = named.map(|(name, cell)| (name, Cow::Borrowed(cell)));
        phase(line.number, row, &cells.collect(), out);
    }

    fn end(&mut self, out: &mut Out<'_>) {
        out.note_once(OF_TWO_COLUMNS);
        out.note_once("elbencho's CSV has whole MiB and MiB/s, which are truncated, not rounded; its JSON is exact");
    }
}

const OF_TWO_COLUMNS: &str = "of elbencho's two columns the last one is used: everything done until the slowest thread ended";

/// Reads the documents of the JSON.
pub(crate) fn read_json(parts: &[Part<'_>], out: &mut Out<'_>) {
    for part in parts {
        documents(part, out);
    }
    out.note_once(OF_TWO_COLUMNS);
}

fn documents(part: &Part<'_>, out: &mut Out<'_>) {
    let text = part.text;
    let (mut from, mut line) = (0, part.first_line);
    while let Some(mark) = text[from..].find(MARK) {
        let Some(open) = text[from..from + mark].rfind('{') else {
            let line = line + line_feeds(&text[from..from + mark]);
            return out.problem(line, "is part of a document whose beginning is missing");
        };
        let start = from + open;
        line += line_feeds(&text[from..start]);
        let end = json_end(text, start, out.work()).unwrap_or(text.len());
        if !out.visit(end - from) {
            return;
        }
        if end - start > DOCUMENT_BYTES_MAX {
            return out.problem(
                line,
                "begins a document that is longer than any of elbencho",
            );
        }
        let value: Value = match serde_json::from_str(&text[start..end]) {
            Ok(value) => value,
            Err(error) => {
                let reason = format!("begins a document that is not complete JSON: {error}");
                return out.problem(line, reason);
            }
        };
        phase(line, &text[start..end], &cells_of(&value), out);
        line += line_feeds(&text[start..end]);
        from = end;
    }
    out.visit(text.len() - from);
}

/// Values of a document under the CSV's column names; for bytes, which the CSV has only in MiB,
/// `bytes` and `bytes/s`.
fn cells_of(value: &Value) -> Cells<'_> {
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
            // Boost writes all values as strings, including booleans.
            Some(Value::Bool(true)) => Cow::Borrowed("1"),
            Some(Value::Bool(false)) => Cow::Borrowed("0"),
            Some(Value::String(text)) => Cow::Borrowed(match text.as_str() {
                "true" => "1",
                "false" => "0",
                text => text,
            }),
            Some(Value::Number(number)) => Cow::Owned(number.to_string()),
            _ => continue,
        };
        cells.insert(name, text);
    }
    cells
}

fn phase(line: u64, content: &str, cells: &Cells<'_>, out: &mut Out<'_>) {
    let of = |name: &str| cells.get(name).filter(|cell| !cell.is_empty());
    let operation = of("operation").map_or("", |cell| cell);
    let Some(read_percent) = reads_of(operation) else {
        return out.note(
            line,
            format!("is a phase `{operation}`, which neither reads nor writes data; left out"),
        );
    };
    let foreign_result = match foreign_result(operation, read_percent, cells) {
        Ok(foreign_result) => foreign_result,
        Err(reason) => {
            return out.problem(line, format!("is a phase {operation} that {reason}"));
        }
    };
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
        if let Some(value) = of(name) {
            details.insert(name.to_owned(), Value::from(&**value));
        }
    }
    let command = of("command").map_or("", |cell| cell);
    let words = command
        .split('"')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let origin = Origin {
        tool: "elbencho",
        version: cells.get("version").map(|cell| cell.clone().into_owned()),
        source: out.source,
        line,
        content: fingerprint(content),
        started_at: of("ISO date").and_then(|text| from_offset(text)),
        command: words.map(str::to_owned).collect(),
        details,
    };
    out.give(foreign_result.record(&origin));
}

/// Whether a phase reads, writes, or mixes: the percentage of reads, if configured.
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

fn foreign_result(
    operation: &str,
    read_percent: Option<u8>,
    cells: &Cells<'_>,
) -> Result<ForeignResult, String> {
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
    let mut foreign_result = ForeignResult {
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
        ..ForeignResult::default()
    };
    match (only_reads, reads) {
        (true, _) => (foreign_result.read, foreign_result.write) = (main.kind, ForeignKind::none()),
        (false, None) => {
            (foreign_result.read, foreign_result.write) = (ForeignKind::none(), main.kind)
        }
        (false, Some(reads)) => {
            (foreign_result.read, foreign_result.write) = (reads.with_rates(), main.with_rates())
        }
    }
    Ok(foreign_result)
}

#[derive(Clone, Copy)]
struct Side {
    iops: f64,
    mib_per_s: f64,
    kind: ForeignKind,
}

impl Side {
    /// One of two directions, whose rates are apart.
    fn with_rates(self) -> ForeignKind {
        ForeignKind {
            iops: Some(self.iops),
            mib_per_s: Some(self.mib_per_s),
            ..self.kind
        }
    }

    /// One direction of a phase; `None` if it did nothing.
    fn of(
        cells: &Cells<'_>,
        before: &str,
        ms: f64,
        block: Option<u64>,
    ) -> Result<Option<Side>, String> {
        let value = |name: &str| {
            let cell = cells
                .get(format!("{before}{name}").as_str())
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
        let kind = ForeignKind {
            bytes: exact.and(
                cells
                    .get(format!("{before}bytes").as_str())
                    .and_then(|cell| cell.parse().ok()),
            ),
            latency_min: us("IO lat us [min]"),
            latency_mean: us("IO lat us [avg]"),
            latency_max: us("IO lat us [max]"),
            ..ForeignKind::default()
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
