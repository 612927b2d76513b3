//! Stripewise's own trace format: gzip around lines of text, one per operation, with everything
//! known about it. `docs/TRACES.md` describes it.

use super::names::DeviceNames;
use crate::event::{Comm, Flags};
use crate::operation::Operation;
use crate::tasks::Tasks;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::{self, Write};
use stripewise_units::Kind;

/// The first line.
pub(crate) const HEADER: &str = "stripewise trace 1";
/// Letters of kinds.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Read, "R"),
    (Kind::Write, "W"),
    (Kind::Sync, "F"),
    (Kind::Discard, "D"),
];

/// Writes a trace.
pub struct TraceWriter<W: Write> {
    out: GzEncoder<W>,
    line: String,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    pub fn new(writer: W) -> io::Result<Self> {
        let mut out = GzEncoder::new(writer, Compression::fast());
        writeln!(out, "{HEADER}")?;
        Ok(TraceWriter {
            out,
            line: String::new(),
        })
    }

    /// Writes an operation of a device with this name. Without `tasks` the issuing task is omitted.
    pub fn add(
        &mut self,
        operation: &Operation,
        device: &str,
        tasks: Option<&Tasks>,
    ) -> io::Result<()> {
        let one = operation;
        let letter = KINDS.iter().find(|(kind, _)| *kind == one.kind);
        let letter = letter.map_or("R", |(_, letter)| letter);
        let line = &mut self.line;
        line.clear();
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{} {letter} {} {} {} {}",
            one.arrived_ns,
            one.offset_bytes,
            one.size_bytes,
            one.flags.bits(),
            one.demands
        );
        let before = one.entered_ns.map(|at| one.arrived_ns.saturating_sub(at));
        let after = |at: Option<u64>| at.map(|at| at.saturating_sub(one.arrived_ns));
        let times = [
            before,
            after(one.started_ns),
            after(one.issued_ns),
            after(one.completed_ns),
            after(one.returned_ns),
        ];
        for time in times {
            let _ = match time {
                Some(ns) => write!(line, " {ns}"),
                None => write!(line, " -"),
            };
        }
        let pid = tasks.and_then(|tasks| tasks.pid(one.task)).unwrap_or(0);
        let name = tasks.and_then(|tasks| tasks.name(one.task));
        let _ = write!(line, " {device} {pid} {}", name.unwrap_or_default());
        writeln!(self.out, "{}", line.trim_end())
    }

    /// The underlying writer.
    pub fn writer(&self) -> &W {
        self.out.get_ref()
    }

    /// Ends the trace.
    pub fn finish(self) -> io::Result<W> {
        self.out.finish()
    }
}

/// Parses a line: an operation, or Some(None) for the header.
pub(crate) fn line(
    line: &str,
    devices: &mut DeviceNames,
    tasks: &mut Tasks,
) -> Option<Option<Operation>> {
    if line == HEADER {
        return Some(None);
    }
    let mut words = line.splitn(14, ' ');
    let mut word = || words.next();
    let arrived_ns: u64 = word()?.parse().ok()?;
    let letter = word()?;
    let (kind, _) = KINDS.iter().find(|(_, known)| *known == letter)?;
    let (offset, size) = (word()?.parse().ok()?, word()?.parse().ok()?);
    let flags = Flags::from_bits(word()?.parse().ok()?);
    let demands = word()?.parse().ok()?;
    let mut time = || match word()? {
        "-" => Some(None),
        ns => Some(Some(ns.parse::<u64>().ok()?)),
    };
    let entered_ns = time()?.map(|ns| arrived_ns.saturating_sub(ns));
    let mut later = || Some(time()?.map(|ns| arrived_ns.saturating_add(ns)));
    let (started_ns, issued_ns) = (later()?, later()?);
    let (completed_ns, returned_ns) = (later()?, later()?);
    let device = devices.number(word()?);
    let pid = word().map_or(Some(0), |pid| pid.parse().ok())?;
    let name = word().unwrap_or_default();
    Some(Some(Operation {
        device,
        task: tasks.id(pid, Comm::new(name.as_bytes())),
        flags,
        demands,
        entered_ns,
        started_ns,
        issued_ns,
        completed_ns,
        returned_ns,
        ..Operation::at(arrived_ns, *kind, offset, size)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::{Format, open};
    use super::*;

    #[test]
    fn a_trace_comes_back_as_it_was_written() {
        let mut tasks = Tasks::default();
        let task = tasks.id(4_711, Comm::new(b"tmux: server"));
        let whole = Operation {
            task,
            flags: Flags::SYNC.with(Flags::FUA),
            demands: 3,
            entered_ns: Some(900),
            started_ns: Some(1_005),
            issued_ns: Some(1_010),
            completed_ns: Some(9_000),
            returned_ns: Some(9_100),
            ..Operation::at(1_000, Kind::Write, 1 << 40, 8_192)
        };
        let bare = Operation::at(2_000, Kind::Sync, 0, 0);
        let mut writer = TraceWriter::new(Vec::new()).unwrap();
        writer.add(&whole, "sda", Some(&tasks)).unwrap();
        writer.add(&bare, "sdb", None).unwrap();
        let bytes = writer.finish().unwrap();
        let mut trace = open(&bytes[..], None).unwrap();
        assert_eq!(trace.format(), Format::Stripewise);
        let read: Vec<Operation> = trace.by_ref().collect();
        assert_eq!(trace.device_name(read[0].device), Some("sda"));
        assert_eq!(
            trace.tasks().name(read[0].task).as_deref(),
            Some("tmux: server")
        );
        assert_eq!(trace.tasks().pid(read[0].task), Some(4_711));
        let same = |one: &Operation, other: &Operation| Operation {
            device: other.device,
            task: other.task,
            ..*one
        };
        assert_eq!(same(&whole, &read[0]), read[0]);
        assert_eq!(same(&bare, &read[1]), read[1]);
        assert_eq!(trace.report().skipped, 0);
    }

    #[test]
    fn damaged_lines_are_skipped() {
        let mut devices = DeviceNames::default();
        let mut tasks = Tasks::default();
        for text in [
            "",
            "1",
            "1 R 0 512 0 1 - - - 5 -",
            "x R 0 512 0 1 - - - 5 - sda 1 a",
        ] {
            assert_eq!(line(text, &mut devices, &mut tasks), None, "{text}");
        }
        let huge = format!("{0} R {0} {0} 255 1 {0} {0} {0} {0} {0} sda 1 a", u64::MAX);
        assert!(line(&huge, &mut devices, &mut tasks).is_some());
    }
}
