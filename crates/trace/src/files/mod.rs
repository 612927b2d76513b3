//! Trace files: detected, decompressed and read in constant memory, whatever their length.
//!
//! Operations are in the order of arrival within a window of ten seconds or 65,536 operations. A
//! truncated or damaged file is read up to that point, and [`FileReport::cut`] reports it.
//! `docs/TRACES.md` describes each format and its documentation.

mod blktrace;
mod columns;
mod compression;
mod error;
mod input;
mod iolog;
mod kernel_text;
mod names;
mod number;
mod parts;
mod stored;
mod text;
mod totals;
mod vscsi;

#[cfg(test)]
mod tests;

pub use columns::Columns;
pub use compression::Compression;
pub use error::FileError;
pub use parts::{JoinedParts, part_of};
pub use stored::TraceWriter;
pub use text::decoded;
pub use totals::{FileTotals, Snapshot, TotalsError, is_snapshot, totals};

use crate::closedness::share_of_lost;
use crate::event::Event;
use crate::operation::Operation;
use crate::order::InOrder;
use crate::pairing::{Pairer, PairingReport};
use crate::tasks::Tasks;
use blktrace::Blktrace;
use columns::Rows;
use compression::unpacked;
use input::{Input, Line};
use iolog::Iolog;
use names::DeviceNames;
use std::io::{self, Read};
use stripewise_units::DeviceNumber;
use vscsi::Vscsi;

/// Largest disorder of a file's events and operations.
const WINDOW_NS: u64 = 10_000_000_000;
/// Lines examined to detect a format.
const LINES_LOOKED_AT: usize = 200;
/// A file with more unrecognised lines than this, and mostly such lines, has another format.
const SKIPPED_MAX: u64 = 1_000;

stripewise_units::named! {
    /// A format of a trace.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Format {
        /// Binary records of `blktrace`.
        Blktrace = "blktrace",
        /// Output of `blkparse`.
        Blkparse = "blkparse text",
        /// Output of `trace-cmd report` and tracefs.
        TraceCmd = "trace-cmd text",
        /// Stripewise's own.
        Stripewise = "a trace of Stripewise",
        /// fio's iolog, version 2.
        FioIolog2 = "fio iolog, version 2",
        /// fio's iolog, version 3.
        FioIolog3 = "fio iolog, version 3",
        /// MSR Cambridge's traces.
        MsrCambridge = "MSR Cambridge",
        /// Alibaba's block traces.
        Alibaba = "Alibaba block traces",
        /// Tencent's traces of its cloud block storage.
        TencentCbs = "Tencent CBS",
        /// CloudPhysics' vscsi traces.
        CloudPhysicsVscsi = "CloudPhysics vscsi",
        /// Columns that the user described.
        Columns = "described columns",
    }
}

/// Statistics of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// Lines or records read.
    pub rows: u64,
    /// Lines not in the format.
    pub skipped: u64,
    /// The first of them, from 1.
    pub first_skipped: Option<u64>,
    /// Why reading ended early, or that the file ends within a row.
    pub cut: Option<String>,
    /// The largest unit, in nanoseconds, of which all times are multiples (relative to the first);
    /// None for fewer than two different times. A second means that the trace has no information
    /// within one.
    pub resolution_ns: Option<u64>,
    /// Operations that follow a later one by more than the file is put in order.
    pub late: u64,
    /// Events lost by the recorder, according to lines in the text.
    pub lost_events: u64,
    /// For formats with events: the pairing statistics.
    pub pairing: PairingReport,
}

impl FileReport {
    /// Operations missing or without an end plus lost events, and their share of everything, up to
    /// 1.
    pub fn lost(&self) -> (u64, f64) {
        let lost = self.pairing.dropped.saturating_add(self.lost_events);
        (lost, share_of_lost(lost, self.rows))
    }
}

enum Parser {
    Blktrace(Box<Blktrace>),
    Text(fn(&str) -> Option<Option<Event>>),
    Iolog(Iolog),
    Stored,
    Rows(Rows),
    Vscsi(Vscsi),
}

