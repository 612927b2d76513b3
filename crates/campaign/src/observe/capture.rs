//! Everything that one pass over operations is folded into, each with bounded memory.

use crate::steps::observation::files::FileCounts;
use stripewise_trace::Operation;
use stripewise_trace::blame::BlameWindow;
use stripewise_trace::closedness::{LoadClosedness, TaskSpans};
use stripewise_trace::model::{ModelBuilder, ModelError, Request, WorkloadModel};
use stripewise_trace::observation::Statistics;
use stripewise_units::DeviceNumber;

/// The folds.
#[derive(Default)]
pub struct Capture {
    /// Counts, latencies, timeline.
    pub statistics: Statistics,
    /// For whether the load waits.
    pub spans: TaskSpans,
    /// For whose fault it is.
    pub window: BlameWindow,
    /// By file; none where files are not known.
    pub files: Option<FileCounts>,
    /// The model, where one is asked for.
    pub model: Option<ModelInTheMaking>,
    /// Operations taken.
    pub operations: u64,
    /// The load waits for its disk, for certain; known at the end.
    pub waits: bool,
}

/// A model of one device.
#[derive(Default)]
pub struct ModelInTheMaking {
    builder: ModelBuilder,
    device: Option<DeviceNumber>,
    error: Option<ModelError>,
}

impl ModelInTheMaking {
    /// Takes an operation. False if it is of another device than those before.
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

    /// The model, where one is asked for.
    pub fn finish_model(&mut self) -> Option<Result<WorkloadModel, ModelError>> {
        let model = self.model.take()?.finish();
        Some(model.map(|mut model| {
            model.waited = self.waits;
            model
        }))
    }

    /// Takes an operation; they come in the order of arrival, or nearly so. False if a model
    /// is asked for, and this is of another device than those before.
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
