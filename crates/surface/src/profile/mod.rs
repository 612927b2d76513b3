//! The surface of a disk: rate over position, zones, access times, seeks, rotation.
//!
//! Positions are read in random order, so that drift (a device that warms up, varying other load)
//! is not mistaken for position; tools that sweep from the outer edge inwards confuse the two.
//! [`measure`] accesses the device, [`analyse`] is pure computation.

mod analyse;
mod batches;
mod compare;
mod measure;
mod rotation;
mod seeks;
mod stairs;
mod zones;

pub use analyse::{Findings, Spread, analyse};
pub use batches::BatchRate;
pub use compare::{ChangePercent, Compared, PlaceChange, Side, SpotChange, compare, spot_change};
pub use measure::{Part, measure};
pub use rotation::Rotation;
pub use seeks::{SeekCurve, SeekPoint};
pub use zones::{Boundary, Zone};

use crate::device::StopReason;
use serde::{Deserialize, Serialize};

/// Amount to read.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of places at which the rate is measured.
    pub places: usize,
    /// Random reads for access times.
    pub accesses: usize,
    /// Read every byte.
    pub full: bool,
    /// Time limit for reading.
    pub time_ns_max: u64,
    /// Seed for order and positions.
    pub seed: u64,
}

impl Default for Plan {
    /// 1.5 GiB in 192 places and some 2,000 single reads: under two minutes on a disk of
    /// 50 MiB/s and 15 ms.
    fn default() -> Self {
        Plan {
            places: 192,
            accesses: 1_024,
            full: false,
            time_ns_max: 115_000_000_000,
            seed: 1,
        }
    }
}

/// The rate at one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RateAt {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes read there.
    pub length_bytes: u64,
    /// Bytes per second, without the initial seek.
    pub bytes_per_s: f64,
}

/// One single read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AccessAt {
    /// Offset of the preceding read.
    pub from_bytes: u64,
    /// Its offset.
    pub offset_bytes: u64,
    /// Its latency.
    pub latency_ns: u64,
}

/// A place that is consistently slow or unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Spot {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// Latency of reading it, the fastest of three.
    pub latency_ns: u64,
    /// It could not be read at all.
    pub unreadable: bool,
}

impl Spot {
    fn is_followed_by(&self, next: &Spot) -> bool {
        let end = self.offset_bytes + self.length_bytes;
        end == next.offset_bytes && self.unreadable == next.unreadable
    }
}

/// Duration of concurrent reads of one size at random offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchAt {
    /// Bytes of each read.
    pub bytes: u32,
    /// Reads started together.
    pub reads: u32,
    /// Time until the last of them ended.
    pub took_ns: u64,
}

/// The measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes of the target.
    pub size_bytes: u64,
    /// Ordered by position.
    pub rates: Vec<RateAt>,
    /// In order of time.
    pub accesses: Vec<AccessAt>,
    /// Reads over the full stroke.
    pub full_strokes: Vec<AccessAt>,
    /// Reads a short way back.
    pub short_strokes: Vec<AccessAt>,
    /// Latencies of one block read repeatedly: block bytes, nanoseconds.
    pub rereads: Vec<(u32, u64)>,
    /// Visits to the same sectors: number of the sector, end of its read.
    pub visits: Vec<(u32, u64)>,
    /// Reads of several sizes and numbers, if nothing moves.
    pub batches: Vec<BatchAt>,
    /// Slow and unreadable places.
    pub spots: Vec<Spot>,
    /// Bytes read for rates.
    pub bytes_read: u64,
    /// Time from first to last read.
    pub duration_ns: u64,
    /// Why it was cut short, if it was.
    pub stop_reason: Option<StopReason>,
}
