//! The accumulators of one pass over operations, each with bounded memory.

use super::files::FileCounts;
use stripewise_trace::Operation;
use stripewise_trace::blame::BlameWindow;
use stripewise_trace::closedness::{LoadClosedness, TaskSpans};
use stripewise_trace::model::{ModelBuilder, ModelError, Request, WorkloadModel};
use stripewise_trace::observation::Statistics;
use stripewise_units::DeviceNumber;

/// The accumulators.
#[derive(Default)]
pub struct Capture {
    /// Counts, latencies, timeline.
    pub statistics: Statistics,
    /// For deciding whether the load waits.
    pub spans: TaskSpans,
    /// For attributing blame.
    pub window: BlameWindow,
    /// Counts by file; `None` if files are not known.
    pub files: Option<FileCounts>,
    /// The model, if requested.
    pub model: Option<DeviceModelBuilder>,
    /// Number of operations processed.
    pub operations: u64,
    /// Whether the load certainly waits for its disk; known at the end.
    pub waits: bool,
}

/// A model of one device under construction.
#[derive(Default)]
pub struct DeviceModelBuilder {
    builder: ModelBuilder,
    device: Option<DeviceNumber>,
    error: Option<ModelError>,
}

impl DeviceModelBuilder {
    /// Adds an operation. False if its device differs from the previous ones.
    fn add(&mut self, operation: &Operation) -> bool {
        if *self.device.get_or_insert(operation.device) != operation.device {
            return false;
        }
        if self.error.is_none() {
            let request = Request {
                at_ns: operation.arrived_ns,
                kind: operation.kind,
                offset_bytes: operation.offset_bytes,
                size_bytes: operation.size_bytes,
            };
            self.error = self.builder.add(&request).err();
        }
        true
    }

    fn finish(self) -> Result<WorkloadModel, ModelError> {
        match self.error {
            Some(error) => Err(error),
            None => self.builder.finish(),
        }
    }
}

impl Capture {
    /// Whether the load waits for its disk.
    pub fn closedness(&mut self, lost_share: f64) -> LoadClosedness {
        let found = self.spans.judge(lost_share);
        self.waits = found.waits();
        found
    }

    /// The model, if requested.
    pub fn finish_model(&mut self) -> Option<Result<WorkloadModel, ModelError>> {
        let model = self.model.take()?.finish();
        Some(model.map(|mut model| {
            model.waited = self.waits;
            model
        }))
    }

    /// Adds an operation, in approximate order of arrival. False if a model
    /// is requested and the device differs from the previous ones.
    pub fn add(&mut self, operation: &Operation) -> bool {
        self.operations += 1;
        self.statistics.add(operation);
        self.spans.add(operation);
        self.window.add(operation);
        if let Some(files) = &mut self.files {
            files.add(operation);
        }
        self.model.as_mut().is_none_or(|model| model.add(operation))
    }
}
