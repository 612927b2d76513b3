//! Rows of columns: the public traces, and any text with a column description.

use super::error::FileError;
use super::names::DeviceNames;
use super::number::{local_time, scaled};
use crate::operation::Operation;
use std::str::FromStr;
use stripewise_units::{ByteSize, Kind, SECTOR_SIZE_BYTES};

/// Most columns examined in a row.
const COLUMNS_MAX: usize = 64;

/// The meaning of each column, in order.
///
/// Typed as `time=us,op=R/W,offset=bytes,size=sectors`. The words of `op` are for reads, writes,
/// discards and flushes, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    Time(Unit),
    Latency(Unit),
    Offset(u64),
    Size(u64),
    Op(Vec<String>),
    Device,
    Other,
}

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Nanoseconds(u64),
    Local,
}

impl Columns {
    /// The traces of MSR Cambridge, published by SNIA: times and response times are Windows file
    /// times, in units of 100 ns.
    pub(crate) const MSR: &str =
        "time=100ns,device,device,op=Read/Write,offset=bytes,size=bytes,latency=100ns";
    /// Alibaba's block traces of 2020.
    pub(crate) const ALIBABA: &str = "device,op=R/W,offset=bytes,size=bytes,time=us";
    /// Tencent's traces of its cloud block storage, of 2018.
    pub(crate) const TENCENT: &str = "time=s,offset=sectors,size=sectors,op=0/1,device";

    /// Parses a row; None if it lacks required columns.
    pub(crate) fn row(&self, line: &str, devices: &mut DeviceNames) -> Option<Operation> {
        let parts = cells(line);
        let mut operation = Operation::at(0, Kind::Read, 0, 0);
        let mut latency_ns = None;
        let mut device: Option<String> = None;
        for (k, column) in self.columns.iter().enumerate() {
            let part = *parts.get(k)?;
            match column {
                Column::Time(unit) => operation.arrived_ns = unit.read(part)?,
                Column::Latency(unit) => latency_ns = Some(unit.read(part)?),
                Column::Offset(unit) => operation.offset_bytes = scaled(part, *unit)?,
                Column::Size(unit) => operation.size_bytes = scaled(part, *unit)?,
                Column::Op(words) => {
                    let is_it = |word: &String| word.eq_ignore_ascii_case(part);
                    operation.kind = KINDS[words.iter().position(is_it)?];
                }
                Column::Device => match &mut device {
                    Some(name) => *name = format!("{name}.{part}"),
                    None => device = Some(part.to_owned()),
                },
                Column::Other => {}
            }
        }
        operation.completed_ns = latency_ns
            .map(|latency| operation.arrived_ns.checked_add(latency))
            .unwrap_or_default();
        operation.device = devices.number(device.as_deref().unwrap_or_default());
        let is_sound = latency_ns.is_none() || operation.completed_ns.is_some();
        is_sound.then_some(operation)
    }

    /// Whether a line names the columns: there are words where rows have numbers.
    fn are_named_by(&self, line: &str) -> bool {
        let parts = cells(line);
        let mut columns = self.columns.iter().enumerate();
        columns.all(|(k, column)| match (parts.get(k), column) {
            (None, _) => false,
            (Some(_), Column::Op(_) | Column::Device | Column::Other) => true,
            (Some(part), _) => part.starts_with(|sign: char| sign.is_alphabetic()),
        })
    }
}

/// The cells of a row, which commas, semicolons, tabs or spaces part.
fn cells(line: &str) -> Vec<&str> {
    let mark = [',', ';', '\t']
        .into_iter()
        .find(|&mark| line.contains(mark));
    match mark {
        Some(mark) => line.split(mark).take(COLUMNS_MAX).map(bare).collect(),
        None => {
            let cells = line.split_ascii_whitespace().take(COLUMNS_MAX);
            cells.map(bare).collect()
        }
    }
}

fn bare(cell: &str) -> &str {
    cell.trim().trim_matches('"')
}

