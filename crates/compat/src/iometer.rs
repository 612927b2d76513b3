//! Iometer's `results.csv`: for each test the access specifications, and a table with a row for all
//! managers together and rows for its components.
//!
//! The row for all is the result. The rows of its managers, workers and disks must match its counts
//! and add up to it.

use crate::foreign_result::{ForeignKind, ForeignResult, Origin, agrees, number};
use crate::out::{LineReader, Out};
use crate::text::{Line, fingerprint};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Most rows of one table.
const ROWS_MAX: usize = 65_536;
/// The heading of the results table.
const HEADING: &str = "'Target Type,Target Name,Access Specification Name,";
/// Numbers have six digits.
const OFF: f64 = 2e-4;

/// Whether a line is the heading of a table of results.
pub(crate) fn is_heading(line: &str) -> bool {
    line.trim_start().starts_with(HEADING)
}

/// One line of an access specification.
#[derive(Clone, Copy, PartialEq)]
struct Access {
    bytes: u64,
    share: u64,
    reads: u64,
    random: u64,
}

/// What the next line describes.
#[derive(Clone, Copy, PartialEq, Default)]
enum LineContext {
    #[default]
    Outside,
    Version,
    RunTime,
    RampTime,
    SpecificationName,
    Specification,
    Results,
}

/// A row of a table: its type, and cells by column name.
struct Row {
    line: u64,
    kind: String,
    cells: BTreeMap<String, String>,
}

impl Row {
    fn number(&self, name: &str) -> Option<f64> {
        number(self.cells.get(name)?)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.cells.get(name)?.trim().parse().ok()
    }
}

/// Reads a file of results.
#[derive(Default)]
pub(crate) struct Reader {
    at: LineContext,
    version: Option<String>,
    run_time_ns: Option<u64>,
    ramp_ns: Option<u64>,
    specifications: BTreeMap<String, Vec<Access>>,
    open_specification: Option<(u64, String)>,
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Of the table that is open.
    content: String,
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let text = line.text.trim();
        if text.is_empty() {
            return;
        }
        if let Some(name) = text.strip_prefix('\'') {
            return self.heading(line.number, text, name, out);
        }
        match self.at {
            LineContext::Outside => {
                if ["ALL,", "MANAGER,", "WORKER,", "DISK,"]
                    .iter()
                    .any(|kind| text.starts_with(kind))
                {
                    out.problem(line.number, "is a result without the heading of its table");
                }
            }
            LineContext::Version => {
                self.version = Some(text.to_owned());
                self.at = LineContext::Outside;
            }
            LineContext::RunTime | LineContext::RampTime => {
                let time = time_ns(text, self.at);
                match self.at {
                    LineContext::RunTime => self.run_time_ns = time,
                    _ => self.ramp_ns = time,
                }
                self.at = LineContext::Outside;
            }
            LineContext::SpecificationName => {
                let name = text.rsplit_once(',').map_or(text, |(name, _)| name);
                self.specifications.entry(name.to_owned()).or_default();
                self.open_specification = Some((line.number, name.to_owned()));
                self.at = LineContext::Specification;
            }
            LineContext::Specification => self.access(line.number, text, out),
            LineContext::Results => self.row(line.number, text, out),
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.close_table(out);
    }
}

impl Reader {
    fn heading(&mut self, line: u64, text: &str, name: &str, out: &mut Out<'_>) {
        if is_heading(text) {
            self.close_table(out);
            self.columns = text[1..]
                .split(',')
                .map(|cell| cell.trim().to_owned())
                .collect();
            self.at = LineContext::Results;
            return;
        }
        if self.at == LineContext::Results && !name.starts_with("Results") {
            self.close_table(out);
        }
        if name.starts_with("Access specification name") {
            self.close_specification(out);
            self.at = LineContext::SpecificationName;
            return;
        }
        if name.starts_with("size,") {
            if self.open_specification.is_none() {
                out.problem(
                    line,
                    "begins the lines of an access specification without a name",
                );
            }
            self.at = LineContext::Specification;
            return;
        }
        if name.starts_with("End access specifications") {
            self.close_specification(out);
            self.at = LineContext::Outside;
            return;
        }
        let words = name.to_ascii_lowercase();
        self.at = match words.as_str() {
            "version" => LineContext::Version,
            "run time" => LineContext::RunTime,
            "ramp up time (s)" => LineContext::RampTime,
            // Below `Run Time`, above its numbers.
            _ if words.starts_with("hours") => self.at,
            "access specifications" => {
                self.specifications.clear();
                LineContext::Specification
            }
            _ => LineContext::Outside,
        };
    }

