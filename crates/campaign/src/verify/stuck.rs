//! Operations that take over 15 s, named while they do: SQL Server's error 833.

use super::drive::{Gauge, InFlight};
use crate::context::Context;
use crate::steps::verification::document::StuckOperation;
use std::path::Path;
use std::sync::Arc;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_targets::{FileWatch, Target};
use stripewise_units::{DeviceNumber, format_bytes, format_duration};

/// From here on an operation is stuck.
const STUCK_NS: u64 = 15_000_000_000;
/// How many are kept.
const KEPT_MAX: usize = 1_000;

/// Looks for them, and for files that others cut.
pub(super) struct Watch {
    names: Vec<String>,
    devices: Vec<Option<DeviceNumber>>,
    files: Vec<Option<FileWatch>>,
    /// Which post, which slot and when issued; and what is told of it.
    found: Vec<(usize, usize, u64, StuckOperation)>,
    cut_was_said: bool,
}

impl Watch {
    pub(super) fn new(targets: &[Target]) -> Watch {
        let device = |target: &Target| {
            let facts = target.facts();
            let path = Path::new(facts.full_name());
            let storage = System::live().storage_of_path(path).ok()?;
            storage.nearest().map(|device| device.number)
        };
        Watch {
            names: (targets.iter())
                .map(|target| target.facts().name.clone())
                .collect(),
            devices: targets.iter().map(device).collect(),
            files: targets.iter().map(Target::watch).collect(),
            found: Vec::new(),
            cut_was_said: false,
        }
    }

    /// Looks at everything that is in flight.
    pub(super) fn look(
        &mut self,
        context: &Context,
        gauges: &[(usize, Arc<[Gauge]>)],
        now_ns: u64,
    ) {
        for (post, (target, slots)) in gauges.iter().enumerate() {
            for (slot, gauge) in slots.iter().enumerate() {
                let Some(operation) = gauge.in_flight() else {
                    continue;
                };
                let for_ns = now_ns.saturating_sub(operation.issued_ns);
                if for_ns >= STUCK_NS {
                    self.is_stuck(context, (post, slot), *target, &operation, for_ns);
                }
            }
        }
    }

    fn is_stuck(
        &mut self,
        context: &Context,
        (post, slot): (usize, usize),
        target: usize,
        operation: &InFlight,
        for_ns: u64,
    ) {
        let known = (self.found.iter_mut()).find(|(at, number, issued_ns, _)| {
            (*at, *number, *issued_ns) == (post, slot, operation.issued_ns)
        });
        if let Some((.., known)) = known {
            known.for_ns = for_ns;
            return;
        }
        if self.found.len() >= KEPT_MAX {
            return;
        }
        let queue = self.devices[target].and_then(|number| System::live().in_flight(number));
        let kind = if operation.writes { "write" } else { "read" };
        let device = queue.map_or_else(String::new, |queue| {
            format!(
                "; the device has {} reads and {} writes in flight",
                queue.reads, queue.writes
            )
        });
        context.note(format!(
            "a {kind} of {} at byte {} of {} has taken {} and is not done{device}",
            format_bytes(operation.length_bytes),
            operation.offset_bytes,
            self.names[target],
            format_duration(for_ns)
        ));
        let stuck = StuckOperation {
            target: target as u16,
            kind: kind.to_owned(),
            offset_bytes: operation.offset_bytes,
            length_bytes: operation.length_bytes,
            for_ns,
            device_reads: queue.map(|queue| queue.reads),
            device_writes: queue.map(|queue| queue.writes),
        };
        self.found.push((post, slot, operation.issued_ns, stuck));
    }

    /// Somebody made a file smaller: writing on would let it grow again.
    pub(super) fn is_cut(&mut self, context: &Context) -> bool {
        let mut files = self.files.iter().zip(&self.names);
        let cut = files.find(|(file, _)| file.as_ref().is_some_and(FileWatch::is_cut));
        let Some((_, name)) = cut else { return false };
        if !self.cut_was_said {
            context.note(format!(
                "{name} was made smaller meanwhile; the verification stops"
            ));
            self.cut_was_said = true;
        }
        true
    }

    /// What others did to each target, where it is a file that was there before.
    pub(super) fn changed(&self) -> Vec<Option<String>> {
        let changed = |file: &FileWatch| file.changed().map(|changed| changed.what);
        (self.files.iter())
            .map(|file| file.as_ref().and_then(changed))
            .collect()
    }

    pub(super) fn into_found(self) -> Vec<StuckOperation> {
        self.found.into_iter().map(|(.., stuck)| stuck).collect()
    }
}
