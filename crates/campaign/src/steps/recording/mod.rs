//! A recorded load in a file: read, mapped onto a target, and judged after it was issued.

mod judge;

use crate::steps::trace_parts::{joined, parts_of};
use judge::{counts, fidelity_record, median_latency, punctuality};
use std::cell::Cell;
use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input;
use stripewise_conductor::measure::Recordings;
use stripewise_conductor::targets::OpenTarget;
use stripewise_results::JobRecord;
use stripewise_runner::trust::late_replay;
use stripewise_trace::closedness::LoadClosedness;
use stripewise_trace::fidelity::{Fidelity, FidelityError, Original, Recording as Facts};
use stripewise_trace::files::{Columns, FileError, open};
use stripewise_trace::model::{Request, WorkloadModel, read as read_model};
use stripewise_trace::replay::{
    Mapping, MappingError, RECORDING_OPERATIONS_MAX, Recording, RecordingError, Scale,
    ScaledRequest,
};
use stripewise_units::{Kind, NameText, format_bytes};
use stripewise_workload::{
    AFTER_NONE, LASTED_UNKNOWN, RECORDED_OPERATIONS_MAX, Recorded, RecordedLoad, RecordedOperation,
    Workload,
};

/// Maximum size of a trace, which is in memory while it is parsed.
const TRACE_BYTES_MAX: u64 = 1 << 30;

/// The largest operation that is issued; longer ones, which are discards, are truncated to it.
const OPERATION_BYTES_MAX: u64 = 64 << 20;

/// Default operations in flight: enough that arrivals wait only for the disk.
const OUTSTANDING: u32 = 256;

/// Maximum memory for their data.
const BUFFERS_BYTES_MAX: u64 = 1 << 30;

/// A recording with its name.
#[derive(Debug)]
pub struct FileRecording {
    /// The file's name.
    pub name: String,
    /// The format, for people.
    pub format: &'static str,
    /// Its operations.
    pub recording: Recording,
    digest: String,
    /// That of the last load mapped onto a target.
    collision_share: Cell<f64>,
}

impl FileRecording {
    /// Reads a trace of any format, or a model, from which the seed generates a load.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a load.
    pub fn read(
        context: &Context,
        path: &Path,
        columns: Option<&str>,
        seed: u64,
    ) -> Outcome<FileRecording> {
        let hint = "name a trace (docs/TRACES.md lists the formats) or a model (.swmodel)";
        let bytes = match &parts_of(path)[..] {
            [_] => input::read(context, path, TRACE_BYTES_MAX, hint)?,
            parts => joined(parts, TRACE_BYTES_MAX).map_err(|error| {
                Failure::usage(format!("cannot read {}: {error}", path.as_text()), hint)
            })?,
        };
        context.status(format!("Reading {}", path.as_text()));
        let in_file = |error: &dyn std::fmt::Display, hint: &str| {
            Failure::usage(format!("{}: {error}", path.as_text()), hint.to_owned())
        };
        let refused = |error: RecordingError| in_file(&error, error.hint());
        let (format, recording) = match model_of(&bytes) {
            Some(model) => ("a workload model", Recording::of_model(&model, seed)),
            None => {
                let unknown = |error: FileError| in_file(&error, error.hint());
                let columns = columns.map(str::parse::<Columns>).transpose();
                let columns = columns.map_err(unknown)?;
                let mut trace = open(&bytes[..], columns.as_ref()).map_err(unknown)?;
                let all = trace.by_ref().take(RECORDING_OPERATIONS_MAX + 1).collect();
                let report = trace.report();
                if let Some(cut) = &report.cut {
                    context.note(format!("{} was read in part: {cut}", path.as_text()));
                }
                let (_, lost_share) = report.lost();
                let facts = (report.resolution_ns, lost_share);
                (trace.format().name(), Recording::of_operations(all, facts))
            }
        };
        let recording = recording.map_err(refused)?;
        let name = path
            .file_name()
            .map_or_else(|| path.as_text(), |name| Path::new(name).as_text());
        Ok(FileRecording {
            name,
            format,
            digest: recording.digest(),
            collision_share: Cell::new(0.0),
            recording,
        })
    }

