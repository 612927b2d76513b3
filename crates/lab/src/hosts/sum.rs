//! Sums over the slots that count: per job over all hosts, and per host over all
//! of its jobs.

use super::align::Slot;
use super::error::MergeError;
use super::host_part::{self, HostPart, Latencies, PartInterval};
use stripewise_results::{Interval, JobOutcome, KindOutcome, KindParts};
use stripewise_stats::{Histogram, V2Error};

/// Reads, writes, syncs and discards.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) read: KindParts,
    pub(super) write: KindParts,
    pub(super) sync: KindParts,
    pub(super) discard: KindParts,
}

impl Sums {
    fn add(&mut self, interval: &Interval, run: &JobOutcome) {
        let read_bytes = read_bytes(interval, run);
        let discard_bytes = discard_bytes(interval, run);
        let counts = [
            (&mut self.read, interval.read_operations, read_bytes),
            (
                &mut self.write,
                interval.write_operations,
                interval.bytes - read_bytes,
            ),
            (
                &mut self.discard,
                interval.discard_operations,
                discard_bytes,
            ),
        ];
        for (kind, operations, bytes) in counts {
            kind.operations = kind.operations.saturating_add(operations);
            kind.bytes = kind.bytes.saturating_add(bytes);
        }
    }

    fn add_latencies(&mut self, latencies: &Latencies) -> Result<(), V2Error> {
        host_part::add(&mut self.read.histogram, &latencies.read)?;
        host_part::add(&mut self.write.histogram, &latencies.write)?;
        host_part::add(&mut self.sync.histogram, &latencies.sync)?;
        host_part::add(&mut self.discard.histogram, &latencies.discard)?;
        self.sync.operations = self.sync.histogram.count();
        Ok(())
    }
}

/// All sums.
pub(super) struct GroupSums {
    /// Job by job.
    pub(super) jobs: Vec<Sums>,
    /// Job by job, slot by slot, over all hosts.
    pub(super) intervals: Vec<Vec<PartInterval>>,
    /// Host by host, over its jobs.
    pub(super) hosts: Vec<Sums>,
    /// Reads, writes and discards, host by host, slot by slot.
    pub(super) operations: Vec<Vec<u64>>,
}

/// Sums the contents of the slots. Lanes are numbered host by host, and job by job
/// within a host.
pub(super) fn sum(parts: &[&HostPart], slots: &[Slot]) -> Result<GroupSums, MergeError> {
    let jobs = parts.first().map_or(0, |part| part.jobs.len());
    let mut summed = GroupSums {
        jobs: vec![Sums::default(); jobs],
        intervals: vec![Vec::with_capacity(slots.len()); jobs],
        hosts: vec![Sums::default(); parts.len()],
        operations: vec![vec![0; slots.len()]; parts.len()],
    };
    for (number, slot) in slots.iter().enumerate() {
        for job in 0..jobs {
            let mut of_slot = Sums::default();
            let mut errors = 0_u64;
            for (host, part) in parts.iter().enumerate() {
                let run = &part.run.jobs[job].outcome;
                for &index in &slot.intervals[host * jobs + job] {
                    let PartInterval {
                        interval,
                        latencies,
                    } = &part.jobs[job].intervals[index];
                    errors = errors.saturating_add(interval.errors);
                    let operations = &mut summed.operations[host][number];
                    *operations = operations.saturating_add(interval.operations());
                    let both = [&mut of_slot, &mut summed.hosts[host]];
                    for sums in both {
                        sums.add(interval, run);
                        sums.add_latencies(latencies)
                            .map_err(|error| damaged(part, &error))?;
                    }
                }
            }
            summed.intervals[job].push(interval_of(slot, &of_slot, errors));
            merge(&mut summed.jobs[job], &of_slot);
        }
    }
    Ok(summed)
}

/// How many of an interval's bytes were read: from the mean sizes of a read and of a write
/// over the whole run, exact if all blocks have one size.
fn read_bytes(interval: &Interval, run: &JobOutcome) -> u64 {
    let weight = |operations: u64, of: &KindOutcome, other: &KindOutcome| {
        let sizes = u128::from(of.bytes).saturating_mul(u128::from(other.operations.max(1)));
        sizes.saturating_mul(u128::from(operations))
    };
    match (interval.read_operations, interval.write_operations) {
        (0, _) => 0,
        (_, 0) => interval.bytes,
        (reads, writes) => {
            let of_reads = weight(reads, &run.read, &run.write);
            let both = of_reads.saturating_add(weight(writes, &run.write, &run.read));
            let read = u128::from(interval.bytes).saturating_mul(of_reads) / both.max(1);
            u64::try_from(read).unwrap_or(u64::MAX).min(interval.bytes)
        }
    }
}

/// Bytes discarded in an interval, which its record does not contain: from the mean size over
/// the whole run, as with [`read_bytes`].
fn discard_bytes(interval: &Interval, run: &JobOutcome) -> u64 {
    let Some(discard) = &run.discard else {
        return 0;
    };
    let bytes = u128::from(discard.bytes).saturating_mul(u128::from(interval.discard_operations));
    u64::try_from(bytes / u128::from(discard.operations.max(1))).unwrap_or(u64::MAX)
}

fn damaged(part: &HostPart, error: &V2Error) -> MergeError {
    MergeError::Damaged {
        run: part.run.id.clone(),
        host: part.run.host.name.clone(),
        why: error.to_string(),
    }
}

fn merge(into: &mut Sums, sums: &Sums) {
    let kinds = [
        (&mut into.read, &sums.read),
        (&mut into.write, &sums.write),
        (&mut into.sync, &sums.sync),
        (&mut into.discard, &sums.discard),
    ];
    for (into, sums) in kinds {
        into.operations = into.operations.saturating_add(sums.operations);
        into.bytes = into.bytes.saturating_add(sums.bytes);
        into.histogram.merge(&sums.histogram);
    }
}

fn interval_of(slot: &Slot, sums: &Sums, errors: u64) -> PartInterval {
    let mut all = Histogram::clone(&sums.read.histogram);
    all.merge(&sums.write.histogram);
    all.merge(&sums.discard.histogram);
    let interval = Interval {
        start_ns: slot.start_ns,
        duration_ns: slot.duration_ns,
        read_operations: sums.read.operations,
        write_operations: sums.write.operations,
        discard_operations: sums.discard.operations,
        bytes: sums.read.bytes.saturating_add(sums.write.bytes),
        errors,
        ..Interval::default()
    };
    PartInterval {
        interval: interval.with_latencies_of(Some(&all)),
        latencies: Latencies::pack(
            Some(&sums.read.histogram),
            Some(&sums.write.histogram),
            Some(&sums.sync.histogram),
            Some(&sums.discard.histogram),
        ),
    }
}
