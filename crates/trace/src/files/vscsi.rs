//! CloudPhysics' vscsi traces: SCSI commands of virtual machines, in records of 32 bytes
//! (version 1) or 40 (version 2), little-endian; and oracleGeneral, which is refused.
//!
//! | version 1 | version 2 | what it is |
//! |---|---|---|
//! | 0 | 4 | serial number, u32 |
//! | 4 | 8 | bytes, u32 |
//! | 8 | 12 | pieces of memory, u32 |
//! | 12 | 0 | operation code, u16 |
//! | 14 | 2 | version in the upper byte, u16 |
//! | 16 | 16 | first sector of 512 bytes, u64 |
//! | 24 | 24 | microseconds, u64 |
//! | - | 32 | response time, microseconds, u64 |

use crate::operation::Operation;
use stripewise_units::{Kind, SECTOR_SIZE_BYTES};

/// The two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vscsi {
    One,
    Two,
}

fn number<const N: usize>(record: &[u8], at: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(record.get(at..at + N)?);
    Some(u64::from_le_bytes(bytes))
}

impl Vscsi {
    /// Length of a record.
    pub const fn record_bytes(self) -> usize {
        match self {
            Vscsi::One => 32,
            Vscsi::Two => 40,
        }
    }

    const fn layout(self) -> [usize; 3] {
        match self {
            Vscsi::One => [12, 14, 4],
            Vscsi::Two => [0, 2, 8],
        }
    }

    /// At least two records of a version, with valid SCSI codes.
    pub fn recognise(head: &[u8]) -> Option<Self> {
        [Vscsi::Two, Vscsi::One].into_iter().find(|one| {
            let version = if *one == Vscsi::One { 1 } else { 2 };
            let [code, at, _] = one.layout();
            let mut records = head.chunks_exact(one.record_bytes()).take(16);
            records.len() >= 2
                && records.all(|record| {
                    number::<2>(record, at).is_some_and(|found| found >> 8 == version)
                        && number::<2>(record, code).is_some_and(|code| code < 256)
                })
        })
    }

    /// An operation; Some(None) for a command that transfers no data.
    pub fn record(self, record: &[u8]) -> Option<Option<Operation>> {
        let [code, _, length] = self.layout();
        let kind = match number::<2>(record, code)? {
            0x08 | 0x28 | 0xa8 | 0x88 => Kind::Read,
            0x0a | 0x2a | 0xaa | 0x8a => Kind::Write,
            0x35 | 0x91 => Kind::Sync,
            0x41 | 0x93 | 0x42 => Kind::Discard,
            _ => return Some(None),
        };
        let offset = number::<8>(record, 16)?.checked_mul(SECTOR_SIZE_BYTES)?;
        let arrived_ns = number::<8>(record, 24)?.checked_mul(1_000)?;
        let completed_ns = match self {
            Vscsi::One => None,
            Vscsi::Two => {
                let latency_ns = number::<8>(record, 32)?.checked_mul(1_000)?;
                Some(arrived_ns.checked_add(latency_ns)?)
            }
        };
        Some(Some(Operation {
            completed_ns,
            ..Operation::at(arrived_ns, kind, offset, number::<4>(record, length)?)
        }))
    }
}

/// Records of 24 bytes: non-decreasing seconds, an object, its size, and the index of its next use
/// in the trace, or never.
pub(crate) fn is_oracle_general(head: &[u8]) -> bool {
    let records: Vec<_> = head.chunks_exact(24).take(256).collect();
    let mut last = 0;
    records.len() >= 8
        && records.iter().enumerate().all(|(k, record)| {
            let (Some(seconds), Some(size), Some(next)) = (
                number::<4>(record, 0),
                number::<4>(record, 12),
                number::<8>(record, 16),
            ) else {
                return false;
            };
            let is_rising = seconds >= last;
            last = seconds;
            let is_never = next == u64::MAX || next == i64::MAX as u64;
            let is_later = next > k as u64 && next < 1 << 40;
            is_rising && size > 0 && (is_never || is_later)
        })
}
