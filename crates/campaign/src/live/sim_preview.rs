//! Simulated arrays to try: the performance of a layout, computed at once and without a record.

use crate::steps::array_facts::level_name;
use serde::Serialize;
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::{ArraySpec, Simulate, bundled};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::parallel::NoListener;
use stripewise_disk_formats::crossing::Crossing;
use stripewise_results::{TargetFacts, TargetKind};
use stripewise_runner::session::{Job, JobTarget, Settings, run_simulated};
use stripewise_workload::{TargetLimits, Workload, validate};

/// Operations in flight of the curve's points.
const LOADS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Virtual time of each point.
const DURATION_NS: u64 = 20_000_000_000;
/// Interval length, since no one looks at single intervals.
const INTERVAL_NS: u64 = 10_000_000_000;
/// Maximum number of operations of each, so that a fast array takes little time, too.
const OPERATIONS_MAX: u64 = 12_000;

/// An array that needs no file.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ArrayEntry {
    /// As it is named behind `sim:`.
    pub name: String,
    /// `RAID 10`, `single`.
    pub level: String,
    /// Disks.
    pub disks: u32,
    /// Bytes on one disk before the next.
    pub stripe_unit_bytes: u64,
    /// Where the partition starts.
    pub partition_offset_bytes: u64,
    /// Of the volume.
    pub size_bytes: u64,
    /// It spins.
    pub rotational: bool,
}

/// The arrays that need no file.
pub fn arrays() -> Vec<ArrayEntry> {
    let all = bundled().iter();
    all.map(|known| entry(known.name, &known.spec())).collect()
}

fn entry(name: &str, spec: &ArraySpec) -> ArrayEntry {
    let array = spec.build();
    let facts = array.facts();
    ArrayEntry {
        name: name.to_owned(),
        level: level_name(facts.level),
        disks: facts.disks,
        stripe_unit_bytes: facts.stripe_unit_bytes,
        partition_offset_bytes: facts.partition_offset_bytes,
        size_bytes: array.size_bytes(),
        rotational: facts.rotational,
    }
}

/// An array and load to try.
#[derive(Clone, Debug)]
pub struct PreviewRequest {
    /// `raid10-10k?offset=63s&stripe_unit=64K`; a name, never a file.
    pub array: String,
    /// Bytes of one operation.
    pub block_size_bytes: u64,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
}

/// The performance of an array.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Tried {
    /// As it came out, with its overrides.
    pub array: ArrayEntry,
    /// Share of operations that cross from one disk to the next, 0 to 1; absent where
    /// the array has one disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossing: Option<f64>,
    /// By rising load.
    pub points: Vec<TriedPoint>,
}

/// What it gives at a load.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TriedPoint {
    /// Operations in flight.
    pub in_flight: u32,
    /// Operations a second.
    pub iops: f64,
    /// MiB a second.
    pub mib_per_s: f64,
    /// Half of the operations.
    pub latency_ns_p50: u64,
    /// 99 % of the operations.
    pub latency_ns_p99: u64,
}

/// Runs random operations on a simulated array at rising load.
///
/// # Errors
/// If the array or the load is invalid, with a hint.
pub fn try_array(preview: &PreviewRequest) -> Outcome<Tried> {
    let spec =
        ArraySpec::from_target(&preview.array, |_| Err(std::io::ErrorKind::NotFound.into()))?;
    let entry = entry(&preview.array, &spec);
    let points: Outcome<Vec<TriedPoint>> = LOADS
        .iter()
        .map(|load| point(&spec, &entry, preview, *load))
        .collect();
    Ok(Tried {
        crossing: crossing(&entry, preview.block_size_bytes),
        points: points?,
        array: entry,
    })
}

/// For blocks aligned to their size from the start of the partition, the
/// share that touches more disks than necessary.
fn crossing(array: &ArrayEntry, block: u64) -> Option<f64> {
    let unit = array.stripe_unit_bytes;
    if array.disks < 2 || unit == 0 || block == 0 {
        return None;
    }
    let law = Crossing::new(block, unit, array.partition_offset_bytes)?;
    Some(law.excess().min(1.0))
}

fn point(
    spec: &ArraySpec,
    entry: &ArrayEntry,
    preview: &PreviewRequest,
    load: u32,
) -> Outcome<TriedPoint> {
    let array = spec.build();
    let workload = Workload {
        read_percent: preview.read_percent,
        block_size_bytes: preview.block_size_bytes,
        outstanding: load,
        duration_ns: DURATION_NS,
        ..Workload::default()
    };
    let limits = TargetLimits {
        size_bytes: entry.size_bytes,
        logical_sector_bytes: array.sector_bytes(),
    };
    let span = validate(&workload, limits)
        .map_err(|error| Failure::usage(error.to_string(), "use a block of whole sectors"))?;
    let facts = TargetFacts {
        kind: TargetKind::Simulated,
        name: format!("sim:{}", preview.array),
        size_bytes: entry.size_bytes,
        partition_offset_bytes: Some(entry.partition_offset_bytes),
        logical_sector_bytes: array.sector_bytes(),
        ..TargetFacts::unknown()
    };
    let job = Job {
        name: "job".to_owned(),
        workload,
        recorded: None,
        places: vec![(
            JobTarget::Simulated {
                facts: Box::new(facts),
                array: 0,
            },
            span,
        )],
    };
    let mut arrays = [array];
    let record = run_simulated(
        &[job],
        &mut arrays,
        &settings(),
        &mut NoListener,
        &AtomicU8::new(0),
    )
    .map_err(|error| Failure::of(Exit::Target, error))?;
    let outcome = record.jobs.first().map(|job| &job.outcome);
    let kind = outcome.map(|outcome| match preview.read_percent {
        0 => &outcome.write,
        _ => &outcome.read,
    });
    let latency = kind.and_then(|kind| kind.latency_ns.as_ref());
    Ok(TriedPoint {
        in_flight: load,
        iops: outcome.map_or(0.0, |outcome| outcome.iops),
        mib_per_s: outcome.map_or(0.0, |outcome| outcome.mib_per_s),
        latency_ns_p50: latency.map_or(0, |latency| latency.p50),
        latency_ns_p99: latency.map_or(0, |latency| latency.p99),
    })
}

fn settings() -> Settings {
    Settings {
        id: "try".to_owned(),
        interval_ns: INTERVAL_NS,
        drain_limit_ns: DURATION_NS,
        operations_max_per_thread: Some(OPERATIONS_MAX),
        quick: true,
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_tried_and_an_offset_that_splits_blocks_costs() {
        let tried = |array: &str| {
            try_array(&PreviewRequest {
                array: array.to_owned(),
                block_size_bytes: 64 << 10,
                read_percent: 100,
            })
        };
        let aligned = tried("raid10-10k?offset=1M").unwrap();
        let split = tried("raid10-10k?offset=63s").unwrap();
        assert_eq!(aligned.crossing, Some(0.0));
        assert_eq!(split.crossing, Some(1.0));
        let last = |tried: &Tried| tried.points.last().unwrap().iops;
        assert!(
            last(&split) < last(&aligned) * 0.9,
            "{} {}",
            last(&split),
            last(&aligned)
        );
        assert_eq!(aligned.points.len(), LOADS.len());
        for name in [
            "nonesuch",
            "array.toml",
            "/etc/passwd",
            "raid10-10k?disks=0",
        ] {
            assert_eq!(tried(name).unwrap_err().exit, Exit::Usage, "{name}");
        }
        assert!(arrays().iter().any(|array| array.name == "nvme"));
    }
}
