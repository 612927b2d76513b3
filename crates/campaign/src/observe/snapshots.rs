//! Two snapshots of a database's counters: its I/O in between.

use super::{ObserveOptions, Observed};
use crate::steps::observation::files::{CountsByRole, add, ranked};
use crate::steps::observation::{
    FileShare, KindCounts, KindMeans, ObservationDocument, ObservationSource, ObservedDevice,
    ObservedTarget,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_trace::files::{FileTotals, Snapshot, decoded, is_snapshot, totals};
use stripewise_units::NameText;

/// Maximum size of a snapshot, which has a row for each file of a server.
const BYTES_MAX: u64 = 64 << 20;
/// Bytes read to examine its first line.
const HEAD_BYTES: u64 = 4_096;
const NS_PER_MS: f64 = 1e6;

/// The difference between two snapshots; `None` if the files are traces.
pub fn observe_snapshots(
    context: &Context,
    paths: &[PathBuf],
    options: &ObserveOptions,
) -> Outcome<Option<Observed>> {
    let are_snapshots = paths.iter().any(|path| begins_as_snapshot(path));
    let (first, second) = match paths {
        [_] if !are_snapshots => return Ok(None),
        [first, second] if are_snapshots => (first, second),
        _ => return Err(not_a_pair(are_snapshots)),
    };
    if options.wants_model || options.slow_ns.is_some() || options.target.is_some() {
        return Err(Failure::usage(
            "counters are totals: they show no single operations and no devices",
            "leave out --model, --slow and the device, or record with `stripewise observe`",
        ));
    }
    let started_at = context.timestamp();
    let (before, after) = (read(first)?, read(second)?);
    let (passed_ns, files) = after
        .since(&before)
        .map_err(|error| Failure::usage(error.to_string(), error.hint()))?;
    let document = ObservationDocument {
        target: ObservedTarget {
            name: match options.is_anonymous {
                true => "two snapshots".to_owned(),
                false => format!("{} to {}", first.as_text(), second.as_text()),
            },
        },
        source: ObservationSource {
            kind: "counters".to_owned(),
            format: Some(format!("counters of {}", after.product)),
            rows: Some((before.files.len() + after.files.len()) as u64),
            ..ObservationSource::default()
        },
        started_at,
        observed_s: passed_ns as f64 / 1e9,
        notes: notes(&files),
        devices: vec![device(&after, &files, passed_ns, options.is_anonymous)],
        ..ObservationDocument::default()
    };
    Ok(Some(Observed {
        document,
        model: None,
        trace: None,
    }))
}

fn notes(files: &[FileTotals]) -> Vec<String> {
    let lacks_times = files.iter().any(FileTotals::lacks_times);
    let note = "times of some operations were not measured (track_io_timing of PostgreSQL was \
                off): their mean is blank, and so is the depth";
    lacks_times.then(|| note.to_owned()).into_iter().collect()
}

fn not_a_pair(are_snapshots: bool) -> Failure {
    match are_snapshots {
        true => Failure::usage(
            "counters since the server was started are no observation",
            "take two snapshots: <--from> FIRST.csv <--from> SECOND.csv",
        ),
        false => Failure::usage(
            "one trace is read at a time",
            "name one file; only snapshots of a database's counters come in pairs",
        ),
    }
}

/// A pipe is a trace, and is not read here.
fn begins_as_snapshot(path: &Path) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let head = is_file.then(|| File::open(path).ok()).flatten();
    head.is_some_and(|file| {
        let mut bytes = Vec::new();
        let read = file.take(HEAD_BYTES).read_to_end(&mut bytes);
        read.is_ok() && is_snapshot(&decoded(&bytes))
    })
}

fn read(path: &Path) -> Outcome<Snapshot> {
    let cannot = |why: String| {
        Failure::usage(
            format!("cannot read {}: {why}", path.as_text()),
            "name two snapshots that were exported as CSV",
        )
    };
    let file = File::open(path).map_err(|error| cannot(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot(error.to_string()))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(cannot("it is longer than 64 MiB".to_owned()));
    }
    totals(&decoded(&bytes))
        .map_err(|error| Failure::usage(format!("{}: {error}", path.as_text()), error.hint()))
}

