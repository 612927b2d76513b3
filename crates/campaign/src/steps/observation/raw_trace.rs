//! The operations themselves, packed in memory during the observation: nothing is written
//! to a disk meanwhile, since it may be the observed one.

use std::collections::HashMap;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_trace::files::TraceWriter;
use stripewise_trace::{Operation, Tasks};
use stripewise_units::DeviceNumber;

/// Maximum packed bytes: about 10 million operations.
const BYTES_MAX: usize = 128 << 20;

/// Operations in memory.
pub struct RawTrace {
    writer: Option<TraceWriter<Vec<u8>>>,
    names: HashMap<DeviceNumber, String>,
    is_anonymous: bool,
    /// Number of operations that did not fit.
    pub left_out: u64,
}

impl RawTrace {
    /// An empty buffer.
    pub fn new(is_anonymous: bool) -> RawTrace {
        RawTrace {
            // Writing to memory cannot fail.
            writer: TraceWriter::new(Vec::new()).ok(),
            names: HashMap::new(),
            is_anonymous,
            left_out: 0,
        }
    }

    /// Adds an operation.
    pub fn add(&mut self, operation: &Operation, tasks: &Tasks) {
        let Some(writer) = &mut self.writer else {
            return;
        };
        if writer.writer().len() > BYTES_MAX {
            self.left_out += 1;
            return;
        }
        let name = self.names.entry(operation.device).or_insert_with(|| {
            let device = System::live().device(operation.device);
            device.map_or_else(|_| operation.device.to_string(), |device| device.name)
        });
        let tasks = (!self.is_anonymous).then_some(tasks);
        let _ = writer.add(operation, name, tasks);
    }

    /// The file's bytes.
    pub fn finish(self) -> Option<Vec<u8>> {
        self.writer?.finish().ok()
    }
}
