//! Observes a trace in a file.

use super::{ObserveOptions, Observed};
use crate::steps::observation::capture::{Capture, DeviceModelBuilder};
use crate::steps::observation::result::{Names, blamed, closedness, devices};
use crate::steps::observation::{ObservationDocument, ObservationSource, ObservedTarget, words};
use crate::steps::trace_parts::{opened, parts_of};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome, no_thread};
use stripewise_conductor::observer::Progress;
use stripewise_trace::blame::WindowFacts;
use stripewise_trace::files::{Columns, FileError, FileReport, Format, TraceFile, open};
use stripewise_trace::model::{ModelError, WorkloadModel};
use stripewise_trace::observation::Observation;
use stripewise_units::{DeviceNumber, NameText, counted, format_count};

/// Bytes per read, and number of chunks queued for parsing.
const PIECE_BYTES: usize = 1 << 20;
const PIECES: usize = 4;
/// How often a wait for bytes checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Operations between two readings of the clock.
const LOOK_EVERY_OPERATIONS: u64 = 4_096;
/// With a coarser time resolution, results that depend on order are omitted.
const RESOLUTION_NS_MAX: u64 = 100_000_000;

/// Observes the trace in `path`.
pub fn observe_file(context: &Context, path: &Path, options: &ObserveOptions) -> Outcome<Observed> {
    let columns = options.columns.as_deref().map(str::parse::<Columns>);
    let columns = columns
        .transpose()
        .map_err(|error| file_failure(path, &error))?;
    let started_at = context.timestamp();
    let parts = parts_of(path);
    let files = parts.len();
    let (bytes, length) = Bytes::open(context, path, parts)?;
    let taken = Rc::clone(&bytes.taken);
    let trace =
        open(bytes, columns.as_ref()).map_err(|error| interrupted_or(context, path, &error))?;
    context.status(format_args!(
        "Reading {}: {}",
        path.as_text(),
        trace.format().name()
    ));
    let mut capture = Capture {
        model: options.wants_model.then(DeviceModelBuilder::default),
        ..Capture::default()
    };
    let mut reader = Reader {
        context,
        trace,
        device: options.target.as_deref(),
        others: BTreeSet::new(),
        taken,
        files,
    };
    reader.read(&mut capture, length)?;
    if capture.operations == 0 {
        return Err(reader.nothing_seen(path));
    }
    let document = reader.document(&mut capture, path, options, started_at);
    Ok(Observed {
        document,
        model: reader.model(&mut capture),
        trace: None,
    })
}

struct Reader<'a> {
    context: &'a Context,
    trace: TraceFile<'a>,
    /// Count only operations of this device.
    device: Option<&'a str>,
    /// Devices that were excluded.
    others: BTreeSet<DeviceNumber>,
    /// Bytes of the file consumed so far.
    taken: Rc<Cell<u64>>,
    /// How many files it consists of.
    files: usize,
}

