//! The document of a fill, as printed and stored.

use serde::{Deserialize, Serialize};
use stripewise_results::{TargetFacts, Warning};
use stripewise_surface::fill::{Back, Change, Step, Stretch};

/// The rate of writing over bytes written. Unknown or indiscernible values are null or
/// empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FillDocument {
    /// Of this document.
    pub schema_version: u32,
    /// The name under which it is kept.
    pub id: String,
    /// What was written to.
    pub target: TargetFacts,
    /// Host's name.
    pub host: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// Seed of the data and of the intervals.
    pub seed: u64,
    /// Bytes that were to be written.
    pub planned_bytes: u64,
    /// Bytes that were written, without those behind the rest.
    pub written_bytes: u64,
    /// Bytes that could not be written.
    pub failed_bytes: u64,
    /// What kept some of it from the medium: a loop device's cache, zeros.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Time from first to last write; virtual where the target is simulated.
    pub duration_ns: u64,
    /// Why it was cut short; what was measured until then is here.
    pub cut_short: Option<String>,
    /// Stretches of one rate, in the order of writing.
    pub stretches: Vec<Stretch>,
    /// Between them.
    pub changes: Vec<Change>,
    /// Bytes that a buffer took before that; null where none shows.
    pub buffer_bytes: Option<u64>,
    /// Bytes that are written fast at first, of what was free of it; null where the rate
    /// does not fall.
    pub fast_bytes: Option<u64>,
    /// Their interval (95 %); it reaches down by what the drive's own memory may hold of them,
    /// so that the size of its fast flash lies in it, too.
    pub fast_bytes_interval: Option<[u64; 2]>,
    /// What a rest gave back.
    pub rest: Option<RestFound>,
    /// Highest temperature of the device, thousandths of a degree Celsius.
    pub temperature_millicelsius_max: Option<i64>,
    /// The steps of writing.
    pub steps: Vec<Step>,
}

/// What a rest gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RestFound {
    /// Nothing was asked of the target for so long.
    pub rest_ns: u64,
    /// What was written fast again; null where the rest was interrupted.
    pub back: Option<Back>,
    /// The steps of writing behind it.
    pub steps: Vec<Step>,
}
