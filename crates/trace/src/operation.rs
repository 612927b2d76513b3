//! One operation, from its system call to the return of that call.
//!
//! Times are nanoseconds on the trace's own clock; only differences are meaningful. What a source
//! does not contain is absent.

use crate::event::Flags;
use crate::tasks::TaskId;
use stripewise_units::{DeviceNumber, Kind};

/// One operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The device, or the file's number for it.
    pub device: DeviceNumber,
    /// The issuing task.
    pub task: TaskId,
    /// Read, write, sync (a flush of the device's cache, or an fsync) or discard.
    pub kind: Kind,
    /// Further flags from the kernel.
    pub flags: Flags,
    /// Its offset; 0 for a sync.
    pub offset_bytes: u64,
    /// Its length at the device; 0 for a sync.
    pub size_bytes: u64,
    /// Number of file system requests (bios) merged into it; 0 for a further part of one that was
    /// split, and 1 if the source does not report it.
    pub demands: u32,
    /// When the system call was entered.
    pub entered_ns: Option<u64>,
    /// When it first reached the block layer; the time itself if a source gives only one.
    pub arrived_ns: u64,
    /// When it got a tag, and block layer throttles had let it pass.
    pub started_ns: Option<u64>,
    /// When it was issued to the device.
    pub issued_ns: Option<u64>,
    /// When the device completed it. None if it was still in flight at the end, or if the source
    /// does not report it.
    pub completed_ns: Option<u64>,
    /// When the system call returned.
    pub returned_ns: Option<u64>,
}

/// Time of an operation in each stage, nanoseconds; None if the source does not report it. The
/// letters are those of `docs/TRACES.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// H: above the block layer, from the system call to the block layer. Includes a control
    /// group's throttle, because the kernel's events fire after it.
    pub held: Option<u64>,
    /// T: waiting for a tag, or for a block layer throttle.
    pub tag: Option<u64>,
    /// S: in the scheduler's queue.
    pub scheduler: Option<u64>,
    /// V: at the device, including what the host has below it.
    pub device: Option<u64>,
    /// W: from completion to the return of the system call: waiting for a processor.
    pub wakeup: Option<u64>,
}

impl Operation {
    /// An operation with only location, kind and arrival.
    pub const fn at(arrived_ns: u64, kind: Kind, offset_bytes: u64, size_bytes: u64) -> Self {
        Operation {
            device: DeviceNumber { major: 0, minor: 0 },
            task: TaskId::UNKNOWN,
            kind,
            flags: Flags::NONE,
            offset_bytes,
            size_bytes,
            demands: 1,
            entered_ns: None,
            arrived_ns,
            started_ns: None,
            issued_ns: None,
            completed_ns: None,
            returned_ns: None,
        }
    }

    /// From arrival at the block layer to completion, nanoseconds.
    pub fn latency_ns(&self) -> Option<u64> {
        Some(self.completed_ns?.saturating_sub(self.arrived_ns))
    }

    /// From the system call to its return, or the known part of that, nanoseconds.
    pub fn whole_ns(&self) -> Option<u64> {
        let end = self.returned_ns.or(self.completed_ns)?;
        Some(end.saturating_sub(self.entered_ns.unwrap_or(self.arrived_ns)))
    }

    /// When it was issued to the device; if unknown, when it arrived.
    pub fn issued_or_arrived_ns(&self) -> u64 {
        self.issued_ns.unwrap_or(self.arrived_ns)
    }

    /// The offset after its last byte.
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.size_bytes)
    }

    /// The time in each stage.
    pub fn stages(&self) -> StageTimes {
        let between = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
        let arrived = Some(self.arrived_ns);
        StageTimes {
            held: between(self.entered_ns, arrived),
            tag: between(arrived, self.started_ns),
            scheduler: between(self.started_ns, self.issued_ns),
            device: between(self.issued_ns.or(arrived), self.completed_ns),
            wakeup: between(self.completed_ns, self.returned_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up_to_the_whole() {
        let operation = Operation {
            entered_ns: Some(90),
            started_ns: Some(110),
            issued_ns: Some(125),
            completed_ns: Some(1_125),
            returned_ns: Some(1_130),
            ..Operation::at(100, Kind::Read, 0, 4_096)
        };
        let stages = operation.stages();
        let all = [
            stages.held,
            stages.tag,
            stages.scheduler,
            stages.device,
            stages.wakeup,
        ];
        assert_eq!(all, [10, 10, 15, 1_000, 5].map(Some));
        assert_eq!(operation.whole_ns(), Some(1_040));
        assert_eq!(operation.latency_ns(), Some(1_025));
    }

    #[test]
    fn what_a_source_does_not_say_is_absent() {
        let operation = Operation::at(100, Kind::Write, 0, 4_096);
        assert_eq!(operation.stages(), StageTimes::default());
        assert_eq!(operation.whole_ns(), None);
        assert_eq!(operation.issued_or_arrived_ns(), 100);
    }
}