impl Reader<'_> {
    fn name(&self, device: DeviceNumber) -> String {
        match self.trace.device_name(device) {
            Some(name) => name.to_owned(),
            None if device == DeviceNumber::default() => "disk".to_owned(),
            None => device.to_string(),
        }
    }

    /// The name in documents: what a trace calls a device may be a file, a host or a customer.
    fn shown_name(&self, device: DeviceNumber, is_anonymous: bool) -> String {
        match self.trace.device_name(device) {
            Some(_) if is_anonymous => format!("device {}", device.minor + 1),
            _ => self.name(device),
        }
    }

    fn read(&mut self, capture: &mut Capture, length: u64) -> Outcome<()> {
        let observer = self.context.observer();
        let progress = Progress::begin(observer, false, length, "Reading the trace");
        let mut wanted: Option<DeviceNumber> = None;
        while let Some(operation) = self.trace.next() {
            if let Some(name) = self.device {
                if wanted.is_none() && self.name(operation.device) == name {
                    wanted = Some(operation.device);
                }
                if wanted != Some(operation.device) {
                    if self.others.len() < 64 {
                        self.others.insert(operation.device);
                    }
                    continue;
                }
            }
            if !capture.add(&operation) {
                return Err(Failure::usage(
                    "the trace has several devices, and a model is of one".to_owned(),
                    format!(
                        "name one of them before --from: {} is another one than the first",
                        self.name(operation.device)
                    ),
                ));
            }
            if capture.operations.is_multiple_of(LOOK_EVERY_OPERATIONS) {
                let title = format!("{} operations", format_count(capture.operations));
                progress.update(self.taken.get().min(length), &title, None);
            }
        }
        Ok(())
    }

    fn nothing_seen(&self, path: &Path) -> Failure {
        if let Some(signal) = self.context.signal() {
            return Failure::of(
                Exit::Interrupted(signal),
                "interrupted before anything was read",
            );
        }
        if let Some(name) = self.device.filter(|_| !self.others.is_empty()) {
            let others: Vec<String> = self
                .others
                .iter()
                .take(8)
                .map(|one| self.name(*one))
                .collect();
            return Failure::usage(
                format!("{} has no device {name}", path.as_text()),
                format!("its devices are: {}", others.join(", ")),
            );
        }
        let report = self.trace.report();
        let why = report.cut.map_or(String::new(), |why| format!(": {why}"));
        Failure::usage(
            format!(
                "{} has no operation that could be read{why}",
                path.as_text()
            ),
            "record again, or describe its columns with --columns",
        )
    }

    fn document(
        &self,
        capture: &mut Capture,
        path: &Path,
        options: &ObserveOptions,
        started_at: String,
    ) -> ObservationDocument {
        let report = self.trace.report();
        let device = |number| self.shown_name(number, options.is_anonymous);
        let names = Names {
            tasks: self.trace.tasks(),
            device: &device,
            title: &|_| None,
            is_here: false,
            is_anonymous: options.is_anonymous,
        };
        let pairing = &report.pairing;
        let (lost, lost_share) = report.lost();
        let mut observation = std::mem::take(&mut capture.statistics).finish(None);
        let is_coarse = report
            .resolution_ns
            .is_some_and(|ns| ns >= RESOLUTION_NS_MAX);
        let mut document = ObservationDocument {
            source: ObservationSource {
                kind: "file".to_owned(),
                format: Some(self.trace.format().name().to_owned()),
                rows: Some(report.rows),
                skipped_rows: Some(report.skipped),
                events: None,
                recorded: options.recorded(path),
            },
            target: ObservedTarget {
                name: match options.is_anonymous {
                    true => "a trace".to_owned(),
                    false => path.as_text(),
                },
            },
            started_at,
            observed_s: observation.observed_ns as f64 / 1e9,
            lost_events: (pairing.losses > 0).then_some(lost),
            cut_short: self.cut_short(&report),
            notes: notes(&report, capture, self.trace.format(), (lost, lost_share)),
            ..ObservationDocument::default()
        };
        let further = self.joined().into_iter().chain(left_out(&observation));
        document.notes.extend(further);
        if is_coarse {
            // The order within one unit of time is not known.
            observation
                .devices
                .iter_mut()
                .for_each(|one| one.depth_mean = None);
        }
        document.devices = devices(&observation, &|_| Default::default(), &names, lost_share);
        if is_coarse {
            return document;
        }
        let facts = WindowFacts {
            tasks: names.tasks,
            load_of: None,
            own: None,
            slow_ns: options.slow_ns,
            lost_share,
            processor_pressure: &|_, _| None,
            limits: &|_| None,
        };
        let completes = |device: &DeviceNumber| {
            let of = observation.devices.iter().find(|one| one.device == *device);
            of.is_some_and(|one| one.depth_mean.is_some())
        };
        let judged = capture.window.judge(&facts).into_iter();
        let judged: Vec<_> = judged.filter(|one| completes(&one.device)).collect();
        (document.blame, document.verdicts) = blamed(&judged, observation.first_ns, &names);
        if !judged.is_empty() {
            document.closedness = closedness(&capture.closedness(lost_share), &names);
        }
        document
    }

    /// The model, if requested: without times there is no load.
    fn model(&self, capture: &mut Capture) -> Option<Result<WorkloadModel, ModelError>> {
        let model = capture.finish_model()?;
        let resolution_ns = self.trace.report().resolution_ns;
        let is_timed = resolution_ns.is_some_and(|ns| ns < RESOLUTION_NS_MAX);
        let is_usable = is_timed || capture.operations == 1;
        Some(model.and_then(|model| is_usable.then_some(model).ok_or(ModelError::Coarse)))
    }

    /// That it consists of several files.
    fn joined(&self) -> Option<String> {
        let files = self.files;
        (files > 1).then(|| format!("{files} files, one of each processor, were read as one"))
    }

    fn cut_short(&self, report: &FileReport) -> Option<String> {
        match self.context.signal() {
            Some(_) => Some("interrupted; this is what was read until then".to_owned()),
            None => report.cut.clone(),
        }
    }
}

/// How whatever wrote a trace loses fewer events.
fn remedy(format: Format) -> &'static str {
    match format {
        Format::TraceCmd => "record again with a larger buffer (`trace-cmd record -b KIB`)",
        Format::Blktrace | Format::Blkparse => {
            "record again with larger buffers (`blktrace -b KIB -n NUMBER`)"
        }
        Format::Stripewise => {
            "observe again with a larger --buffer, or name a device, so that fewer events are \
             recorded"
        }
        _ => "record again with more room for events",
    }
}

