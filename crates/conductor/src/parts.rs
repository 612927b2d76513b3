//! Stored runs with the latencies of their intervals: the input of merging, and what is
//! exported for other hosts.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::keep::finished;
use crate::measure::{Measured, RunOptions};
use stripewise_lab::hosts::{
    HostPart, Latencies, LineError, Merge, Merged, MissingHosts, PartInterval, PartJob, from_line,
    to_line,
};
use stripewise_results::{Interval, JobRecord, KindOutcome, RunRecord};
use stripewise_stats::Histogram;
use stripewise_store::{IntervalHistograms, Store, StoredDocument};

/// Kind of the document that stores the parts of a merged run, by the run's id.
const MERGED: &str = "merged";
/// Parts larger than this are not stored with the merged run.
const PARTS_BYTES_MAX: usize = 128 << 20;

/// The intervals of a stored run with their latencies.
fn jobs_of(store: &Store, run: &RunRecord) -> Outcome<Vec<PartJob>> {
    let of_job = |index: usize| {
        let stored = store.load_intervals(&run.id, index)?;
        let intervals = stored.into_iter().map(|stored| {
            let latencies = &stored.histograms;
            PartInterval {
                interval: stored.interval,
                latencies: Latencies::pack(
                    latencies.read.as_ref(),
                    latencies.write.as_ref(),
                    latencies.sync.as_ref(),
                    latencies.discard.as_ref(),
                ),
            }
        });
        let mut intervals: Vec<PartInterval> = intervals.collect();
        if intervals.is_empty() {
            intervals.extend(whole_run(&run.jobs[index]));
        }
        Ok(PartJob { intervals })
    };
    (0..run.jobs.len()).map(of_job).collect()
}

/// The cells of a grid on simulated arrays are stored without the latencies of their
/// intervals: then the whole run is one interval.
fn whole_run(job: &JobRecord) -> Option<PartInterval> {
    let outcome = &job.outcome;
    let histogram = |kind: &KindOutcome| kind.histogram.clone().unwrap_or_default();
    let (read, write) = (histogram(&outcome.read), histogram(&outcome.write));
    let counts = (read.count(), write.count());
    let is_whole = counts == (outcome.read.operations, outcome.write.operations);
    // Simulated arrays do not discard.
    if !is_whole || outcome.discard.is_some() || outcome.duration_ns == 0 {
        return None;
    }
    let mut both = read.clone();
    both.merge(&write);
    let interval = Interval {
        start_ns: 0,
        duration_ns: outcome.duration_ns,
        read_operations: outcome.read.operations,
        write_operations: outcome.write.operations,
        bytes: outcome.bytes,
        errors: outcome.errors.total,
        ..Interval::default()
    };
    let sync = outcome.sync.as_ref().map(histogram);
    Some(PartInterval {
        interval: interval.with_latencies_of(Some(&both)),
        latencies: Latencies::pack(Some(&read), Some(&write), sync.as_ref(), None),
    })
}

/// A stored run as input for merging: itself, or the runs that it was merged from.
///
/// # Errors
/// If the store cannot be read, or no longer has those runs.
pub fn parts_of(store: &Store, run: RunRecord) -> Outcome<Vec<HostPart>> {
    if run.merged.is_none() {
        let jobs = jobs_of(store, &run)?;
        return Ok(vec![HostPart::new(run, jobs)]);
    }
    let stored = store.document(MERGED, &run.id)?;
    let Some(stored) = stored else {
        return Err(Failure::usage(
            format!(
                "run {} was merged, and the runs of its hosts are not kept with it",
                run.id
            ),
            "merge the hosts' own stores",
        ));
    };
    let mut parts = Vec::new();
    for line in stored.json.lines() {
        let found = from_line(line).map_err(|error| Failure::of(Exit::Store, error))?;
        parts.extend(found);
    }
    Ok(parts)
}