enum Item {
    Event(Event),
    Operation(Operation),
    Lost(u64),
    Nothing,
    Skipped,
}

/// A file of a trace: an iterator of its operations.
pub struct TraceFile<'a> {
    format: Format,
    compression: Compression,
    input: Input<'a>,
    parser: Parser,
    devices: DeviceNames,
    events: InOrder<Event>,
    pairer: Pairer,
    operations: InOrder<Operation>,
    first_ns: Option<u64>,
    latest_ns: u64,
    report: FileReport,
    is_ended: bool,
}

/// Opens a trace: detects its format, or uses the described columns.
///
/// # Errors
/// If the format is unknown or refused, or the first bytes cannot be read.
pub fn open<'a>(
    bytes: impl Read + 'a,
    columns: Option<&Columns>,
) -> Result<TraceFile<'a>, FileError> {
    let (bytes, compression) = unpacked(Box::new(bytes))?;
    let (input, head) = Input::new(bytes)?;
    if head.is_empty() {
        return Err(FileError::Empty);
    }
    if compression != Compression::None && Compression::of(&head) != Compression::None {
        return Err(FileError::PackedTwice);
    }
    let (format, parser) = match columns {
        Some(columns) => (Format::Columns, Parser::Rows(Rows::new(columns.clone()))),
        None => recognise(&head)?,
    };
    Ok(TraceFile {
        format,
        compression,
        input,
        parser,
        devices: DeviceNames::default(),
        events: InOrder::new(WINDOW_NS),
        pairer: Pairer::default(),
        operations: InOrder::new(WINDOW_NS),
        first_ns: None,
        latest_ns: 0,
        report: FileReport::default(),
        is_ended: false,
    })
}

fn recognise(head: &[u8]) -> Result<(Format, Parser), FileError> {
    if let Some(layout) = blktrace::Layout::recognise(head) {
        let parser = Parser::Blktrace(Box::new(Blktrace::new(layout)));
        return Ok((Format::Blktrace, parser));
    }
    if let Some(version) = Vscsi::recognise(head) {
        return Ok((Format::CloudPhysicsVscsi, Parser::Vscsi(version)));
    }
    if vscsi::is_oracle_general(head) {
        return Err(FileError::OracleGeneral);
    }
    let text = String::from_utf8_lossy(text::without_padding(head));
    let lines: Vec<&str> = text.lines().map(str::trim).take(LINES_LOOKED_AT).collect();
    if lines.first() == Some(&stored::HEADER) {
        return Ok((Format::Stripewise, Parser::Stored));
    }
    for (header, is_timed) in iolog::HEADERS.into_iter().zip([false, true]) {
        if lines.first() == Some(&header) {
            let format = if is_timed {
                Format::FioIolog3
            } else {
                Format::FioIolog2
            };
            return Ok((format, Parser::Iolog(Iolog::new(is_timed))));
        }
    }
    let is_text = |parse: fn(&str) -> Option<Option<Event>>| {
        lines
            .iter()
            .any(|line| matches!(parse(line), Some(Some(_))))
    };
    if is_text(kernel_text::blkparse) {
        return Ok((Format::Blkparse, Parser::Text(kernel_text::blkparse)));
    }
    if is_text(kernel_text::trace_cmd) {
        return Ok((Format::TraceCmd, Parser::Text(kernel_text::trace_cmd)));
    }
    recognise_rows(&lines)
}

