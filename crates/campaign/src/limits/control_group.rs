//! The limit that a control group sets for this process on a target's devices.

use stripewise_conductor::targets::OpenTarget;
use stripewise_disk_inspect::Inspect;
use stripewise_machine::{System, Throttle};
use stripewise_studies::limits::ControlGroupLimit;
use stripewise_units::path_of;

/// The closest limit, if any.
pub(super) fn of(target: &OpenTarget) -> Option<ControlGroupLimit> {
    let real = target.real()?;
    let system = System::live();
    let storage = system.storage_of_path(&path_of(&real.facts().name)).ok()?;
    let layers = storage.layers();
    let numbers: Vec<_> = layers.iter().map(|device| device.number).collect();
    system.throttles(&numbers).into_iter().next().map(limit)
}

fn limit(throttle: Throttle) -> ControlGroupLimit {
    ControlGroupLimit {
        device: match throttle.device.is_empty() {
            true => throttle.number.to_string(),
            false => throttle.device,
        },
        cgroup: throttle.cgroup,
        read_iops: throttle.read_iops,
        write_iops: throttle.write_iops,
        read_bytes_per_s: throttle.read_bytes_per_s,
        write_bytes_per_s: throttle.write_bytes_per_s,
        reached: false,
    }
}
