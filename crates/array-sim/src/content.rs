//! The content of a volume: for each sector the token of its last write, and a list of the faulty
//! writes.
//!
//! Off by default. Stores stamps, not bytes: enough for a test to tell a lost write from a
//! completed one. Stamps are applied when a write is acknowledged; concurrent writes to one sector
//! take effect in order of completion.

use crate::faults::WriteFault;
use std::collections::HashMap;

/// A write whose effect differs from its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultEvent {
    /// When the write was acknowledged.
    pub at_ns: u64,
    /// The request's token.
    pub token: u64,
    /// The request's offset on the volume.
    pub offset_bytes: u64,
    /// The request's length.
    pub length_bytes: u64,
    /// What happened instead.
    pub fault: WriteFault,
}

/// Stamps by sector, and the faults so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    stamps: HashMap<u64, u64>,
    events: Vec<FaultEvent>,
}

impl Content {
    pub(crate) fn stamp(&self, sector: u64) -> Option<u64> {
        self.stamps.get(&sector).copied()
    }

    pub(crate) fn events(&self) -> &[FaultEvent] {
        &self.events
    }

    pub(crate) fn written(
        &mut self,
        at_ns: u64,
        token: u64,
        range: (u64, u64),
        sector_bytes: u64,
        fault: Option<WriteFault>,
    ) {
        let (offset_bytes, length_bytes) = range;
        let sectors = length_bytes / sector_bytes;
        let (offset, sectors) = match fault {
            None => (offset_bytes, sectors),
            Some(WriteFault::Lost) => (offset_bytes, 0),
            Some(WriteFault::Torn { sectors }) => (offset_bytes, sectors),
            Some(WriteFault::Misdirected { offset_bytes }) => (offset_bytes, sectors),
        };
        let first = offset / sector_bytes;
        for sector in first..first + sectors {
            self.stamps.insert(sector, token);
        }
        if let Some(fault) = fault {
            self.events.push(FaultEvent {
                at_ns,
                token,
                offset_bytes,
                length_bytes,
                fault,
            });
        }
    }
}