    /// `8192,100,67,100,0,1,0,0,`.
    fn access(&mut self, line: u64, text: &str, out: &mut Out<'_>) {
        let cells: Vec<Option<u64>> = text
            .trim_end_matches(',')
            .split(',')
            .map(|cell| cell.trim().parse().ok())
            .collect();
        let Some((_, name)) = &self.open_specification else {
            return out.problem(line, "is a line of an access specification without a name");
        };
        let [Some(bytes), Some(share), Some(reads), Some(random), ..] = cells[..] else {
            return out.problem(
                line,
                "is not a line of an access specification: a neighbouring line is missing",
            );
        };
        if cells.len() != 8 || share > 100 || reads > 100 || random > 100 {
            return out.problem(line, "has shares above 100, or too few or too many numbers");
        }
        let access = Access {
            bytes,
            share,
            reads,
            random,
        };
        self.specifications
            .entry(name.clone())
            .or_default()
            .push(access);
    }

    fn close_specification(&mut self, out: &mut Out<'_>) {
        let Some((line, name)) = self.open_specification.take() else {
            return;
        };
        let lines = self.specifications.get(&name);
        let shares: u64 = lines
            .iter()
            .flat_map(|lines| lines.iter())
            .map(|one| one.share)
            .sum();
        if shares != 100 {
            out.problem(
                line,
                format!("begins an access specification whose shares add up to {shares} %, not to 100: a line is missing or duplicated"),
            );
        }
    }

    fn row(&mut self, line: u64, text: &str, out: &mut Out<'_>) {
        let cells: Vec<&str> = text.split(',').collect();
        // Older versions end their rows, or their heading, with a comma.
        let columns = self.columns.iter().rposition(|name| !name.is_empty());
        let wanted = columns.map_or(0, |last| last + 1);
        if cells.len() < wanted || cells[wanted..].iter().any(|cell| !cell.trim().is_empty()) {
            return out.problem(
                line,
                format!(
                    "has {} values for {wanted} columns: it is truncated",
                    cells.len()
                ),
            );
        }
        if self.rows.len() >= ROWS_MAX {
            return out.problem(line, "exceeds the maximum number of rows");
        }
        let named = self.columns.iter().zip(&cells);
        let named = named.map(|(name, cell)| (name.clone(), cell.trim().to_owned()));
        self.content.push_str(text);
        self.content.push('\n');
        self.rows.push(Row {
            line,
            kind: cells[0].trim().to_owned(),
            cells: named.collect(),
        });
    }

    fn close_table(&mut self, out: &mut Out<'_>) {
        let rows = std::mem::take(&mut self.rows);
        let content = std::mem::take(&mut self.content);
        let Some(first) = rows.first() else {
            return;
        };
        let line = first.line;
        let alls: Vec<&Row> = rows.iter().filter(|row| row.kind == "ALL").collect();
        let [all] = alls[..] else {
            return out.problem(
                line,
                format!(
                    "begins a table with {} rows of all managers (`ALL`), which must be one",
                    alls.len()
                ),
            );
        };
        let whole = parts_agree(all, &rows);
        let foreign_result = whole.and_then(|()| self.foreign_result(all, out));
        match foreign_result {
            Err(reason) => out.problem(all.line, format!("is a result that {reason}")),
            Ok(foreign_result) => {
                let mut details = Map::new();
                for name in [
                    "Access Specification Name",
                    "# Managers",
                    "# Workers",
                    "# Disks",
                    "Queue Depth",
                    "Starting Sector",
                    "Maximum Size",
                ] {
                    if let Some(value) = all.cells.get(name).filter(|value| !value.is_empty()) {
                        details.insert(name.to_owned(), Value::from(value.as_str()));
                    }
                }
                let origin = Origin {
                    tool: "iometer",
                    version: self.version.clone(),
                    source: out.source,
                    line: all.line,
                    content: fingerprint(&content),
                    details,
                    ..Origin::default()
                };
                out.give(foreign_result.record(&origin));
            }
        }
    }

    fn foreign_result(&mut self, all: &Row, out: &mut Out<'_>) -> Result<ForeignResult, String> {
        let name = all.cells.get("Access Specification Name");
        let name = name.cloned().unwrap_or_default();
        let iops = need(all, "IOps")?;
        let read = kind(all, "Read", "Bytes Read")?;
        let write = kind(all, "Write", "Bytes Written")?;
        let (read_iops, write_iops) = (need(all, "Read IOps")?, need(all, "Write IOps")?);
        if !agrees(iops, read_iops + write_iops, OFF, 0.01) {
            return Err(format!(
                "reports {iops} IOps, which do not match its {read_iops} of reads and {write_iops} of writes"
            ));
        }
        for (side, kind) in [("read", &read), ("write", &write)] {
            if kind.latency_mean > kind.latency_max {
                return Err(format!(
                    "reports a mean {side} response time above the longest"
                ));
            }
        }
        let mib_per_s = mib_per_s(all, iops, &read, &write)?;
        let mut foreign_result = ForeignResult {
            job: name.clone(),
            iops: Some(iops),
            mib_per_s: Some(mib_per_s),
            errors: all.count("Errors"),
            asked_ns: self.run_time_ns,
            ramp_ns: self.ramp_ns,
            threads: all.count("# Workers"),
            read,
            write,
            ..ForeignResult::default()
        };
        // A worker's queue depth applies to each of its disks.
        if all.count("# Workers") == all.count("# Disks") {
            foreign_result.outstanding = all.count("Queue Depth");
        }
        self.specified(&name, all.line, &mut foreign_result, out);
        Ok(foreign_result)
    }

