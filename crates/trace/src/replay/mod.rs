//! A recording issued again elsewhere: where its operations go, whether they left in time,
//! and the load made larger. Which of them must keep their order is the runner's business.

mod burst;
mod lateness;
mod mapping;
mod recording;
mod scale;

pub use burst::{RunLength, run_length};
pub use lateness::{Lateness, Punctuality, lateness};
pub use mapping::{ExtentUse, Mapping, MappingError, anonymous_model};
pub use recording::{
    IDLE_NS_MIN, RECORDING_OPERATIONS_MAX, RecordedRequest, Recording, RecordingError,
};
pub use scale::{Scale, ScaledRequest};

#[cfg(test)]
mod tests;