/// Public traces made of rows: all of the first rows, except a header and a possibly truncated last
/// one, must be in one of their formats.
fn recognise_rows(lines: &[&str]) -> Result<(Format, Parser), FileError> {
    let known = [
        (Format::MsrCambridge, Columns::MSR, 7),
        (Format::Alibaba, Columns::ALIBABA, 5),
        (Format::TencentCbs, Columns::TENCENT, 5),
    ];
    for (format, columns, count) in known {
        let columns: Columns = columns.parse()?;
        let fits = |line: &&str| {
            let is_row = columns.row(line, &mut DeviceNames::default()).is_some();
            is_row && line.split(',').count() == count
        };
        let filled = lines.iter().copied().filter(|line| !line.is_empty());
        let rows: Vec<&str> = filled.collect();
        let heading = rows.first().copied().filter(|first| !fits(first));
        let rows = rows.into_iter().filter(|row| Some(*row) != heading);
        let body: Vec<&str> = rows.collect();
        let whole = &body[..body.len().saturating_sub(1).max(1).min(body.len())];
        if !whole.is_empty() && whole.iter().all(fits) {
            return Ok((format, Parser::Rows(Rows::new(columns))));
        }
    }
    Err(FileError::Unknown)
}

impl TraceFile<'_> {
    /// Its format.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Its compression.
    pub const fn compression(&self) -> Compression {
        self.compression
    }

    /// Statistics so far; complete when the last operation has been taken.
    pub fn report(&self) -> FileReport {
        FileReport {
            rows: self.input.taken,
            pairing: self.pairer.report(),
            ..self.report.clone()
        }
    }

    /// The tasks of its operations.
    pub const fn tasks(&self) -> &Tasks {
        &self.pairer.tasks
    }

    /// The file's name for a device; None if it gives a number.
    pub fn device_name(&self, device: DeviceNumber) -> Option<&str> {
        self.devices.name(device)
    }

    /// Reads a row. False at the end.
    fn row(&mut self) -> io::Result<bool> {
        let item = match &mut self.parser {
            Parser::Blktrace(blktrace) => match blktrace.next(&mut self.input)? {
                None => return Ok(false),
                Some(event) => event.map_or(Item::Nothing, Item::Event),
            },
            Parser::Vscsi(version) => {
                let mut bytes = [0; 40];
                let record = &mut bytes[..version.record_bytes()];
                if self.input.record(record)?.is_none() {
                    return Ok(false);
                }
                item_of(version.record(record), Item::Operation)
            }
            Parser::Text(parse) => match self.input.line()? {
                None => return Ok(false),
                Some(line) => {
                    let parsed = with_text(&line, |line| text_item(line, *parse));
                    item_of(parsed, |item| item)
                }
            },
            Parser::Stored => match self.input.line()? {
                None => return Ok(false),
                Some(line) => {
                    let tasks = &mut self.pairer.tasks;
                    let parsed =
                        with_text(&line, |line| stored::line(line, &mut self.devices, tasks));
                    item_of(parsed, Item::Operation)
                }
            },
            Parser::Iolog(iolog) => match self.input.line()? {
                None => return Ok(false),
                Some(line) => {
                    let parsed = with_text(&line, |line| iolog.line(line, &mut self.devices));
                    item_of(parsed, Item::Operation)
                }
            },
            Parser::Rows(rows) => match self.input.line()? {
                None => return Ok(false),
                Some(line) => {
                    let parsed = with_text(&line, |line| rows.line(line, &mut self.devices));
                    item_of(parsed, Item::Operation)
                }
            },
        };
        self.take(item);
        Ok(true)
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Event(event) => {
                self.time(event.at_ns);
                self.events.push(event.at_ns, event.at_ns, event);
                while let Some(event) = self.events.pop() {
                    self.pair(&event);
                }
            }
            Item::Operation(operation) => {
                self.time(operation.arrived_ns);
                self.hold(operation);
            }
            // Nothing observed is missing before the first event.
            Item::Lost(_) if self.first_ns.is_none() => {}
            Item::Lost(events) => {
                self.report.lost_events = self.report.lost_events.saturating_add(events);
                while let Some(event) = self.events.pop_last() {
                    self.pair(&event);
                }
                // Open operations must not be paired with events after the gap.
                self.pairer.lose();
                self.hand_on();
            }
            Item::Nothing => {}
            Item::Skipped => {
                self.report.skipped += 1;
                self.report.first_skipped.get_or_insert(self.input.taken);
            }
        }
    }

    fn pair(&mut self, event: &Event) {
        self.pairer.event(event);
        self.hand_on();
    }

    /// Holds paired operations until they are due.
    fn hand_on(&mut self) {
        while let Some(operation) = self.pairer.next_operation() {
            self.hold(operation);
        }
    }

    fn hold(&mut self, operation: Operation) {
        let seen_ns = match self.is_of_events() {
            true => operation.completed_ns.unwrap_or(operation.arrived_ns),
            false => operation.arrived_ns,
        };
        self.operations
            .push(operation.arrived_ns, seen_ns, operation);
    }

    /// Operations of events are known when they complete; rows are ordered by arrival.
    const fn is_of_events(&self) -> bool {
        matches!(self.parser, Parser::Blktrace(_) | Parser::Text(_))
    }

    /// Whether an operation follows a later one because its row does, and not because it took so
    /// long.
    fn is_late(&self, operation: &Operation) -> bool {
        let latency_ns = operation.latency_ns().unwrap_or(u64::MAX);
        operation.arrived_ns < self.latest_ns && !(self.is_of_events() && latency_ns > WINDOW_NS)
    }

    fn time(&mut self, at_ns: u64) {
        let first = *self.first_ns.get_or_insert(at_ns);
        let difference = at_ns.abs_diff(first);
        if difference > 0 {
            let known = self.report.resolution_ns.unwrap_or(difference);
            self.report.resolution_ns = Some(greatest_common_divisor(known, difference));
        }
    }

    /// Reads rows until an operation is due; false when there are no more.
    fn read_on(&mut self) -> bool {
        if self.is_ended {
            return false;
        }
        self.report.cut = match self.row() {
            Ok(true) => {
                let skipped = self.report.skipped;
                if skipped <= SKIPPED_MAX || skipped * 2 <= self.input.taken {
                    return true;
                }
                Some("most lines are not of the format that the first ones have".to_owned())
            }
            Ok(false) => None,
            Err(error) => Some(reason_of(&error)),
        };
        self.is_ended = true;
        while let Some(event) = self.events.pop_last() {
            self.pair(&event);
        }
        self.pairer.finish();
        self.hand_on();
        false
    }
}

