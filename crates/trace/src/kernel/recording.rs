//! Converts pages to events in the order of time.
//!
//! Each CPU has its own buffer, so events are merged by time within a window: one that comes later
//! than the window allows is counted and dropped; files are never simply concatenated.

use super::format::{EventFormat, Field, PageFormat};
use super::page::{Page, PageError};
use crate::event::{Comm, Event, RequestLetters, Step};
use crate::order::InOrder;
use std::collections::HashMap;
use stripewise_units::DeviceNumber;

/// Converts the fields of one type of event to an [`Event`].
#[derive(Clone, Debug)]
struct Decoder {
    step: Step,
    device: Option<Field>,
    sector: Option<Field>,
    sectors: Option<Field>,
    letters: Option<Field>,
    comm: Option<Field>,
    from: Option<(Field, Field)>,
}

impl Decoder {
    /// None for unused events.
    fn new(format: &EventFormat) -> Option<Self> {
        let field = |name: &str| format.field(name).cloned();
        let step = match format.name.as_str() {
            "block_bio_queue" => Step::Queue,
            "block_io_start" | "block_getrq" => Step::Start,
            "block_rq_insert" => Step::Insert,
            "block_rq_issue" => Step::Issue,
            "block_rq_requeue" => Step::Requeue,
            "block_rq_complete" => Step::Complete,
            "block_io_done" => Step::Done,
            "block_bio_remap" => Step::Remap {
                from_device: DeviceNumber::default(),
                from_sector: 0,
            },
            name if name.starts_with("sys_enter_") => Step::Enter,
            name if name.starts_with("sys_exit_") => Step::Exit,
            _ => return None,
        };
        Some(Decoder {
            step,
            device: field("dev"),
            sector: field("sector"),
            sectors: field("nr_sector"),
            letters: field("rwbs"),
            comm: field("comm"),
            from: field("old_dev").zip(field("old_sector")),
        })
    }

    fn event(&self, at_ns: u64, pid: i32, record: &[u8]) -> Event {
        let number = |field: &Option<Field>| {
            let field = field.as_ref();
            field.and_then(|field| field.number(record)).unwrap_or(0)
        };
        let text = |field: &Option<Field>| -> &[u8] {
            let field = field.as_ref();
            field
                .and_then(|field| field.bytes(record))
                .unwrap_or_default()
        };
        let step = match (self.step, &self.from) {
            (Step::Remap { .. }, Some((device, sector))) => Step::Remap {
                from_device: device_of(device.number(record).unwrap_or(0)),
                from_sector: sector.number(record).unwrap_or(0),
            },
            (step, _) => step,
        };
        Event {
            at_ns,
            step,
            device: device_of(number(&self.device)),
            sector: number(&self.sector),
            sectors: u32::try_from(number(&self.sectors)).unwrap_or(u32::MAX),
            letters: RequestLetters::parse(text(&self.letters)),
            pid,
            comm: Comm::new(text(&self.comm)),
        }
    }
}

/// The kernel's internal `dev_t`: twelve bits and twenty.
fn device_of(number: u64) -> DeviceNumber {
    DeviceNumber {
        major: (number >> 20) as u32,
        minor: number as u32 & 0xf_ffff,
    }
}

/// Statistics of a recording's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingReport {
    /// Pages read.
    pub pages: u64,
    /// Events made from their records.
    pub events: u64,
    /// Records of other types, or shorter than their fields.
    pub other_records: u64,
    /// Pages and records that were damaged.
    pub damaged: u64,
    /// Pages before which the kernel reports lost events.
    pub pages_after_loss: u64,
    /// Events that came too late to be ordered, and were dropped.
    pub late_events: u64,
}

/// Pages in, time-ordered events out.
#[derive(Debug)]
pub struct Recording {
    page_format: PageFormat,
    decoders: HashMap<u16, Decoder>,
    pid: Option<Field>,
    waiting: InOrder<Event>,
    given_ns: u64,
    report: RecordingReport,
}

impl Recording {
    /// A recording of events in these formats. `window_ns` is how much later than another an event
    /// may be passed in and still be ordered before it: at least the time between two rounds over
    /// all CPU buffers.
    pub fn new(page_format: PageFormat, formats: &[EventFormat], window_ns: u64) -> Self {
        // Kernels from 6.5 on have both; each operation starts once.
        let has_start = formats.iter().any(|format| format.name == "block_io_start");
        let decoder = |format: &EventFormat| {
            let is_second = has_start && format.name == "block_getrq";
            let decoder = Decoder::new(format).filter(|_| !is_second)?;
            Some((format.id, decoder))
        };
        let pid = |format: &EventFormat| format.field("common_pid").cloned();
        Recording {
            page_format,
            decoders: formats.iter().filter_map(decoder).collect(),
            pid: formats.iter().find_map(pid),
            waiting: InOrder::new(window_ns),
            given_ns: 0,
            report: RecordingReport::default(),
        }
    }

    /// Statistics so far.
    pub const fn report(&self) -> RecordingReport {
        self.report
    }

    /// Reads a page. True if the kernel lost events before it: open operations must then be dropped
    /// ([`crate::Pairer::lose`]), on all CPUs.
    ///
    /// # Errors
    /// If the page is damaged; records before the damage count.
    pub fn page(&mut self, bytes: &[u8]) -> Result<bool, PageError> {
        self.report.pages += 1;
        let page =
            Page::parse(bytes, self.page_format).inspect_err(|_| self.report.damaged += 1)?;
        self.report.pages_after_loss += u64::from(page.is_after_loss);
        for record in page.records() {
            let record = record.inspect_err(|_| self.report.damaged += 1)?;
            match self.event(record.at_ns, record.bytes) {
                Some(event) => self.wait(event),
                None => self.report.other_records += 1,
            }
        }
        Ok(page.is_after_loss)
    }

    fn event(&self, at_ns: u64, record: &[u8]) -> Option<Event> {
        let id = u16::from_le_bytes(record.get(..2)?.try_into().ok()?);
        let decoder = self.decoders.get(&id)?;
        let pid = self.pid.as_ref().and_then(|field| field.number(record))?;
        Some(decoder.event(at_ns, pid as u32 as i32, record))
    }

    fn wait(&mut self, event: Event) {
        if event.at_ns < self.given_ns {
            self.report.late_events += 1;
            return;
        }
        self.report.events += 1;
        self.waiting.push(event.at_ns, event.at_ns, event);
    }

    /// The next event that no earlier one can precede any more.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.waiting.pop();
        self.given(event)
    }

    /// The next event before a moment; for a caller that has read all buffers since then, so that
    /// no earlier one can follow. The backlog never exceeds what the buffers held.
    pub fn next_event_before(&mut self, ns: u64) -> Option<Event> {
        let event = self.waiting.pop_before(ns);
        self.given(event)
    }

    /// The next event, once no more pages come.
    pub fn last_event(&mut self) -> Option<Event> {
        let event = self.waiting.pop_last();
        self.given(event)
    }

    fn given(&mut self, event: Option<Event>) -> Option<Event> {
        self.given_ns = event.map_or(self.given_ns, |event| event.at_ns);
        event
    }
}
