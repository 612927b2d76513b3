//! What the machine and the devices did during a run.

use super::engine::OpenJob;
use super::{Job, Settings};
use crate::RunTotals;
use stripewise_disk_inspect::observe::{Observed, Snapshot};
use stripewise_disk_inspect::storage::Storage;
use stripewise_disk_inspect::{DeviceNumber, System};
use stripewise_results::RunRecord;
use std::fs::File;
use std::sync::Arc;

/// Snapshots around a run.
pub(super) struct Watch {
    system: System,
    devices: Vec<DeviceNumber>,
    files: Vec<Arc<File>>,
    before: Snapshot,
}

impl Watch {
    pub(super) fn start(jobs: &[OpenJob]) -> Self {
        let system = System::live();
        let files: Vec<Arc<File>> = jobs.iter().flat_map(|job| job.files.iter().cloned()).collect();
        let storages: Vec<Option<Storage>> = files.iter().map(|file| system.storage_of_file(file).ok()).collect();
        let mut devices: Vec<DeviceNumber> =
            storages.iter().flatten().filter_map(|storage| storage.nearest().map(|device| device.number)).collect();
        devices.dedup();
        let before = snapshot(&system, &devices, &files);
        Watch { system, devices, files, before }
    }

    pub(super) fn finish(self) -> Observed {
        self.before.difference(&snapshot(&self.system, &self.devices, &self.files))
    }
}

fn snapshot(system: &System, devices: &[DeviceNumber], files: &[Arc<File>]) -> Snapshot {
    let files: Vec<&File> = files.iter().map(Arc::as_ref).collect();
    Snapshot::take(system, devices, &files)
}

pub(super) fn gather(
    _jobs: &[Job<'_>],
    _settings: &Settings,
    _record: &RunRecord,
    _totals: &RunTotals,
    _observed: Option<Observed>,
) -> Vec<()> {
    Vec::new()
}
