//! Replaying a recording elsewhere: its locations, its punctuality, and scaling. The runner decides
//! which operations must keep their order.

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
