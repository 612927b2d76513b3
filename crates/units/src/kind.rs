//! The kind of an operation, shared by all crates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an operation does to its target.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Kind {
    /// Reads `length` bytes at `offset`.
    Read = 0,
    /// Writes `length` bytes at `offset`.
    Write = 1,
    /// Makes earlier writes durable (`fdatasync`); has neither offset nor length.
    Sync = 2,
    /// Tells the device or file system that `length` bytes at `offset` are no longer needed
    /// (discard, TRIM, punching a hole): their content is lost. Transfers nothing.
    Discard = 3,
}

impl Kind {
    /// All kinds, in the order of their indices.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Sync, Kind::Discard];

    /// A dense index (0, 1, 2, 3), for arrays with one entry per kind.
    pub const fn index(self) -> usize {
        self as usize
    }
}
