//! The kernel's events as text: the default output of `blkparse`, and that of `trace-cmd report`
//! and of tracefs' own `trace`.

use super::number::scaled;
use crate::event::{Comm, Event, NO_SECTOR, RequestLetters, Step};
use stripewise_units::DeviceNumber;

const NS_PER_S: u64 = 1_000_000_000;

/// A line of `blkparse`:
/// `8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]`.
///
/// None for other lines; Some(None) for unused events.
pub(crate) fn blkparse(line: &str) -> Option<Option<Event>> {
    let mut words = line.split_ascii_whitespace();
    let device = device(words.next()?)?;
    let _processor: u32 = words.next()?.parse().ok()?;
    let _serial: i64 = words.next()?.parse().ok()?;
    let at_ns = scaled(words.next()?, NS_PER_S)?;
    let pid = words.next()?.parse().ok()?;
    let action = words.next()?;
    let step = match action {
        "Q" => Step::Queue,
        "G" => Step::Start,
        "R" => Step::Requeue,
        "D" => Step::Issue,
        "C" => Step::Complete,
        "A" => Step::Insert,
        // Merges, splits, plugs, inserts, messages.
        _ => return Some(None),
    };
    let letters = RequestLetters::parse(words.next()?.as_bytes());
    let rest = after(line, 7);
    let number = rest.split_ascii_whitespace().next();
    let number = number.and_then(|word| word.parse::<u64>().ok());
    let is_completion = matches!(step, Step::Complete | Step::Requeue);
    // Where no blocks are moved, a completion has a sector without a length, and what comes
    // before it has none. Commands that a program passes through to the device are no
    // operations: they have their bytes there, and their completions nothing.
    let (sector, sectors) = match (place(rest), number) {
        (Some(place), _) => place,
        (None, Some(sector)) if is_completion => (sector, 0),
        (None, None) if !is_completion => (NO_SECTOR, 0),
        (None, _) => return Some(None),
    };
    let (step, comm) = if action == "A" {
        (remap(rest)?, Comm::default())
    } else {
        (step, in_brackets(rest))
    };
    Some(Some(Event {
        at_ns,
        step,
        device,
        sector,
        sectors,
        letters,
        pid,
        comm: if is_completion { Comm::default() } else { comm },
    }))
}

/// A line of `trace-cmd report`:
/// `fio-1234  [001]  1234.567890: block_rq_issue: 8,0 R 4096 () 2048 + 8 [fio]`, or of `trace`,
/// which has flags after the processor, and before it the process in brackets where that is
/// switched on (`record-tgid`).
pub(crate) fn trace_cmd(line: &str) -> Option<Option<Event>> {
    let bracket = line.find(" [")?;
    let task = line[..bracket].trim();
    let task = match task.strip_suffix(')') {
        Some(task) => task.rsplit_once('(')?.0,
        None => task,
    };
    let (_, pid) = task.rsplit_once('-')?;
    let pid = pid.trim().parse().ok()?;
    let (before, after_time) = line[bracket..].split_once(": ")?;
    let at_ns = scaled(before.split_ascii_whitespace().next_back()?, NS_PER_S)?;
    let (name, rest) = after_time.trim_start().split_once(':')?;
    let rest = rest.trim();
    let step = match name {
        "block_bio_queue" => Step::Queue,
        "block_io_start" | "block_getrq" => Step::Start,
        "block_rq_issue" => Step::Issue,
        "block_rq_requeue" => Step::Requeue,
        "block_rq_complete" => Step::Complete,
        "block_io_done" => Step::Done,
        "block_bio_remap" => remap(rest)?,
        name if name.starts_with("sys_enter_") => Step::Enter,
        name if name.starts_with("sys_exit_") => Step::Exit,
        _ => return Some(None),
    };
    let mut event = Event {
        at_ns,
        step,
        device: DeviceNumber::default(),
        sector: 0,
        sectors: 0,
        letters: RequestLetters::parse(b""),
        pid,
        comm: Comm::default(),
    };
    if matches!(step, Step::Enter | Step::Exit) {
        return Some(Some(event));
    }
    let mut words = rest.split_ascii_whitespace();
    event.device = device(words.next()?)?;
    event.letters = RequestLetters::parse(words.next()?.as_bytes());
    (event.sector, event.sectors) = place(rest)?;
    // Completions have an error code there.
    if !matches!(step, Step::Complete | Step::Requeue | Step::Remap { .. }) {
        event.comm = in_brackets(rest);
    }
    Some(Some(event))
}

/// Number of events that the kernel lost here, if the line reports it: `CPU:3 [LOST 17 EVENTS]` of
/// tracefs, `CPU:3 [17 EVENTS DROPPED]` of `trace-cmd report`. The number is missing if the kernel
/// did not record it: then at least one.
pub(crate) fn lost(line: &str) -> Option<u64> {
    let rest = line.trim_start().strip_prefix("CPU:")?;
    let (processor, lost_text) = rest.split_once(" [")?;
    processor.parse::<u32>().ok()?;
    let lost_text = lost_text.trim_end().strip_suffix(']')?;
    let number = match lost_text.strip_suffix(" DROPPED") {
        Some(lost_text) => lost_text.strip_suffix("EVENTS")?,
        None => lost_text.strip_prefix("LOST ")?.strip_suffix("EVENTS")?,
    };
    match number.trim() {
        "" => Some(1),
        number => number.parse().ok(),
    }
}

/// Whether a line is a heading of `trace-cmd report` or tracefs, or one of the sums behind the
/// events of `blkparse`.
pub(crate) fn is_about_the_trace(line: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "#",
        "cpus=",
        "version = ",
        "Input file ",
        "CPU",
        "Total (",
        "Reads ",
        "Read ",
        "PC Reads ",
        "PC Read ",
        "IO unplugs:",
        "Throughput (",
        "Events (",
        "Skips:",
    ];
    let line = line.trim_start();
    BEGINNINGS.iter().any(|words| line.starts_with(*words))
}

/// The text after this many words.
fn after(line: &str, words: usize) -> &str {
    let mut rest = line.trim_start();
    for _ in 0..words {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = rest[end..].trim_start();
    }
    rest
}

/// `8,0`.
fn device(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(',')?;
    Some(DeviceNumber {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// The numbers around the first ` + `.
fn place(text: &str) -> Option<(u64, u32)> {
    let (before, after) = text.split_once(" + ")?;
    let sector = before.split_ascii_whitespace().next_back()?.parse().ok()?;
    let sectors = after.split_ascii_whitespace().next()?.parse().ok()?;
    Some((sector, sectors))
}

/// `2048 + 8 <- (8,1) 0`.
fn remap(text: &str) -> Option<Step> {
    let (_, from) = text.split_once("<- (")?;
    let (number, sector) = from.split_once(')')?;
    Some(Step::Remap {
        from_device: device(number)?,
        from_sector: sector.trim().parse().ok()?,
    })
}

/// The name in the last brackets; names may contain brackets themselves.
fn in_brackets(text: &str) -> Comm {
    let inner = text.strip_suffix(']').and_then(|text| {
        let at = text.find(" [").map(|at| at + 2);
        let at = at.or(text.starts_with('[').then_some(1))?;
        text.get(at..)
    });
    inner.map_or_else(Comm::default, |name| Comm::new(name.as_bytes()))
}
