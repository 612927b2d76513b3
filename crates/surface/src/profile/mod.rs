//! The surface of a disk: rate over position, zones, access times, seeks, rotation.
//!
//! Positions are read in random order, so that drift - a device that warms up, other load
//! that comes and goes - is not taken for place; tools that sweep from the outer edge
//! inwards confuse the two. [`measure`] asks the device, [`analyse`] is arithmetic.

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

/// How much is read.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Places at which the rate is measured.
    pub places: usize,
    /// Random reads of access times.
    pub accesses: usize,
    /// Read every byte.
    pub full: bool,
    /// Nothing is read beyond this time.
    pub time_ns_max: u64,
    /// Seed of order and positions.
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
    /// Bytes that were read there.
    pub length_bytes: u64,
    /// Bytes a second, without the way to the place.
    pub bytes_per_s: f64,
}

/// One single read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AccessAt {
    /// Where the read before it was.
    pub from_bytes: u64,
    /// Where it was.
    pub offset_bytes: u64,
    /// What it took.
    pub latency_ns: u64,
}

/// A place that is slow each time, or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Spot {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// What reading it took, the fastest of three.
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

/// What reads of one size, so many at once, took at random places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchAt {
    /// Bytes of each read.
    pub bytes: u32,
    /// Reads that were started together.
    pub reads: u32,
    /// Until the last of them ended.
    pub took_ns: u64,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes of the target.
    pub size_bytes: u64,
    /// In the order of the surface.
    pub rates: Vec<RateAt>,
    /// In the order of time.
    pub accesses: Vec<AccessAt>,
    /// Reads over the full stroke.
    pub full_strokes: Vec<AccessAt>,
    /// Reads a short way back.
    pub short_strokes: Vec<AccessAt>,
    /// Latencies of one block read again and again: block bytes, nanoseconds.
    pub rereads: Vec<(u32, u64)>,
    /// Visits to the same sectors: number of the sector, when its read ended.
    pub visits: Vec<(u32, u64)>,
    /// Reads of several sizes and numbers, where nothing moves.
    pub batches: Vec<BatchAt>,
    /// Slow and unreadable places.
    pub spots: Vec<Spot>,
    /// Bytes read for rates.
    pub bytes_read: u64,
    /// Time from first to last read.
    pub duration_ns: u64,
    /// Where it was cut short.
    pub halt: Option<StopReason>,
}
