//! Reports operations that take over 15 s while they are in flight: SQL Server's error 833.

use crate::steps::verification::document::StuckOperation;
use crate::steps::verification::worker_pool::{InFlight, InFlightGauge};
use std::path::Path;
use std::sync::Arc;
use stripewise_conductor::context::Context;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::observe::InFlight as QueueDepth;
use stripewise_targets::{FileWatch, Target};
use stripewise_units::{DeviceNumber, format_bytes, format_duration};

/// From here on, an operation is stuck.
const STUCK_NS: u64 = 15_000_000_000;
/// Maximum number stored.
const KEPT_MAX: usize = 1_000;

/// A device's operations in flight.
type Queue = Option<QueueDepth>;

/// Finds them, and files truncated by others.
pub(super) struct Watch {
    names: Vec<String>,
    devices: Vec<Option<DeviceNumber>>,
    files: Vec<Option<FileWatch>>,
    stuck: Stuck,
    cut_was_reported: bool,
}

/// The operations found.
#[derive(Default)]
struct Stuck {
    /// Worker, slot and time of issue; and the report.
    found: Vec<(usize, usize, u64, StuckOperation)>,
}

impl Stuck {
    /// Checks everything that is in flight at `now_ns`, and returns a sentence for each
    /// newly stuck operation.
    fn look(
        &mut self,
        gauges: &[(usize, Arc<[InFlightGauge]>)],
        now_ns: u64,
        names: &[String],
        queue_of: &dyn Fn(usize) -> Queue,
    ) -> Vec<String> {
        let mut sentences = Vec::new();
        for (worker_slot, (target, slots)) in gauges.iter().enumerate() {
            for (slot, gauge) in slots.iter().enumerate() {
                let Some(operation) = gauge.in_flight() else {
                    continue;
                };
                let for_ns = now_ns.saturating_sub(operation.issued_ns);
                if for_ns < STUCK_NS {
                    continue;
                }
                let known = (self.found.iter_mut()).find(|(at, number, issued_ns, _)| {
                    (*at, *number, *issued_ns) == (worker_slot, slot, operation.issued_ns)
                });
                if let Some((.., known)) = known {
                    known.for_ns = for_ns;
                } else if self.found.len() < KEPT_MAX {
                    let stuck = stuck(*target, &operation, for_ns, queue_of(*target));
                    sentences.push(sentence(&stuck, &names[*target]));
                    (self.found).push((worker_slot, slot, operation.issued_ns, stuck));
                }
            }
        }
        sentences
    }
}

fn stuck(target: usize, operation: &InFlight, for_ns: u64, queue: Queue) -> StuckOperation {
    StuckOperation {
        target: target as u16,
        kind: if operation.writes { "write" } else { "read" }.to_owned(),
        offset_bytes: operation.offset_bytes,
        length_bytes: operation.length_bytes,
        for_ns,
        device_reads: queue.map(|queue| queue.reads),
        device_writes: queue.map(|queue| queue.writes),
    }
}

/// In the style of SQL Server's error 833, with the device's queue.
fn sentence(stuck: &StuckOperation, name: &str) -> String {
    let queue = (stuck.device_reads).zip(stuck.device_writes);
    let device = queue.map_or_else(String::new, |(reads, writes)| {
        format!("; the device has {reads} reads and {writes} writes in flight")
    });
    format!(
        "a {} of {} at byte {} of {name} has taken {} and is not done{device}",
        stuck.kind,
        format_bytes(stuck.length_bytes),
        stuck.offset_bytes,
        format_duration(stuck.for_ns)
    )
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
            stuck: Stuck::default(),
            cut_was_reported: false,
        }
    }

    /// Checks everything that is in flight.
    pub(super) fn look(
        &mut self,
        context: &Context,
        gauges: &[(usize, Arc<[InFlightGauge]>)],
        now_ns: u64,
    ) {
        let queue_of = |target: usize| {
            let number = self.devices[target]?;
            System::live().in_flight(number)
        };
        let sentences = (self.stuck).look(gauges, now_ns, &self.names, &queue_of);
        sentences.iter().for_each(|sentence| context.note(sentence));
    }

    /// Another process truncated a file: writing on would let it grow again.
    pub(super) fn is_cut(&mut self, context: &Context) -> bool {
        let mut files = self.files.iter().zip(&self.names);
        let cut = files.find(|(file, _)| file.as_ref().is_some_and(FileWatch::is_cut));
        let Some((_, name)) = cut else { return false };
        if !self.cut_was_reported {
            context.note(format!(
                "{name} was made smaller meanwhile; the verification stops"
            ));
            self.cut_was_reported = true;
        }
        true
    }

    /// What others did to each target, if it is a file that existed before.
    pub(super) fn changed(&self) -> Vec<Option<String>> {
        let changed = |file: &FileWatch| file.changed().map(|changed| changed.what);
        (self.files.iter())
            .map(|file| file.as_ref().and_then(changed))
            .collect()
    }

    pub(super) fn into_found(self) -> Vec<StuckOperation> {
        let found = self.stuck.found.into_iter();
        found.map(|(.., stuck)| stuck).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_io_engine::{Kind, Operation};

    const SECOND_NS: u64 = 1_000_000_000;

    /// Fifteen seconds pass without a wait: the caller supplies the time.
    #[test]
    fn an_operation_is_named_once_after_15_seconds_with_the_queue_of_its_device() {
        let gauges: Arc<[InFlightGauge]> = (0..2).map(|_| InFlightGauge::default()).collect();
        let all = [(1, Arc::clone(&gauges))];
        let names = ["sda".to_owned(), "sdb".to_owned()];
        let queries = std::cell::Cell::new(0);
        let queue = |target: usize| {
            assert_eq!(target, 1);
            queries.set(queries.get() + 1);
            Some(QueueDepth {
                reads: 3,
                writes: 40,
            })
        };
        let mut stuck = Stuck::default();
        let mut look = |seconds: f64| {
            let now_ns = (seconds * SECOND_NS as f64) as u64;
            stuck.look(&all, now_ns, &names, &queue)
        };
        let operation = |kind| Operation {
            slot: 0,
            file: 0,
            kind,
            offset_bytes: 81_920,
            length_bytes: 8_192,
        };
        gauges[0].issued(&operation(Kind::Write), SECOND_NS);
        assert_eq!(look(15.9), Vec::<String>::new());
        let findings = look(16.0);
        assert_eq!(findings.len(), 1);
        let words = [
            "a write of 8 KiB at byte 81920 of sdb has taken 15 s",
            "the device has 3 reads and 40 writes in flight",
        ];
        assert!(
            words.iter().all(|word| findings[0].contains(word)),
            "{findings:?}"
        );
        assert_eq!(look(30.0), Vec::<String>::new(), "said once");
        gauges[0].completed();
        gauges[1].issued(&operation(Kind::Read), 31 * SECOND_NS);
        assert_eq!(look(45.0), Vec::<String>::new());
        assert!(look(46.5)[0].contains("a read of 8 KiB"));
        let stored: Vec<u64> = stuck.found.iter().map(|(.., one)| one.for_ns).collect();
        assert_eq!(stored, [29 * SECOND_NS, 15_500_000_000]);
        assert_eq!(queries.get(), 2, "the queue is that of the moment");
    }
}