fn notes(
    report: &FileReport,
    capture: &Capture,
    format: Format,
    (lost, lost_share): (u64, f64),
) -> Vec<String> {
    let remedy = remedy(format);
    let mut notes: Vec<String> = (words::of_loss(lost, lost_share, remedy).into_iter()).collect();
    if report.skipped > 0 {
        notes.push(format!(
            "{} left out; the first is line {}",
            match report.skipped {
                1 => "one row was not of the format and was".to_owned(),
                many => format!(
                    "{} rows were not of the format and were",
                    format_count(many)
                ),
            },
            report.first_skipped.unwrap_or(0)
        ));
    }
    if report
        .resolution_ns
        .is_some_and(|ns| ns >= RESOLUTION_NS_MAX)
    {
        notes.push(
            "times are too coarse to say anything of latency, depth or causes, and no load to replay"
                .to_owned(),
        );
    }
    if report.late > 0 {
        notes.push(format!(
            "{} over 10 s out of order: what depends on the order, such as the sequential share, is \
             not exact; sort the rows by time",
            counted(report.late as usize, "operation is", "operations are")
        ));
    }
    if report.pairing.unmatched_completions > 0 {
        notes.push(format!(
            "{} of operations that began before the trace were left out",
            counted(
                report.pairing.unmatched_completions as usize,
                "completion",
                "completions"
            )
        ));
    }
    if capture.window.kept_share() < 1.0 {
        notes.push(format!(
            "causes were judged by the quickest and slowest {:.0} % of the operations",
            100.0 * capture.window.kept_share()
        ));
    }
    notes
}

/// What the counts do not say.
fn left_out(observation: &Observation) -> Vec<String> {
    let is_combined = observation.devices.iter().any(|one| one.is_combined());
    let notes = [
        is_combined
            .then_some("the first 128 devices are counted one by one, the rest together as others"),
        (observation.observed_ns == 0)
            .then_some("all operations have one time, so nothing is said of rates"),
    ];
    notes.into_iter().flatten().map(str::to_owned).collect()
}

/// The bytes of a file or pipe, read by a separate thread: reading may block forever, and
/// Ctrl-C must end that wait.
struct Bytes<'a> {
    context: &'a Context,
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    /// Bytes of the previous chunks.
    taken: Rc<Cell<u64>>,
}

impl<'a> Bytes<'a> {
    /// Opens a file, with all parts of its trace; returns the bytes and their number, 0 for a pipe.
    fn open(context: &'a Context, path: &Path, parts: Vec<PathBuf>) -> Outcome<(Self, u64)> {
        let cannot = |why: &str| {
            Failure::usage(
                format!("cannot read {}: {why}", path.as_text()),
                "name a file that a tool recorded, or a pipe",
            )
        };
        let metadata = std::fs::metadata(path).map_err(|error| cannot(&error.to_string()))?;
        if metadata.is_dir() {
            return Err(cannot("it is a directory"));
        }
        let sizes = parts.iter().filter_map(|part| std::fs::metadata(part).ok());
        let length: u64 = sizes.filter(Metadata::is_file).map(|one| one.len()).sum();
        let (sender, pieces) = sync_channel(PIECES);
        let read = move || {
            let mut file = match opened(&parts) {
                Ok(file) => file,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                let read = file.read(&mut piece).map(|length| {
                    piece.truncate(length);
                    piece
                });
                let is_last = !matches!(&read, Ok(piece) if !piece.is_empty());
                // The receiver is gone after an error or an interruption.
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .spawn(read)
            .map_err(|error| no_thread("to read the trace", &error))?;
        let bytes = Bytes {
            context,
            pieces,
            piece: Vec::new(),
            at: 0,
            taken: Rc::default(),
        };
        Ok((bytes, length))
    }
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            if self.context.signal().is_some() {
                return Err(io::Error::other("interrupted"));
            }
            match self.pieces.recv_timeout(LOOK_EVERY) {
                Ok(piece) => {
                    self.piece = piece?;
                    self.at = 0;
                    self.taken.set(self.taken.get() + self.piece.len() as u64);
                    if self.piece.is_empty() {
                        return Ok(0);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let length = buffer.len().min(self.piece.len() - self.at);
        buffer[..length].copy_from_slice(&self.piece[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn interrupted_or(context: &Context, path: &Path, error: &FileError) -> Failure {
    match context.signal() {
        Some(signal) => Failure::of(
            Exit::Interrupted(signal),
            "interrupted before anything was read",
        ),
        None => file_failure(path, error),
    }
}

fn file_failure(path: &Path, error: &FileError) -> Failure {
    let hint = match error {
        FileError::Unknown => {
            "describe its columns: <--columns> time=us,op=R/W,offset=bytes,size=sectors"
        }
        error => error.hint(),
    };
    Failure::usage(format!("{}: {error}", path.as_text()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_for_lost_events_is_of_the_tool_that_recorded_them() {
        for (format, tool) in [
            (Format::TraceCmd, "`trace-cmd record -b KIB`"),
            (Format::Blktrace, "`blktrace -b KIB"),
            (Format::Blkparse, "`blktrace -b KIB"),
            (Format::Stripewise, "--buffer"),
        ] {
            assert!(remedy(format).contains(tool), "{}", format.name());
        }
        assert!(!remedy(Format::MsrCambridge).contains('`'));
    }
}