impl Iterator for TraceFile<'_> {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        let operation = loop {
            if let Some(operation) = self.operations.pop() {
                break operation;
            }
            if !self.read_on() {
                break self.operations.pop_last()?;
            }
        };
        self.report.late += u64::from(self.is_late(&operation));
        self.latest_ns = self.latest_ns.max(operation.arrived_ns);
        Some(operation)
    }
}

fn reason_of(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the file ends within a row, or within what is packed".into()
        }
        _ => format!("the file is damaged: {error}"),
    }
}

/// A line of the kernel's events.
fn text_item(line: &str, parse: fn(&str) -> Option<Option<Event>>) -> Option<Option<Item>> {
    match (kernel_text::lost(line), parse(line)) {
        (Some(events), _) => Some(Some(Item::Lost(events))),
        (None, Some(event)) => Some(event.map(Item::Event)),
        (None, None) => kernel_text::is_about_the_trace(line).then_some(None),
    }
}

fn item_of<T>(parsed: Option<Option<T>>, make: fn(T) -> Item) -> Item {
    match parsed {
        Some(Some(one)) => make(one),
        Some(None) => Item::Nothing,
        None => Item::Skipped,
    }
}

/// Parses a line as text; skips empty lines, and counts too long ones as another format.
fn with_text<T>(
    line: &Line<'_>,
    mut parse: impl FnMut(&str) -> Option<Option<T>>,
) -> Option<Option<T>> {
    match line {
        Line::TooLong => None,
        Line::Bytes([]) => Some(None),
        Line::Bytes(bytes) => parse(&String::from_utf8_lossy(bytes)),
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