    /// The load certainly waits for its disk.
    pub fn is_closed(&self) -> bool {
        let load = self.recording.closedness.as_ref();
        load.is_some_and(LoadClosedness::is_closed)
    }

    /// The unmodified recording.
    pub fn unchanged(&self, closed: bool) -> Recorded {
        Recorded {
            name: self.name.clone(),
            digest: self.digest.clone(),
            copies: 1.0,
            speed: 1.0,
            from_ns: 0,
            idle_ns_max: None,
            closed,
        }
    }

    /// A workload of it, for targets with this sector size: `base` gives the duration, cache
    /// mode, and data.
    pub fn workload(&self, recorded: Recorded, base: &Workload, sector_bytes: u64) -> Workload {
        let counts =
            [Kind::Read, Kind::Write, Kind::Discard].map(|kind| self.recording.of_kind(kind).0);
        let all = counts.iter().sum::<u64>().max(1);
        let percent = |count: u64| match (100 * count).div_ceil(all) {
            // A kind that occurs never rounds to 0 %, nor to 100 % if others occur too.
            100 if count < all => 99,
            percent => percent as u8,
        };
        let (reads, writes, discards) = (counts[0], counts[1], percent(counts[2]));
        let read_percent = match (reads, writes) {
            (0, _) => 0,
            (_, 0) => 100 - discards,
            _ => percent(reads).min(99 - discards.min(98)),
        };
        let requests = self.recording.requests.iter().map(|one| &one.request);
        let largest = requests.map(|one| aligned(one, sector_bytes).1).max();
        let block_size_bytes = largest.unwrap_or(0).max(sector_bytes).max(512);
        let most = (BUFFERS_BYTES_MAX / block_size_bytes).clamp(16, u64::from(OUTSTANDING));
        Workload {
            read_percent,
            discard_percent: discards,
            block_size_bytes,
            threads: 1,
            outstanding: match base.outstanding {
                1 => most as u32,
                given => given,
            },
            recorded: Some(Box::new(recorded)),
            ..base.clone()
        }
    }

    /// The size of a test file for it: its positions unchanged if they are close
    /// together, else placed next to each other.
    pub fn file_bytes(&self) -> u64 {
        let extents = &self.recording.extents;
        let (end, touched) = (extents.end_bytes(), extents.touched_bytes());
        match end <= touched.saturating_mul(2) {
            true => end.next_multiple_of(1 << 20),
            false => touched,
        }
    }

    /// The mapping of its operations to a target of this size.
    ///
    /// # Errors
    /// If it is too small.
    pub fn mapping(&self, target: &OpenTarget) -> Outcome<Mapping> {
        let limits = target.limits();
        let sector_bytes = u64::from(limits.logical_sector_bytes);
        let whole_bytes = limits.size_bytes / sector_bytes * sector_bytes;
        Mapping::new(&self.recording.extents, whole_bytes).map_err(|error| {
            let hint = match &error {
                MappingError::TooSmall { needed_bytes }
                | MappingError::Collisions { needed_bytes, .. } => {
                    format!("use a target of at least {}", format_bytes(*needed_bytes))
                }
                _ => "take a part of the recording".to_owned(),
            };
            let text = format!(
                "{} does not go onto {}: {error}",
                self.name,
                target.full_name()
            );
            Failure::usage(text, hint)
        })
    }

    fn scaled(&self, workload: &Workload, recorded: &Recorded) -> Vec<ScaledRequest> {
        let scale = Scale {
            copies: recorded.copies,
            speed: recorded.speed,
            from_ns: recorded.from_ns,
            length_ns: workload.length_ns(),
            seed: workload.seed,
        };
        match recorded.closed {
            true => scale.closed(&self.recording),
            false => scale.open(&self.recording),
        }
    }
}

fn model_of(bytes: &[u8]) -> Option<WorkloadModel> {
    read_model(bytes).ok()
}

