//! Drives and volumes as devices: planned, and opened for engines.

use super::access::replaced;
use super::device_name::{self, DeviceName};
use super::device_rules::{judge_write, open, sector_bytes, size_of_device};
use super::existing;
use super::opened::OpenHandle;
use super::{PlanDetail, PlannedObject, database};
use crate::span::span;
use crate::{Intent, Plan, Result, Target};
use std::path::PathBuf;
use stripewise_disk_inspect::survey::Request;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_results::TargetKind;

pub(super) fn plan(device: &DeviceName, name: &str, intent: &Intent) -> Result<Plan> {
    let file = open(device, false, 0, name)?;
    let size_bytes = span(size_of_device(&file, name)?, intent.size, name)?;
    if intent.writes {
        judge_write(&file, device, name, intent)?;
    }
    if !intent.busy_ok {
        let mut places = mount_points(device).into_iter();
        if let Some(sign) = places.find_map(|root| database::look_through(&root)) {
            return Err(sign.refusal(name));
        }
    }
    Ok(Plan {
        name: name.to_owned(),
        kind: TargetKind::Device,
        path: device.path().into(),
        size_bytes,
        reads: intent.reads,
        writes: intent.writes,
        fill: None,
        device_name: Some(device.short()),
        notes: vec![
            "on Windows it is not checked whether the device is busy with other work.".to_owned(),
        ],
        detail: PlanDetail {
            intent: intent.clone(),
            what: PlannedObject::Device,
        },
    })
}

pub(super) fn prepare(plan: Plan) -> Result<Target> {
    let device =
        device_name::parse(&plan.path.to_string_lossy()).ok_or_else(|| replaced(&plan.name))?;
    // For reading: only to identify the device, now and before each open for an engine.
    let guard = open(&device, false, 0, &plan.name)?;
    let whole_bytes = size_of_device(&guard, &plan.name)?;
    if plan.writes {
        judge_write(&guard, &device, &plan.name, &plan.detail.intent)?;
    }
    let sector_bytes = sector_bytes(&guard);
    let opened = OpenHandle::device(guard, device, whole_bytes, &plan.name);
    existing::finish(plan, opened, whole_bytes, sector_bytes)
}

/// Where the volumes on a device are mounted, as far as the system reports it.
fn mount_points(device: &DeviceName) -> Vec<PathBuf> {
    let request = Request {
        device: Some(device.short()),
        ..Request::default()
    };
    let survey = System::live().survey(&request).unwrap_or_default();
    let volumes = survey.volumes.into_iter();
    volumes.flat_map(|volume| volume.mount_points).collect()
}