    /// The requested load, if the access specification of that name has one line.
    fn specified(
        &mut self,
        name: &str,
        line: u64,
        foreign_result: &mut ForeignResult,
        out: &mut Out<'_>,
    ) {
        match self.specifications.get(name).map(Vec::as_slice) {
            Some([one]) => {
                foreign_result.block_bytes = Some(one.bytes);
                foreign_result.read_percent = u8::try_from(one.reads).ok();
                foreign_result.random = match one.random {
                    100 => Some(true),
                    0 => Some(false),
                    _ => None,
                };
            }
            Some([_, ..]) => out.note(line, format!("is a result of `{name}`, which has several lines: its block size and mix are unknown")),
            _ => out.note(line, format!("is a result of `{name}`, whose access specification is not in the file: what it did is unknown")),
        }
    }
}

fn need(all: &Row, column: &str) -> Result<f64, String> {
    all.number(column)
        .ok_or_else(|| format!("has no number in the column {column}"))
}

/// Its reads or writes, with the column of their bytes.
fn kind(all: &Row, side: &str, bytes: &str) -> Result<ForeignKind, String> {
    let count = |column: &str| {
        all.count(column)
            .ok_or_else(|| format!("has no count in the column {column}"))
    };
    let iops = need(all, &format!("{side} IOps"))?;
    let operations = count(&format!("{side} I/Os"))?;
    let bytes = count(bytes)?;
    let mean = need(all, &format!("Average {side} Response Time"))?;
    let max = need(all, &format!("Maximum {side} Response Time"))?;
    let done = |value: f64| (operations > 0).then_some(value);
    Ok(ForeignKind {
        operations: Some(operations),
        bytes: Some(bytes),
        iops: done(iops),
        mib_per_s: done(iops * bytes as f64 / operations as f64 / 1_048_576.0),
        latency_min: None,
        latency_mean: done(mean * 1e6),
        latency_max: done(max * 1e6),
    })
}

/// Units of 1,048,576 bytes per second; older versions label them `MBps`.
fn mib_per_s(all: &Row, iops: f64, read: &ForeignKind, write: &ForeignKind) -> Result<f64, String> {
    let names = ["MiBps (Binary)", "MBps (Binary)", "MBps"];
    let stated = names.iter().find_map(|name| all.number(name));
    let stated = stated.ok_or("has no number in the column MiBps (Binary)")?;
    let sum = |of: fn(&ForeignKind) -> Option<u64>| {
        of(read).unwrap_or(0) as f64 + of(write).unwrap_or(0) as f64
    };
    let (operations, bytes) = (sum(|kind| kind.operations), sum(|kind| kind.bytes));
    let follows = if operations > 0.0 {
        iops * bytes / operations / 1_048_576.0
    } else {
        0.0
    };
    if agrees(stated, follows, OFF, 0.001) {
        return Ok(stated);
    }
    Err(format!(
        "reports {stated} MiB/s, but its IOps times its mean size are {follows:.4}: a value is truncated or was changed"
    ))
}

/// Checks that the component rows match the counts and sums of the row for all.
fn parts_agree(all: &Row, rows: &[Row]) -> Result<(), String> {
    for (kind, column) in [
        ("MANAGER", "# Managers"),
        ("WORKER", "# Workers"),
        ("DISK", "# Disks"),
    ] {
        let parts: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
        // The user chooses which rows are written.
        if parts.is_empty() {
            continue;
        }
        let counted = all.count(column);
        if counted.is_some_and(|counted| counted != parts.len() as u64) {
            return Err(format!(
                "counts {} in the column {column}, and {} rows begin with {kind}: a row is missing or duplicated",
                counted.unwrap_or(0),
                parts.len()
            ));
        }
        for column in ["Read I/Os", "Write I/Os", "Bytes Read", "Bytes Written"] {
            let sum: Option<u64> = parts.iter().map(|row| row.count(column)).sum();
            if let (Some(sum), Some(stated)) = (sum, all.count(column))
                && sum != stated
            {
                return Err(format!(
                    "reports {stated} in the column {column}, but the rows {kind} add up to {sum}"
                ));
            }
        }
    }
    Ok(())
}

/// `0          5          0` hours, minutes, seconds; for the ramp, seconds alone.
fn time_ns(text: &str, at: LineContext) -> Option<u64> {
    let numbers: Vec<u64> = text
        .split([' ', '\t', ','])
        .filter(|part| !part.is_empty())
        .map_while(|part| part.parse().ok())
        .collect();
    let seconds = match (at, numbers.as_slice()) {
        (LineContext::RunTime, &[hours, minutes, seconds]) => hours
            .checked_mul(3600)?
            .checked_add(minutes.checked_mul(60)?)?
            .checked_add(seconds)?,
        (LineContext::RampTime, &[seconds]) => seconds,
        _ => return None,
    };
    seconds.checked_mul(1_000_000_000)
}
