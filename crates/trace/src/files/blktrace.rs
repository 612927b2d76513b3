//! blktrace's binary records (`include/uapi/linux/blktrace_api.h`): versions 7 and 8, in either
//! byte order.
//!
//! | version 7 | version 8 | what it is |
//! |---|---|---|
//! | 0 | 0 | magic, the version in its last byte |
//! | 8 | 8 | nanoseconds |
//! | 16 | 16 | sector |
//! | 24 | 24 | bytes |
//! | 28 (u32) | 32 (u64) | action: step below, categories above 16 bits |
//! | 32 | 28 | thread |
//! | 36 | 40 | device |
//! | 46 | 50 | bytes that follow the record |

use super::input::Input;
use crate::event::{Comm, Direction, Event, Flags, RequestLetters, Step};
use std::collections::HashMap;
use std::io;
use stripewise_units::{DeviceNumber, SECTOR_SIZE_BYTES};

const MAGIC: u32 = 0x0065_6174;
/// A cgroup id precedes the payload.
const WITH_CGROUP: u64 = 1 << 8;
/// A command that a program passes through to the device: no blocks are read or written.
const COMMAND: u64 = 1 << 9;
const NOTIFY: u64 = 1 << 10;
/// Most thread names stored.
const NAMES_MAX: usize = 1 << 16;
/// Payload bytes examined.
const FOLLOWING_MAX: usize = 64;

/// Byte order and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    is_swapped: bool,
    is_wide: bool,
}

impl Layout {
    /// The layout of a record that begins this way.
    pub fn recognise(head: &[u8]) -> Option<Self> {
        let bytes: [u8; 4] = head.get(..4)?.try_into().ok()?;
        let both = [
            (u32::from_le_bytes(bytes), false),
            (u32::from_be_bytes(bytes), true),
        ];
        let (magic, is_swapped) = both.into_iter().find(|(magic, _)| magic >> 8 == MAGIC)?;
        let is_wide = match magic & 0xff {
            7 => false,
            8 => true,
            _ => return None,
        };
        Some(Layout {
            is_swapped,
            is_wide,
        })
    }

    /// The length of a record, without what follows it.
    pub const fn record_bytes(self) -> usize {
        if self.is_wide { 64 } else { 48 }
    }

    /// The number of bytes that follow a record.
    pub fn bytes_behind(self, record: &[u8]) -> usize {
        self.number::<2>(record, if self.is_wide { 50 } else { 46 }) as usize
    }

    /// The time of a record.
    pub fn time_ns(self, record: &[u8]) -> u64 {
        self.number::<8>(record, 8)
    }

    fn number<const N: usize>(self, record: &[u8], at: usize) -> u64 {
        let mut bytes = [0; 8];
        let taken = &record[at..at + N];
        if self.is_swapped {
            bytes[8 - N..].copy_from_slice(taken);
            u64::from_be_bytes(bytes)
        } else {
            bytes[..N].copy_from_slice(taken);
            u64::from_le_bytes(bytes)
        }
    }
}

/// Reads records.
#[derive(Debug)]
pub(crate) struct Blktrace {
    layout: Layout,
    names: HashMap<i32, Comm>,
}

impl Blktrace {
    pub fn new(layout: Layout) -> Self {
        Blktrace {
            layout,
            names: HashMap::new(),
        }
    }

    /// The next record: an event, or Some(None) for one that is not used.
    ///
    /// # Errors
    /// `InvalidData` if a record has an invalid start; otherwise the error of a truncated file.
    pub fn next(&mut self, input: &mut Input<'_>) -> io::Result<Option<Option<Event>>> {
        let mut bytes = [0; 64];
        let record = &mut bytes[..self.layout.record_bytes()];
        if input.record(record)?.is_none() {
            return Ok(None);
        }
        if Layout::recognise(record) != Some(self.layout) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a record does not begin as records do",
            ));
        }
        let layout = self.layout;
        let (action, pid, device) = if layout.is_wide {
            (
                layout.number::<8>(record, 32),
                layout.number::<4>(record, 28),
                layout.number::<4>(record, 40),
            )
        } else {
            (
                layout.number::<4>(record, 28),
                layout.number::<4>(record, 32),
                layout.number::<4>(record, 36),
            )
        };
        let size_bytes = layout.number::<4>(record, 24);
        let event = Event {
            at_ns: layout.time_ns(record),
            step: Step::Insert,
            device: device_of(device as u32),
            sector: layout.number::<8>(record, 16),
            sectors: (size_bytes / SECTOR_SIZE_BYTES) as u32,
            letters: letters(action >> 16, size_bytes),
            pid: pid as u32 as i32,
            comm: Comm::default(),
        };
        let length = layout.bytes_behind(record);
        let following = input.rest_of_record(length, FOLLOWING_MAX)?;
        let skipped = if action & WITH_CGROUP != 0 { 8 } else { 0 };
        let following = following.get(skipped..).unwrap_or_default();
        Ok(Some(self.event(event, action, following)))
    }

    fn event(&mut self, event: Event, action: u64, following: &[u8]) -> Option<Event> {
        let step = action & 0xff;
        if (action >> 16) & NOTIFY != 0 {
            if step == 0 && self.names.len() < NAMES_MAX {
                self.names.insert(event.pid, Comm::new(following));
            }
            return None;
        }
        if (action >> 16) & COMMAND != 0 {
            return None;
        }
        let step = match step {
            1 => Step::Queue,
            4 => Step::Start,
            6 => Step::Requeue,
            7 => Step::Issue,
            8 => Step::Complete,
            15 => {
                // Always in network byte order.
                let word = |at: usize| -> Option<u32> {
                    let bytes = following.get(at..at + 4)?.try_into().ok()?;
                    Some(u32::from_be_bytes(bytes))
                };
                let sector = u64::from(word(8)?) << 32 | u64::from(word(12)?);
                Step::Remap {
                    from_device: device_of(word(0)?),
                    from_sector: sector,
                }
            }
            _ => return None,
        };
        let comm = self.names.get(&event.pid).copied().unwrap_or_default();
        Some(Event {
            step,
            comm,
            ..event
        })
    }
}

/// The kernel's internal `dev_t`: twelve bits and twenty.
fn device_of(number: u32) -> DeviceNumber {
    DeviceNumber {
        major: number >> 20,
        minor: number & 0xf_ffff,
    }
}

/// The categories of an action. The kernel marks all that does not write as a read, also a flush,
/// and what has no data.
fn letters(categories: u64, bytes: u64) -> RequestLetters {
    let has = |bit: u32| categories & (1 << bit) != 0;
    let table = [
        (2, Flags::PREFLUSH),
        (3, Flags::SYNC),
        (11, Flags::READ_AHEAD),
        (12, Flags::META),
        (15, Flags::FUA),
    ];
    let set = table.into_iter().filter(|(bit, _)| has(*bit));
    let direction = if has(13) {
        Direction::Discard
    } else if has(1) {
        Direction::Write
    } else if has(2) {
        Direction::Flush
    } else if has(0) && bytes > 0 {
        Direction::Read
    } else {
        Direction::Other
    };
    RequestLetters {
        direction,
        flags: set.fold(Flags::NONE, |flags, (_, flag)| flags.with(flag)),
    }
}