/// The database, as if it were a device.
fn device(
    snapshot: &Snapshot,
    files: &[FileTotals],
    passed_ns: u64,
    is_anonymous: bool,
) -> ObservedDevice {
    let mut all = KindCounts::default();
    let mut roles = CountsByRole::new();
    let mut shares = Vec::new();
    let mut waited_ms = None;
    for file in files {
        let counts = counts(file);
        add(&mut all, &counts);
        let role = file
            .role
            .map_or((None, "file"), |one| (Some(one.product), one.role));
        add(roles.entry(role).or_default(), &counts);
        for ms in [file.read_ms, file.write_ms, file.sync_ms]
            .into_iter()
            .flatten()
        {
            *waited_ms.get_or_insert(0.0) += ms;
        }
        if counts.operations() > 0 {
            shares.push(FileShare {
                path: file.name.clone(),
                counts,
                latency_ns_mean: Some(means(file)),
            });
        }
    }
    let (by_role, mut by_file) = ranked(roles, shares);
    if is_anonymous {
        for (k, file) in by_file.iter_mut().enumerate() {
            file.path = format!("file {}", k + 1);
        }
    }
    ObservedDevice {
        name: snapshot.product.to_owned(),
        reads: all.reads,
        writes: all.writes,
        read_bytes: all.read_bytes,
        write_bytes: all.write_bytes,
        flushes: all.flushes,
        // Little's law: total wait time over elapsed time.
        depth_mean: waited_ms
            .filter(|_| !files.iter().any(FileTotals::lacks_times))
            .map(|ms: f64| ms * NS_PER_MS / passed_ns as f64),
        by_role,
        by_file,
        ..ObservedDevice::default()
    }
}

fn counts(file: &FileTotals) -> KindCounts {
    KindCounts {
        reads: file.reads,
        writes: file.writes,
        read_bytes: file.read_bytes,
        write_bytes: file.write_bytes,
        discards: 0,
        flushes: file.syncs.unwrap_or(0),
    }
}

fn means(file: &FileTotals) -> KindMeans {
    let mean = |ms: Option<f64>, operations: u64| {
        let ms = ms.filter(|_| operations > 0)?;
        Some(ms * NS_PER_MS / operations as f64)
    };
    KindMeans {
        read: mean(file.read_ms, file.reads),
        write: mean(file.write_ms, file.writes),
        flush: mean(file.sync_ms, file.syncs.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_means_and_depth_are_those_between_the_snapshots() {
        let at = |ms: u64, reads: u64, stall: u64| {
            let text = format!(
                "database_id,physical_name,sample_ms,num_of_reads,num_of_bytes_read,io_stall_read_ms,\
                 num_of_writes,num_of_bytes_written,io_stall_write_ms\n\
                 5,D:\\shop.mdf,{ms},{reads},{},{stall},0,0,0\n",
                reads * 8_192
            );
            totals(&text).unwrap()
        };
        let (before, after) = (at(1_000, 100, 400), at(11_000, 1_100, 5_400));
        let (passed_ns, files) = after.since(&before).unwrap();
        let device = device(&after, &files, passed_ns, false);
        assert_eq!((device.reads, device.read_bytes), (1_000, 8_192_000));
        assert_eq!(device.depth_mean, Some(0.5));
        let file = &device.by_file[0];
        assert_eq!(file.path, "5/D:\\shop.mdf");
        assert_eq!(file.latency_ns_mean.unwrap().read, Some(5e6));
        assert_eq!(file.latency_ns_mean.unwrap().write, None);
        assert_eq!(device.by_role[0].role, "data");
        assert!(notes(&files).is_empty());
    }

    #[test]
    fn times_that_postgresql_did_not_measure_are_blank() {
        let at = |second: u64, reads: u64, ms: u64| {
            let text = format!(
                "now,backend_type,object,context,reads,read_time,op_bytes\n\
                 2026-01-01 00:00:{second:02}+00,client backend,relation,normal,{reads},{ms},8192\n"
            );
            totals(&text).unwrap()
        };
        let between = |ms: u64| {
            let after = at(20, 1_100, ms);
            let (passed_ns, files) = after.since(&at(10, 100, 400)).unwrap();
            let device = device(&after, &files, passed_ns, false);
            let mean = device.by_file[0].latency_ns_mean.unwrap().read;
            (mean, device.depth_mean, notes(&files).len())
        };
        assert_eq!(between(5_400), (Some(5e6), Some(0.5), 0));
        assert_eq!(between(400), (None, None, 1));
    }
}
