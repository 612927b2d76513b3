//! Results from the system's counters without the kernel's events: numbers of operations and
//! bytes, but neither their latencies nor their processes.

use super::watched::{note_on_store, whole_devices};
use super::{ObserveOptions, Observed};
use crate::steps::observation::groups::GroupWatch;
use crate::steps::observation::{
    ObservationDocument, ObservationSource, ObservedDevice, ObservedTarget,
};
use std::collections::BTreeSet;
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::Progress;
use stripewise_disk_inspect::System;
use stripewise_machine::observe::{Counters, DeviceCounters, Snapshot};
use stripewise_machine::tracefs::TraceError;
use stripewise_units::DeviceNumber;

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Observes these devices, or all, through their counters.
///
/// # Errors
/// If no device has counters: an empty observation would read as if nothing was done.
pub fn observe_counters(
    context: &Context,
    options: &ObserveOptions,
    numbers: &BTreeSet<DeviceNumber>,
    error: &TraceError,
) -> Outcome<Observed> {
    let system = System::live();
    let of_store = note_on_store(context, numbers);
    let numbers: Vec<DeviceNumber> = match numbers.is_empty() {
        true => whole_devices(&system),
        false => numbers.iter().copied().collect(),
    };
    let started_at = context.timestamp();
    let groups = GroupWatch::start();
    let before = Snapshot::take(&system, &numbers, &[]);
    if !before.devices.iter().any(|one| one.counters.is_some()) {
        let message = format!("{error}, and no counters of these devices can be read");
        return Err(Failure::target(message, error.hint()));
    }
    context.note(format_args!("{error}; only totals are observed"));
    wait(context, options.duration_ns);
    let after = Snapshot::take(&system, &numbers, &[]);
    let groups = groups.finish();
    let elapsed_ns = after
        .clocks
        .monotonic_ns
        .saturating_sub(before.clocks.monotonic_ns);
    let pairs = before.devices.iter().zip(&after.devices);
    let devices = pairs.filter_map(|(before, after)| device(before, after, elapsed_ns));
    let mut devices: Vec<ObservedDevice> = devices.collect();
    devices.sort_by_key(|one| u64::MAX - one.reads - one.writes - one.flushes);
    groups.add_to(&mut devices, options.is_anonymous);
    let mut notes = vec![format!("{error}. These are totals: {}", error.hint())];
    notes.extend(note_on_flushes(&devices));
    notes.extend(of_store);
    let document = ObservationDocument {
        target: ObservedTarget {
            name: options.shown_target(),
        },
        source: ObservationSource {
            kind: "counters".to_owned(),
            ..ObservationSource::default()
        },
        started_at,
        observed_s: elapsed_ns as f64 / 1e9,
        cut_short: context.signal().map(|_| "interrupted".to_owned()),
        notes,
        devices,
        ..ObservationDocument::default()
    };
    Ok(Observed {
        document,
        model: None,
        trace: None,
    })
}

/// The kernel counts a request to flush, which is a write without data, and the flush.
fn note_on_flushes(devices: &[ObservedDevice]) -> Option<String> {
    let has_flushes = devices.iter().any(|one| one.flushes > 0);
    has_flushes.then(|| "writes include requests to flush, which count as flushes, too".to_owned())
}

fn wait(context: &Context, duration_ns: u64) {
    let begun_ns = context.now_ns();
    let progress = Progress::begin(context.observer(), false, duration_ns, "Observing");
    loop {
        let passed_ns = context.now_ns() - begun_ns;
        if passed_ns >= duration_ns || context.signal().is_some() {
            return;
        }
        progress.update(passed_ns, "Observing totals", Some(duration_ns - passed_ns));
        std::thread::sleep(LOOK_EVERY.min(Duration::from_nanos(duration_ns - passed_ns)));
    }
}

/// `None` for a device that did nothing, or is gone.
fn device(
    before: &DeviceCounters,
    after: &DeviceCounters,
    elapsed_ns: u64,
) -> Option<ObservedDevice> {
    let (from, to): (&Counters, &Counters) = (before.counters.as_ref()?, after.counters.as_ref()?);
    let weighted_ns = to.weighted_ns.saturating_sub(from.weighted_ns);
    let device = ObservedDevice {
        name: after.name.clone(),
        number: Some(after.number.to_string()),
        reads: to.reads.saturating_sub(from.reads),
        writes: to.writes.saturating_sub(from.writes),
        read_bytes: to.read_bytes.saturating_sub(from.read_bytes),
        write_bytes: to.written_bytes.saturating_sub(from.written_bytes),
        flushes: to.flushes.saturating_sub(from.flushes),
        depth_mean: (elapsed_ns > 0).then(|| weighted_ns as f64 / elapsed_ns as f64),
        ..ObservedDevice::default()
    };
    (device.reads + device.writes + device.flushes > 0).then_some(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_what_was_counted_in_between() {
        let at = |reads, weighted_ns| DeviceCounters {
            number: DeviceNumber { major: 8, minor: 0 },
            name: "sda".to_owned(),
            counters: Some(Counters {
                reads,
                read_bytes: reads * 4_096,
                weighted_ns,
                ..Counters::default()
            }),
        };
        let seen = device(&at(100, 0), &at(350, 500), 1_000).unwrap();
        assert_eq!(
            (seen.reads, seen.read_bytes, seen.depth_mean),
            (250, 1_024_000, Some(0.5))
        );
        assert_eq!(note_on_flushes(std::slice::from_ref(&seen)), None);
        let flushed = ObservedDevice { flushes: 1, ..seen };
        assert!(note_on_flushes(&[flushed]).is_some());
        assert_eq!(device(&at(5, 0), &at(5, 0), 1_000), None);
        // A counter that went backwards belongs to another device.
        assert_eq!(device(&at(5, 0), &at(2, 0), 1_000), None);
    }
}