/// A file of rows. The line above the first row may name the columns, and does so again where
/// files were joined.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    columns: Columns,
    heading: Option<String>,
    is_begun: bool,
}

impl Rows {
    pub const fn new(columns: Columns) -> Self {
        Rows {
            columns,
            heading: None,
            is_begun: false,
        }
    }

    /// An operation, or Some(None) for a heading.
    pub fn line(&mut self, line: &str, devices: &mut DeviceNames) -> Option<Option<Operation>> {
        if let Some(operation) = self.columns.row(line, devices) {
            self.is_begun = true;
            return Some(Some(operation));
        }
        if !self.is_begun && self.heading.is_none() && self.columns.are_named_by(line) {
            self.heading = Some(line.to_owned());
        }
        (self.heading.as_deref() == Some(line)).then_some(None)
    }
}

/// The kinds for the words of `op`.
const KINDS: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Discard, Kind::Sync];

impl Unit {
    fn read(self, text: &str) -> Option<u64> {
        match self {
            Unit::Nanoseconds(unit) => scaled(text, unit),
            Unit::Local => local_time(text),
        }
    }
}

impl FromStr for Columns {
    type Err = FileError;

    fn from_str(text: &str) -> Result<Self, FileError> {
        let columns: Vec<Column> = text
            .split(',')
            .take(COLUMNS_MAX)
            .map(column)
            .collect::<Result<_, _>>()?;
        let has = |is_it: fn(&Column) -> bool| columns.iter().filter(|one| is_it(one)).count();
        let needed = [
            (has(|one| matches!(one, Column::Time(_))), "time"),
            (has(|one| matches!(one, Column::Op(_))), "op"),
            (has(|one| matches!(one, Column::Offset(_))), "offset"),
            (has(|one| matches!(one, Column::Size(_))), "size"),
        ];
        if let Some((_, missing)) = needed.into_iter().find(|(count, _)| *count == 0) {
            return Err(FileError::MissingColumn(missing));
        }
        Ok(Columns { columns })
    }
}

fn column(part: &str) -> Result<Column, FileError> {
    let (name, value) = part.split_once('=').unwrap_or((part, ""));
    let wrong = |reason| FileError::Columns {
        part: part.to_owned(),
        reason,
    };
    let time = || match value.trim() {
        "s" => Ok(Unit::Nanoseconds(1_000_000_000)),
        "ms" => Ok(Unit::Nanoseconds(1_000_000)),
        "us" => Ok(Unit::Nanoseconds(1_000)),
        "ns" => Ok(Unit::Nanoseconds(1)),
        "100ns" => Ok(Unit::Nanoseconds(100)),
        "local" => Ok(Unit::Local),
        _ => Err(wrong("a time is in s, ms, us, ns, 100ns or local")),
    };
    let bytes = || match value.trim() {
        "bytes" | "B" => Ok(1),
        "sectors" => Ok(SECTOR_SIZE_BYTES),
        size => match size.parse::<ByteSize>() {
            Ok(size) if size.bytes() > 0 => Ok(size.bytes()),
            _ => Err(wrong("it is in bytes, sectors, or units such as 4K")),
        },
    };
    Ok(match name.trim() {
        "time" => Column::Time(time()?),
        "latency" => Column::Latency(time()?),
        "offset" => Column::Offset(bytes()?),
        "size" => Column::Size(bytes()?),
        "op" => {
            let words: Vec<String> = value.split('/').map(|one| one.trim().to_owned()).collect();
            let is_sound = (2..=KINDS.len()).contains(&words.len())
                && words.iter().all(|word| !word.is_empty());
            if !is_sound {
                return Err(wrong(
                    "two to four words stand for reads, writes, discards and flushes",
                ));
            }
            Column::Op(words)
        }
        "device" => Column::Device,
        "-" => Column::Other,
        _ => return Err(wrong("no column has this name")),
    })
}
