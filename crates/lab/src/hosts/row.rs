//! The row of a host in a merged record.

use super::align::{Slot, measured_ns};
use super::host_part::HostPart;
use super::sum::Sums;
use stripewise_results::{HostPoint, HostRecord, KindOutcome};
use stripewise_units::{WallTime, distinct};

/// A small curve needs no more points.
const POINTS_MAX: usize = 64;
const NS_PER_S: f64 = 1e9;
const BYTES_PER_MIB: f64 = 1_048_576.0;

/// Distinct names of the hosts, in the order of the parts.
pub(super) fn names(parts: &[&HostPart]) -> Vec<String> {
    let plain = |part: &HostPart| part.run.host.name.clone();
    let name = |(number, part): (usize, &&HostPart)| {
        let name = plain(part);
        let shared = parts.iter().filter(|other| plain(other) == name).count() > 1;
        let before = parts[..number].iter().filter(|other| plain(other) == name);
        match (shared, part.rank()) {
            (false, _) => name,
            (true, Some(rank)) => format!("{name}:{rank}"),
            (true, None) => format!("{name}:{}", before.count() + 1),
        }
    };
    parts.iter().enumerate().map(name).collect()
}

/// When measuring began on the common clock; simulated arrays all begin together unless
/// their records say otherwise.
pub(super) fn measured_from(part: &HostPart) -> Option<WallTime> {
    match &part.run.start {
        Some(start) => Some(start.on_common_clock()),
        None => part.is_virtual().then_some(WallTime(0)),
    }
}

/// The input of a row.
pub(super) struct RowParts<'a> {
    pub(super) name: &'a str,
    pub(super) part: &'a HostPart,
    pub(super) sums: &'a Sums,
    /// Reads and writes, slot by slot.
    pub(super) operations: &'a [u64],
    pub(super) slots: &'a [Slot],
    /// The earliest start of measuring of all hosts.
    pub(super) earliest: WallTime,
    pub(super) robust_z: Option<f64>,
    /// Rate of all hosts together.
    pub(super) total_iops: f64,
}

/// The row.
pub(super) fn row(of: &RowParts<'_>) -> HostRecord {
    let run = &of.part.run;
    let start = run.start.as_deref();
    let duration_ns = measured_ns(of.slots);
    let iops = rate(of.operations.iter().sum(), duration_ns);
    let bytes = of.sums.read.bytes.saturating_add(of.sums.write.bytes);
    let begun = measured_from(of.part).map_or(0, |from| from.since(of.earliest));
    let targets = run.jobs.iter().flat_map(|job| {
        let all = std::iter::once(&job.target).chain(&job.further_targets);
        all.map(|target| target.name.clone())
    });
    let mut targets: Vec<String> = targets.collect();
    targets.dedup();
    let errors = run.jobs.iter().map(|job| job.outcome.failures());
    HostRecord {
        host: of.name.to_owned(),
        rank: of.part.rank(),
        run: run.id.clone(),
        status: run.status,
        partial_because: run.partial_because.clone(),
        operating_system: run.host.operating_system.clone(),
        targets,
        start_ns: u64::try_from(begun).unwrap_or(0),
        skew_ns: start.and_then(|start| start.skew_ns),
        clock_offset_ns: start.and_then(|start| start.clock_offset_ns),
        clock_error_ns: start.and_then(|start| start.clock_error_ns),
        clock_drift_ns: start.and_then(|start| start.clock_drift_ns),
        iops,
        mib_per_s: rate(bytes, duration_ns) / BYTES_PER_MIB,
        share: if of.total_iops > 0.0 {
            iops / of.total_iops
        } else {
            0.0
        },
        robust_z: of.robust_z,
        read: KindOutcome::from(of.sums.read.clone()),
        write: KindOutcome::from(of.sums.write.clone()),
        errors: errors.fold(0, u64::saturating_add),
        curve: curve(of.operations, of.slots),
        warning_codes: codes(of.part),
    }
}

/// Amount per second.
pub(super) fn rate(amount: u64, duration_ns: u64) -> f64 {
    match duration_ns {
        0 => 0.0,
        ns => amount as f64 * NS_PER_S / ns as f64,
    }
}

/// Adjacent slots joined so that at most [`POINTS_MAX`] remain.
fn curve(operations: &[u64], slots: &[Slot]) -> Vec<HostPoint> {
    let each = slots.len().div_ceil(POINTS_MAX).max(1);
    let groups = slots.chunks(each).zip(operations.chunks(each));
    let point = |(slots, operations): (&[Slot], &[u64])| {
        let duration_ns = measured_ns(slots);
        HostPoint {
            start_ns: slots[0].start_ns,
            duration_ns,
            iops: rate(operations.iter().sum(), duration_ns),
        }
    };
    groups.map(point).collect()
}

/// Distinct codes of a host's own warnings.
fn codes(part: &HostPart) -> Vec<String> {
    let of_jobs = part.run.jobs.iter().flat_map(|job| &job.warnings);
    let all = part.run.warnings.iter().chain(of_jobs);
    distinct(all.map(|warning| warning.code.clone()))
}
