//! The fill curve: a device's write rate as more and more is written to it.
//!
//! Solid-state drives write part of their flash fast, and the rest at another rate; disks with
//! shingled tracks have such a part too. [`write`] writes from the first byte and records the
//! duration of each step, [`analyse`] finds where the rate changes, with intervals,
//! [`write_after_rest`] and [`came_back`] show what recovers during a rest.

mod analyse;
mod held;
mod measure;

pub use analyse::{Back, Change, Curve, FastPart, Stretch, analyse, came_back};
pub use measure::{FillPlan, step_bytes, write, write_after_rest};

use crate::device::StopReason;
use serde::{Deserialize, Serialize};

/// One step of writing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Step {
    /// Bytes written before it in this pass.
    pub from_bytes: u64,
    /// Bytes written in it.
    pub length_bytes: u64,
    /// Their duration.
    pub duration_ns: u64,
    /// Temperature of the device after it, thousandths of a degree Celsius, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_millicelsius: Option<i64>,
}

impl Step {
    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.length_bytes as f64 * 1e9 / self.duration_ns.max(1) as f64
    }
}

/// The data written, and why writing ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// In order of time.
    pub steps: Vec<Step>,
    /// Bytes that could not be written.
    pub failed_bytes: u64,
    /// Why it was cut short, if it was.
    pub stop_reason: Option<StopReason>,
}

impl Written {
    /// Bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.steps.iter().map(|step| step.length_bytes).sum()
    }
}
