//! Arrays with a known true difference.
//!
//! *By construction.* An array whose times are all divided by 1 + e does exactly what the first one
//! does, 1 + e times as fast: its events are those of the first on a faster clock. In a long run
//! its rate is exactly 1 + e times the other's, whatever queues and seeks do in between. Times are
//! integer nanoseconds, so the ratio is off by less than 0.003 points.

use anyhow::{Context, Result};
use stripewise_array_sim::ArraySpec;

/// The bundled RAID 10 of four 10K disks.
pub const DISKS: &str = "raid10-10k";
/// A small flash drive: four units, so that all are often busy.
pub const FLASH: &str = "sata-ssd?ssd.channels=4";

/// An array by name, with its own seed: different spindle phases.
pub fn array(target: &str, seed: u64) -> Result<ArraySpec> {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let spec = ArraySpec::from_target(target, none)
        .with_context(|| format!("the array {target} is not there"))?;
    // Keys accept integers up to 9e15.
    let seed = seed % 9_000_000_000_000_000;
    Ok(ArraySpec { seed, ..spec })
}

/// The same array, faster by `percent`.
pub fn faster(spec: &ArraySpec, percent: f64) -> ArraySpec {
    let speed = 1.0 + percent / 100.0;
    let mut fast = spec.clone();
    let times = [
        &mut fast.disk.seek_track_ns,
        &mut fast.disk.seek_average_ns,
        &mut fast.disk.seek_full_ns,
        &mut fast.disk.head_switch_ns,
        &mut fast.disk.write_settle_ns,
        &mut fast.disk.occupancy_ns,
        &mut fast.disk.wait_limit_ns,
        &mut fast.ssd.read_ns,
        &mut fast.ssd.program_ns,
        &mut fast.ssd.erase_ns,
        &mut fast.ssd.suspend_ns,
        &mut fast.controller.operation_cpu_ns,
        &mut fast.controller.split_cpu_ns,
        &mut fast.controller.command_latency_ns,
        &mut fast.controller.completion_latency_ns,
    ];
    for time_ns in times {
        *time_ns = (*time_ns as f64 / speed).round() as u64;
    }
    fast.disk.rpm = (fast.disk.rpm as f64 * speed).round() as u64;
    let link = fast.controller.link_bytes_per_s as f64 * speed;
    fast.controller.link_bytes_per_s = link.round() as u64;
    fast
}
