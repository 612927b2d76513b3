//! What a volume reports about itself over the runs of the grid.

use super::document::{CapKind, VolumeFound, VolumeThrottled};
use super::{LimitCell, Planned};
use serde::{Deserialize, Serialize};
use stripewise_results::{JobOutcome, VolumeReport};

/// A limit exceeded for at least this share of a run held that run.
const HELD_SHARE: f64 = 0.5;

/// What was observed so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct VolumeObservation {
    all: VolumeReport,
    runs: u32,
    /// Reads one at a time: at the volume, and here (total time, and count).
    single: VolumeReport,
    here_ns: f64,
    here: u64,
    /// Runs of the load that shows each cap, and those that a limit of that kind held.
    at_iops: [u32; 2],
    at_bandwidth: [u32; 2],
}

impl VolumeObservation {
    pub(super) fn add(&mut self, planned: Planned, outcome: &JobOutcome) {
        let Some(report) = outcome.volume.as_deref() else {
            return;
        };
        // Bins are in the records of the runs.
        let mut report = report.clone();
        report.read.latencies.clear();
        report.write.latencies.clear();
        match self.runs {
            0 => self.all = report.clone(),
            _ => self.all.extend(&report),
        }
        self.runs += 1;
        let held = |kind: &str| {
            let mut exceeded = report.exceeded().into_iter();
            exceeded.any(|one| one.share >= HELD_SHARE && one.name.ends_with(kind))
        };
        match planned {
            Planned::Grid(LimitCell::Single) => {
                self.single.extend(&report);
                let latency_ns = outcome.read.latency_ns.as_ref();
                self.here_ns +=
                    latency_ns.map_or(0.0, |latency| latency.mean) * outcome.read.operations as f64;
                self.here += outcome.read.operations;
            }
            Planned::Grid(LimitCell::Small) => {
                self.at_iops[0] += 1;
                self.at_iops[1] += u32::from(held("iops"));
            }
            Planned::Grid(LimitCell::Large) => {
                self.at_bandwidth[0] += 1;
                self.at_bandwidth[1] += u32::from(held("bandwidth"));
            }
            _ => {}
        }
    }

    /// Whether the volume reports that a limit of its own, or of the instance, held the load that
    /// shows this cap in most of its runs.
    pub(super) fn holds(&self, kind: CapKind) -> bool {
        let [runs, held] = match kind {
            CapKind::Iops => self.at_iops,
            CapKind::BytesPerS => self.at_bandwidth,
        };
        runs > 0 && 2 * held > runs
    }

    pub(super) fn found(&self) -> VolumeFound {
        let exceeded = self.all.exceeded().into_iter();
        let throttled = exceeded.map(|one| VolumeThrottled {
            limit: one.name.to_owned(),
            share: one.share,
        });
        VolumeFound {
            throttled: throttled.collect(),
            latency_at_volume_ns: self.single.read.latency_ns_mean(),
            latency_here_ns: (self.here > 0).then(|| self.here_ns / self.here as f64),
            report: self.all.clone(),
        }
    }
}