/// The start and length of an operation, in whole sectors.
fn aligned(request: &Request, sector_bytes: u64) -> (u64, u64) {
    if request.kind == Kind::Sync {
        return (0, 0);
    }
    let start = request.offset_bytes / sector_bytes * sector_bytes;
    let end = request
        .end_bytes()
        .max(start + 1)
        .next_multiple_of(sector_bytes);
    (start, (end - start).min(OPERATION_BYTES_MAX))
}

impl Recordings for FileRecording {
    fn load(&self, workload: &Workload, target: &OpenTarget) -> Outcome<RecordedLoad> {
        let Some(recorded) = workload.recorded.as_deref() else {
            return Ok(RecordedLoad::new(Vec::new(), false));
        };
        if recorded.digest != self.digest {
            return Err(Failure::usage(
                format!(
                    "{} is another recording than the one that was replayed",
                    self.name
                ),
                "give the same file, or begin again with this one",
            ));
        }
        let mapping = self.mapping(target)?;
        self.collision_share.set(mapping.collision_share);
        let limits = target.limits();
        let sector_bytes = u64::from(limits.logical_sector_bytes);
        let scaled = self.scaled(workload, recorded);
        if scaled.len() > RECORDED_OPERATIONS_MAX {
            return Err(Failure::usage(
                format!("a run of {} operations is not held in memory", scaled.len()),
                "give a shorter <--duration>, or fewer copies",
            ));
        }
        let operations = scaled.iter().map(|one| {
            let (start, length) = aligned(&one.request, sector_bytes);
            let offset = mapping.offset(start);
            RecordedOperation {
                due_ns: one.request.at_ns,
                // The end of the target may not be the end of an extent.
                offset_bytes: offset.min(limits.size_bytes.saturating_sub(length)),
                lasted_ns: one.lasted_ns.unwrap_or(LASTED_UNKNOWN),
                length_bytes: length as u32,
                after: one.after.unwrap_or(AFTER_NONE),
                copy: one.copy,
                kind: one.request.kind,
            }
        });
        Ok(RecordedLoad::new(operations.collect(), recorded.closed))
    }

    fn judge(&self, load: &RecordedLoad, job: &mut JobRecord) {
        let Some(recorded) = job.workload.recorded.as_deref() else {
            return;
        };
        let measured_ns = job.workload.ramp_ns.saturating_add(job.outcome.duration_ns);
        let latency_ns_p50 = median_latency(job);
        let mut replay = counts(load, measured_ns);
        replay.collision_share = self.collision_share.get();
        replay.idle_cut_ns = self.recording.idle_cut_ns;
        if !load.is_closed() {
            replay.lateness = punctuality(load, measured_ns, latency_ns_p50);
            let scaled_workload = self.scaled(&job.workload, recorded);
            match self.fidelity(&scaled_workload, load, measured_ns) {
                Ok(fidelity) => replay.fidelity = fidelity_record(&fidelity),
                Err(error) => replay.not_judged = Some(error.to_string()),
            }
        } else {
            let why = "a closed load arrives as its target lets it";
            replay.not_judged = Some(why.to_owned());
        }
        job.warnings.extend(late_replay(&replay));
        job.outcome.replay = Some(Box::new(replay));
    }
}

impl FileRecording {
    /// Compares the issued operations with the recorded ones.
    fn fidelity(
        &self,
        scaled_workload: &[ScaledRequest],
        load: &RecordedLoad,
        measured_ns: u64,
    ) -> Result<Fidelity, FidelityError> {
        let within = scaled_workload.partition_point(|one| one.request.at_ns < measured_ns);
        let original: Vec<Request> = scaled_workload[..within]
            .iter()
            .map(|one| one.request)
            .collect();
        let facts = Facts {
            duration_ns: measured_ns,
            ..self.recording.facts
        };
        let original = Original::new(&original, &facts)?;
        let operations = load.operations().iter().take(within).enumerate();
        let left = operations.filter_map(|(number, one)| {
            let (left_ns, _) = load.left(number)?;
            Some(Request {
                at_ns: left_ns,
                kind: one.kind,
                offset_bytes: one.offset_bytes,
                size_bytes: u64::from(one.length_bytes),
            })
        });
        let mut left: Vec<Request> = left.collect();
        left.sort_by_key(|one| one.at_ns);
        Ok(original.compare(&left))
    }
}