/// A stored run as a line of `export --histograms`.
pub fn line_of(store: &Store, run: &RunRecord) -> Outcome<String> {
    let parts = match run.merged {
        Some(_) => parts_of(store, run.clone())?,
        None => Vec::new(),
    };
    let jobs = jobs_of(store, run)?;
    to_line(run, &jobs, &parts).map_err(|error| Failure::of(Exit::Store, error))
}

/// The error for a line in a source that the user named.
pub fn line_failure(source: &str, number: usize, error: LineError) -> Failure {
    let hint = match &error {
        LineError::Bare { .. } => {
            "export it again with its histograms: `stripewise export --histograms ID -o FILE`"
        }
        LineError::Merged { .. } => "merge the hosts' own stores or exports",
        _ => "name a store, or a file that `stripewise export --histograms` made",
    };
    Failure::usage(format!("{source}, line {number}: {error}"), hint)
}

/// Merges the runs that all hosts made for one run of a command, and stores the result in the
/// command's series. Hosts that were lost or stopped early make the record partial.
///
/// # Errors
/// If there was no time at which all hosts were measuring, or the store cannot be read.
pub fn store_run(
    context: &Context,
    store: &mut Store,
    parts: Vec<HostPart>,
    how: &RunOptions,
) -> Outcome<Measured> {
    let merge: Merge = parts.into_iter().collect();
    let mut merged = merge.total(MissingHosts::Allowed)?;
    let run = &mut merged.run;
    run.id = context.free_id(store, &run.started_at)?;
    run.command = context.command().to_vec();
    run.label.clone_from(&how.request.label);
    if let Some((series, part)) = &how.series {
        (run.series, run.series_part) = (Some(series.clone()), Some(part.clone()));
    }
    run.answer_block = how.answer_block;
    run.experiment.clone_from(&how.experiment);
    let parts: Vec<&HostPart> = merge.parts().collect();
    let stored = store_merged(context, store, &merged, &parts);
    Ok(Measured {
        record: merged.run,
        stored,
    })
}

/// Stores a merged run with its intervals, and with the parts that it was made of,
/// so that further runs can be merged with them; it is finished then.
pub fn store_merged(
    context: &Context,
    store: &mut Store,
    merged: &Merged,
    parts: &[&HostPart],
) -> Outcome<()> {
    let mut handle = store.begin_run(&merged.run)?;
    for (index, job) in merged.jobs.iter().enumerate() {
        for part in &job.intervals {
            let unpacked = |packed: &[u8]| {
                let filled = (!packed.is_empty()).then(|| Histogram::from_v2(packed));
                filled
                    .transpose()
                    .map_err(|error| Failure::of(Exit::Store, error))
            };
            let latencies = &part.latencies;
            let (read, write) = (unpacked(&latencies.read)?, unpacked(&latencies.write)?);
            let (sync, discard) = (unpacked(&latencies.sync)?, unpacked(&latencies.discard)?);
            let histograms = IntervalHistograms {
                read: read.as_ref(),
                write: write.as_ref(),
                sync: sync.as_ref(),
                discard: discard.as_ref(),
            };
            store.append_interval(&mut handle, index, &part.interval, histograms)?;
        }
    }
    store.finish_run(handle, &merged.run)?;
    store_parts(context, store, &merged.run.id, parts)?;
    finished(context, &merged.run);
    Ok(())
}

fn store_parts(context: &Context, store: &mut Store, id: &str, parts: &[&HostPart]) -> Outcome<()> {
    let lines = parts.iter().map(|part| to_line(&part.run, &part.jobs, &[]));
    let lines: Vec<String> = lines
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::of(Exit::Store, error))?;
    let json = lines.join("\n");
    if json.len() > PARTS_BYTES_MAX {
        context.note(format!(
            "the runs of the hosts are too large to be kept beside {id}: to merge it with others, \
             merge the hosts' own stores again"
        ));
        return Ok(());
    }
    let document = StoredDocument {
        name: id.to_owned(),
        stored_at: context.timestamp(),
        json,
    };
    store
        .store_document(MERGED, &document)
        .map_err(Failure::from)
}
